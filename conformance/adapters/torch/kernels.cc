#include "conformance/adapters/torch/kernels.h"

#include <algorithm>
#include <string>
#include <utility>

#include "conformance/adapters/torch/backend.h"
#include "conformance/adapters/torch/boxed.h"
#include "conformance/adapters/torch/keys.h"

namespace plumbline::torch_backend {
namespace {

// How many of the last values of the stack the kernel takes for its own. A typed call may have given fewer: libtorch
// does not check.
std::size_t ArgumentsOn(const torch::jit::Stack& stack, const c10::OperatorHandle& op) {
  if (!op.hasSchema()) return stack.size();
  return std::min(stack.size(), op.schema().arguments().size());
}

class BoxedHostKernel final : public c10::OperatorKernel {
 public:
  explicit BoxedHostKernel(Host host) : host_(std::move(host)) {}

  void operator()(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack) {
    const std::size_t count = ArgumentsOn(*stack, op);
    const std::vector<Value> arguments = FromStack(std::span(*stack).last(count));
    const std::vector<Value> results = CallHost(*host_, c10::toString(op.operator_name()), &op, keys, arguments);
    torch::jit::Stack boxed = ToStack(results, op.hasSchema() ? op.schema().returns() : std::vector<c10::Argument>());
    stack->resize(stack->size() - count);
    std::move(boxed.begin(), boxed.end(), std::back_inserter(*stack));
  }

 private:
  const Host host_;
};

class BoxedNoopKernel final : public c10::OperatorKernel {
 public:
  void operator()(const c10::OperatorHandle& op, c10::DispatchKeySet, torch::jit::Stack* stack) {
    const std::size_t count = ArgumentsOn(*stack, op);
    const auto arguments = std::span(*stack).last(count);
    at::Tensor tensor;
    for (const c10::IValue& argument : arguments) {
      if (!argument.isTensor()) continue;
      tensor = argument.toTensor();
      break;
    }
    stack->resize(stack->size() - count);
    for (const c10::Argument& result : op.schema().returns()) {
      switch (result.type()->kind()) {
        case c10::TypeKind::TensorType:
          stack->emplace_back(tensor);
          break;
        case c10::TypeKind::IntType:
          stack->emplace_back(std::int64_t{0});
          break;
        case c10::TypeKind::FloatType:
          stack->emplace_back(0.0);
          break;
        case c10::TypeKind::BoolType:
          stack->emplace_back(false);
          break;
        case c10::TypeKind::StringType:
          stack->emplace_back(std::string());
          break;
        default:
          stack->emplace_back();
      }
    }
  }
};

template <class Make>
MadeKernel MadeBoxed(const Make& make) {
  MadeKernel made;
  made.for_library.emplace(torch::CppFunction::makeFromBoxedKernel(make()));
  made.for_dispatcher = c10::KernelFunction::makeFromBoxedKernel(make());
  return made;
}

}  // namespace

MadeKernel MakeBoxedKernel(Host host) {
  return MadeBoxed([&] { return c10::BoxedKernel::makeFromFunctor(std::make_unique<BoxedHostKernel>(host)); });
}

MadeKernel MakeFallthroughKernel() { return MadeBoxed(&c10::BoxedKernel::makeFallthrough); }

MadeKernel MakeBoxedNoopKernel() {
  return MadeBoxed([] { return c10::BoxedKernel::makeFromFunctor(std::make_unique<BoxedNoopKernel>()); });
}

std::vector<Value> CallHost(const HostState& host, const std::string& operator_name, const c10::OperatorHandle* op,
                            c10::DispatchKeySet keys, std::span<const Value> arguments) {
  const std::vector<pl_key> received = FromSet(keys);
  Frame frame{operator_name, op};
  return abi::Invoke<Backend>(host.host, {.backend = *host.backend,
                                          .operator_name = operator_name,
                                          .keys = received,
                                          .arguments = arguments,
                                          .frame = &frame});
}

const Signature& FindSignature(std::uint32_t id) {
  static_assert(kSignatureParts == 2);
  const Signature* found = id % 2 == 0 ? FindSignatureInPart<0>(id) : FindSignatureInPart<1>(id);
  if (found == nullptr)
    throw abi::Error(PL_ERROR_INVALID_ARGUMENT, "signature " + std::to_string(id) + " is not in the catalogue");
  return *found;
}

}  // namespace plumbline::torch_backend
