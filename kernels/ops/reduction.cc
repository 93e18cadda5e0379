// Reductions and scans.
#include "kernels/shapes/reduction.h"

#include <cmath>

#include "kernels/compute.h"
#include "kernels/cpu/reduce.h"
#include "kernels/ops/ops.h"

namespace plumbline::kernels {
namespace {

using cpu::ReduceKind;
using cpu::ReduceOptions;
using tables::ResultRule;

void Run(Call& call, ReduceKind kind, const Tensor& self, const Reduced& reduced, DType result,
         const ReduceOptions& options = {}, int which = 0) {
  const Tensor out = call.PackedResult(which, reduced.sizes, result);
  if (call.meta() || out.numel() == 0) return;
  const Strided in(self);
  cpu::Reduce(kind, in, {reduced.mask.get(), self.sizes().size()}, {out.data(), TypeOf(result)}, options);
}

template <ReduceKind kind, bool dims>
void Sum(Call& call) {
  const SumPlan plan = PlanSum(call, dims, kind == ReduceKind::kMean);
  // The widest dtypes hold all elements of their kind, so that the sum casts them itself.
  const Tensor self = call.tensor(0);
  const bool exact = (plan.terms == DType::kFloat64 && IsFloating(self.dtype())) ||
                     (plan.terms == DType::kInt64 && !IsFloating(self.dtype()));
  Run(call, kind, exact ? self : Converted(self, plan.terms), plan.reduced, plan.result);
}

void CheckNotEmpty(const Call& call, const Tensor& self, const Reduced& reduced) {
  if (reduced.count == 0 && self.numel() == 0) {
    call.Fail("expected at least one element along the reduced dimensions of 'self', but its sizes are " +
              Print(self.sizes()));
  }
}

template <ReduceKind kind>
void Extreme(Call& call) {  // amax, amin: int[1] dim, bool keepdim
  const Tensor self = call.tensor(0);
  call.CheckDType(self.dtype());
  const Reduced reduced = ReducedOf(call, self, call.ints(1), 1, call.boolean(2));
  CheckNotEmpty(call, self, reduced);
  Run(call, kind, self, reduced, self.dtype());
}
template <ReduceKind kind>
void ExtremeOfAll(Call& call) {
  const Tensor self = call.tensor(0);
  call.CheckDType(self.dtype());
  const Reduced reduced = ReducedOf(call, self, {}, 0, false);
  CheckNotEmpty(call, self, reduced);
  Run(call, kind, self, reduced, self.dtype());
}
template <ReduceKind kind, ReduceKind arg>
void ExtremeAndWhere(Call& call) {
  const Tensor self = call.tensor(0);
  call.CheckDType(self.dtype());
  const DimVector dim = {call.integer(1)};
  const Reduced reduced = ReducedOf(call, self, dim, 1, call.boolean(2));
  CheckNotEmpty(call, self, reduced);
  Run(call, kind, self, reduced, self.dtype());
  Run(call, arg, self, reduced, DType::kInt64, {}, 1);
}
template <ReduceKind kind>
void Arg(Call& call) {
  const Tensor self = call.tensor(0);
  call.CheckDType(self.dtype());
  const DimVector dim = call.has(1) ? DimVector{call.integer(1)} : DimVector();
  Reduced reduced = ReducedOf(call, self, dim, 1, call.boolean(2));
  CheckNotEmpty(call, self, reduced);
  Run(call, kind, self, reduced, DType::kInt64);
}

template <ReduceKind kind, bool dims>
void AnyAll(Call& call) {
  const Tensor self = call.tensor(0);
  call.CheckDType(self.dtype());
  const DimVector dim = dims ? DimVector{call.integer(1)} : DimVector();
  const DType result = self.dtype() == DType::kUint8 ? DType::kUint8 : DType::kBool;
  Run(call, kind, self, ReducedOf(call, self, dim, 1, dims && call.boolean(2)), result);
}

void CountNonzero(Call& call) {
  const Tensor self = call.tensor(0);
  call.CheckDType(self.dtype());
  Run(call, ReduceKind::kCountNonZero, self, ReducedOf(call, self, call.ints(1), 1, false), DType::kInt64);
}

template <ReduceKind kind>
void Var(Call& call) {
  const Tensor self = call.tensor(0);
  call.CheckDType(self.dtype());
  ReduceOptions options;
  if (call.has(2)) options.correction = call.real(2);
  Run(call, kind, self, ReducedOf(call, self, call.ints(1), 1, call.boolean(3)), self.dtype(), options);
}

void Norm(Call& call) {
  const Tensor self = call.tensor(0);
  call.CheckDType(self.dtype());
  ReduceOptions options;
  if (call.has(1)) options.order = call.real(1);
  const Reduced reduced = ReducedOf(call, self, call.ints(2), 2, call.boolean(3));
  Run(call, ReduceKind::kNorm, self, reduced, self.dtype(), options);
}

void LogSumExp(Call& call) {
  const Tensor self = call.tensor(0);
  call.CheckDType(self.dtype());
  Run(call, ReduceKind::kLogSumExp, self, ReducedOf(call, self, call.ints(1), 1, call.boolean(2)),
      FloatOr(self.dtype()));
}

template <ReduceKind kind>
void ProdDim(Call& call) {
  const std::optional<DType> asked = call.dtype(3);
  call.CheckDType(asked.value_or(call.tensor(0).dtype()));
  const Tensor self = Converted(call.tensor(0), asked.value_or(call.tensor(0).dtype()));
  Run(call, kind, self, ReducedOf(call, self, DimVector{call.integer(1)}, 1, call.boolean(2)), SumType(self, asked));
}

template <cpu::ReduceOp op>
void Scan(Call& call) {
  const std::optional<DType> asked = call.dtype(2);
  call.CheckDType(asked.value_or(call.tensor(0).dtype()));
  if (call.variant() == tables::Variant::kInPlace && asked && *asked != call.tensor(0).dtype()) {
    call.Fail("argument 'dtype': expected that of 'self', " + std::string(Spelling(call.tensor(0).dtype())) +
              ", since the result is to be in it, but got " + std::string(Spelling(*asked)));
  }
  const Tensor self = Converted(call.tensor(0), asked.value_or(call.tensor(0).dtype()));
  const auto dim = static_cast<std::size_t>(call.WrapDim(1, self.dim()));
  // In place the result is of self's dtype.
  const DType result = call.variant() == tables::Variant::kInPlace && !asked ? self.dtype() : SumType(self, asked);
  const Tensor out = call.PackedResult(0, self.sizes(), result);
  if (call.meta() || out.numel() == 0) return;
  const Strided in(self);
  cpu::Accumulate(op, in, dim, {out.data(), TypeOf(result)});
}

constexpr NamedKernel kKernels[] = {
    {"sum", &Sum<ReduceKind::kSum, false>},
    {"sum.dim_IntList", &Sum<ReduceKind::kSum, true>},
    {"mean", &Sum<ReduceKind::kMean, false>},
    {"mean.dim", &Sum<ReduceKind::kMean, true>},
    {"prod", &Sum<ReduceKind::kProd, false>},
    {"prod.dim_int", &ProdDim<ReduceKind::kProd>},
    {"amax", &Extreme<ReduceKind::kMax>},
    {"amin", &Extreme<ReduceKind::kMin>},
    {"max", &ExtremeOfAll<ReduceKind::kMax>},
    {"min", &ExtremeOfAll<ReduceKind::kMin>},
    {"max.dim", &ExtremeAndWhere<ReduceKind::kMax, ReduceKind::kArgMax>},
    {"min.dim", &ExtremeAndWhere<ReduceKind::kMin, ReduceKind::kArgMin>},
    {"argmax", &Arg<ReduceKind::kArgMax>},
    {"argmin", &Arg<ReduceKind::kArgMin>},
    {"any", &AnyAll<ReduceKind::kAny, false>},
    {"any.dim", &AnyAll<ReduceKind::kAny, true>},
    {"all", &AnyAll<ReduceKind::kAll, false>},
    {"all.dim", &AnyAll<ReduceKind::kAll, true>},
    {"count_nonzero.dim_IntList", &CountNonzero},
    {"var.correction", &Var<ReduceKind::kVar>},
    {"std.correction", &Var<ReduceKind::kStd>},
    {"norm.ScalarOpt_dim", &Norm},
    {"logsumexp", &LogSumExp},
    {"cumsum", &Scan<cpu::ReduceOp::kSum>},
    {"cumprod", &Scan<cpu::ReduceOp::kProd>},
};

}  // namespace

std::span<const NamedKernel> ReductionKernels() { return kKernels; }

}  // namespace plumbline::kernels
