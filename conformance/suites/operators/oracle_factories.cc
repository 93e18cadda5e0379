#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "conformance/suites/operators/oracle_elements.h"
#include "conformance/suites/operators/oracle_families.h"

namespace plumbline::suites {
namespace {

Sizes IntsOf(const Argument& list) {
  Sizes values;
  for (const Argument& item : list.items) values.push_back(item.integer);
  return values;
}

std::uint32_t DtypeOfScalar(const Argument& scalar) {
  return scalar.kind == PL_BOOL ? PL_DTYPE_BOOL : scalar.kind == PL_INT ? PL_DTYPE_INT64 : PL_DTYPE_FLOAT32;
}

bool HasNegative(const Sizes& sizes) {
  return std::any_of(sizes.begin(), sizes.end(), [](std::int64_t size) { return size < 0; });
}

Expected Filled(std::uint32_t dtype, const Sizes& sizes, const Element& element, std::optional<Sizes> strides) {
  if (HasNegative(sizes)) return Refused("a size is negative");
  ExpectedTensor out{.dtype = dtype, .sizes = sizes, .values = {}, .bounds = {}};
  out.values.assign(static_cast<std::size_t>(NumelOf(sizes)), element.value);
  out.bounds.assign(out.values.size(), element.bound);
  out.strides = std::move(strides);
  return Only(std::move(out));
}

constexpr Element kAny{0, kAnything};

// Of size, and how the elements are: the arguments after are dtype, layout, device, pin_memory.
Oracle OfSize(std::size_t dtype_at, std::uint32_t otherwise, std::function<Element(const OperatorCall&)> element,
              std::optional<std::size_t> format_at = std::nullopt) {
  return [=](const OperatorCall& call) {
    const Sizes sizes = IntsOf(call.arguments[0]);
    if (HasNegative(sizes)) return Refused("a size is negative");
    std::int64_t format = kContiguousFormat;
    if (format_at && call.arguments[*format_at].kind == PL_INT) format = call.arguments[*format_at].integer;
    if (format == kPreserveFormat) return Refused("there is no layout to preserve");
    const std::optional<Sizes> strides = StridesIn(sizes, format);
    if (!strides) return Refused("a memory format for another number of dimensions");
    const std::uint32_t scalar = dtype_at == 2 ? DtypeOfScalar(call.arguments[1]) : otherwise;
    const std::uint32_t dtype = GivenOr(call.arguments[dtype_at], scalar);
    if (dtype_at == 2 && !Holds(dtype, call.arguments[1])) return Refused(kDoesNotFit);
    Element one = element(call);
    if (one.bound == 0) one = ConvertedScalar(dtype, one.value);
    return Filled(dtype, sizes, one, strides);
  };
}

// Like self: dtype after what is given first.
Oracle Like(std::size_t dtype_at, std::function<Element(const OperatorCall&)> element) {
  return [=](const OperatorCall& call) {
    const HostTensor& self = call.arguments[0].tensor;
    const std::uint32_t dtype = GivenOr(call.arguments[dtype_at], self.dtype);
    if (dtype_at == 2 && !Holds(dtype, call.arguments[1])) return Refused(kDoesNotFit);
    Element one = element(call);
    if (one.bound == 0) one = ConvertedScalar(dtype, one.value);
    return Filled(dtype, self.sizes, one, std::nullopt);
  };
}

Expected Range(const Argument& start, const Argument& end, const Argument& step, const Argument& given) {
  const bool integers = start.kind != PL_FLOAT && end.kind != PL_FLOAT && step.kind != PL_FLOAT;
  const std::uint32_t dtype = GivenOr(given, integers ? PL_DTYPE_INT64 : PL_DTYPE_FLOAT32);
  const long double from = NumberOf(start), to = NumberOf(end), by = NumberOf(step);
  if (by == 0) return Refused("the step is 0");
  if ((by > 0 && to < from) || (by < 0 && to > from)) return Refused("the step is of the wrong sign");
  const auto count = static_cast<std::int64_t>(std::ceil(static_cast<double>(to - from) / static_cast<double>(by)));
  ExpectedTensor out{.dtype = dtype, .sizes = {count}, .values = {}, .bounds = {}, .strides = Sizes{1}};
  const long double bound =
      IsFloating(dtype) && !integers ? 2 * UlpOf(dtype, std::max({std::fabs(from), std::fabs(to), std::fabs(by)})) : 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const long double value = from + static_cast<long double>(i) * by;
    out.values.push_back(IsFloating(dtype) ? value : CastTo(dtype, value));
    out.bounds.push_back(bound);
  }
  return Only(std::move(out));
}

Expected Linspace(const OperatorCall& call) {
  const long double start = NumberOf(call.arguments[0]), end = NumberOf(call.arguments[1]);
  const std::int64_t steps = call.arguments[2].integer;
  const std::uint32_t dtype = GivenOr(call.arguments[3], PL_DTYPE_FLOAT32);
  if (steps < 0) return Refused("there is a negative number of steps");
  ExpectedTensor out{.dtype = dtype, .sizes = {steps}, .values = {}, .bounds = {}, .strides = Sizes{1}};
  const long double bound = 4 * UlpOf(dtype, std::max(std::fabs(start), std::fabs(end)));
  for (std::int64_t i = 0; i < steps; ++i) {
    const bool ends = i == 0 || i == steps - 1;
    const long double share = steps > 1 ? static_cast<long double>(i) / static_cast<long double>(steps - 1) : 0;
    out.values.push_back(i == 0 ? start : ends ? end : start + share * (end - start));
    out.bounds.push_back(ends ? 0 : bound);
  }
  return Only(std::move(out));
}

Expected Eye(const OperatorCall& call) {
  const std::int64_t n = call.arguments[0].integer, m = call.arguments[1].integer;
  if (n < 0 || m < 0) return Refused("a size is negative");
  ExpectedTensor out{
      .dtype = GivenOr(call.arguments[2], PL_DTYPE_FLOAT32), .sizes = {n, m}, .values = {}, .bounds = {}};
  for (std::int64_t i = 0; i < n * m; ++i) out.values.push_back(i / m == i % m ? 1 : 0);
  return Only(std::move(out));
}

}  // namespace

void AddFactories(Oracles& oracles) {
  const auto constant = [](long double value) { return [value](const OperatorCall&) { return Element{value, 0}; }; };
  const auto any = [](const OperatorCall&) { return kAny; };
  const auto given = [](const OperatorCall& call) { return Element{NumberOf(call.arguments[1]), 0}; };
  oracles["empty.memory_format"] = OfSize(1, PL_DTYPE_FLOAT32, any, 5);
  oracles["zeros"] = OfSize(1, PL_DTYPE_FLOAT32, constant(0));
  oracles["ones"] = OfSize(1, PL_DTYPE_FLOAT32, constant(1));
  oracles["full"] = OfSize(2, PL_DTYPE_FLOAT32, given);
  oracles["empty_like"] = Like(1, any);
  oracles["zeros_like"] = Like(1, constant(0));
  oracles["ones_like"] = Like(1, constant(1));
  oracles["full_like"] = Like(2, given);
  oracles["empty_strided"] = [](const OperatorCall& call) {
    const Sizes sizes = IntsOf(call.arguments[0]), strides = IntsOf(call.arguments[1]);
    if (sizes.size() != strides.size()) return Refused("sizes and strides differ in number");
    if (HasNegative(strides)) return Refused("a stride is negative");
    return Filled(GivenOr(call.arguments[2], PL_DTYPE_FLOAT32), sizes, kAny, strides);
  };
  oracles["arange"] = [](const OperatorCall& call) {
    return Range(Argument::Int(0), call.arguments[0], Argument::Int(1), call.arguments[1]);
  };
  oracles["arange.start"] = [](const OperatorCall& call) {
    return Range(call.arguments[0], call.arguments[1], Argument::Int(1), call.arguments[2]);
  };
  oracles["arange.start_step"] = [](const OperatorCall& call) {
    return Range(call.arguments[0], call.arguments[1], call.arguments[2], call.arguments[3]);
  };
  oracles["linspace"] = &Linspace;
  oracles["eye.m"] = &Eye;
  oracles["scalar_tensor"] = [](const OperatorCall& call) {
    const std::uint32_t dtype = GivenOr(call.arguments[1], PL_DTYPE_FLOAT32);
    return Filled(dtype, {}, ConvertedScalar(dtype, NumberOf(call.arguments[0])), std::nullopt);
  };
}

}  // namespace plumbline::suites
