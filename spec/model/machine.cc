#include "spec/model/machine.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include "spec/model/call.h"
#include "spec/model/names.h"
#include "spec/model/registry.h"
#include "spec/scenario/limits.h"

namespace plumbline::model {
namespace {

using namespace scenario;  // NOLINT: the model speaks the scenario's language throughout

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};

struct Results {
  Status error;
  std::vector<Value> values;
};

// What a kernel saw says nothing of whose argument a tensor is.
Value WithoutIdentity(Value value) {
  value.argument = -1;
  for (Value& item : value.items) item = WithoutIdentity(std::move(item));
  return value;
}

std::vector<KeyDeclaration> Merge(std::vector<KeyDeclaration> declared, const std::vector<KeyDeclaration>& more) {
  for (const KeyDeclaration& key : more) {
    if (std::find(declared.begin(), declared.end(), key) == declared.end()) declared.push_back(key);
  }
  return declared;
}

}  // namespace

struct Machine::State {
  struct Guard {
    std::string thread;
    bool include = false;
    KeySet added;
    KeySet found;  // the whole side, before
    bool left = false;
  };
  struct Handle {
    std::string operator_name;
    std::uint64_t id = 0;
  };
  // A kernel while it runs.
  struct Frame {
    std::string operator_name;
    std::uint64_t id = 0;
    KeySet keys;
    const std::vector<Value>& arguments;
    int depth = 0;
  };

  std::string problem;
  std::string problem_class;
  bool record = false;
  Deviations deviations;
  std::shared_ptr<const KeyTable> keys;
  std::unique_ptr<Registry> registry;
  std::map<std::string, std::vector<BodyItem>> bodies;
  std::map<std::string, ThreadState> threads;
  std::map<std::string, Guard> guards;
  std::map<std::string, Handle> handles;
  std::vector<CallRecord> records;

  // Of the step that runs.
  std::string thread;
  Outcome* outcome = nullptr;
  InnerCalls inner_calls;

  ThreadState& Thread() {
    const auto [it, is_new] = threads.try_emplace(thread);
    if (is_new) it->second = {keys->thread_include(), keys->thread_exclude()};  // [TLS-006] [TLS-007]
    return it->second;
  }

  // ---- values ----

  // Names every tensor by its full key set, and so finds names that are no key.
  Status UnknownKey(const std::string& name) const {
    Key none = kUndefined;
    return registry->FindKey(name, &none);
  }

  Status Normalise(Value& value) {
    if (value.kind == Value::Kind::kTensor) {
      std::string unknown;
      const std::optional<KeySet> set = keys->SetOf(value.keys, &unknown);
      if (!set) {
        return UnknownKey(unknown);
      }
      value.keys = keys->Names(*set);
    }
    for (Value& item : value.items) {
      if (Status status = Normalise(item)) return status;
    }
    return std::nullopt;
  }

  // ---- guards ----

  // A guard adds what is not there yet, and takes back just that.
  Guard EnterGuard(bool include, const KeySet& set) {
    KeySet& side = include ? Thread().included : Thread().excluded;
    Guard guard{
        .thread = thread, .include = include, .added = Missing(set, side), .found = side};  // [TLS-002] [TLS-005]
    side = Union(side, guard.added);
    return guard;
  }
  void LeaveGuard(const Guard& guard) {
    ThreadState& state = threads.at(guard.thread);
    KeySet& side = guard.include ? state.included : state.excluded;
    if (deviations.contains(Deviation::kGuardRestoresWhatItFound)) {
      side = guard.found;
      return;
    }
    KeySet added = guard.added;
    if (deviations.contains(Deviation::kGuardLeaksBackendBits)) added.components.reset();
    side = Missing(side, added);  // [TLS-001] [TLS-003]
  }

  // ---- calls ----

  struct Call {
    CallForm form = CallForm::kBoxed;
    std::string signature;
  };

  Results CallNamed(const std::string& name, const Call& call, const std::vector<Value>& arguments, int depth) {
    Operator* op = nullptr;
    if (Status status = registry->FindDefined(name, &op)) return Refuse(name, depth, *status);
    return CallOperator(*op, call, arguments, depth);
  }

  Results Refuse(const std::string& name, int depth, Error error) {
    if (record) {
      CallRecord& call_record = records.emplace_back();
      call_record.operator_name = name;
      call_record.depth = depth;
      call_record.refused = true;
      call_record.error = error.error_class;
      call_record.message = error.message;
    }
    return {std::move(error), {}};
  }

  // The operator that a handle or a frame stands for, if it is still there.
  Status FindSame(const std::string& name, std::uint64_t id, Operator** op) {
    *op = registry->FindOperator(name);
    if (*op == nullptr || (*op)->id != id) {  // [REG-012] [ERR-007] [ERR-016]
      return Error{"invalid-handle", "operator '" + name + "' is gone: its last registration was released"};
    }
    if (deviations.contains(Deviation::kHandleOutlivesDefinition)) return std::nullopt;
    return registry->FindDefined(name, op);
  }

  Results CallOperator(Operator& op, const Call& call, const std::vector<Value>& arguments, int depth) {
    const Signature* signature = nullptr;
    const auto mismatch = [&](const std::string& why) -> Results {
      return Refuse(op.name, depth, {"schema-mismatch", "call of '" + op.name + "', " + op.schema + ": " + why});
    };
    if (call.form == CallForm::kTyped) {
      signature = FindSignature(call.signature);
      if (signature == nullptr) return {Error{"not-found", "there is no signature '" + call.signature + "'"}, {}};
      if (op.defined && !deviations.contains(Deviation::kTypedCallUnchecked)) {
        if (const std::string why = Difference(op.types, *signature); !why.empty()) return mismatch(why);  // [CALL-018]
      }
      if (const std::string why = registry->CallConflict(op, *signature); !why.empty()) {  // [CALL-019]
        return mismatch("the call has the signature '" + signature->name + "', but " + why);
      }
    }
    const std::vector<SchemaType>& types = signature != nullptr ? signature->types.arguments : op.types.arguments;
    if (signature != nullptr || (op.defined && !deviations.contains(Deviation::kBoxedCallUnchecked))) {
      // [CALL-014] [CALL-015] [ERR-009] [ERR-017]
      if (const std::string why = Misfit(types, arguments, "argument"); !why.empty()) return mismatch(why);
    }

    const std::vector<Value> taken = signature != nullptr ? arguments
                                     : op.defined         ? TopOf(types.size(), types.size(), arguments).top
                                                          : std::vector<Value>();
    CallRecord call_record;
    KeySet set;
    for (std::size_t i = 0; i < taken.size(); ++i) {
      call_record.by_argument.push_back(KeysOf(*keys, types[i], taken[i]));
      set = Union(set, call_record.by_argument.back());  // [RES-001] [RES-024] [CALL-013]
    }
    call_record.thread = Thread();
    call_record.selection = Select(
        *keys, [&](Key key) { return registry->SlotOf(op, key); }, set, Thread(),
        deviations.contains(Deviation::kMaskBeforeThreadState));
    const KeySet effective = call_record.selection.effective;
    return Reach(op, effective, signature, arguments, depth, std::move(call_record));
  }

  // A call's values as they lie on a stack, above `others` that are none of the call's and absent, and the `count` on
  // top of it, which is what a kernel takes. Of a call that fits, these are its values, and nothing lies below but the
  // others.
  struct Stack {
    std::vector<Value> below, top;
  };
  static Stack TopOf(std::size_t count, std::size_t others, const std::vector<Value>& values) {
    std::vector<Value> all(others, Value::None());
    all.insert(all.end(), values.begin(), values.end());
    const auto split = all.end() - static_cast<std::ptrdiff_t>(std::min(count, all.size()));
    return {{all.begin(), split}, {split, all.end()}};
  }

  // What the caller finds where it looks for results, on a stack that a kernel has left.
  static Results TakeResults(std::vector<Value> stack, std::size_t others, const Signature* signature) {
    if (signature == nullptr) {
      const auto own = stack.begin() + static_cast<std::ptrdiff_t>(std::min(others, stack.size()));
      return {{}, {own, stack.end()}};
    }
    const std::size_t count = signature->types.returns.size();
    if (stack.size() < count) return {Error{"unsupported", "a C++ caller reads results that are not there"}, {}};
    stack.resize(count);
    if (const std::string why = Misfit(signature->types.returns, stack, "result"); !why.empty()) {
      return {Error{"schema-mismatch", "signature '" + signature->name + "': " + why}, {}};
    }
    return {{}, std::move(stack)};
  }

  // The slot of the highest key of a set, and the kernel there. The set is taken as it is. `alone`: though the call is
  // boxed, nothing of others lies below its values.
  Results Reach(Operator& op, const KeySet& set, const Signature* signature, const std::vector<Value>& arguments,
                int depth, CallRecord call_record, bool alone = false) {
    const Key key = keys->Highest(set);  // [RES-016] [RES-019] [CALL-020] [CALL-021] [CALL-022]
    const Slot slot = registry->SlotOf(op, key);
    const bool hit = !op.resolved.insert(key).second;
    ++(hit ? op.counters.hits : op.counters.misses);  // [CACHE-011] [CACHE-012] [CACHE-013]

    const std::size_t index = records.size();
    if (record) {
      call_record.operator_name = op.name;
      call_record.depth = depth;
      call_record.selection.effective = set;
      call_record.selection.key = key;
      call_record.slot = slot;
      registry->Computed(op, key, &call_record.trials);
      call_record.hit = hit;
      records.push_back(std::move(call_record));
    }
    Results results = Answer(op, set, key, slot, signature, arguments, depth, alone);
    if (record && results.error) {
      records[index].error = results.error->error_class;
      records[index].message = results.error->message;
    }
    return results;
  }

  Results Answer(Operator& op, const KeySet& set, Key key, const Slot& slot, const Signature* signature,
                 const std::vector<Value>& arguments, int depth, bool alone) {
    const std::string where = "operator '" + op.name + "' for key " + keys->Name(key) + " of " + keys->Print(set);
    if (slot.rule == Rule::kMissing) {  // [RES-018] [ERR-001] [ERR-010] [ERR-011] [ERR-012]
      if (registry->FailsInvariantCheck(op))
        return {Error{"internal", "the table of '" + op.name + "' is inconsistent"}, {}};
      if (key == kUndefined) {  // [RES-021] [ERR-001] [ERR-013]
        return {Error{"no-key", "Could not find a kernel for operator '" + op.name +
                                    "': no argument and no guard brought a key, and no composite kernel serves that "
                                    "case"},
                {}};
      }
      return {Error{"no-kernel", "Could not find a kernel for " + where +
                                     (op.kernels.empty() ? "; it has no kernel at all"
                                                         : "; it has kernels" + registry->KernelsOf(op))},
              {}};
    }
    if (slot.rule == Rule::kAmbiguous) {  // [RES-042] [ERR-003] [ERR-018]
      return {Error{"ambiguous", where + " is ambiguous between its kernels" + registry->KernelsOf(op) +
                                     ": register one at AutogradOther"},
              {}};
    }
    // [RES-022] [CALL-021] [ERR-002]
    if (slot.fallthrough()) return {Error{"fell-through", where + " only falls through"}, {}};

    const Types types = op.types;
    const std::string name = op.name;
    const std::uint64_t id = op.id;
    const Signature* kernel_signature = FindSignature(slot.winner->signature);
    const std::size_t others = op.defined && signature == nullptr && !alone ? types.arguments.size() : 0;
    const Stack stack = TopOf(types.arguments.size(), others, arguments);
    Results results;
    if (slot.winner->builtin) {
      // What the release's own fallbacks for other keys do is none of the dispatcher's; nor what an autograd key's does
      // where a chain leads to it from elsewhere.
      if (!keys->IsAutograd(key) || !keys->IsAutograd(slot.winner->key)) {
        return {Error{"unsupported", "the release's own fallback for " + keys->Name(slot.winner->key) +
                                         ", reached at " + keys->Name(key) + ", is none of the spec's"},
                {}};
      }
      // By a deviation a call gets here without a definition; this fallback asks for the schema.
      if (!op.defined) return {Error{"not-found", "operator '" + name + "' has no definition"}, {}};
      // [RES-057]
      results = Redispatch(name, id, keys->Below(set, *keys->Find("AutogradOther")), arguments, depth,
                           alone || signature != nullptr);
    } else {
      if (kernel_signature != nullptr) {
        if (const std::string why = Misfit(kernel_signature->types.arguments, stack.top, "argument"); !why.empty()) {
          return {Error{"schema-mismatch", "kernel '" + slot.winner->kernel + "' of '" + name + "': " + why}, {}};
        }
      }
      // [RES-017] [CHAIN-007] [REG-065] [CALL-035]
      KernelRun run{slot.winner->kernel, name, keys->Names(set), {}, depth};
      // [CALL-001] [CALL-002] [CALL-005] [CALL-006] [CALL-007]
      for (const Value& argument : stack.top) run.arguments.push_back(WithoutIdentity(argument));
      outcome->runs.push_back(std::move(run));
      results = RunBody(slot.winner->kernel, types, {name, id, set, stack.top, depth});
    }
    if (results.error) return results;  // [CALL-028] [CALL-029] [ERR-008]

    if (const std::string why = ResultMisfit(name, id, kernel_signature, signature, results.values); !why.empty()) {
      return {Error{"schema-mismatch", "kernel '" + slot.winner->kernel + "' of '" + name + "': " + why}, {}};
    }
    // Through a signature that writes its first argument and returns it, that very tensor comes back. [CALL-012]
    if (signature != nullptr && ReturnsFirstArgument(*signature)) return {{}, {arguments[0]}};
    if (slot.winner->builtin) {
      return signature != nullptr ? TakeResults(std::move(results.values), 0, signature) : results;
    }
    if (kernel_signature != nullptr && ReturnsFirstArgument(*kernel_signature)) results.values = {stack.top[0]};
    std::vector<Value> left = stack.below;
    left.insert(left.end(), results.values.begin(), results.values.end());
    return TakeResults(std::move(left), others, signature);
  }

  // Results are held against the kernel's signature, else that of the call, else the schema that is in force when the
  // kernel returns: it may have released the definition. [CALL-037]
  std::string ResultMisfit(const std::string& name, std::uint64_t id, const Signature* kernel, const Signature* call,
                           const std::vector<Value>& results) {
    if (kernel != nullptr) return Misfit(kernel->types.returns, results, "result");
    const bool by_call = call != nullptr && !deviations.contains(Deviation::kTypedCallUnchecked);
    if (by_call) return Misfit(call->types.returns, results, "result");
    const Operator* op = registry->FindOperator(name);
    if (op == nullptr || op->id != id || !op->defined) return "";
    return Misfit(op->types.returns, results, "result");
  }

  Results Redispatch(const std::string& name, std::uint64_t id, const KeySet& set, const std::vector<Value>& arguments,
                     int depth, bool alone = false) {
    Operator* op = nullptr;
    if (Status status = FindSame(name, id, &op)) return {status, {}};
    CallRecord call_record;
    call_record.redispatch = true;
    call_record.thread = Thread();
    return Reach(*op, set, nullptr, arguments, depth, std::move(call_record), alone);
  }

  // ---- kernels ----

  Results RunBody(const std::string& kernel, const Types& types, const Frame& frame) {
    std::vector<Guard> body_guards;
    Results results = RunItems(kernel, types, frame, body_guards);
    // [TLS-004] [TLS-008] [CALL-027] [CALL-030]
    for (auto guard = body_guards.rbegin(); guard != body_guards.rend(); ++guard) {
      LeaveGuard(*guard);
    }
    return results;
  }

  Results RunItems(const std::string& kernel, const Types& types, const Frame& frame, std::vector<Guard>& body_guards) {
    const auto body = bodies.find(kernel);
    std::vector<Value> inner;
    if (body != bodies.end()) {
      for (const BodyItem& item : body->second) {
        if (const auto* given = std::get_if<BodyReturn>(&item)) return Return(*given, frame, inner);
        if (Status status = RunItem(item, frame, body_guards, inner)) return {status, {}};
      }
    }
    Results results;
    for (const SchemaType& type : types.returns) results.values.push_back(ZeroOf(type, frame.arguments));
    return results;
  }

  Results Return(const BodyReturn& given, const Frame& frame, const std::vector<Value>& inner) {
    Results results;
    for (const auto& value : given.values) {
      if (const auto* argument = std::get_if<BodyReturn::Argument>(&value)) {
        if (argument->index < 0 || argument->index >= static_cast<int>(frame.arguments.size())) {
          return {Error{"invalid-argument", "the kernel has no argument " + std::to_string(argument->index)}, {}};
        }
        results.values.push_back(frame.arguments[argument->index]);  // [CALL-002]
      } else if (std::holds_alternative<BodyReturn::Inner>(value)) {
        results.values.insert(results.values.end(), inner.begin(), inner.end());
      } else {
        Value literal = std::get<Value>(value);
        if (Status status = Normalise(literal)) return {status, {}};
        results.values.push_back(std::move(literal));
      }
    }
    return results;
  }

  // The language's own limits, so that every scenario ends.
  Status RefuseInner(const Frame& frame, const std::string& callee) {
    std::optional<std::string> why = inner_calls.Refuse(frame.depth + 1);
    if (!why) return std::nullopt;
    return Refuse(callee, frame.depth + 1, {"overflow", std::move(*why)}).error;
  }

  Status RunItem(const BodyItem& item, const Frame& frame, std::vector<Guard>& body_guards, std::vector<Value>& inner) {
    return std::visit(
        Overloaded{
            [&](const BodyGuard& guard) -> Status {
              std::string unknown;
              const std::optional<KeySet> set = keys->SetOf(guard.keys, &unknown);
              if (!set) return UnknownKey(unknown);
              body_guards.push_back(EnterGuard(guard.include, *set));
              return std::nullopt;
            },
            [&](const BodyRedispatch& redispatch) -> Status {
              if (Status status = RefuseInner(frame, frame.operator_name)) return status;
              KeySet set;
              if (redispatch.keys) {
                std::string unknown;
                const std::optional<KeySet> given = keys->SetOf(*redispatch.keys, &unknown);
                if (!given) return UnknownKey(unknown);
                set = *given;
              } else {
                Key key = kUndefined;
                if (Status status = registry->FindKey(redispatch.below.value_or(""), &key)) return status;
                if (keys->IsAlias(key)) {
                  return Error{"invalid-argument", "there is no set below the alias key " + keys->Name(key)};
                }
                set = keys->Below(frame.keys, key);  // [CALL-023]
              }
              // [CALL-020] [CALL-024] [CALL-025]
              Results results = Redispatch(frame.operator_name, frame.id, set, frame.arguments, frame.depth + 1);
              if (!results.error) inner = std::move(results.values);
              return results.error;
            },
            [&](const BodyCall& call) -> Status {
              std::vector<Value> arguments = call.arguments.value_or(frame.arguments);
              Results results{RefuseInner(frame, call.operator_name), {}};
              for (Value& argument : arguments) {
                if (!results.error) results.error = Normalise(argument);
              }
              if (!results.error) {
                // [CALL-026]
                results = CallNamed(call.operator_name, {call.form, call.signature}, arguments, frame.depth + 1);
              }
              if (!results.error) inner = std::move(results.values);
              return call.caught ? std::nullopt : results.error;  // [CALL-031]
            },
            [&](const BodyThrow& raised) -> Status {
              return Error{"kernel-raised", raised.message};
            },
            [&](const BodyReturn&) -> Status { return std::nullopt; },
            [&](const BodyStep& step) -> Status {
              bool warned = false;
              return Register(step.step.at(0), &warned);  // [REG-032] [CALL-032] [CALL-033] [CALL-034]
            },
        },
        item);
  }

  // ---- steps ----

  // A step that changes the registry.
  Status Register(const Step& step, bool* warned) {
    return std::visit(Overloaded{
                          [&](const Chain& chain) { return registry->Declare(chain, step.line); },
                          [&](const LibraryOpen& open) { return registry->Open(open, step.line); },
                          [&](const LibraryClose& close) { return registry->Close(close.name); },
                          [&](const Define& define) { return registry->Define(define, step.line); },
                          [&](const Impl& impl) { return registry->Impl(impl, step.line, warned); },
                          [&](const Fallback& fallback) { return registry->Fallback(fallback, step.line); },
                          [&](const Listen& listen) { return registry->Listen(listen, step.line); },
                          [&](const Release& release) { return registry->Release(release.name); },
                          [&](const auto&) -> Status {
                            return Error{"unsupported", "this step does not belong into a kernel"};
                          },
                      },
                      step.action);
  }

  Status Run(const Step& step) {
    return std::visit(Overloaded{
                          [&](const Drain&) -> Status { return std::nullopt; },
                          [&](const Find& find) { return RunFind(find); },
                          [&](const scenario::Call& call) { return RunCall(call); },
                          [&](const GuardEnter& guard) { return RunGuard(guard); },
                          [&](const GuardLeave& guard) { return RunLeave(guard); },
                          [&](const Flush&) -> Status {
                            registry->Flush();
                            return std::nullopt;
                          },
                          [&](const Query& query) { return RunQuery(query); },
                          [&](const auto&) { return Register(step, &outcome->warned); },
                      },
                      step.action);
  }

  Status RunFind(const Find& find) {
    Operator* op = nullptr;
    if (Status status = registry->FindDefined(find.operator_name, &op)) return status;
    handles[find.name] = {op->name, op->id};
    return std::nullopt;
  }

  Status RunCall(const scenario::Call& call) {
    std::vector<Value> arguments = call.arguments;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      if (Status status = Normalise(arguments[i])) return status;
      if (arguments[i].kind == Value::Kind::kTensor) arguments[i].argument = static_cast<int>(i);
    }
    Results results;
    if (call.handle.empty()) {
      results = CallNamed(call.operator_name, {call.form, call.signature}, arguments, 0);
    } else {
      const auto handle = handles.find(call.handle);
      if (handle == handles.end()) return Error{"not-found", "there is no handle '" + call.handle + "'"};
      Operator* op = nullptr;
      if (Status status = FindSame(handle->second.operator_name, handle->second.id, &op)) return status;
      results = CallOperator(*op, {call.form, call.signature}, arguments, 0);  // [CALL-036] [CACHE-009]
    }
    outcome->returns = std::move(results.values);  // [CALL-008] [CALL-009] [CALL-010] [CALL-011]
    return results.error;
  }

  Status RunGuard(const GuardEnter& guard) {
    if (const auto it = guards.find(guard.name); it != guards.end() && !it->second.left) {
      return Error{"invalid-argument", "the guard '" + guard.name + "' is in force"};
    }
    std::string unknown;
    const std::optional<KeySet> set = keys->SetOf(guard.keys, &unknown);
    if (!set) return UnknownKey(unknown);
    guards[guard.name] = EnterGuard(guard.include, *set);
    return std::nullopt;
  }

  Status RunLeave(const GuardLeave& leave) {
    const auto it = guards.find(leave.name);
    if (it == guards.end()) return Error{"not-found", "there is no guard '" + leave.name + "'"};
    Guard& guard = it->second;
    if (guard.left) return Error{"invalid-handle", "the guard '" + leave.name + "' was left already"};
    if (guard.thread != thread) return Error{"invalid-argument", "the guard was entered on another thread"};
    guard.left = true;
    LeaveGuard(guard);
    return std::nullopt;
  }

  Status RunQuery(const Query& query) {
    Key key = kUndefined;
    if (query.key) {
      if (Status unknown = registry->FindKey(*query.key, &key)) return unknown;
    }
    const auto existing = [&](Operator** op) -> Status {
      *op = registry->FindOperator(query.subject);
      if (*op != nullptr) return std::nullopt;
      return registry->FindDefined(query.subject, op);  // [INTRO-014]
    };
    const auto no_alias = [&]() -> Status {
      if (!keys->IsAlias(key)) return std::nullopt;
      return Error{"invalid-argument", "the alias key " + keys->Name(key) + " has no slot to ask for"};
    };
    const auto list = [&](auto wanted) {
      outcome->names.emplace();
      for (const auto& [name, op] : registry->operators()) {
        if (wanted(op)) outcome->names->push_back(name);
      }
    };
    Operator* op = nullptr;
    switch (query.kind) {
      case QueryKind::kHasKernel:
        if (Status status = existing(&op)) return status;
        outcome->truth = op->kernels.contains(key);  // [INTRO-001] [INTRO-002] [INTRO-004]
        return std::nullopt;
      case QueryKind::kHasComputed:
        if (Status status = existing(&op)) return status;
        if (Status status = no_alias()) return status;                       // [INTRO-005]
        outcome->truth = registry->SlotOf(*op, key).rule != Rule::kMissing;  // [INTRO-003] [INTRO-004]
        return std::nullopt;
      case QueryKind::kHasFallback:
        if (registry->AliasesFallToUndefined() && keys->IsAlias(key)) key = kUndefined;
        if (Status status = no_alias()) return status;         // [INTRO-016]
        outcome->truth = registry->fallbacks().contains(key);  // [INTRO-006]
        return std::nullopt;
      case QueryKind::kOperators:
        list([](const Operator&) { return true; });  // [INTRO-010]
        return std::nullopt;
      case QueryKind::kDangling:
        list([](const Operator& candidate) { return !candidate.defined; });  // [INTRO-011] [REG-009]
        return std::nullopt;
      case QueryKind::kOperatorsAtKey:
        list([&](const Operator& candidate) { return candidate.kernels.contains(key); });  // [INTRO-012]
        return std::nullopt;
      case QueryKind::kSchema:
        if (Status status = registry->FindDefined(query.subject, &op)) return status;
        outcome->names = {op->schema};  // [INTRO-013]
        return std::nullopt;
      case QueryKind::kTable:
        if (Status status = existing(&op)) return status;
        outcome->table.emplace();
        for (Key slot_key = 0; slot_key < keys->slot_count(); ++slot_key) {
          const Slot slot = registry->Computed(*op, slot_key);  // [INTRO-007] [INTRO-008] [INTRO-009] [CHAIN-012]
          if (slot.rule == Rule::kMissing) continue;
          outcome->table->push_back({keys->Name(slot_key), Spelling(slot.rule), slot.fallthrough(),
                                     slot.winner == nullptr ? "" : slot.winner->handle});
        }
        return std::nullopt;
      case QueryKind::kCounters:
        if (Status status = registry->FindDefined(query.subject, &op)) return status;
        outcome->counters = std::exchange(op->counters, {});  // [CACHE-017] [INTRO-015]
        return std::nullopt;
      case QueryKind::kDestroyed:
        outcome->count = registry->Destroyed(query.subject);
        return std::nullopt;
      case QueryKind::kHeard:
        outcome->names = registry->Heard(query.subject);
        if (!outcome->names) return Error{"not-found", "there is no listener '" + query.subject + "'"};
        return std::nullopt;
    }
    return std::nullopt;
  }
};

Machine::Machine(const Scenario& scenario, const Settings& settings) : state_(std::make_unique<State>()) {
  State& state = *state_;
  const std::string& release_name = settings.release.empty() ? scenario.release : settings.release;
  const tables::ReleaseData* release = FindRelease(release_name);
  if (release == nullptr) {
    state.problem = "there is no release '" + release_name + "'";
    state.problem_class = "not-found";
    return;
  }
  state.keys = KeyTable::Get(*release, Merge(settings.declared_keys, scenario.declared_keys));
  if (!state.keys->problem().empty()) {
    state.problem = state.keys->problem();
    state.problem_class = "invalid-argument";
    return;
  }
  if (settings.deviations.contains(Deviation::kAutogradMtiaHasNoBackend)) {
    state.keys = std::make_shared<const KeyTable>(state.keys->WithNothingBehind("AutogradMTIA"));
  }
  std::map<std::string, bool> fallbacks;
  if (settings.own_fallbacks) {
    for (const StartingFallback& own : *settings.own_fallbacks) fallbacks[own.key] = own.fallthrough;
  } else {
    for (const tables::BuiltinFallbackData& builtin : release->fallbacks) {
      fallbacks[std::string(builtin.key)] = builtin.fallthrough;
    }
  }
  state.record = settings.record;
  state.deviations = settings.deviations;
  state.registry = std::make_unique<Registry>(*state.keys, fallbacks, settings.deviations);
  for (const KernelDefinition& kernel : scenario.kernels) state.bodies[kernel.name] = kernel.body;
}

Machine::~Machine() = default;
Machine::Machine(Machine&&) noexcept = default;

Outcome Machine::Run(const Step& step) {
  State& state = *state_;
  Outcome outcome;
  if (!state.problem.empty()) {
    outcome.error = state.problem_class;
    outcome.message = state.problem;
    return outcome;
  }
  state.outcome = &outcome;
  state.thread = step.thread;
  state.records.clear();
  state.inner_calls = {};
  if (Status error = state.Run(step)) {
    outcome.error = error->error_class;
    outcome.message = error->message;
    outcome.returns.clear();
  }
  state.outcome = nullptr;
  return outcome;
}

const std::string& Machine::problem() const { return state_->problem; }
const KeyTable& Machine::keys() const { return *state_->keys; }
const Registry& Machine::registry() const { return *state_->registry; }
Registry& Machine::registry() { return *state_->registry; }
const std::vector<CallRecord>& Machine::last_calls() const { return state_->records; }

std::vector<Outcome> Predict(const Scenario& scenario, const Settings& settings) {
  Machine machine(scenario, settings);
  std::vector<Outcome> outcomes;
  for (const Step& step : scenario.steps) outcomes.push_back(machine.Run(step));
  return outcomes;
}

}  // namespace plumbline::model
