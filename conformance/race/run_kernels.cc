#include "conformance/race/concurrent_runner.h"

namespace plumbline::race {
namespace {

using abi::Borrow;
using harness::HostValue;
using harness::Lender;
using scenario::Value;
using Kind = LifetimeFault::Kind;

}  // namespace

// ---- kernels ----

// From inside of what the backend calls: anything may be asked there, so nothing may be held.
void Runner::Ask() {
  if (!racing_.load() || !PLUMBLINE_RACE_HAS(list_operators)) return;
  const pl_string_sink ignore{nullptr, [](void*, pl_string) {}};
  Take(adapter_.list_operators(registry_, PL_LIST_ALL, PL_NO_KEY, ignore));
}

void Runner::DestroyKernel(void* pointer) {
  const HostCode host;
  auto* context = static_cast<Context*>(pointer);
  if (context->destroyed.load() == 0) {
    const BackendCode backend;
    context->runner->Ask();
  }
  if (context->destroyed.fetch_add(1) != 0) {
    context->runner->Fault(Kind::kDestroyedTwice, context->registration);
  } else if (context->running.load() != 0) {
    context->runner->Fault(Kind::kDestroyedWhileRunning, context->registration);
  }
}

pl_error* Runner::RunKernel(void* pointer, pl_frame* frame) {
  const HostCode host;
  auto* context = static_cast<Context*>(pointer);
  Runner& self = *context->runner;
  if (self.over_) return abi::MakeError(PL_ERROR_KERNEL_RAISED, "a kernel ran after its scenario had ended");
  context->running.fetch_add(1);
  if (context->destroyed.load() != 0) self.Fault(Kind::kRanAfterDestroyed, context->registration);
  if (notes != nullptr && !notes->pending.empty()) {
    Event& call = notes->events[notes->pending.back()];
    if (call.end == kNever) {
      call.end = self.Tick();
      call.ran = context->registration;
    }
  }
  if (notes != nullptr) {
    // Kernels that call each other without end: no history of them could be judged.
    const auto endless = notes->running > 0 ? notes->inner_calls.Refuse(notes->running) : std::nullopt;
    if (endless) {
      self.endless_ = true;
      context->running.fetch_sub(1);
      return abi::MakeError(PL_ERROR_KERNEL_RAISED, *endless);
    }
    ++notes->running;
  }
  pl_error* error = nullptr;
  const std::size_t guards = notes != nullptr ? notes->guards.size() : 0;
  try {
    error = self.RunBody(*context, *frame);
  } catch (const std::exception& thrown) {
    self.threw_ = thrown.what();
  } catch (...) {
    self.threw_ = "something that is no std::exception";
  }
  if (notes != nullptr) {
    self.LeaveGuards(guards);
    --notes->running;
  }
  const bool destroyed = context->destroyed.load() != 0;
  context->running.fetch_sub(1);
  if (destroyed) self.Fault(Kind::kDestroyedWhileRunning, context->registration);
  return error;
}

pl_error* Runner::RunBody(Context& context, pl_frame& frame) {
  const auto pause = [this] {
    const BackendCode backend;
    Point();
    Shake();
  };
  pause();
  if (notes != nullptr && context.body != nullptr) {
    for (const scenario::BodyItem& item : context.body->body) {
      bool returned = false;
      const std::string error = RunItem(item, context, frame, &returned);
      if (!error.empty()) return abi::MakeError(PL_ERROR_KERNEL_RAISED, error);
      if (returned) break;
    }
  }
  pause();
  return PushZeros(frame);
}

std::string Runner::RunItem(const scenario::BodyItem& item, Context& context, pl_frame& frame, bool* returned) {
  if (const auto* thrown = std::get_if<scenario::BodyThrow>(&item)) {
    return thrown->message.empty() ? "thrown" : thrown->message;
  }
  if (std::holds_alternative<scenario::BodyReturn>(item)) {
    *returned = true;  // what, is of no interest here
    return "";
  }
  if (const auto* step = std::get_if<scenario::BodyStep>(&item)) {
    DoStep(step->step.front());
    return "";
  }
  if (const auto* guard = std::get_if<scenario::BodyGuard>(&item)) {
    std::vector<pl_key> keys;
    for (const std::string& name : guard->keys) keys.push_back(interned_.at(name));
    pl_guard* entered = nullptr;
    const std::uint32_t side = guard->include ? PL_GUARD_INCLUDE : PL_GUARD_EXCLUDE;
    pl_error* error;
    {
      const BackendCode backend;
      error = adapter_.guard_enter(registry_, side, pl_key_list{keys.data(), keys.size()}, &entered);
    }
    if (MaybeFailure failure = Take(error)) return failure->message;
    notes->guards.push_back({"", guard->include, &guard->keys, entered});
    return "";
  }
  if (const auto* call = std::get_if<scenario::BodyCall>(&item)) {
    Event event;
    const std::string op = renaming_.In(call->operator_name);
    std::vector<HostValue> values;
    Lender lender;
    pl_value_list arguments{frame.arguments, frame.argument_count};
    if (call->arguments) {
      for (const Value& value : *call->arguments) {
        if (MaybeFailure failure = Make(value, values.emplace_back(), &event.keys)) return failure->message;
      }
      arguments = lender.Lend(values);
    } else if (!notes->pending.empty()) {
      event.keys = notes->events[notes->pending.front()].keys;
    }
    const std::string failed =
        CallByName(call->operator_name, op, std::move(event), call->form == scenario::CallForm::kTyped,
                   harness::SignatureId(call->signature), arguments.data, arguments.size);
    return call->caught ? "" : failed;
  }
  const auto& redispatch = std::get<scenario::BodyRedispatch>(item);
  Event event;
  event.op = renaming_.Out(abi::View(frame.operator_name));
  if (redispatch.keys) {
    event.keys = *redispatch.keys;
  } else {
    std::vector<std::string> received;
    for (std::uint64_t i = 0; i < frame.keys.size; ++i) {
      const auto name = key_names_.find(frame.keys.data[i]);
      if (name != key_names_.end()) received.push_back(name->second);
    }
    std::string unknown;
    const auto set = keys_.SetOf(received, &unknown);
    const auto below = keys_.Find(*redispatch.below);
    if (!set || !below) return "the kernel received keys that nobody knows";
    event.keys = keys_.Names(keys_.Below(*set, *below));
  }
  std::vector<pl_key> keys;
  for (const std::string& name : event.keys) keys.push_back(interned_.at(name));
  std::size_t index;
  Event& noted = Note(Event::Kind::kRedispatch, &index);
  noted.op = event.op;
  noted.keys = event.keys;
  notes->pending.push_back(index);
  const pl_value_sink ignore{nullptr, [](void*, const pl_value*) -> pl_error* { return nullptr; }};
  noted.start = Tick();
  pl_error* error;
  {
    const BackendCode backend;
    const bool typed = redispatch.form == scenario::CallForm::kTyped && context.signature != PL_SIGNATURE_none &&
                       PLUMBLINE_RACE_HAS(redispatch_typed);
    const pl_key_list list{keys.data(), keys.size()};
    error = typed ? adapter_.redispatch_typed(&frame, context.signature, list, frame.arguments, frame.argument_count,
                                              ignore)
                  : adapter_.redispatch(&frame, list, frame.arguments, frame.argument_count, ignore);
  }
  notes->pending.pop_back();
  return Finish(index, error);
}

pl_error* Runner::PushZeros(pl_frame& frame) {
  const auto returns = returns_.find(std::string(abi::View(frame.operator_name)));
  if (returns == returns_.end()) return nullptr;
  for (const scenario::SchemaArgument& wanted : returns->second) {
    pl_value zero{};
    zero.kind = harness::KindOfZero(wanted.type);
    if (zero.kind == PL_STRING) zero.as.string = Borrow(harness::TextOfZero(wanted.type));
    if (zero.kind == PL_TENSOR) {
      zero.kind = PL_NONE;
      for (std::uint64_t i = 0; i < frame.argument_count && zero.kind == PL_NONE; ++i) {
        if (frame.arguments[i].kind == PL_TENSOR) zero = frame.arguments[i];
      }
    }
    if (pl_error* error = frame.results.push(frame.results.context, &zero)) return error;
  }
  return nullptr;
}

}  // namespace plumbline::race
