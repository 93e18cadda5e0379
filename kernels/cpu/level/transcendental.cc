// Transcendental functions of floats: exp, log, sigmoid, tanh and gelu of F32 are our own (math.h), the others SLEEF's.
#include "kernels/cpu/level/math.h"
#include "kernels/cpu/level/parts.h"
#include "kernels/cpu/level/vectors.h"

namespace plumbline::kernels::cpu::PLUMBLINE_LEVEL {
namespace {

template <class T, auto function>
void OnVectors(void* const* data, std::int64_t n, const Parameters&) {
  ForVectors([](Vector<T> x) { return function(x); }, n, static_cast<T*>(data[0]), static_cast<const T*>(data[1]));
}

// Functions made of others work on vectors; operators on these are the compiler's.
#define PLUMBLINE_SLEEF_BOTH(Name, name, ulp) \
  template <class T>                          \
  Vector<T> Name(Vector<T> x);                \
  template <>                                 \
  inline Floats Name<float>(Floats x) {       \
    return PLUMBLINE_SLEEF_F(name, ulp)(x);   \
  }                                           \
  template <>                                 \
  inline Doubles Name<double>(Doubles x) {    \
    return PLUMBLINE_SLEEF_D(name, ulp)(x);   \
  }
PLUMBLINE_SLEEF_BOTH(Exp, exp, u10)
PLUMBLINE_SLEEF_BOTH(Log1p, log1p, u10)
PLUMBLINE_SLEEF_BOTH(Log, log, u10)
PLUMBLINE_SLEEF_BOTH(Expm1, expm1, u10)
PLUMBLINE_SLEEF_BOTH(Tanh, tanh, u10)
PLUMBLINE_SLEEF_BOTH(Erfc, erfc, u15)
#undef PLUMBLINE_SLEEF_BOTH

template <class T>
Vector<T> Splat(double x) {
  return Vector<T>{} + static_cast<T>(x);
}
template <class T>
Vector<T> AbsOf(Vector<T> x) {
  return x < 0 ? -x : x;
}

template <class T>
Vector<T> Sigmoid(Vector<T> x) {
  const Vector<T> e = Exp<T>(-AbsOf<T>(x));
  const Vector<T> one = Splat<T>(1);
  return (x < 0 ? e : one) / (one + e);
}

struct SigmoidOp {
  template <class T>
  static Vector<T> Of(Vector<T> x, const Parameters&) {
    return Sigmoid<T>(x);
  }
};
struct LogSigmoidOp {  // min(x, 0) - log1p(exp(-|x|))
  template <class T>
  static Vector<T> Of(Vector<T> x, const Parameters&) {
    return (x < 0 ? x : (x != x ? x : Splat<T>(0))) - Log1p<T>(Exp<T>(-AbsOf<T>(x)));
  }
};
struct SiluOp {
  template <class T>
  static Vector<T> Of(Vector<T> x, const Parameters&) {
    const Vector<T> one = Splat<T>(1);
    const Vector<T> root = Exp<T>(AbsOf<T>(x) * static_cast<T>(-0.5));
    const Vector<T> result = (x < 0 ? x * root * root : x) / (one + root * root);
    return x == -Splat<T>(__builtin_inf()) ? Splat<T>(-0.0) : result;
  }
};
struct GeluOp {  // of doubles: x / 2 erfc(-x / sqrt 2), so that the tail keeps its digits
  static Doubles Of(Doubles x) {
    const Doubles bounded = x < -50 ? Splat<double>(-50) : x;  // whose result is 0
    const Doubles y = bounded * -0.70710678118654752440;
    // The rounding of y is made good: erfc(y + d) is erfc(y) (1 - d (2 y + 1 / y)) for a small d and y > 1. The parts
    // of the product that are floats are exact.
    const auto narrow = [](Doubles v) {
      typedef float Narrow __attribute__((vector_size(sizeof(Doubles) / 2)));
      return __builtin_convertvector(__builtin_convertvector(v, Narrow), Doubles);
    };
    constexpr double kHigh = -0.707106769084930419921875, kLow = -1.2101617104478969e-8;
    const Doubles high = narrow(bounded), low = bounded - high;
    const Doubles d = (high * kHigh - y) + (high * kLow + low * (kHigh + kLow));
    const Doubles factor = y > 1 ? 1 - d * (2 * y + 1 / y) : Splat<double>(1);
    const Doubles result = x * 0.5 * (Erfc<double>(y) * factor);
    return x == -Splat<double>(__builtin_inf()) ? Splat<double>(-0.0) : result;
  }
  static void Run(void* const* data, std::int64_t n, const Parameters&) {
    ForVectors(&Of, n, static_cast<double*>(data[0]), static_cast<const double*>(data[1]));
  }
};
struct GeluTanhOp {  // x sigmoid(2 y), y = sqrt(2/pi) (x + 0.044715 x^3)
  template <class T>
  static Vector<T> Of(Vector<T> x, const Parameters&) {
    const Vector<T> y = x * (static_cast<T>(1.5957691216057308) * (1 + static_cast<T>(0.044715) * x * x));
    const Vector<T> e = Exp<T>(-AbsOf<T>(y));
    const Vector<T> one = Splat<T>(1);
    const Vector<T> result = (y < 0 ? x * e : x) / (one + e);
    return x == -Splat<T>(__builtin_inf()) ? Splat<T>(-0.0) : result;
  }
};
struct SoftplusOp {  // beta [0], threshold [1]
  template <class T>
  static Vector<T> Of(Vector<T> x, const Parameters& p) {
    const Vector<T> scaled = x * static_cast<T>(p.real[0]);
    // log1p(e^s) = max(s, 0) + log1p(e^-|s|)
    const Vector<T> zero = Splat<T>(0);
    const Vector<T> soft =
        ((scaled > 0 ? scaled : (scaled != scaled ? scaled : zero)) + Log1p<T>(Exp<T>(-AbsOf<T>(scaled)))) /
        static_cast<T>(p.real[0]);
    return scaled > static_cast<T>(p.real[1]) ? x : soft;
  }
};
struct EluOp {  // alpha [0], scale [1], input scale [2]
  template <class T>
  static Vector<T> Of(Vector<T> x, const Parameters& p) {
    const Vector<T> below = Expm1<T>(x * static_cast<T>(p.real[2])) * static_cast<T>(p.real[0] * p.real[1]);
    return x > 0 ? x * static_cast<T>(p.real[1]) : below;
  }
};
struct MishOp {  // x tanh(softplus(x))
  template <class T>
  static Vector<T> Of(Vector<T> x, const Parameters&) {
    const Vector<T> soft = (x > 0 ? x : (x != x ? x : Splat<T>(0))) + Log1p<T>(Exp<T>(-AbsOf<T>(x)));
    const Vector<T> result = x * Tanh<T>(soft);
    return x == -Splat<T>(__builtin_inf()) ? Splat<T>(-0.0) : result;
  }
};

// ---- where SLEEF's functions end too early: large arguments by other means ----

template <class T>
constexpr double kRoomy = sizeof(T) == 4 ? 1e9 : 1e100;  // x + 1 and x^2 + 1 are x and x^2
template <class T>
constexpr double kNearOverflow = sizeof(T) == 4 ? 85 : 705;  // of e^x
constexpr double kLn2 = 0.69314718055994530942;

struct Log1pOp {
  template <class T>
  static Vector<T> Of(Vector<T> x, const Parameters&) {
    return x > static_cast<T>(kRoomy<T>) ? Log<T>(x) : Log1p<T>(x);
  }
};
struct AsinhOp {
  template <class T>
  static Vector<T> Of(Vector<T> x, const Parameters&) {
    const Vector<T> magnitude = AbsOf<T>(x);
    const Vector<T> far = Log<T>(magnitude) + static_cast<T>(kLn2);
    Vector<T> near;
    if constexpr (sizeof(T) == 4) {
      near = PLUMBLINE_SLEEF_F(asinh, u10)(x);
    } else {
      near = PLUMBLINE_SLEEF_D(asinh, u10)(x);
    }
    return magnitude > static_cast<T>(kRoomy<T>) ? (x < 0 ? -far : far) : near;
  }
};
struct AcoshOp {
  template <class T>
  static Vector<T> Of(Vector<T> x, const Parameters&) {
    Vector<T> near;
    if constexpr (sizeof(T) == 4) {
      near = PLUMBLINE_SLEEF_F(acosh, u10)(x);
    } else {
      near = PLUMBLINE_SLEEF_D(acosh, u10)(x);
    }
    return x > static_cast<T>(kRoomy<T>) ? Log<T>(x) + static_cast<T>(kLn2) : near;
  }
};
struct SinhOp {
  template <class T>
  static Vector<T> Of(Vector<T> x, const Parameters&) {
    const Vector<T> magnitude = AbsOf<T>(x);
    const Vector<T> root = Exp<T>(magnitude * static_cast<T>(0.5));
    const Vector<T> far = root * static_cast<T>(0.5) * root;
    Vector<T> near;
    if constexpr (sizeof(T) == 4) {
      near = PLUMBLINE_SLEEF_F(sinh, u10)(x);
    } else {
      near = PLUMBLINE_SLEEF_D(sinh, u10)(x);
    }
    return magnitude > static_cast<T>(kNearOverflow<T>) ? (x < 0 ? -far : far) : near;
  }
};
struct CoshOp {
  template <class T>
  static Vector<T> Of(Vector<T> x, const Parameters&) {
    const Vector<T> magnitude = AbsOf<T>(x);
    const Vector<T> root = Exp<T>(magnitude * static_cast<T>(0.5));
    Vector<T> near;
    if constexpr (sizeof(T) == 4) {
      near = PLUMBLINE_SLEEF_F(cosh, u10)(x);
    } else {
      near = PLUMBLINE_SLEEF_D(cosh, u10)(x);
    }
    return magnitude > static_cast<T>(kNearOverflow<T>) ? root * static_cast<T>(0.5) * root : near;
  }
};

template <class Op, class T>
void Composed(void* const* data, std::int64_t n, const Parameters& parameters) {
  ForVectors([&](Vector<T> x) { return Op::template Of<T>(x, parameters); }, n, static_cast<T*>(data[0]),
             static_cast<const T*>(data[1]));
}

}  // namespace

void AddMath(LevelTable& table) {
  const auto add = [&](UnaryOp op, Loop f32, Loop f64) {
    table.unary[static_cast<int>(op)][kIndexOf<float>] = f32;
    table.unary[static_cast<int>(op)][kIndexOf<double>] = f64;
  };
#define PLUMBLINE_ADD_SLEEF(op, name, ulp) \
  add(UnaryOp::op, &OnVectors<float, &PLUMBLINE_SLEEF_F(name, ulp)>, &OnVectors<double, &PLUMBLINE_SLEEF_D(name, ulp)>)
#define PLUMBLINE_ADD_OWN(op, function, name) \
  add(UnaryOp::op, &OnVectors<float, &function>, &OnVectors<double, &PLUMBLINE_SLEEF_D(name, u10)>)
#define PLUMBLINE_ADD_COMPOSED(op, Op) add(UnaryOp::op, &Composed<Op, float>, &Composed<Op, double>)
  PLUMBLINE_ADD_OWN(kExp, ExpF, exp);
  PLUMBLINE_ADD_OWN(kLog, LogF, log);
  PLUMBLINE_ADD_OWN(kTanh, TanhF, tanh);
  PLUMBLINE_ADD_SLEEF(kExp2, exp2, u10);
  PLUMBLINE_ADD_SLEEF(kExpm1, expm1, u10);
  PLUMBLINE_ADD_SLEEF(kLog2, log2, u10);
  PLUMBLINE_ADD_SLEEF(kLog10, log10, u10);
  PLUMBLINE_ADD_COMPOSED(kLog1p, Log1pOp);
  PLUMBLINE_ADD_SLEEF(kSin, sin, u10);
  PLUMBLINE_ADD_SLEEF(kCos, cos, u10);
  PLUMBLINE_ADD_SLEEF(kTan, tan, u10);
  PLUMBLINE_ADD_SLEEF(kAsin, asin, u10);
  PLUMBLINE_ADD_SLEEF(kAcos, acos, u10);
  PLUMBLINE_ADD_SLEEF(kAtan, atan, u10);
  PLUMBLINE_ADD_COMPOSED(kSinh, SinhOp);
  PLUMBLINE_ADD_COMPOSED(kCosh, CoshOp);
  PLUMBLINE_ADD_COMPOSED(kAsinh, AsinhOp);
  PLUMBLINE_ADD_COMPOSED(kAcosh, AcoshOp);
  PLUMBLINE_ADD_SLEEF(kAtanh, atanh, u10);
  PLUMBLINE_ADD_SLEEF(kErf, erf, u10);
  PLUMBLINE_ADD_SLEEF(kErfc, erfc, u15);
  PLUMBLINE_ADD_SLEEF(kLgamma, lgamma, u10);
  add(UnaryOp::kSigmoid, &OnVectors<float, &SigmoidF>, &Composed<SigmoidOp, double>);
  PLUMBLINE_ADD_COMPOSED(kLogSigmoid, LogSigmoidOp);
  add(UnaryOp::kSilu, &OnVectors<float, &SiluF>, &Composed<SiluOp, double>);
  add(UnaryOp::kGelu, &OnVectors<float, &GeluF>, &GeluOp::Run);
  PLUMBLINE_ADD_COMPOSED(kGeluTanh, GeluTanhOp);
  PLUMBLINE_ADD_COMPOSED(kSoftplus, SoftplusOp);
  PLUMBLINE_ADD_COMPOSED(kElu, EluOp);
  PLUMBLINE_ADD_COMPOSED(kMish, MishOp);
}

}  // namespace plumbline::kernels::cpu::PLUMBLINE_LEVEL
