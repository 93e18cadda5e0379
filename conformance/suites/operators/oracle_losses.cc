#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>

#include "conformance/suites/operators/broadcast.h"
#include "conformance/suites/operators/oracle_elements.h"
#include "conformance/suites/operators/oracle_families.h"
#include "conformance/suites/operators/promotion.h"

namespace plumbline::suites {
namespace {

constexpr std::int64_t kNone = 0, kMean = 1;

// A term of a loss, with the magnitudes that it is made of.
struct Term {
  long double value = 0, magnitude = 0;
};

// (2 sqrt(n) + 4 + 2 c) u sum|term|, divided as the result is.
Expected Reduced(std::uint32_t dtype, const Sizes& sizes, const std::vector<Term>& terms, std::int64_t reduction,
                 long double divisor, int c) {
  const bool each = reduction == kNone;
  ExpectedTensor out{.dtype = dtype, .sizes = each ? sizes : Sizes{}, .values = {}, .bounds = {}};
  const auto push = [&](long double value, long double magnitude, std::size_t n, long double by) {
    const long double factor = (2 * std::sqrt(static_cast<long double>(n)) + 4 + 2 * c) * UnitOf(dtype);
    out.values.push_back(value / by);
    if (std::isfinite(magnitude) && magnitude > Greatest(dtype)) return out.bounds.push_back(kAnything);
    out.bounds.push_back(std::isfinite(value / by) && std::isfinite(magnitude)
                             ? factor * magnitude / std::fabs(by) + LeastNormal(dtype)
                             : 0);
  };
  Term sum;
  for (const Term& term : terms) {
    if (each) push(term.value, term.magnitude, 1, 1);
    sum.value += term.value;
    sum.magnitude += term.magnitude;
  }
  if (!each) push(sum.value, sum.magnitude, terms.size(), reduction == kMean ? divisor : 1);
  return Only(std::move(out));
}

using OnPair = std::function<Term(long double x, long double y)>;

Expected Pairwise(const OperatorCall& call, std::int64_t reduction, int c, const OnPair& f) {
  const HostTensor &self = call.arguments[0].tensor, &target = call.arguments[1].tensor;
  const auto sizes = CommonSizes({&self.sizes, &target.sizes});
  if (!sizes) return Refused("the operands' shapes do not broadcast");
  const std::uint32_t dtype = CommonDtype(FirstOf(call, 2));
  if (!IsFloating(dtype)) return NoDtype("it is defined for floating dtypes only");
  std::vector<Term> terms;
  for (std::int64_t i = 0; i < NumelOf(*sizes); ++i) {
    terms.push_back(f(CastTo(dtype, At(self, *sizes, i)), CastTo(dtype, At(target, *sizes, i))));
  }
  return Reduced(dtype, *sizes, terms, reduction, static_cast<long double>(terms.size()), c);
}

Term Positive(long double value) { return {value, std::fabs(value)}; }

Expected SmoothL1(const OperatorCall& call) {
  const long double beta = call.arguments[3].real;
  if (beta < 0) return Refused("beta is below 0");
  return Pairwise(call, call.arguments[2].integer, 2, [beta](long double x, long double y) {
    const long double z = std::fabs(x - y);
    if (beta == 0 || !(z < beta)) return Term{z - beta / 2, z + beta / 2};
    return Positive(z * z / 2 / beta);
  });
}

Expected CrossEntropyOfProbabilities(const OperatorCall& call) {
  const HostTensor &self = call.arguments[0].tensor, &target = call.arguments[1].tensor;
  const Argument& weight = call.arguments[2];
  if (self.sizes != target.sizes) return Refused("self and target differ in sizes");
  if (weight.kind == PL_TENSOR && weight.tensor.sizes != self.sizes) return Refused("weight has other sizes");
  if (!IsFloating(self.dtype)) return NoDtype("it is defined for floating dtypes only");
  std::vector<Term> terms;
  for (std::int64_t i = 0; i < self.numel(); ++i) {
    const long double x = self.Get(i), t = target.Get(i);
    if (!(x >= 0 && x <= 1)) return RefusedByElements("self is outside of 0 to 1");
    const long double w = weight.kind == PL_TENSOR ? weight.tensor.Get(i) : 1;
    const long double yes = t * std::max(std::log(x), -100.0L), no = (1 - t) * std::max(std::log1p(-x), -100.0L);
    terms.push_back({-(yes + no) * w, (std::fabs(yes) + std::fabs(no)) * std::fabs(w)});
  }
  return Reduced(self.dtype, self.sizes, terms, call.arguments[3].integer, static_cast<long double>(terms.size()), 4);
}

Expected CrossEntropyOfLogits(const OperatorCall& call) {
  const HostTensor &self = call.arguments[0].tensor, &target = call.arguments[1].tensor;
  const Argument &weight = call.arguments[2], &positive = call.arguments[3];
  if (self.sizes != target.sizes) return Refused("self and target differ in sizes");
  if (!IsFloating(self.dtype)) return NoDtype("it is defined for floating dtypes only");
  std::vector<Term> terms;
  for (std::int64_t i = 0; i < self.numel(); ++i) {
    const long double x = self.Get(i), t = target.Get(i);
    const long double w = weight.kind == PL_TENSOR ? At(weight.tensor, self.sizes, i) : 1;
    const long double p = positive.kind == PL_TENSOR ? At(positive.tensor, self.sizes, i) : 1;
    const long double linear = (1 - t) * x, factor = 1 + (p - 1) * t;
    const long double logarithm = std::log1p(std::exp(-std::fabs(x))), ramp = std::fmax(-x, 0.0L);
    terms.push_back({(linear + factor * (logarithm + ramp)) * w,
                     (std::fabs(linear) + (1 + std::fabs(p - 1) * std::fabs(t)) * (logarithm + ramp)) * std::fabs(w)});
  }
  return Reduced(self.dtype, self.sizes, terms, call.arguments[4].integer, static_cast<long double>(terms.size()), 8);
}

// Of rows and their classes; a vector is one row.
Expected NegativeLogLikelihood(const OperatorCall& call, bool total_too) {
  HostTensor self = call.arguments[0].tensor, target = call.arguments[1].tensor;
  const Argument& weight = call.arguments[2];
  const std::int64_t reduction = call.arguments[3].integer, ignored = call.arguments[4].integer;
  if (self.sizes.empty() || self.sizes.size() > 2) return Refused("self has neither 1 nor 2 dimensions");
  if (target.sizes.size() > 1) return Refused("target has more than one dimension");
  const bool one_row = self.sizes.size() == 1;
  if (one_row && !target.sizes.empty()) {
    if (target.numel() != 1) return Refused("there is not one class for each row");
  }
  if (!one_row && (target.sizes.empty() || target.sizes[0] != self.sizes[0]))
    return Refused("there is not one class for each row");
  const std::int64_t classes = self.sizes.back(), rows = one_row ? 1 : self.sizes[0];
  if (weight.kind == PL_TENSOR && weight.tensor.sizes != Sizes{classes})
    return Refused("there is not one weight for each class");
  if (weight.kind == PL_TENSOR && weight.tensor.dtype != self.dtype) return Refused("weight differs in dtype");
  if (target.dtype != PL_DTYPE_INT64 && target.dtype != PL_DTYPE_UINT8) return Refused("target is not int64");
  if (!IsFloating(self.dtype)) return NoDtype("it is defined for floating dtypes only");
  std::vector<Term> terms;
  long double total = 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto target_class = static_cast<std::int64_t>(target.Get(row));
    if (target_class == ignored) {
      terms.push_back({});
      continue;
    }
    if (target_class < 0 || target_class >= classes) return RefusedByElements("a class is out of range");
    const long double w = weight.kind == PL_TENSOR ? weight.tensor.Get(target_class) : 1;
    const long double value = -self.Get(row * classes + target_class) * w;
    terms.push_back(Positive(value));
    total += w;
  }
  Expected expected = Reduced(self.dtype, one_row ? Sizes{} : Sizes{rows}, terms, reduction, total, 1);
  if (total_too) {
    ExpectedTensor second{.dtype = self.dtype, .sizes = {}, .values = {total}, .bounds = {}};
    // Where nothing is divided, nothing is said of it.
    second.bounds.push_back(reduction == kNone ? kAnything
                                               : (2 * std::sqrt(static_cast<long double>(rows)) + 6) *
                                                     UnitOf(self.dtype) * std::fabs(total));
    expected.tensors.push_back(std::move(second));
  }
  return expected;
}

// The logarithm of the softmax of each row, with the magnitudes that go into it.
std::vector<Term> LogSoftmax(const HostTensor& self, std::int64_t rows, std::int64_t classes) {
  std::vector<Term> all;
  for (std::int64_t row = 0; row < rows; ++row) {
    long double greatest = -kInf, sum = 0;
    for (std::int64_t k = 0; k < classes; ++k) greatest = std::fmax(greatest, self.Get(row * classes + k));
    for (std::int64_t k = 0; k < classes; ++k) sum += std::exp(self.Get(row * classes + k) - greatest);
    for (std::int64_t k = 0; k < classes; ++k) {
      const long double x = self.Get(row * classes + k) - greatest;
      all.push_back({x - std::log(sum), 1 + std::fabs(x) + std::log(sum)});
    }
  }
  return all;
}

// Of classes, or of probabilities where target has self's sizes; smoothing gives each class its share.
Expected CrossEntropy(const OperatorCall& call) {
  const HostTensor &self = call.arguments[0].tensor, &target = call.arguments[1].tensor;
  const Argument& weight = call.arguments[2];
  const std::int64_t reduction = call.arguments[3].integer, ignored = call.arguments[4].integer;
  const long double smoothing = call.arguments[5].real;
  const bool probabilities = self.sizes == target.sizes;
  if (self.sizes.size() != 2) return Refused("self has not 2 dimensions");
  const std::int64_t rows = self.sizes[0], classes = self.sizes[1];
  if (!probabilities && target.sizes != Sizes{rows}) return Refused("there is not one class for each row");
  if (smoothing < 0 || smoothing > 1) return Refused("the smoothing is outside of 0 to 1");
  if (probabilities && ignored >= 0) return Refused("a class is to be ignored, but the target has none");
  if (weight.kind == PL_TENSOR && weight.tensor.sizes != Sizes{classes})
    return Refused("there is not one weight for each class");
  if (!IsFloating(self.dtype)) return NoDtype("it is defined for floating dtypes only");
  const std::vector<Term> logs = LogSoftmax(self, rows, classes);
  const auto weight_of = [&](std::int64_t k) { return weight.kind == PL_TENSOR ? weight.tensor.Get(k) : 1.0L; };
  std::vector<Term> terms;
  long double total = 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    Term term;
    const auto add = [&](std::int64_t k, long double share) {
      const Term& log = logs[static_cast<std::size_t>(row * classes + k)];
      term.value -= share * weight_of(k) * log.value;
      term.magnitude += std::fabs(share * weight_of(k)) * log.magnitude;
    };
    const std::int64_t target_class = probabilities ? 0 : static_cast<std::int64_t>(target.Get(row));
    if (!probabilities && target_class == ignored) {
      terms.push_back({});
      continue;
    }
    if (!probabilities && (target_class < 0 || target_class >= classes))
      return RefusedByElements("a class is out of range");
    for (std::int64_t k = 0; k < classes; ++k) {
      const long double share = probabilities ? target.Get(row * classes + k) : k == target_class ? 1 : 0;
      const long double smoothed = share * (1 - smoothing) + smoothing / static_cast<long double>(classes);
      if (smoothed != 0) add(k, smoothed);
    }
    if (!probabilities) total += weight_of(target_class);
    terms.push_back(term);
  }
  const long double divisor = probabilities ? static_cast<long double>(rows) : total;
  return Reduced(self.dtype, {rows}, terms, reduction, divisor, 12);
}

}  // namespace

void AddLosses(Oracles& oracles) {
  oracles["mse_loss"] = [](const OperatorCall& call) {
    return Pairwise(call, call.arguments[2].integer, 1,
                    [](long double x, long double y) { return Positive((x - y) * (x - y)); });
  };
  oracles["l1_loss"] = [](const OperatorCall& call) {
    return Pairwise(call, call.arguments[2].integer, 1,
                    [](long double x, long double y) { return Positive(std::fabs(x - y)); });
  };
  oracles["smooth_l1_loss"] = &SmoothL1;
  oracles["binary_cross_entropy"] = &CrossEntropyOfProbabilities;
  oracles["binary_cross_entropy_with_logits"] = &CrossEntropyOfLogits;
  oracles["nll_loss"] = [](const OperatorCall& call) { return NegativeLogLikelihood(call, false); };
  oracles["nll_loss_forward"] = [](const OperatorCall& call) { return NegativeLogLikelihood(call, true); };
  oracles["cross_entropy_loss"] = &CrossEntropy;
}

}  // namespace plumbline::suites
