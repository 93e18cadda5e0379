#include "conformance/suites/operators/draw.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "spec/abi/abi.h"

namespace plumbline::suites {
namespace {

constexpr long double kInfinity = std::numeric_limits<long double>::infinity();

std::pair<long double, long double> RangeOf(std::uint32_t dtype) {
  switch (dtype) {
    case PL_DTYPE_BOOL:
      return {0, 1};
    case PL_DTYPE_UINT8:
      return {0, 255};
    default: {
      const long double half = std::ldexp(1.0L, static_cast<int>(DtypeBytes(dtype)) * 8 - 1);
      return {-half, half - 1};
    }
  }
}

}  // namespace

// SplitMix64: every seed is as good as any other.
std::uint64_t Draw::Bits() {
  std::uint64_t z = state_ += 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

Sizes Draw::Shape(std::int64_t most) {
  return ShapeOf(static_cast<std::size_t>(Of({0, 1, 1, 1, 2, 2, 2, 3, 3, 4})), most);
}

Sizes Draw::ShapeOf(std::size_t dim, std::int64_t most) {
  Sizes sizes(dim);
  std::int64_t left = most;
  for (std::int64_t& size : sizes) {
    // Around the widths of vectors and blocks, primes, and now and then nothing.
    size =
        OneIn(24) ? 0 : Of<std::int64_t>({1, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64, 67, 127, 129, 257, 1031});
    if (size > left) size = 1 + Below(std::max<std::int64_t>(std::min<std::int64_t>(left, 5), 1));
    left = std::max<std::int64_t>(left / std::max<std::int64_t>(size, 1), 1);
  }
  // Large dimensions are as often last as first.
  if (dim > 1 && OneIn(2)) std::reverse(sizes.begin(), sizes.end());
  return sizes;
}

Sizes Draw::BroadcastsWith(const Sizes& sizes) {
  if (OneIn(2)) return sizes;
  Sizes other = sizes;
  for (std::int64_t& size : other) {
    if (OneIn(3)) size = 1;
  }
  if (!other.empty() && OneIn(3))
    other.erase(other.begin(), other.begin() + Below(static_cast<std::int64_t>(other.size()) + 1));
  return other;
}

long double Draw::Value(std::uint32_t dtype, Values values) {
  if (!IsFloating(dtype)) {
    const auto [least, greatest] = RangeOf(dtype);
    if (dtype == PL_DTYPE_BOOL) return values == Values::kNonZero || values == Values::kPositive ? 1 : Below(2);
    if (values == Values::kAny && OneIn(6)) return Of({least, greatest, least + 1, 0.0L, 1.0L, std::max(least, -1.0L)});
    const long double small = static_cast<long double>(Below(17) - 8);
    const long double value = values == Values::kAny && OneIn(3)
                                  ? std::floor(least + Unit() * (greatest - least))
                                  : std::max(values == Values::kSmallIntegers ? small : small * 5, least);
    if (values == Values::kPositive) return value <= 0 ? 1 - value : value;
    if (values == Values::kNonZero) return value == 0 ? 3 : value;
    return std::clamp(value, least, greatest);
  }
  if (values == Values::kSmallIntegers) return static_cast<long double>(Below(17) - 8);
  if (values == Values::kAny && OneIn(8)) {
    return Of({0.0L, -0.0L, kInfinity, -kInfinity, std::numeric_limits<long double>::quiet_NaN(), 1.0L, -1.0L,
               Greatest(dtype), -Greatest(dtype), LeastNormal(dtype), LeastNormal(dtype) / 2, UlpOf(dtype, 0),
               -UlpOf(dtype, 0), 0.5L, -0.5L, 1.5L, 2.5L});
  }
  if (values == Values::kAny && OneIn(3)) {
    // Any bits: all magnitudes alike, subnormals too.
    HostTensor one = HostTensor::Contiguous(dtype, {1});
    for (std::byte& byte : one.storage) byte = static_cast<std::byte>(Bits());
    if (const long double value = one.Get(0); !std::isnan(value)) return value;
  }
  // A sum of uniform ones is near enough to normal.
  long double value = (Unit() + Unit() + Unit() + Unit() - 2) * 2;
  if (OneIn(4)) value *= std::ldexp(1.0L, static_cast<int>(Below(13)) - 6);
  if (values == Values::kPositive) value = std::fabs(value) + 0x1p-10L;
  value = RoundTo(dtype, value);
  if (values == Values::kNonZero && value == 0) return 1;
  return value;
}

HostTensor Draw::Layout(std::uint32_t dtype, const Sizes& sizes) {
  const std::size_t dim = sizes.size();
  const auto kind = Below(8);
  if (kind < 3 || dim == 0) {
    // Contiguous; now and then in a larger storage.
    const std::int64_t offset = kind == 0 ? 1 + Below(5) : 0;
    return HostTensor::Strided(dtype, sizes, ContiguousStrides(sizes), offset,
                               NumelOf(sizes) + offset + (kind == 0 ? 3 : 0));
  }
  Sizes strides(dim);
  if (kind < 6) {
    // In another order of dimensions, now and then with a step.
    std::vector<std::size_t> order(dim);
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (std::size_t i = dim; i > 1; --i)
      std::swap(order[i - 1], order[static_cast<std::size_t>(Below(static_cast<std::int64_t>(i)))]);
    std::int64_t stride = OneIn(3) ? 2 : 1;
    for (const std::size_t d : order) {
      strides[d] = stride;
      stride *= std::max<std::int64_t>(sizes[d], 1) + (OneIn(4) ? 1 : 0);
    }
  } else {
    // Expanded in some dimensions.
    std::int64_t stride = 1;
    for (std::size_t d = dim; d-- > 0;) {
      strides[d] = OneIn(2) ? 0 : stride;
      if (strides[d] != 0) stride *= std::max<std::int64_t>(sizes[d], 1);
    }
  }
  std::int64_t last = 0;
  for (std::size_t d = 0; d < dim; ++d) last += std::max<std::int64_t>(sizes[d] - 1, 0) * strides[d];
  const std::int64_t offset = OneIn(3) ? Below(4) : 0;
  return HostTensor::Strided(dtype, sizes, std::move(strides), offset, offset + last + 1 + Below(3));
}

void Draw::Fill(HostTensor& tensor, Values values) {
  // Poison where no element is: a kernel that reads it gives a NaN, or a number that stands out.
  const long double poison = IsFloating(tensor.dtype)        ? std::numeric_limits<long double>::quiet_NaN()
                             : tensor.dtype == PL_DTYPE_BOOL ? 1
                                                             : 77;
  for (std::int64_t i = 0; i < tensor.elements(); ++i) tensor.SetAt(i, poison);
  for (std::int64_t i = 0; i < tensor.numel(); ++i) tensor.Set(i, Value(tensor.dtype, values));
}

HostTensor Draw::Tensor(std::uint32_t dtype, const Sizes& sizes, Values values) {
  HostTensor tensor = Layout(dtype, sizes);
  Fill(tensor, values);
  return tensor;
}

HostTensor Draw::Contiguous(std::uint32_t dtype, const Sizes& sizes, Values values) {
  HostTensor tensor = HostTensor::Contiguous(dtype, sizes);
  Fill(tensor, values);
  return tensor;
}

}  // namespace plumbline::suites
