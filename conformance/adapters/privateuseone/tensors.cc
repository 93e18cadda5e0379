// Tensors: made, looked at in another way, and resized. None of it touches an element, but for a storage that grows.

#include <ATen/EmptyTensor.h>
#include <ATen/core/Tensor.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/set_native.h>
#include <ATen/ops/unfold_native.h>
#include <ATen/ops/view_as_complex_native.h>
#include <ATen/ops/view_as_real_native.h>
#include <ATen/ops/view_native.h>
#include <c10/core/DeviceGuard.h>
#include <torch/library.h>

#include "memory.h"

namespace fenced {
namespace {

constexpr c10::DispatchKeySet kKeys(c10::DispatchKey::PrivateUse1);

void CheckOptions(c10::optional<c10::Layout> layout, c10::optional<c10::Device> device,
                  c10::optional<bool> pin_memory) {
  TORCH_CHECK(c10::layout_or_default(layout) == c10::kStrided, kType, " has strided tensors only");
  TORCH_CHECK(!c10::pinned_memory_or_default(pin_memory), "only memory of the CPU can be pinned");
  TORCH_INTERNAL_ASSERT(c10::device_or_default(device).type() == kType);
}

at::Tensor Empty(at::IntArrayRef size, c10::optional<at::ScalarType> dtype, c10::optional<c10::Layout> layout,
                 c10::optional<c10::Device> device, c10::optional<bool> pin_memory,
                 c10::optional<at::MemoryFormat> format) {
  CheckOptions(layout, device, pin_memory);
  const c10::DeviceGuard guard(*device);
  return at::detail::empty_generic(size, DeviceAllocator(), kKeys, c10::dtype_or_default(dtype), format);
}

at::Tensor EmptyStrided(at::IntArrayRef size, at::IntArrayRef stride, c10::optional<at::ScalarType> dtype,
                        c10::optional<c10::Layout> layout, c10::optional<c10::Device> device,
                        c10::optional<bool> pin_memory) {
  CheckOptions(layout, device, pin_memory);
  TORCH_CHECK(size.size() == stride.size(), "mismatch in length of strides and shape: ", stride, " for ", size);
  const c10::DeviceGuard guard(*device);
  return at::detail::empty_strided_generic(size, stride, DeviceAllocator(), kKeys, c10::dtype_or_default(dtype));
}

// As large as the elements of the tensor need.
void GrowStorage(const at::Tensor& tensor) {
  if (tensor.numel() == 0) return;  // wherever it begins
  const std::size_t bytes = at::detail::computeStorageNbytes(tensor.sizes(), tensor.strides(),
                                                             tensor.dtype().itemsize(), tensor.storage_offset());
  c10::StorageImpl& storage = *tensor.storage().unsafeGetStorageImpl();
  if (bytes > storage.nbytes()) Resize(storage, bytes);
}

const at::Tensor& ResizeTensor(const at::Tensor& self, at::IntArrayRef size, c10::optional<at::MemoryFormat> format) {
  at::detail::check_size_nonnegative(size);
  c10::TensorImpl* impl = self.unsafeGetTensorImpl();
  if (self.sizes() != size) {
    // Before the tensor changes: it stays as it is if there is no such memory.
    at::detail::computeStorageNbytesContiguous(size, self.dtype().itemsize(), self.storage_offset());
    impl->set_sizes_contiguous(size);
    GrowStorage(self);
  }
  if (format) {
    TORCH_CHECK(*format != at::MemoryFormat::Preserve, "Unsupported memory format", *format);
    impl->empty_tensor_restride(*format);
  }
  return self;
}

at::Tensor& SetStorage(at::Tensor& self, at::Storage source, int64_t offset, at::IntArrayRef size,
                       at::IntArrayRef stride) {
  at::native::checkSetStorage(self, std::move(source), offset, size, stride);
  c10::TensorImpl* impl = self.unsafeGetTensorImpl();
  impl->set_storage_offset(offset);
  if (stride.data() != nullptr) {
    impl->set_sizes_and_strides(size, stride);
  } else {
    impl->set_sizes_contiguous(size);
  }
  GrowStorage(self);
  return self;
}

at::Tensor& SetToNothing(at::Tensor& self) {
  const c10::DeviceGuard guard(self.device());
  at::Storage nothing(at::Storage::use_byte_size_t(), 0, DeviceAllocator(), true);
  return SetStorage(self, std::move(nothing), 0, {0}, {});
}

// What PyTorch has for any device that keeps sizes and strides as it does.
at::Tensor View(const at::Tensor& self, at::IntArrayRef size) { return at::native::view(self, size); }

at::Tensor ReshapeAlias(const at::Tensor& self, at::IntArrayRef size, at::IntArrayRef stride) {
  return at::native::_reshape_alias(self, size, stride);
}

at::Tensor AsStrided(const at::Tensor& self, at::IntArrayRef size, at::IntArrayRef stride,
                     c10::optional<int64_t> offset) {
  return at::native::as_strided_tensorimpl(self, size, stride, offset);
}

at::Tensor& SetToAllOf(at::Tensor& self, at::Storage source) { return at::native::set_(self, std::move(source)); }

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("empty.memory_format", &Empty);
  m.impl("empty_strided", &EmptyStrided);
  m.impl("resize_", &ResizeTensor);
  m.impl("set_.source_Storage_storage_offset", &SetStorage);
  m.impl("set_.source_Storage", &SetToAllOf);
  m.impl("set_.source_Tensor", &at::native::set_tensor_);
  m.impl("set_", &SetToNothing);
  m.impl("as_strided", &AsStrided);
  m.impl("view", &View);
  m.impl("_reshape_alias", &ReshapeAlias);
  m.impl("unfold", &at::native::unfold);
  m.impl("view_as_real", &at::native::view_as_real);
  m.impl("view_as_complex", &at::native::view_as_complex);
}

// For a look at what the device holds.
std::vector<int64_t> CountsAsList(int64_t device) {
  const Counts counts = CountsOf(static_cast<c10::DeviceIndex>(device));
  return {counts.allocations, counts.blocks, counts.bytes};
}

TORCH_LIBRARY(fenced, m) {
  // Allocations ever, blocks in use, bytes in use.
  m.def("counts(int device) -> int[]", &CountsAsList);
}

}  // namespace
}  // namespace fenced
