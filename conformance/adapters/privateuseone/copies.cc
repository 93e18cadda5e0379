// Between devices and on one, from one dtype to another.

#include <ATen/Dispatch.h>
#include <ATen/core/Tensor.h>
#include <ATen/native/TensorIterator.h>
#include <ATen/ops/_local_scalar_dense.h>
#include <c10/core/DynamicCast.h>
#include <torch/library.h>

#include <complex>
#include <cstring>

#include "loops.h"
#include "memory.h"

namespace fenced {
namespace {

// The bytes, whatever they are.
void CopyBytes(at::TensorIterator& iter) {
  const auto bytes = static_cast<std::size_t>(iter.element_size(0));
  iter.serial_for_each(
      [&](char** data, const int64_t* strides, int64_t count) {
        char *to = OperandAddress(iter, 0, data[0]), *from = OperandAddress(iter, 1, data[1]);
        for (int64_t i = 0; i < count; ++i) std::memmove(to + i * strides[0], from + i * strides[1], bytes);
      },
      {0, iter.numel()});
}

template <class T>
T Conjugate(T value) {
  if constexpr (c10::is_complex<T>::value) return std::conj(value);
  return value;
}

// A tensor may be marked as the conjugate or the negative of what its memory holds.
void CopyConverted(at::TensorIterator& iter, bool conjugate, bool negative) {
  AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND4(at::kBool, at::kHalf, at::kBFloat16, at::kComplexHalf, iter.dtype(1), "copy_",
                                         [&] {
                                           Elementwise<scalar_t, scalar_t>(iter, [&](scalar_t value) {
                                             if (conjugate) value = Conjugate(value);
                                             return negative ? static_cast<scalar_t>(-value) : value;
                                           });
                                         });
}

bool IsKnown(const at::Tensor& tensor) { return tensor.device().is_cpu() || tensor.device().type() == kType; }

void Copy(const at::Tensor& from, const at::Tensor& to) {
  TORCH_CHECK(from.defined() && to.defined(), "copy_: an undefined tensor has no elements");
  if (from.is_same(to) || to.is_meta()) return;
  TORCH_CHECK_NOT_IMPLEMENTED(!from.is_meta(), "Cannot copy out of meta tensor; no data!");
  TORCH_CHECK(IsKnown(from) && IsKnown(to), "copy_: ", kType, " exchanges elements with the CPU, not from ",
              from.device(), " to ", to.device());
  at::TensorIterator iter = at::TensorIteratorConfig()
                                .add_output(to)
                                .add_input(from)
                                .resize_outputs(false)
                                .check_all_same_dtype(false)
                                .check_all_same_device(false)
                                .build();
  const bool conjugate = from.is_conj() != to.is_conj(), negative = from.is_neg() != to.is_neg();
  if (from.scalar_type() == to.scalar_type() && !conjugate && !negative) return CopyBytes(iter);
  CopyConverted(iter, conjugate, negative);
}

// copy_ would do with _copy_from for a device that it does not know. That one is not told of conjugates, though: where
// `to` is marked as one, it is given another tensor to write, and nothing is written.
at::Tensor& CopyInto(at::Tensor& self, const at::Tensor& source, bool /*non_blocking*/) {
  Copy(source, self);
  return self;
}

at::Tensor CopyFrom(const at::Tensor& self, const at::Tensor& to, bool /*non_blocking*/) {
  Copy(self, to);
  return to;
}

at::Tensor CopyFromAndResize(const at::Tensor& self, const at::Tensor& to) {
  to.resize_(self.sizes());
  Copy(self, to);
  return to;
}

at::Scalar LocalScalar(const at::Tensor& self) { return at::_local_scalar_dense(self.cpu()); }

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("copy_", &CopyInto);
  m.impl("_copy_from", &CopyFrom);
  m.impl("_copy_from_and_resize", &CopyFromAndResize);
  m.impl("_local_scalar_dense", &LocalScalar);
}

}  // namespace
}  // namespace fenced
