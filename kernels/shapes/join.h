// Where the parts of a joined tensor lie.
//
//   const CatPlan plan = PlanCat(call);
//   for (const CatPlan::Part& part : plan.parts) ... copy part.from to part.place, a view of plan.out
//
// Plain values of one call; one thread.
#ifndef PLUMBLINE_KERNELS_SHAPES_JOIN_H_
#define PLUMBLINE_KERNELS_SHAPES_JOIN_H_

#include <vector>

#include "kernels/call.h"

namespace plumbline::kernels {

Tensor Narrowed(const Tensor& self, std::size_t dim, std::int64_t start, std::int64_t length);

struct CatPlan {
  struct Part {
    Tensor place, from;
  };
  std::vector<Part> parts;
  Tensor out;
};
CatPlan PlanCat(Call& call);

}  // namespace plumbline::kernels

#endif  // PLUMBLINE_KERNELS_SHAPES_JOIN_H_
