#include "conformance/suites/operators/program_capsules.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <vector>

namespace plumbline::suites {
namespace {

// 0.6 has no code for it; this is what later versions have.
constexpr std::uint8_t kBoolCode = 6;

DLDataType DLTypeOf(std::uint32_t dtype) {
  const auto bits = static_cast<std::uint8_t>(8 * DtypeBytes(dtype));
  if (dtype == PL_DTYPE_BOOL) return {kBoolCode, bits, 1};
  if (dtype == PL_DTYPE_BFLOAT16) return {kDLBfloat, bits, 1};
  if (dtype == PL_DTYPE_UINT8) return {kDLUInt, bits, 1};
  return {static_cast<std::uint8_t>(IsFloating(dtype) ? kDLFloat : kDLInt), bits, 1};
}

std::uint32_t DtypeOf(DLDataType type) {
  for (const std::uint32_t dtype : kDtypes) {
    const DLDataType own = DLTypeOf(dtype);
    if (own.code == type.code && own.bits == type.bits && own.lanes == type.lanes) return dtype;
  }
  return PL_DTYPE_NONE;
}

bool IsHostMemory(DLDevice device) {
  return device.device_type == kDLCPU || device.device_type == kDLCUDAHost || device.device_type == kDLROCMHost;
}

std::string SpellingOf(DLDevice device) {
  if (IsHostMemory(device)) return "cpu";
  if (device.device_type == kDLCUDA) return fmt::format("cuda:{}", device.device_id);
  if (device.device_type == kDLExtDev) return fmt::format("privateuseone:{}", device.device_id);
  return fmt::format("kind{}:{}", static_cast<int>(device.device_type), device.device_id);
}

}  // namespace

HostCapsule& HostCapsule::Make(const Statement& statement) {
  static std::vector<std::unique_ptr<HostCapsule>> all;
  all.emplace_back(new HostCapsule(statement));
  return *all.back();
}

HostCapsule::HostCapsule(const Statement& statement) : made_(statement.made) {
  const SpoiltCapsule& spoilt = statement.spoilt;
  DLTensor& told = managed_.dl_tensor;
  told.data = made_.storage.data();
  told.device = {static_cast<DLDeviceType>(spoilt.device.value_or(kDLCPU)), 0};
  told.ndim = static_cast<std::int32_t>(made_.sizes.size());
  told.dtype = DLTypeOf(made_.dtype);
  told.dtype.code = static_cast<std::uint8_t>(spoilt.code.value_or(told.dtype.code));
  told.dtype.bits = static_cast<std::uint8_t>(spoilt.bits.value_or(told.dtype.bits));
  told.dtype.lanes = static_cast<std::uint16_t>(spoilt.lanes.value_or(told.dtype.lanes));
  told.shape = made_.sizes.data();
  told.strides = spoilt.strides_told ? made_.strides.data() : nullptr;
  told.byte_offset = static_cast<std::uint64_t>(made_.offset) * DtypeBytes(made_.dtype);
  managed_.manager_ctx = this;
  managed_.deleter = [](DLManagedTensor* self) { ++static_cast<HostCapsule*>(self->manager_ctx)->deleted_; };
}

CapsuleState HostCapsule::state() const {
  CapsuleState state;
  state.layout = made_;
  state.layout.device = "cpu";
  state.readable = true;
  state.address = reinterpret_cast<std::uintptr_t>(made_.storage.data()) + managed_.dl_tensor.byte_offset;
  state.deleted = deleted_;
  return state;
}

CapsuleState LookAt(const DLManagedTensor& managed) {
  const DLTensor& told = managed.dl_tensor;
  CapsuleState state;
  HostTensor& layout = state.layout;
  layout.dtype = DtypeOf(told.dtype);
  layout.sizes.assign(told.shape, told.shape + told.ndim);
  layout.strides =
      told.strides == nullptr ? ContiguousStrides(layout.sizes) : Sizes(told.strides, told.strides + told.ndim);
  layout.device = SpellingOf(told.device);
  const auto* const first = static_cast<const std::byte*>(told.data) + told.byte_offset;
  state.address = reinterpret_cast<std::uintptr_t>(first);
  state.readable = layout.dtype != PL_DTYPE_NONE && IsHostMemory(told.device);
  if (!state.readable || std::find(layout.sizes.begin(), layout.sizes.end(), 0) != layout.sizes.end()) return state;
  std::int64_t last = 0;
  for (std::size_t d = 0; d < layout.sizes.size(); ++d) last += (layout.sizes[d] - 1) * layout.strides[d];
  layout.storage.assign(first, first + static_cast<std::size_t>(last + 1) * DtypeBytes(layout.dtype));
  return state;
}

}  // namespace plumbline::suites
