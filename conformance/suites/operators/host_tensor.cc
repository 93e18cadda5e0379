#include "conformance/suites/operators/host_tensor.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>

#include "spec/abi/abi.h"

namespace plumbline::suites {
namespace {

// Of a binary floating-point format: digits of the significand, and the exponent of its smallest normal number as
// frexp has it.
struct Format {
  int digits, least_exponent, greatest_exponent;
};
constexpr Format FormatOf(std::uint32_t dtype) {
  switch (dtype) {
    case PL_DTYPE_FLOAT16:
      return {11, -13, 16};
    case PL_DTYPE_BFLOAT16:
      return {8, -125, 128};
    case PL_DTYPE_FLOAT32:
      return {24, -125, 128};
    default:
      return {53, -1021, 1024};
  }
}

template <class T>
T Load(const std::vector<std::byte>& storage, std::int64_t place) {
  T value;
  std::memcpy(&value, storage.data() + static_cast<std::size_t>(place) * sizeof(T), sizeof(T));
  return value;
}
template <class T>
void Store(std::vector<std::byte>& storage, std::int64_t place, T value) {
  std::memcpy(storage.data() + static_cast<std::size_t>(place) * sizeof(T), &value, sizeof(T));
}

// For the exponents that float64 has; ldexp is a call with many cases.
long double PowerOfTwo(int exponent) {
  constexpr int kMost = 1100;
  static const auto& powers = *[] {
    auto* made = new std::array<long double, 2 * kMost + 1>;
    for (int i = -kMost; i <= kMost; ++i) (*made)[static_cast<std::size_t>(i + kMost)] = std::ldexp(1.0L, i);
    return made;
  }();
  return std::abs(exponent) <= kMost ? powers[static_cast<std::size_t>(exponent + kMost)] : std::ldexp(1.0L, exponent);
}

// The bits of a 16-bit format with so many digits, widened.
long double FromBits(std::uint16_t bits, int digits, int least_exponent) {
  const int fraction_bits = digits - 1;
  const int exponent_bits = 15 - fraction_bits;
  const int exponent = (bits >> fraction_bits) & ((1 << exponent_bits) - 1);
  const long double fraction = bits & ((1 << fraction_bits) - 1);
  const long double sign = (bits & 0x8000) != 0 ? -1.0L : 1.0L;
  if (exponent == (1 << exponent_bits) - 1) {
    return fraction == 0 ? sign * std::numeric_limits<long double>::infinity()
                         : std::copysign(std::numeric_limits<long double>::quiet_NaN(), sign);
  }
  const int scale = least_exponent - digits;  // of the last digit of a subnormal
  if (exponent == 0) return sign * fraction * PowerOfTwo(scale);
  return sign * (fraction + static_cast<long double>(1 << fraction_bits)) * PowerOfTwo(scale + exponent - 1);
}

std::uint16_t ToBits(long double rounded, int digits, int least_exponent) {
  const int fraction_bits = digits - 1;
  const int exponent_bits = 15 - fraction_bits;
  const std::uint16_t sign = std::signbit(rounded) ? 0x8000 : 0;
  const std::uint16_t infinity = static_cast<std::uint16_t>(((1 << exponent_bits) - 1) << fraction_bits);
  if (std::isnan(rounded)) return static_cast<std::uint16_t>(sign | infinity | (1 << (fraction_bits - 1)));
  if (std::isinf(rounded)) return static_cast<std::uint16_t>(sign | infinity);
  const long double magnitude = std::fabs(rounded);
  const int exponent = magnitude == 0 ? least_exponent - 1 : std::ilogb(magnitude) + 1;
  const int scale = least_exponent - digits;
  if (exponent < least_exponent) {
    return static_cast<std::uint16_t>(sign | static_cast<std::uint16_t>(magnitude * PowerOfTwo(-scale)));
  }
  const int biased = exponent - least_exponent + 1;
  const auto significand = static_cast<std::uint32_t>(magnitude * PowerOfTwo(-(scale + biased - 1)));
  return static_cast<std::uint16_t>(sign | (static_cast<std::uint32_t>(biased) << fraction_bits) |
                                    (significand - (1u << fraction_bits)));
}

}  // namespace

std::string_view DtypeSpelling(std::uint32_t dtype) {
  switch (dtype) {
#define PLUMBLINE_DTYPE_CASE(number, NAME, spelling, bytes) \
  case number:                                              \
    return spelling;
    PL_DTYPES(PLUMBLINE_DTYPE_CASE)
#undef PLUMBLINE_DTYPE_CASE
    default:
      return "no dtype";
  }
}

std::size_t DtypeBytes(std::uint32_t dtype) {
  switch (dtype) {
#define PLUMBLINE_DTYPE_CASE(number, NAME, spelling, bytes) \
  case number:                                              \
    return bytes;
    PL_DTYPES(PLUMBLINE_DTYPE_CASE)
#undef PLUMBLINE_DTYPE_CASE
    default:
      return 1;
  }
}

bool IsFloating(std::uint32_t dtype) {
  return dtype == PL_DTYPE_FLOAT16 || dtype == PL_DTYPE_BFLOAT16 || dtype == PL_DTYPE_FLOAT32 ||
         dtype == PL_DTYPE_FLOAT64;
}

// [TENS-004]
std::int64_t NumelOf(const Sizes& sizes) {
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return 0;  // whatever the others are
  return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1}, std::multiplies<>());
}

// [TENS-002]
Sizes ContiguousStrides(const Sizes& sizes) {
  Sizes strides(sizes.size(), 1);
  for (std::size_t d = sizes.size(); d-- > 1;) {
    // Of a tensor without elements a stride may fit into no number; then it means nothing.
    if (__builtin_mul_overflow(strides[d], std::max<std::int64_t>(sizes[d], 1), &strides[d - 1])) {
      strides[d - 1] = std::numeric_limits<std::int64_t>::max();
    }
  }
  return strides;
}

// [TENS-005]
std::optional<Sizes> StridesIn(const Sizes& sizes, std::int64_t memory_format) {
  if (memory_format == kContiguousFormat) return ContiguousStrides(sizes);
  if (sizes.size() != (memory_format == kChannelsLast ? 4u : 5u)) return std::nullopt;
  // Channels innermost, then the dimensions from the last one, then the batch.
  Sizes strides(sizes.size());
  std::int64_t stride = 1;
  const auto next = [&](std::size_t d) {
    strides[d] = stride;
    stride *= sizes[d];
  };
  next(1);
  for (std::size_t d = sizes.size() - 1; d > 1; --d) next(d);
  next(0);
  return strides;
}

HostTensor HostTensor::Contiguous(std::uint32_t dtype, Sizes sizes) {
  const std::int64_t count = NumelOf(sizes);
  Sizes strides = ContiguousStrides(sizes);
  return Strided(dtype, std::move(sizes), std::move(strides), 0, count);
}

HostTensor HostTensor::Strided(std::uint32_t dtype, Sizes sizes, Sizes strides, std::int64_t offset,
                               std::int64_t elements) {
  HostTensor tensor;
  tensor.dtype = dtype;
  tensor.sizes = std::move(sizes);
  tensor.strides = std::move(strides);
  tensor.offset = offset;
  tensor.storage.resize(static_cast<std::size_t>(elements) * DtypeBytes(dtype));
  return tensor;
}

std::int64_t HostTensor::PlaceOf(std::int64_t i) const {
  std::int64_t place = offset;
  for (std::size_t d = sizes.size(); d-- > 0;) {
    place += i % sizes[d] * strides[d];
    i /= sizes[d];
  }
  return place;
}

long double HostTensor::GetAt(std::int64_t place) const {
  switch (dtype) {
    case PL_DTYPE_UINT8:
      return Load<std::uint8_t>(storage, place);
    case PL_DTYPE_INT8:
      return Load<std::int8_t>(storage, place);
    case PL_DTYPE_INT16:
      return Load<std::int16_t>(storage, place);
    case PL_DTYPE_INT32:
      return Load<std::int32_t>(storage, place);
    case PL_DTYPE_INT64:
      return static_cast<long double>(Load<std::int64_t>(storage, place));
    case PL_DTYPE_BOOL:
      return Load<std::uint8_t>(storage, place) != 0 ? 1 : 0;
    case PL_DTYPE_FLOAT32:
      return Load<float>(storage, place);
    case PL_DTYPE_FLOAT64:
      return Load<double>(storage, place);
    default: {
      const Format format = FormatOf(dtype);
      return FromBits(Load<std::uint16_t>(storage, place), format.digits, format.least_exponent);
    }
  }
}

void HostTensor::SetAt(std::int64_t place, long double value) {
  switch (dtype) {
    case PL_DTYPE_UINT8:
      return Store(storage, place, static_cast<std::uint8_t>(value));
    case PL_DTYPE_INT8:
      return Store(storage, place, static_cast<std::int8_t>(value));
    case PL_DTYPE_INT16:
      return Store(storage, place, static_cast<std::int16_t>(value));
    case PL_DTYPE_INT32:
      return Store(storage, place, static_cast<std::int32_t>(value));
    case PL_DTYPE_INT64:
      return Store(storage, place, static_cast<std::int64_t>(value));
    case PL_DTYPE_BOOL:
      return Store(storage, place, static_cast<std::uint8_t>(value != 0 ? 1 : 0));
    case PL_DTYPE_FLOAT32:
      return Store(storage, place, static_cast<float>(value));
    case PL_DTYPE_FLOAT64:
      return Store(storage, place, static_cast<double>(value));
    default: {
      const Format format = FormatOf(dtype);
      return Store(storage, place, ToBits(RoundTo(dtype, value), format.digits, format.least_exponent));
    }
  }
}

bool IsDense(const HostTensor& tensor) {
  std::vector<std::pair<std::int64_t, std::int64_t>> order;
  for (std::size_t d = 0; d < tensor.sizes.size(); ++d) {
    if (tensor.sizes[d] != 1) order.emplace_back(tensor.strides[d], tensor.sizes[d]);
  }
  std::sort(order.begin(), order.end());
  std::int64_t expected = 1;
  for (const auto& [stride, size] : order) {
    if (stride != expected) return false;
    expected *= size;
  }
  return true;
}

std::vector<std::byte> HostTensor::RowMajor() const {
  const std::size_t item = DtypeBytes(dtype);
  std::vector<std::byte> out(static_cast<std::size_t>(numel()) * item);
  for (std::int64_t i = 0; i < numel(); ++i) {
    std::memcpy(out.data() + static_cast<std::size_t>(i) * item,
                storage.data() + static_cast<std::size_t>(PlaceOf(i)) * item, item);
  }
  return out;
}

int DigitsOf(std::uint32_t dtype) { return FormatOf(dtype).digits; }

long double LeastNormal(std::uint32_t dtype) { return PowerOfTwo(FormatOf(dtype).least_exponent - 1); }

long double Greatest(std::uint32_t dtype) {
  const Format format = FormatOf(dtype);
  return (1 - PowerOfTwo(-format.digits)) * PowerOfTwo(format.greatest_exponent);
}

long double UlpOf(std::uint32_t dtype, long double value) {
  const Format format = FormatOf(dtype);
  int exponent = format.least_exponent;
  if (value != 0 && std::isfinite(value)) exponent = std::max(std::ilogb(value) + 1, format.least_exponent);
  return PowerOfTwo(exponent - format.digits);
}

long double RoundTo(std::uint32_t dtype, long double value) {
  // The machine rounds to its own formats, once.
  if (dtype == PL_DTYPE_FLOAT64) return static_cast<double>(value);
  if (dtype == PL_DTYPE_FLOAT32) return static_cast<float>(value);
  if (!IsFloating(dtype) || !std::isfinite(value) || value == 0) return value;
  // Beside a number whose last place is an ulp of the dtype, nothing smaller is left; ties go to even.
  const long double large = UlpOf(dtype, value) * 0x1.8p63L;
  static_assert(std::numeric_limits<long double>::digits == 64, "an ulp of `large` is one of the dtype");
  const long double rounded = std::copysign((std::fabs(value) + large) - large, value);
  return std::fabs(rounded) > Greatest(dtype) ? std::copysign(std::numeric_limits<long double>::infinity(), value)
                                              : rounded;
}

bool Holds(std::uint32_t dtype, long double value) {
  if (IsFloating(dtype)) return !std::isfinite(value) || std::isfinite(RoundTo(dtype, value));
  if (dtype == PL_DTYPE_BOOL) return value == 0 || value == 1;
  const int bits = 8 * static_cast<int>(DtypeBytes(dtype));
  const long double least = dtype == PL_DTYPE_UINT8 ? 0 : -PowerOfTwo(bits - 1);
  return value == std::trunc(value) && value >= least && value <= least + PowerOfTwo(bits) - 1;
}

std::string Number(long double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  if (value == std::nearbyint(value) && value >= -0x1p63L && value < 0x1p63L) {
    return std::signbit(value) && value == 0 ? "-0" : fmt::format("{}", static_cast<std::int64_t>(value));
  }
  return fmt::format("{:.17g}", static_cast<double>(value));
}

std::string Describe(const HostTensor& tensor) {
  constexpr std::int64_t kShown = 12;
  std::string text = fmt::format("{} [{}]", DtypeSpelling(tensor.dtype), fmt::join(tensor.sizes, ", "));
  if (tensor.strides != ContiguousStrides(tensor.sizes)) {
    text += fmt::format(" strides [{}]", fmt::join(tensor.strides, ", "));
  }
  if (tensor.offset != 0) text += fmt::format(" offset {}", tensor.offset);
  text += ":";
  for (std::int64_t i = 0; i < std::min(kShown, tensor.numel()); ++i) text += " " + Number(tensor.Get(i));
  if (tensor.numel() > kShown) text += " ...";
  return text;
}

}  // namespace plumbline::suites
