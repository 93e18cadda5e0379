// Native kernels that do nothing, and loops over native calls: perf sees the reference's dispatch and nothing of the
// ABI.
#include <utility>

#include "reference/adapter/backend.h"

namespace plumbline::reference::adapter {
namespace {

// The first tensor among the arguments; undefined if there is none. One copy of it and nothing else: what a kernel does
// is counted with the call.
inline Tensor FirstTensor() { return Tensor(); }
template <class First, class... Rest>
Tensor FirstTensor(const First& first, const Rest&... rest) {
  if constexpr (std::is_same_v<First, Tensor>) {
    return first;
  } else {
    if constexpr (std::is_same_v<First, TensorList>) {
      if (!first.empty()) return first.front();
    }
    return FirstTensor(rest...);
  }
}

template <class First, class... Rest>
Tensor& FirstMutable(First& first, Rest&... rest) {
  if constexpr (std::is_same_v<First, Tensor>) {
    return first;
  } else {
    return FirstMutable(rest...);
  }
}

// A zero of R; for a tensor the first one.
template <class R, class... A>
R Zero(A&... arguments) {
  if constexpr (std::is_same_v<R, Tensor&>) {
    return FirstMutable(arguments...);
  } else if constexpr (std::is_same_v<R, Tensor>) {
    return FirstTensor(arguments...);
  } else if constexpr (!std::is_void_v<R>) {
    return R{};
  }
}
template <class R>
struct ZeroOf {
  template <class... A>
  static R Get(A&... arguments) {
    return Zero<R>(arguments...);
  }
};
template <class... R>
struct ZeroOf<std::tuple<R...>> {
  template <class... A>
  static std::tuple<R...> Get(A&... arguments) {
    return {Zero<R>(arguments...)...};
  }
};

template <class Function>
struct Noop;
template <class R, class... A>
struct Noop<R(A...)> {
  static R Run(A... arguments) { return ZeroOf<R>::Get(arguments...); }

  static Kernel Redispatching(const TypedOperator<R(A...)>& op, KeySet below) {
    return Kernel::From(
        [op, below](KeySet keys, A... arguments) -> R { return op.redispatch(keys & below, arguments...); });
  }

  template <class T>
  static void CallMany(const TypedOperator<R(A...)>& op, std::span<const HostValue> arguments, std::uint64_t times) {
    T::Call(
        [&op, times](A... unpacked) -> R {
          for (std::uint64_t i = 1; i < times; ++i) op.call(unpacked...);
          return op.call(unpacked...);
        },
        arguments);
  }
};

Value ZeroValue(const SchemaType& type) {
  if (type.optional) return Value::None();
  if (type.list) return Value(std::vector<Value>());
  switch (type.base) {
    case BaseType::kTensor:
      return Value(Tensor());
    case BaseType::kFloat:
      return Value(0.0);
    case BaseType::kBool:
      return Value(false);
    case BaseType::kStr:
      return Value("");
    case BaseType::kDevice:
      return Value("cpu");
    case BaseType::kGenerator:
      return Value::None();
    default:
      return Value(0);
  }
}

// Leaves a zero of each return of the schema that the operator has when the kernel is registered; the first argument,
// if it is a tensor, where one is due.
Kernel BoxedNoop(const Schema& schema) {
  const std::size_t count = schema.arguments.size();
  std::vector<Value> zeros;
  std::vector<bool> tensor;
  for (const SchemaArgument& result : schema.returns) {
    zeros.push_back(ZeroValue(result.type));
    tensor.push_back(result.type == SchemaType{BaseType::kTensor});
  }
  return Kernel::FromBoxed([count, zeros = std::move(zeros), tensor = std::move(tensor)](BoxedCall& call) {
    Value first;
    if (count > 0) first = std::move(call.stack.Top(count).front());
    call.stack.Drop(count);
    for (std::size_t i = 0; i < zeros.size(); ++i) call.stack.Push(tensor[i] && first.is_tensor() ? first : zeros[i]);
  });
}

}  // namespace

Kernel Backend::MakeNoop(const abi::Kernel& kernel, std::string_view name, std::optional<Key> key) {
  if (name.empty()) throw abi::Error(PL_ERROR_UNSUPPORTED, "kernels that do nothing are for operators, not fallbacks");
  if (kernel.form == PL_KERNEL_NOOP_BOXED) return BoxedNoop(Operator::Find(*registry_, name).schema());
  return abi::VisitSignature(kernel.signature, [&](auto signature) {
    using Function = typename abi::Typed<Backend, decltype(signature)>::Function;
    if (kernel.form == PL_KERNEL_NOOP) return Kernel::FromFunction<&Noop<Function>::Run>();
    if (!key.has_value()) throw abi::Error(PL_ERROR_INVALID_ARGUMENT, "a kernel that redispatches needs a key");
    return Noop<Function>::Redispatching(Operator::Find(*registry_, name).typed<Function>(),
                                         registry_->keys().Below(*key));
  });
}

void Backend::CallMany(Operator& op, std::uint32_t form, std::uint32_t signature, std::span<const HostValue> arguments,
                       std::uint64_t times) {
  if (times == 0) return;
  if (form == PL_CALL_TYPED) {
    abi::VisitSignature(signature, [&](auto own) {
      using T = abi::Typed<Backend, decltype(own)>;
      using Function = typename T::Function;
      Noop<Function>::template CallMany<T>(op.typed<Function>(), arguments, times);
    });
    return;
  }
  std::vector<Value> values;
  for (const HostValue& argument : arguments) values.push_back(FromHost(argument));
  Stack stack;
  for (std::uint64_t i = 0; i < times; ++i) {
    for (const Value& value : values) stack.Push(value);
    op.CallBoxed(stack);
    stack.Drop(stack.size());
  }
}

void Backend::FindMany(std::string_view name, std::uint64_t times) {
  for (std::uint64_t i = 0; i < times; ++i) registry_->FindOrThrow(name);
}

}  // namespace plumbline::reference::adapter
