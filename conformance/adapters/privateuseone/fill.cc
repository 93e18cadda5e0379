// All elements alike.

#include <ATen/Dispatch.h>
#include <ATen/core/Tensor.h>
#include <ATen/native/TensorIterator.h>
#include <torch/library.h>

#include "loops.h"

namespace fenced {
namespace {

at::Tensor& Fill(at::Tensor& self, const at::Scalar& value) {
  TORCH_CHECK(self.is_complex() || !value.isComplex(),
              "fill_: a complex number can't be cast to the desired output type ", self.scalar_type());
  at::TensorIterator iter = at::TensorIteratorConfig()
                                .set_check_mem_overlap(false)  // the same for whoever comes last
                                .check_all_same_dtype(false)
                                .resize_outputs(false)
                                .add_output(self)
                                .build();
  AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND4(at::kBool, at::kHalf, at::kBFloat16, at::kComplexHalf, self.scalar_type(),
                                         "fill_", [&] {
                                           const auto element = value.to<scalar_t>();  // refuses what it cannot hold
                                           Elementwise<scalar_t>(iter, [&] { return element; });
                                         });
  return self;
}

at::Tensor& FillByTensor(at::Tensor& self, const at::Tensor& value) {
  TORCH_CHECK(value.dim() == 0, "fill_ only supports 0-dimension value tensor but got tensor with ", value.dim(),
              " dimensions.");
  return Fill(self, value.item());
}

at::Tensor& Zero(at::Tensor& self) { return Fill(self, 0); }

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("fill_.Scalar", &Fill);
  m.impl("fill_.Tensor", &FillByTensor);
  m.impl("zero_", &Zero);
}

}  // namespace
}  // namespace fenced
