// Which elements a reduction reduces to one, for the oracle.
//
//   const Dimensions dimensions = DimensionsOf(call.arguments[1], tensor.sizes.size());   // refused: says why
//   const Groups groups = GroupsOf(tensor, dimensions.reduced, keep);                     // groups.members[i]
//
// Pure; any thread.
#ifndef PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_ORACLE_GROUPS_H_
#define PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_ORACLE_GROUPS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "conformance/suites/operators/operator_call.h"

namespace plumbline::suites {

// The dimensions that are reduced, each once and counted from 0; a refusal where one is out of range or given twice.
struct Dimensions {
  std::vector<bool> reduced;
  std::string refused{};
};
// None and an empty list mean all.
Dimensions DimensionsOf(const Argument& given, std::size_t dim);

// One dimension, counted from 0; empty: out of range. A scalar has one dimension here, 0.
std::optional<std::size_t> DimensionOf(const Argument& given, std::size_t dim);

// The elements that go into each element of the result, in row-major order.
struct Groups {
  Sizes sizes;
  std::vector<std::vector<long double>> members;
};
Groups GroupsOf(const HostTensor& tensor, const std::vector<bool>& reduced, bool keep);

// The dtype of a sum: the given one, else that of floating elements and int64 of others.
std::uint32_t SumDtype(const HostTensor& tensor, const Argument& given);

// (2 sqrt(n) + 4) u sum |x|, for a sum in the dtype that is accumulated in.
long double SumBound(std::uint32_t dtype, std::size_t n, long double sum_of_magnitudes);

}  // namespace plumbline::suites

#endif  // PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_ORACLE_GROUPS_H_
