#include "reference/tensor/device.h"

#include <charconv>

#include "reference/faults/faults.h"
#include "reference/keys/error.h"

namespace plumbline::reference {
namespace {

struct Names {
  DeviceType type;
  std::string_view spelling, key;
  bool numbered;
};
constexpr Names kNames[kDeviceTypes] = {
    {DeviceType::kCpu, "cpu", "CPU", false},
    {DeviceType::kCuda, "cuda", "CUDA", true},
    {DeviceType::kMeta, "meta", "Meta", false},
    {DeviceType::kPrivateUse1, "privateuseone", "PrivateUse1", true},
};

const Names& NamesOf(DeviceType type) { return kNames[static_cast<int>(type)]; }

}  // namespace

std::string Device::Spelling() const {
  const Names& names = NamesOf(type);
  std::string text(names.spelling);
  return names.numbered ? text + ":" + std::to_string(index) : text;
}

Device Device::Parse(std::string_view text) {
  const std::size_t colon = text.find(':');
  for (const Names& names : kNames) {
    if (text.substr(0, colon) != names.spelling) continue;
    if (colon == std::string_view::npos) return names.type;
    const std::string_view number = text.substr(colon + 1);
    int index = -1;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), index);
    const int most = names.numbered ? kMaxDeviceIndex : 0;
    if (error != std::errc() || end != number.data() + number.size() || index < 0 || index > most) {
      Throw(ErrorClass::kInvalidArgument, "Device '" + std::string(text) + "': the number after ':' is 0" +
                                              (most > 0 ? " to " + std::to_string(most) : std::string()));
    }
    return {names.type, index};
  }
  if (PLUMBLINE_FAULT(unknown_device_is_the_cpu)) return DeviceType::kCpu;
  Throw(ErrorClass::kInvalidArgument,
        "'" + std::string(text) + "' is no device; known are cpu, cuda, meta and privateuseone, as in 'cuda:0'");
}

std::string_view KeyName(DeviceType type) { return NamesOf(type).key; }

}  // namespace plumbline::reference
