#include "kernels/shapes/matrix.h"

#include "reference/faults/faults.h"

namespace plumbline::kernels {

void CheckDim(const Call& call, int i, std::int64_t dims) {
  if (call.tensor(i).dim() != dims) {
    call.Fail("expected argument " + call.Name(i) + " to have " + std::to_string(dims) +
              " dimensions, but its sizes are " + Print(call.tensor(i).sizes()));
  }
}

void CheckProduct(const Call& call, int a, int b, std::int64_t left, std::int64_t right) {
  if (left != right && !(PLUMBLINE_FAULT(meta_takes_any_sizes) && call.meta())) {
    call.Fail("sizes of " + call.Name(a) + " and " + call.Name(b) +
              " do not fit a product: " + Print(call.tensor(a).sizes()) + " and " + Print(call.tensor(b).sizes()));
  }
}

MmPlan PlanMm(Call& call) {
  CheckDim(call, 0, 2);
  CheckDim(call, 1, 2);
  const Tensor a = call.tensor(0), b = call.tensor(1);
  CheckProduct(call, 0, 1, a.size(1), b.size(0));
  call.CheckSameDType(0, 1);
  call.CheckDType(a.dtype());
  return {a, b, call.PackedResult(0, {a.size(0), b.size(1)}, a.dtype())};
}

}  // namespace plumbline::kernels
