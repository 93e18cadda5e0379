// Registers the kernels of a device of your own, each for all variants of its operator.
//
//   constexpr NamedKernel kMine[] = {{"neg", &Neg}, {"add.Tensor", &Add}};
//   std::vector<Registration> made = RegisterDeviceKernels(registry, DeviceType::kPrivateUse1, kMine, &Copy,
//   "mine.cc");
//
// neg, neg_ and neg.out become kernels at the device's key; so do the operators that need sizes alone: empty,
// empty_strided, view and as_strided. Composites need nothing: they reach the device through the operators that they
// call, and where one of these has no kernel the call is kNoKernel. The operators may be defined later. Any thread.
#ifndef PLUMBLINE_KERNELS_DEVICE_KERNELS_H_
#define PLUMBLINE_KERNELS_DEVICE_KERNELS_H_

#include <span>
#include <string_view>
#include <vector>

#include "kernels/named_kernel.h"
#include "reference/registry/registry.h"

namespace plumbline::kernels {

// kNotFound for a name that the table has not. `copy` is for two tensors on the device.
[[nodiscard]] std::vector<reference::Registration> RegisterDeviceKernels(reference::Registry& registry,
                                                                         DeviceType device,
                                                                         std::span<const NamedKernel> kernels,
                                                                         CopyFunction copy, std::string_view place);

}  // namespace plumbline::kernels

#endif  // PLUMBLINE_KERNELS_DEVICE_KERNELS_H_
