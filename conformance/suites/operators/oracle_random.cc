#include <cmath>
#include <cstddef>
#include <string>
#include <utility>

#include "conformance/suites/operators/oracle_elements.h"
#include "conformance/suites/operators/oracle_families.h"

namespace plumbline::suites {
namespace {

// Of random numbers the oracle knows the range: how they are distributed is not asked here.
Element From(std::uint32_t dtype, long double from, long double to) {
  // The end itself is outside: what is just below it is the last.
  const long double last = to - UlpOf(dtype, to) / 2;
  return {(from + last) / 2, (last - from) / 2};
}

Expected Filled(std::uint32_t dtype, const Sizes& sizes, const Element& element) {
  ExpectedTensor out{.dtype = dtype, .sizes = sizes, .values = {}, .bounds = {}};
  out.values.assign(static_cast<std::size_t>(NumelOf(sizes)), element.value);
  out.bounds.assign(out.values.size(), element.bound);
  return Only(std::move(out));
}

Expected OneOf(std::uint32_t dtype, const Sizes& sizes, const std::vector<long double>& choices) {
  Expected expected = Filled(dtype, sizes, {});
  expected.tensors[0].any_of.assign(expected.tensors[0].values.size(), choices);
  return expected;
}

Sizes IntsOf(const Argument& list) {
  Sizes values;
  for (const Argument& item : list.items) values.push_back(item.integer);
  return values;
}

Expected Factory(const OperatorCall& call, bool normal) {
  const std::uint32_t dtype = GivenOr(call.arguments[1], PL_DTYPE_FLOAT32);
  if (!IsFloating(dtype)) return NoDtype("random numbers are floating");
  return Filled(dtype, IntsOf(call.arguments[0]), normal ? Element{0, kAnything} : From(dtype, 0, 1));
}

Expected Integers(const OperatorCall& call) {
  const std::int64_t low = call.arguments[0].integer, high = call.arguments[1].integer;
  const std::uint32_t dtype = GivenOr(call.arguments[3], PL_DTYPE_INT64);
  if (low >= high) return Refused("there is no number from low on and below high");
  // Of many numbers the range is enough.
  if (__int128{high} - low > 4096) {
    const long double first = static_cast<long double>(low), last = static_cast<long double>(high) - 1;
    return Filled(dtype, IntsOf(call.arguments[2]), {(first + last) / 2, (last - first) / 2});
  }
  std::vector<long double> choices;
  for (std::int64_t value = low; value < high; ++value) choices.push_back(static_cast<long double>(value));
  return OneOf(dtype, IntsOf(call.arguments[2]), choices);
}

Expected InPlace(Expected expected) {
  expected.tensors[0].same_as = 0;
  return expected;
}

bool OverlapsItself(const HostTensor& self) {
  for (std::size_t d = 0; d < self.sizes.size(); ++d) {
    if (self.numel() > 1 && self.sizes[d] > 1 && self.strides[d] == 0) return true;
  }
  return false;
}

Expected Dropout(const OperatorCall& call, bool native) {
  const HostTensor& input = call.arguments[0].tensor;
  const long double p = call.arguments[1].real;
  const bool train = call.arguments[2].integer != 0;
  if (p < 0 || p > 1) return Refused("p is outside of 0 to 1");
  if (!IsFloating(input.dtype)) return NoDtype("it is defined for floating dtypes only");
  ExpectedTensor out = Copied(input);
  ExpectedTensor mask{.dtype = PL_DTYPE_BOOL, .sizes = input.sizes, .values = {}, .bounds = {}};
  for (const long double value : out.values) {
    mask.any_of.push_back(train ? std::vector<long double>{0, 1} : std::vector<long double>{1});
    mask.values.push_back(1);
    if (!train) continue;
    const auto scale = static_cast<double>(1 / (1 - p));
    // Divided, or multiplied with the reciprocal as the dtype has it.
    out.any_of.push_back(
        {0, -0.0L, value / (1 - p), value * RoundTo(input.dtype, scale), value * RoundTo(PL_DTYPE_FLOAT32, scale)});
  }
  if (!native && (!train || p == 0 || input.numel() == 0)) {
    out.same_as = 0;
    out.written = false;
  }
  Expected expected = Only(std::move(out));
  if (native) expected.tensors.push_back(std::move(mask));
  return expected;
}

}  // namespace

void AddRandom(Oracles& oracles) {
  oracles["rand"] = [](const OperatorCall& call) { return Factory(call, false); };
  oracles["randn"] = [](const OperatorCall& call) { return Factory(call, true); };
  oracles["randint.low"] = &Integers;
  oracles["uniform_"] = [](const OperatorCall& call) {
    const HostTensor& self = call.arguments[0].tensor;
    const long double from = call.arguments[1].real, to = call.arguments[2].real;
    if (to < from) return Refused("to is below from");
    if (OverlapsItself(self)) return Refused("the written tensor overlaps itself");
    if (!IsFloating(self.dtype)) return NoDtype("random numbers are floating");
    return InPlace(Filled(self.dtype, self.sizes, From(self.dtype, from, to)));
  };
  oracles["normal_"] = [](const OperatorCall& call) {
    const HostTensor& self = call.arguments[0].tensor;
    if (call.arguments[2].real < 0) return Refused("the deviation is below 0");
    if (OverlapsItself(self)) return Refused("the written tensor overlaps itself");
    if (!IsFloating(self.dtype)) return NoDtype("random numbers are floating");
    return InPlace(Filled(self.dtype, self.sizes, {0, kAnything}));
  };
  oracles["bernoulli_.float"] = [](const OperatorCall& call) {
    const HostTensor& self = call.arguments[0].tensor;
    const long double p = call.arguments[1].real;
    if (p < 0 || p > 1) return Refused("p is outside of 0 to 1");
    if (OverlapsItself(self)) return Refused("the written tensor overlaps itself");
    return InPlace(OneOf(self.dtype, self.sizes, {0, 1}));
  };
  oracles["native_dropout"] = [](const OperatorCall& call) { return Dropout(call, true); };
  oracles["dropout"] = [](const OperatorCall& call) { return Dropout(call, false); };
}

}  // namespace plumbline::suites
