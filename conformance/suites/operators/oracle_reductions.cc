#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include "conformance/suites/operators/oracle_elements.h"
#include "conformance/suites/operators/oracle_families.h"
#include "conformance/suites/operators/oracle_groups.h"

namespace plumbline::suites {
namespace {

// The sum of integers wraps; that of floating numbers is within rule 3's bound.
Element SumOf(std::uint32_t result, const HostTensor& tensor, const std::vector<long double>& members) {
  if (!IsFloating(result)) {
    Wide sum = 0;
    for (const long double member : members) {
      const Element term = Converted(tensor.dtype, result, member);
      if (term.bound != 0) return term;
      sum += ToWide(term.value);
    }
    return {result == PL_DTYPE_BOOL ? (sum != 0 ? 1.0L : 0.0L) : Wrapped(result, sum), 0};
  }
  long double sum = 0, magnitudes = 0;
  for (const long double member : members) {
    const long double term = RoundTo(result, member);
    sum += term;
    if (std::isfinite(term)) magnitudes += std::fabs(term);
  }
  // A sum that passes the greatest number on its way may end in infinity or not, and, where it meets another infinity,
  // in NaN: nothing is said.
  if (magnitudes > Greatest(result)) return {sum, std::isnan(sum) ? 0 : kAnything};
  return {sum, std::isfinite(sum) ? SumBound(result, members.size(), magnitudes) : 0};
}

Expected Sum(const OperatorCall& call, const Argument& dim, bool keep, const Argument& dtype, bool mean) {
  const HostTensor& tensor = call.arguments[0].tensor;
  std::uint32_t result = SumDtype(tensor, dtype);
  if (mean && dtype.kind != PL_INT) result = tensor.dtype;
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
    Element element = SumOf(result, tensor, members);
    if (mean) {
      const auto n = static_cast<long double>(members.size());
      element.value /= n;  // of none: 0 / 0
      if (std::isfinite(element.value)) element.bound = element.bound / n + UlpOf(result, element.value);
    }
    out.values.push_back(element.value);
    out.bounds.push_back(std::isnan(element.bound) ? 0 : element.bound);
  }
  return Only(std::move(out));
}

// The product of integers wraps; of floating numbers it is within (2 sqrt(n) + 4) u of itself.
Element ProductOf(std::uint32_t dtype, const HostTensor& tensor, const std::vector<long double>& members) {
  if (!IsFloating(dtype)) {
    Wide product = 1;
    for (const long double member : members) {
      const Element factor = Converted(tensor.dtype, dtype, member);
      if (factor.bound != 0) return factor;
      product = dtype == PL_DTYPE_BOOL ? product * ToWide(factor.value)
                                       : ToWide(Wrapped(dtype, product * ToWide(factor.value)));
    }
    return {static_cast<long double>(product), 0};
  }
  long double product = 1, above = 1, below = 1;
  for (const long double member : members) {
    const long double factor = RoundTo(dtype, member);
    product *= factor;
    (std::fabs(factor) > 1 ? above : below) *= factor == 0 || std::isinf(factor) ? 1 : std::fabs(factor);
  }
  // In another order it may leave the range on its way.
  if (above > Greatest(dtype) || below < LeastNormal(dtype)) return {product, std::isnan(product) ? 0 : kAnything};
  if (!std::isfinite(product)) return {product, 0};
  const auto n = static_cast<long double>(members.size());
  return {product, (2 * std::sqrt(n) + 4) * UnitOf(dtype) * std::fabs(product) + LeastNormal(dtype)};
}

Expected Product(const OperatorCall& call, const Argument& dim, bool keep, const Argument& dtype) {
  const HostTensor& tensor = call.arguments[0].tensor;
  const std::uint32_t result = SumDtype(tensor, dtype);
  const Dimensions dimensions = DimensionsOf(dim, tensor.sizes.size());
  if (!dimensions.refused.empty()) return Expected::Refused(PL_ERROR_INVALID_ARGUMENT, dimensions.refused);
  const Groups groups = GroupsOf(tensor, dimensions.reduced, keep);
  ExpectedTensor out{.dtype = result, .sizes = groups.sizes, .values = {}, .bounds = {}};
  for (const std::vector<long double>& members : groups.members) {
    const Element product = ProductOf(result, tensor, members);
    out.values.push_back(product.value);
    out.bounds.push_back(product.bound);
  }
  return Only(std::move(out));
}

// Each element is the sum or the product of those up to it.
Expected Scan(const OperatorCall& call, bool product) {
  const HostTensor& tensor = call.arguments[0].tensor;
  const std::size_t dim = tensor.sizes.size();
  const auto along = DimensionOf(call.arguments[1], dim);
  if (!along) return Refused("a dimension is out of range");
  const std::uint32_t result = SumDtype(tensor, call.arguments[2]);
  ExpectedTensor out{.dtype = result, .sizes = tensor.sizes, .values = {}, .bounds = {}};
  const Sizes strides = ContiguousStrides(tensor.sizes);
  for (std::int64_t i = 0; i < tensor.numel(); ++i) {
    const std::int64_t step = dim == 0 ? 1 : strides[*along];
    const std::int64_t count = dim == 0 ? 1 : i / step % tensor.sizes[*along] + 1;
    std::vector<long double> members;
    for (std::int64_t k = 0; k < count; ++k) members.push_back(tensor.Get(i - (count - 1 - k) * step));
    const Element element = product ? ProductOf(result, tensor, members) : SumOf(result, tensor, members);
    out.values.push_back(element.value);
    out.bounds.push_back(element.bound);
  }
  return Only(std::move(out));
}

}  // namespace

void AddReductions(Oracles& oracles) {
  oracles["prod"] = [](const OperatorCall& call) { return Product(call, Argument::None(), false, call.arguments[1]); };
  oracles["prod.dim_int"] = [](const OperatorCall& call) {
    return Product(call, call.arguments[1], call.arguments[2].integer != 0, call.arguments[3]);
  };
  oracles["cumsum"] = [](const OperatorCall& call) { return Scan(call, false); };
  oracles["cumprod"] = [](const OperatorCall& call) { return Scan(call, true); };
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
