// Instantiates one part of the signature catalogue. Included by typed_kernels_N.cc alone:
//
//   #define PLUMBLINE_TORCH_PART 0
//   #include "conformance/adapters/torch/typed_kernels.h"
//
// Pure; any thread.
#ifndef PLUMBLINE_CONFORMANCE_ADAPTERS_TORCH_TYPED_KERNELS_H_
#define PLUMBLINE_CONFORMANCE_ADAPTERS_TORCH_TYPED_KERNELS_H_

#include <tuple>
#include <type_traits>
#include <utility>

#include "conformance/adapters/torch/kernels.h"
#include "spec/abi/typed.h"

namespace plumbline::torch_backend {

// A callable as libtorch takes a kernel. Library and dispatcher each get their own from the same C++ type.
template <class Functor>
MadeKernel MadeFrom(const Functor& functor) {
  MadeKernel made;
  made.for_library.emplace(Functor(functor));
  made.for_dispatcher = c10::KernelFunction::makeFromUnboxedLambda(Functor(functor));
  made.signature = c10::impl::CppSignature::make<Functor>();
  made.inferred_schema = c10::detail::inferFunctionSchemaFromFunctor<Functor>();
  return made;
}

inline at::Tensor TensorIn(const at::Tensor& tensor) { return tensor; }
inline at::Tensor TensorIn(at::TensorList tensors) { return tensors.empty() ? at::Tensor() : tensors[0]; }

// A zero of each type; where a tensor is due, the first one among the arguments.
template <class Result, class First, class... Rest>
Result Zero(First& first, Rest&...) {
  if constexpr (std::is_void_v<Result>) {
    return;
  } else if constexpr (std::is_same_v<Result, at::Tensor&>) {
    return first;
  } else if constexpr (std::is_same_v<Result, at::Tensor>) {
    return TensorIn(first);
  } else if constexpr (std::is_same_v<Result, std::tuple<at::Tensor, std::int64_t>>) {
    return {TensorIn(first), 0};
  } else {
    return Result();
  }
}

template <class Typed, class Function>
struct TypedKernels;

template <class Typed, class Return, class... Argument>
struct TypedKernels<Typed, Return(Argument...)> {
  using Handle = c10::TypedOperatorHandle<Return(Argument...)>;

  struct HostFunctor {
    Host host;
    Return operator()(c10::DispatchKeySet keys, Argument... arguments) const {
      const std::vector<Value> given = Typed::PackArguments(arguments...);
      const std::vector<Value> results = CallHost(*host, host->operator_name, nullptr, keys, given);
      return Typed::UnpackReturns(results, arguments...);
    }
  };
  struct NoopFunctor {
    Return operator()(Argument... arguments) const { return Zero<Return>(arguments...); }
  };
  struct RedispatchFunctor {
    Handle op;
    c10::DispatchKeySet below;
    Return operator()(c10::DispatchKeySet keys, Argument... arguments) const {
      return op.redispatch(keys & below, std::forward<Argument>(arguments)...);
    }
  };

  static Handle TypedHandle(const c10::OperatorHandle& op) { return op.typed<Return(Argument...)>(); }

  static MadeKernel Kernel(Host host) { return MadeFrom(HostFunctor{std::move(host)}); }
  static MadeKernel Noop() { return MadeFrom(NoopFunctor{}); }
  static MadeKernel NoopRedispatch(const c10::OperatorHandle& op, c10::DispatchKeySet below) {
    return MadeFrom(RedispatchFunctor{TypedHandle(op), below});
  }
  static std::vector<Value> Call(const c10::OperatorHandle& op, std::span<const Value> arguments) {
    const Handle typed = TypedHandle(op);
    return Typed::Call([&](Argument... own) -> Return { return typed.call(std::forward<Argument>(own)...); },
                       arguments);
  }
  static std::vector<Value> Redispatch(const c10::OperatorHandle& op, c10::DispatchKeySet keys,
                                       std::span<const Value> arguments) {
    const Handle typed = TypedHandle(op);
    return Typed::Call(
        [&](Argument... own) -> Return { return typed.redispatch(keys, std::forward<Argument>(own)...); }, arguments);
  }
  static void CallMany(const c10::OperatorHandle& op, std::span<const Value> arguments, std::uint64_t times) {
    if (times == 0) return;
    const Handle typed = TypedHandle(op);
    Typed::Call(
        [&](Argument... own) -> Return {
          for (std::uint64_t i = 1; i < times; ++i) typed.call(own...);
          return typed.call(own...);
        },
        arguments);
  }

  static constexpr Signature kTable{&Kernel, &Noop, &NoopRedispatch, &Call, &Redispatch, &CallMany};
};

template <std::uint32_t part, std::uint32_t id>
const Signature* TableIf() {
  if constexpr (id % kSignatureParts == part) {
    using Typed = abi::Typed<Types, abi::SignatureOf<id>>;
    return &TypedKernels<Typed, typename Typed::Function>::kTable;
  } else {
    return nullptr;
  }
}

template <std::uint32_t part>
const Signature* FindSignatureInPart(std::uint32_t id) {
  switch (id) {
#define PLUMBLINE_TORCH_CASE(number, name, arguments, returns) \
  case number:                                                 \
    return TableIf<part, number>();
    PL_SIGNATURES(PLUMBLINE_TORCH_CASE)
#undef PLUMBLINE_TORCH_CASE
    default:
      return nullptr;
  }
}

template const Signature* FindSignatureInPart<PLUMBLINE_TORCH_PART>(std::uint32_t id);

}  // namespace plumbline::torch_backend

#endif  // PLUMBLINE_CONFORMANCE_ADAPTERS_TORCH_TYPED_KERNELS_H_
