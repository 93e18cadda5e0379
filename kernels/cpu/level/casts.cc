// Conversions between all element types.
//
// A float becomes an integer towards zero; what does not fit has some value, without undefined behaviour. An integer
// that does not fit in another wraps. Anything but zero becomes true, NaN too. F16 and BF16 are rounded once, to
// nearest, halves to even; NaN stays NaN.
#include "kernels/cpu/level/parts.h"
#ifdef __F16C__
#include <immintrin.h>
#endif

namespace plumbline::kernels::cpu::PLUMBLINE_LEVEL {
namespace {

struct Half {
  std::uint16_t bits;
};
struct BHalf {
  std::uint16_t bits;
};

[[gnu::always_inline]] inline float Widen(BHalf x) {
  return __builtin_bit_cast(float, static_cast<std::uint32_t>(x.bits) << 16);
}
[[gnu::always_inline]] inline float Widen(Half x) {
#ifdef __F16C__
  return _cvtsh_ss(x.bits);
#else
  // The exponent and the mantissa of a float of the same bits, moved: all but infinity and NaN by one multiplication.
  const std::uint32_t magnitude = (x.bits & 0x7fffu) << 13;
  const std::uint32_t scaled = __builtin_bit_cast(std::uint32_t, __builtin_bit_cast(float, magnitude) * 0x1p112f);
  const std::uint32_t special = magnitude | 0x7f800000u | ((magnitude & 0x7fffffu) != 0 ? 0x400000u : 0u);
  const std::uint32_t result = magnitude >= (0x7c00u << 13) ? special : scaled;
  return __builtin_bit_cast(float, result | (static_cast<std::uint32_t>(x.bits & 0x8000u) << 16));
#endif
}
[[gnu::always_inline]] inline BHalf Narrow(float x, BHalf) {
  const std::uint32_t bits = __builtin_bit_cast(std::uint32_t, x);
  const std::uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1)) >> 16;
  const std::uint32_t quiet = (bits >> 16) | 0x40u;
  return {static_cast<std::uint16_t>(x != x ? quiet : rounded)};
}
[[gnu::always_inline]] inline Half Narrow(float x, Half) {
#ifdef __F16C__
  return {static_cast<std::uint16_t>(_cvtss_sh(x, 0))};
#else
  const std::uint32_t bits = __builtin_bit_cast(std::uint32_t, x);
  const std::uint32_t sign = (bits >> 16) & 0x8000u, magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) {
    return {static_cast<std::uint16_t>(sign | 0x7e00u | ((magnitude >> 13) & 0x3ffu))};
  }
  if (magnitude >= 0x477ff000u) return {static_cast<std::uint16_t>(sign | 0x7c00u)};
  if (magnitude < 0x38800000u) {  // the adder rounds a subnormal
    const float shifted = __builtin_bit_cast(float, magnitude) + 0.5f;
    return {static_cast<std::uint16_t>(sign | (__builtin_bit_cast(std::uint32_t, shifted) - 0x3f000000u))};
  }
  const std::uint32_t rounded = magnitude - 0x38000000u + 0xfffu + ((magnitude >> 13) & 1);
  return {static_cast<std::uint16_t>(sign | (rounded >> 13))};
#endif
}

// A number as the float whose last bit is odd if it is not exact, so that it is no half when it is rounded once more.
template <class T>
[[gnu::always_inline]] inline float Single(T x) {
  return static_cast<float>(x);
}
[[gnu::always_inline]] inline float Single(double x) {
  const float nearest = static_cast<float>(x);
  const std::uint32_t bits = __builtin_bit_cast(std::uint32_t, nearest);
  const double magnitude = __builtin_fabs(x), rounded = __builtin_fabs(static_cast<double>(nearest));
  const std::uint32_t cut = rounded > magnitude ? bits - 1 : bits;
  return __builtin_bit_cast(float, rounded == magnitude || x != x ? bits : cut | 1);
}
[[gnu::always_inline]] inline float Single(std::int32_t x) { return Single(static_cast<double>(x)); }
[[gnu::always_inline]] inline float Single(std::int64_t x) {
  // What a double cannot hold has its low bits in one.
  const bool fits = x > -(std::int64_t{1} << 53) && x < (std::int64_t{1} << 53);
  const std::int64_t cut = (x & ~std::int64_t{0x7ff}) | ((x & 0x7ff) != 0 ? 0x400 : 0);
  return Single(static_cast<double>(fits ? x : cut));
}

template <class T>
struct IsSmall {
  static constexpr bool kValue = false;
};
template <>
struct IsSmall<Half> {
  static constexpr bool kValue = true;
};
template <>
struct IsSmall<BHalf> {
  static constexpr bool kValue = true;
};
template <class T>
inline constexpr int kPlace = kIndexOf<T>;
template <>
inline constexpr int kPlace<Half> = 8;
template <>
inline constexpr int kPlace<BHalf> = 9;

template <class From, class To>
[[gnu::always_inline]] inline To Convert(From x) {
  if constexpr (IsSmall<From>::kValue) {
    return Convert<float, To>(Widen(x));
  } else if constexpr (IsSmall<To>::kValue) {
    return Narrow(Single(x), To());
  } else if constexpr (kIndexOf<To> == 7) {
    return x != From(0);
  } else if constexpr (kIsFloat<From> && !kIsFloat<To>) {
    if constexpr (sizeof(To) == 8) {
      return x >= From(-9223372036854775808.0) && x < From(9223372036854775808.0) ? static_cast<To>(x)
                                                                                  : static_cast<To>(1ull << 63);
    } else {
      const bool fits = x > From(-2147483649.0) && x < From(2147483648.0);
      return static_cast<To>(static_cast<std::int32_t>(fits ? x : From(-2147483648.0)));
    }
  } else {
    return static_cast<To>(x);
  }
}

template <class From, class To>
void Cast(void* const* data, std::int64_t n, const Parameters&) {
  auto* const out = static_cast<To*>(data[0]);
  const auto* const in = static_cast<const From*>(data[1]);
  std::int64_t i = 0;
#ifdef __F16C__
  if constexpr (kPlace<From> == 5 && kPlace<To> == 8) {
    for (; i + 8 <= n; i += 8) {
      _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i), _mm256_cvtps_ph(_mm256_loadu_ps(in + i), 0));
    }
  } else if constexpr (kPlace<From> == 8 && kPlace<To> == 5) {
    for (; i + 8 <= n; i += 8) {
      _mm256_storeu_ps(out + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(in + i))));
    }
  }
#endif
  PLUMBLINE_INDEPENDENT
  for (; i < n; ++i) out[i] = Convert<From, To>(in[i]);
}

template <class T>
void Copy(void* const* data, std::int64_t n, const Parameters&) {
  if (data[0] != data[1]) __builtin_memmove(data[0], data[1], static_cast<unsigned long>(n) * sizeof(T));
}

template <class From, class... To>
void AddFrom(LevelTable& table) {
  ((table.cast[kPlace<From>][kPlace<To>] = &Cast<From, To>), ...);
  table.cast[kPlace<From>][kPlace<From>] = &Copy<From>;
}
template <class... T>
void AddEach(LevelTable& table) {
  (AddFrom<T, T...>(table), ...);
}

}  // namespace

void AddCasts(LevelTable& table) {
  AddEach<std::uint8_t, std::int8_t, std::int16_t, std::int32_t, std::int64_t, float, double, bool, Half, BHalf>(table);
}

}  // namespace plumbline::kernels::cpu::PLUMBLINE_LEVEL
