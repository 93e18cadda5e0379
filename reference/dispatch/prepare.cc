#include "reference/dispatch/prepare.h"

#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <utility>

#include "reference/faults/faults.h"
#include "reference/keys/error.h"
#include "reference/registry/registry_core.h"

namespace plumbline::reference {
namespace {

KeySet WithThread(KeySet arguments) {
#ifdef PLUMBLINE_WITH_FAULTS
  arguments_of_call = arguments;
  arguments = KeySet::FromBits(arguments.bits() & shared_keep.load(std::memory_order_relaxed));
#endif
  if (PLUMBLINE_FAULT(included_keys_are_not_excluded)) {
    return KeySet::FromBits((arguments.bits() & thread_state.keep) | thread_state.include);
  }
  return KeySet::FromBits((arguments.bits() | thread_state.include) & thread_state.keep);
}

void EnterKeys(const OperatorEntry& op) {
  if (thread_state.table_number != op.keys().number()) [[unlikely]] {
    EnterTable(op.keys());
  }
}

KeySet KeysIn(const Value& value) {
  if (value.is_tensor()) return value.tensor_keys();
  KeySet keys;
  if (value.kind() != Value::Kind::kList) return keys;
  for (const Value& item : value.ToList()) {
    if (item.is_tensor()) keys = keys | item.tensor_keys();
  }
  return keys;
}

#ifdef PLUMBLINE_WITH_FAULTS

// What the faults of calls need to know about the thread.
thread_local KeySet received_now = KeySet::FromWord(~std::uint64_t{0});  // by the kernel that runs
thread_local OperatorEntry* last_called = nullptr;
thread_local int failures = 0;

// Drops what is too much, or pushes defaults for what is missing.
void SpoilCount(const Definition& definition, Stack& stack, std::optional<std::size_t>& given) {
  const std::vector<SchemaArgument>& list = definition.schema.arguments;
  if (PLUMBLINE_FAULT(surplus_arguments_are_dropped) && given.value_or(0) > list.size()) {
    stack.Drop(*given - list.size());
    given = list.size();
  }
  while (PLUMBLINE_FAULT(defaults_are_filled_in) && given && *given < list.size() &&
         list[*given].type.base == BaseType::kInt && !list[*given].default_value.empty()) {
    stack.Push(Value(static_cast<std::int64_t>(std::stoll(list[*given].default_value))));
    ++*given;
  }
}

bool ArgumentsFitSpoilt(const Definition& definition, const Value* values) {
  for (const SchemaArgument& argument : definition.schema.arguments) {
    const Value& value = *values++;
    if (PLUMBLINE_FAULT(none_fits_everywhere) && value.is_none()) continue;
    if (PLUMBLINE_FAULT(int_fits_float) && argument.type.base == BaseType::kFloat &&
        value.kind() == Value::Kind::kInt) {
      continue;
    }
    if (!argument.type.Takes(value)) return false;
  }
  return true;
}

void SwapTwoOfAKind(std::span<Value> values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t j = i + 1; j < values.size(); ++j) {
      if (values[i].kind() == values[j].kind()) return std::swap(values[i], values[j]);
    }
  }
}

void SpoilValue(Value& value, bool for_boxed) {
  if (value.is_tensor()) {
    const bool defined = value.AsTensor()->defined();
    if (PLUMBLINE_FAULT(tensor_is_copied) && defined) value = Value(Tensor::Make(value.tensor_keys()));
    if (PLUMBLINE_FAULT(undefined_becomes_none) && for_boxed && !defined) value = Value::None();
  } else if (value.kind() == Value::Kind::kInt) {
    if (PLUMBLINE_FAULT(int_is_narrowed)) value = Value(static_cast<std::int32_t>(value.ToInt()));
  } else if (value.kind() == Value::Kind::kList) {
    std::vector<Value> items = value.ToList();
    if (PLUMBLINE_FAULT(absent_items_close_up)) std::erase_if(items, [](const Value& item) { return item.is_none(); });
    if (PLUMBLINE_FAULT(list_loses_its_last) && items.size() > 1) items.pop_back();
    if (items.size() != value.ToList().size()) value = Value(std::move(items));
  }
}

// What goes wrong with arguments on their way through values.
void SpoilArguments(OperatorEntry& op, std::span<Value> values, bool for_boxed) {
  if (PLUMBLINE_FAULT(arguments_change_places)) SwapTwoOfAKind(values);
  for (Value& value : values) SpoilValue(value, for_boxed);
  const ReadSection reading;
  const Definition* const definition = op.definition();
  if (definition == nullptr || definition->schema.arguments.size() != values.size()) return;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (PLUMBLINE_FAULT(scalar_bool_becomes_int) && values[i].kind() == Value::Kind::kBool &&
        definition->schema.arguments[i].type.base == BaseType::kScalar) {
      values[i] = Value(values[i].ToBool() ? 1 : 0);
    }
  }
}

// What the arguments bring.
KeySet SpoiltArgumentKeys(const OperatorEntry& op, const Definition& definition, const Value* values) {
  KeySet keys, highest;
  for (std::uint64_t left = definition.key_arguments; left != 0; left &= left - 1) {
    const Value& value = values[LowestBit(left)];
    KeySet brought = value.is_tensor() ? value.tensor_keys() : KeysIn(value);
    if (PLUMBLINE_FAULT(lists_bring_nothing) && !value.is_tensor()) brought = {};
    if (PLUMBLINE_FAULT(absent_tensor_counts_as_undefined) && value.is_none()) brought = op.keys().undefined_tensor();
    if (PLUMBLINE_FAULT(undefined_tensor_brings_nothing) && value.is_tensor() && !value.AsTensor()->defined())
      brought = {};
    keys = keys | brought;
    if (brought.functionality_position() < highest.functionality_position()) highest = brought;
    if (PLUMBLINE_FAULT(first_tensor_decides) && value.is_tensor()) break;
  }
  return PLUMBLINE_FAULT(highest_argument_decides) ? highest : keys;
}

// The set of a call (before thread state) or of a redispatch.
KeySet SpoiltKeys(OperatorEntry& op, KeySet keys, bool redispatch) {
  if (!redispatch) last_called = &op;
  if (PLUMBLINE_FAULT(redispatch_applies_thread_state) && redispatch) return WithThread(keys);
  if (PLUMBLINE_FAULT(empty_redispatch_takes_thread_state) && redispatch && keys.empty()) return WithThread(keys);
  if (PLUMBLINE_FAULT(inner_call_keeps_within_its_kernel) && !redispatch) return keys & received_now;
  return keys;
}

#endif

// The error for values that do not fit a schema.
[[noreturn]] void ThrowMisfit(const OperatorEntry& op, const Schema& schema, std::span<const Value> values,
                              bool results) {
  const std::vector<SchemaArgument>& list = results ? schema.returns : schema.arguments;
  const std::string what = results ? "result" : "argument";
  const std::string where = "\n  schema: " + Print(schema);
  if (values.size() != list.size()) {
    Throw(ErrorClass::kSchemaMismatch, "Operator " + op.name() + " has " + std::to_string(list.size()) + " " + what +
                                           "s; " + (results ? "its kernel left " : "the call gave ") +
                                           std::to_string(values.size()) + "." + where);
  }
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i].type.Takes(values[i])) continue;
    Throw(ErrorClass::kSchemaMismatch, "Operator " + op.name() + ": " + what + " " + std::to_string(i + 1) +
                                           (list[i].name.empty() ? "" : " ('" + list[i].name + "')") + " is " +
                                           PrintKind(values[i]) + ", the schema says " + Print(list[i].type) + "." +
                                           where);
  }
  Throw(ErrorClass::kSchemaMismatch, "Operator " + op.name() + " was defined anew during the call." + where);
}

// Whether values are what a list of a definition says.
[[gnu::always_inline]] inline bool Fit(const std::vector<std::uint8_t>& kinds, const std::vector<SchemaArgument>& list,
                                       const Value* values) {
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (kinds[i] == static_cast<std::uint8_t>(values[i].kind())) continue;
    if (kinds[i] != Definition::kAny || !list[i].type.Takes(values[i])) return false;
  }
  return true;
}

[[gnu::always_inline]] inline bool ArgumentsFit(const Definition& definition, const Value* values) {
#ifdef PLUMBLINE_WITH_FAULTS
  if (FaultActive()) return ArgumentsFitSpoilt(definition, values);
#endif
  return Fit(definition.kinds, definition.schema.arguments, values);
}

[[gnu::always_inline]] inline KeySet ArgumentKeys(const Definition& definition, const Value* values) {
  KeySet keys;
  for (std::uint64_t left = definition.key_arguments; left != 0; left &= left - 1) {
    const Value& value = values[LowestBit(left)];
    keys = keys | (value.is_tensor() ? value.tensor_keys() : KeysIn(value));
  }
  return keys;
}

// Checks the arguments on top of the stack and adds up their keys; returns how many they are.
std::size_t CheckArguments(OperatorEntry& op, Stack& stack, std::optional<std::size_t> given, KeySet* keys) {
  std::size_t count = 0;
  {
    const ReadSection reading;
    if (const Definition* definition = op.definition()) {
      count = definition->kinds.size();
#ifdef PLUMBLINE_WITH_FAULTS
      SpoilCount(*definition, stack, given);
#endif
      if (given.value_or(count) == count && stack.size() >= count) {
        const Value* const values = stack.Top(count).data();
        if (ArgumentsFit(*definition, values)) {
          *keys = ArgumentKeys(*definition, values);
#ifdef PLUMBLINE_WITH_FAULTS
          if (FaultActive()) *keys = SpoiltArgumentKeys(op, *definition, values);
#endif
          return count;
        }
      }
    }
  }
  if (op.state() != OperatorState::kDefined) op.core().ThrowUncallable(op);
  const std::span<const Value> values = stack.Top(std::min(stack.size(), given.value_or(count)));
  if (PLUMBLINE_FAULT(kernel_is_sought_first)) {
    KeySet brought;
    for (const Value& value : values) brought = brought | KeysIn(value);
    const Prepared sought(op.boxed_view(), brought, false);
  }
  ThrowMisfit(op, SchemaOf(op), values, false);
}

// What a boxed kernel left must be what the schema says. [CALL-037]
void CheckResults(OperatorEntry& op, Stack& stack, std::size_t below) {
  if (PLUMBLINE_FAULT(results_are_taken_as_they_are)) return;
  {
    const ReadSection reading;
    const Definition* definition = op.definition();
    if (definition == nullptr) return;  // undefined by the kernel itself
    const std::size_t count = definition->return_kinds.size();
    if (stack.size() == below + count &&
        Fit(definition->return_kinds, definition->schema.returns, stack.Top(count).data())) {
      return;
    }
  }
  if (op.state() != OperatorState::kDefined) return;
  ThrowMisfit(op, SchemaOf(op), stack.Top(stack.size() > below ? stack.size() - below : 0), true);
}

// What a typed call takes from the stack must be what its signature says, also if the kernel released or changed the
// definition that the signature fitted.
void CheckResults(OperatorEntry& op, const Signature& signature, Stack& stack) {
  const std::vector<SchemaArgument>& returns = signature.schema().returns;
  const std::span<const Value> values = stack.Top(stack.size());
  bool fit = values.size() == returns.size();
  for (std::size_t i = 0; fit && i < returns.size(); ++i) fit = returns[i].type.Takes(values[i]);
  if (fit) return;
  // The schema has names where the signature has none; it may be gone.
  ThrowMisfit(op, op.state() == OperatorState::kDefined ? SchemaOf(op) : signature.schema(), values, true);
}

#ifdef PLUMBLINE_WITH_FAULTS
void RunSpoilt(const Prepared& prepared, OperatorEntry& op, Stack& stack, std::size_t below) {
  const KernelContext& kernel = prepared.kernel();
  SpoilArguments(op, stack.Top(stack.size() - below), kernel.signature == nullptr);
  OperatorEntry* told = &op;
  static OperatorRef first_served;
  if (PLUMBLINE_FAULT(fallback_learns_the_first) && kernel.op == nullptr) {
    if (!first_served || &first_served->core() != &op.core()) first_served = OperatorRef::Share(op);
    told = first_served.get();
  }
  const KeySet outer = std::exchange(received_now, prepared.keys());
  const int failures_before = failures;
  try {
    BoxedCall call{kernel, *told, prepared.keys(), stack};
    kernel.boxed(call);
  } catch (...) {
    ++failures;
    received_now = outer;
    if (PLUMBLINE_FAULT(failure_leaves_its_key_excluded) && !KeyTable::IsAlias(kernel.key)) {
      thread_state.keep &= ~(op.keys().SetOf(std::array{kernel.key}).bits() & KeySet::kFunctionalityBits);
    }
    if (PLUMBLINE_FAULT(failure_ends_all_guards)) {
      thread_state.include = op.keys().thread_include().bits();
      thread_state.keep = ~(op.keys().thread_exclude().bits() & KeySet::kFunctionalityBits);
    }
    throw;
  }
  received_now = outer;
  if (PLUMBLINE_FAULT(caught_error_comes_back) && failures != failures_before) {
    Throw(ErrorClass::kInternal, "A call inside the kernel of " + op.name() + " failed");
  }
  if (PLUMBLINE_FAULT(released_kernel_loses_its_results) && kernel.released) {
    Throw(ErrorClass::kInvalidHandle, "The kernel of " + op.name() + " was released");
  }
}
#endif

// Runs the kernel; what it leaves is not looked at.
void RunUnchecked(const Prepared& prepared, OperatorEntry& op, Stack& stack, [[maybe_unused]] std::size_t below) {
#ifdef PLUMBLINE_WITH_FAULTS
  if (FaultActive()) return RunSpoilt(prepared, op, stack, below);
#endif
  BoxedCall call{prepared.kernel(), op, prepared.keys(), stack};
  prepared.kernel().boxed(call);
}

void Run(const Prepared& prepared, OperatorEntry& op, Stack& stack, std::size_t below) {
  RunUnchecked(prepared, op, stack, below);
  if (prepared.kernel().signature == nullptr) CheckResults(op, stack, below);
}

}  // namespace

Prepared::Prepared(View& view, KeySet keys, bool redispatch) {
  ThreadState& thread = thread_state;
  observed_ = false;
  // The inline path stopped at a slot that it does not call itself: most often a boxed kernel.
  if (thread.table_number == view.number.load(std::memory_order_relaxed)) {
    Core::BeginRead(thread.reading);
    const Table* const table = Core::Load(view.table);
    keys_ = redispatch ? keys : table->Mask(WithThread(keys));
    const std::uintptr_t slot = Core::LoadSlot(table->At(keys_));
    kernel_ = ContextOf(slot);
    if (kernel_ != nullptr) {
      direct_ = (slot & kSlotFormBits) != kIndirect;
      counted_ = !kernel_->permanent;
      if (counted_) Core::BeginUse(kernel_->references);
      Core::EndRead(thread.reading);
      if (counted_) ++thread.kernels_running;
      return;
    }
    Core::EndRead(thread.reading);
  }
  OperatorEntry& op = *view.op;
  EnterKeys(op);
  RegistryCore& core = op.core();
#ifdef PLUMBLINE_WITH_FAULTS
  keys = SpoiltKeys(op, keys, redispatch);
#endif
  KeySet set = redispatch ? keys : WithThread(keys);
  if (PLUMBLINE_FAULT(inner_calls_ignore_guards) && !redispatch && thread_state.kernels_running > 0) {
    set = (keys | op.keys().thread_include()) - op.keys().thread_exclude();
  }
  const Located located =
      core.Locate(view, set, !redispatch || PLUMBLINE_FAULT(redispatch_masks_fallthrough), redispatch);
  kernel_ = located.kernel;
  keys_ = located.keys;
  counted_ = located.counted;
  direct_ = located.direct;
  observed_ = located.observed;
  if (counted_) ++thread.kernels_running;
  if (observed_) ++thread.depth;
}

Prepared::~Prepared() {
  if (observed_) --thread_state.depth;
  if (!counted_) return;
  --thread_state.kernels_running;
  DropKernel(kernel_);
}

View& ViewFor(OperatorEntry& op, const Signature& signature) { return op.core().ViewFor(op, signature); }

Schema SchemaOf(OperatorEntry& op) {
  EnterKeys(op);
  {
    const ReadSection reading;
    if (const Definition* definition = op.definition()) return definition->schema;
  }
  op.core().ThrowUncallable(op);
}

// Like the inline path of typed calls: arguments are checked, the kernel found and kept in one read section. False:
// something needs care, and nothing was done.
template <bool kRedispatch>
[[gnu::always_inline]] inline bool CallBoxedInline(OperatorEntry& op, KeySet keys, Stack& stack,
                                                   std::optional<std::size_t> given) {
  ThreadState& thread = thread_state;
  const View& view = op.boxed_view();
  if (thread.table_number != view.number.load(std::memory_order_relaxed)) return false;
  Core::BeginRead(thread.reading);
  const Definition* const definition = op.definition();
  std::size_t count = 0;
  std::uintptr_t slot = kIndirect;
  if (definition != nullptr) {
    count = definition->kinds.size();
    if (given.value_or(count) == count && stack.size() >= count) {
      const Value* const values = stack.Top(count).data();
      if (ArgumentsFit(*definition, values)) {
        const Table* const table = Core::Load(view.table);
        if (!kRedispatch) keys = table->Mask(WithThread(ArgumentKeys(*definition, values)));
        slot = Core::LoadSlot(table->At(keys));
      }
    }
  }
  const auto run = [&](const KernelContext* kernel) {
    const std::size_t below = stack.size() - count;
    BoxedCall call{*kernel, op, keys, stack};
    kernel->boxed(call);
    if (kernel->signature == nullptr) CheckResults(op, stack, below);
  };
  if ((slot & kSlotFormBits) == kDirect) {
    Core::EndRead(thread.reading);
    run(ContextOf(slot));
    return true;
  }
  if ((slot & kCounted) != 0) {
    Core::BeginUse(ContextOf(slot)->references);
    Core::EndRead(thread.reading);
    const KernelUse use(ContextOf(slot), thread);
    run(use.kernel);
    return true;
  }
  Core::EndRead(thread.reading);
  return false;
}

void CallBoxed(OperatorEntry& op, Stack& stack, std::optional<std::size_t> given) {
  if (CallBoxedInline<false>(op, KeySet(), stack, given)) return;
  EnterKeys(op);
  KeySet keys;
  const std::size_t count = CheckArguments(op, stack, given, &keys);
  const std::size_t below = stack.size() - count;
  const Prepared prepared(op.boxed_view(), keys, false);
  Run(prepared, op, stack, below);
  if (PLUMBLINE_FAULT(results_are_reversed)) std::ranges::reverse(stack.Top(stack.size() - below));
}

void RedispatchBoxed(OperatorEntry& op, KeySet keys, Stack& stack, std::optional<std::size_t> given) {
  if (CallBoxedInline<true>(op, keys, stack, given)) return;
#ifdef PLUMBLINE_WITH_FAULTS
  if (PLUMBLINE_FAULT(redispatch_follows_the_last_call) && last_called != nullptr && last_called != &op) {
    return RedispatchBoxed(*last_called, keys, stack, given);
  }
#endif
  EnterKeys(op);
  KeySet ignored;
  const std::size_t count = CheckArguments(op, stack, given, &ignored);
  const std::size_t below = stack.size() - count;
  const Prepared prepared(op.boxed_view(), keys, true);
#ifdef PLUMBLINE_WITH_FAULTS
  if (PLUMBLINE_FAULT(redispatch_swaps_arguments)) SwapTwoOfAKind(stack.Top(count));
  if (PLUMBLINE_FAULT(redispatch_replaces_errors)) {
    try {
      return Run(prepared, op, stack, below);
    } catch (const std::exception& error) {
      Throw(ErrorClass::kInternal, "A redispatch of " + op.name() + " failed: " + error.what());
    }
  }
#endif
  Run(prepared, op, stack, below);
}

void RunBoxed(const Prepared& prepared, OperatorEntry& op, const Signature& signature, Stack& stack) {
  RunUnchecked(prepared, op, stack, 0);
  CheckResults(op, signature, stack);
}

}  // namespace plumbline::reference
