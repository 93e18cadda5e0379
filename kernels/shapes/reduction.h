// Which dimensions a reduction takes away, and what a sum is computed in.
//
//   const SumPlan plan = PlanSum(call, true, false);      // sum.dim_IntList
//   const Tensor out = call.PackedResult(0, plan.reduced.sizes, plan.result);
//
// Plain values of one call; one thread.
#ifndef PLUMBLINE_KERNELS_SHAPES_REDUCTION_H_
#define PLUMBLINE_KERNELS_SHAPES_REDUCTION_H_

#include <memory>
#include <optional>

#include "kernels/call.h"

namespace plumbline::kernels {

struct Reduced {
  std::unique_ptr<bool[]> mask;  // true: the dimension is reduced
  DimVector sizes;               // of the result
  std::int64_t count = 1;        // terms of one result
};
// All dimensions if none are named; `argument` is where they came from.
Reduced ReducedOf(const Call& call, const Tensor& self, IntSpan dims, int argument, bool keepdim);

// int64 for integers unless a dtype is asked for.
DType SumType(const Tensor& self, std::optional<DType> asked);

struct SumPlan {
  DType terms;   // to which elements are cast before they are added
  DType result;  // which is also computed in
  Reduced reduced;
};
// dims: arguments dim, keepdim, dtype; otherwise dtype alone.
SumPlan PlanSum(const Call& call, bool dims, bool mean);

}  // namespace plumbline::kernels

#endif  // PLUMBLINE_KERNELS_SHAPES_REDUCTION_H_
