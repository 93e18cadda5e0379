#include <cmath>
#include <cstddef>
#include <utility>

#include "conformance/suites/operators/oracle_elements.h"
#include "conformance/suites/operators/oracle_families.h"
#include "conformance/suites/operators/oracle_groups.h"

namespace plumbline::suites {
namespace {

Element SoftmaxOf(std::uint32_t dtype, long double x, long double greatest, long double sum, std::int64_t n, bool log) {
  const long double c = (10 + std::sqrt(static_cast<long double>(n))) * UnitOf(dtype);
  if (log) {
    const long double value = x - greatest - std::log(sum);
    if (!std::isfinite(value)) return {value, 0};
    return {value, c * (1 + std::fabs(x - greatest) + std::fabs(std::log(sum)))};
  }
  // The power of a difference is as uncertain, in its own measure, as the rounded difference.
  const long double value = std::exp(x - greatest) / sum;
  if (!std::isfinite(value) || value == 0) return {value, 0};
  return {value, (c + UnitOf(dtype) * std::fabs(x - greatest)) * value + LeastNormal(dtype)};
}

Expected Softmax(const OperatorCall& call, std::uint32_t result, bool log) {
  const HostTensor& self = call.arguments[0].tensor;
  const auto along = DimensionOf(call.arguments[1], self.sizes.size());
  if (!along) return Refused("a dimension is out of range");
  if (!IsFloating(result)) return NoDtype("it is defined for floating dtypes only");
  ExpectedTensor out{.dtype = result, .sizes = self.sizes, .values = {}, .bounds = {}};
  const bool scalar = self.sizes.empty();
  const std::int64_t step = scalar ? 1 : ContiguousStrides(self.sizes)[*along];
  const std::int64_t n = scalar ? 1 : self.sizes[*along];
  const auto at = [&](std::int64_t i) { return RoundTo(result, self.Get(i)); };
  for (std::int64_t i = 0; i < self.numel(); ++i) {
    const std::int64_t first = i - i / step % n * step;
    long double greatest = -kInf, sum = 0;
    for (std::int64_t k = 0; k < n; ++k) {
      const long double x = at(first + k * step);
      greatest = std::isnan(x) || std::isnan(greatest) ? kNan : std::fmax(greatest, x);
    }
    for (std::int64_t k = 0; k < n; ++k) sum += std::exp(at(first + k * step) - greatest);
    const Element element = SoftmaxOf(result, at(i), greatest, sum, n, log);
    out.values.push_back(element.value);
    out.bounds.push_back(element.bound);
  }
  return Only(std::move(out));
}

}  // namespace

void AddSoftmax(Oracles& oracles) {
  for (const bool log : {false, true}) {
    oracles[log ? "log_softmax.int" : "softmax.int"] = [log](const OperatorCall& call) {
      return Softmax(call, GivenOr(call.arguments[2], call.arguments[0].tensor.dtype), log);
    };
    oracles[log ? "_log_softmax" : "_softmax"] = [log](const OperatorCall& call) {
      if (call.arguments[2].integer != 0) return Refused("half_to_float is not for this device");
      return Softmax(call, call.arguments[0].tensor.dtype, log);
    };
  }
}

}  // namespace plumbline::suites
