// The current device of a thread. Work is done when a kernel returns, so streams are there by name only.

#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/util/Exception.h>

#include "memory.h"

namespace fenced {
namespace {

thread_local c10::DeviceIndex current = 0;

class Guard final : public c10::impl::DeviceGuardImplInterface {
 public:
  c10::DeviceType type() const override { return kType; }
  c10::Device exchangeDevice(c10::Device device) const override {
    const c10::Device before = getDevice();
    setDevice(device);
    return before;
  }
  c10::Device getDevice() const override { return {kType, current}; }
  void setDevice(c10::Device device) const override {
    TORCH_CHECK(device.type() == kType, "this is the guard of ", kType, ", not of ", device);
    TORCH_CHECK(device.index() < kDevices, "Invalid device: there is no ", device, ", only ",
                static_cast<int>(kDevices), " from 0 on");
    uncheckedSetDevice(device);
  }
  // Without an index it is the current one.
  void uncheckedSetDevice(c10::Device device) const noexcept override {
    if (device.has_index()) current = device.index();
  }
  c10::Stream getStream(c10::Device device) const noexcept override {
    return c10::Stream(c10::Stream::DEFAULT, device);
  }
  c10::Stream getDefaultStream(c10::Device device) const override { return getStream(device); }
  c10::Stream exchangeStream(c10::Stream stream) const noexcept override { return getStream(stream.device()); }
  c10::DeviceIndex deviceCount() const noexcept override { return kDevices; }
  bool queryStream(const c10::Stream&) const override { return true; }
  void synchronizeStream(const c10::Stream&) const override {}
};

C10_REGISTER_GUARD_IMPL(PrivateUse1, Guard)

}  // namespace
}  // namespace fenced
