// The two 16-bit floating-point types: IEEE binary16 and bfloat16, kept as bits and computed with as float.
//
//   Float16 half(0.1f);          // rounds to nearest, ties to even
//   float back = half;           // exact
//   BFloat16{0x3F80}.bits        // aggregate-like: from bits by FromBits
//
// NaN stays NaN, quietened, with the sign and the high bits of its payload. Plain values; any thread.
#ifndef PLUMBLINE_REFERENCE_TENSOR_FLOAT16_H_
#define PLUMBLINE_REFERENCE_TENSOR_FLOAT16_H_

#include <bit>
#include <cstdint>

namespace plumbline::reference {

struct Float16 {
  std::uint16_t bits;

  Float16() = default;
  explicit constexpr Float16(float value) : bits(Round(std::bit_cast<std::uint32_t>(value))) {}
  static constexpr Float16 FromBits(std::uint16_t bits) {
    Float16 half(0.0f);
    half.bits = bits;
    return half;
  }

  constexpr operator float() const {
    const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000u) << 16;
    const std::uint32_t exponent = (bits >> 10) & 31u, fraction = bits & 0x3FFu;
    if (exponent == 31) return std::bit_cast<float>(sign | 0x7F800000u | (fraction << 13));
    if (exponent != 0) return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (fraction << 13));
    // Zero and subnormal numbers: multiples of 2^-24, all of which a float has.
    const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(magnitude));
  }

 private:
  static constexpr std::uint16_t Round(std::uint32_t word) {
    const std::uint32_t sign = (word >> 16) & 0x8000u, magnitude = word & 0x7FFFFFFFu;
    if (magnitude > 0x7F800000u) return static_cast<std::uint16_t>(sign | 0x7E00u | ((magnitude >> 13) & 0x3FFu));
    // 65520 lies half-way between the largest number, which is odd, and what would be 2^16.
    if (magnitude >= 0x477FF000u) return static_cast<std::uint16_t>(sign | 0x7C00u);
    if (magnitude < 0x38800000u) {  // below 2^-14: subnormal or zero, in units of 2^-24
      if (magnitude < 0x33000000u) return static_cast<std::uint16_t>(sign);
      const std::uint32_t shift = 126 - (magnitude >> 23), full = (magnitude & 0x7FFFFFu) | 0x800000u;
      return static_cast<std::uint16_t>(sign | ShiftRounded(full, shift));
    }
    return static_cast<std::uint16_t>(sign | ShiftRounded(magnitude - 0x38000000u, 13));
  }
  static constexpr std::uint32_t ShiftRounded(std::uint32_t word, std::uint32_t shift) {
    const std::uint32_t kept = word >> shift, rest = word & ((1u << shift) - 1), half = 1u << (shift - 1);
    return kept + static_cast<std::uint32_t>(rest > half || (rest == half && (kept & 1u) != 0));
  }
};

struct BFloat16 {
  std::uint16_t bits;

  BFloat16() = default;
  explicit constexpr BFloat16(float value) : bits(Round(std::bit_cast<std::uint32_t>(value))) {}
  static constexpr BFloat16 FromBits(std::uint16_t bits) {
    BFloat16 brain(0.0f);
    brain.bits = bits;
    return brain;
  }
  constexpr operator float() const { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

 private:
  static constexpr std::uint16_t Round(std::uint32_t word) {
    if ((word & 0x7FFFFFFFu) > 0x7F800000u) return static_cast<std::uint16_t>((word >> 16) | 0x40u);
    return static_cast<std::uint16_t>((word + 0x7FFFu + ((word >> 16) & 1u)) >> 16);
  }
};

static_assert(sizeof(Float16) == 2 && sizeof(BFloat16) == 2);

}  // namespace plumbline::reference

#endif  // PLUMBLINE_REFERENCE_TENSOR_FLOAT16_H_
