#include <cmath>
#include <string>
#include <utility>

#include "conformance/suites/operators/broadcast.h"
#include "conformance/suites/operators/oracle_elements.h"
#include "conformance/suites/operators/oracle_families.h"
#include "conformance/suites/operators/promotion.h"

namespace plumbline::suites {
namespace {

// In the dtype that is computed in.
bool HasZero(const HostTensor& tensor, std::uint32_t dtype) {
  for (std::int64_t i = 0; i < tensor.numel(); ++i) {
    if (CastTo(dtype, tensor.Get(i)) == 0) return true;
  }
  return false;
}

// Of the quotient a / b; the division of integers is by the one that rounds so.
enum class Rounding { kFloor, kTrunc };

Element Quotient(std::uint32_t dtype, long double a, long double b, Rounding rounding) {
  if (!IsFloating(dtype)) {
    if (b == 0) return {0, kAnything};
    const Wide wa = ToWide(a), wb = ToWide(b);
    Wide quotient = wa / wb;
    if (rounding == Rounding::kFloor && wa % wb != 0 && (wa < 0) != (wb < 0)) --quotient;
    return {Wrapped(dtype, quotient), 0};
  }
  if (std::isnan(a) || std::isnan(b) || b == 0 || std::isinf(a)) {
    if (rounding == Rounding::kFloor && std::isinf(a) && b != 0) return {kNan, kAnything};  // the remainder is NaN
    return {a / b, 0};
  }
  if (std::isinf(b)) {
    const bool below = a != 0 && std::signbit(a) != std::signbit(b);
    return {rounding == Rounding::kFloor && below ? -1 : a / b, 0};
  }
  // Whole numbers below 2^63 come out exactly: the remainder is exact, and the rest a multiple of b.
  const long double rest = std::fmod(a, b);
  long double quotient = std::nearbyint((a - rest) / b);
  const long double rounded = RoundTo(dtype, a / b);
  if (rounding == Rounding::kTrunc) {
    // Of the quotient as the dtype has it, or of the true one: a kernel may do either.
    const long double nearby = std::trunc(rounded);
    if (std::fabs(quotient) > 0x1p62L || std::isinf(rounded))
      return {rounded, std::isinf(rounded) ? 0 : UlpOf(dtype, rounded)};
    return {nearby, nearby == quotient ? (nearby == 0 ? kEitherZero : 0) : std::fabs(nearby - quotient)};
  }
  if (rest != 0 && (rest < 0) != (b < 0)) --quotient;
  if (quotient == 0) return {std::copysign(0.0L, a / b), 0};
  // Beyond what the dtype counts in ones it is rounded, after a remainder was taken away.
  const bool counts = std::fabs(quotient) < std::ldexp(1.0L, DigitsOf(dtype));
  if (std::isinf(RoundTo(dtype, quotient)) || std::isinf(rounded)) return {rounded, kAnything};
  return {quotient, counts ? 0 : UlpOf(dtype, quotient)};
}

Element Remainder(std::uint32_t dtype, long double a, long double b, bool divisors_sign) {
  if (!IsFloating(dtype)) {
    if (b == 0) return {0, kAnything};
    const Wide wb = ToWide(b);
    Wide rest = ToWide(a) % wb;
    if (divisors_sign && rest != 0 && (rest < 0) != (wb < 0)) rest += wb;
    return {Wrapped(dtype, rest), 0};
  }
  long double rest = std::fmod(a, b);
  if (std::isnan(rest)) return {rest, 0};
  if (divisors_sign && rest != 0 && (rest < 0) != (b < 0)) {
    // An infinite divisor of the other sign: the rest is a whole one of them away.
    if (std::isinf(b)) return {b, 0};
    rest = dtype == PL_DTYPE_FLOAT64 ? static_cast<double>(rest) + static_cast<double>(b) : rest + b;
  }
  return {rest, rest == 0 ? kEitherZero : 0};
}

Wide IntegerPower(Wide base, Wide exponent, std::uint32_t dtype) {
  if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent % 2 == 0 ? 1 : -1) : 0;
  Wide power = 1;
  while (exponent > 0) {
    if (exponent % 2 != 0) power = ToWide(Wrapped(dtype, power * base));
    base = ToWide(Wrapped(dtype, base * base));
    exponent /= 2;
  }
  return power;
}

Element Power(std::uint32_t dtype, const Elements& x) {
  if (!IsFloating(dtype)) return {Wrapped(dtype, IntegerPower(ToWide(x[0]), ToWide(x[1]), dtype)), 0};
  return Within(dtype, std::pow(x[0], x[1]), 2);
}

// self + value * a (* or /) b: c u times the sum of the magnitudes of the terms.
Element MultiplyAdd(std::uint32_t dtype, const Elements& x, const Argument& scalar, bool divide) {
  if (!IsFloating(dtype)) {
    const Wide value = ToWide(CastTo(dtype, NumberOf(scalar)));
    return {Wrapped(dtype, ToWide(x[0]) + ToWide(Wrapped(dtype, value * ToWide(x[1]))) * ToWide(x[2])), 0};
  }
  const long double value = RoundTo(ComputedIn(dtype), NumberOf(scalar));
  const long double product = divide ? x[1] / x[2] : x[1] * x[2];
  const long double term = value * product, sum = x[0] + term;
  // Where a step on the way leaves the range, in whatever order, nothing is said.
  for (const long double step : {product, term, value * x[1], sum}) {
    const bool leaves = std::isfinite(step) &&
                        (std::isinf(RoundTo(dtype, step)) || (step != 0 && std::fabs(step) < LeastNormal(dtype)));
    if (leaves) return {sum, kAnything};
  }
  if (std::isnan(product) != std::isnan(sum) && value == 0) return {sum, kAnything};
  if (!std::isfinite(sum)) return {sum, std::isinf(x[1]) || std::isinf(x[2]) || x[2] == 0 ? kAnything : 0};
  return {sum, 3 * UnitOf(dtype) * (std::fabs(x[0]) + std::fabs(term)) + LeastNormal(dtype)};
}

long double Gelu(long double x, bool tanh) {
  if (std::isinf(x)) return x > 0 ? x : 0;
  const long double pi = 3.14159265358979323846264338327950288L;
  if (tanh) return x / 2 * (1 + std::tanh(std::sqrt(2 / pi) * (x + 0.044715L * x * x * x)));
  return x / 2 * std::erfc(-x / std::sqrt(2.0L));
}

// A float32 result for integers, an elementwise operation of two.
Oracle FloatBinary(long double (*f)(long double, long double), long double ulps) {
  return [=](const OperatorCall& call) {
    const Operands two = FirstOf(call, 2);
    const std::uint32_t dtype = FloatOr(CommonDtype(two));
    return Map(two, dtype, dtype,
               [&](std::uint32_t compute, const Elements& x) { return Within(compute, f(x[0], x[1]), ulps); });
  };
}

Expected Division(const OperatorCall& call, std::string_view mode) {
  const Operands two = FirstOf(call, 2);
  const std::uint32_t dtype = CommonDtype(two);
  if (dtype == PL_DTYPE_BOOL) return NoDtype("it is not defined for bool");
  Expected expected = Map(two, dtype, dtype, [&](std::uint32_t compute, const Elements& x) {
    if (mode == "fmod" || mode == "remainder") return Remainder(compute, x[0], x[1], mode == "remainder");
    return Quotient(compute, x[0], x[1], mode == "floor" ? Rounding::kFloor : Rounding::kTrunc);
  });
  if (!expected.refused() && !IsFloating(dtype) && HasZero(call.arguments[1].tensor, dtype) &&
      !expected.tensors[0].values.empty()) {
    return RefusedByElements("an integer is divided by 0");
  }
  return expected;
}

Expected Clamp(const OperatorCall& call) {
  const Argument &least = call.arguments[1], &greatest = call.arguments[2];
  if (least.kind == PL_NONE && greatest.kind == PL_NONE) return Refused("neither min nor max is given");
  const std::uint32_t dtype = CommonDtype({&call.arguments[0], &least, &greatest});
  if (dtype == PL_DTYPE_BOOL) return NoDtype("it is not defined for bool");
  for (const Argument* bound : {&least, &greatest}) {
    if (bound->kind != PL_NONE && !Holds(dtype, *bound)) return Refused(kDoesNotFit);
  }
  return Map({&call.arguments[0]}, dtype, dtype, [&](std::uint32_t compute, const Elements& x) -> Element {
    long double value = x[0];
    if (std::isnan(value)) return {value, 0};
    if (least.kind != PL_NONE) value = std::fmax(value, CastTo(compute, NumberOf(least)));
    if (greatest.kind != PL_NONE) value = std::fmin(value, CastTo(compute, NumberOf(greatest)));
    return {value, value == 0 ? kEitherZero : 0};
  });
}

Expected Where(const OperatorCall& call) {
  const HostTensor& condition = call.arguments[0].tensor;
  if (condition.dtype != PL_DTYPE_BOOL) return Refused("the condition is not bool");
  const Operands two{&call.arguments[1], &call.arguments[2]};
  const std::uint32_t dtype = CommonDtype(two);
  const auto sizes = CommonSizes({&condition.sizes, &two[0]->tensor.sizes, &two[1]->tensor.sizes});
  if (!sizes) return Refused("the operands' shapes do not broadcast");
  ExpectedTensor out{.dtype = dtype, .sizes = *sizes, .values = {}, .bounds = {}};
  for (std::int64_t i = 0; i < NumelOf(*sizes); ++i) {
    out.values.push_back(CastTo(dtype, At(two[At(condition, *sizes, i) != 0 ? 0 : 1]->tensor, *sizes, i)));
  }
  return Only(std::move(out));
}

Oracle Logical(bool (*f)(bool, bool)) {
  return [=](const OperatorCall& call) {
    const Operands two = FirstOf(call, 2);
    return Map(two, CommonDtype(two), PL_DTYPE_BOOL, [&](std::uint32_t, const Elements& x) -> Element {
      return {f(x[0] != 0, x[1] != 0) ? 1.0L : 0.0L, 0};
    });
  };
}

Oracle Asks(bool (*f)(long double)) {
  return [=](const OperatorCall& call) {
    return Map(FirstOf(call, 1), FloatOr(call.arguments[0].tensor.dtype), PL_DTYPE_BOOL,
               [&](std::uint32_t, const Elements& x) -> Element {
                 return {f(x[0]) ? 1.0L : 0.0L, 0};
               });
  };
}

// Of floating dtypes only.
Oracle FloatUnary(std::function<Element(std::uint32_t, long double)> f) {
  return [f = std::move(f)](const OperatorCall& call) {
    const std::uint32_t dtype = call.arguments[0].tensor.dtype;
    if (!IsFloating(dtype)) return NoDtype("it is defined for floating dtypes only");
    return Map(FirstOf(call, 1), dtype, dtype,
               [&](std::uint32_t compute, const Elements& x) { return f(compute, x[0]); });
  };
}

Expected Equal(const OperatorCall& call) {
  const HostTensor &a = call.arguments[0].tensor, &b = call.arguments[1].tensor;
  if (a.dtype != b.dtype) return Refused("the dtypes differ");
  bool same = a.sizes == b.sizes;
  for (std::int64_t i = 0; same && i < a.numel(); ++i) same = a.Get(i) == b.Get(i);
  Expected expected;
  expected.value = Argument::Bool(same);
  return expected;
}

}  // namespace

void AddPointwise(Oracles& oracles) {
  oracles["where.self"] = &Where;
  oracles["clamp"] = &Clamp;
  oracles["equal"] = &Equal;
  oracles["fmod.Tensor"] = [](const OperatorCall& call) { return Division(call, "fmod"); };
  oracles["remainder.Tensor"] = [](const OperatorCall& call) { return Division(call, "remainder"); };
  oracles["floor_divide"] = [](const OperatorCall& call) { return Division(call, "floor"); };
  oracles["div.Tensor_mode"] = [divide = oracles.at("div.Tensor")](const OperatorCall& call) {
    const Argument& mode = call.arguments[2];
    if (mode.kind == PL_NONE) return divide({call.op, {call.arguments[0], call.arguments[1]}});
    if (mode.text != "floor" && mode.text != "trunc") return Refused("there is no such rounding mode");
    return Division(call, mode.text);
  };
  oracles["atan2"] = FloatBinary([](long double y, long double x) { return std::atan2(y, x); }, 2);
  oracles["pow.Tensor_Tensor"] = [](const OperatorCall& call) {
    const Operands two = FirstOf(call, 2);
    const std::uint32_t dtype = CommonDtype(two);
    if (dtype == PL_DTYPE_BOOL) return NoDtype("it is not defined for bool");
    return Map(two, dtype, dtype, &Power);
  };
  oracles["pow.Tensor_Scalar"] = [](const OperatorCall& call) {
    const Operands two = FirstOf(call, 2);
    const std::uint32_t dtype = CommonDtype(two);
    const bool negative = two[1]->kind != PL_FLOAT && two[1]->integer < 0;
    if (negative && !IsFloating(two[0]->tensor.dtype)) return Refused("an integer to a negative integer power");
    const long double exponent = NumberOf(*two[1]);
    return Map(two, dtype, dtype, [&](std::uint32_t compute, const Elements& x) {
      // The exponent as it is, or rounded as a tensor's elements are.
      Element power = Power(compute, x);
      const long double other = std::pow(x[0], RoundTo(compute, exponent)) - std::pow(x[0], exponent);
      if (IsFloating(compute) && std::isfinite(other)) power.bound += std::fabs(other);
      return power;
    });
  };
  for (const bool divide : {false, true}) {
    oracles[divide ? "addcdiv" : "addcmul"] = [divide](const OperatorCall& call) {
      const Operands three = FirstOf(call, 3);
      const std::uint32_t dtype = CommonDtype(three);
      if (dtype == PL_DTYPE_BOOL) return NoDtype("it is not defined for bool");
      if (divide && (!IsFloating(three[1]->tensor.dtype) && !IsFloating(three[2]->tensor.dtype))) {
        return Refused("integers are not divided here");
      }
      return Map(three, dtype, dtype, [&](std::uint32_t compute, const Elements& x) {
        return MultiplyAdd(compute, x, call.arguments[3], divide);
      });
    };
  }
  oracles["logical_and"] = Logical([](bool a, bool b) { return a && b; });
  oracles["logical_or"] = Logical([](bool a, bool b) { return a || b; });
  oracles["logical_xor"] = Logical([](bool a, bool b) { return a != b; });
  oracles["logical_not"] = [](const OperatorCall& call) {
    return Map(FirstOf(call, 1), PL_DTYPE_BOOL, PL_DTYPE_BOOL, [](std::uint32_t, const Elements& x) -> Element {
      return {x[0] != 0 ? 0.0L : 1.0L, 0};
    });
  };
  oracles["bitwise_not"] = [](const OperatorCall& call) {
    const std::uint32_t dtype = call.arguments[0].tensor.dtype;
    if (IsFloating(dtype)) return NoDtype("it is for integers and bools");
    return Map(FirstOf(call, 1), dtype, dtype, [](std::uint32_t compute, const Elements& x) -> Element {
      if (compute == PL_DTYPE_BOOL) return {1 - x[0], 0};
      return {Wrapped(compute, ~ToWide(x[0])), 0};
    });
  };
  oracles["isnan"] = Asks([](long double x) { return std::isnan(x); });
  oracles["isinf"] = Asks([](long double x) { return std::isinf(x); });
  oracles["isfinite"] = Asks([](long double x) { return std::isfinite(x); });
  oracles["square"] = [multiply = oracles.at("mul.Tensor")](const OperatorCall& call) {
    Argument self = call.arguments[0];
    if (self.tensor.dtype == PL_DTYPE_BOOL) {
      HostTensor wide = HostTensor::Contiguous(PL_DTYPE_INT64, self.tensor.sizes);
      for (std::int64_t i = 0; i < wide.numel(); ++i) wide.Set(i, self.tensor.Get(i));
      self.tensor = std::move(wide);
    }
    return multiply({call.op, {self, self}});
  };
  oracles["leaky_relu"] = [](const OperatorCall& call) {
    const long double slope = NumberOf(call.arguments[1]);
    return FloatUnary([slope](std::uint32_t dtype, long double x) -> Element {
      if (std::isnan(x) || x > 0) return {x, 0};
      // The 16-bit ones may compute in float32, and round the slope to that.
      const std::uint32_t computed = ComputedIn(dtype);
      const long double product = dtype == PL_DTYPE_FLOAT64 ? static_cast<double>(x) * static_cast<double>(slope)
                                                            : x * RoundTo(computed, slope);
      const long double other = x * RoundTo(dtype, slope);
      const long double apart = std::fabs(RoundTo(dtype, product) - RoundTo(dtype, other));
      return {RoundTo(dtype, product), std::isnan(apart) ? (x == 0 || std::isinf(x) ? 0 : kAnything) : apart};
    })(call);
  };
  oracles["gelu"] = [](const OperatorCall& call) {
    const std::string& approximate = call.arguments[1].text;
    if (approximate != "none" && approximate != "tanh") return Refused("there is no such approximation");
    return FloatUnary([tanh = approximate == "tanh"](std::uint32_t dtype, long double x) -> Element {
      const long double value = Gelu(x, tanh);
      if (x == -kInf || (tanh && std::isinf(RoundTo(dtype, x * x * x)))) return {value, kAnything};
      if (!std::isfinite(value)) return {value, 0};
      return {value, 4 * UnitOf(dtype) * (1 + std::fabs(x) + std::fabs(value))};
    })(call);
  };
  oracles["silu"] = FloatUnary([](std::uint32_t dtype, long double x) -> Element {
    if (x == -kInf) return {0, kAnything};
    return Within(dtype, x / (1 + std::exp(-x)), 5);
  });
}

}  // namespace plumbline::suites
