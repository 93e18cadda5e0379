#include "conformance/race/concurrent_runner.h"

namespace plumbline::race {
namespace {

using abi::Borrow;
using harness::HostValue;
using harness::TensorRef;
using scenario::Step;
using scenario::Value;

}  // namespace

Runner::MaybeFailure Runner::Take(pl_error* error) {
  if (error == nullptr) return std::nullopt;
  const abi::PlError owned(error);
  return Failure{std::string(abi::ErrorClassSpelling(owned.error_class())), renaming_.Out(owned.message())};
}

Runner::MaybeFailure Runner::InternKey(const std::string& name, pl_key& out) {
  if (const auto known = interned_.find(name); known != interned_.end()) {
    out = known->second;
    return std::nullopt;
  }
  if (MaybeFailure failure = Take(adapter_.intern_key(registry_, Borrow(name), &out))) return failure;
  interned_[name] = out;
  const auto key = keys_.Find(name);
  key_names_.emplace(out, key ? keys_.Name(*key) : name);
  return std::nullopt;
}

Runner::MaybeFailure Runner::Make(const Value& value, HostValue& out, std::vector<std::string>* brought) {
  switch (value.kind) {
    case Value::Kind::kUndefined:
    case Value::Kind::kTensor: {
      out.kind = PL_TENSOR;
      pl_tensor* tensor = nullptr;
      MaybeFailure failure;
      if (value.kind == Value::Kind::kUndefined) {
        failure = Take(adapter_.tensor_make_undefined(registry_, &tensor));
      } else {
        std::vector<pl_key> keys;
        for (const std::string& name : value.keys) {
          if (failure = InternKey(name, keys.emplace_back()); failure) return failure;
          if (std::find(brought->begin(), brought->end(), name) == brought->end()) brought->push_back(name);
        }
        failure = Take(adapter_.tensor_make(registry_, pl_key_list{keys.data(), keys.size()}, &tensor));
      }
      if (failure) return failure;
      out.tensor = TensorRef::Adopt(adapter_, tensor);
      break;
    }
    case Value::Kind::kList:
      out.kind = PL_LIST;
      for (const Value& item : value.items) {
        if (MaybeFailure failure = Make(item, out.items.emplace_back(), brought)) return failure;
      }
      break;
    default:
      out = harness::PlainValue(value);
  }
  return std::nullopt;
}

Runner::MaybeFailure Runner::InternKeysOf(const Value& value) {
  pl_key key;
  for (const std::string& name : value.keys) {
    if (MaybeFailure failure = InternKey(name, key)) return failure;
  }
  for (const Value& item : value.items) {
    if (MaybeFailure failure = InternKeysOf(item)) return failure;
  }
  return std::nullopt;
}

Runner::MaybeFailure Runner::Prepare(const Step& step) {
  auto prepared = std::make_unique<Prepared>();
  prepared->step = &step;
  prepared->place = fmt::format("scenario:{}", step.line);
  MaybeFailure failure;
  const auto intern = [&](const std::optional<std::string>& key) {
    if (key && !failure) failure = InternKey(*key, prepared->key);
  };
  const auto slot = [&](const std::string& name) {
    if (!name.empty()) slots_.try_emplace(name, nullptr);
  };
  if (const auto* define = std::get_if<scenario::Define>(&step.action)) {
    prepared->text = renaming_.In(define->schema);
    if (const scenario::SchemaResult parsed = scenario::ParseSchema(prepared->text); parsed.schema) {
      prepared->op = parsed.schema->FullName();
      returns_[prepared->op] = parsed.schema->returns;
    }
    slot(define->name);
  } else if (const auto* impl = std::get_if<scenario::Impl>(&step.action)) {
    prepared->op = renaming_.In(impl->operator_name);
    intern(impl->key);
    slot(impl->name);
  } else if (const auto* fallback = std::get_if<scenario::Fallback>(&step.action)) {
    intern(fallback->key);
    slot(fallback->name);
  } else if (const auto* open = std::get_if<scenario::LibraryOpen>(&step.action)) {
    prepared->text = renaming_.Namespace(open->name_space);
    intern(open->key);
    slot(open->name);
  } else if (const auto* find = std::get_if<scenario::Find>(&step.action)) {
    prepared->op = renaming_.In(find->operator_name);
    slot(find->name);
  } else if (const auto* listen = std::get_if<scenario::Listen>(&step.action)) {
    slot(listen->name);
  } else if (const auto* release = std::get_if<scenario::Release>(&step.action)) {
    slot(release->name);
  } else if (const auto* close = std::get_if<scenario::LibraryClose>(&step.action)) {
    slot(close->name);
  } else if (const auto* guard = std::get_if<scenario::GuardEnter>(&step.action)) {
    for (const std::string& key : guard->keys) {
      if (failure = InternKey(key, prepared->keys.emplace_back()); failure) return failure;
    }
  } else if (const auto* query = std::get_if<scenario::Query>(&step.action)) {
    prepared->op = renaming_.In(query->subject);
    intern(query->key);
  } else if (const auto* call = std::get_if<scenario::Call>(&step.action)) {
    prepared->op = renaming_.In(call->operator_name);
    for (const Value& value : call->arguments) {
      if (failure = Make(value, prepared->values.emplace_back(), &prepared->brought); failure) return failure;
    }
    prepared->arguments = prepared->lender.Lend(prepared->values);
    if (call->form == scenario::CallForm::kTyped) prepared->signature = harness::SignatureId(call->signature);
    slot(call->handle);
  }
  prepared_[&step] = std::move(prepared);
  return failure;
}

Runner::MaybeFailure Runner::PrepareAll() {
  bool below = false;
  for (const scenario::KernelDefinition& kernel : scenario_.kernels) {
    for (const scenario::BodyItem& item : kernel.body) {
      if (const auto* inner = std::get_if<scenario::BodyStep>(&item)) {
        if (MaybeFailure failure = Prepare(inner->step.front())) return failure;
      } else if (const auto* redispatch = std::get_if<scenario::BodyRedispatch>(&item)) {
        below = below || redispatch->below.has_value();
        pl_key key;
        for (const std::string& name : redispatch->keys.value_or(std::vector<std::string>())) {
          if (MaybeFailure failure = InternKey(name, key)) return failure;
        }
      } else if (const auto* call = std::get_if<scenario::BodyCall>(&item)) {
        for (const Value& value : call->arguments.value_or(std::vector<Value>())) {
          if (MaybeFailure failure = InternKeysOf(value)) return failure;
        }
      } else if (const auto* guard = std::get_if<scenario::BodyGuard>(&item)) {
        pl_key key;
        for (const std::string& name : guard->keys) {
          if (MaybeFailure failure = InternKey(name, key)) return failure;
        }
      }
    }
  }
  bool tables = false;
  for (const Step& step : scenario_.steps) {
    if (MaybeFailure failure = Prepare(step)) return failure;
    const auto* query = std::get_if<scenario::Query>(&step.action);
    tables = tables || (query != nullptr && query->kind == scenario::QueryKind::kTable);
  }
  if (below || tables) {  // any key may come back
    for (model::Key key = 0; key < keys_.key_count(); ++key) {
      pl_key interned;
      InternKey(keys_.Name(key), interned);  // one that the backend lacks cannot come back
    }
  }
  return std::nullopt;
}

Runner::MaybeFailure Runner::Open() {
  const std::vector<pl_key_declaration> keys = harness::LendKeys(scenario_.declared_keys);
  const pl_open_options open{.struct_size = sizeof(pl_open_options),
                             .mode = static_cast<std::uint32_t>(options_.fresh ? PL_OPEN_FRESH : PL_OPEN_PROCESS),
                             .release = Borrow(scenario_.release),
                             .count_hits = 0,
                             .reserved = 0,
                             .keys = keys.data(),
                             .key_count = keys.size(),
                             .operators = 0,
                             .reserved_2 = 0};
  return Take(adapter_.open(&open, &registry_));
}

}  // namespace plumbline::race
