#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "conformance/suites/operators/oracle_elements.h"
#include "conformance/suites/operators/oracle_families.h"
#include "conformance/suites/operators/oracle_groups.h"

namespace plumbline::suites {
namespace {

// The sum of integers wraps; that of floating numbers is within rule 3's bound.
class RunningSum {
 public:
  RunningSum(std::uint32_t result, const HostTensor& tensor) : result_(result), from_(tensor.dtype) {}

  void Add(long double member) {
    ++count_;
    if (!IsFloating(result_)) {
      const Element term = Converted(from_, result_, member);
      if (term.bound != 0 && !unsaid_) unsaid_ = term;
      if (!unsaid_) wide_ += ToWide(term.value);
      return;
    }
    const long double term = RoundTo(result_, member);
    sum_ += term;
    if (std::isfinite(term)) magnitudes_ += std::fabs(term);
  }
  Element Value() const {
    if (unsaid_) return *unsaid_;
    if (!IsFloating(result_)) {
      return {result_ == PL_DTYPE_BOOL ? (wide_ != 0 ? 1.0L : 0.0L) : Wrapped(result_, wide_), 0};
    }
    // A sum that passes the greatest number on its way may end in infinity or not, and, where it meets another
    // infinity, in NaN: nothing is said.
    if (magnitudes_ > Greatest(result_)) return {sum_, std::isnan(sum_) ? 0 : kAnything};
    return {sum_, std::isfinite(sum_) ? SumBound(result_, count_, magnitudes_) : 0};
  }

 private:
  std::uint32_t result_, from_;
  std::size_t count_ = 0;
  std::optional<Element> unsaid_;  // the first term of which nothing is said
  Wide wide_ = 0;
  long double sum_ = 0, magnitudes_ = 0;
};

// The product of integers wraps; of floating numbers it is within (2 sqrt(n) + 4) u of itself.
class RunningProduct {
 public:
  RunningProduct(std::uint32_t result, const HostTensor& tensor) : result_(result), from_(tensor.dtype) {}

  void Add(long double member) {
    ++count_;
    if (!IsFloating(result_)) {
      const Element factor = Converted(from_, result_, member);
      if (factor.bound != 0 && !unsaid_) unsaid_ = factor;
      if (unsaid_) return;
      wide_ *= ToWide(factor.value);
      if (result_ != PL_DTYPE_BOOL) wide_ = ToWide(Wrapped(result_, wide_));
      return;
    }
    const long double factor = RoundTo(result_, member);
    product_ *= factor;
    (std::fabs(factor) > 1 ? above_ : below_) *= factor == 0 || std::isinf(factor) ? 1 : std::fabs(factor);
  }
  Element Value() const {
    if (unsaid_) return *unsaid_;
    if (!IsFloating(result_)) return {static_cast<long double>(wide_), 0};
    // In another order it may leave the range on its way.
    if (above_ > Greatest(result_) || below_ < LeastNormal(result_)) {
      return {product_, std::isnan(product_) ? 0 : kAnything};
    }
    if (!std::isfinite(product_)) return {product_, 0};
    const auto n = static_cast<long double>(count_);
    return {product_, (2 * std::sqrt(n) + 4) * UnitOf(result_) * std::fabs(product_) + LeastNormal(result_)};
  }

 private:
  std::uint32_t result_, from_;
  std::size_t count_ = 0;
  std::optional<Element> unsaid_;  // the first factor of which nothing is said
  Wide wide_ = 1;
  long double product_ = 1, above_ = 1, below_ = 1;
};

template <class Running>
Element Of(std::uint32_t result, const HostTensor& tensor, const std::vector<long double>& members) {
  Running running(result, tensor);
  for (const long double member : members) running.Add(member);
  return running.Value();
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
    Element element = Of<RunningSum>(result, tensor, members);
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

Expected Product(const OperatorCall& call, const Argument& dim, bool keep, const Argument& dtype) {
  const HostTensor& tensor = call.arguments[0].tensor;
  const std::uint32_t result = SumDtype(tensor, dtype);
  const Dimensions dimensions = DimensionsOf(dim, tensor.sizes.size());
  if (!dimensions.refused.empty()) return Expected::Refused(PL_ERROR_INVALID_ARGUMENT, dimensions.refused);
  const Groups groups = GroupsOf(tensor, dimensions.reduced, keep);
  ExpectedTensor out{.dtype = result, .sizes = groups.sizes, .values = {}, .bounds = {}};
  for (const std::vector<long double>& members : groups.members) {
    const Element product = Of<RunningProduct>(result, tensor, members);
    out.values.push_back(product.value);
    out.bounds.push_back(product.bound);
  }
  return Only(std::move(out));
}

// Each element is the sum or the product of those up to it.
template <class Running>
Expected Scan(const OperatorCall& call) {
  const HostTensor& tensor = call.arguments[0].tensor;
  const std::size_t dim = tensor.sizes.size();
  const auto along = DimensionOf(call.arguments[1], dim);
  if (!along) return Refused("a dimension is out of range");
  const std::uint32_t result = SumDtype(tensor, call.arguments[2]);
  ExpectedTensor out{.dtype = result, .sizes = tensor.sizes, .values = {}, .bounds = {}};
  const std::int64_t step = dim == 0 ? 1 : ContiguousStrides(tensor.sizes)[*along];
  const std::int64_t count = dim == 0 ? 1 : tensor.sizes[*along];
  std::map<std::int64_t, Running> lines;  // by where they begin
  for (std::int64_t i = 0; i < tensor.numel(); ++i) {
    Running& running = lines.try_emplace(i - i / step % count * step, result, tensor).first->second;
    running.Add(tensor.Get(i));
    const Element element = running.Value();
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
  oracles["cumsum"] = Scan<RunningSum>;
  oracles["cumprod"] = Scan<RunningProduct>;
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
