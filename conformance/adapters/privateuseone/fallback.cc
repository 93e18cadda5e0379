#include "fallback.h"

#include <ATen/core/Tensor.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/DeviceGuard.h>
#include <torch/library.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "memory.h"

namespace fenced {
namespace {

bool IsOurs(const c10::Device& device) { return device.type() == kType; }

// As `like`, in another storage.
at::Tensor Twin(const at::Tensor& like, c10::Storage storage, c10::DispatchKey key) {
  at::Tensor twin =
      at::detail::make_tensor<c10::TensorImpl>(std::move(storage), c10::DispatchKeySet(key), like.dtype());
  c10::TensorImpl* impl = twin.unsafeGetTensorImpl();
  impl->set_storage_offset(like.storage_offset());
  impl->set_sizes_and_strides(like.sizes(), like.strides());
  if (like.is_conj()) twin._set_conj(true);
  if (like.is_neg()) twin._set_neg(true);
  // It counts less in type promotion.
  if (like.unsafeGetTensorImpl()->is_wrapped_number()) impl->set_wrapped_number(true);
  return twin;
}

class HostCall {
 public:
  explicit HostCall(const c10::OperatorHandle& op) : op_(op) {}

  void Run(torch::jit::Stack* stack) {
    const auto last = [stack](std::size_t count) { return stack->end() - static_cast<std::ptrdiff_t>(count); };
    const c10::FunctionSchema& schema = op_.schema();
    for (auto value = last(schema.arguments().size()); value != stack->end(); ++value) *value = ToHost(*value);
    op_.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), stack);
    WriteBack();
    for (auto value = last(schema.returns().size()); value != stack->end(); ++value) *value = ToDevice(*value);
  }

 private:
  struct StoragePair {
    c10::Storage device, host;
  };
  struct TensorPair {
    at::Tensor device, host;
  };

  // ---- on the way in ----

  c10::IValue ToHost(const c10::IValue& value) {
    if (value.isTensor()) return Host(value.toTensor());
    if (value.isTensorList()) {
      c10::List<at::Tensor> list;
      for (const at::Tensor& item : value.toTensorVector()) list.push_back(Host(item));
      return list;
    }
    if (value.isOptionalTensorList()) {
      c10::List<c10::optional<at::Tensor>> list;
      for (const c10::optional<at::Tensor>& item : value.toOptionalTensorVector()) {
        list.push_back(item ? c10::make_optional(Host(*item)) : c10::nullopt);
      }
      return list;
    }
    if (value.isDevice() && IsOurs(value.toDevice())) {
      Meet(value.toDevice());
      return c10::Device(c10::kCPU);
    }
    return value;
  }

  at::Tensor Host(const at::Tensor& tensor) {
    if (!tensor.defined()) return tensor;
    if (!IsOurs(tensor.device())) {
      given_.push_back(tensor);
      return tensor;
    }
    Meet(tensor.device());
    for (const TensorPair& pair : tensors_) {
      if (pair.device.is_same(tensor)) return pair.host;
    }
    at::Tensor host = Twin(tensor, HostStorage(tensor.storage()), c10::DispatchKey::CPU);
    tensors_.push_back({tensor, host});
    return host;
  }

  void Meet(c10::Device device) {
    if (!device.has_index()) device = c10::impl::getDeviceGuardImpl(kType)->getDevice();
    if (!device_) device_ = device;
    TORCH_CHECK(*device_ == device, "Expected all tensors to be on the same device, but ", op_.schema().name(),
                " found at least two devices, ", *device_, " and ", device, "!");
  }

  c10::Storage HostStorage(const c10::Storage& device) {
    for (const StoragePair& pair : storages_) {
      if (pair.device.is_alias_of(device)) return pair.host;
    }
    c10::Storage host(c10::Storage::use_byte_size_t(), device.nbytes(), c10::GetCPUAllocator(), true);
    if (device.nbytes() != 0) std::memcpy(host.data(), HostAddress(device.data()), device.nbytes());
    storages_.push_back({device, host});
    return host;
  }

  // ---- on the way back ----

  void WriteBack() {
    for (const StoragePair& pair : storages_) {
      const std::size_t bytes = pair.host.nbytes();
      if (bytes != pair.device.nbytes()) Resize(*pair.device.unsafeGetStorageImpl(), bytes);
      char* there = HostAddress(pair.device.data());
      // What was only read is not written, for the sake of other threads that read it.
      if (bytes != 0 && std::memcmp(there, pair.host.data(), bytes) != 0) std::memcpy(there, pair.host.data(), bytes);
    }
    for (const TensorPair& pair : tensors_) {
      c10::TensorImpl* device = pair.device.unsafeGetTensorImpl();
      const c10::Storage storage = DeviceStorage(pair.host.storage());
      if (!storage.is_alias_of(device->storage())) device->set_storage_keep_dtype(storage);
      if (pair.device.sizes() == pair.host.sizes() && pair.device.strides() == pair.host.strides() &&
          pair.device.storage_offset() == pair.host.storage_offset()) {
        continue;
      }
      device->set_storage_offset(pair.host.storage_offset());
      device->set_sizes_and_strides(pair.host.sizes(), pair.host.strides());
    }
  }

  c10::Storage DeviceStorage(const c10::Storage& host) {
    for (const StoragePair& pair : storages_) {
      if (pair.host.is_alias_of(host)) return pair.device;
    }
    const c10::DeviceGuard guard(*device_);
    c10::Storage device(c10::Storage::use_byte_size_t(), host.nbytes(), DeviceAllocator(), true);
    if (host.nbytes() != 0) std::memcpy(HostAddress(device.data()), host.data(), host.nbytes());
    storages_.push_back({device, host});
    return device;
  }

  c10::IValue ToDevice(const c10::IValue& value) {
    if (value.isTensor()) return Device(value.toTensor());
    if (!value.isTensorList()) return value;
    c10::List<at::Tensor> list;
    for (const at::Tensor& item : value.toTensorVector()) list.push_back(Device(item));
    return list;
  }

  at::Tensor Device(const at::Tensor& result) {
    if (!result.defined() || !result.device().is_cpu() || !device_) return result;
    for (const TensorPair& pair : tensors_) {
      if (pair.host.is_same(result)) return pair.device;
    }
    // A tensor of the CPU that was given, and is given back.
    const auto is_result = [&](const at::Tensor& tensor) { return tensor.is_same(result); };
    if (std::any_of(given_.begin(), given_.end(), is_result)) return result;
    return Twin(result, DeviceStorage(result.storage()), c10::DispatchKey::PrivateUse1);
  }

  const c10::OperatorHandle& op_;
  c10::optional<c10::Device> device_;  // of the results
  std::vector<StoragePair> storages_;
  std::vector<TensorPair> tensors_;
  std::vector<at::Tensor> given_;  // not of this device
};

// A device that is no built-in one is handed its convolutions by names that the CPU has no kernel for.
void Convolution(const c10::OperatorHandle&, torch::jit::Stack* stack) {
  static const c10::OperatorHandle op = c10::Dispatcher::singleton().findSchemaOrThrow("aten::convolution", "");
  HostCall(op).Run(stack);
}

// The CPU's takes the sizes of the bias as well, after the three tensors.
void ConvolutionBackward(const c10::OperatorHandle& overrideable, torch::jit::Stack* stack) {
  static const c10::OperatorHandle op =
      c10::Dispatcher::singleton().findSchemaOrThrow("aten::convolution_backward", "");
  const auto begin = stack->end() - static_cast<std::ptrdiff_t>(overrideable.schema().arguments().size());
  const int64_t channels = begin->toTensor().size(1);  // of what the bias was added to
  stack->insert(begin + 3, c10::List<int64_t>({channels}));
  HostCall(op).Run(stack);
}

TORCH_LIBRARY_IMPL(_, PrivateUse1, m) { m.fallback(torch::CppFunction::makeFromBoxedFunction<&Fallback>()); }

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("convolution_overrideable", torch::CppFunction::makeFromBoxedFunction<&Convolution>());
  m.impl("convolution_backward_overrideable", torch::CppFunction::makeFromBoxedFunction<&ConvolutionBackward>());
}

}  // namespace

void Fallback(const c10::OperatorHandle& op, torch::jit::Stack* stack) { HostCall(op).Run(stack); }

}  // namespace fenced
