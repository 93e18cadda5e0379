#include "reference/tensor/geometry.h"

#include <limits>
#include <numeric>

#include "reference/faults/faults.h"
#include "reference/keys/error.h"
#include "reference/tensor/tensor.h"

namespace plumbline::reference {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

std::int64_t Saturated(std::int64_t a, std::int64_t b) {
  std::int64_t product;
  return __builtin_mul_overflow(a, b, &product) ? kMost : product;
}

void CheckSizes(IntSpan sizes) {
  for (const std::int64_t size : sizes) {
    if (size < 0)
      Throw(ErrorClass::kInvalidArgument, "Sizes " + Print(sizes) + " hold the negative " + std::to_string(size));
  }
}

bool HasZero(IntSpan sizes) { return std::find(sizes.begin(), sizes.end(), 0) != sizes.end(); }

// Dimensions of more than one element by growing stride, equal strides by growing size.
DimVector ByStride(IntSpan sizes, IntSpan strides) {
  DimVector order;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] != 1) order.push_back(static_cast<std::int64_t>(i));
  }
  std::sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    return strides[a] != strides[b] ? strides[a] < strides[b] : sizes[a] < sizes[b];
  });
  return order;
}

// Where the elements are, from the first one, in units of `bytes`.
std::vector<std::int64_t> Places(IntSpan sizes, IntSpan strides, std::int64_t bytes) {
  std::vector<std::int64_t> places = {0};
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::size_t before = places.size();
    for (std::int64_t k = 1; k < sizes[i]; ++k) {
      for (std::size_t j = 0; j < before; ++j) places.push_back(places[j] + k * strides[i] * bytes);
    }
  }
  return places;
}

std::int64_t Grid(IntSpan sizes, IntSpan strides, std::int64_t bytes) {
  std::int64_t grid = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] != 1) grid = std::gcd(grid, strides[i] * bytes);
  }
  return grid;
}

bool SameSteps(const Tensor& a, const Tensor& b) {
  if (IntSpan(a.sizes()) != IntSpan(b.sizes())) return false;
  for (std::size_t i = 0; i < a.sizes().size(); ++i) {
    if (a.sizes()[i] != 1 && a.strides()[i] != b.strides()[i]) return false;
  }
  return true;
}

}  // namespace

std::string Print(IntSpan sizes) {
  std::string text = "[";
  for (const std::int64_t size : sizes) text += (text.size() > 1 ? ", " : "") + std::to_string(size);
  return text + "]";
}

std::string_view Spelling(MemoryFormat format) {
  constexpr std::string_view kSpellings[] = {"contiguous", "preserve", "channels_last", "channels_last_3d"};
  return kSpellings[static_cast<int>(format)];
}

std::int64_t CheckedNumel(IntSpan sizes) {
  if (sizes.size() > kMostDims) {
    Throw(ErrorClass::kOverflow,
          "A tensor has at most " + std::to_string(kMostDims) + " dimensions, not " + std::to_string(sizes.size()));
  }
  if (PLUMBLINE_FAULT(no_dimension_has_no_element) && sizes.empty()) return 0;
  std::int64_t numel = 1;
  bool fits = true, negative = false, zero = false;
  for (const std::int64_t size : sizes) {
    negative = negative || size < 0;
    zero = zero || size == 0;
    // [TENS-014] The order does not matter: what overflowed is not asked for if a size of 0 follows.
    fits = !__builtin_mul_overflow(numel, size, &numel) && fits;
  }
  if (negative && PLUMBLINE_FAULT(negative_size_is_zero)) return 0;
  if (negative) CheckSizes(sizes);
  if (zero && !(PLUMBLINE_FAULT(zero_size_overflows) && !fits)) return 0;
  if (!fits && PLUMBLINE_FAULT(overflow_does_not_say_the_sizes)) Throw(ErrorClass::kOverflow, "too large");
  if (!fits && !PLUMBLINE_FAULT(element_count_wraps))
    Throw(ErrorClass::kOverflow, "The number of elements of sizes " + Print(sizes) + " does not fit into 64 bits");
  return numel;
}

std::int64_t CheckedBytes(IntSpan sizes, DType dtype) {
  std::int64_t bytes;
  if (__builtin_mul_overflow(CheckedNumel(sizes), static_cast<std::int64_t>(SizeOf(dtype)), &bytes) &&
      !PLUMBLINE_FAULT(byte_count_wraps)) {
    Throw(ErrorClass::kOverflow, "The number of bytes of sizes " + Print(sizes) + " of " +
                                     std::string(Spelling(dtype)) + " does not fit into 64 bits");
  }
  return bytes;
}

std::int64_t CheckedExtent(IntSpan sizes, IntSpan strides, std::int64_t offset, DType dtype) {
  if (sizes.size() != strides.size()) {
    Throw(ErrorClass::kInvalidArgument,
          "Sizes " + Print(sizes) + " and strides " + Print(strides) + " are not of the same number of dimensions");
  }
  for (const std::int64_t stride : strides) {
    if (stride < 0 && !PLUMBLINE_FAULT(negative_stride_is_taken)) {
      Throw(ErrorClass::kInvalidArgument,
            "Strides " + Print(strides) + " hold the negative " + std::to_string(stride) + "; strides are 0 or more");
    }
  }
  if (offset < 0) {
    Throw(ErrorClass::kInvalidArgument, "A storage offset is 0 or more, not " + std::to_string(offset));
  }
  // Strides of 0 make a tensor larger than its storage: what reads it counts its bytes too.
  if (PLUMBLINE_FAULT(expanded_elements_are_not_counted)) {
    CheckSizes(sizes);
    if (HasZero(sizes)) return 0;
  } else if (CheckedBytes(sizes, dtype) == 0) {
    return 0;
  }
  std::int64_t last = offset, step;
  bool fits = true;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    fits =
        fits && !__builtin_mul_overflow(sizes[i] - 1, strides[i], &step) && !__builtin_add_overflow(last, step, &last);
  }
  fits = fits && !__builtin_add_overflow(last, 1, &last) &&
         !__builtin_mul_overflow(last, static_cast<std::int64_t>(SizeOf(dtype)), &last);
  if (!fits && !PLUMBLINE_FAULT(last_offset_wraps)) {
    Throw(ErrorClass::kOverflow, "The last element of sizes " + Print(sizes) + ", strides " + Print(strides) +
                                     " and offset " + std::to_string(offset) + " of " + std::string(Spelling(dtype)) +
                                     " lies where 64 bits do not reach");
  }
  return last;
}

std::int64_t WrapDim(std::int64_t dim, std::int64_t dims) {
  const std::int64_t range = std::max<std::int64_t>(dims, 1);
  if (dim < -range || dim >= range) {
    Throw(ErrorClass::kInvalidArgument, "Dimension out of range (expected to be in range of [" +
                                            std::to_string(-range) + ", " + std::to_string(range - 1) + "], but got " +
                                            std::to_string(dim) + ")");
  }
  return dim < 0 ? dim + range : dim;
}

DimVector ContiguousStrides(IntSpan sizes) {
  DimVector strides(sizes.size());
  std::int64_t stride = 1;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    strides[i] = stride;
    stride = Saturated(stride, std::max<std::int64_t>(sizes[i], PLUMBLINE_FAULT(no_element_has_no_stride) ? 0 : 1));
  }
  return strides;
}

DimVector StridesFor(IntSpan sizes, MemoryFormat format) {
  if (format == MemoryFormat::kContiguous) return ContiguousStrides(sizes);
  if (format == MemoryFormat::kPreserve) {
    Throw(ErrorClass::kInvalidArgument, "The memory format 'preserve' needs a tensor whose layout to preserve");
  }
  const std::size_t dims = format == MemoryFormat::kChannelsLast ? 4 : 5;
  if (PLUMBLINE_FAULT(channels_last_is_forgotten) ||
      (PLUMBLINE_FAULT(channels_last_of_any_dimensions) && sizes.size() != dims)) {
    return ContiguousStrides(sizes);
  }
  if (sizes.size() != dims) {
    Throw(ErrorClass::kInvalidArgument, "The memory format '" + std::string(Spelling(format)) + "' is for " +
                                            std::to_string(dims) + " dimensions, not for sizes " + Print(sizes));
  }
  DimVector strides(dims);
  std::int64_t stride = 1;
  const auto next = [&](std::size_t i) {
    strides[i] = stride;
    stride = Saturated(stride, sizes[i]);
  };
  next(1);
  for (std::size_t i = dims - 1; i > 1; --i) next(i);
  next(0);
  return strides;
}

bool ContiguousIn(IntSpan sizes, IntSpan strides, MemoryFormat format) {
  if (format == MemoryFormat::kPreserve) return true;
  const bool channels_last = format != MemoryFormat::kContiguous;
  if (channels_last && sizes.size() != (format == MemoryFormat::kChannelsLast ? 4u : 5u)) return false;
  if (!channels_last && HasZero(sizes)) return true;
  std::int64_t expected = 1;
  const auto matches = [&](std::size_t i) {
    if (sizes[i] == 1 && !PLUMBLINE_FAULT(stride_of_one_element_counts)) return true;
    const bool same = strides[i] == expected;
    expected = Saturated(expected, sizes[i]);
    return same;
  };
  if (channels_last && !matches(1)) return false;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    if (channels_last && i == 1) continue;
    if (!matches(i)) return false;
  }
  return true;
}

bool NonOverlappingAndDense(IntSpan sizes, IntSpan strides) {
  if (HasZero(sizes)) return true;
  std::int64_t expected = 1;
  for (const std::int64_t i : ByStride(sizes, strides)) {
    if (strides[i] != expected) return false;
    expected = Saturated(expected, sizes[i]);
  }
  return true;
}

DimVector StridesLike(IntSpan sizes, IntSpan strides) {
  if (NonOverlappingAndDense(sizes, strides)) return strides;
  // Innermost first, moved only past dimensions that are surely stepped through more slowly: 0 says nothing.
  DimVector order;
  for (std::size_t i = sizes.size(); i-- > 0;) order.push_back(static_cast<std::int64_t>(i));
  for (std::size_t i = 1; i < order.size(); ++i) {
    std::size_t moving = i;
    for (std::size_t other = i; other-- > 0;) {
      const std::int64_t before = order[other], after = order[moving];
      if (strides[before] == 0 || strides[after] == 0) continue;
      if (strides[before] < strides[after]) break;
      if (strides[before] > strides[after] || sizes[before] > sizes[after]) {
        std::swap(order[other], order[moving]);
        moving = other;
      }
    }
  }
  DimVector result(sizes.size());
  std::int64_t stride = 1;
  for (const std::int64_t i : order) {
    result[i] = stride;
    stride = Saturated(stride, std::max<std::int64_t>(sizes[i], 1));
  }
  return result;
}

DimVector BroadcastSizes(IntSpan a, IntSpan b) {
  DimVector result(std::max(a.size(), b.size()));
  for (std::size_t i = 0; i < result.size(); ++i) {  // from the right
    const std::int64_t in_a = i < a.size() ? a[a.size() - 1 - i] : 1, in_b = i < b.size() ? b[b.size() - 1 - i] : 1;
    const std::size_t at = result.size() - 1 - i;
    if (in_a != in_b && in_a != 1 && in_b != 1) {
      Throw(ErrorClass::kInvalidArgument, "The size of tensor a (" + std::to_string(in_a) +
                                              ") must match the size of tensor b (" + std::to_string(in_b) +
                                              ") at non-singleton dimension " + std::to_string(at) + "; sizes are " +
                                              Print(a) + " and " + Print(b));
    }
    result[at] = in_a == 1 ? in_b : in_a;
  }
  return result;
}

DimVector ExpandSizes(IntSpan sizes, IntSpan target) {
  const auto refuse = [&](const std::string& why) {
    Throw(ErrorClass::kInvalidArgument,
          "A tensor of sizes " + Print(sizes) + " cannot be expanded to " + Print(target) + ": " + why);
  };
  if (target.size() < sizes.size()) refuse("there are fewer dimensions than the tensor has");
  DimVector result(target);
  const std::size_t added = target.size() - sizes.size();
  for (std::size_t i = 0; i < target.size(); ++i) {
    if (target[i] == -1) {
      if (i < added) refuse("-1 at dimension " + std::to_string(i) + ", which the tensor does not have");
      result[i] = sizes[i - added];
    } else if (target[i] < 0) {
      refuse("the size " + std::to_string(target[i]) + " is negative");
    } else if (i >= added && sizes[i - added] != 1 && sizes[i - added] != target[i]) {
      refuse("the expanded size (" + std::to_string(target[i]) + ") must match the existing size (" +
             std::to_string(sizes[i - added]) + ") at non-singleton dimension " + std::to_string(i));
    }
  }
  return result;
}

DimVector ExpandStrides(IntSpan sizes, IntSpan strides, IntSpan target) {
  const DimVector expanded = ExpandSizes(sizes, target);
  const std::size_t added = target.size() - sizes.size();
  DimVector result(target.size());
  if (sizes.empty()) return result;
  for (std::size_t i = target.size(); i-- > 0;) {
    if (i < added) {
      // A new dimension of size 1 steps over all that follow, as a contiguous tensor's would.
      result[i] = expanded[i] == 1 ? Saturated(expanded[i + 1], result[i + 1]) : 0;
    } else {
      result[i] = sizes[i - added] == 1 && expanded[i] != 1 ? 0 : strides[i - added];
    }
  }
  return result;
}

DimVector InferSizes(IntSpan target, std::int64_t numel) {
  const auto refuse = [&](const std::string& why) {
    Throw(ErrorClass::kInvalidArgument,
          "Shape " + Print(target) + " is invalid for input of size " + std::to_string(numel) + why);
  };
  DimVector result(target), known;
  std::optional<std::size_t> open;
  for (std::size_t i = 0; i < target.size(); ++i) {
    if (target[i] == -1) {
      if (open && PLUMBLINE_FAULT(two_sizes_are_left)) {
        result[i] = 1;
        continue;
      }
      if (open) refuse(": only one size can be inferred");
      open = i;
    } else {
      if (target[i] < 0) refuse(": the size " + std::to_string(target[i]) + " is negative");
      known.push_back(target[i]);
    }
  }
  const std::int64_t product = CheckedNumel(known);
  if (!open) {
    if (product != numel) refuse("");
    return result;
  }
  if (product == 0 && PLUMBLINE_FAULT(minus_one_beside_zero)) {
    result[*open] = 0;
    return result;
  }
  if (product == 0) refuse(": with a size of 0, any other could stand for -1");
  if (numel % product != 0) refuse("");
  result[*open] = numel / product;
  return result;
}

std::optional<DimVector> ViewStrides(IntSpan sizes, IntSpan strides, IntSpan target) {
  if (HasZero(sizes)) {
    if (sizes == target) return DimVector(strides);
    return ContiguousStrides(target);
  }
  // Runs of dimensions that are stepped through like one, from the innermost: each has to be a product of new sizes.
  DimVector result(target.size(), 1);
  std::size_t open = target.size();  // the new dimensions below have no stride yet
  std::size_t end = sizes.size();
  while (end > 0) {
    const std::int64_t step = strides[end - 1];
    std::int64_t run = sizes[--end];
    while (end > 0 && (sizes[end - 1] == 1 || strides[end - 1] == Saturated(run, step))) run *= sizes[--end];
    std::int64_t covered = 1;
    while (open > 0 && (covered < run || target[open - 1] == 1)) {
      --open;
      result[open] = Saturated(covered, step);
      covered *= target[open];
    }
    if (covered != run) return std::nullopt;
  }
  return result;
}

// ---- overlap ----

InternalOverlap HasInternalOverlap(IntSpan sizes, IntSpan strides) {
  if (HasZero(sizes)) return InternalOverlap::kNo;
  std::int64_t numel = 1, reached = 0;  // the largest offset of the dimensions so far
  bool nested = true;
  for (const std::int64_t i : ByStride(sizes, strides)) {
    if (strides[i] == 0) return InternalOverlap::kYes;
    nested = nested && strides[i] > reached;
    reached += (sizes[i] - 1) * strides[i];
    numel *= sizes[i];
  }
  if (nested) return InternalOverlap::kNo;
  if (numel > kOverlapSearch) return InternalOverlap::kTooHard;
  std::vector<std::int64_t> places = Places(sizes, strides, 1);
  std::sort(places.begin(), places.end());
  const bool twice = std::adjacent_find(places.begin(), places.end()) != places.end();
  return twice ? InternalOverlap::kYes : InternalOverlap::kNo;
}

OverlapKind Overlap(const Tensor& a, const Tensor& b) {
  if (a.is_same(b)) return a.numel() == 0 ? OverlapKind::kNo : OverlapKind::kFull;
  if (a.numel() == 0 || b.numel() == 0 || a.device() != b.device()) return OverlapKind::kNo;
  const bool addresses = a.storage().data() != nullptr && b.storage().data() != nullptr;
  if (!addresses && !a.storage().is_same(b.storage())) return OverlapKind::kNo;
  const auto size_a = static_cast<std::int64_t>(SizeOf(a.dtype())),
             size_b = static_cast<std::int64_t>(SizeOf(b.dtype()));
  // Bytes from a's first element to b's: of blocks of memory from outside, two may be of one piece.
  std::int64_t apart = b.storage_offset() * size_b - a.storage_offset() * size_a;
  if (addresses) {
    apart += static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(b.storage().data()) -
                                       reinterpret_cast<std::intptr_t>(a.storage().data()));
  }
  const std::int64_t extent_a = CheckedExtent(a.sizes(), a.strides(), 0, a.dtype());
  const std::int64_t extent_b = CheckedExtent(b.sizes(), b.strides(), 0, b.dtype());
  if (apart >= extent_a || -apart >= extent_b) return OverlapKind::kNo;
  if (apart == 0 && size_a == size_b && SameSteps(a, b)) return OverlapKind::kFull;
  if (NonOverlappingAndDense(a.sizes(), a.strides()) && NonOverlappingAndDense(b.sizes(), b.strides())) {
    return OverlapKind::kPartial;
  }
  // All places of both are a multiple of `grid` away from the first one: rows that interleave miss one another.
  const std::int64_t grid = std::gcd(Grid(a.sizes(), a.strides(), size_a), Grid(b.sizes(), b.strides(), size_b));
  if (grid > 0) {
    const std::int64_t behind = (apart % grid + grid) % grid;
    if (behind >= size_a && grid - behind >= size_b) return OverlapKind::kNo;
  }
  if (a.numel() > kOverlapSearch - b.numel()) return OverlapKind::kTooHard;
  std::vector<std::int64_t> places = Places(a.sizes(), a.strides(), size_a);
  std::sort(places.begin(), places.end());
  for (const std::int64_t place : Places(b.sizes(), b.strides(), size_b)) {
    const auto at = std::upper_bound(places.begin(), places.end(), place + apart - size_a);
    if (at != places.end() && *at < place + apart + size_b) return OverlapKind::kPartial;
  }
  return OverlapKind::kNo;
}

}  // namespace plumbline::reference
