// Where a tensor's data is: a kind of device and which of them.
//
//   Device gpu{DeviceType::kCuda, 1};   gpu.Spelling() == "cuda:1";
//   Device::Parse("privateuseone:0");   Device::Parse("cpu");
//
// CPU and meta are one device each and spelt without a number. Plain values; any thread.
#ifndef PLUMBLINE_REFERENCE_TENSOR_DEVICE_H_
#define PLUMBLINE_REFERENCE_TENSOR_DEVICE_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace plumbline::reference {

// Meta tensors have shapes and no data; PrivateUse1 is the device of a plug-in.
enum class DeviceType : std::uint8_t { kCpu, kCuda, kMeta, kPrivateUse1 };
inline constexpr int kDeviceTypes = 4;
inline constexpr int kMaxDeviceIndex = 63;

struct Device {
  DeviceType type = DeviceType::kCpu;
  int index = 0;

  constexpr Device() = default;
  constexpr Device(DeviceType type, int index = 0) : type(type), index(index) {}  // a type alone is its first device

  std::string Spelling() const;
  // kInvalidArgument, naming what is known, for a text that is no device.
  static Device Parse(std::string_view text);

  friend constexpr bool operator==(Device, Device) = default;
};

// "CPU", "CUDA", "Meta", "PrivateUse1": also the name of the dispatch key.
std::string_view KeyName(DeviceType type);

}  // namespace plumbline::reference

#endif  // PLUMBLINE_REFERENCE_TENSOR_DEVICE_H_
