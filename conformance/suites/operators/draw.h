// Draws of arguments for operators: shapes, layouts, dtypes and values that kernels stumble over.
//
//   Draw draw(seed);
//   HostTensor a = draw.Tensor(PL_DTYPE_FLOAT32, draw.Shape(), Values::kAny);
//   HostTensor b = draw.Tensor(PL_DTYPE_FLOAT32, draw.BroadcastsWith(a.sizes), Values::kSmallIntegers);
//
// Everything follows from the seed. Tensors are drawn in the dtype: a value is one that the dtype has. A layout may be
// contiguous, transposed, sliced with a step, an offset into a larger storage, or expanded (stride 0); what lies in the
// storage and is no element is poison. A Draw belongs to one thread.
#ifndef PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_DRAW_H_
#define PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_DRAW_H_

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "conformance/suites/operators/host_tensor.h"

namespace plumbline::suites {

enum class Values {
  kUsual,          // around 0, a few orders of magnitude
  kAny,            // of all magnitudes that the dtype has, and special ones: zeros of both signs, infinities, NaN
  kPositive,       // usual ones above 0
  kSmallIntegers,  // -8 to 8, so that sums and products are exact in any order
  kNonZero,        // usual ones, none 0
};

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : state_(seed) {}

  std::uint64_t Bits();
  std::int64_t Below(std::int64_t n) { return static_cast<std::int64_t>(Bits() % static_cast<std::uint64_t>(n)); }
  bool OneIn(std::int64_t n) { return Below(n) == 0; }
  long double Unit() { return static_cast<long double>(Bits() >> 11) * 0x1p-53L; }  // [0, 1)
  template <class X>
  X Of(std::initializer_list<X> choices) {
    return choices.begin()[Below(static_cast<std::int64_t>(choices.size()))];
  }
  template <class X>
  const X& Of(const std::vector<X>& choices) {
    return choices[static_cast<std::size_t>(Below(static_cast<std::int64_t>(choices.size())))];
  }

  // 0-d, empty, of one element, odd, prime and large sizes; up to so many elements.
  Sizes Shape(std::int64_t most = 4096);
  Sizes ShapeOf(std::size_t dim, std::int64_t most = 4096);
  // Of which one broadcasts with the other; mostly smaller than it.
  Sizes BroadcastsWith(const Sizes& sizes);

  long double Value(std::uint32_t dtype, Values values);
  HostTensor Tensor(std::uint32_t dtype, const Sizes& sizes, Values values);
  // Of no layout but the contiguous one.
  HostTensor Contiguous(std::uint32_t dtype, const Sizes& sizes, Values values);

 private:
  HostTensor Layout(std::uint32_t dtype, const Sizes& sizes);
  void Fill(HostTensor& tensor, Values values);

  std::uint64_t state_;
};

}  // namespace plumbline::suites

#endif  // PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_DRAW_H_
