#include "kernels/shapes/join.h"

#include "kernels/shapes/promotion.h"
#include "reference/faults/faults.h"

namespace plumbline::kernels {

Tensor Narrowed(const Tensor& self, std::size_t dim, std::int64_t start, std::int64_t length) {
  DimVector sizes(self.sizes());
  sizes[dim] = length;
  return self.View(sizes, self.strides(), self.storage_offset() + start * self.strides()[dim]);
}

namespace {

// A tensor of sizes [0] counts as nothing, whatever the others' sizes are.
bool Skipped(const Tensor& tensor) {
  return tensor.dim() == 1 && tensor.numel() == 0 && !PLUMBLINE_FAULT(empty_tensors_are_joined);
}

}  // namespace

CatPlan PlanCat(Call& call) {
  const std::vector<Tensor> tensors = call.tensors(0);
  if (tensors.empty()) call.Fail("argument 'tensors': expected at least one tensor, but the list is empty");
  Promotion promotion;
  const Tensor* shape = nullptr;
  for (const Tensor& tensor : tensors) {
    if (tensor.dim() == 0) call.Fail("argument 'tensors': a zero-dimensional tensor cannot be joined");
    if (shape == nullptr && !Skipped(tensor)) shape = &tensor;
    promotion.Add(tensor);
  }
  const DType dtype = promotion.Result();
  if (shape == nullptr) shape = &tensors[0];
  const auto d = static_cast<std::size_t>(call.WrapDim(1, shape->dim()));
  DimVector sizes(shape->sizes());
  sizes[d] = 0;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (Skipped(tensors[i])) continue;
    bool fits = tensors[i].dim() == shape->dim();
    for (std::size_t k = 0; k < sizes.size() && fits; ++k) fits = k == d || tensors[i].sizes()[k] == sizes[k];
    if (!fits) {
      call.Fail("argument 'tensors': sizes have to agree but for dimension " + std::to_string(d) + ": expected like " +
                Print(shape->sizes()) + ", but tensor " + std::to_string(i) + " has " + Print(tensors[i].sizes()));
    }
    sizes[d] += tensors[i].sizes()[d];
  }
  CatPlan plan{{}, call.PackedResult(0, sizes, dtype)};
  std::int64_t at = 0;
  for (const Tensor& tensor : tensors) {
    if (Skipped(tensor)) continue;
    plan.parts.push_back({Narrowed(plan.out, d, at, tensor.sizes()[d]), tensor});
    at += tensor.sizes()[d];
  }
  return plan;
}

}  // namespace plumbline::kernels
