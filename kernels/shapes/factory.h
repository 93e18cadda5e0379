// What factories are asked for, and those that need no more than that: empty and empty_strided on any device.
//
//   const NewOptions options = OptionsAt(call, 1);          // dtype, layout, device, pin_memory from argument 1 on
//   call.SetDevice(options.device.value_or(DeviceType::kCpu));
//
// Functions of one call, on its thread.
#ifndef PLUMBLINE_KERNELS_SHAPES_FACTORY_H_
#define PLUMBLINE_KERNELS_SHAPES_FACTORY_H_

#include <optional>

#include "kernels/call.h"

namespace plumbline::kernels {

MemoryFormat FormatOf(const Call& call, int i, MemoryFormat without);
std::optional<Device> DeviceAt(const Call& call, int i);
// Strides of a new tensor like `self` in a memory format.
DimVector LikeStrides(const Tensor& self, MemoryFormat format);

struct NewOptions {
  std::optional<DType> dtype;
  std::optional<Device> device;
};
// They stand together from `first` on; an out= variant has none of them, but its result there.
NewOptions OptionsAt(Call& call, int first);

void EmptyOf(Call& call);         // empty.memory_format
void EmptyStridedOf(Call& call);  // empty_strided

}  // namespace plumbline::kernels

#endif  // PLUMBLINE_KERNELS_SHAPES_FACTORY_H_
