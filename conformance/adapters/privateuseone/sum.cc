// A reduction.

#include <ATen/Dispatch.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/core/Tensor.h>
#include <ATen/native/ReduceOpsUtils.h>
#include <torch/library.h>

#include <type_traits>

#include "loops.h"

namespace fenced {
namespace {

// Exact for integers modulo their width, and for floats as good as double precision is.
template <class T>
using Accumulator = std::conditional_t<c10::is_complex<T>::value, c10::complex<double>,
                                       std::conditional_t<std::is_integral_v<T>, std::uint64_t, double>>;

template <class T>
T SumOf(at::TensorIteratorBase& iter) {
  Accumulator<T> sum{};
  iter.serial_for_each(
      [&](char** data, const int64_t* strides, int64_t count) {
        const char* in = HostAddress(data[1]);
        for (int64_t i = 0; i < count; ++i) {
          sum += static_cast<Accumulator<T>>(*reinterpret_cast<const T*>(in + i * strides[1]));
        }
      },
      {0, iter.numel()});
  return static_cast<T>(sum);
}

at::Tensor& Sum(const at::Tensor& self, at::OptionalIntArrayRef dim, bool keepdim, c10::optional<at::ScalarType> dtype,
                at::Tensor& out) {
  // First what is refused, so that a call that is refused has not resized its out.
  const auto reduced = at::native::make_dim_mask(dim.value_or(at::IntArrayRef{}), self.dim());
  if (out.sizes() == at::native::shape_from_dim_mask(self, reduced, keepdim)) at::assert_no_internal_overlap(out);
  at::TensorIterator iter =
      at::native::make_reduction("sum", out, self, dim, keepdim, dtype.value_or(out.scalar_type()));
  if (iter.numel() == 0) return out.zero_();
  AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND3(at::kBool, at::kHalf, at::kBFloat16, iter.dtype(1), "sum", [&] {
    iter.foreach_reduced_elt(
        [](at::TensorIteratorBase& one) {
          c10::cast_and_store<scalar_t>(one.dtype(0), HostAddress(one.data_ptr(0)), SumOf<scalar_t>(one));
        },
        false);
  });
  return out;
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) { m.impl("sum.IntList_out", &Sum); }

}  // namespace
}  // namespace fenced
