// A tensor in the host's memory: what an operator's arguments are drawn as, and its results are read back into.
//
//   HostTensor a = HostTensor::Contiguous(PL_DTYPE_FLOAT32, {2, 3});
//   for (std::int64_t i = 0; i < a.numel(); ++i) a.Set(i, 0.5L * i);       // i counts in row-major order
//   HostTensor b = HostTensor::Strided(PL_DTYPE_INT64, {3}, {0}, 2, 4);    // one element, three times
//
// Elements are read and written as long double, which holds every value of every dtype exactly; what does not fit the
// dtype is rounded to the nearest, ties to even, as IEEE 754 says, and an integer must fit. Plain value; a HostTensor
// may be read by several threads.
#ifndef PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_HOST_TENSOR_H_
#define PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_HOST_TENSOR_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "spec/abi/abi.h"

namespace plumbline::suites {

using Sizes = std::vector<std::int64_t>;

inline constexpr std::uint32_t kDtypes[] = {
#define PLUMBLINE_DTYPE_NUMBER(number, NAME, spelling, bytes) PL_DTYPE_##NAME,
    PL_DTYPES(PLUMBLINE_DTYPE_NUMBER)
#undef PLUMBLINE_DTYPE_NUMBER
};

std::string_view DtypeSpelling(std::uint32_t dtype);  // "float32"
std::size_t DtypeBytes(std::uint32_t dtype);
bool IsFloating(std::uint32_t dtype);

std::int64_t NumelOf(const Sizes& sizes);  // small sizes only: not checked for overflow
Sizes ContiguousStrides(const Sizes& sizes);

// PyTorch's numbers.
inline constexpr std::int64_t kContiguousFormat = 0, kPreserveFormat = 1, kChannelsLast = 2, kChannelsLast3d = 3;
// Of a new tensor in a memory format other than kPreserveFormat; none if it is for another number of dimensions.
std::optional<Sizes> StridesIn(const Sizes& sizes, std::int64_t memory_format);

struct HostTensor {
  std::uint32_t dtype = 0;  // PL_DTYPE_*
  Sizes sizes, strides;     // in elements
  std::int64_t offset = 0;
  std::string device;  // empty: where the call is made
  std::vector<std::byte> storage;

  // All elements zero.
  static HostTensor Contiguous(std::uint32_t dtype, Sizes sizes);
  // In a storage of so many elements.
  static HostTensor Strided(std::uint32_t dtype, Sizes sizes, Sizes strides, std::int64_t offset,
                            std::int64_t elements);

  std::int64_t numel() const { return NumelOf(sizes); }
  std::int64_t elements() const { return static_cast<std::int64_t>(storage.size() / DtypeBytes(dtype)); }
  // The place in the storage of the element that is the i-th in row-major order.
  std::int64_t PlaceOf(std::int64_t i) const;

  long double Get(std::int64_t i) const { return GetAt(PlaceOf(i)); }
  void Set(std::int64_t i, long double value) { SetAt(PlaceOf(i), value); }
  long double GetAt(std::int64_t place) const;
  void SetAt(std::int64_t place, long double value);

  // The elements in row-major order, as bytes: two tensors hold the same iff these are equal.
  std::vector<std::byte> RowMajor() const;
};

// Whether its elements fill a piece of memory, each once.
bool IsDense(const HostTensor& tensor);

// To the nearest value of the dtype, as storing does; what a right kernel gives for an exact operation.
long double RoundTo(std::uint32_t dtype, long double value);
// The distance from |value| to the next greater value of the dtype, its smallest normal number and its greatest.
long double UlpOf(std::uint32_t dtype, long double value);
long double LeastNormal(std::uint32_t dtype);
long double Greatest(std::uint32_t dtype);
// An integer's, or a truth value's, as it is; a floating one's, rounded: it is finite if the value is.
bool Holds(std::uint32_t dtype, long double value);
int DigitsOf(std::uint32_t dtype);  // of the significand, with the hidden one

// Sizes, strides and the first elements, for findings: "float32 [2, 3] strides [3, 1]: 0 1.5 -0 nan ...".
std::string Describe(const HostTensor& tensor);
std::string Number(long double value);  // exactly enough to read it back

}  // namespace plumbline::suites

#endif  // PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_HOST_TENSOR_H_
