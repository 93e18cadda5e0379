// Kernels: what a registration brings, in a form that both kinds of call can run.
//
//   Kernel::FromFunction<&Add>()                     // typed, known at compile time
//   Kernel::From([](const Tensor& a, std::int64_t n) { return a; })         // typed
//   Kernel::From([](KeySet keys, const Tensor& a) { ... })                  // ... that receives the call's key set
//   Kernel::From([](const TypedCall& call, const Tensor& a) { ... })        // ... and knows its operator
//   Kernel::FromBoxed([](BoxedCall& call) { ... call.stack ... })           // boxed: any schema
//   Kernel::Fallthrough()                                                   // none: the key is skipped
//
// A kernel is releasable unless `.Permanent()` says that it stays for the life of the registry; permanent kernels are
// called without touching a count. Its callable is destroyed exactly once: with the last call in flight after its
// release, with the registry if it is permanent, or at once if its registration is refused.
//
// A kernel may be called by many threads at once; nothing here serialises it. It may throw anything; exceptions pass
// through unchanged.
#ifndef PLUMBLINE_REFERENCE_BOXING_KERNEL_H_
#define PLUMBLINE_REFERENCE_BOXING_KERNEL_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "reference/boxing/signature.h"
#include "reference/boxing/stack.h"
#include "reference/faults/faults.h"
#include "reference/keys/key_table.h"

namespace plumbline::reference {

class KernelContext;
class OperatorEntry;  // registry/operator_entry.h

// What a boxed kernel is given.
struct BoxedCall {
  const KernelContext& kernel;
  OperatorEntry& op;  // whom it serves; a fallback serves many
  KeySet keys;        // the received set
  Stack& stack;       // arguments on top; takes the results
};

// What a typed kernel is given if it asks for it.
struct TypedCall {
  const KernelContext& kernel;
  KeySet keys;
  OperatorEntry& op() const;
};

using BoxedFunction = void (*)(BoxedCall& call);

// A registered kernel. Calls read it without a lock, so all of it but the count is fixed before it is published.
class alignas(8) KernelContext {
 public:
  KernelContext() = default;
  KernelContext(const KernelContext&) = delete;
  KernelContext& operator=(const KernelContext&) = delete;
  ~KernelContext() {
    if (destroy_callable != nullptr) destroy_callable(callable);
  }

  void* typed = nullptr;  // Ret (*)(const KernelContext*, KeySet, Args...); null: boxed
  BoxedFunction boxed = nullptr;
  const Signature* signature = nullptr;  // of `typed`
  void* callable = nullptr;
  void (*destroy_callable)(void*) = nullptr;
  bool permanent = false;
  bool fallthrough = false;
  bool built_in = false;
  bool released = false;  // guarded by the registry's lock

  // Filled when it is registered.
  Key key = kUndefined;
  OperatorEntry* op = nullptr;  // null: a fallback
  std::string place;
  std::uint64_t number = 0;  // order of registration

  // One for the registration, one for each call in flight. Not used by permanent kernels.
  mutable std::atomic<std::int64_t> references{1};
  // The registry's count of released kernels that still run, once this is one.
  std::shared_ptr<std::atomic<std::int64_t>> undead;
};

inline OperatorEntry& TypedCall::op() const { return *kernel.op; }

namespace internal {

// ---- what a callable's parameters are ----

template <class F>
struct CallableTraits : CallableTraits<decltype(&F::operator())> {};
template <class R, class... A>
struct CallableTraits<R (*)(A...)> {
  using Function = R(A...);
};
template <class R, class... A>
struct CallableTraits<R (*)(A...) noexcept> : CallableTraits<R (*)(A...)> {};
template <class C, class R, class... A>
struct CallableTraits<R (C::*)(A...)> : CallableTraits<R (*)(A...)> {};
template <class C, class R, class... A>
struct CallableTraits<R (C::*)(A...) const> : CallableTraits<R (*)(A...)> {};
template <class C, class R, class... A>
struct CallableTraits<R (C::*)(A...) noexcept> : CallableTraits<R (*)(A...)> {};
template <class C, class R, class... A>
struct CallableTraits<R (C::*)(A...) const noexcept> : CallableTraits<R (*)(A...)> {};

enum class Leading { kNothing, kKeys, kCall };

template <class Function>
struct Stripped {};
template <class R>
struct Stripped<R()> {
  using Function = R();
  static constexpr Leading kLeading = Leading::kNothing;
};
template <class R, class First, class... A>
struct Stripped<R(First, A...)> {
  using Function = R(First, A...);
  static constexpr Leading kLeading = Leading::kNothing;
};
template <class R, class... A>
struct Stripped<R(KeySet, A...)> {
  using Function = R(A...);
  static constexpr Leading kLeading = Leading::kKeys;
};
template <class R, class... A>
struct Stripped<R(const TypedCall&, A...)> {
  using Function = R(A...);
  static constexpr Leading kLeading = Leading::kCall;
};

// ---- values to parameters, results to values ----

template <class A>
decltype(auto) Unboxed(Value& value) {
  if constexpr (std::is_same_v<A, Tensor&>) {
    return *value.AsTensor();
  } else {
    return BoxOf<A>::To(value);
  }
}

template <class R>
struct Results {
  static void Push(Stack& stack, R&& result) { stack.Push(BoxOf<R>::From(std::forward<R>(result))); }
};
template <class... R>
struct Results<std::tuple<R...>> {
  static void Push(Stack& stack, std::tuple<R...>&& results) {
    std::apply([&](auto&&... each) { (stack.Push(BoxOf<R>::From(std::forward<decltype(each)>(each))), ...); },
               std::move(results));
    if (PLUMBLINE_FAULT(boxed_call_reverses_results)) std::ranges::reverse(stack.Top(sizeof...(R)));
  }
};

// Runs `function`, of type R(A...), on the top values of the stack and leaves its results there.
template <class R, class... A, class F>
void CallUnboxed(Stack& stack, F&& function) {
  constexpr std::size_t kCount = sizeof...(A);
  [[maybe_unused]] const std::span<Value> values = stack.Top(kCount);
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    if constexpr (std::is_void_v<R>) {
      function(Unboxed<A>(values[I])...);
      stack.Drop(kCount);
    } else {
      if constexpr (std::is_reference_v<R>) {
        std::remove_reference_t<R> result = function(Unboxed<A>(values[I])...);
        stack.Drop(kCount);
        stack.Push(BoxOf<R>::From(std::move(result)));
      } else {
        R result = function(Unboxed<A>(values[I])...);
        stack.Drop(kCount);
        Results<R>::Push(stack, std::move(result));
      }
    }
  }
  (std::make_index_sequence<kCount>());
}

// ---- a callable behind the two function pointers of a context ----

template <class F, Leading kLeading, class Function>
struct TypedKernel;
template <class F, Leading kLeading, class R, class... A>
struct TypedKernel<F, kLeading, R(A...)> {
  static R Call(const KernelContext* context, KeySet keys, A... arguments) {
    const auto call = [&](auto& f) -> R {
      if constexpr (kLeading == Leading::kKeys) {
        return f(keys, std::forward<A>(arguments)...);
      } else if constexpr (kLeading == Leading::kCall) {
        return f(TypedCall{*context, keys}, std::forward<A>(arguments)...);
      } else {
        return f(std::forward<A>(arguments)...);
      }
    };
    if constexpr (std::is_empty_v<F> && std::is_default_constructible_v<F>) {
      F stateless;
      return call(stateless);
    } else {
      return call(*static_cast<F*>(context->callable));
    }
  }
  static void Boxed(BoxedCall& boxed) {
    CallUnboxed<R, A...>(boxed.stack, [&](A... arguments) -> R {
      return Call(&boxed.kernel, boxed.keys, std::forward<A>(arguments)...);
    });
  }
};

// A function known at compile time as a stateless callable.
template <auto function, class Function>
struct ConstantCallable;
template <auto function, class R, class... A>
struct ConstantCallable<function, R(A...)> {
  R operator()(A... arguments) const { return function(std::forward<A>(arguments)...); }
};

}  // namespace internal

class Kernel {
 public:
  template <class F>
  static Kernel From(F callable) {
    using Given = internal::Stripped<typename internal::CallableTraits<F>::Function>;
    using Function = typename Given::Function;
    using Typed = internal::TypedKernel<F, Given::kLeading, Function>;
    Kernel kernel;
    kernel.context_->typed = reinterpret_cast<void*>(&Typed::Call);
    kernel.context_->boxed = &Typed::Boxed;
    kernel.context_->signature = &SignatureOf<Function>();
    kernel.Own(std::move(callable));
    return kernel;
  }
  template <auto function>
  static Kernel FromFunction() {
    using Function = typename internal::CallableTraits<decltype(function)>::Function;
    return From(internal::ConstantCallable<function, Function>());
  }
  template <class F>
  static Kernel FromBoxed(F callable) {
    Kernel kernel;
    kernel.context_->boxed = [](BoxedCall& call) {
      if constexpr (std::is_empty_v<F> && std::is_default_constructible_v<F>) {
        F()(call);
      } else {
        (*static_cast<F*>(call.kernel.callable))(call);
      }
    };
    kernel.Own(std::move(callable));
    return kernel;
  }
  static Kernel Fallthrough() {
    Kernel kernel;
    kernel.context_->fallthrough = true;
    return kernel;
  }

  Kernel&& Permanent() && {
    context_->permanent = true;
    return std::move(*this);
  }

  const KernelContext& context() const { return *context_; }
  std::unique_ptr<KernelContext> Take() && { return std::move(context_); }  // for the registry

 private:
  Kernel() : context_(std::make_unique<KernelContext>()) {}
  template <class F>
  void Own(F callable) {
    if constexpr (!(std::is_empty_v<F> && std::is_default_constructible_v<F>)) {
      context_->callable = new F(std::move(callable));
      context_->destroy_callable = [](void* f) { delete static_cast<F*>(f); };
    }
  }

  std::unique_ptr<KernelContext> context_;
};

}  // namespace plumbline::reference

#endif  // PLUMBLINE_REFERENCE_BOXING_KERNEL_H_
