// Tensors with data: made from host memory, described and read back.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "reference/adapter/backend.h"
#include "reference/faults/faults.h"

namespace plumbline::reference::adapter {
namespace {

DType DTypeOf(std::uint32_t number) {
  if (const std::optional<DType> dtype = DTypeOfNumber(number)) return *dtype;
  throw abi::Error(PL_ERROR_INVALID_ARGUMENT, "there is no dtype of number " + std::to_string(number));
}

void NeedsElements(const Tensor& tensor) {
  if (tensor.device().type != DeviceType::kMeta) return;
  throw abi::Error(PL_ERROR_UNSUPPORTED, "a tensor on meta has no elements to read");
}

// Bytes of a tensor's storage from `first` on, on the host: there already, or in `copy`.
const char* OnHost(const Tensor& tensor, std::int64_t first, std::int64_t bytes, std::vector<char>& copy) {
  const char* const start = static_cast<const char*>(tensor.storage().data());
  if (tensor.device().type == DeviceType::kCpu || bytes == 0) return start + first;
  copy.resize(static_cast<std::size_t>(bytes));
  tensor.storage().CopyToHost(copy.data(), first, copy.size());
  return copy.data();
}

void NeedsBytes(std::size_t given, std::size_t due, const char* what) {
  if (given == due) return;
  throw abi::Error(PL_ERROR_INVALID_ARGUMENT, std::string(what) + " has " + std::to_string(due) +
                                                  " bytes, and room for " + std::to_string(given) + " is given");
}

// Kernels read a bool as the byte that it is: any other than 0 and 1 is none.
void NeedsBools(std::span<const std::byte> storage) {
  const auto bad = std::find_if(storage.begin(), storage.end(), [](std::byte b) { return b > std::byte{1}; });
  if (bad == storage.end()) return;
  throw abi::Error(PL_ERROR_INVALID_ARGUMENT, "byte " + std::to_string(bad - storage.begin()) + " of the storage is " +
                                                  std::to_string(std::to_integer<int>(*bad)) +
                                                  "; an element of a bool tensor is 0 or 1");
}

// The elements in row-major order, one dimension after the other.
void CopyElements(const char* from, IntSpan sizes, IntSpan strides, std::size_t item, char*& into) {
  if (sizes.empty()) {
    std::memcpy(into, from, item);
    into += item;
    return;
  }
  for (std::int64_t i = 0; i < sizes[0]; ++i) {
    CopyElements(from + i * strides[0] * static_cast<std::int64_t>(item), sizes.subspan(1), strides.subspan(1), item,
                 into);
  }
}

}  // namespace

Tensor Backend::TensorFromHost(const abi::TensorLayout& layout, std::span<const std::byte> storage) {
  const DType dtype = DTypeOf(layout.dtype);
  const Device device = layout.device.empty() ? Device() : Device::Parse(layout.device);
  if (dtype == DType::kBool) NeedsBools(storage);
  Storage own = Storage::Allocate(storage.size(), device);
  if (device.type != DeviceType::kMeta && !storage.empty()) {
    AllocatorFor(device).CopyFromHost(own.data(), storage.data(), storage.size());
  }
  const std::int64_t offset = PLUMBLINE_FAULT(offset_is_forgotten) ? 0 : layout.offset;
  if (PLUMBLINE_FAULT(nan_payload_is_lost) && dtype == DType::kFloat32 && device.type == DeviceType::kCpu) {
    auto* const elements = static_cast<float*>(own.data());
    for (std::size_t i = 0; i < storage.size() / sizeof(float); ++i) {
      if (std::isnan(elements[i])) elements[i] = std::numeric_limits<float>::quiet_NaN();
    }
  }
  return Tensor::FromStorage(std::move(own), layout.sizes, layout.strides, offset, dtype,
                             Tensor::KeysFor(device, registry_->keys()));
}

abi::TensorInfo Backend::InfoOf(const Tensor& tensor) {
  abi::TensorInfo info;
  info.layout.dtype = static_cast<std::uint32_t>(tensor.dtype());
  info.layout.sizes.assign(tensor.sizes().begin(), tensor.sizes().end());
  info.layout.strides.assign(tensor.strides().begin(), tensor.strides().end());
  info.layout.offset = tensor.storage_offset();
  info.layout.device = tensor.device().Spelling();
  info.storage_bytes = tensor.storage().bytes();
  info.storage = reinterpret_cast<std::uintptr_t>(&tensor.storage().version());
  info.version = tensor.version();
  if (PLUMBLINE_FAULT(all_tensors_share_a_counter)) {
    static std::uint64_t most = 0;
    info.version = most = std::max(most, info.version);
  }
  return info;
}

void Backend::TensorToHost(const Tensor& tensor, std::span<std::byte> elements) {
  NeedsElements(tensor);
  NeedsBytes(elements.size(), static_cast<std::size_t>(tensor.numel()) * tensor.itemsize(), "the tensor");
  const std::int64_t first = tensor.storage_offset() * static_cast<std::int64_t>(tensor.itemsize());
  const std::int64_t end = CheckedExtent(tensor.sizes(), tensor.strides(), tensor.storage_offset(), tensor.dtype());
  std::vector<char> copy;
  const char* const from = OnHost(tensor, first, tensor.numel() == 0 ? 0 : end - first, copy);
  if (tensor.numel() == 0) return;
  char* into = reinterpret_cast<char*>(elements.data());
  CopyElements(from, tensor.sizes(), tensor.strides(), tensor.itemsize(), into);
}

void Backend::StorageToHost(const Tensor& tensor, std::span<std::byte> storage) {
  NeedsElements(tensor);
  NeedsBytes(storage.size(), tensor.storage().bytes(), "the storage");
  std::vector<char> copy;
  const char* const from = OnHost(tensor, 0, static_cast<std::int64_t>(storage.size()), copy);
  if (!storage.empty()) std::memcpy(storage.data(), from, storage.size());
}

}  // namespace plumbline::reference::adapter
