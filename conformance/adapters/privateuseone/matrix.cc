// A product of matrices, as it is written down.

#include <ATen/Dispatch.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/core/Tensor.h>
#include <ATen/native/Resize.h>
#include <torch/library.h>

#include "loops.h"

namespace fenced {
namespace {

template <class T>
struct Matrix {
  explicit Matrix(const at::Tensor& tensor)
      : elements(reinterpret_cast<T*>(HostAddress(tensor.data_ptr()))),
        row(tensor.stride(0)),
        column(tensor.stride(1)) {}
  T& operator()(int64_t i, int64_t j) const { return elements[i * row + j * column]; }

  T* elements;
  int64_t row, column;
};

at::Tensor& MatrixProduct(const at::Tensor& self, const at::Tensor& mat2, at::Tensor& out) {
  TORCH_CHECK(self.dim() == 2, "self must be a matrix");
  TORCH_CHECK(mat2.dim() == 2, "mat2 must be a matrix");
  TORCH_CHECK(self.device() == mat2.device() && self.device() == out.device(),
              "Expected all tensors to be on the same device, but mm found self on ", self.device(), ", mat2 on ",
              mat2.device(), " and out on ", out.device());
  TORCH_CHECK(self.scalar_type() == mat2.scalar_type() && self.scalar_type() == out.scalar_type(),
              "expected scalar type ", self.scalar_type(), " as self has, but mat2 has ", mat2.scalar_type(),
              " and out ", out.scalar_type());
  TORCH_CHECK(self.size(1) == mat2.size(0), "mat1 and mat2 shapes cannot be multiplied (", self.size(0), "x",
              self.size(1), " and ", mat2.size(0), "x", mat2.size(1), ")");
  // This operator is given conjugates as they are.
  const at::Tensor left = self.resolve_conj(), right = mat2.resolve_conj();
  AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND2(at::kHalf, at::kBFloat16, out.scalar_type(), "mm", [&] {
    // Only now, so that what is refused for its dtype is not resized.
    at::native::resize_output(out, {self.size(0), mat2.size(1)});
    at::assert_no_internal_overlap(out);
    at::assert_no_overlap(out, self);
    at::assert_no_overlap(out, mat2);
    using Number = Arithmetic<scalar_t>;
    const Matrix<scalar_t> a(left), b(right), c(out);
    for (int64_t i = 0; i < out.size(0); ++i) {
      for (int64_t j = 0; j < out.size(1); ++j) {
        Number sum{};
        for (int64_t k = 0; k < left.size(1); ++k) sum += static_cast<Number>(a(i, k)) * static_cast<Number>(b(k, j));
        c(i, j) = static_cast<scalar_t>(sum);
      }
    }
  });
  return out;
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) { m.impl("mm.out", &MatrixProduct); }

}  // namespace
}  // namespace fenced
