#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include "conformance/suites/operators/oracle_elements.h"
#include "conformance/suites/operators/oracle_families.h"
#include "conformance/suites/operators/promotion.h"

namespace plumbline::suites {
namespace {

using OnReals = long double (*)(long double);

// A real number's correctly rounded result; the operation itself is exact but for the rounding of `value` to 64 bits.
Element Exact(std::uint32_t dtype, long double value) { return {RoundTo(dtype, value), 0}; }

long double Sigmoid(long double x) { return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x)); }

// A square root or a quotient: correctly rounded, in the machine's own arithmetic, since rounding twice is not.
Element Rounded(std::uint32_t dtype, long double x, OnReals f) {
  if (dtype == PL_DTYPE_FLOAT64) {
    const bool is_root = f(4) == 2;
    return {is_root ? std::sqrt(static_cast<double>(x)) : 1 / static_cast<double>(x), 0};
  }
  return Exact(dtype, f(x));
}

// In float32 for integers, within so many ulps; 0: correctly rounded.
struct Transcendental {
  const char* name;
  OnReals f;
  long double ulps;
};
const Transcendental kTranscendental[] = {
    {"exp", [](long double x) { return std::exp(x); }, 2},
    {"exp2", [](long double x) { return std::exp2(x); }, 2},
    {"expm1", [](long double x) { return std::expm1(x); }, 2},
    {"log", [](long double x) { return std::log(x); }, 2},
    {"log2", [](long double x) { return std::log2(x); }, 2},
    {"log10", [](long double x) { return std::log10(x); }, 2},
    {"log1p", [](long double x) { return std::log1p(x); }, 2},
    {"sqrt", [](long double x) { return std::sqrt(x); }, 0},
    {"rsqrt", [](long double x) { return 1 / std::sqrt(x); }, 2},
    {"sin", [](long double x) { return std::sin(x); }, 2},
    {"cos", [](long double x) { return std::cos(x); }, 2},
    {"tan", [](long double x) { return std::tan(x); }, 4},
    {"asin", [](long double x) { return std::asin(x); }, 3},
    {"acos", [](long double x) { return std::acos(x); }, 3},
    {"atan", [](long double x) { return std::atan(x); }, 2},
    {"sinh", [](long double x) { return std::sinh(x); }, 3},
    {"cosh", [](long double x) { return std::cosh(x); }, 3},
    {"tanh", [](long double x) { return std::tanh(x); }, 2},
    {"sigmoid", &Sigmoid, 4},
    {"erf", [](long double x) { return std::erf(x); }, 2},
    {"erfc", [](long double x) { return std::erfc(x); }, 4},
    {"reciprocal", [](long double x) { return 1 / x; }, 0},
};

long double SignOf(long double x) { return x > 0 ? 1.0L : x < 0 ? -1.0L : std::isnan(x) ? 0.0L : 0.0L; }

struct ExactUnary {
  const char* name;
  OnReals f;
  bool bools;  // takes bool too
  bool either_zero = false;
};
const ExactUnary kExactUnary[] = {
    {"abs", [](long double x) { return std::fabs(x); }, true},
    {"neg", [](long double x) { return -x; }, false},
    {"sign", &SignOf, true},
    {"floor", [](long double x) { return std::floor(x); }, false},
    {"ceil", [](long double x) { return std::ceil(x); }, false},
    {"round", [](long double x) { return std::nearbyint(x); }, false},
    {"trunc", [](long double x) { return std::trunc(x); }, false},
    {"relu", [](long double x) { return std::isnan(x) ? x
                                        : x > 0       ? x
                                                      : 0.0L; }, false, true},
};

template <class OnIntegers, class OnFloats>
Element Arithmetic(std::uint32_t dtype, const OnIntegers& integers, const OnFloats& floats) {
  if (dtype == PL_DTYPE_BOOL) return {integers() != 0 ? 1.0L : 0.0L, 0};
  if (!IsFloating(dtype)) return {Wrapped(dtype, integers()), 0};
  // Correctly rounded: by the machine where it has the dtype; the 16-bit ones have few enough digits for long double.
  if (dtype == PL_DTYPE_FLOAT64) return {floats(static_cast<double>(0)), 0};
  if (dtype == PL_DTYPE_FLOAT32) return {floats(static_cast<float>(0)), 0};
  return Exact(dtype, floats(static_cast<float>(0)));
}

Element Add(std::uint32_t dtype, const Elements& x, long double sign) {
  // x[2]: alpha
  if (IsFloating(dtype) && x[2] != 1) {
    const long double scaled = sign * x[2] * x[1];
    const long double sum = x[0] + scaled;
    // Fused or in two steps, of which the first may overflow.
    if (std::isfinite(scaled) && std::isinf(RoundTo(dtype, scaled))) return {sum, kAnything};
    return std::isfinite(sum) ? Element{sum, UlpOf(dtype, sum) + UlpOf(dtype, scaled)} : Element{sum, 0};
  }
  return Arithmetic(
      dtype, [&] { return ToWide(x[0]) + static_cast<Wide>(sign) * ToWide(x[2]) * ToWide(x[1]); },
      [&](auto zero) -> long double {
        using T = decltype(zero);
        return static_cast<T>(x[0]) + static_cast<T>(sign) * static_cast<T>(x[1]);
      });
}

Element Multiply(std::uint32_t dtype, const Elements& x) {
  return Arithmetic(
      dtype, [&] { return ToWide(x[0]) * ToWide(x[1]); },
      [&](auto zero) -> long double {
        using T = decltype(zero);
        return static_cast<T>(x[0]) * static_cast<T>(x[1]);
      });
}

Element Divide(std::uint32_t dtype, const Elements& x) {
  return Arithmetic(
      dtype, [] { return Wide{0}; },
      [&](auto zero) -> long double {
        using T = decltype(zero);
        return static_cast<T>(x[0]) / static_cast<T>(x[1]);
      });
}

Element Extreme(std::uint32_t, const Elements& x, bool greatest) {
  if (std::isnan(x[0]) || std::isnan(x[1])) return {kNan, 0};
  return {greatest ? std::fmax(x[0], x[1]) : std::fmin(x[0], x[1]), x[0] == 0 && x[1] == 0 ? kEitherZero : 0};
}

struct Comparison {
  const char* name;
  bool (*f)(long double, long double);
};
const Comparison kComparisons[] = {
    {"eq", [](long double a, long double b) { return a == b; }},
    {"ne", [](long double a, long double b) { return a != b; }},
    {"lt", [](long double a, long double b) { return a < b; }},
    {"le", [](long double a, long double b) { return a <= b; }},
    {"gt", [](long double a, long double b) { return a > b; }},
    {"ge", [](long double a, long double b) { return a >= b; }},
};

struct Bitwise {
  const char* name;
  Wide (*f)(Wide, Wide);
};
const Bitwise kBitwise[] = {
    {"bitwise_and", [](Wide a, Wide b) { return a & b; }},
    {"bitwise_or", [](Wide a, Wide b) { return a | b; }},
    {"bitwise_xor", [](Wide a, Wide b) { return a ^ b; }},
};

}  // namespace

void AddElementwise(Oracles& oracles) {
  for (const Transcendental& one : kTranscendental) {
    oracles[one.name] = [&one](const OperatorCall& call) {
      const std::uint32_t dtype = FloatOr(call.arguments[0].tensor.dtype);
      return Map(FirstOf(call, 1), dtype, dtype, [&](std::uint32_t compute, const Elements& x) {
        if (one.ulps == 0) return Rounded(compute, x[0], one.f);
        return Within(compute, one.f(x[0]), one.ulps);
      });
    };
  }
  for (const ExactUnary& one : kExactUnary) {
    oracles[one.name] = [&one](const OperatorCall& call) {
      const std::uint32_t dtype = call.arguments[0].tensor.dtype;
      if (dtype == PL_DTYPE_BOOL && !one.bools) {
        return Expected::Refused(PL_ERROR_NO_DTYPE, "it is not defined for bool");
      }
      return Map(FirstOf(call, 1), dtype, dtype, [&](std::uint32_t compute, const Elements& x) -> Element {
        if (IsFloating(compute)) return {RoundTo(compute, one.f(x[0])), one.either_zero && x[0] == 0 ? kEitherZero : 0};
        if (compute == PL_DTYPE_BOOL) return {x[0], 0};
        return {Wrapped(compute, ToWide(one.f(x[0]))), 0};
      });
    };
  }
  for (const char* overload : {"Tensor", "Scalar"}) {
    const std::string dot = std::string(".") + overload;
    for (const bool subtract : {false, true}) {
      oracles[(subtract ? "sub" : "add") + dot] = [subtract](const OperatorCall& call) {
        const Operands two = FirstOf(call, 2);
        const std::uint32_t dtype = CommonDtype(two);
        const Argument& alpha = call.arguments[2];
        const auto is_bool = [](const Argument* one) {
          return one->kind == PL_BOOL || (one->kind == PL_TENSOR && one->tensor.dtype == PL_DTYPE_BOOL);
        };
        if (subtract && (is_bool(two[0]) || is_bool(two[1]))) {
          return Expected{{PL_ERROR_INVALID_ARGUMENT, PL_ERROR_NO_DTYPE}, "bools are not subtracted", {}};
        }
        if (alpha.kind == PL_FLOAT && !IsFloating(dtype)) {
          return Expected::Refused(PL_ERROR_INVALID_ARGUMENT, "alpha is floating, the result is not");
        }
        if (alpha.kind == PL_BOOL && dtype != PL_DTYPE_BOOL) {
          return Expected::Refused(PL_ERROR_INVALID_ARGUMENT, "alpha is a bool, the result is not");
        }
        return Map(FirstOf(call, 3), dtype, dtype,
                   [&](std::uint32_t compute, const Elements& x) { return Add(compute, x, subtract ? -1 : 1); });
      };
    }
    oracles["mul" + dot] = [](const OperatorCall& call) {
      const Operands two = FirstOf(call, 2);
      const std::uint32_t dtype = CommonDtype(two);
      return Map(two, dtype, dtype, &Multiply);
    };
    oracles["div" + dot] = [](const OperatorCall& call) {
      const Operands two = FirstOf(call, 2);
      const std::uint32_t dtype = FloatOr(CommonDtype(two));
      return Map(two, dtype, dtype, &Divide);
    };
    for (const Comparison& one : kComparisons) {
      oracles[one.name + dot] = [&one](const OperatorCall& call) {
        const Operands two = FirstOf(call, 2);
        return Map(two, CommonDtype(two), PL_DTYPE_BOOL, [&](std::uint32_t, const Elements& x) -> Element {
          return {one.f(x[0], x[1]) ? 1.0L : 0.0L, 0};
        });
      };
    }
    for (const Bitwise& one : kBitwise) {
      oracles[one.name + dot] = [&one](const OperatorCall& call) {
        const Operands two = FirstOf(call, 2);
        const std::uint32_t dtype = CommonDtype(two);
        if (IsFloating(dtype)) {
          return NoDtype("it is for integers and bools");
        }
        return Map(two, dtype, dtype, [&](std::uint32_t compute, const Elements& x) -> Element {
          return {Wrapped(compute, one.f(ToWide(x[0]), ToWide(x[1]))), 0};
        });
      };
    }
  }
  for (const bool greatest : {false, true}) {
    oracles[greatest ? "maximum" : "minimum"] = [greatest](const OperatorCall& call) {
      const Operands two = FirstOf(call, 2);
      const std::uint32_t dtype = CommonDtype(two);
      return Map(two, dtype, dtype,
                 [&](std::uint32_t compute, const Elements& x) { return Extreme(compute, x, greatest); });
    };
  }
}

}  // namespace plumbline::suites
