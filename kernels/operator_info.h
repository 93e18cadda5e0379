// An operator of the table as its kernels know it, and a kernel made of a function over a Call.
//
//   const auto info = InfoOf(*tables::FindOperator("aten::neg"), registry, &CopyElements, false);
//   registry.Impl("aten::neg", "CPU", BoxedKernel(info, &Neg), "kernels");
//
// Any thread.
#ifndef PLUMBLINE_KERNELS_OPERATOR_INFO_H_
#define PLUMBLINE_KERNELS_OPERATOR_INFO_H_

#include <memory>
#include <string_view>

#include "kernels/call.h"
#include "reference/boxing/kernel.h"

namespace plumbline::kernels {

// "add.Tensor", also of add_.Tensor and add.out.
std::string_view FunctionalName(const tables::OperatorData& op);

std::shared_ptr<const OperatorInfo> InfoOf(const tables::OperatorData& op, reference::Registry& registry,
                                           CopyFunction copy, bool cpu_only);

reference::Kernel BoxedKernel(std::shared_ptr<const OperatorInfo> info, KernelFunction function);

}  // namespace plumbline::kernels

#endif  // PLUMBLINE_KERNELS_OPERATOR_INFO_H_
