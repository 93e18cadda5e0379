// exp, log, sigmoid, silu, tanh and gelu of vectors of floats. Only sources of levels include it.
//
//   ForVectors(&ExpF, n, out, in);   // vectors.h
//
// Errors over all binades, with and without FMA: ExpF < 1.1 ulp, LogF < 1.0 ulp, TanhF < 1.7 ulp, SigmoidF < 2.5 ulp,
// SiluF < 3.5 ulp, GeluF < 7.5 ulp. Infinities, NaN and subnormal arguments and results are right; GeluF is 0 where the
// result would be subnormal.
#ifndef PLUMBLINE_KERNELS_CPU_LEVEL_MATH_H_
#define PLUMBLINE_KERNELS_CPU_LEVEL_MATH_H_

#include "kernels/cpu/level/parts.h"
#include "kernels/cpu/level/vectors.h"

namespace plumbline::kernels::cpu::PLUMBLINE_LEVEL {

typedef std::int32_t Ints __attribute__((vector_size(sizeof(Floats))));
typedef std::uint32_t Bits __attribute__((vector_size(sizeof(Floats))));  // they wrap

[[gnu::always_inline]] inline Floats All(float x) { return Floats{} + x; }
[[gnu::always_inline]] inline Bits BitsOf(Floats x) { return __builtin_bit_cast(Bits, x); }
[[gnu::always_inline]] inline Bits BitsOf(float x) { return Bits{} + __builtin_bit_cast(std::uint32_t, x); }
template <class T>
[[gnu::always_inline]] inline Floats FloatsOf(T bits) {
  return __builtin_bit_cast(Floats, bits);
}
template <class T>
[[gnu::always_inline]] inline Ints IntsOf(T bits) {
  return __builtin_bit_cast(Ints, bits);
}

// The instructions, whose result is the second where one is NaN; the compiler does not find them.
[[gnu::always_inline]] inline Floats Least(float a, Floats b) {
#ifdef __AVX2__
  return _mm256_min_ps(All(a), b);
#else
  return _mm_min_ps(All(a), b);
#endif
}
[[gnu::always_inline]] inline Floats Largest(float a, Floats b) {
#ifdef __AVX2__
  return _mm256_max_ps(All(a), b);
#else
  return _mm_max_ps(All(a), b);
#endif
}

[[gnu::always_inline]] inline Floats Fma(Floats a, Floats b, Floats c) {
#ifdef __FMA__
  return _mm256_fmadd_ps(a, b, c);
#else
  return a * b + c;
#endif
}
[[gnu::always_inline]] inline Floats Fma(Floats a, Floats b, float c) { return Fma(a, b, All(c)); }
[[gnu::always_inline]] inline Floats Fma(Floats a, float b, Floats c) { return Fma(a, All(b), c); }
[[gnu::always_inline]] inline Floats Fma(Floats a, float b, float c) { return Fma(a, All(b), All(c)); }

// c[0] x^n + ... + c[n] in Horner's scheme.
template <class... C>
[[gnu::always_inline]] inline Floats Polynomial(Floats x, float first, C... rest) {
  Floats sum = All(first);
  ((sum = Fma(sum, x, rest)), ...);
  return sum;
}

[[gnu::always_inline]] inline Floats MagnitudeOf(Floats x) { return FloatsOf(BitsOf(x) & 0x7fffffffu); }
[[gnu::always_inline]] inline Floats WithSignOf(Floats sign, Floats x) {
  return FloatsOf(BitsOf(x) | (BitsOf(sign) & 0x80000000u));
}

// e^r of |r| <= ln(2) / 2.
[[gnu::always_inline]] inline Floats ExpReduced(Floats r) {
  const Floats q = Polynomial(r, 0.00139261818f, 0.00836317763f, 0.0416665546f, 0.16666577f, 0.5f);
  return Fma(r * r, q, r) + 1.0f;
}

inline constexpr float kLog2E = 1.44269504f;
inline constexpr float kLn2High = 0.693359375f;  // 9 bits: its product with an exponent is exact
inline constexpr float kLn2Low = -2.12194440e-4f;
inline constexpr float kRounder = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer, in the low bits

// x = n ln(2) + r
struct Reduced {
  Floats r;
  Bits n;
};
[[gnu::always_inline]] inline Reduced ReduceByLn2(Floats x) {
  const Floats rounded = Fma(x, kLog2E, kRounder);
  const Floats n = rounded - kRounder;
  return {Fma(n, -kLn2Low, Fma(n, -kLn2High, x)), BitsOf(rounded) - BitsOf(kRounder)};
}
[[gnu::always_inline]] inline Floats PowerOfTwo(Bits n) { return FloatsOf((n + 127) << 23); }  // of normal numbers

// e^x = p * first * second: of the products only the last one can leave the normal numbers. x < 89.5.
struct ExpParts {
  Floats p, first, second;
};
[[gnu::always_inline]] inline ExpParts ExpInParts(Floats x) {
  const Reduced reduced = ReduceByLn2(Largest(-120.0f, x));
  const Bits half = __builtin_bit_cast(Bits, IntsOf(reduced.n) >> 1);
  return {ExpReduced(reduced.r), PowerOfTwo(half), PowerOfTwo(reduced.n - half)};
}

// e^x of x that is not above 0, or NaN.
[[gnu::always_inline]] inline Floats ExpBelowF(Floats x) {
  const ExpParts e = ExpInParts(x);
  return e.p * e.first * e.second;
}
[[gnu::always_inline]] inline Floats ExpF(Floats x) { return ExpBelowF(Least(89.0f, x)); }

[[gnu::always_inline]] inline Floats SigmoidF(Floats x) {
  // Of -|x|, so that nothing overflows and small results keep their digits.
  const Floats e = ExpBelowF(-MagnitudeOf(x));
  return (x < 0 ? e : All(1)) / (1.0f + e);
}

// x sigmoid(x); far below zero x is multiplied in before the result becomes too small to be exact.
[[gnu::always_inline]] inline Floats SiluF(Floats x) {
  const ExpParts e = ExpInParts(-MagnitudeOf(x));
  const Floats part = e.p * e.first;
  const Floats small = (Largest(-1000.0f, x) * part) * e.second;
  return (x < 0 ? small : x) / (1.0f + part * e.second);
}

// x times the share of the normal distribution below x. With z = |x|, the share above z is e^(-z^2 / 2) R(z), where R
// is smooth: a polynomial in t = 1 / (1 + 0.35 z), off by at most 3.3e-8 of itself. What rounding takes from z^2 / 2 is
// added to the reduced argument of the exponential, so that the tail keeps its digits.
[[gnu::always_inline]] inline Floats GeluF(Floats x) {
  const Floats z = Least(16.0f, MagnitudeOf(x));
  const Floats t = 1.0f / Fma(z, 0.35f, 1.0f);
  const Floats share = Polynomial(t, -0.02916935662f, 0.1440858096f, -0.255950394f, 0.1594445325f, -0.02329658839f,
                                  0.1055874224f, 0.1198126333f, 0.1398646839f, 0.1396212412f);
#ifdef __FMA__
  const Floats half = z * -0.5f, exponent = half * z, lost = Fma(half, z, -exponent);
#else
  const Floats high = FloatsOf(BitsOf(z) & 0xfffff000u);
  const Floats exponent = -0.5f * high * high, lost = -0.5f * (z - high) * (z + high);
#endif
  const Floats rounded = Fma(exponent + lost, kLog2E, kRounder);
  const Floats n = rounded - kRounder;
  const Floats r = Fma(n, -kLn2Low, Fma(n, -kLn2High, exponent)) + lost;
  const Ints biased = IntsOf(BitsOf(rounded) - (BitsOf(kRounder) - 127));
  const Floats scale = FloatsOf((biased < 0 ? Ints{} : biased) << 23);
  const Floats tail = (z * t) * (share * ExpReduced(r)) * scale;
  return (x < -0.0f ? All(-0.0f) : x) - tail;
}

[[gnu::always_inline]] inline Floats TanhF(Floats x) {
  const Floats magnitude = MagnitudeOf(x);
  const Floats z = x * x;
  const Floats q = Polynomial(z, -0.00609671417f, 0.020997179f, -0.0538509096f, 0.133327697f, -0.333333289f);
  const Floats small = Fma(x * z, q, x);
  // 1 - 2 / (e^2|x| + 1); from 9.1 on it is 1.
  const Reduced reduced = ReduceByLn2(2.0f * Least(10.0f, magnitude));
  const Floats e = ExpReduced(reduced.r) * PowerOfTwo(reduced.n);
  const Floats large = 1.0f - 2.0f / (e + 1.0f);
  return WithSignOf(x, magnitude < 0.625f ? small : large);  // that of -0.0 too
}

[[gnu::always_inline]] inline Floats LogF(Floats x) {
  const Ints tiny = x < 1.17549435e-38f;
  const Floats scaled = tiny ? x * 8388608.0f : x;
  // The mantissa in [sqrt(1/2), sqrt(2)).
  const Ints exponent = IntsOf(BitsOf(scaled) - 0x3f3504f3u) >> 23;
  const Floats m = FloatsOf(BitsOf(scaled) - (__builtin_bit_cast(Bits, exponent) << 23)) - 1.0f;
  const Floats n = __builtin_convertvector(exponent + (tiny & -23), Floats);
  const Floats q = Polynomial(m, -0.076736415f, 0.127226728f, -0.131275557f, 0.14204856f, -0.166266456f, 0.200012345f,
                              -0.250007812f, 0.3333333f);
  const Floats z = m * m;
  const Floats tail = Fma(All(-0.5f), z, Fma(z * m, q, n * kLn2Low));
  const Floats result = Fma(n, kLn2High, m + tail);
  const Floats at_zero = x == 0.0f ? All(-__builtin_inff()) : All(__builtin_nanf(""));
  const Floats special = x > 0.0f ? x : at_zero;  // infinity; zero and negative; NaN
  return (x > 0.0f) & (x < __builtin_inff()) ? result : special;
}

}  // namespace plumbline::kernels::cpu::PLUMBLINE_LEVEL

#endif  // PLUMBLINE_KERNELS_CPU_LEVEL_MATH_H_
