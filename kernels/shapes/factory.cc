#include "kernels/shapes/factory.h"

#include "reference/faults/faults.h"

namespace plumbline::kernels {

MemoryFormat FormatOf(const Call& call, int i, MemoryFormat without) {
  if (!call.has(i)) return without;
  const std::int64_t number = call.integer(i);
  if (number < 0 || number > static_cast<int>(MemoryFormat::kChannelsLast3d)) {
    call.Fail("argument " + call.Name(i) + ": there is no memory format of number " + std::to_string(number));
  }
  return static_cast<MemoryFormat>(number);
}

DimVector LikeStrides(const Tensor& self, MemoryFormat format) {
  if (PLUMBLINE_FAULT(like_tensors_are_rows) || PLUMBLINE_FAULT(copies_are_rows)) {
    return reference::ContiguousStrides(self.sizes());
  }
  return format == MemoryFormat::kPreserve ? reference::StridesLike(self.sizes(), self.strides())
                                           : reference::StridesFor(self.sizes(), format);
}

std::optional<Device> DeviceAt(const Call& call, int i) {
  if (!call.has(i)) return std::nullopt;
  return Device::Parse(call.text(i));
}

NewOptions OptionsAt(Call& call, int first) {
  if (call.variant() == tables::Variant::kOut) {
    const Tensor& out = call.tensor(first);
    return {out.dtype(), out.device()};
  }
  if (call.has(first + 1) && call.integer(first + 1) != 0) {
    call.Fail(ErrorClass::kUnsupported,
              "argument 'layout': expected strided, 0, but got " + std::to_string(call.integer(first + 1)));
  }
  if (call.has(first + 3) && call.boolean(first + 3))
    call.Fail(ErrorClass::kUnsupported, "argument 'pin_memory': there is no pinned memory");
  if (PLUMBLINE_FAULT(factories_forget_their_device)) return {call.dtype(first), DeviceType::kCpu};
  return {call.dtype(first), DeviceAt(call, first + 2)};
}

void EmptyOf(Call& call) {
  const bool out = call.variant() == tables::Variant::kOut;
  const NewOptions options = OptionsAt(call, out ? 2 : 1);
  const DimVector sizes = call.ints(0);
  call.SetDevice(options.device.value_or(DeviceType::kCpu));
  const MemoryFormat format = FormatOf(call, out ? 1 : 5, MemoryFormat::kContiguous);
  if (format == MemoryFormat::kPreserve) call.Fail("argument 'memory_format': there is nothing to preserve");
  reference::CheckedBytes(sizes, options.dtype.value_or(kDefaultDType));
  call.Result(0, sizes, options.dtype.value_or(kDefaultDType), reference::StridesFor(sizes, format));
}
void EmptyStridedOf(Call& call) {
  const NewOptions options = OptionsAt(call, 2);
  const Device device = options.device.value_or(DeviceType::kCpu);
  call.Return(
      0, Tensor::EmptyStrided(call.ints(0), call.ints(1), options.dtype.value_or(kDefaultDType), device, call.keys()));
}

}  // namespace plumbline::kernels
