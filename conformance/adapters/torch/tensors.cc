#include "conformance/adapters/torch/tensors.h"

#include <ATen/ATen.h>
#include <ATen/DLConvertor.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/ScalarType.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>

#include "spec/abi/error.h"

namespace plumbline::torch_backend {
namespace {

// The numbers of the two are the same.
at::ScalarType ScalarTypeOf(std::uint32_t dtype) {
  switch (dtype) {
#define PLUMBLINE_TORCH_DTYPE(number, NAME, spelling, bytes) case number:
    PL_DTYPES(PLUMBLINE_TORCH_DTYPE)
#undef PLUMBLINE_TORCH_DTYPE
    return static_cast<at::ScalarType>(dtype);
    default:
      throw abi::Error(PL_ERROR_INVALID_ARGUMENT, "there is no dtype of number " + std::to_string(dtype));
  }
}

// All of a storage as a vector.
at::Tensor Whole(const at::Tensor& tensor) {
  const auto count = static_cast<std::int64_t>(tensor.storage().nbytes() / tensor.element_size());
  return at::empty({0}, tensor.options()).set_(tensor.storage(), 0, {count}, {1});
}

void Copy(const at::Tensor& tensor, std::span<std::byte> into, const char* what) {
  const at::Tensor host = tensor.detach().to(at::kCPU).contiguous();
  const std::size_t bytes = static_cast<std::size_t>(host.numel()) * host.element_size();
  if (bytes != into.size()) {
    throw abi::Error(PL_ERROR_INVALID_ARGUMENT, std::string(what) + " take " + std::to_string(bytes) + " bytes, not " +
                                                    std::to_string(into.size()));
  }
  if (bytes != 0) std::memcpy(into.data(), host.data_ptr(), bytes);
}

void NeedsData(const at::Tensor& tensor) {
  if (!tensor.defined()) throw abi::Error(PL_ERROR_INVALID_ARGUMENT, "an undefined tensor has no data");
  if (!tensor.has_storage()) throw abi::Error(PL_ERROR_INVALID_ARGUMENT, "a tensor made from a key set has no data");
}

// set_ makes a storage larger that is too small; one that the host gave is what there is.
void CheckLayout(const abi::TensorLayout& layout, std::size_t item, std::size_t bytes) {
  const auto wrong = [](const std::string& what) { return abi::Error(PL_ERROR_INVALID_ARGUMENT, what); };
  if (layout.sizes.size() != layout.strides.size()) throw wrong("not as many strides as sizes");
  const auto negative = [](std::int64_t number) { return number < 0; };
  if (std::any_of(layout.sizes.begin(), layout.sizes.end(), negative)) throw wrong("a size is negative");
  if (std::any_of(layout.strides.begin(), layout.strides.end(), negative)) throw wrong("a stride is negative");
  if (layout.offset < 0) throw wrong("the offset is negative");
  std::int64_t count = static_cast<std::int64_t>(item), last = layout.offset, step = 0;
  bool fits = true;
  for (std::size_t i = 0; i < layout.sizes.size(); ++i) {
    if (layout.sizes[i] == 0) return;
    fits = fits && !__builtin_mul_overflow(count, layout.sizes[i], &count) &&
           !__builtin_mul_overflow(layout.sizes[i] - 1, layout.strides[i], &step) &&
           !__builtin_add_overflow(last, step, &last);
  }
  if (!fits || last == std::numeric_limits<std::int64_t>::max()) {
    throw abi::Error(PL_ERROR_OVERFLOW, "the elements of the layout are more than 64 bits count");
  }
  if (static_cast<std::uint64_t>(last) >= bytes / item) {
    throw wrong("its last element is number " + std::to_string(last) + " of a storage of " +
                std::to_string(bytes / item));
  }
}

}  // namespace

at::Tensor FromHost(const abi::TensorLayout& layout, std::span<const std::byte> storage) {
  const at::NoGradGuard no_grad;
  const at::ScalarType type = ScalarTypeOf(layout.dtype);
  const std::size_t item = c10::elementSize(type);
  if (storage.size() % item != 0) {
    throw abi::Error(PL_ERROR_INVALID_ARGUMENT, "a storage of " + std::to_string(storage.size()) +
                                                    " bytes holds no whole number of " + std::to_string(item));
  }
  CheckLayout(layout, item, storage.size());
  at::Tensor whole = at::empty({static_cast<std::int64_t>(storage.size() / item)}, at::TensorOptions(type));
  if (!storage.empty()) std::memcpy(whole.data_ptr(), storage.data(), storage.size());
  if (!layout.device.empty() && layout.device != "cpu") whole = whole.to(at::Device(layout.device));
  // A tensor of its own, not a view of the vector.
  return at::empty({0}, whole.options()).set_(whole.storage(), layout.offset, layout.sizes, layout.strides);
}

abi::TensorInfo InfoOf(const at::Tensor& tensor) {
  NeedsData(tensor);
  abi::TensorInfo info;
  info.layout.dtype = static_cast<std::uint32_t>(tensor.scalar_type());
  info.layout.sizes.assign(tensor.sizes().begin(), tensor.sizes().end());
  info.layout.strides.assign(tensor.strides().begin(), tensor.strides().end());
  info.layout.offset = tensor.storage_offset();
  info.layout.device = tensor.device().str();
  info.storage_bytes = tensor.storage().nbytes();
  info.storage = reinterpret_cast<std::uintptr_t>(tensor.storage().unsafeGetStorageImpl());
  info.version = static_cast<std::uint64_t>(tensor._version());
  return info;
}

void ToHost(const at::Tensor& tensor, std::span<std::byte> elements) {
  NeedsData(tensor);
  Copy(tensor, elements, "the elements");
}

void StorageToHost(const at::Tensor& tensor, std::span<std::byte> storage) {
  NeedsData(tensor);
  const at::NoGradGuard no_grad;
  Copy(Whole(tensor), storage, "the elements of the storage");
}

DLManagedTensor* ToDlpack(const at::Tensor& tensor) {
  NeedsData(tensor);
  if (tensor.device().type() == c10::DeviceType::PrivateUse1) {  // at::toDLPack has no number for them
    throw abi::Error(PL_ERROR_UNSUPPORTED,
                     "PyTorch hands out no tensors of " + tensor.device().str() + " by way of DLPack");
  }
  return at::toDLPack(tensor);
}

at::Tensor FromDlpack(DLManagedTensor* managed) { return at::fromDLPack(managed); }

}  // namespace plumbline::torch_backend
