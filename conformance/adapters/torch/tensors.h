// Tensors with data: made from host memory, described and read back by libtorch's own operators, and passed through its
// DLPack.
//
// What a device cannot do fails with that device's own error. Any thread.
#ifndef PLUMBLINE_CONFORMANCE_ADAPTERS_TORCH_TENSORS_H_
#define PLUMBLINE_CONFORMANCE_ADAPTERS_TORCH_TENSORS_H_

#include <ATen/core/TensorBody.h>

#include <cstddef>
#include <span>

#include "spec/abi/members.h"

namespace plumbline::torch_backend {

at::Tensor FromHost(const abi::TensorLayout& layout, std::span<const std::byte> storage);
abi::TensorInfo InfoOf(const at::Tensor& tensor);
void ToHost(const at::Tensor& tensor, std::span<std::byte> elements);
void StorageToHost(const at::Tensor& tensor, std::span<std::byte> storage);
DLManagedTensor* ToDlpack(const at::Tensor& tensor);
at::Tensor FromDlpack(DLManagedTensor* managed);

}  // namespace plumbline::torch_backend

#endif  // PLUMBLINE_CONFORMANCE_ADAPTERS_TORCH_TENSORS_H_
