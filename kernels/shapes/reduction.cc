#include "kernels/shapes/reduction.h"

#include <algorithm>

#include "reference/faults/faults.h"

namespace plumbline::kernels {

Reduced ReducedOf(const Call& call, const Tensor& self, IntSpan dims, int argument, bool keepdim) {
  const std::size_t n = self.sizes().size();
  Reduced reduced{std::make_unique<bool[]>(n + 1), {}, 1};
  if (dims.empty()) std::fill_n(reduced.mask.get(), n, true);
  for (const std::int64_t dim : dims) {
    const auto d = static_cast<std::size_t>(call.WrapDimValue(dim, self.dim(), argument));
    if (reduced.mask[d])
      call.Fail("argument " + call.Name(argument) + ": dimension " + std::to_string(dim) + " appears twice");
    reduced.mask[d] = true;
  }
  for (std::size_t d = 0; d < n; ++d) {
    if (reduced.mask[d]) reduced.count *= self.sizes()[d];
    if (!reduced.mask[d]) {
      reduced.sizes.push_back(self.sizes()[d]);
    } else if (keepdim && !PLUMBLINE_FAULT(keepdim_is_forgotten)) {
      reduced.sizes.push_back(1);
    }
  }
  return reduced;
}

DType SumType(const Tensor& self, std::optional<DType> asked) {
  if (asked) return *asked;
  return IsFloating(self.dtype()) || PLUMBLINE_FAULT(sums_keep_their_dtype) ? self.dtype() : DType::kInt64;
}

SumPlan PlanSum(const Call& call, bool dims, bool mean) {
  const Tensor self = call.tensor(0);
  std::optional<DType> asked = call.dtype(dims ? 3 : 1);
  if (PLUMBLINE_FAULT(means_of_integers_are_floats) && mean && !asked && !IsFloating(self.dtype())) {
    asked = DType::kFloat32;
  }
  const DType terms = asked.value_or(self.dtype());
  call.CheckDType(terms);
  return {terms, mean ? terms : SumType(self, asked),
          ReducedOf(call, self, dims ? call.ints(1) : DimVector(), 1, dims && call.boolean(2))};
}

}  // namespace plumbline::kernels
