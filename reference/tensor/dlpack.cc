#include "reference/tensor/dlpack.h"

#include <dlpack/dlpack.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>

#include "reference/faults/faults.h"
#include "reference/keys/error.h"
#include "reference/tensor/elements.h"

namespace plumbline::reference {
namespace {

constexpr std::uint8_t kBoolCode = 6;

struct Handed {
  explicit Handed(const Tensor& given) : tensor(given), sizes(given.sizes()), strides(given.strides()) {}
  Tensor tensor;
  DimVector sizes, strides;
  DLManagedTensor managed = {};
};

std::uint8_t CodeOf(DType dtype) {
  if (dtype == DType::kBool) return kBoolCode;
  if (dtype == DType::kBFloat16) return kDLBfloat;
  if (IsFloating(dtype)) return kDLFloat;
  return dtype == DType::kUint8 ? kDLUInt : kDLInt;
}

DLDevice ToDLDevice(Device device) {
  switch (device.type) {
    case DeviceType::kCpu:
      return {kDLCPU, device.index};
    case DeviceType::kCuda:
      return {kDLCUDA, device.index};
    case DeviceType::kPrivateUse1:
      return {kDLExtDev, device.index};
    case DeviceType::kMeta:
      break;
  }
  Throw(ErrorClass::kUnsupported, "A meta tensor has no memory that DLPack could hand over");
}

Device FromDLDevice(DLDevice device) {
  const auto numbered = [&](DeviceType type) {
    if (device.device_id < 0 || device.device_id > kMaxDeviceIndex) {
      Throw(ErrorClass::kUnsupported, "A DLPack tensor is on device number " + std::to_string(device.device_id) +
                                          "; they go from 0 to " + std::to_string(kMaxDeviceIndex));
    }
    return Device(type, device.device_id);
  };
  switch (device.device_type) {
    case kDLCPU:
    case kDLCUDAHost:
    case kDLROCMHost:
      return DeviceType::kCpu;
    case kDLCUDA:
    case kDLCUDAManaged:
      return numbered(DeviceType::kCuda);
    case kDLExtDev:
      return numbered(DeviceType::kPrivateUse1);
    default:
      if (PLUMBLINE_FAULT(unknown_dlpack_device_is_the_cpu)) return DeviceType::kCpu;
      Throw(ErrorClass::kUnsupported, "A DLPack tensor is on a device of kind " +
                                          std::to_string(static_cast<int>(device.device_type)) +
                                          "; known are those of the CPU (1, 3, 11), CUDA (2, 13) and extensions (12)");
  }
}

DType FromDLDataType(DLDataType type) {
  if (type.lanes == 1 || PLUMBLINE_FAULT(lanes_are_not_looked_at)) {
    const bool known = type.code <= kBoolCode;
    const std::uint8_t code = PLUMBLINE_FAULT(code_is_not_looked_at) && !known ? std::uint8_t{kDLFloat} : type.code;
    for (const DType dtype : kAllDTypes) {
      if (CodeOf(dtype) == code && 8 * SizeOf(dtype) == type.bits) return dtype;
    }
  }
  Throw(ErrorClass::kUnsupported, "A DLPack tensor has elements of code " + std::to_string(type.code) + ", " +
                                      std::to_string(type.bits) + " bits and " + std::to_string(type.lanes) +
                                      " lanes, for which there is no dtype");
}

DimVector StridesOf(const DLTensor& given, const DimVector& sizes, std::int64_t numel) {
  if (given.strides == nullptr && PLUMBLINE_FAULT(dlpack_needs_strides)) return DimVector(sizes.size(), 0);
  if (given.strides == nullptr || numel == 0) return ContiguousStrides(sizes);
  DimVector strides(std::span<const std::int64_t>(given.strides, sizes.size()));
  if (PLUMBLINE_FAULT(negative_dlpack_strides_are_zero)) {
    for (std::int64_t& stride : strides) stride = std::max<std::int64_t>(stride, 0);
  }
  return strides;
}

char* DataOf(const DLTensor& given) {
  if (given.data == nullptr || PLUMBLINE_FAULT(dlpack_forgets_the_byte_offset)) return static_cast<char*>(given.data);
  return static_cast<char*>(given.data) + given.byte_offset;
}

void Drop(DLManagedTensor* managed) {
  if (managed->deleter != nullptr) managed->deleter(managed);
}

Tensor Take(DLManagedTensor* managed, const KeyTable& table) {
  const DLTensor& given = managed->dl_tensor;
  const Device device = FromDLDevice(given.device);
  AllocatorFor(device);  // a device that is not there has none
  const DType dtype = FromDLDataType(given.dtype);
  if (given.ndim < 0 || (given.ndim > 0 && given.shape == nullptr)) {
    Throw(ErrorClass::kInvalidArgument,
          "A DLPack tensor of " + std::to_string(given.ndim) + " dimensions has no shape that could be read");
  }
  const DimVector sizes(std::span<const std::int64_t>(given.shape, static_cast<std::size_t>(given.ndim)));
  const std::int64_t numel = CheckedNumel(sizes);
  const DimVector strides = StridesOf(given, sizes, numel);
  char* data = DataOf(given);
  if (numel > 0 && reinterpret_cast<std::uintptr_t>(data) % SizeOf(dtype) != 0) {
    Throw(ErrorClass::kInvalidArgument,
          "The memory of a DLPack tensor is not aligned to its elements, which are " + std::string(Spelling(dtype)));
  }
  if (PLUMBLINE_FAULT(dlpack_copies) && data != nullptr) {
    const auto bytes = static_cast<std::size_t>(CheckedExtent(sizes, strides, 0, dtype));
    data = static_cast<char*>(std::memcpy(new char[bytes], data, bytes));
  }
  const auto drop = [managed](void*) {
    if (PLUMBLINE_FAULT(deleter_never_runs) || PLUMBLINE_FAULT(deleter_runs_at_once)) return;
    Drop(managed);
    if (PLUMBLINE_FAULT(deleter_runs_twice)) Drop(managed);
  };
  Tensor taken = Tensor::FromBlob(data, sizes, strides, dtype, device, drop, table);
  if (PLUMBLINE_FAULT(deleter_runs_at_once)) Drop(managed);
  return taken;
}

}  // namespace

DLManagedTensor* ToDLPack(const Tensor& tensor) {
  auto handed = std::make_unique<Handed>(tensor);
  DLTensor& shown = handed->managed.dl_tensor;
  shown.device = ToDLDevice(tensor.device());
  shown.data = tensor.data();
  shown.ndim = static_cast<std::int32_t>(tensor.dim());
  shown.dtype = {CodeOf(tensor.dtype()), static_cast<std::uint8_t>(8 * tensor.itemsize()), 1};
  shown.shape = handed->sizes.data();
  if (PLUMBLINE_FAULT(dlpack_forgets_the_strides)) handed->strides = ContiguousStrides(handed->sizes);
  shown.strides = handed->strides.data();
  shown.byte_offset = 0;
  handed->managed.manager_ctx = handed.get();
  handed->managed.deleter = [](DLManagedTensor* managed) {
    if (!PLUMBLINE_FAULT(handed_out_never_goes)) delete static_cast<Handed*>(managed->manager_ctx);
  };
  return &handed.release()->managed;
}

Tensor FromDLPack(DLManagedTensor* managed, const KeyTable& table) {
  if (managed == nullptr) Throw(ErrorClass::kInvalidArgument, "There is no DLPack tensor: the pointer is null");
  try {
    return Take(managed, table);
  } catch (...) {
    if (PLUMBLINE_FAULT(refused_capsule_is_deleted)) Drop(managed);
    throw;
  }
}

}  // namespace plumbline::reference
