// Matrix products.
#include "kernels/shapes/matrix.h"

#include "kernels/compute.h"
#include "kernels/cpu/gemm.h"
#include "kernels/ops/ops.h"

namespace plumbline::kernels {
namespace {

cpu::Matrix MatrixOf(const Tensor& t) {
  const std::size_t d = t.sizes().size();
  return {t.data(), t.strides()[d - 2], t.strides()[d - 1]};
}
cpu::Factor FactorOf(const Scalar& s) { return {AsReal(s), AsInteger(s)}; }

// out = alpha a b + beta out, where out holds what is added.
void Multiply(const Tensor& out, const Tensor& a, const Tensor& b, cpu::Factor alpha, cpu::Factor beta) {
  const cpu::Type type = TypeOf(out.dtype());
  if (out.numel() == 0) return;
  if (a.dim() == 3) {
    const cpu::GemmSizes sizes = {a.size(1), b.size(2), a.size(2)};
    return cpu::BatchedGemm(type, a.size(0), sizes, MatrixOf(a), a.stride(0), MatrixOf(b), b.stride(0), out.data(),
                            alpha, beta);
  }
  cpu::Gemm(type, {a.size(0), b.size(1), a.size(1)}, MatrixOf(a), MatrixOf(b), out.data(), alpha, beta);
}
constexpr cpu::Factor kOne = {1, 1}, kZero = {0, 0};

void Mm(Call& call) {
  const MmPlan plan = PlanMm(call);
  if (!call.meta()) Multiply(plan.out, plan.a, plan.b, kOne, kZero);
}

void Bmm(Call& call) {
  CheckDim(call, 0, 3);
  CheckDim(call, 1, 3);
  const Tensor a = call.tensor(0), b = call.tensor(1);
  CheckProduct(call, 0, 1, a.size(0), b.size(0));
  CheckProduct(call, 0, 1, a.size(2), b.size(1));
  call.CheckSameDType(0, 1);
  call.CheckDType(a.dtype());
  const Tensor out = call.PackedResult(0, {a.size(0), a.size(1), b.size(2)}, a.dtype());
  if (!call.meta()) Multiply(out, a, b, kOne, kZero);
}

void Mv(Call& call) {
  CheckDim(call, 0, 2);
  CheckDim(call, 1, 1);
  const Tensor a = call.tensor(0), v = call.tensor(1);
  CheckProduct(call, 0, 1, a.size(1), v.size(0));
  call.CheckSameDType(0, 1);
  call.CheckDType(a.dtype());
  const Tensor out = call.PackedResult(0, {a.size(0)}, a.dtype());
  if (call.meta() || out.numel() == 0) return;
  cpu::Gemm(TypeOf(a.dtype()), {a.size(0), 1, a.size(1)}, MatrixOf(a), {v.data(), v.stride(0), 1}, out.data(), kOne,
            kZero);
}

void Dot(Call& call) {
  CheckDim(call, 0, 1);
  CheckDim(call, 1, 1);
  const Tensor a = call.tensor(0), b = call.tensor(1);
  CheckProduct(call, 0, 1, a.size(0), b.size(0));
  call.CheckSameDType(0, 1);
  call.CheckDType(a.dtype());
  const Tensor out = call.PackedResult(0, {}, a.dtype());
  if (call.meta()) return;
  cpu::Gemm(TypeOf(a.dtype()), {1, 1, a.size(0)}, {a.data(), 1, a.stride(0)}, {b.data(), b.stride(0), 1}, out.data(),
            kOne, kZero);
}

template <std::int64_t dims>
void AddProduct(Call& call) {  // beta self + alpha a b
  CheckDim(call, 1, dims);
  CheckDim(call, 2, dims);
  const Tensor self = call.tensor(0), a = call.tensor(1), b = call.tensor(2);
  if (dims == 3) CheckProduct(call, 1, 2, a.size(0), b.size(0));
  CheckProduct(call, 1, 2, a.size(dims - 1), b.size(dims - 2));
  call.CheckSameDType(1, 2);
  call.CheckSameDType(0, 1);
  call.CheckDType(a.dtype());
  const Scalar beta = call.scalar(3), alpha = call.scalar(4);
  DimVector sizes(a.sizes());
  sizes.back() = b.size(dims - 1);
  try {
    reference::ExpandStrides(self.sizes(), self.strides(), sizes);
  } catch (const reference::DispatchError& error) {
    call.Fail(error.error_class(), std::string("argument 'self': ") + error.what());
  }
  if (!IsFloating(a.dtype()) && (beta.is_float() || alpha.is_float())) {
    call.Fail("arguments 'beta' and 'alpha': floats, but the result is " + std::string(Spelling(a.dtype())));
  }
  const Tensor out = call.PackedResult(0, sizes, a.dtype());
  if (call.meta()) return;
  if (AsReal(beta) != 0) CopyTo(out, self);
  Multiply(out, a, b, FactorOf(alpha), FactorOf(beta));
}

// ---- composites ----

Tensor View(const Call& call, const Tensor& t, const DimVector& sizes) {
  std::vector<Value> list;
  for (const std::int64_t size : sizes) list.push_back(Value(size));
  return call.Invoke("aten::reshape", {Value(t), Value(std::move(list))});
}
Tensor Expand(const Call& call, const Tensor& t, const DimVector& sizes) {
  std::vector<Value> list;
  for (const std::int64_t size : sizes) list.push_back(Value(size));
  return call.Invoke("aten::expand", {Value(t), Value(std::move(list)), Value(false)});
}

Tensor MatmulOf(const Call& call, const Tensor& a, const Tensor& b) {
  if (a.dim() == 0 || b.dim() == 0) {
    call.Fail("both arguments have to have at least 1 dimension, but they have " + std::to_string(a.dim()) + " and " +
              std::to_string(b.dim()));
  }
  if (a.dim() == 1 && b.dim() == 1) return call.Invoke("aten::dot", {Value(a), Value(b)});
  if (a.dim() == 2 && b.dim() == 1) return call.Invoke("aten::mv", {Value(a), Value(b)});
  if (a.dim() == 2 && b.dim() == 2) return call.Invoke("aten::mm", {Value(a), Value(b)});
  // Vectors become matrices; their dimension goes again at the end.
  const Tensor left = a.dim() == 1 ? call.Invoke("aten::unsqueeze", {Value(a), Value(0)}) : a;
  const Tensor right = b.dim() == 1 ? call.Invoke("aten::unsqueeze", {Value(b), Value(1)}) : b;
  Tensor result;
  if (left.dim() == 2 && right.dim() == 2) {
    result = call.Invoke("aten::mm", {Value(left), Value(right)});
  } else {
    const IntSpan ls = left.sizes(), rs = right.sizes();
    DimVector batch;
    try {
      batch = reference::BroadcastSizes(IntSpan(ls.first(ls.size() - 2)), IntSpan(rs.first(rs.size() - 2)));
    } catch (const reference::DispatchError& error) {
      call.Fail(error.error_class(), error.what());
    }
    std::int64_t count = 1;
    for (const std::int64_t size : batch) count *= size;
    DimVector full_left = batch, full_right = batch, full = batch;
    full_left.push_back(left.size(-2)), full_left.push_back(left.size(-1));
    full_right.push_back(right.size(-2)), full_right.push_back(right.size(-1));
    full.push_back(left.size(-2)), full.push_back(right.size(-1));
    const Tensor flat_left = View(call, Expand(call, left, full_left), {count, left.size(-2), left.size(-1)});
    const Tensor flat_right = View(call, Expand(call, right, full_right), {count, right.size(-2), right.size(-1)});
    result = View(call, call.Invoke("aten::bmm", {Value(flat_left), Value(flat_right)}), full);
  }
  if (a.dim() == 1) result = call.Invoke("aten::squeeze.dim", {Value(result), Value(-2)});
  if (b.dim() == 1) result = call.Invoke("aten::squeeze.dim", {Value(result), Value(-1)});
  return result;
}

void Matmul(Call& call) { call.Return(0, MatmulOf(call, call.tensor(0), call.tensor(1))); }

void Linear(Call& call) {
  const Tensor input = call.tensor(0), weight = call.tensor(1);
  if (weight.dim() != 2 && weight.dim() != 1) {
    call.Fail("expected argument 'weight' to have 1 or 2 dimensions, but its sizes are " + Print(weight.sizes()));
  }
  const Tensor turned = weight.dim() == 2 ? call.Invoke("aten::t", {Value(weight)}) : weight;
  const std::optional<Tensor> bias = call.maybe_tensor(2);
  if (bias && input.dim() > 0 && weight.dim() == 2) {
    // As one product of rows, to which the bias is added before it is rounded.
    std::int64_t rows = 1;
    for (std::int64_t d = 0; d < input.dim() - 1; ++d) rows *= input.size(d);
    const Tensor flat = input.dim() == 2 ? input : View(call, input, {rows, input.size(-1)});
    const Tensor sums = call.Invoke("aten::addmm", {Value(*bias), Value(flat), Value(turned), Value(1), Value(1)});
    DimVector sizes(input.sizes());
    sizes.back() = weight.size(0);
    return call.Return(0, input.dim() == 2 ? sums : View(call, sums, sizes));
  }
  Tensor result = MatmulOf(call, input, turned);
  if (bias) result = call.Invoke("aten::add.Tensor", {Value(result), Value(*bias), Value(1)});
  call.Return(0, std::move(result));
}

void Outer(Call& call) {
  CheckDim(call, 0, 1);
  CheckDim(call, 1, 1);
  const Tensor column = call.Invoke("aten::unsqueeze", {call.at(0), Value(1)});
  call.Return(0, call.Invoke("aten::mul.Tensor", {Value(column), call.at(1)}));
}

constexpr NamedKernel kKernels[] = {
    {"mm", &Mm},
    {"bmm", &Bmm},
    {"mv", &Mv},
    {"dot", &Dot},
    {"addmm", &AddProduct<2>},
    {"baddbmm", &AddProduct<3>},
    {"matmul", &Matmul, Where::kAnywhere},
    {"linear", &Linear, Where::kAnywhere},
    {"outer", &Outer, Where::kAnywhere},
};

}  // namespace

std::span<const NamedKernel> MatrixKernels() { return kKernels; }

}  // namespace plumbline::kernels
