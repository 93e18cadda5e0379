#include "reference/dispatch/prepare.h"

#include <algorithm>
#include <bit>

#include "reference/faults/faults.h"
#include "reference/keys/error.h"
#include "reference/registry/registry_core.h"

namespace plumbline::reference {
namespace {

KeySet WithThread(KeySet arguments) {
#ifdef PLUMBLINE_WITH_FAULTS
  arguments_of_call = arguments;
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

// The error for values that do not fit; looks again, since the definition was read in a section that is over.
[[noreturn]] void ThrowMisfit(OperatorEntry& op, std::span<const Value> values, bool results) {
  const Schema schema = SchemaOf(op);
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
      if (given.value_or(count) == count && stack.size() >= count) {
        const Value* const values = stack.Top(count).data();
        if (ArgumentsFit(*definition, values)) {
          *keys = ArgumentKeys(*definition, values);
          return count;
        }
      }
    }
  }
  if (op.state() != OperatorState::kDefined) op.core().ThrowUncallable(op);
  ThrowMisfit(op, stack.Top(std::min(stack.size(), given.value_or(count))), false);
}

// What a boxed kernel left must be what the schema says.
void CheckResults(OperatorEntry& op, Stack& stack, std::size_t below) {
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
  ThrowMisfit(op, stack.Top(stack.size() > below ? stack.size() - below : 0), true);
}

void Run(const Prepared& prepared, OperatorEntry& op, Stack& stack, std::size_t below) {
  BoxedCall call{prepared.kernel(), op, prepared.keys(), stack};
  prepared.kernel().boxed(call);
  if (prepared.kernel().signature == nullptr) CheckResults(op, stack, below);
}

}  // namespace

Prepared::Prepared(View& view, KeySet keys, bool redispatch) {
  ThreadState& thread = thread_state;
  observed_ = false;
  // The inline path stopped at a slot that it does not call itself: most often a boxed kernel.
  if (thread.table_number == view.number.load(std::memory_order_relaxed)) {
    BeginRead(thread);
    const Table* const table = view.table.load(std::memory_order_acquire);
    keys_ = redispatch ? keys : table->Mask(WithThread(keys));
    const std::uintptr_t slot = table->At(keys_).load(std::memory_order_acquire);
    kernel_ = ContextOf(slot);
    if (kernel_ != nullptr) {
      direct_ = (slot & kSlotFormBits) != kIndirect;
      counted_ = !kernel_->permanent;
      if (counted_) kernel_->references.fetch_add(1, std::memory_order_relaxed);
      EndRead(thread);
      if (counted_) ++thread.kernels_running;
      return;
    }
    EndRead(thread);
  }
  OperatorEntry& op = *view.op;
  EnterKeys(op);
  RegistryCore& core = op.core();
  if (redispatch && PLUMBLINE_FAULT(redispatch_applies_thread_state)) keys = WithThread(keys);
  const Located located = core.Locate(view, redispatch ? keys : WithThread(keys),
                                       !redispatch || PLUMBLINE_FAULT(redispatch_masks_fallthrough), redispatch);
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
  BeginRead(thread);
  const Definition* const definition = op.definition();
  std::size_t count = 0;
  std::uintptr_t slot = kIndirect;
  if (definition != nullptr) {
    count = definition->kinds.size();
    if (given.value_or(count) == count && stack.size() >= count) {
      const Value* const values = stack.Top(count).data();
      if (ArgumentsFit(*definition, values)) {
        const Table* const table = view.table.load(std::memory_order_acquire);
        if (!kRedispatch) keys = table->Mask(WithThread(ArgumentKeys(*definition, values)));
        slot = table->At(keys).load(std::memory_order_acquire);
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
    EndRead(thread);
    run(ContextOf(slot));
    return true;
  }
  if ((slot & kSlotFormBits) == kCounted) {
    const KernelUse use(ContextOf(slot), thread);
    run(use.kernel);
    return true;
  }
  EndRead(thread);
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
}

void RedispatchBoxed(OperatorEntry& op, KeySet keys, Stack& stack, std::optional<std::size_t> given) {
  if (CallBoxedInline<true>(op, keys, stack, given)) return;
  EnterKeys(op);
  KeySet ignored;
  const std::size_t count = CheckArguments(op, stack, given, &ignored);
  const std::size_t below = stack.size() - count;
  const Prepared prepared(op.boxed_view(), keys, true);
  Run(prepared, op, stack, below);
}

void RunBoxed(const Prepared& prepared, OperatorEntry& op, Stack& stack) { Run(prepared, op, stack, 0); }

}  // namespace plumbline::reference
