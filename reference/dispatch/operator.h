// Calling operators.
//
//   Operator op = Operator::Find(registry, "demo::add");
//   TypedOperator<Tensor(const Tensor&, const Tensor&)> add = op.typed<Tensor(const Tensor&, const Tensor&)>();
//   Tensor sum = add.call(a, b);
//
//   op.CallBoxed(stack);                                 // arguments on top of the stack are replaced by the results
//   add.redispatch(keys & op.keys().Below(own), a, b);   // from inside a kernel: this very set, thread state ignored
//
// What an inline call does: the union of the arguments' key sets, the thread's include and exclude words, one mask, one
// scan for the backend and one for the functionality, one load from the operator's published table, one indirect call.
// There is no lock, no write to shared memory, no allocation and no hashing. Everything else hangs on two tests:
//
//   - the number of the thread's key table against the view's. They differ for a thread's first call, after it used a
//     registry of other keys, and whenever the view's number is 0: the operator is released or not defined, its kernels
//     have another signature, calls are observed or hits counted, or there is no membarrier.
//   - the form of the slot. It is not kDirect if the kernel is releasable (it then runs under a count), boxed, missing,
//     or the slot was not used since it last changed.
//
// Each ends in the slow path (prepare.h), which does all that an inline call does and the rest.
//
// Handles are values; a handle may outlive its operator, calls then give kInvalidHandle. Any thread. An operator keeps
// the signatures that it was called with, so a module whose signatures they are is not unloaded before the registry is
// gone.
#ifndef PLUMBLINE_REFERENCE_DISPATCH_OPERATOR_H_
#define PLUMBLINE_REFERENCE_DISPATCH_OPERATOR_H_

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "reference/boxing/kernel.h"
#include "reference/boxing/types.h"
#include "reference/dispatch/prepare.h"
#include "reference/faults/faults.h"
#include "reference/keys/error.h"
#include "reference/keys/thread_state.h"
#include "reference/registry/operator_entry.h"
#include "reference/registry/reclaim.h"
#include "reference/registry/registry.h"

namespace plumbline::reference {

template <class Function>
class TypedOperator;

class Operator {
 public:
  explicit Operator(OperatorRef entry) : entry_(std::move(entry)) {
#ifdef PLUMBLINE_WITH_FAULTS
    changes_ = entry_->changes();
#endif
  }
  explicit Operator(OperatorEntry& entry) : Operator(OperatorRef::Share(entry)) {}
  static Operator Find(const Registry& registry, std::string_view name) { return Operator(registry.FindOrThrow(name)); }

  const std::string& name() const { return entry_->name(); }
  const KeyTable& keys() const { return entry_->keys(); }
  Schema schema() const { return SchemaOf(*entry_); }
  OperatorEntry& entry() const { return *entry_; }

  // kSchemaMismatch if the signature does not fit the schema, or is not that of the living typed kernels.
  template <class Function>
  TypedOperator<Function> typed() const;

  // The kinds of the arguments on top of the stack are checked against the schema before anything runs, and their
  // number too if it is `given`: kSchemaMismatch.
  void CallBoxed(Stack& stack, std::optional<std::size_t> given = std::nullopt) const {
#ifdef PLUMBLINE_WITH_FAULTS
    if (PLUMBLINE_FAULT(handle_serves_until_a_change) && changes_ != entry_->changes()) {
      Throw(ErrorClass::kInvalidHandle, "Operator " + name() + " was changed since the handle was taken");
    }
#endif
    reference::CallBoxed(*entry_, stack, given);
  }
  void RedispatchBoxed(KeySet keys, Stack& stack, std::optional<std::size_t> given = std::nullopt) const {
    reference::RedispatchBoxed(*entry_, keys, stack, given);
  }

 private:
  OperatorRef entry_;
#ifdef PLUMBLINE_WITH_FAULTS
  std::int64_t changes_ = 0;  // to the operator, before the handle was taken
#endif
};

template <class R, class... A>
class TypedOperator<R(A...)> {
 public:
  R call(A... arguments) const;
  R redispatch(KeySet keys, A... arguments) const;
  const std::string& name() const { return entry_->name(); }
  const KeyTable& keys() const { return entry_->keys(); }
  OperatorEntry& entry() const { return *entry_; }

 private:
  friend class Operator;
  using Function = R (*)(const KernelContext*, KeySet, A...);
  TypedOperator(OperatorRef entry, View* view) : entry_(std::move(entry)), view_(view) {}

  [[gnu::noinline]] R CallSlow(A... arguments) const;
  [[gnu::noinline]] R RedispatchSlow(KeySet keys, A... arguments) const;
  R Run(const Prepared& prepared, A... arguments) const;

  OperatorRef entry_;
  View* view_;
};

template <class Function>
TypedOperator<Function> Operator::typed() const {
  return TypedOperator<Function>(entry_, &ViewFor(*entry_, SignatureOf<Function>()));
}

// ---- the inline path ----

namespace internal {

// The thread's state by its address, taken once: each access through the variable's name would load its place anew.
[[gnu::always_inline]] inline ThreadState& ThisThread() {
  ThreadState* thread = &thread_state;
  asm("" : "+r"(thread));
  return *thread;
}

template <class A>
std::uint64_t BitsOf(const A& argument) {
  if constexpr (kBringsKeys<A>) {
    if (PLUMBLINE_FAULT(typed_call_sees_single_tensors) && !std::is_same_v<std::remove_cvref_t<A>, Tensor>) {
      return KeySet::kAlways;
    }
    return KeysOf(argument).bits();
  } else {
    return KeySet::kAlways;
  }
}

}  // namespace internal

template <class R, class... A>
[[gnu::always_inline]] inline R TypedOperator<R(A...)>::call(A... arguments) const {
  ThreadState& thread = internal::ThisThread();
  if (thread.table_number != view_->number.load(std::memory_order_relaxed)) [[unlikely]] {
    return CallSlow(std::forward<A>(arguments)...);
  }
  KeySet keys = KeySet::FromWord((internal::BitsOf(arguments) | ... | thread.include) & thread.keep);
  const std::uintptr_t slot = Core::Find<KernelContext>(
      thread.reading, view_->table, [&](const Table& table) -> const auto& {
        const std::uint64_t component = keys.component_position();
        keys = KeySet::FromWord(keys.bits() & table.masks[component]);
        return table.At(keys, static_cast<std::uint32_t>(component));
      });
  if ((slot & kSlotFormBits) != kDirect) [[unlikely]] {
    if ((slot & kCounted) == 0) return CallSlow(std::forward<A>(arguments)...);
    const KernelUse use(ContextOf(slot), thread);
    return reinterpret_cast<Function>(use.kernel->typed)(use.kernel, keys, std::forward<A>(arguments)...);
  }
  const KernelContext* const kernel = reinterpret_cast<const KernelContext*>(slot);
  return reinterpret_cast<Function>(kernel->typed)(kernel, keys, std::forward<A>(arguments)...);
}

template <class R, class... A>
[[gnu::always_inline]] inline R TypedOperator<R(A...)>::redispatch(KeySet keys, A... arguments) const {
  ThreadState& thread = internal::ThisThread();
  if (thread.table_number != view_->number.load(std::memory_order_relaxed)) [[unlikely]] {
    return RedispatchSlow(keys, std::forward<A>(arguments)...);
  }
  const std::uintptr_t slot = Core::Find<KernelContext>(
      thread.reading, view_->table, [&](const Table& table) -> const auto& { return table.At(keys); });
  if ((slot & kSlotFormBits) != kDirect) [[unlikely]] {
    if ((slot & kCounted) == 0) return RedispatchSlow(keys, std::forward<A>(arguments)...);
    const KernelUse use(ContextOf(slot), thread);
    return reinterpret_cast<Function>(use.kernel->typed)(use.kernel, keys, std::forward<A>(arguments)...);
  }
  const KernelContext* const kernel = reinterpret_cast<const KernelContext*>(slot);
  return reinterpret_cast<Function>(kernel->typed)(kernel, keys, std::forward<A>(arguments)...);
}

// ---- the slow path ----

template <class R, class... A>
R TypedOperator<R(A...)>::CallSlow(A... arguments) const {
  const KeySet keys = KeySet::FromBits((KeySet::kAlways | ... | internal::BitsOf(arguments)));
  const Prepared prepared(*view_, keys, false);
  return Run(prepared, std::forward<A>(arguments)...);
}

template <class R, class... A>
R TypedOperator<R(A...)>::RedispatchSlow(KeySet keys, A... arguments) const {
  const Prepared prepared(*view_, keys, true);
  if constexpr (std::is_same_v<R, std::int64_t>) {
    if (PLUMBLINE_FAULT(typed_redispatch_loses_ints)) return Run(prepared, std::forward<A>(arguments)...) & 0;
  }
  return Run(prepared, std::forward<A>(arguments)...);
}

namespace internal {

// What a call through a signature returns that has a reference as its result: the argument that was written. It is the
// first of an in-place operator, else the last (out=).
template <class R, class First, class... A>
R& WrittenArgument(First&& first, A&&... rest) {
  if constexpr (std::is_same_v<First, R&>) {
    return first;
  } else {
    auto all = std::tie(first, rest...);
    return std::get<sizeof...(A)>(all);
  }
}

template <class R>
struct FromStack {
  static R Get(Stack& stack) {
    Value value = stack.Pop();
    if constexpr (std::is_same_v<R, Tensor>) {
      return std::move(value).ToTensor();
    } else {
      return R(Box<R>::To(value));
    }
  }
};
template <class... R>
struct FromStack<std::tuple<R...>> {
  static std::tuple<R...> Get(Stack& stack) {
    const std::span<Value> values = stack.Top(sizeof...(R));
    return [&]<std::size_t... I>(std::index_sequence<I...>) { return std::tuple<R...>(R(BoxOf<R>::To(values[I]))...); }
    (std::make_index_sequence<sizeof...(R)>());
  }
};

}  // namespace internal

template <class R, class... A>
R TypedOperator<R(A...)>::Run(const Prepared& prepared, A... arguments) const {
  if (prepared.direct()) {
    if constexpr (std::is_same_v<R, std::int64_t>) {
      if (PLUMBLINE_FAULT(typed_call_loses_ints)) {
        return 0 & reinterpret_cast<Function>(prepared.kernel().typed)(&prepared.kernel(), prepared.keys(),
                                                                       std::forward<A>(arguments)...);
      }
    }
    return reinterpret_cast<Function>(prepared.kernel().typed)(&prepared.kernel(), prepared.keys(),
                                                               std::forward<A>(arguments)...);
  }
  Stack stack;
  (stack.Emplace(BoxOf<A>::From(arguments)), ...);
  if (PLUMBLINE_FAULT(typed_call_boxes_ints_as_zero)) {
    for (Value& value : stack.Top(sizeof...(A))) value = value.kind() == Value::Kind::kInt ? Value(0) : value;
  }
  RunBoxed(prepared, *entry_, SignatureOf<R(A...)>(), stack);
  if constexpr (std::is_reference_v<R>) {
    if (PLUMBLINE_FAULT(in_place_call_returns_the_kernels)) {
      static thread_local Tensor returned;
      return returned = stack.Pop().ToTensor();
    }
    return internal::WrittenArgument<std::remove_reference_t<R>, A...>(std::forward<A>(arguments)...);
  } else if constexpr (!std::is_void_v<R>) {
    return internal::FromStack<R>::Get(stack);
  }
}

}  // namespace plumbline::reference

#endif  // PLUMBLINE_REFERENCE_DISPATCH_OPERATOR_H_
