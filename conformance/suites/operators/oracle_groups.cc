#include "conformance/suites/operators/oracle_groups.h"

#include <algorithm>
#include <cmath>

#include "conformance/suites/operators/oracle_elements.h"

namespace plumbline::suites {

Dimensions DimensionsOf(const Argument& given, std::size_t dim) {
  Dimensions dimensions{std::vector<bool>(dim, false)};
  const bool all = given.kind == PL_NONE || (given.kind == PL_LIST && given.items.empty());
  if (all) {
    dimensions.reduced.assign(dim, true);
    return dimensions;
  }
  std::vector<std::int64_t> wanted;
  if (given.kind == PL_LIST) {
    for (const Argument& item : given.items) wanted.push_back(item.integer);
  } else {
    wanted.push_back(given.integer);
  }
  const auto count = static_cast<std::int64_t>(std::max<std::size_t>(dim, 1));  // a scalar has one dimension here
  std::vector<bool> seen(static_cast<std::size_t>(count), false);
  for (std::int64_t at : wanted) {
    if (at < -count || at >= count) return {{}, "a dimension is out of range"};
    if (at < 0) at += count;
    if (seen[static_cast<std::size_t>(at)]) return {{}, "a dimension is given twice"};
    seen[static_cast<std::size_t>(at)] = true;
    if (dim > 0) dimensions.reduced[static_cast<std::size_t>(at)] = true;
  }
  return dimensions;
}

Groups GroupsOf(const HostTensor& tensor, const std::vector<bool>& reduced, bool keep) {
  Groups groups;
  Sizes kept;
  for (std::size_t d = 0; d < tensor.sizes.size(); ++d) {
    kept.push_back(reduced[d] ? 1 : tensor.sizes[d]);
    if (keep || !reduced[d]) groups.sizes.push_back(kept.back());
  }
  groups.members.resize(static_cast<std::size_t>(NumelOf(kept)));
  const Sizes strides = ContiguousStrides(kept);
  for (std::int64_t i = 0; i < tensor.numel(); ++i) {
    std::int64_t rest = i, at = 0;
    for (std::size_t d = tensor.sizes.size(); d-- > 0;) {
      if (!reduced[d]) at += rest % tensor.sizes[d] * strides[d];
      rest /= tensor.sizes[d];
    }
    groups.members[static_cast<std::size_t>(at)].push_back(tensor.Get(i));
  }
  return groups;
}

long double SumBound(std::uint32_t dtype, std::size_t n, long double sum_of_magnitudes) {
  return (2 * std::sqrt(static_cast<long double>(n)) + 4) * UnitOf(dtype) * sum_of_magnitudes + LeastNormal(dtype);
}

std::optional<std::size_t> DimensionOf(const Argument& given, std::size_t dim) {
  const auto count = static_cast<std::int64_t>(std::max<std::size_t>(dim, 1));
  if (given.integer < -count || given.integer >= count) return std::nullopt;
  return static_cast<std::size_t>(given.integer < 0 ? given.integer + count : given.integer);
}

std::uint32_t SumDtype(const HostTensor& tensor, const Argument& given) {
  if (given.kind == PL_INT) return static_cast<std::uint32_t>(given.integer);
  return IsFloating(tensor.dtype) ? tensor.dtype : std::uint32_t{PL_DTYPE_INT64};
}

}  // namespace plumbline::suites
