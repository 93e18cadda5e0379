// Broadcasting, for the oracle: the shape that several have in common, and an operand's element at a place of it.
//
//   std::optional<Sizes> sizes = CommonSizes({&a.sizes, &b.sizes});      // empty: they do not go together
//   for (std::int64_t i = 0; i < NumelOf(*sizes); ++i) x = At(a, *sizes, i);
//
// Pure; any thread.
#ifndef PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_BROADCAST_H_
#define PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_BROADCAST_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "conformance/suites/operators/host_tensor.h"

namespace plumbline::suites {

std::optional<Sizes> CommonSizes(const std::vector<const Sizes*>& all);

// The place in the storage of the operand's element that goes with the i-th of the shape, in row-major order.
std::int64_t PlaceIn(const HostTensor& operand, const Sizes& sizes, std::int64_t i);

inline long double At(const HostTensor& operand, const Sizes& sizes, std::int64_t i) {
  return operand.GetAt(PlaceIn(operand, sizes, i));
}

}  // namespace plumbline::suites

#endif  // PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_BROADCAST_H_
