// Elementwise functions of one argument that any type has, and those of floats that need no table of constants.
#include "kernels/cpu/level/parts.h"

namespace plumbline::kernels::cpu::PLUMBLINE_LEVEL {
namespace {

template <class Op, class T>
void Run(void* const* data, std::int64_t n, const Parameters& parameters) {
  auto* const out = static_cast<typename Op::template Out<T>*>(data[0]);
  const auto* const in = static_cast<const T*>(data[1]);
  const Op op(parameters, T());
  PLUMBLINE_INDEPENDENT
  for (std::int64_t i = 0; i < n; ++i) out[i] = op(in[i]);
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

struct Neg : Plain {
  using Plain::Plain;
  template <class T>
  T operator()(T x) const {
    return static_cast<T>(-static_cast<Wrap<T>>(x));
  }
};
struct Abs : Plain {
  using Plain::Plain;
  template <class T>
  T operator()(T x) const {
    if constexpr (kIsFloat<T>) {
      return __builtin_fabs(x);
    } else {
      return x < 0 ? static_cast<T>(-static_cast<Wrap<T>>(x)) : x;
    }
  }
  float operator()(float x) const { return __builtin_fabsf(x); }
};
struct Sign : Plain {  // of NaN: 0
  using Plain::Plain;
  template <class T>
  T operator()(T x) const {
    return static_cast<T>((x > 0) - (x < 0));
  }
};
struct Square : Plain {
  using Plain::Plain;
  template <class T>
  T operator()(T x) const {
    return static_cast<T>(static_cast<Wrap<T>>(x) * static_cast<Wrap<T>>(x));
  }
};
struct Relu : Plain {  // keeps NaN and -0
  using Plain::Plain;
  template <class T>
  T operator()(T x) const {
    return x < 0 ? T(0) : x;
  }
};
struct Clamp {  // to [0] and [1]; NaN stays; a bound that is NaN is the result
  template <class T>
  using Out = T;
  double low_real, high_real;
  std::int64_t low, high;
  template <class T>
  Clamp(const Parameters& p, T) : low_real(p.real[0]), high_real(p.real[1]), low(p.integer[0]), high(p.integer[1]) {}
  template <class T>
  T operator()(T x) const {
    T a, b;
    if constexpr (kIsFloat<T>) {
      a = static_cast<T>(low_real);
      b = static_cast<T>(high_real);
      x = x < a || a != a ? a : x;
      return x > b || b != b ? b : x;
    } else {
      a = static_cast<T>(low);
      b = static_cast<T>(high);
      x = x < a ? a : x;
      return x > b ? b : x;
    }
  }
};
struct LogicalNot : Test {
  using Test::Test;
  template <class T>
  bool operator()(T x) const {
    return x == 0;
  }
};
struct BitwiseNot : Plain {
  using Plain::Plain;
  template <class T>
  T operator()(T x) const {
    return static_cast<T>(~x);
  }
  bool operator()(bool x) const { return !x; }
};
struct IsNan : Test {
  using Test::Test;
  template <class T>
  bool operator()(T x) const {
    return x != x;
  }
};
struct IsInf : Test {
  using Test::Test;
  template <class T>
  bool operator()(T x) const {
    if constexpr (kIsFloat<T>) {
      return x == static_cast<T>(__builtin_inf()) || x == -static_cast<T>(__builtin_inf());
    } else {
      return false;
    }
  }
};
struct IsFinite : Test {
  using Test::Test;
  template <class T>
  bool operator()(T x) const {
    if constexpr (kIsFloat<T>) {
      return x - x == 0;
    } else {
      return true;
    }
  }
};

struct Reciprocal : Plain {
  using Plain::Plain;
  template <class T>
  T operator()(T x) const {
    return 1 / x;
  }
};
struct Sqrt : Plain {
  using Plain::Plain;
  float operator()(float x) const { return __builtin_sqrtf(x); }
  double operator()(double x) const { return __builtin_sqrt(x); }
};
struct Rsqrt : Plain {
  using Plain::Plain;
  float operator()(float x) const { return 1 / __builtin_sqrtf(x); }
  double operator()(double x) const { return 1 / __builtin_sqrt(x); }
};
struct Floor : Plain {
  using Plain::Plain;
  float operator()(float x) const { return __builtin_floorf(x); }
  double operator()(double x) const { return __builtin_floor(x); }
};
struct Ceil : Plain {
  using Plain::Plain;
  float operator()(float x) const { return __builtin_ceilf(x); }
  double operator()(double x) const { return __builtin_ceil(x); }
};
struct Trunc : Plain {
  using Plain::Plain;
  float operator()(float x) const { return __builtin_truncf(x); }
  double operator()(double x) const { return __builtin_trunc(x); }
};
struct Round : Plain {  // halves to even
  using Plain::Plain;
  float operator()(float x) const { return __builtin_rintf(x); }
  double operator()(double x) const { return __builtin_rint(x); }
};
struct Frac : Plain {
  using Plain::Plain;
  float operator()(float x) const { return x - __builtin_truncf(x); }
  double operator()(double x) const { return x - __builtin_trunc(x); }
};
struct LeakyRelu {  // slope [0]
  template <class T>
  using Out = T;
  double slope;
  template <class T>
  LeakyRelu(const Parameters& p, T) : slope(p.real[0]) {}
  template <class T>
  T operator()(T x) const {
    return x > 0 ? x : x * static_cast<T>(slope);
  }
};
struct Hardsigmoid : Plain {
  using Plain::Plain;
  template <class T>
  T operator()(T x) const {
    T y = x + 3;
    y = y < 0 ? T(0) : y;
    return (y > 6 ? T(6) : y) / 6;
  }
};
struct Hardswish : Plain {
  using Plain::Plain;
  template <class T>
  T operator()(T x) const {
    T y = x + 3;
    y = y < 0 ? T(0) : y;
    return x * (y > 6 ? T(6) : y) / 6;
  }
};

template <class Op, class... T>
void Add(LevelTable& table, UnaryOp op) {
  ((table.unary[static_cast<int>(op)][kIndexOf<T>] = &Run<Op, T>), ...);
}
template <class Op>
void AddFloats(LevelTable& table, UnaryOp op) {
  Add<Op, float, double>(table, op);
}
template <class Op>
void AddIntegers(LevelTable& table, UnaryOp op) {
  Add<Op, std::uint8_t, std::int8_t, std::int16_t, std::int32_t, std::int64_t>(table, op);
}
template <class Op>
void AddNumbers(LevelTable& table, UnaryOp op) {
  AddFloats<Op>(table, op);
  AddIntegers<Op>(table, op);
}

}  // namespace

void AddUnary(LevelTable& table) {
  AddNumbers<Neg>(table, UnaryOp::kNeg);
  AddNumbers<Abs>(table, UnaryOp::kAbs);
  AddNumbers<Sign>(table, UnaryOp::kSign);
  AddNumbers<Square>(table, UnaryOp::kSquare);
  AddNumbers<Relu>(table, UnaryOp::kRelu);
  AddNumbers<Clamp>(table, UnaryOp::kClamp);
  AddNumbers<LogicalNot>(table, UnaryOp::kLogicalNot);
  AddNumbers<IsNan>(table, UnaryOp::kIsNan);
  AddNumbers<IsInf>(table, UnaryOp::kIsInf);
  AddNumbers<IsFinite>(table, UnaryOp::kIsFinite);
  Add<LogicalNot, bool>(table, UnaryOp::kLogicalNot);
  Add<IsNan, bool>(table, UnaryOp::kIsNan);
  Add<IsInf, bool>(table, UnaryOp::kIsInf);
  Add<IsFinite, bool>(table, UnaryOp::kIsFinite);
  AddIntegers<BitwiseNot>(table, UnaryOp::kBitwiseNot);
  Add<BitwiseNot, bool>(table, UnaryOp::kBitwiseNot);
  AddFloats<Reciprocal>(table, UnaryOp::kReciprocal);
  AddFloats<Sqrt>(table, UnaryOp::kSqrt);
  AddFloats<Rsqrt>(table, UnaryOp::kRsqrt);
  AddFloats<Floor>(table, UnaryOp::kFloor);
  AddFloats<Ceil>(table, UnaryOp::kCeil);
  AddFloats<Trunc>(table, UnaryOp::kTrunc);
  AddFloats<Round>(table, UnaryOp::kRound);
  AddFloats<Frac>(table, UnaryOp::kFrac);
  AddFloats<LeakyRelu>(table, UnaryOp::kLeakyRelu);
  AddFloats<Hardsigmoid>(table, UnaryOp::kHardsigmoid);
  AddFloats<Hardswish>(table, UnaryOp::kHardswish);
}

}  // namespace plumbline::kernels::cpu::PLUMBLINE_LEVEL
