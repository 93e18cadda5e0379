#include "conformance/suites/operators/oracle.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "conformance/suites/operators/oracle_elements.h"
#include "conformance/suites/operators/oracle_families.h"
#include "conformance/suites/operators/variants.h"
#include "spec/abi/error.h"
#include "spec/tables/operators.h"

namespace plumbline::suites {
namespace {

const Oracles& All() {
  static const auto& all = *[] {
    auto* made = new Oracles;
    AddElementwise(*made);
    AddPointwise(*made);
    AddReductions(*made);
    AddSelections(*made);
    AddStatistics(*made);
    AddMatrix(*made);
    AddSoftmax(*made);
    AddNormalisation(*made);
    AddViews(*made);
    AddCopying(*made);
    AddJoining(*made);
    AddIndexing(*made);
    AddFactories(*made);
    AddConvolution(*made);
    AddLosses(*made);
    AddRandom(*made);
    // What writes in place in a way of its own; its first tensor is what it writes. [OPER-036]
    for (auto& [name, oracle] : *made) {
      if (tables::FindOperator("aten::" + name)->variant != tables::Variant::kInPlace) continue;
      oracle = [own = std::move(oracle)](const OperatorCall& call) {
        Expected expected = own(call);
        if (!OverlapsPartly(TensorsOf(call), 0)) return expected;
        if (!expected.refused()) return Refused(kOverlapsPartly);
        expected.errors.push_back(PL_ERROR_INVALID_ARGUMENT);
        return expected;
      };
    }
    for (const Variant& variant : Variants()) {
      const auto base = made->find(variant.base);
      if (base == made->end()) continue;
      (*made)[variant.name] = [&variant, &of = base->second](const OperatorCall& call) {
        return ExpectedOf(variant, of, call);
      };
    }
    return made;
  }();
  return all;
}

bool IsNear(std::uint32_t dtype, long double expected, long double bound, long double got) {
  if (std::isinf(bound)) return true;
  if (std::isnan(expected)) return std::isnan(got);
  if (std::isnan(got)) return false;
  if (std::isinf(expected)) return expected == got;
  if (!IsFloating(dtype)) return got == expected || std::fabs(got - expected) <= bound;
  long double rounded = RoundTo(dtype, expected);
  // [OPER-060] What was computed in float64 may come to 16 bits by way of float32.
  if (dtype == PL_DTYPE_FLOAT16 || dtype == PL_DTYPE_BFLOAT16) {
    const long double twice = RoundTo(dtype, RoundTo(PL_DTYPE_FLOAT32, expected));
    if (twice == got) rounded = twice;
  }
  if (bound == 0) return got == rounded && (got != 0 || std::signbit(got) == std::signbit(rounded));
  if (got == rounded) return true;
  // Beyond the greatest number is infinity: as near as the next one would be.
  if (std::isinf(got)) {
    const long double edge = Greatest(dtype) + UlpOf(dtype, Greatest(dtype));
    return std::signbit(got) == std::signbit(expected) && std::fabs(expected) + bound >= edge;
  }
  return std::fabs(got - expected) <= bound + UlpOf(dtype, expected) / 2;
}

}  // namespace

std::optional<std::string> CompareElements(const ExpectedTensor& expected, const HostTensor& got) {
  for (std::int64_t i = 0; i < got.numel(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const long double bound = expected.bounds.empty() ? 0 : expected.bounds[at];
    const long double value = got.Get(i);
    const bool one_of = at < expected.any_of.size() && !expected.any_of[at].empty();
    if (one_of && std::any_of(expected.any_of[at].begin(), expected.any_of[at].end(),
                              [&](long double choice) { return IsNear(expected.dtype, choice, 0, value); })) {
      continue;
    }
    if (!one_of && IsNear(expected.dtype, expected.values[at], bound, value)) continue;
    Sizes index(expected.sizes.size());
    std::int64_t rest = i;
    for (std::size_t d = index.size(); d-- > 0;) {
      index[d] = rest % expected.sizes[d];
      rest /= expected.sizes[d];
    }
    if (one_of) {
      std::vector<std::string> choices;
      for (const long double choice : expected.any_of[at]) choices.push_back(Number(choice));
      return fmt::format("element [{}] is {}, none of {}", fmt::join(index, ", "), Number(value),
                         fmt::join(choices, ", "));
    }
    std::string text = fmt::format("element [{}] is {}, not {}", fmt::join(index, ", "), Number(value),
                                   Number(RoundTo(expected.dtype, expected.values[at])));
    if (bound > 0 && std::isfinite(value)) {
      text += fmt::format(": off by {:.3g}, where {:.3g} is allowed",
                          static_cast<double>(std::fabs(value - expected.values[at])), static_cast<double>(bound));
    }
    return text;
  }
  return std::nullopt;
}

const Oracle* OracleFor(std::string_view name) {
  const auto found = All().find(name);
  return found == All().end() ? nullptr : &found->second;
}

std::vector<std::string> OracleNames() {
  std::vector<std::string> names;
  for (const auto& [name, oracle] : All()) names.push_back(name);
  return names;
}

bool IsAbsent(const Expected& expected, const OperatorOutcome& outcome) {
  const std::uint32_t error = outcome.error_class;
  if (error == PL_ERROR_NO_KERNEL || error == PL_ERROR_NOT_FOUND || error == PL_ERROR_UNSUPPORTED) return true;
  return error == PL_ERROR_NO_DTYPE &&
         std::find(expected.errors.begin(), expected.errors.end(), PL_ERROR_NO_DTYPE) == expected.errors.end();
}

std::optional<std::string> Compare(const Expected& expected, const OperatorOutcome& outcome) {
  if (expected.refused()) {
    if (std::find(expected.errors.begin(), expected.errors.end(), outcome.error_class) != expected.errors.end()) {
      return std::nullopt;
    }
    std::vector<std::string_view> classes;
    for (const std::uint32_t one : expected.errors) classes.push_back(abi::ErrorClassSpelling(one));
    const std::string due = fmt::format("it is to be refused as {}: {}", fmt::join(classes, " or "), expected.why);
    if (outcome.error_class == PL_ERROR_NONE) return due + "; it is accepted";
    return fmt::format("{}; the error is {}: {}", due, abi::ErrorClassSpelling(outcome.error_class), outcome.message);
  }
  if (outcome.error_class != PL_ERROR_NONE) {
    return fmt::format("it is refused as {}: {}", abi::ErrorClassSpelling(outcome.error_class), outcome.message);
  }
  if (expected.value) {
    if (outcome.results.size() != 1 || outcome.results[0].kind != expected.value->kind ||
        Describe(outcome.results[0]) != Describe(*expected.value)) {
      return fmt::format("it returns {}, not {}", outcome.results.empty() ? "nothing" : Describe(outcome.results[0]),
                         Describe(*expected.value));
    }
    return std::nullopt;
  }
  if (outcome.tensors.size() != expected.tensors.size()) {
    return fmt::format("it returns {} tensors, not {}", outcome.tensors.size(), expected.tensors.size());
  }
  for (std::size_t i = 0; i < expected.tensors.size(); ++i) {
    const ExpectedTensor& due = expected.tensors[i];
    const ReturnedTensor& got = outcome.tensors[i];
    const std::string which = expected.tensors.size() == 1 ? "the result" : fmt::format("result {}", i);
    if (got.tensor.dtype != due.dtype && got.tensor.dtype != due.or_dtype) {
      return fmt::format("{} is of {}, not {}", which, DtypeSpelling(got.tensor.dtype), DtypeSpelling(due.dtype));
    }
    if (got.tensor.sizes != due.sizes) {
      return fmt::format("{} has the shape [{}], not [{}]", which, fmt::join(got.tensor.sizes, ", "),
                         fmt::join(due.sizes, ", "));
    }
    for (std::size_t d = 0; due.strides && got.tensor.numel() > 0 && d < due.sizes.size(); ++d) {
      if (due.sizes[d] > 1 && got.strides[d] != (*due.strides)[d]) {
        return fmt::format("{} has the strides [{}], not [{}]", which, fmt::join(got.strides, ", "),
                           fmt::join(*due.strides, ", "));
      }
    }
    if (due.same_as >= 0 && got.same_as != due.same_as) {
      return fmt::format("{} is not tensor argument {} itself", which, due.same_as);
    }
    if (due.shares_with >= 0 && got.shares_with != due.shares_with) {
      return fmt::format("{} does not share the memory of tensor argument {}", which, due.shares_with);
    }
    if (due.own_memory && due.same_as < 0 && due.shares_with < 0 && got.shares_with >= 0 && got.tensor.numel() > 0) {
      return fmt::format("{} shares the memory of tensor argument {}", which, got.shares_with);
    }
    if (got.tensor.device == kMeta) continue;
    if (const auto wrong = CompareElements(due, got.tensor)) return which + ": " + *wrong;
  }
  return std::nullopt;
}

}  // namespace plumbline::suites
