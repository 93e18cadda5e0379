#include "conformance/suites/operators/oracle_reductions.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include "conformance/suites/operators/promotion.h"

namespace plumbline::suites {
namespace {

// The dimensions that are reduced, each once and counted from 0; a refusal where one is out of range or given twice.
struct Dimensions {
  std::vector<bool> reduced;
  std::string refused{};
};
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

// The elements that go into each element of the result, in row-major order.
struct Groups {
  Sizes sizes;
  std::vector<std::vector<long double>> members;
};
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

// Rule 3: (2 sqrt(n) + 4) u sum |x|, for a sum in the dtype that is accumulated in, and half an ulp of the result.
long double SumBound(std::uint32_t dtype, std::size_t n, long double sum_of_magnitudes) {
  const std::uint32_t accumulated = DtypeBytes(dtype) == 2 ? std::uint32_t{PL_DTYPE_FLOAT32} : dtype;
  const long double u = std::ldexp(1.0L, -DigitsOf(accumulated));
  return (2 * std::sqrt(static_cast<long double>(n)) + 4) * u * sum_of_magnitudes + LeastNormal(dtype);
}

Expected Sum(const OperatorCall& call, const Argument& dim, bool keep, const Argument& dtype, bool mean) {
  const HostTensor& tensor = call.arguments[0].tensor;
  const bool given = dtype.kind == PL_INT;
  std::uint32_t result = given                      ? static_cast<std::uint32_t>(dtype.integer)
                         : IsFloating(tensor.dtype) ? tensor.dtype
                                                    : std::uint32_t{PL_DTYPE_INT64};
  if (mean && !given) result = tensor.dtype;
  if (mean && !IsFloating(result)) {
    return {{PL_ERROR_INVALID_ARGUMENT, PL_ERROR_NO_DTYPE},
            "the mean of integers is asked for without a floating dtype",
            {}};
  }
  const Dimensions dimensions = DimensionsOf(dim, tensor.sizes.size());
  if (!dimensions.refused.empty()) return Expected::Refused(PL_ERROR_INVALID_ARGUMENT, dimensions.refused);
  const Groups groups = GroupsOf(tensor, dimensions.reduced, keep);
  ExpectedTensor out{.dtype = result, .sizes = groups.sizes, .values = {}, .bounds = {}};
  for (const std::vector<long double>& members : groups.members) {
    if (!IsFloating(result)) {
      __int128 sum = 0;
      // What a floating number beyond the integers becomes is for the machine to say.
      const bool undefined = std::any_of(members.begin(), members.end(), [&](long double member) {
        return result != PL_DTYPE_BOOL && IsFloating(tensor.dtype) &&
               !(std::fabs(member) < std::ldexp(1.0L, static_cast<int>(DtypeBytes(result)) * 8 - 1));
      });
      if (undefined) {
        out.values.push_back(0);
        out.bounds.push_back(std::numeric_limits<long double>::infinity());
        continue;
      }
      for (const long double member : members) {
        const bool to_bool = result == PL_DTYPE_BOOL;
        sum += to_bool ? (member != 0 ? 1 : 0) : static_cast<__int128>(member);
      }
      const int bits = static_cast<int>(DtypeBytes(result)) * 8;
      const auto low = static_cast<std::uint64_t>(sum);
      const auto wrapped = static_cast<std::int64_t>(low << (64 - bits)) >> (64 - bits);
      const bool is_unsigned = result == PL_DTYPE_UINT8;
      out.values.push_back(result == PL_DTYPE_BOOL ? (sum != 0 ? 1.0L : 0.0L)
                           : is_unsigned           ? static_cast<long double>(low & 0xff)
                                                   : static_cast<long double>(wrapped));
      out.bounds.push_back(0);
      continue;
    }
    long double sum = 0, magnitudes = 0;
    for (const long double member : members) {
      sum += RoundTo(result, member);
      magnitudes += std::fabs(RoundTo(result, member));
    }
    const auto n = static_cast<long double>(members.size());
    long double bound = SumBound(result, members.size(), magnitudes);
    if (mean) {
      sum = sum / n;  // of none: 0 / 0
      bound = bound / n + UlpOf(result, sum);
    }
    // A sum that passes the greatest number on its way may end in infinity or not: nothing is said.
    if (std::isfinite(magnitudes) && magnitudes > Greatest(result))
      bound = std::numeric_limits<long double>::infinity();
    out.values.push_back(sum);
    out.bounds.push_back(std::isnan(bound) ? 0 : bound);
  }
  Expected expected;
  expected.tensors.push_back(std::move(out));
  return expected;
}

}  // namespace

void AddReductions(std::map<std::string, Oracle, std::less<>>& oracles) {
  for (const bool mean : {false, true}) {
    const std::string name = mean ? "mean" : "sum";
    oracles[name] = [mean](const OperatorCall& call) {
      return Sum(call, Argument::None(), false, call.arguments[1], mean);
    };
    oracles[mean ? "mean.dim" : "sum.dim_IntList"] = [mean](const OperatorCall& call) {
      return Sum(call, call.arguments[1], call.arguments[2].integer != 0, call.arguments[3], mean);
    };
  }
}

}  // namespace plumbline::suites
