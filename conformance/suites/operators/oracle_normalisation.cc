#include <cmath>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>

#include "conformance/suites/operators/oracle_elements.h"
#include "conformance/suites/operators/oracle_families.h"

namespace plumbline::suites {
namespace {

// Of the elements that one mean and variance are of.
struct Moments {
  long double mean = 0, variance = 0;  // without correction
  long double n = 0;
  bool leaves = false;        // squares may leave the range
  long double magnitude = 0;  // mean of |x|

  static Moments Of(const std::vector<long double>& members, std::uint32_t dtype) {
    Moments moments;
    moments.n = static_cast<long double>(members.size());
    long double squares = 0;
    for (const long double member : members) {
      moments.mean += member;
      moments.magnitude += std::fabs(member);
      squares += member * member;
    }
    moments.mean /= moments.n;
    moments.magnitude /= moments.n;
    for (const long double member : members) moments.variance += (member - moments.mean) * (member - moments.mean);
    moments.variance /= moments.n;
    moments.leaves = std::isfinite(squares) && squares > Greatest(dtype);
    return moments;
  }
};

// (x - m) / s * weight + bias, within (2 sqrt(n) + 16) u (((|x| + a) / s) |weight| + |bias|), where a is the mean of
// the magnitudes: a sum that cancels is only as good as its terms.
Element Normalised(std::uint32_t dtype, long double x, const Moments& of, long double eps, long double weight,
                   long double bias) {
  if (of.leaves) return {0, kAnything};
  const long double s = std::sqrt(of.variance + eps), value = (x - of.mean) / s * weight + bias;
  if (!std::isfinite(value)) return {value, std::isfinite(of.mean) ? kAnything : 0};
  // The deviation is itself known within its share of the mean.
  const long double c = (2 * std::sqrt(of.n) + 16) * UnitOf(dtype);
  return {value, c * ((std::fabs(x) + of.magnitude) / s * std::fabs(weight) + std::fabs(bias)) + LeastNormal(dtype)};
}

long double ElementOr(const Argument& tensor, std::int64_t i, long double otherwise) {
  return tensor.kind == PL_TENSOR ? tensor.tensor.Get(i) : otherwise;
}

void Push(ExpectedTensor& out, const Element& element) {
  out.values.push_back(element.value);
  out.bounds.push_back(std::isnan(element.bound) ? kAnything : element.bound);
}

Element MeanOf(std::uint32_t dtype, const Moments& of) {
  if (of.leaves) return {0, kAnything};
  if (!std::isfinite(of.mean)) return {of.mean, 0};
  return {of.mean, (2 * std::sqrt(of.n) + 4) * UnitOf(dtype) * of.magnitude + UlpOf(dtype, of.mean)};
}

// 1 / sqrt(var + eps): within the variance's bound, relative to it, halved, and one unit.
Element RstdOf(std::uint32_t dtype, const Moments& of, long double eps) {
  if (of.leaves) return {0, kAnything};
  const long double value = 1 / std::sqrt(of.variance + eps);
  if (!std::isfinite(value)) return {value, kAnything};
  const long double off =
      (2 * std::sqrt(of.n) + 10) * UnitOf(dtype) * std::sqrt(of.variance) * std::sqrt(of.variance + of.mean * of.mean) +
      std::pow(UnitOf(dtype) * (std::sqrt(of.n) + 4) * of.mean, 2);
  return {value, value * off / (2 * (of.variance + eps)) + 2 * UlpOf(dtype, value)};
}

Expected LayerNorm(const OperatorCall& call, bool native) {
  const HostTensor& input = call.arguments[0].tensor;
  Sizes shape;
  for (const Argument& item : call.arguments[1].items) shape.push_back(item.integer);
  const Argument &weight = call.arguments[2], &bias = call.arguments[3];
  const long double eps = call.arguments[4].real;
  if (shape.empty()) return Refused("normalized_shape is empty");
  if (shape.size() > input.sizes.size() ||
      !std::equal(shape.begin(), shape.end(), input.sizes.end() - static_cast<std::ptrdiff_t>(shape.size()))) {
    return Refused("the input does not end in normalized_shape");
  }
  for (const Argument* factor : {&weight, &bias}) {
    if (factor->kind == PL_TENSOR && factor->tensor.sizes != shape) return Refused("weight or bias has another shape");
  }
  if (!IsFloating(input.dtype)) return NoDtype("it is defined for floating dtypes only");
  const std::int64_t n = NumelOf(shape);
  Sizes outer(input.sizes.begin(), input.sizes.end() - static_cast<std::ptrdiff_t>(shape.size()));
  const std::int64_t rows = NumelOf(outer);
  outer.resize(input.sizes.size(), 1);
  ExpectedTensor out{.dtype = input.dtype, .sizes = input.sizes, .values = {}, .bounds = {}};
  ExpectedTensor means{.dtype = input.dtype, .sizes = outer, .values = {}, .bounds = {}};
  if (DtypeBytes(input.dtype) == 2) means.or_dtype = PL_DTYPE_FLOAT32;
  ExpectedTensor rstds = means;
  for (std::int64_t row = 0; row < rows; ++row) {
    std::vector<long double> members;
    for (std::int64_t i = 0; i < n; ++i) members.push_back(input.Get(row * n + i));
    const Moments moments = Moments::Of(members, input.dtype);
    for (std::int64_t i = 0; i < n; ++i) {
      Push(out, Normalised(input.dtype, members[static_cast<std::size_t>(i)], moments, eps, ElementOr(weight, i, 1),
                           ElementOr(bias, i, 0)));
    }
    // Of no elements nothing is said.
    Push(means, n == 0 ? Element{0, kAnything} : MeanOf(input.dtype, moments));
    Push(rstds, n == 0 ? Element{0, kAnything} : RstdOf(input.dtype, moments, eps));
  }
  Expected expected = Only(std::move(out));
  if (native) {
    expected.tensors.push_back(std::move(means));
    expected.tensors.push_back(std::move(rstds));
  }
  return expected;
}

Expected BatchNorm(const OperatorCall& call, bool native) {
  const HostTensor& input = call.arguments[0].tensor;
  const Argument &weight = call.arguments[1], &bias = call.arguments[2];
  const Argument &running_mean = call.arguments[3], &running_var = call.arguments[4];
  const bool training = call.arguments[5].integer != 0;
  const long double momentum = call.arguments[6].real, eps = call.arguments[7].real;
  const std::int64_t channels = input.sizes[1];
  for (const Argument* one : {&weight, &bias, &running_mean, &running_var}) {
    if (one->kind == PL_TENSOR && one->tensor.sizes != Sizes{channels})
      return Refused("there is not one for each channel");
  }
  if (!training && (running_mean.kind != PL_TENSOR || running_var.kind != PL_TENSOR)) {
    return Refused("without training running statistics are needed");
  }
  if (!IsFloating(input.dtype)) return NoDtype("it is defined for floating dtypes only");
  const std::int64_t inner = input.numel() == 0 ? 0 : input.numel() / input.sizes[0] / channels;
  ExpectedTensor out{.dtype = input.dtype, .sizes = input.sizes, .values = {}, .bounds = {}};
  out.values.resize(static_cast<std::size_t>(input.numel()));
  out.bounds.resize(out.values.size());
  ExpectedTensor means{.dtype = input.dtype, .sizes = {training ? channels : 0}, .values = {}, .bounds = {}};
  ExpectedTensor new_means = means, new_vars = means;
  if (DtypeBytes(input.dtype) == 2) means.or_dtype = PL_DTYPE_FLOAT32;
  ExpectedTensor rstds = means;
  for (std::int64_t channel = 0; channel < channels; ++channel) {
    std::vector<long double> members;
    std::vector<std::int64_t> places;
    for (std::int64_t i = 0; i < input.numel(); ++i) {
      if (i / inner % channels != channel) continue;
      members.push_back(input.Get(i));
      places.push_back(i);
    }
    Moments moments = Moments::Of(members, input.dtype);
    if (training) {
      Push(means, MeanOf(input.dtype, moments));
      Push(rstds, RstdOf(input.dtype, moments, eps));
      const Element mean = MeanOf(input.dtype, moments);
      const long double old_mean = ElementOr(running_mean, channel, 0), old_var = ElementOr(running_var, channel, 0);
      Push(new_means,
           {momentum * mean.value + (1 - momentum) * old_mean,
            mean.bound * momentum + 4 * UnitOf(input.dtype) * (std::fabs(mean.value) + std::fabs(old_mean))});
      const long double unbiased = moments.variance * moments.n / (moments.n - 1);
      Push(new_vars, {momentum * unbiased + (1 - momentum) * old_var,
                      (2 * std::sqrt(moments.n) + 14) * UnitOf(input.dtype) *
                          (std::sqrt(moments.variance * (moments.variance + moments.mean * moments.mean)) * moments.n /
                               (moments.n - 1) +
                           unbiased + std::fabs(old_var))});
    } else {
      moments = {running_mean.tensor.Get(channel), running_var.tensor.Get(channel), 1, false,
                 std::fabs(running_mean.tensor.Get(channel))};
    }
    for (std::size_t i = 0; i < members.size(); ++i) {
      const Element element =
          Normalised(input.dtype, members[i], moments, eps, ElementOr(weight, channel, 1), ElementOr(bias, channel, 0));
      out.values[static_cast<std::size_t>(places[i])] = element.value;
      out.bounds[static_cast<std::size_t>(places[i])] = std::isnan(element.bound) ? kAnything : element.bound;
    }
  }
  Expected expected = Only(std::move(out));
  if (native) {
    expected.tensors.push_back(std::move(means));
    expected.tensors.push_back(std::move(rstds));
  }
  if (training && running_mean.kind == PL_TENSOR) {
    // They come after input, weight and bias.
    const int first = 1 + (weight.kind == PL_TENSOR ? 1 : 0) + (bias.kind == PL_TENSOR ? 1 : 0);
    expected.changed[first] = std::move(new_means);
    expected.changed[first + 1] = std::move(new_vars);
  }
  return expected;
}

}  // namespace

void AddNormalisation(Oracles& oracles) {
  oracles["layer_norm"] = [](const OperatorCall& call) { return LayerNorm(call, false); };
  oracles["native_layer_norm"] = [](const OperatorCall& call) { return LayerNorm(call, true); };
  oracles["batch_norm"] = [](const OperatorCall& call) { return BatchNorm(call, false); };
  oracles["native_batch_norm"] = [](const OperatorCall& call) { return BatchNorm(call, true); };
}

}  // namespace plumbline::suites
