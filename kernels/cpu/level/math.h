// exp, log and tanh of floats, written so that a loop over them is vectorised. Only sources of levels include it.
//
// Errors over all binades, with and without FMA: ExpF < 1.1 ulp, LogF < 1.0 ulp, TanhF < 1.7 ulp, SigmoidF < 2.5 ulp,
// SiluF < 3.5 ulp. Infinities, NaN and subnormal arguments and results are right.
#ifndef PLUMBLINE_KERNELS_CPU_LEVEL_MATH_H_
#define PLUMBLINE_KERNELS_CPU_LEVEL_MATH_H_

#include "kernels/cpu/level/parts.h"

namespace plumbline::kernels::cpu::PLUMBLINE_LEVEL {

[[gnu::always_inline]] inline float Fma(float a, float b, float c) {
#ifdef __FMA__
  return __builtin_fmaf(a, b, c);
#else
  return a * b + c;
#endif
}

[[gnu::always_inline]] inline std::int32_t BitsOf(float x) { return __builtin_bit_cast(std::int32_t, x); }
[[gnu::always_inline]] inline float FloatOf(std::int32_t bits) { return __builtin_bit_cast(float, bits); }
// Of bits, which wrap: those of a NaN or of a negative number lead anywhere, to a result that is not used.
[[gnu::always_inline]] inline std::int32_t Less(std::int32_t a, std::int32_t b) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) - static_cast<std::uint32_t>(b));
}

// e^r of |r| <= ln(2) / 2.
[[gnu::always_inline]] inline float ExpReduced(float r) {
  float q = 0.00139261818f;
  q = Fma(q, r, 0.00836317763f);
  q = Fma(q, r, 0.0416665546f);
  q = Fma(q, r, 0.16666577f);
  q = Fma(q, r, 0.5f);
  return Fma(r * r, q, r) + 1.0f;
}

inline constexpr float kLog2E = 1.44269504f;
inline constexpr float kLn2High = 0.693359375f;  // 9 bits: its product with an exponent is exact
inline constexpr float kLn2Low = -2.12194440e-4f;
inline constexpr float kRounder = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer, in the low bits

// e^x = p * first * second: of the products only the last one can leave the normal numbers.
struct ExpParts {
  float p, first, second;
};
[[gnu::always_inline]] inline ExpParts ExpInParts(float x) {
  x = x < -120.0f ? -120.0f : x;
  x = x > 89.0f ? 89.0f : x;
  const float rounded = Fma(x, kLog2E, kRounder);
  const float n = rounded - kRounder;
  const float p = ExpReduced(Fma(n, -kLn2Low, Fma(n, -kLn2High, x)));
  const std::int32_t exponent = Less(BitsOf(rounded), BitsOf(kRounder));
  const std::int32_t half = exponent >> 1;
  return {p, FloatOf((half + 127) << 23), FloatOf((exponent - half + 127) << 23)};
}

[[gnu::always_inline]] inline float ExpF(float x) {
  const ExpParts e = ExpInParts(x);
  return e.p * e.first * e.second;
}

[[gnu::always_inline]] inline float SigmoidF(float x) {
  // Of -|x|, so that nothing overflows and small results keep their digits.
  const float magnitude = FloatOf(BitsOf(x) & 0x7fffffff);
  const float e = ExpF(-magnitude);
  return (x < 0 ? e : 1.0f) / (1.0f + e);
}

// x sigmoid(x); far below zero x is multiplied in before the result becomes too small to be exact.
[[gnu::always_inline]] inline float SiluF(float x) {
  const float magnitude = FloatOf(BitsOf(x) & 0x7fffffff);
  const ExpParts e = ExpInParts(-magnitude);
  const float bounded = x < -1000.0f ? -1000.0f : x;
  const float small = (bounded * (e.p * e.first)) * e.second;
  return (x < 0 ? small : x) / (1.0f + e.p * e.first * e.second);
}

[[gnu::always_inline]] inline float TanhF(float x) {
  const float magnitude = FloatOf(BitsOf(x) & 0x7fffffff);
  const float z = x * x;
  float q = -0.00609671417f;
  q = Fma(q, z, 0.020997179f);
  q = Fma(q, z, -0.0538509096f);
  q = Fma(q, z, 0.133327697f);
  q = Fma(q, z, -0.333333289f);
  const float small = Fma(x * z, q, x);
  // 1 - 2 / (e^2|x| + 1); from 9.1 on it is 1.
  const float bounded = magnitude > 10.0f ? 10.0f : magnitude;
  const float rounded = Fma(bounded, 2 * kLog2E, kRounder);
  const float n = rounded - kRounder;
  const float p = ExpReduced(Fma(n, -kLn2Low, Fma(n, -kLn2High, 2 * bounded)));
  const float e = p * FloatOf((Less(BitsOf(rounded), BitsOf(kRounder)) + 127) << 23);
  const float large = 1.0f - 2.0f / (e + 1.0f);
  const float signed_large = FloatOf(BitsOf(large) | (BitsOf(x) & static_cast<std::int32_t>(0x80000000)));
  const float signed_small = FloatOf(BitsOf(small) | (BitsOf(x) & static_cast<std::int32_t>(0x80000000)));  // of -0.0
  return magnitude < 0.625f ? signed_small : signed_large;
}

[[gnu::always_inline]] inline float LogF(float x) {
  const bool tiny = x < 1.17549435e-38f;
  const float scaled = tiny ? x * 8388608.0f : x;
  // The mantissa in [sqrt(1/2), sqrt(2)).
  const std::int32_t offset = Less(BitsOf(scaled), 0x3f3504f3);
  const std::int32_t exponent = offset >> 23;
  const float m = FloatOf(Less(BitsOf(scaled), exponent << 23)) - 1.0f;
  const float n = static_cast<float>(exponent - (tiny ? 23 : 0));
  float q = -0.076736415f;
  q = Fma(q, m, 0.127226728f);
  q = Fma(q, m, -0.131275557f);
  q = Fma(q, m, 0.14204856f);
  q = Fma(q, m, -0.166266456f);
  q = Fma(q, m, 0.200012345f);
  q = Fma(q, m, -0.250007812f);
  q = Fma(q, m, 0.3333333f);
  const float z = m * m;
  float tail = Fma(z * m, q, n * kLn2Low);
  tail = Fma(-0.5f, z, tail);
  const float result = Fma(n, kLn2High, m + tail);
  const float at_zero = x == 0.0f ? -__builtin_inff() : __builtin_nanf("");
  const float special = x > 0.0f ? x : at_zero;  // infinity; zero and negative; NaN
  const bool ordinary = x > 0.0f && x < __builtin_inff();
  return ordinary ? result : special;
}

}  // namespace plumbline::kernels::cpu::PLUMBLINE_LEVEL

#endif  // PLUMBLINE_KERNELS_CPU_LEVEL_MATH_H_
