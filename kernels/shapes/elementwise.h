// What an elementwise operator computes, before any device does it: the operands, the dtype that it is computed in, and
// the sizes, dtype and strides of the result.
//
//   const BinaryPlan plan = PlanBinary(call, BinaryResult::kPromoted);    // checks; nothing is allocated
//   const Tensor out = ResultOf(call, plan);
//   if (call.meta()) return;
//   ... compute plan.a and plan.b, each converted to plan.compute, into out
//
// A plan points into its call. One thread.
#ifndef PLUMBLINE_KERNELS_SHAPES_ELEMENTWISE_H_
#define PLUMBLINE_KERNELS_SHAPES_ELEMENTWISE_H_

#include <span>

#include "kernels/call.h"

namespace plumbline::kernels {

In OperandOf(const Call& call, int i);  // a tensor or a Scalar
DType PromotedOf(std::span<const In> inputs);

// ---- one tensor ----
enum class UnaryResult { kSame, kFloat, kBool };
struct UnaryPlan {
  Tensor self, out;
  DType compute;
};
UnaryPlan PlanUnary(Call& call, UnaryResult result);

// ---- two operands ----
enum class BinaryResult { kPromoted, kFloat, kBool };
struct BinaryPlan {
  BinaryPlan(const Call& call, In a, In b, DType compute, DType result);
  In a, b;
  DType compute, result;
  DimVector sizes;
};
BinaryPlan PlanBinary(const Call& call, BinaryResult result);
// self + alpha other, or self - alpha other; swapped, other comes first. alpha is argument 2.
BinaryPlan PlanWithAlpha(const Call& call, bool subtracts, bool swapped = false);
void CheckAlpha(const Call& call, const Scalar& alpha, DType dtype);
Tensor ResultOf(Call& call, const BinaryPlan& plan);

// ---- a condition and two tensors ----
struct WherePlan {
  Tensor condition, yes, no, out;
  DType compute;
};
WherePlan PlanWhere(Call& call);

}  // namespace plumbline::kernels

#endif  // PLUMBLINE_KERNELS_SHAPES_ELEMENTWISE_H_
