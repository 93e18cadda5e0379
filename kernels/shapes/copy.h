// What copy_ and fill_ write, once their arguments have been checked.
//
//   const std::optional<CopyPlan> plan = PlanCopy(call);
//   if (!plan || call.meta()) return;           // the same tensor, or no elements
//   ... all elements of plan->source, broadcast and converted, to plan->written, each on its own device
//
// Plain values of one call; one thread.
#ifndef PLUMBLINE_KERNELS_SHAPES_COPY_H_
#define PLUMBLINE_KERNELS_SHAPES_COPY_H_

#include <optional>

#include "kernels/call.h"

namespace plumbline::kernels {

struct CopyPlan {
  Tensor written, source;
};
// Nothing if there is nothing to do.
std::optional<CopyPlan> PlanCopy(Call& call);

// Of an expanded dimension one index, which stands for all.
Tensor PlanFill(Call& call);

}  // namespace plumbline::kernels

#endif  // PLUMBLINE_KERNELS_SHAPES_COPY_H_
