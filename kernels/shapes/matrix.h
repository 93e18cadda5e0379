// Which tensors make a product of matrices.
//
//   const MmPlan plan = PlanMm(call);         // plan.out is row-major: [rows of a, columns of b]
//
// Plain values of one call; one thread.
#ifndef PLUMBLINE_KERNELS_SHAPES_MATRIX_H_
#define PLUMBLINE_KERNELS_SHAPES_MATRIX_H_

#include "kernels/call.h"

namespace plumbline::kernels {

void CheckDim(const Call& call, int i, std::int64_t dims);
// Of sizes `left` and `right`, which a product of arguments a and b matches.
void CheckProduct(const Call& call, int a, int b, std::int64_t left, std::int64_t right);

struct MmPlan {
  Tensor a, b, out;
};
MmPlan PlanMm(Call& call);

}  // namespace plumbline::kernels

#endif  // PLUMBLINE_KERNELS_SHAPES_MATRIX_H_
