#include "kernels/opencl/kernels.h"

#include <optional>
#include <vector>

#include "kernels/device_kernels.h"
#include "kernels/opencl/enqueue.h"
#include "kernels/opencl/memory.h"
#include "kernels/opencl/programs/layout.h"
#include "kernels/shapes/copy.h"
#include "kernels/shapes/elementwise.h"
#include "kernels/shapes/join.h"
#include "kernels/shapes/matrix.h"
#include "kernels/shapes/reduction.h"
#include "reference/tensor/elements.h"

namespace plumbline::kernels::opencl {
namespace {

// [OPER-008] What a result is converted to at the end is looked at before anything is written.
const Tensor* Given(const Call& call) {
  switch (call.variant()) {
    case tables::Variant::kInPlace:
      return &call.tensor(0);
    case tables::Variant::kOut:
      return &call.tensor(static_cast<int>(call.info().arguments.size()) - 1);
    default:
      return nullptr;
  }
}
void CheckGiven(const Call& call) {
  if (const Tensor* const given = Given(call)) CheckHas(call, given->dtype());
}

// ---- elementwise ----

template <int op, UnaryResult result>
void Unary(Call& call) {
  CheckGiven(call);
  const UnaryPlan plan = PlanUnary(call, result);
  if (!call.meta()) EnqueueUnary(call, plan.out, plan.self, plan.compute, op);
}

template <int op, BinaryResult result>
void Binary(Call& call) {
  CheckGiven(call);
  const BinaryPlan plan = PlanBinary(call, result);
  EnqueueBinary(call, ResultOf(call, plan), plan.a, plan.b, plan.compute, op);
}

template <int op, bool swapped = false>
void WithAlpha(Call& call) {
  CheckGiven(call);
  const BinaryPlan plan = PlanWithAlpha(call, op == OP_SUB, swapped);
  EnqueueBinary(call, ResultOf(call, plan), plan.a, plan.b, plan.compute, op, call.scalar(2));
}

void WhereSelf(Call& call) {
  CheckGiven(call);
  const WherePlan plan = PlanWhere(call);
  EnqueueWhere(call, plan.out, plan.condition, plan.yes, plan.no, plan.compute);
}

// ---- sums, products, joining ----

template <bool dims>
void Sum(Call& call) {
  CheckGiven(call);
  const SumPlan plan = PlanSum(call, dims, false);
  CheckHas(call, plan.result);
  EnqueueSum(call, call.PackedResult(0, plan.reduced.sizes, plan.result), call.tensor(0), plan.reduced);
}

void Mm(Call& call) {
  CheckGiven(call);
  const MmPlan plan = PlanMm(call);
  EnqueueMm(call, plan.out, plan.a, plan.b);
}

void Cat(Call& call) {
  const CatPlan plan = PlanCat(call);
  // [OPER-004] Also of those that have no elements to convert.
  std::vector<Tensor> tensors = call.tensors(0);
  if (const Tensor* const given = Given(call)) tensors.push_back(*given);
  for (const Tensor& tensor : tensors) {
    if (tensor.dtype() == plan.out.dtype()) continue;
    for (const DType dtype : {tensor.dtype(), plan.out.dtype()}) CheckHas(call, dtype);
  }
  for (const CatPlan::Part& part : plan.parts) EnqueueCopy(call, part.place, part.from);
}

// ---- copies ----

void Fill(Call& call) { EnqueueFill(call, PlanFill(call), call.scalar(1)); }
void Zero(Call& call) { EnqueueFill(call, PlanFill(call), Scalar(0)); }

bool IsHere(const Tensor& tensor) { return tensor.device() == Memory::Get().device(); }

// Its elements in row-major order on the device, in their own dtype.
Tensor FromHost(const Call& call, const Tensor& tensor) {
  Tensor here = Tensor::Empty(tensor.sizes(), tensor.dtype(), Memory::Get().device(), call.keys());
  if (here.numel() == 0) return here;
  const std::size_t bytes = here.storage().bytes();
  std::vector<char> rows;
  const void* from = tensor.data();
  if (!tensor.is_contiguous()) {
    rows.resize(bytes);
    reference::CopyRowMajor(tensor, rows.data());
    from = rows.data();
  }
  Memory::Get().CopyFromHost(here.storage().data(), from, bytes);
  return here;
}

// With the sizes and the dtype of `out`, to which the CPU then copies its elements.
void ToHost(Call& call, const Tensor& out, const Tensor& from) {
  Tensor here = from;
  if (!from.is_contiguous() || from.dtype() != out.dtype() || !(from.sizes() == out.sizes())) {
    here = Tensor::Empty(out.sizes(), out.dtype(), Memory::Get().device(), call.keys());
    EnqueueCopy(call, here, from);
  }
  const bool direct = out.is_contiguous();
  const Tensor rows = direct ? out : Tensor::Empty(out.sizes(), out.dtype(), DeviceType::kCpu, call.keys());
  if (rows.numel() != 0) {
    const auto bytes = static_cast<std::size_t>(rows.numel()) * rows.itemsize();
    here.storage().CopyToHost(rows.data(), here.storage_offset() * static_cast<std::int64_t>(here.itemsize()), bytes);
  }
  if (!direct) call.Invoke("aten::copy_", {Value(out.WithOwnVersion()), Value(rows), Value(false)});
}

// Here with one of the two on this device at least: its key is the first of all devices'.
void CopyInto(Call& call) {
  const std::optional<CopyPlan> plan = PlanCopy(call);
  if (!plan || call.meta()) return;
  const Tensor &out = plan->written, &from = plan->source;
  if (IsHere(out) && IsHere(from)) return EnqueueCopy(call, out, from);
  if (IsHere(out) && from.device().type == DeviceType::kCpu) return EnqueueCopy(call, out, FromHost(call, from));
  if (IsHere(from) && out.device().type == DeviceType::kCpu) return ToHost(call, out, from);
  call.Fail(ErrorClass::kUnsupported,
            "a copy from " + from.device().Spelling() + " to " + out.device().Spelling() + "; copy to cpu first");
}

constexpr NamedKernel kKernels[] = {
    {"copy_", &CopyInto},
    {"fill_.Scalar", &Fill},
    {"zero_", &Zero},
    {"neg", &Unary<OP_NEG, UnaryResult::kSame>},
    {"abs", &Unary<OP_ABS, UnaryResult::kSame>},
    {"relu", &Unary<OP_RELU, UnaryResult::kSame>},
    {"exp", &Unary<OP_EXP, UnaryResult::kFloat>},
    {"sqrt", &Unary<OP_SQRT, UnaryResult::kFloat>},
    {"add.Tensor", &WithAlpha<OP_ADD>},
    {"add.Scalar", &WithAlpha<OP_ADD>},
    {"sub.Tensor", &WithAlpha<OP_SUB>},
    {"rsub.Scalar", &WithAlpha<OP_SUB, true>},
    {"mul.Tensor", &Binary<OP_MUL, BinaryResult::kPromoted>},
    {"mul.Scalar", &Binary<OP_MUL, BinaryResult::kPromoted>},
    {"div.Tensor", &Binary<OP_DIV, BinaryResult::kFloat>},
    {"maximum", &Binary<OP_MAXIMUM, BinaryResult::kPromoted>},
    {"minimum", &Binary<OP_MINIMUM, BinaryResult::kPromoted>},
    {"eq.Tensor", &Binary<OP_EQ, BinaryResult::kBool>},
    {"ne.Tensor", &Binary<OP_NE, BinaryResult::kBool>},
    {"lt.Tensor", &Binary<OP_LT, BinaryResult::kBool>},
    {"le.Tensor", &Binary<OP_LE, BinaryResult::kBool>},
    {"gt.Tensor", &Binary<OP_GT, BinaryResult::kBool>},
    {"ge.Tensor", &Binary<OP_GE, BinaryResult::kBool>},
    {"eq.Scalar", &Binary<OP_EQ, BinaryResult::kBool>},
    {"gt.Scalar", &Binary<OP_GT, BinaryResult::kBool>},
    {"lt.Scalar", &Binary<OP_LT, BinaryResult::kBool>},
    {"where.self", &WhereSelf},
    {"sum", &Sum<false>},
    {"sum.dim_IntList", &Sum<true>},
    {"mm", &Mm},
    {"cat", &Cat},
};

}  // namespace

std::span<const NamedKernel> Kernels() { return kKernels; }

std::vector<reference::Registration> RegisterOpenClKernels(reference::Registry& registry) {
  return RegisterDeviceKernels(registry, DeviceType::kPrivateUse1, kKernels, &EnqueueCopy, "kernels/opencl");
}

}  // namespace plumbline::kernels::opencl
