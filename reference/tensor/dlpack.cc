#include "reference/tensor/dlpack.h"

#include <dlpack/dlpack.h>

#include <memory>
#include <string>

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
      Throw(ErrorClass::kUnsupported, "A DLPack tensor is on a device of kind " +
                                          std::to_string(static_cast<int>(device.device_type)) +
                                          "; known are those of the CPU (1, 3, 11), CUDA (2, 13) and extensions (12)");
  }
}

DType FromDLDataType(DLDataType type) {
  if (type.lanes == 1) {
    for (const DType dtype : kAllDTypes) {
      if (CodeOf(dtype) == type.code && 8 * SizeOf(dtype) == type.bits) return dtype;
    }
  }
  Throw(ErrorClass::kUnsupported, "A DLPack tensor has elements of code " + std::to_string(type.code) + ", " +
                                      std::to_string(type.bits) + " bits and " + std::to_string(type.lanes) +
                                      " lanes, for which there is no dtype");
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
  shown.strides = handed->strides.data();
  shown.byte_offset = 0;
  handed->managed.manager_ctx = handed.get();
  handed->managed.deleter = [](DLManagedTensor* managed) { delete static_cast<Handed*>(managed->manager_ctx); };
  return &handed.release()->managed;
}

Tensor FromDLPack(DLManagedTensor* managed, const KeyTable& table) {
  if (managed == nullptr) Throw(ErrorClass::kInvalidArgument, "There is no DLPack tensor: the pointer is null");
  const DLTensor& given = managed->dl_tensor;
  const Device device = FromDLDevice(given.device);
  const DType dtype = FromDLDataType(given.dtype);
  if (given.ndim < 0 || (given.ndim > 0 && given.shape == nullptr)) {
    Throw(ErrorClass::kInvalidArgument,
          "A DLPack tensor of " + std::to_string(given.ndim) + " dimensions has no shape that could be read");
  }
  const auto dims = static_cast<std::size_t>(given.ndim);
  const DimVector sizes(std::span<const std::int64_t>(given.shape, dims));
  const std::int64_t numel = CheckedNumel(sizes);
  const DimVector strides = given.strides == nullptr || numel == 0
                                ? ContiguousStrides(sizes)
                                : DimVector(std::span<const std::int64_t>(given.strides, dims));
  char* const data = given.data == nullptr ? nullptr : static_cast<char*>(given.data) + given.byte_offset;
  if (numel > 0 && reinterpret_cast<std::uintptr_t>(data) % SizeOf(dtype) != 0) {
    Throw(ErrorClass::kInvalidArgument,
          "The memory of a DLPack tensor is not aligned to its elements, which are " + std::string(Spelling(dtype)));
  }
  const auto drop = [managed](void*) {
    if (managed->deleter != nullptr) managed->deleter(managed);
  };
  return Tensor::FromBlob(data, sizes, strides, dtype, device, drop, table);
}

}  // namespace plumbline::reference
