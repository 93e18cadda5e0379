// Arithmetic of sizes and strides. Nothing here overflows in silence: a count that does not fit is kOverflow with the
// sizes in the message, never a smaller count.
//
//   std::int64_t bytes = CheckedBytes(sizes, DType::kFloat32);
//   DimVector strides = ContiguousStrides({2, 3, 4});                   // {12, 4, 1}
//   DimVector sizes = BroadcastSizes({3, 1, 4}, {5, 4});                // {3, 5, 4}
//
// Sizes and strides are counted in elements. A dimension of size 1 may have any stride, and a tensor without elements
// any strides. Strides are never negative. Pure functions; any thread.
#ifndef PLUMBLINE_REFERENCE_TENSOR_GEOMETRY_H_
#define PLUMBLINE_REFERENCE_TENSOR_GEOMETRY_H_

#include <cstdint>
#include <optional>

#include "reference/tensor/dims.h"
#include "reference/tensor/dtype.h"

namespace plumbline::reference {

class Tensor;

// PyTorch's numbers.
enum class MemoryFormat : std::uint8_t { kContiguous = 0, kPreserve = 1, kChannelsLast = 2, kChannelsLast3d = 3 };
std::string_view Spelling(MemoryFormat format);  // "channels_last"

// ---- counts ----
// A negative size is kInvalidArgument. Any size of 0 makes it 0, whatever the others are.
std::int64_t CheckedNumel(IntSpan sizes);
std::int64_t CheckedBytes(IntSpan sizes, DType dtype);
// Bytes from the start of the storage to behind the last element; 0 without elements. Also checks that there are as
// many strides as sizes, and that neither strides nor offset are negative (kInvalidArgument).
std::int64_t CheckedExtent(IntSpan sizes, IntSpan strides, std::int64_t offset, DType dtype);
// -1 counts from the end. kInvalidArgument, with the range that is allowed, outside of it; a 0-d tensor takes 0 and -1.
std::int64_t WrapDim(std::int64_t dim, std::int64_t dims);

// ---- strides ----
// Row-major; a size of 0 counts as 1. A stride past the last of int64, which only a tensor without elements can have,
// is the last.
DimVector ContiguousStrides(IntSpan sizes);
// Channels innermost: 4 dimensions for kChannelsLast, 5 for kChannelsLast3d, else kInvalidArgument. kPreserve is
// kInvalidArgument: there is nothing here to preserve.
DimVector StridesFor(IntSpan sizes, MemoryFormat format);
bool ContiguousIn(IntSpan sizes, IntSpan strides, MemoryFormat format = MemoryFormat::kContiguous);
// Whether the elements fill one gapless range, each place once, in whatever order.
bool NonOverlappingAndDense(IntSpan sizes, IntSpan strides);
// For a result of those sizes, laid out in the order of the given strides but without gaps; row-major if they are not
// NonOverlappingAndDense. What kPreserve means.
DimVector StridesLike(IntSpan sizes, IntSpan strides);

// ---- shapes ----
// PyTorch's rule: aligned at the right, sizes equal or 1. kInvalidArgument with both sizes and the dimension.
DimVector BroadcastSizes(IntSpan a, IntSpan b);
// Strides with which a tensor of those sizes is read as `target`: 0 where it is repeated. kInvalidArgument otherwise.
DimVector ExpandStrides(IntSpan sizes, IntSpan strides, IntSpan target);
// The sizes that expand() asks for: -1 keeps a size. kInvalidArgument otherwise.
DimVector ExpandSizes(IntSpan sizes, IntSpan target);
// The size that stands for -1 in a new shape of numel elements; kInvalidArgument if the shape cannot hold them.
DimVector InferSizes(IntSpan target, std::int64_t numel);
// Strides with which the same elements, in row-major order, are seen as `target`; nothing if that takes a copy. Both
// have the same number of elements.
std::optional<DimVector> ViewStrides(IntSpan sizes, IntSpan strides, IntSpan target);

// ---- overlap ----
// Decided exactly up to this many elements, and beyond for what is stepped through in nested order.
inline constexpr std::int64_t kOverlapSearch = 1 << 16;
enum class InternalOverlap { kNo, kYes, kTooHard };
// Whether two elements share a place, so that writing to one changes the other.
InternalOverlap HasInternalOverlap(IntSpan sizes, IntSpan strides);

enum class OverlapKind {
  kNo,       // no byte in common
  kFull,     // the same elements at the same places
  kPartial,  // bytes in common, but not as in kFull
  kTooHard,  // not decided
};
// Of the places in memory; on meta of those that the storage would have.
OverlapKind Overlap(const Tensor& a, const Tensor& b);

}  // namespace plumbline::reference

#endif  // PLUMBLINE_REFERENCE_TENSOR_GEOMETRY_H_
