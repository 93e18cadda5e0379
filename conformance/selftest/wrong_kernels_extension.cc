// Two mistakes that a device can have, loaded after the right device and put in the place of its kernels.

#include <ATen/core/Tensor.h>
#include <ATen/ops/add.h>
#include <ATen/ops/index_select_native.h>
#include <torch/library.h>

namespace {

// A kernel that computes wrong: there is a sum where the difference should be.
at::Tensor& SumForDifference(const at::Tensor& self, const at::Tensor& other, const at::Scalar& alpha,
                             at::Tensor& out) {
  return at::add_out(out, self, other, alpha);
}

// An operator that forgot that the memory is not the host's.
at::Tensor ForgotTheFallback(const at::Tensor& self, int64_t dim, const at::Tensor& index) {
  return at::native::index_select_cpu_(self, dim, index);
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("sub.out", &SumForDifference);
  m.impl("index_select", &ForgotTheFallback);
}

}  // namespace
