#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>

#include "conformance/suites/operators/oracle_elements.h"
#include "conformance/suites/operators/oracle_families.h"
#include "conformance/suites/operators/oracle_groups.h"

namespace plumbline::suites {
namespace {

using Members = std::vector<long double>;

// One element of a result from its group: the value, how far from it one may be, or several values of which one is due.
struct Statistic {
  Element element;
  std::vector<long double> any_of{};
};

template <class F>
Expected Reduce(const OperatorCall& call, const Argument& dim, bool keep, const F& f) {
  const HostTensor& tensor = call.arguments[0].tensor;
  const Dimensions dimensions = DimensionsOf(dim, tensor.sizes.size());
  if (!dimensions.refused.empty()) return Refused(dimensions.refused.c_str());
  if (!IsFloating(tensor.dtype)) return NoDtype("it is defined for floating dtypes only");
  const Groups groups = GroupsOf(tensor, dimensions.reduced, keep);
  ExpectedTensor out{.dtype = tensor.dtype, .sizes = groups.sizes, .values = {}, .bounds = {}};
  for (const Members& members : groups.members) {
    Statistic statistic = f(tensor.dtype, members);
    out.values.push_back(statistic.element.value);
    out.bounds.push_back(statistic.element.bound);
    out.any_of.push_back(std::move(statistic.any_of));
  }
  return Only(std::move(out));
}

Statistic VarianceOf(std::uint32_t dtype, const Members& members, long double correction, bool root) {
  const auto n = static_cast<long double>(members.size());
  long double mean = 0, squares = 0, greatest = 0;
  for (const long double member : members) mean += member;
  mean /= n;
  for (const long double member : members) {
    squares += (member - mean) * (member - mean);
    greatest = std::max(greatest, std::fabs(member));
  }
  if (std::isnan(mean + squares) && !members.empty()) return {{kNan, 0}};
  if (n <= correction) return {{}, {kNan, kInf}};
  // Where squares leave the range, nothing is said.
  if (n * greatest * greatest > Greatest(dtype)) return {{0, kAnything}};
  const long double variance = squares / (n - correction), deviation = std::sqrt(squares / n);
  const long double bound =
      (2 * std::sqrt(n) + 10) * UnitOf(dtype) * deviation * std::sqrt(squares / n + mean * mean) * n / (n - correction);
  // The rounding of the mean, squared, is there even if all elements are the same.
  const long double floor = LeastNormal(dtype) + std::pow(UnitOf(dtype) * (std::sqrt(n) + 4) * std::fabs(mean), 2);
  if (!root) return {{variance, bound + floor}};
  const long double result = std::sqrt(variance);
  if (result == 0) return {{0, std::sqrt(bound + floor)}};
  return {{result, std::min(bound / (2 * result), std::sqrt(bound)) + UlpOf(dtype, result) + std::sqrt(floor)}};
}

Statistic NormOf(std::uint32_t dtype, const Members& members, long double p) {
  const auto n = static_cast<long double>(members.size());
  long double sum = 0, greatest = 0, least = kInf;
  bool nan = false, leaves = false;
  for (const long double member : members) {
    const long double magnitude = std::fabs(member), power = p == 0 ? (member != 0 ? 1 : 0) : std::pow(magnitude, p);
    nan = nan || std::isnan(member);
    greatest = std::fmax(greatest, magnitude);
    least = std::fmin(least, magnitude);
    sum += power;
    leaves = leaves || (std::isfinite(power) && power != 0 && power < LeastNormal(dtype));
  }
  if (p == 0) return {{sum, 0}};
  if (nan) return {{kNan, 0}};
  if (std::isinf(p)) return {{members.empty() ? 0 : p > 0 ? greatest : least, 0}};
  if (std::isfinite(sum) && (leaves || sum > Greatest(dtype))) return {{0, kAnything}};
  const long double result = p == 2 ? std::sqrt(sum) : p == 1 ? sum : std::pow(sum, 1 / p);
  if (!std::isfinite(result)) return {{result, 0}};
  return {{result, (2 * std::sqrt(n) + 8) * UnitOf(dtype) * result + LeastNormal(dtype)}};
}

Statistic LogSumExpOf(std::uint32_t dtype, const Members& members) {
  const auto n = static_cast<long double>(members.size());
  long double greatest = -kInf, sum = 0;
  for (const long double member : members) {
    if (std::isnan(member)) return {{kNan, 0}};
    greatest = std::max(greatest, member);
  }
  if (std::isinf(greatest)) return {{greatest, 0}};
  for (const long double member : members) sum += std::exp(member - greatest);
  return {{greatest + std::log(sum), (10 + std::sqrt(n)) * UnitOf(dtype) * (std::fabs(greatest) + std::log(n) + 1)}};
}

}  // namespace

void AddStatistics(Oracles& oracles) {
  for (const bool root : {false, true}) {
    oracles[root ? "std.correction" : "var.correction"] = [root](const OperatorCall& call) {
      const Argument& correction = call.arguments[2];
      const long double c = correction.kind == PL_NONE ? 1 : NumberOf(correction);
      return Reduce(call, call.arguments[1], call.arguments[3].integer != 0,
                    [&](std::uint32_t dtype, const Members& members) { return VarianceOf(dtype, members, c, root); });
    };
  }
  oracles["norm.ScalarOpt_dim"] = [](const OperatorCall& call) {
    const Argument& p = call.arguments[1];
    return Reduce(call, call.arguments[2], call.arguments[3].integer != 0,
                  [&](std::uint32_t dtype, const Members& members) {
                    return NormOf(dtype, members, p.kind == PL_NONE ? 2 : NumberOf(p));
                  });
  };
  oracles["logsumexp"] = [](const OperatorCall& call) {
    OperatorCall floating = call;
    if (HostTensor& self = floating.arguments[0].tensor; !IsFloating(self.dtype)) {
      HostTensor wide = HostTensor::Contiguous(PL_DTYPE_FLOAT32, self.sizes);
      for (std::int64_t i = 0; i < wide.numel(); ++i) wide.Set(i, self.Get(i));
      self = std::move(wide);
    }
    return Reduce(floating, call.arguments[1], call.arguments[2].integer != 0, &LogSumExpOf);
  };
}

}  // namespace plumbline::suites
