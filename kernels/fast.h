// Typed kernels of the operators that are called most with few elements: what is side by side and of one dtype takes a
// short way, all else the common one.
#ifndef PLUMBLINE_KERNELS_FAST_H_
#define PLUMBLINE_KERNELS_FAST_H_

#include <memory>
#include <optional>
#include <string_view>

#include "kernels/call.h"

namespace plumbline::kernels {

// Nothing for an operator that has no such kernel.
std::optional<reference::Kernel> FastKernel(std::string_view name, std::shared_ptr<const OperatorInfo> info,
                                            KernelFunction function);

}  // namespace plumbline::kernels

#endif  // PLUMBLINE_KERNELS_FAST_H_
