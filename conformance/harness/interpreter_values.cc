#include "conformance/harness/interpreter_state.h"

namespace plumbline::harness {
namespace {

using abi::Borrow;
using scenario::Value;

// Payloads start high, so that a payload that was dropped (0) or mixed up is told from a true one.
constexpr std::uint64_t kFirstPayload = 0x506c756d00000000u;

}  // namespace

MaybeFailure Interpreter::Take(pl_error* error) {
  if (error == nullptr) return std::nullopt;
  const abi::PlError owned(error);
  const std::string message = renaming_.Out(owned.message());
  if (owned.error_class() == PL_ERROR_KERNEL_RAISED) {
    const std::uint64_t index = owned.payload() - kFirstPayload;
    if (index < raised_.size()) return raised_[index];
    return Failure{"kernel-raised with another payload", message};
  }
  std::string error_class(abi::ErrorClassSpelling(owned.error_class()));
  if (error_class == "unknown class") error_class = fmt::format("class {}", owned.error_class());
  return Failure{error_class, message};
}

pl_error* Interpreter::Raise(Failure failure) {
  raised_.push_back(std::move(failure));
  return abi::MakeError(PL_ERROR_KERNEL_RAISED, raised_.back().message, {}, kFirstPayload + raised_.size() - 1);
}

MaybeFailure Interpreter::InternKey(const std::string& name, pl_key& out) {
  if (const auto known = interned_.find(name); known != interned_.end()) {
    out = known->second;
    return std::nullopt;
  }
  if (MaybeFailure failure = PLUMBLINE_CALL(intern_key, registry_, Borrow(name), &out)) return failure;
  interned_[name] = out;
  // A synonym ("CatchAll") must not become the name that results are told in.
  const auto key = keys_.Find(name);
  key_names_.emplace(out, key ? keys_.Name(*key) : name);
  return std::nullopt;
}

MaybeFailure Interpreter::InternKeys(const std::vector<std::string>& names, std::vector<pl_key>& out) {
  for (const std::string& name : names) {
    pl_key key = PL_NO_KEY;
    if (MaybeFailure failure = InternKey(name, key)) return failure;
    out.push_back(key);
  }
  return std::nullopt;
}

void Interpreter::NameAllKeys() {
  if (std::exchange(all_named_, true)) return;
  for (model::Key key = 0; key < keys_.key_count(); ++key) {
    pl_key interned;
    InternKey(keys_.Name(key), interned);  // one that the backend lacks cannot come back either
  }
}

std::string Interpreter::KeyName(pl_key key) {
  auto known = key_names_.find(key);
  if (known == key_names_.end()) {
    NameAllKeys();
    known = key_names_.find(key);
  }
  return known != key_names_.end() ? known->second : fmt::format("unknown-key-{}", key);
}

std::vector<std::string> Interpreter::KeyNames(const pl_key* data, std::uint64_t size) {
  std::vector<std::string> names;
  for (std::uint64_t i = 0; i < size; ++i) names.push_back(KeyName(data[i]));
  return names;
}

// ---- values ----

MaybeFailure Interpreter::Make(const Value& value, HostValue& out) {
  switch (value.kind) {
    case Value::Kind::kUndefined:
    case Value::Kind::kTensor: {
      out.kind = PL_TENSOR;
      pl_tensor* tensor = nullptr;
      MaybeFailure failure;
      if (value.kind == Value::Kind::kUndefined) {
        failure = PLUMBLINE_CALL(tensor_make_undefined, registry_, &tensor);
      } else {
        std::vector<pl_key> keys;
        if (failure = InternKeys(value.keys, keys); failure) return failure;
        failure = PLUMBLINE_CALL(tensor_make, registry_, pl_key_list{keys.data(), keys.size()}, &tensor);
      }
      if (failure) return failure;
      out.tensor = TensorRef::Adopt(adapter_, tensor);
      return std::nullopt;
    }
    case Value::Kind::kList:
      out.kind = PL_LIST;
      return Make(value.items, out.items);
    default:
      out = PlainValue(value);
      return std::nullopt;
  }
}

MaybeFailure Interpreter::Make(const std::vector<Value>& values, std::vector<HostValue>& out) {
  out.reserve(values.size());
  for (const Value& value : values) {
    if (MaybeFailure failure = Make(value, out.emplace_back())) return failure;
  }
  return std::nullopt;
}

bool Interpreter::IsUndefined(pl_tensor* tensor) { return adapter_.tensor_identity(tensor) == undefined_identity_; }

Value Interpreter::Observe(const HostValue& value) {
  const std::vector<HostValue> one = {value};
  Lender lender;
  return Observe(lender.Lend(one).data[0]);
}

Value Interpreter::Observe(const pl_value& value) {
  switch (value.kind) {
    case PL_NONE:
      return Value::None();
    case PL_TENSOR: {
      if (value.as.tensor == nullptr) return Value::String("a null tensor handle");
      if (IsUndefined(value.as.tensor)) return Value::Undefined();
      std::vector<pl_key> keys;
      const MaybeFailure failure =
          PLUMBLINE_CALL(tensor_keys, registry_, value.as.tensor, &keys,
                         [](void* context, pl_key key) { static_cast<std::vector<pl_key>*>(context)->push_back(key); });
      if (failure) return Value::String("a tensor whose keys are refused: " + failure->message);
      return Value::Tensor(KeyNames(keys.data(), keys.size()));
    }
    case PL_INT:
      return Value::Int(value.as.integer);
    case PL_FLOAT:
      return Value::Float(value.as.real);
    case PL_BOOL:
      return Value::Bool(value.as.integer != 0);
    case PL_STRING:
      return Value::String(std::string(abi::View(value.as.string)));
    case PL_LIST: {
      std::vector<Value> items;
      for (std::uint64_t i = 0; i < value.as.list.size; ++i) items.push_back(Observe(value.as.list.data[i]));
      return Value::List(std::move(items));
    }
    default:
      return Value::String(fmt::format("a value of unknown kind {}", value.kind));
  }
}

void Interpreter::TellArguments(std::vector<Value>& returns, const std::vector<HostValue>& results,
                                const std::vector<HostValue>& arguments) {
  for (std::size_t i = 0; i < returns.size(); ++i) {
    if (returns[i].kind != Value::Kind::kTensor) continue;
    const std::uint64_t identity = adapter_.tensor_identity(results[i].tensor.get());
    for (std::size_t j = 0; j < arguments.size(); ++j) {
      if (arguments[j].kind == PL_TENSOR && adapter_.tensor_identity(arguments[j].tensor.get()) == identity) {
        returns[i].argument = static_cast<int>(j);
        break;
      }
    }
  }
}

}  // namespace plumbline::harness
