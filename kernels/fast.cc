#include "kernels/fast.h"

#include <utility>

#include "kernels/compute.h"
#include "reference/boxing/types.h"
#include "reference/faults/faults.h"

namespace plumbline::kernels {
namespace {

using cpu::BinaryOp;
using cpu::Index;

struct FastBinary {
  std::shared_ptr<const OperatorInfo> info;
  KernelFunction function;
  const cpu::LevelTable* level;
  BinaryOp op;

  // The result, if all is side by side on the CPU and of one float dtype. An observer hears of the instance on the
  // common way.
  std::optional<Tensor> Short(const Tensor& a, const Tensor& b, double alpha) const {
    if (reference::FaultActive() || info->registry->observed() || !a.has_data() || !b.has_data()) return std::nullopt;
    const DType dtype = a.dtype();
    if (dtype != b.dtype() || (dtype != DType::kFloat32 && dtype != DType::kFloat64)) return std::nullopt;
    if (a.device().type != DeviceType::kCpu || b.device().type != DeviceType::kCpu) return std::nullopt;
    if (!a.is_contiguous() || !b.is_contiguous() || !(a.sizes() == b.sizes())) return std::nullopt;
    const Tensor out = Tensor::Empty(a.sizes(), dtype, DeviceType::kCpu, a.keys());
    void* const data[] = {out.data(), a.data(), b.data()};
    const std::size_t item = SizeOf(dtype);
    const std::size_t items[] = {item, item, item};
    cpu::Parameters parameters;
    parameters.real[0] = alpha;
    cpu::RunContiguous(data, items, 3, a.numel(), level->binary[Index(op)][Index(TypeOf(dtype))], parameters,
                       cpu::IsCheap(op));
    return out;
  }
  template <class... Arguments>
  Tensor Common(const Arguments&... arguments) const {
    Stack stack;
    (stack.Push(reference::BoxOf<Arguments>::From(arguments)), ...);
    Call call(*info, stack);
    function(call);
    call.Finish();
    return stack.Pop().ToTensor();
  }
};

struct FastProduct : FastBinary {
  Tensor operator()(const Tensor& a, const Tensor& b) const {
    if (std::optional<Tensor> result = Short(a, b, 1)) return std::move(*result);
    return Common(a, b);
  }
};
struct FastSum : FastBinary {
  Tensor operator()(const Tensor& a, const Tensor& b, const Scalar& alpha) const {
    if (!alpha.is_bool()) {
      if (std::optional<Tensor> result = Short(a, b, AsReal(alpha))) return std::move(*result);
    }
    return Common(a, b, alpha);
  }
};

}  // namespace

std::optional<reference::Kernel> FastKernel(std::string_view name, std::shared_ptr<const OperatorInfo> info,
                                            KernelFunction function) {
  const auto made = [&](BinaryOp op) { return FastBinary{std::move(info), function, &cpu::Level(), op}; };
  if (name == "aten::add.Tensor") return reference::Kernel::From(FastSum{made(BinaryOp::kAdd)}).Permanent();
  if (name == "aten::sub.Tensor") return reference::Kernel::From(FastSum{made(BinaryOp::kSub)}).Permanent();
  if (name == "aten::mul.Tensor") return reference::Kernel::From(FastProduct{made(BinaryOp::kMul)}).Permanent();
  if (name == "aten::div.Tensor") return reference::Kernel::From(FastProduct{made(BinaryOp::kDiv)}).Permanent();
  return std::nullopt;
}

}  // namespace plumbline::kernels
