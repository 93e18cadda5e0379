// Elementwise functions of two arguments.
#include "kernels/cpu/level/math.h"
#include "kernels/cpu/level/parts.h"
#include "kernels/cpu/level/vectors.h"

namespace plumbline::kernels::cpu::PLUMBLINE_LEVEL {
namespace {

template <class Op, class T>
void Run(void* const* data, std::int64_t n, const Parameters& parameters) {
  auto* const out = static_cast<typename Op::template Out<T>*>(data[0]);
  const auto* const a = static_cast<const T*>(data[1]);
  const auto* const b = static_cast<const T*>(data[2]);
  const Op op(parameters, T());
  PLUMBLINE_INDEPENDENT
  for (std::int64_t i = 0; i < n; ++i) out[i] = op(a[i], b[i]);
}

struct Plain {
  template <class T>
  using Out = T;
  template <class T>
  Plain(const Parameters&, T) {}
};
struct Test {
  template <class T>
  using Out = bool;
  template <class T>
  Test(const Parameters&, T) {}
};

template <class T>
T ScalarOf(const Parameters& parameters, int which) {
  if constexpr (kIsFloat<T>) {
    return static_cast<T>(parameters.real[which]);
  } else {
    return static_cast<T>(parameters.integer[which]);
  }
}

struct Sum : Plain {
  using Plain::Plain;
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(static_cast<Wrap<T>>(a) + static_cast<Wrap<T>>(b));
  }
  bool operator()(bool a, bool b) const { return a | b; }
};
struct Difference : Plain {
  using Plain::Plain;
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(static_cast<Wrap<T>>(a) - static_cast<Wrap<T>>(b));
  }
  bool operator()(bool a, bool b) const { return a ^ b; }
};
template <bool kMinus>
struct Chosen {
  using Op = Sum;
};
template <>
struct Chosen<true> {
  using Op = Difference;
};

template <bool kMinus, class T>
void RunWithAlpha(void* const* data, std::int64_t n, const Parameters& parameters) {
  const T alpha = ScalarOf<T>(parameters, 0);
  if (alpha == T(1)) return Run<typename Chosen<kMinus>::Op, T>(data, n, parameters);
  auto* const out = static_cast<T*>(data[0]);
  const auto* const a = static_cast<const T*>(data[1]);
  const auto* const b = static_cast<const T*>(data[2]);
  const Wrap<T> factor = static_cast<Wrap<T>>(alpha);
  PLUMBLINE_INDEPENDENT
  for (std::int64_t i = 0; i < n; ++i) {
    const Wrap<T> product = factor * static_cast<Wrap<T>>(b[i]);
    out[i] = static_cast<T>(kMinus ? static_cast<Wrap<T>>(a[i]) - product : static_cast<Wrap<T>>(a[i]) + product);
  }
}
struct Mul : Plain {
  using Plain::Plain;
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(static_cast<Wrap<T>>(a) * static_cast<Wrap<T>>(b));
  }
  bool operator()(bool a, bool b) const { return a & b; }
};
struct Maximum : Plain {  // NaN wins
  using Plain::Plain;
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (kIsFloat<T>) {
      const T larger = a > b ? a : b;
      return a != a ? a : larger;
    } else {
      return a > b ? a : b;
    }
  }
};
struct Minimum : Plain {
  using Plain::Plain;
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (kIsFloat<T>) {
      const T smaller = a < b ? a : b;
      return a != a ? a : smaller;
    } else {
      return a < b ? a : b;
    }
  }
};

struct Div : Plain {
  using Plain::Plain;
  template <class T>
  T operator()(T a, T b) const {
    return a / b;
  }
};
inline float TruncOf(float x) { return __builtin_truncf(x); }
inline double TruncOf(double x) { return __builtin_trunc(x); }
inline double Widened(float x) { return x; }
inline long double Widened(double x) { return x; }
inline double RoundOf(double x) { return __builtin_rint(x); }
inline long double RoundOf(long double x) { return __builtin_rintl(x); }
inline float FmodOf(float a, float b) { return __builtin_fmodf(a, b); }
inline double FmodOf(double a, double b) { return __builtin_fmod(a, b); }
inline float CopySign(float a, float b) { return __builtin_copysignf(a, b); }
inline double CopySign(double a, double b) { return __builtin_copysign(a, b); }

// Of integers: the smallest number divided by -1 wraps, and what is divided by 0, which callers refuse, is 0.
template <class T>
T Quotient(T a, T b) {
  if (b == 0) return 0;
  if (b == static_cast<T>(-1) && static_cast<T>(-1) < T(0)) return static_cast<T>(-static_cast<Wrap<T>>(a));
  return static_cast<T>(a / b);
}
template <class T>
T Rest(T a, T b) {
  if (b == 0) return 0;
  if (b == static_cast<T>(-1) && static_cast<T>(-1) < T(0)) return 0;
  return static_cast<T>(a % b);
}

struct DivTrunc : Plain {
  using Plain::Plain;
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (kIsFloat<T>) {
      return TruncOf(a / b);
    } else {
      return Quotient(a, b);
    }
  }
};
struct DivFloor : Plain {
  using Plain::Plain;
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (kIsFloat<T>) {
      if (b == 0) return a / b;
      // Of the exact remainder, as a / b may have been rounded up to the next integer. What is left is a multiple of b,
      // which takes more digits than T has.
      const T rest = FmodOf(a, b);
      auto quotient = RoundOf((Widened(a) - Widened(rest)) / Widened(b));
      if (rest != 0 && (b < 0) != (rest < 0)) quotient -= 1;
      return quotient == 0 ? CopySign(T(0), a / b) : static_cast<T>(quotient);
    } else {
      const T quotient = Quotient(a, b);
      return Rest(a, b) != 0 && (a < 0) != (b < 0) ? static_cast<T>(quotient - 1) : quotient;
    }
  }
};
struct Fmod : Plain {
  using Plain::Plain;
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (kIsFloat<T>) {
      return FmodOf(a, b);
    } else {
      return Rest(a, b);
    }
  }
};
struct Remainder : Plain {  // has the sign of b
  using Plain::Plain;
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (kIsFloat<T>) {
      const T rest = FmodOf(a, b);
      return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
    } else {
      const T rest = Rest(a, b);
      return rest != 0 && (rest < 0) != (b < 0) ? static_cast<T>(rest + b) : rest;
    }
  }
};
struct Pow : Plain {  // of integers
  using Plain::Plain;
  template <class T>
  T operator()(T a, T b) const {
    if (b < 0) return a == 1 ? T(1) : a == static_cast<T>(-1) ? static_cast<T>(b % 2 == 0 ? 1 : -1) : T(0);
    Wrap<T> result = 1, base = static_cast<Wrap<T>>(a);
    for (std::uint64_t exponent = static_cast<std::uint64_t>(b); exponent != 0; exponent >>= 1) {
      if (exponent & 1) result *= base;
      base *= base;
    }
    return static_cast<T>(result);
  }
};

struct SigmoidBackward : Plain {  // gradient, result
  using Plain::Plain;
  template <class T>
  T operator()(T g, T y) const {
    return g * (1 - y) * y;
  }
};
struct TanhBackward : Plain {
  using Plain::Plain;
  template <class T>
  T operator()(T g, T y) const {
    return g * (1 - y * y);
  }
};
struct ThresholdBackward {  // gradient where the input is above [0]
  template <class T>
  using Out = T;
  double threshold;
  template <class T>
  ThresholdBackward(const Parameters& p, T) : threshold(p.real[0]) {}
  template <class T>
  T operator()(T g, T x) const {
    return x <= static_cast<T>(threshold) ? T(0) : g;
  }
};
struct LerpScalar {  // weight [0]
  template <class T>
  using Out = T;
  double weight;
  template <class T>
  LerpScalar(const Parameters& p, T) : weight(p.real[0]) {}
  template <class T>
  T operator()(T a, T b) const {
    const T w = static_cast<T>(weight);
    return w < T(0.5) && w > T(-0.5) ? a + w * (b - a) : b - (b - a) * (1 - w);
  }
};

#define PLUMBLINE_TEST(Name, expression) \
  struct Name : Test {                   \
    using Test::Test;                    \
    template <class T>                   \
    bool operator()(T a, T b) const {    \
      return expression;                 \
    }                                    \
  };
PLUMBLINE_TEST(Eq, a == b)
PLUMBLINE_TEST(Ne, a != b)
PLUMBLINE_TEST(Lt, a < b)
PLUMBLINE_TEST(Le, a <= b)
PLUMBLINE_TEST(Gt, a > b)
PLUMBLINE_TEST(Ge, a >= b)
PLUMBLINE_TEST(LogicalAnd, (a != 0) & (b != 0))
PLUMBLINE_TEST(LogicalOr, (a != 0) | (b != 0))
PLUMBLINE_TEST(LogicalXor, (a != 0) != (b != 0))
#undef PLUMBLINE_TEST

struct BitwiseAnd : Plain {
  using Plain::Plain;
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a & b);
  }
};
struct BitwiseOr : Plain {
  using Plain::Plain;
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a | b);
  }
};
struct BitwiseXor : Plain {
  using Plain::Plain;
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a ^ b);
  }
};
// A shift by less than 0 or by the width and more moves all bits out.
struct ShiftLeft : Plain {
  using Plain::Plain;
  template <class T>
  T operator()(T a, T b) const {
    const bool inside = b >= 0 && b < static_cast<T>(8 * sizeof(T));
    return inside ? static_cast<T>(static_cast<Wrap<T>>(a) << b) : T(0);
  }
};
struct ShiftRight : Plain {
  using Plain::Plain;
  template <class T>
  T operator()(T a, T b) const {
    const bool inside = b >= 0 && b < static_cast<T>(8 * sizeof(T));
    return static_cast<T>(a >> (inside ? b : static_cast<T>(8 * sizeof(T) - 1))) &
           (inside || a < 0 ? static_cast<T>(-1) : T(0));
  }
};

template <auto function, class T>
void Sleef(void* const* data, std::int64_t n, const Parameters&) {
  ForVectors([](Vector<T> a, Vector<T> b) { return function(a, b); }, n, static_cast<T*>(data[0]),
             static_cast<const T*>(data[1]), static_cast<const T*>(data[2]));
}

template <class Op, class... T>
void Add(LevelTable& table, BinaryOp op) {
  ((table.binary[static_cast<int>(op)][kIndexOf<T>] = &Run<Op, T>), ...);
}
template <class Op>
void AddFloats(LevelTable& table, BinaryOp op) {
  Add<Op, float, double>(table, op);
}
template <class Op>
void AddIntegers(LevelTable& table, BinaryOp op) {
  Add<Op, std::uint8_t, std::int8_t, std::int16_t, std::int32_t, std::int64_t>(table, op);
}
template <class Op>
void AddAll(LevelTable& table, BinaryOp op) {
  AddFloats<Op>(table, op);
  AddIntegers<Op>(table, op);
  Add<Op, bool>(table, op);
}
template <bool kMinus, class... T>
void AddWithAlpha(LevelTable& table, BinaryOp op) {
  ((table.binary[static_cast<int>(op)][kIndexOf<T>] = &RunWithAlpha<kMinus, T>), ...);
}

}  // namespace

void AddBinary(LevelTable& table) {
  AddWithAlpha<false, std::uint8_t, std::int8_t, std::int16_t, std::int32_t, std::int64_t, float, double, bool>(
      table, BinaryOp::kAdd);
  AddWithAlpha<true, std::uint8_t, std::int8_t, std::int16_t, std::int32_t, std::int64_t, float, double>(
      table, BinaryOp::kSub);
  Add<Difference, bool>(table, BinaryOp::kSub);
  AddAll<Mul>(table, BinaryOp::kMul);
  AddAll<Maximum>(table, BinaryOp::kMaximum);
  AddAll<Minimum>(table, BinaryOp::kMinimum);
  AddFloats<Div>(table, BinaryOp::kDiv);
  AddFloats<DivTrunc>(table, BinaryOp::kDivTrunc);
  AddIntegers<DivTrunc>(table, BinaryOp::kDivTrunc);
  AddFloats<DivFloor>(table, BinaryOp::kDivFloor);
  AddIntegers<DivFloor>(table, BinaryOp::kDivFloor);
  AddFloats<Fmod>(table, BinaryOp::kFmod);
  AddIntegers<Fmod>(table, BinaryOp::kFmod);
  AddFloats<Remainder>(table, BinaryOp::kRemainder);
  AddIntegers<Remainder>(table, BinaryOp::kRemainder);
  AddIntegers<Pow>(table, BinaryOp::kPow);
  const auto add = [&](BinaryOp op, Loop f32, Loop f64) {
    table.binary[static_cast<int>(op)][kIndexOf<float>] = f32;
    table.binary[static_cast<int>(op)][kIndexOf<double>] = f64;
  };
  add(BinaryOp::kPow, &Sleef<&PLUMBLINE_SLEEF_F(pow, u10), float>, &Sleef<&PLUMBLINE_SLEEF_D(pow, u10), double>);
  add(BinaryOp::kAtan2, &Sleef<&PLUMBLINE_SLEEF_F(atan2, u10), float>, &Sleef<&PLUMBLINE_SLEEF_D(atan2, u10), double>);
  add(BinaryOp::kHypot, &Sleef<&PLUMBLINE_SLEEF_F(hypot, u05), float>, &Sleef<&PLUMBLINE_SLEEF_D(hypot, u05), double>);
  AddFloats<SigmoidBackward>(table, BinaryOp::kSigmoidBackward);
  AddFloats<TanhBackward>(table, BinaryOp::kTanhBackward);
  AddFloats<ThresholdBackward>(table, BinaryOp::kThresholdBackward);
  AddFloats<LerpScalar>(table, BinaryOp::kLerpScalar);
  AddAll<Eq>(table, BinaryOp::kEq);
  AddAll<Ne>(table, BinaryOp::kNe);
  AddAll<Lt>(table, BinaryOp::kLt);
  AddAll<Le>(table, BinaryOp::kLe);
  AddAll<Gt>(table, BinaryOp::kGt);
  AddAll<Ge>(table, BinaryOp::kGe);
  AddAll<LogicalAnd>(table, BinaryOp::kLogicalAnd);
  AddAll<LogicalOr>(table, BinaryOp::kLogicalOr);
  AddAll<LogicalXor>(table, BinaryOp::kLogicalXor);
  AddIntegers<BitwiseAnd>(table, BinaryOp::kBitwiseAnd);
  AddIntegers<BitwiseOr>(table, BinaryOp::kBitwiseOr);
  AddIntegers<BitwiseXor>(table, BinaryOp::kBitwiseXor);
  Add<BitwiseAnd, bool>(table, BinaryOp::kBitwiseAnd);
  Add<BitwiseOr, bool>(table, BinaryOp::kBitwiseOr);
  Add<BitwiseXor, bool>(table, BinaryOp::kBitwiseXor);
  AddIntegers<ShiftLeft>(table, BinaryOp::kShiftLeft);
  AddIntegers<ShiftRight>(table, BinaryOp::kShiftRight);
}

}  // namespace plumbline::kernels::cpu::PLUMBLINE_LEVEL
