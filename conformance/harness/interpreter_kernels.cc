#include "conformance/harness/interpreter_state.h"

namespace plumbline::harness {
namespace {

using scenario::Outcome;
using scenario::Step;
using scenario::Value;

}  // namespace

pl_error* Interpreter::RunProbe(void* context, pl_frame* frame) {
  auto* probe = static_cast<ProbeContext*>(context);
  Interpreter& self = *probe->owner;
  if (self.over_) return abi::MakeError(PL_ERROR_KERNEL_RAISED, "a kernel ran after its scenario had ended");
  try {
    return self.RunBody(*probe, *frame);
  } catch (const std::exception& error) {
    self.threw_ = error.what();
  } catch (...) {
    self.threw_ = "something that is no std::exception";
  }
  return self.Raise({"kernel-raised", "an exception came across the ABI into a kernel"});
}

pl_error* Interpreter::RunBody(const ProbeContext& probe, pl_frame& frame) {
  scenario::KernelRun run{.kernel = probe.kernel,
                          .operator_name = renaming_.Out(abi::View(frame.operator_name)),
                          .keys = KeyNames(frame.keys.data, frame.keys.size),
                          .arguments = {},
                          .depth = depth_};
  for (std::uint64_t i = 0; i < frame.argument_count; ++i) run.arguments.push_back(Observe(frame.arguments[i]));
  runs_.push_back(std::move(run));

  ++depth_;
  Body body{.frame = frame, .arguments = {}, .inner = {}, .guards = {}};
  const MaybeFailure failure = RunItems(probe, body);
  for (auto guard = body.guards.rbegin(); guard != body.guards.rend(); ++guard) adapter_.guard_leave(*guard);
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
    zero.kind = KindOfZero(wanted.type);
    zero.text = TextOfZero(wanted.type);
    if (zero.kind == PL_TENSOR) {
      const auto first = std::find_if(arguments.begin(), arguments.end(),
                                      [](const HostValue& argument) { return argument.kind == PL_TENSOR; });
      if (first != arguments.end()) {
        zero = *first;
      } else if (MaybeFailure failure = Make(Value::Undefined(), zero)) {
        return failure;
      }
    }
    if (MaybeFailure failure = Push(frame, zero)) return failure;
  }
  return std::nullopt;
}

MaybeFailure Interpreter::Do(const scenario::BodyGuard& item, const ProbeContext&, Body& body) {
  std::vector<pl_key> keys;
  if (MaybeFailure failure = InternKeys(item.keys, keys)) return failure;
  const std::uint32_t side = item.include ? PL_GUARD_INCLUDE : PL_GUARD_EXCLUDE;
  pl_guard* entered = nullptr;
  if (MaybeFailure failure =
          PLUMBLINE_CALL(guard_enter, registry_, side, pl_key_list{keys.data(), keys.size()}, &entered)) {
    return failure;
  }
  body.guards.push_back(entered);
  return std::nullopt;
}

// The received set, cut to what is strictly below the key.
MaybeFailure Interpreter::CutBelow(const std::string& key, const pl_frame& frame, std::vector<std::string>& names) {
  const auto below = keys_.Find(key);
  if (!below) return Failure{"not-found", fmt::format("there is no dispatch key '{}'", key)};
  if (keys_.IsAlias(*below)) {
    return Failure{"invalid-argument", fmt::format("there is no set below the alias key {}", key)};
  }
  std::string unknown;
  const auto received = keys_.SetOf(KeyNames(frame.keys.data, frame.keys.size), &unknown);
  if (!received) return Failure{"internal", "the kernel received the unknown key " + unknown};
  names = keys_.Names(keys_.Below(*received, *below));
  return std::nullopt;
}

MaybeFailure Interpreter::RefuseInner() {
  const std::optional<std::string> why = inner_calls_.Refuse(depth_);
  return why ? MaybeFailure(Failure{"overflow", *why}) : std::nullopt;
}

MaybeFailure Interpreter::Do(const scenario::BodyRedispatch& item, const ProbeContext& probe, Body& body) {
  if (MaybeFailure failure = RefuseInner()) return failure;
  std::vector<std::string> names = item.keys.value_or(std::vector<std::string>());
  if (!item.keys) {
    if (MaybeFailure failure = CutBelow(*item.below, body.frame, names)) return failure;
  }
  std::vector<pl_key> keys;
  if (MaybeFailure failure = InternKeys(names, keys)) return failure;
  const pl_key_list set{keys.data(), keys.size()};
  HostValues results(adapter_);
  const pl_frame& frame = body.frame;
  // The C++ types of a typed redispatch are those of the kernel that does it.
  const bool typed = item.form == scenario::CallForm::kTyped && probe.signature != PL_SIGNATURE_none;
  if (MaybeFailure failure =
          typed ? PLUMBLINE_CALL(redispatch_typed, &body.frame, probe.signature, set, frame.arguments,
                                 frame.argument_count, results.sink())
                : PLUMBLINE_CALL(redispatch, &body.frame, set, frame.arguments, frame.argument_count, results.sink())) {
    return failure;
  }
  body.inner = results.values();
  return std::nullopt;
}

MaybeFailure Interpreter::Do(const scenario::BodyCall& item, const ProbeContext&, Body& body) {
  if (MaybeFailure failure = RefuseInner()) return item.caught ? std::nullopt : failure;
  std::vector<HostValue> given;
  if (item.arguments) {
    if (MaybeFailure failure = Make(*item.arguments, given)) return failure;
  }
  HostValues results(adapter_);
  const int depth = depth_;
  MaybeFailure failure = CallOperator(item.operator_name, nullptr, item.form, item.signature,
                                      item.arguments ? given : body.arguments, results);
  depth_ = depth;
  if (!failure) body.inner = results.values();
  return item.caught ? std::nullopt : failure;
}

MaybeFailure Interpreter::Do(const scenario::BodyThrow& item, const ProbeContext&, Body&) {
  return Failure{"kernel-raised", item.message};
}

MaybeFailure Interpreter::Do(const scenario::BodyStep& item, const ProbeContext&, Body&) {
  for (const Step& step : item.step) {
    const Outcome outcome = RunStep(step, current_thread_);
    if (!outcome.error.empty()) return Failure{outcome.error, outcome.message};
  }
  return std::nullopt;
}

MaybeFailure Interpreter::Do(const scenario::BodyReturn& item, const ProbeContext&, Body& body) {
  body.returned = true;
  for (const auto& value : item.values) {
    std::vector<HostValue> given;
    if (const auto* argument = std::get_if<scenario::BodyReturn::Argument>(&value)) {
      if (argument->index < 0 || argument->index >= static_cast<int>(body.arguments.size())) {
        return Failure{"invalid-argument", fmt::format("the kernel has no argument {}", argument->index)};
      }
      given.push_back(body.arguments[static_cast<std::size_t>(argument->index)]);
    } else if (std::holds_alternative<scenario::BodyReturn::Inner>(value)) {
      given = body.inner;
    } else if (MaybeFailure failure = Make(std::get<Value>(value), given.emplace_back())) {
      return failure;
    }
    for (const HostValue& one : given) {
      if (MaybeFailure failure = Push(body.frame, one)) return failure;
    }
  }
  return std::nullopt;
}

MaybeFailure Interpreter::RunItems(const ProbeContext& probe, Body& body) {
  for (std::uint64_t i = 0; i < body.frame.argument_count; ++i) {
    body.arguments.push_back(Copy(adapter_, body.frame.arguments[i]));
  }
  static const std::vector<scenario::BodyItem> kEmpty;
  for (const scenario::BodyItem& item : probe.definition != nullptr ? probe.definition->body : kEmpty) {
    if (MaybeFailure failure = std::visit([&](const auto& one) { return Do(one, probe, body); }, item)) return failure;
    if (body.returned) return std::nullopt;
  }
  return PushZeros(body.frame, body.arguments);
}

}  // namespace plumbline::harness
