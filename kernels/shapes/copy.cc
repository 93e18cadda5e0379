#include "kernels/shapes/copy.h"

#include <algorithm>

#include "reference/faults/faults.h"

namespace plumbline::kernels {

std::optional<CopyPlan> PlanCopy(Call& call) {
  const Tensor self = call.tensor(0), source = call.tensor(1);
  try {
    reference::ExpandStrides(source.sizes(), source.strides(), self.sizes());
  } catch (const reference::DispatchError& error) {
    call.Fail(error.error_class(), "argument 'src': " + std::string(error.what()));
  }
  if (self.is_same(source)) {
    call.Return(0, self);
    return std::nullopt;
  }
  const bool from_meta = source.device().type == DeviceType::kMeta;
  if (from_meta && !call.meta() && PLUMBLINE_FAULT(meta_is_copied_from)) {
    call.Return(0, self);
    return std::nullopt;
  }
  if (from_meta && !call.meta()) call.Fail(ErrorClass::kUnsupported, "'src' is on meta and has no elements to copy");
  // Any dtype may be copied to any other: the check of casts is not for it.
  return CopyPlan{call.Result(0, self.sizes(), self.dtype()), source};
}

Tensor PlanFill(Call& call) {
  const Tensor self = call.tensor(0);
  const Tensor out = call.Result(0, self.sizes(), self.dtype());
  DimVector sizes(out.sizes());
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (out.strides()[d] == 0) sizes[d] = std::min<std::int64_t>(sizes[d], 1);
  }
  return out.View(sizes, out.strides(), out.storage_offset());
}

}  // namespace plumbline::kernels
