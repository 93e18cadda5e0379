// Kernels of the host as kernels of the reference, and typed calls: all that is instantiated per signature.
#include <atomic>
#include <memory>
#include <utility>

#include "reference/adapter/backend.h"
#include "reference/faults/faults.h"

namespace plumbline::reference::adapter {

HostValues Backend::Invoke(const abi::HostKernel& kernel, OperatorEntry& op, KeySet keys,
                           std::span<const HostValue> arguments) {
  const std::vector<pl_key> received = FromSet(keys);
  Frame frame{op};
  const auto invoke = [&] {
    return abi::Invoke<Backend>(
        kernel,
        {.backend = *this, .operator_name = op.name(), .keys = received, .arguments = arguments, .frame = &frame});
  };
#ifdef PLUMBLINE_WITH_FAULTS
  try {
    return invoke();
  } catch (const abi::HostError& error) {
    if (PLUMBLINE_FAULT(kernel_error_is_replaced)) throw abi::Error(PL_ERROR_INTERNAL, error.what());
    throw;
  }
#else
  return invoke();
#endif
}

namespace {

// The host's kernel with the signature Function.
template <class T, class Function = typename T::Function>
struct HostTyped;
template <class T, class R, class... A>
struct HostTyped<T, R(A...)> {
  static Kernel Make(Backend& backend, const abi::HostKernel& host) {
    return Kernel::From([&backend, host](const TypedCall& call, A... arguments) -> R {
      const HostValues packed = T::PackArguments(arguments...);
      const HostValues results = backend.Invoke(host, call.op(), call.keys, packed);
      return T::UnpackReturns(results, arguments...);
    });
  }
  static HostValues Call(const TypedOperator<R(A...)>& op, std::span<const HostValue> arguments) {
    return T::Call([&op](A... unpacked) -> R { return op.call(unpacked...); }, arguments);
  }
  static HostValues Redispatch(const TypedOperator<R(A...)>& op, KeySet keys, std::span<const HostValue> arguments) {
    return T::Call([&op, keys](A... unpacked) -> R { return op.redispatch(keys, unpacked...); }, arguments);
  }
};

}  // namespace

Kernel Backend::MakeTyped(const abi::Kernel& kernel) {
  return abi::VisitSignature(kernel.signature, [&](auto signature) {
    return HostTyped<abi::Typed<Backend, decltype(signature)>>::Make(*this, kernel.host);
  });
}

HostValues Backend::CallTyped(Operator& op, std::uint32_t signature, std::span<const HostValue> arguments) {
  return abi::VisitSignature(signature, [&](auto own) {
    using T = abi::Typed<Backend, decltype(own)>;
    return HostTyped<T>::Call(op.typed<typename T::Function>(), arguments);
  });
}

HostValues Backend::RedispatchTyped(Frame& frame, std::uint32_t signature, std::span<const pl_key> keys,
                                    std::span<const HostValue> arguments) {
  return abi::VisitSignature(signature, [&](auto own) {
    using T = abi::Typed<Backend, decltype(own)>;
    return HostTyped<T>::Redispatch(Operator(frame.op).typed<typename T::Function>(), ToSet(keys), arguments);
  });
}

#ifdef PLUMBLINE_WITH_FAULTS
thread_local std::shared_ptr<std::atomic<bool>> kernel_state_is_there;
#endif

Kernel Backend::MakeKernel(const abi::Kernel& kernel, std::string_view op, std::optional<Key> key) {
  const auto made = [&]() -> Kernel {
    switch (kernel.form) {
      case PL_KERNEL_BOXED:
        return Kernel::FromBoxed([this, host = kernel.host
#ifdef PLUMBLINE_WITH_FAULTS
                                  ,
                                  there = kernel_state_is_there
#endif
        ](BoxedCall& call) {
#ifdef PLUMBLINE_WITH_FAULTS
          if (there != nullptr && !*there) throw abi::Error(PL_ERROR_INTERNAL, "this kernel has no state yet");
#endif
          // Stacks are made by this adapter or by a typed call and hold one call's arguments.
          HostValues arguments;
          for (const Value& value : call.stack.Top(call.stack.size())) arguments.push_back(ToHost(value));
          const HostValues results = Invoke(host, call.op, call.keys, arguments);
          call.stack.Drop(call.stack.size());
          for (const HostValue& result : results) call.stack.Push(FromHost(result));
        });
      case PL_KERNEL_TYPED:
        return MakeTyped(kernel);
      case PL_KERNEL_FALLTHROUGH:
        return Kernel::Fallthrough();
      default:
        return MakeNoop(kernel, op, key);
    }
  };
  return kernel.permanent ? made().Permanent() : made();
}

}  // namespace plumbline::reference::adapter
