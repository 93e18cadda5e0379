#include "conformance/harness/interpreter.h"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <optional>
#include <set>
#include <thread>
#include <utility>
#include <variant>

#include "conformance/harness/host_values.h"
#include "conformance/harness/renaming.h"
#include "conformance/harness/step_thread.h"
#include "spec/abi/host.h"
#include "spec/scenario/schema.h"

namespace plumbline::harness {
namespace {

using abi::Borrow;
using abi::PlError;
using scenario::Outcome;
using scenario::Step;
using scenario::Value;

// What went wrong, in the model's terms.
struct Failure {
  std::string error_class;
  std::string message;
};
using MaybeFailure = std::optional<Failure>;

Failure NotFound(const char* what, const std::string& name) {
  return {"not-found", fmt::format("the scenario has no {} called {}", what, name)};
}
Failure Released(const std::string& name) { return {"invalid-handle", fmt::format("{} was released before", name)}; }
Failure Taken(const std::string& name) {
  return {"invalid-argument", fmt::format("the name {} is in use already", name)};
}

std::string_view RuleSpelling(std::uint32_t rule) {
  static constexpr std::string_view kSpellings[] = {"",         "kernel",    "nonfunctional", "explicit",
                                                    "nested",   "implicit",  "ambiguous",     "autograd",
                                                    "batched",  "fallback",  "chain"};
  return rule < std::size(kSpellings) ? kSpellings[rule] : "unknown rule";
}

std::uint32_t SignatureId(std::string_view name) {
#define PLUMBLINE_SIGNATURE_ID(id, signature, arguments, returns) \
  if (name == #signature) return id;
  PL_SIGNATURES(PLUMBLINE_SIGNATURE_ID)
#undef PLUMBLINE_SIGNATURE_ID
  return PL_SIGNATURE_none;
}

class Interpreter;

// What the host hands out as a kernel's context. It outlives the scenario if the backend does not destroy it, so that a
// late or a second destruction is counted and not followed into freed memory.
struct ProbeContext {
  std::shared_ptr<Interpreter> owner;
  std::string kernel;
  const scenario::KernelDefinition* definition = nullptr;  // null: an empty body
  std::uint32_t signature = PL_SIGNATURE_none;             // of a typed kernel
  std::atomic<int> destroyed{0};
};

struct Named {  // a library, guard or registration under its name
  enum class State { kLive, kGone } state = State::kLive;
};

struct RegistrationSlot : Named {
  pl_registration* handle = nullptr;
};
struct LibrarySlot : Named {
  pl_library* handle = nullptr;
  std::string name_space;  // renamed
};
struct GuardSlot : Named {
  pl_guard* handle = nullptr;
  std::string thread;
};

struct Heard {
  Interpreter* owner = nullptr;
  std::vector<std::string> events;
};

class Interpreter : public std::enable_shared_from_this<Interpreter> {
 public:
  Interpreter(const pl_adapter& adapter, const scenario::Scenario& scenario, const model::KeyTable& keys,
              const InterpretOptions& options, const std::string& suffix)
      : adapter_(adapter), scenario_(scenario), keys_(keys), options_(options), renaming_(scenario_, suffix) {
    for (const scenario::KernelDefinition& kernel : scenario_.kernels) definitions_[kernel.name] = &kernel;
  }

  Interpretation Run();

  static pl_error* RunProbe(void* context, pl_frame* frame);
  static void DestroyProbe(void* context) { ++static_cast<ProbeContext*>(context)->destroyed; }
  bool AllDestroyedOnce() const {
    return std::all_of(probes_.begin(), probes_.end(), [](const auto& probe) { return probe->destroyed == 1; });
  }
  void ForgetProbes() { probes_.clear(); }

 private:
  // ---- the ABI, with errors as values ----
  MaybeFailure Take(pl_error* error);
  MaybeFailure Missing(const char* entry) {
    return Failure{"unsupported", fmt::format("the backend's table has no entry {}", entry)};
  }
  MaybeFailure InternKey(const std::string& name, pl_key& out);
  MaybeFailure InternKeys(const std::vector<std::string>& names, std::vector<pl_key>& out);
  void NameAllKeys();
  std::string KeyName(pl_key key);
  std::vector<std::string> KeyNames(const pl_key* data, std::uint64_t size);

  // ---- values ----
  MaybeFailure Make(const Value& value, HostValue& out);
  MaybeFailure Make(const std::vector<Value>& values, std::vector<HostValue>& out);
  Value Observe(const pl_value& value);
  Value Observe(const HostValue& value);
  bool IsUndefined(pl_tensor* tensor);
  void TellArguments(std::vector<Value>& returns, const std::vector<HostValue>& results,
                     const std::vector<HostValue>& arguments);

  // ---- steps ----
  Outcome RunStep(const Step& step, const std::string& thread);
  Outcome Fail(Failure failure);
  Outcome Act(const scenario::Chain& step, const Step& whole);
  Outcome Act(const scenario::LibraryOpen& step, const Step& whole);
  Outcome Act(const scenario::LibraryClose& step, const Step& whole);
  Outcome Act(const scenario::Define& step, const Step& whole);
  Outcome Act(const scenario::Impl& step, const Step& whole);
  Outcome Act(const scenario::Fallback& step, const Step& whole);
  Outcome Act(const scenario::Listen& step, const Step& whole);
  Outcome Act(const scenario::Release& step, const Step& whole);
  Outcome Act(const scenario::Drain& step, const Step& whole);
  Outcome Act(const scenario::Find& step, const Step& whole);
  Outcome Act(const scenario::Call& step, const Step& whole);
  Outcome Act(const scenario::GuardEnter& step, const Step& whole);
  Outcome Act(const scenario::GuardLeave& step, const Step& whole);
  Outcome Act(const scenario::Flush& step, const Step& whole);
  Outcome Act(const scenario::Query& step, const Step& whole);
  Outcome QueryList(std::uint32_t which, pl_key key);
  Outcome QueryTable(const std::string& operator_name);

  MaybeFailure FindLibrary(const std::string& name, LibrarySlot*& out);
  bool NameIsLive(const std::string& name) const;
  std::string Place(const Step& step, const std::string& handle);
  void Keep(const std::string& name, pl_registration* handle);
  // Makes the kernel of a use; the context is counted as handed out.
  MaybeFailure MakeKernel(const scenario::KernelUse& use, const std::string& place, pl_kernel& out);

  // ---- calls ----
  MaybeFailure CallOperator(const std::string& operator_name, pl_operator* known, scenario::CallForm form,
                            const std::string& signature, const std::vector<HostValue>& arguments,
                            HostValues& results);
  pl_error* RunBody(const ProbeContext& probe, const pl_frame& frame, pl_frame* raw);
  MaybeFailure RunItems(const ProbeContext& probe, const pl_frame& frame, pl_frame* raw,
                        std::vector<pl_guard*>& guards);
  MaybeFailure Push(const pl_frame& frame, const HostValue& value);
  MaybeFailure PushZeros(const pl_frame& frame, const std::vector<HostValue>& arguments);
  pl_error* Raise(Failure failure);

  void CleanUp();
  void OnThread(const std::string& thread, const std::function<void()>& work);

  const pl_adapter& adapter_;
  const scenario::Scenario scenario_;  // a copy: probes may outlive the caller's
  const model::KeyTable& keys_;
  const InterpretOptions& options_;
  const Renaming renaming_;
  std::map<std::string, const scenario::KernelDefinition*> definitions_;

  pl_registry* registry_ = nullptr;
  std::map<std::string, pl_key> interned_;
  std::map<pl_key, std::string> key_names_;
  bool all_named_ = false;
  std::uint64_t undefined_identity_ = 0;

  std::map<std::string, RegistrationSlot> registrations_;
  std::vector<pl_registration*> in_order_;  // every handle still to be released, oldest first
  std::map<std::string, LibrarySlot> libraries_;
  std::map<std::string, GuardSlot> guards_;
  std::vector<std::string> guard_order_;
  std::map<std::string, pl_operator*> found_;
  std::map<std::string, std::unique_ptr<Heard>> listeners_;
  std::map<std::string, std::string> handle_at_place_;
  std::map<std::string, std::vector<scenario::SchemaArgument>> returns_;  // by operator, renamed
  std::map<std::string, pl_cache_counters> counted_;              // by operator, at its last query
  std::vector<std::unique_ptr<ProbeContext>> probes_;
  std::map<std::string, std::unique_ptr<StepThread>> threads_;

  bool warned_ = false;
  std::vector<scenario::KernelRun> runs_;
  int depth_ = 0;
  std::string current_thread_;
  std::vector<Failure> raised_;  // by payload
  std::string threw_;            // an exception that came out of an entry
  bool over_ = false;
};

// ---- the ABI ----

// Payloads start high, so that a payload that was dropped (0) or mixed up is told from a true one.
constexpr std::uint64_t kFirstPayload = 0x506c756d00000000u;

#define PLUMBLINE_CALL(entry, ...) \
  (PL_HAS(&adapter_, entry) ? Take(adapter_.entry(__VA_ARGS__)) : Missing(#entry))

MaybeFailure Interpreter::Take(pl_error* error) {
  if (error == nullptr) return std::nullopt;
  const PlError owned(error);
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
    case Value::Kind::kNone:
      out.kind = PL_NONE;
      return std::nullopt;
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
    case Value::Kind::kInt:
      out.kind = PL_INT;
      out.integer = value.integer;
      return std::nullopt;
    case Value::Kind::kFloat:
      out.kind = PL_FLOAT;
      out.real = value.real;
      return std::nullopt;
    case Value::Kind::kBool:
      out.kind = PL_BOOL;
      out.integer = value.boolean ? 1 : 0;
      return std::nullopt;
    case Value::Kind::kString:
      out.kind = PL_STRING;
      out.text = value.text;
      return std::nullopt;
    case Value::Kind::kList:
      out.kind = PL_LIST;
      return Make(value.items, out.items);
  }
  return std::nullopt;
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
          PLUMBLINE_CALL(tensor_keys, registry_, value.as.tensor, &keys, [](void* context, pl_key key) {
            static_cast<std::vector<pl_key>*>(context)->push_back(key);
          });
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

// ---- steps ----

Outcome Interpreter::Fail(Failure failure) {
  Outcome outcome;
  outcome.error = std::move(failure.error_class);
  outcome.message = std::move(failure.message);
  return outcome;
}

void Interpreter::OnThread(const std::string& thread, const std::function<void()>& work) {
  if (thread == current_thread_) return work();
  const std::string before = std::exchange(current_thread_, thread);
  std::unique_ptr<StepThread>& runner = threads_[thread];
  if (!runner) runner = std::make_unique<StepThread>();
  runner->Do(work);
  current_thread_ = before;
}

Outcome Interpreter::RunStep(const Step& step, const std::string& thread) {
  Outcome outcome;
  OnThread(thread, [&] { outcome = std::visit([&](const auto& action) { return Act(action, step); }, step.action); });
  return outcome;
}

bool Interpreter::NameIsLive(const std::string& name) const {
  if (name.empty()) return false;
  const auto live = [&](const auto& slots) {
    const auto at = slots.find(name);
    return at != slots.end() && at->second.state == Named::State::kLive;
  };
  return live(registrations_) || live(libraries_) || live(guards_) || found_.contains(name);
}

MaybeFailure Interpreter::FindLibrary(const std::string& name, LibrarySlot*& out) {
  out = nullptr;
  if (name.empty()) return std::nullopt;
  const auto at = libraries_.find(name);
  if (at == libraries_.end()) return NotFound("library", name);
  if (at->second.state == Named::State::kGone) return Released(name);
  out = &at->second;
  return std::nullopt;
}

// Every registration has a place of its own, so that a table's winner can be told by it.
std::string Interpreter::Place(const Step& step, const std::string& handle) {
  std::string place = fmt::format("scenario:{}", step.line);
  for (int more = 1; handle_at_place_.contains(place); ++more) place = fmt::format("scenario:{}{:03}", step.line, more);
  handle_at_place_[place] = handle;
  return place;
}

void Interpreter::Keep(const std::string& name, pl_registration* handle) {
  in_order_.push_back(handle);
  if (!name.empty()) registrations_[name] = {{Named::State::kLive}, handle};
}

MaybeFailure Interpreter::MakeKernel(const scenario::KernelUse& use, const std::string& place, pl_kernel& out) {
  out = {};
  out.struct_size = sizeof(out);
  out.place = Borrow(place);
  if (use.fallthrough) {
    out.form = PL_KERNEL_FALLTHROUGH;
    return std::nullopt;
  }
  out.form = PL_KERNEL_BOXED;
  if (!use.signature.empty()) {
    out.form = PL_KERNEL_TYPED;
    out.signature = SignatureId(use.signature);
    if (out.signature == PL_SIGNATURE_none) return NotFound("signature", use.signature);
  }
  auto probe = std::make_unique<ProbeContext>();
  probe->owner = shared_from_this();
  probe->kernel = use.kernel;
  probe->signature = out.signature;
  if (const auto definition = definitions_.find(use.kernel); definition != definitions_.end()) {
    probe->definition = definition->second;
  }
  out.function = &Interpreter::RunProbe;
  out.context = probe.get();
  out.destroy = &Interpreter::DestroyProbe;
  probes_.push_back(std::move(probe));
  return std::nullopt;
}

Outcome Interpreter::Act(const scenario::Chain& step, const Step&) {
  if (NameIsLive(step.name)) return Fail(Taken(step.name));
  pl_key key, served_by;
  if (MaybeFailure failure = InternKey(step.key, key)) return Fail(*failure);
  if (MaybeFailure failure = InternKey(step.served_by, served_by)) return Fail(*failure);
  pl_registration* made = nullptr;
  if (MaybeFailure failure = PLUMBLINE_CALL(chain_declare, registry_, key, served_by, &made)) return Fail(*failure);
  Keep(step.name, made);
  return {};
}

Outcome Interpreter::Act(const scenario::LibraryOpen& step, const Step& whole) {
  if (NameIsLive(step.name)) return Fail(Taken(step.name));
  pl_key key = PL_NO_KEY;
  if (step.key) {
    if (MaybeFailure failure = InternKey(*step.key, key)) return Fail(*failure);
  }
  const std::uint32_t kind = step.kind == scenario::LibraryKind::kDef        ? PL_LIBRARY_DEF
                             : step.kind == scenario::LibraryKind::kFragment ? PL_LIBRARY_FRAGMENT
                                                                             : PL_LIBRARY_IMPL;
  const std::string name_space = renaming_.Namespace(step.name_space);
  const std::string place = Place(whole, step.name);
  pl_library* made = nullptr;
  if (MaybeFailure failure =
          PLUMBLINE_CALL(library_open, registry_, kind, Borrow(name_space), key, Borrow(place), &made)) {
    return Fail(*failure);
  }
  libraries_[step.name] = {{Named::State::kLive}, made, name_space};
  return {};
}

Outcome Interpreter::Act(const scenario::LibraryClose& step, const Step&) {
  LibrarySlot* library;
  if (MaybeFailure failure = FindLibrary(step.name, library)) return Fail(*failure);
  if (MaybeFailure failure = PLUMBLINE_CALL(library_close, library->handle)) return Fail(*failure);
  library->state = Named::State::kGone;
  return {};
}

Outcome Interpreter::Act(const scenario::Define& step, const Step& whole) {
  if (NameIsLive(step.name)) return Fail(Taken(step.name));
  LibrarySlot* library;
  if (MaybeFailure failure = FindLibrary(step.library, library)) return Fail(*failure);
  const std::string schema = renaming_.In(step.schema);
  const std::string place = Place(whole, step.name);
  pl_registration* made = nullptr;
  warned_ = false;
  if (MaybeFailure failure = PLUMBLINE_CALL(define, registry_, library != nullptr ? library->handle : nullptr,
                                            Borrow(schema), Borrow(place), &made)) {
    return Fail(*failure);
  }
  Keep(step.name, made);
  if (scenario::SchemaResult parsed = scenario::ParseSchema(schema); parsed.schema) {
    if (parsed.schema->name_space.empty() && library != nullptr) parsed.schema->name_space = library->name_space;
    const std::string name = parsed.schema->FullName();
    returns_[name] = parsed.schema->returns;
    counted_[name] = {};
  }
  Outcome outcome;
  outcome.warned = warned_;
  return outcome;
}

Outcome Interpreter::Act(const scenario::Impl& step, const Step& whole) {
  if (NameIsLive(step.name)) return Fail(Taken(step.name));
  LibrarySlot* library;
  if (MaybeFailure failure = FindLibrary(step.library, library)) return Fail(*failure);
  pl_key key = PL_NO_KEY;
  if (step.key) {
    if (MaybeFailure failure = InternKey(*step.key, key)) return Fail(*failure);
  }
  const std::string name = renaming_.In(step.operator_name);
  const std::string place = Place(whole, step.name);
  pl_kernel kernel;
  if (MaybeFailure failure = MakeKernel(step.kernel, place, kernel)) return Fail(*failure);
  pl_registration* made = nullptr;
  warned_ = false;
  if (MaybeFailure failure = PLUMBLINE_CALL(register_kernel, registry_, library != nullptr ? library->handle : nullptr,
                                            Borrow(name), key, &kernel, &made)) {
    return Fail(*failure);
  }
  Keep(step.name, made);
  Outcome outcome;
  outcome.warned = warned_;
  return outcome;
}

Outcome Interpreter::Act(const scenario::Fallback& step, const Step& whole) {
  if (NameIsLive(step.name)) return Fail(Taken(step.name));
  LibrarySlot* library;
  if (MaybeFailure failure = FindLibrary(step.library, library)) return Fail(*failure);
  pl_key key = PL_NO_KEY;
  if (step.key) {
    if (MaybeFailure failure = InternKey(*step.key, key)) return Fail(*failure);
  }
  const std::string place = Place(whole, step.name);
  pl_kernel kernel;
  if (MaybeFailure failure = MakeKernel(step.kernel, place, kernel)) return Fail(*failure);
  pl_registration* made = nullptr;
  warned_ = false;
  if (MaybeFailure failure =
          PLUMBLINE_CALL(register_fallback, registry_, library != nullptr ? library->handle : nullptr, key, &kernel,
                         &made)) {
    return Fail(*failure);
  }
  Keep(step.name, made);
  Outcome outcome;
  outcome.warned = warned_;
  return outcome;
}

Outcome Interpreter::Act(const scenario::Listen& step, const Step&) {
  if (NameIsLive(step.name)) return Fail(Taken(step.name));
  auto heard = std::make_unique<Heard>();
  heard->owner = this;
  const auto note = [](void* context, char sign, pl_string name) {
    auto* self = static_cast<Heard*>(context);
    // Operators that are not the scenario's own come and go in a registry that it shares.
    if (!self->owner->renaming_.Owns(abi::View(name))) return;
    self->events.push_back(sign + self->owner->renaming_.Out(abi::View(name)));
  };
  static constexpr auto kNote = note;
  const pl_listener listener{.struct_size = sizeof(pl_listener),
                             .reserved = 0,
                             .context = heard.get(),
                             .defined = [](void* context, pl_string name) { kNote(context, '+', name); },
                             .removed = [](void* context, pl_string name) { kNote(context, '-', name); },
                             .destroy = [](void*) {}};
  pl_registration* made = nullptr;
  std::unique_ptr<Heard>& slot = listeners_[step.name];
  slot = std::move(heard);
  if (MaybeFailure failure = PLUMBLINE_CALL(listener_add, registry_, &listener, &made)) return Fail(*failure);
  Keep(step.name, made);
  return {};
}

Outcome Interpreter::Act(const scenario::Release& step, const Step&) {
  const auto at = registrations_.find(step.name);
  if (at == registrations_.end()) return Fail(NotFound("registration", step.name));
  if (at->second.state == Named::State::kGone) return Fail(Released(step.name));
  at->second.state = Named::State::kGone;
  in_order_.erase(std::remove(in_order_.begin(), in_order_.end(), at->second.handle), in_order_.end());
  if (MaybeFailure failure = PLUMBLINE_CALL(release, at->second.handle)) return Fail(*failure);
  return {};
}

Outcome Interpreter::Act(const scenario::Drain&, const Step&) {
  if (MaybeFailure failure = PLUMBLINE_CALL(drain, registry_)) return Fail(*failure);
  return {};
}

Outcome Interpreter::Act(const scenario::Find& step, const Step&) {
  if (NameIsLive(step.name)) return Fail(Taken(step.name));
  const std::string name = renaming_.In(step.operator_name);
  pl_operator* found = nullptr;
  if (MaybeFailure failure = PLUMBLINE_CALL(find_operator, registry_, Borrow(name), &found)) return Fail(*failure);
  found_[step.name] = found;
  return {};
}

MaybeFailure Interpreter::CallOperator(const std::string& operator_name, pl_operator* known, scenario::CallForm form,
                                       const std::string& signature, const std::vector<HostValue>& arguments,
                                       HostValues& results) {
  pl_call call{};
  call.struct_size = sizeof(call);
  call.form = form == scenario::CallForm::kTyped ? PL_CALL_TYPED : PL_CALL_BOXED;
  if (call.form == PL_CALL_TYPED) {
    call.signature = SignatureId(signature);
    if (call.signature == PL_SIGNATURE_none) return NotFound("signature", signature);
  }
  pl_operator* looked_up = nullptr;
  if (known == nullptr) {
    const std::string name = renaming_.In(operator_name);
    if (MaybeFailure failure = PLUMBLINE_CALL(find_operator, registry_, Borrow(name), &looked_up)) return failure;
    known = looked_up;
  }
  Lender lender;
  const pl_value_list lent = lender.Lend(arguments);
  call.op = known;
  call.arguments = lent.data;
  call.argument_count = lent.size;
  call.results = results.sink();
  MaybeFailure failure = PLUMBLINE_CALL(call, registry_, &call);
  if (looked_up != nullptr) adapter_.operator_release(looked_up);
  return failure;
}

Outcome Interpreter::Act(const scenario::Call& step, const Step&) {
  pl_operator* known = nullptr;
  if (!step.handle.empty()) {
    const auto at = found_.find(step.handle);
    if (at == found_.end()) return Fail(NotFound("handle", step.handle));
    known = at->second;
  }
  std::vector<HostValue> arguments;
  if (MaybeFailure failure = Make(step.arguments, arguments)) return Fail(*failure);
  HostValues results(adapter_);
  const std::size_t first_run = runs_.size();
  Outcome outcome;
  MaybeFailure failure = CallOperator(step.operator_name, known, step.form, step.signature, arguments, results);
  if (failure) {
    outcome = Fail(*failure);
  } else {
    for (const HostValue& value : results.values()) outcome.returns.push_back(Observe(value));
    TellArguments(outcome.returns, results.values(), arguments);
  }
  outcome.runs.assign(runs_.begin() + static_cast<std::ptrdiff_t>(first_run), runs_.end());
  return outcome;
}

Outcome Interpreter::Act(const scenario::GuardEnter& step, const Step&) {
  if (NameIsLive(step.name)) return Fail(Taken(step.name));
  std::vector<pl_key> keys;
  if (MaybeFailure failure = InternKeys(step.keys, keys)) return Fail(*failure);
  pl_guard* guard = nullptr;
  if (MaybeFailure failure =
          PLUMBLINE_CALL(guard_enter, registry_, static_cast<std::uint32_t>(step.include ? PL_GUARD_INCLUDE : PL_GUARD_EXCLUDE),
                         pl_key_list{keys.data(), keys.size()}, &guard)) {
    return Fail(*failure);
  }
  guards_[step.name] = {{Named::State::kLive}, guard, current_thread_};
  guard_order_.push_back(step.name);
  return {};
}

Outcome Interpreter::Act(const scenario::GuardLeave& step, const Step&) {
  const auto at = guards_.find(step.name);
  if (at == guards_.end()) return Fail(NotFound("guard", step.name));
  if (at->second.state == Named::State::kGone) return Fail(Released(step.name));
  if (at->second.thread != current_thread_) {
    return Fail({"invalid-argument", fmt::format("guard {} belongs to another thread", step.name)});
  }
  at->second.state = Named::State::kGone;
  guard_order_.erase(std::remove(guard_order_.begin(), guard_order_.end(), step.name), guard_order_.end());
  adapter_.guard_leave(at->second.handle);
  return {};
}

Outcome Interpreter::Act(const scenario::Flush&, const Step&) {
  if (MaybeFailure failure = PLUMBLINE_CALL(cache_flush, registry_)) return Fail(*failure);
  return {};
}

Outcome Interpreter::QueryList(std::uint32_t which, pl_key key) {
  std::vector<std::string> names;
  const pl_string_sink sink{&names, [](void* context, pl_string text) {
                              static_cast<std::vector<std::string>*>(context)->emplace_back(abi::View(text));
                            }};
  if (MaybeFailure failure = PLUMBLINE_CALL(list_operators, registry_, which, key, sink)) return Fail(*failure);
  std::erase_if(names, [this](const std::string& name) { return !renaming_.Owns(name); });
  for (std::string& name : names) name = renaming_.Out(name);
  std::sort(names.begin(), names.end());
  Outcome outcome;
  outcome.names = std::move(names);
  return outcome;
}

Outcome Interpreter::QueryTable(const std::string& operator_name) {
  struct Collected {
    Interpreter* self;
    std::vector<scenario::TableRow> rows;
  } collected{this, {}};
  const pl_table_sink sink{&collected, [](void* context, const pl_table_row* row) {
                             auto* into = static_cast<Collected*>(context);
                             const std::string place(abi::View(row->place));
                             const auto at = into->self->handle_at_place_.find(place);
                             std::string winner = at != into->self->handle_at_place_.end() ? at->second : place;
                             if (place.empty() && row->rule != PL_RULE_AMBIGUOUS) winner = "builtin";
                             into->rows.push_back({.key = into->self->KeyName(row->key),
                                                   .rule = std::string(RuleSpelling(row->rule)),
                                                   .fallthrough = row->fallthrough != 0,
                                                   .registration = winner});
                           }};
  if (MaybeFailure failure = PLUMBLINE_CALL(dump_table, registry_, Borrow(operator_name), sink)) return Fail(*failure);
  const auto rank = [this](const scenario::TableRow& row) { return keys_.Find(row.key).value_or(keys_.key_count()); };
  std::stable_sort(collected.rows.begin(), collected.rows.end(),
                   [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
  Outcome outcome;
  outcome.table = std::move(collected.rows);
  return outcome;
}

Outcome Interpreter::Act(const scenario::Query& step, const Step&) {
  const std::string subject = renaming_.In(step.subject);
  pl_key key = PL_NO_KEY;
  if (step.key) {
    if (MaybeFailure failure = InternKey(*step.key, key)) return Fail(*failure);
  }
  Outcome outcome;
  std::uint32_t yes = 0;
  switch (step.kind) {
    case scenario::QueryKind::kHasKernel:
    case scenario::QueryKind::kHasComputed: {
      const std::uint32_t which =
          step.kind == scenario::QueryKind::kHasKernel ? PL_QUERY_DIRECT : PL_QUERY_COMPUTED;
      if (MaybeFailure failure = PLUMBLINE_CALL(has_kernel, registry_, Borrow(subject), key, which, &yes)) {
        return Fail(*failure);
      }
      outcome.truth = yes != 0;
      return outcome;
    }
    case scenario::QueryKind::kHasFallback:
      if (MaybeFailure failure = PLUMBLINE_CALL(has_fallback, registry_, key, &yes)) return Fail(*failure);
      outcome.truth = yes != 0;
      return outcome;
    case scenario::QueryKind::kOperators:
      return QueryList(PL_LIST_ALL, PL_NO_KEY);
    case scenario::QueryKind::kDangling:
      return QueryList(PL_LIST_DANGLING, PL_NO_KEY);
    case scenario::QueryKind::kOperatorsAtKey:
      return QueryList(PL_LIST_AT_KEY, key);
    case scenario::QueryKind::kSchema: {
      std::vector<std::string> texts;
      const pl_string_sink sink{&texts, [](void* context, pl_string text) {
                                  static_cast<std::vector<std::string>*>(context)->emplace_back(abi::View(text));
                                }};
      if (MaybeFailure failure = PLUMBLINE_CALL(schema_of, registry_, Borrow(subject), sink)) return Fail(*failure);
      for (std::string& text : texts) text = renaming_.Out(text);
      outcome.names = std::move(texts);
      return outcome;
    }
    case scenario::QueryKind::kTable:
      return QueryTable(subject);
    case scenario::QueryKind::kCounters: {
      pl_operator* op = nullptr;
      if (MaybeFailure failure = PLUMBLINE_CALL(find_operator, registry_, Borrow(subject), &op)) return Fail(*failure);
      pl_cache_counters now{};
      now.struct_size = sizeof(now);
      const MaybeFailure failure = PLUMBLINE_CALL(cache_counters, registry_, op, &now);
      adapter_.operator_release(op);
      if (failure) return Fail(*failure);
      const pl_cache_counters before = std::exchange(counted_[subject], now);
      outcome.counters = scenario::CacheCounters{.hits = now.hits - before.hits,
                                                 .misses = now.misses - before.misses,
                                                 .invalidations = now.invalidations - before.invalidations};
      return outcome;
    }
    case scenario::QueryKind::kDestroyed: {
      std::int64_t count = 0;
      for (const auto& probe : probes_) count += probe->kernel == step.subject ? probe->destroyed.load() : 0;
      outcome.count = count;
      return outcome;
    }
    case scenario::QueryKind::kHeard: {
      const auto at = listeners_.find(step.subject);
      if (at == listeners_.end()) return Fail(NotFound("listener", step.subject));
      outcome.names = std::exchange(at->second->events, {});
      return outcome;
    }
  }
  return outcome;
}

// ---- kernels ----

pl_error* Interpreter::Raise(Failure failure) {
  raised_.push_back(std::move(failure));
  return abi::MakeError(PL_ERROR_KERNEL_RAISED, raised_.back().message, {}, kFirstPayload + raised_.size() - 1);
}

pl_error* Interpreter::RunProbe(void* context, pl_frame* frame) {
  auto* probe = static_cast<ProbeContext*>(context);
  Interpreter& self = *probe->owner;
  if (self.over_) return abi::MakeError(PL_ERROR_KERNEL_RAISED, "a kernel ran after its scenario had ended");
  try {
    return self.RunBody(*probe, *frame, frame);
  } catch (const std::exception& error) {
    self.threw_ = error.what();
  } catch (...) {
    self.threw_ = "something that is no std::exception";
  }
  return self.Raise({"kernel-raised", "an exception came across the ABI into a kernel"});
}

pl_error* Interpreter::RunBody(const ProbeContext& probe, const pl_frame& frame, pl_frame* raw) {
  scenario::KernelRun run{.kernel = probe.kernel,
                          .operator_name = renaming_.Out(abi::View(frame.operator_name)),
                          .keys = KeyNames(frame.keys.data, frame.keys.size),
                          .arguments = {},
                          .depth = depth_};
  for (std::uint64_t i = 0; i < frame.argument_count; ++i) run.arguments.push_back(Observe(frame.arguments[i]));
  runs_.push_back(std::move(run));

  ++depth_;
  std::vector<pl_guard*> guards;
  const MaybeFailure failure = RunItems(probe, frame, raw, guards);
  for (auto guard = guards.rbegin(); guard != guards.rend(); ++guard) adapter_.guard_leave(*guard);
  --depth_;
  return failure ? Raise(*failure) : nullptr;
}

MaybeFailure Interpreter::Push(const pl_frame& frame, const HostValue& value) {
  Lender lender;
  const std::vector<HostValue> kept = {value};
  const pl_value_list lent = lender.Lend(kept);
  return Take(frame.results.push(frame.results.context, lent.data));
}

MaybeFailure Interpreter::PushZeros(const pl_frame& frame, const std::vector<HostValue>& arguments) {
  const auto returns = returns_.find(std::string(abi::View(frame.operator_name)));
  if (returns == returns_.end()) return std::nullopt;
  for (const scenario::SchemaArgument& wanted : returns->second) {
    HostValue zero;
    if (wanted.type.optional) {
      zero.kind = PL_NONE;
    } else if (wanted.type.list) {
      zero.kind = PL_LIST;
    } else {
      switch (wanted.type.base) {
        case scenario::SchemaType::Base::kTensor: {
          const auto first = std::find_if(arguments.begin(), arguments.end(),
                                          [](const HostValue& argument) { return argument.kind == PL_TENSOR; });
          if (first != arguments.end()) {
            zero = *first;
          } else if (MaybeFailure failure = Make(Value::Undefined(), zero)) {
            return failure;
          }
          break;
        }
        case scenario::SchemaType::Base::kFloat:
          zero.kind = PL_FLOAT;
          break;
        case scenario::SchemaType::Base::kBool:
          zero.kind = PL_BOOL;
          break;
        case scenario::SchemaType::Base::kStr:
          zero.kind = PL_STRING;
          break;
        default:
          zero.kind = PL_INT;
      }
    }
    if (MaybeFailure failure = Push(frame, zero)) return failure;
  }
  return std::nullopt;
}

MaybeFailure Interpreter::RunItems(const ProbeContext& probe, const pl_frame& frame, pl_frame* raw,
                                   std::vector<pl_guard*>& guards) {
  std::vector<HostValue> arguments;
  for (std::uint64_t i = 0; i < frame.argument_count; ++i) arguments.push_back(Copy(adapter_, frame.arguments[i]));
  std::vector<HostValue> inner;
  static const std::vector<scenario::BodyItem> kEmpty;
  for (const scenario::BodyItem& item : probe.definition != nullptr ? probe.definition->body : kEmpty) {
    if (const auto* guard = std::get_if<scenario::BodyGuard>(&item)) {
      std::vector<pl_key> keys;
      if (MaybeFailure failure = InternKeys(guard->keys, keys)) return failure;
      pl_guard* entered = nullptr;
      if (MaybeFailure failure =
              PLUMBLINE_CALL(guard_enter, registry_, static_cast<std::uint32_t>(guard->include ? PL_GUARD_INCLUDE : PL_GUARD_EXCLUDE),
                             pl_key_list{keys.data(), keys.size()}, &entered)) {
        return failure;
      }
      guards.push_back(entered);
    } else if (const auto* redispatch = std::get_if<scenario::BodyRedispatch>(&item)) {
      std::vector<std::string> names;
      if (redispatch->keys) {
        names = *redispatch->keys;
      } else {
        const auto below = keys_.Find(*redispatch->below);
        if (!below) return Failure{"not-found", fmt::format("there is no dispatch key '{}'", *redispatch->below)};
        if (keys_.IsAlias(*below)) {
          return Failure{"invalid-argument", fmt::format("there is no set below the alias key {}", *redispatch->below)};
        }
        std::string unknown;
        const auto received = keys_.SetOf(KeyNames(frame.keys.data, frame.keys.size), &unknown);
        if (!received) return Failure{"internal", "the kernel received the unknown key " + unknown};
        names = keys_.Names(keys_.Below(*received, *below));
      }
      std::vector<pl_key> keys;
      if (MaybeFailure failure = InternKeys(names, keys)) return failure;
      HostValues results(adapter_);
      const pl_key_list cut{keys.data(), keys.size()};
      // The C++ types of a typed redispatch are those of the kernel that does it.
      const bool typed = redispatch->form == scenario::CallForm::kTyped && probe.signature != PL_SIGNATURE_none;
      if (MaybeFailure failure =
              typed ? PLUMBLINE_CALL(redispatch_typed, raw, probe.signature, cut, frame.arguments,
                                     frame.argument_count, results.sink())
                    : PLUMBLINE_CALL(redispatch, raw, cut, frame.arguments, frame.argument_count, results.sink())) {
        return failure;
      }
      inner = results.values();
    } else if (const auto* call = std::get_if<scenario::BodyCall>(&item)) {
      std::vector<HostValue> given;
      if (call->arguments) {
        if (MaybeFailure failure = Make(*call->arguments, given)) return failure;
      } else {
        given = arguments;
      }
      HostValues results(adapter_);
      const int depth = depth_;
      MaybeFailure failure = CallOperator(call->operator_name, nullptr, call->form, call->signature, given, results);
      depth_ = depth;
      if (failure && !call->caught) return failure;
      if (!failure) inner = results.values();
    } else if (const auto* thrown = std::get_if<scenario::BodyThrow>(&item)) {
      return Failure{"kernel-raised", thrown->message};
    } else if (const auto* step = std::get_if<scenario::BodyStep>(&item)) {
      for (const Step& one : step->step) {
        Outcome outcome = RunStep(one, current_thread_);
        if (!outcome.error.empty()) return Failure{outcome.error, outcome.message};
      }
    } else if (const auto* given = std::get_if<scenario::BodyReturn>(&item)) {
      for (const auto& value : given->values) {
        if (const auto* argument = std::get_if<scenario::BodyReturn::Argument>(&value)) {
          if (argument->index < 0 || argument->index >= static_cast<int>(arguments.size())) {
            return Failure{"invalid-argument", fmt::format("the kernel has no argument {}", argument->index)};
          }
          if (MaybeFailure failure = Push(frame, arguments[static_cast<std::size_t>(argument->index)])) return failure;
        } else if (std::holds_alternative<scenario::BodyReturn::Inner>(value)) {
          for (const HostValue& result : inner) {
            if (MaybeFailure failure = Push(frame, result)) return failure;
          }
        } else {
          HostValue made;
          if (MaybeFailure failure = Make(std::get<Value>(value), made)) return failure;
          if (MaybeFailure failure = Push(frame, made)) return failure;
        }
      }
      return std::nullopt;
    }
  }
  return PushZeros(frame, arguments);
}

// ---- the whole ----

void Interpreter::CleanUp() {
  while (!guard_order_.empty()) {
    GuardSlot& guard = guards_[guard_order_.back()];
    guard_order_.pop_back();
    OnThread(guard.thread, [&] { adapter_.guard_leave(guard.handle); });
  }
  threads_.clear();
  while (!in_order_.empty()) {
    pl_registration* last = in_order_.back();
    in_order_.pop_back();
    PLUMBLINE_CALL(release, last);
  }
  for (auto& [name, library] : libraries_) {
    if (library.state == Named::State::kLive) PLUMBLINE_CALL(library_close, library.handle);
  }
  for (const auto& [name, op] : found_) adapter_.operator_release(op);
  if (PL_HAS(&adapter_, warnings_to)) PLUMBLINE_CALL(warnings_to, registry_, pl_string_sink{nullptr, nullptr});
  if (PL_HAS(&adapter_, drain)) PLUMBLINE_CALL(drain, registry_);
  adapter_.close(registry_);
}

Interpretation Interpreter::Run() {
  Interpretation done;
  try {
    // Counting hits may send calls another way through the backend, so it is asked for only where it is looked at.
    const bool counts = std::any_of(scenario_.steps.begin(), scenario_.steps.end(), [](const Step& step) {
      const auto* query = std::get_if<scenario::Query>(&step.action);
      return query != nullptr && query->kind == scenario::QueryKind::kCounters;
    });
    std::vector<pl_key_declaration> keys;
    for (const scenario::KeyDeclaration& key : scenario_.declared_keys) {
      keys.push_back({.struct_size = sizeof(pl_key_declaration),
                      .kind = static_cast<std::uint32_t>(key.kind),
                      .name = Borrow(key.name),
                      .after = Borrow(key.after),
                      .autograd = Borrow(key.autograd)});
    }
    const pl_open_options open{.struct_size = sizeof(pl_open_options),
                               .mode = static_cast<std::uint32_t>(options_.fresh ? PL_OPEN_FRESH : PL_OPEN_PROCESS),
                               .release = Borrow(scenario_.release),
                               .count_hits = counts ? 1u : 0u,
                               .reserved = 0,
                               .keys = keys.data(),
                               .key_count = keys.size()};
    if (MaybeFailure failure = PLUMBLINE_CALL(open, &open, &registry_)) {
      done.refused = fmt::format("{} ({})", failure->message, failure->error_class);
      return done;
    }
    {
      HostValue undefined;
      if (!Make(Value::Undefined(), undefined)) {
        undefined_identity_ = adapter_.tensor_identity(undefined.tensor.get());
      }
    }
    if (PL_HAS(&adapter_, warnings_to)) {
      const pl_string_sink sink{this, [](void* context, pl_string) { static_cast<Interpreter*>(context)->warned_ = true; }};
      PLUMBLINE_CALL(warnings_to, registry_, sink);
    }
    for (std::size_t i = 0; i < scenario_.steps.size(); ++i) {
      if (options_.on_step) options_.on_step(static_cast<int>(i));
      done.outcomes.push_back(RunStep(scenario_.steps[i], scenario_.steps[i].thread));
      runs_.clear();
      raised_.clear();
    }
    if (options_.on_step) options_.on_step(static_cast<int>(scenario_.steps.size()));
    CleanUp();
  } catch (const std::exception& error) {
    threw_ = error.what();
  } catch (...) {
    threw_ = "something that is no std::exception";
  }
  over_ = true;
  done.threw = threw_;
  for (const auto& probe : probes_) {
    ++done.contexts[probe->kernel].made;
    done.contexts[probe->kernel].destroyed += probe->destroyed;
  }
  return done;
}

}  // namespace

Interpretation Interpret(const pl_adapter& adapter, const scenario::Scenario& scenario, const model::KeyTable& keys,
                         const InterpretOptions& options) {
  static int scenarios = 0;
  const std::string suffix = options.fresh ? "" : fmt::format("_pl{}x", ++scenarios);
  // What the backend still holds of a scenario is kept for the life of the process: see ProbeContext.
  static std::set<std::shared_ptr<Interpreter>> kept;
  auto interpreter = std::make_shared<Interpreter>(adapter, scenario, keys, options, suffix);
  // Even the main thread is new, so that what one scenario leaves in a thread's state cannot reach the next.
  Interpretation done;
  std::thread([&] { done = interpreter->Run(); }).join();
  if (interpreter->AllDestroyedOnce()) {
    interpreter->ForgetProbes();  // they own the interpreter
  } else {
    kept.insert(std::move(interpreter));
  }
  return done;
}

}  // namespace plumbline::harness
