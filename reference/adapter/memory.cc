// What a device's memory is in use for, and tensors by way of DLPack.
#include <algorithm>
#include <utility>

#include "reference/adapter/backend.h"
#include "reference/tensor/dlpack.h"
#include "reference/tensor/memory_report.h"

namespace plumbline::reference::adapter {
namespace {

Allocator& AllocatorOf(std::string_view device) {
  return AllocatorFor(device.empty() ? Device() : Device::Parse(device));
}

abi::MemoryHolder ToHolder(const MemoryHolder& holder) {
  abi::MemoryHolder told{.foreign = !holder.allocated,
                         .storage = reinterpret_cast<std::uintptr_t>(holder.storage),
                         .bytes = static_cast<std::uint64_t>(holder.bytes)};
  for (const MemoryHolder::Shape& shape : holder.tensors) {
    told.tensors.push_back(
        {static_cast<std::uint32_t>(shape.dtype), {shape.sizes.begin(), shape.sizes.end()}, shape.name});
  }
  return told;
}

}  // namespace

abi::MemoryFigures Backend::MemoryOf(std::string_view device) {
  const AllocatorStatistics now = AllocatorOf(device).statistics();
  const auto told = [](std::int64_t figure) { return static_cast<std::uint64_t>(figure); };
  return {told(now.live_bytes), told(now.peak_bytes), told(now.cached_bytes), told(now.live_blocks)};
}

void Backend::ResetPeak(std::string_view device) { AllocatorOf(device).ResetPeak(); }

void Backend::EmptyCache(std::string_view device) { AllocatorOf(device).EmptyCache(); }

void Backend::RecordTensors(bool on) { reference::RecordTensors(on); }

std::vector<abi::MemoryHolder> Backend::MemoryHolders(std::string_view device) {
  const Device asked = AllocatorOf(device).device();
  std::vector<abi::MemoryHolder> holders;
  for (const DeviceMemory& one : ReportMemory()) {
    if (one.device != asked) continue;
    for (const MemoryHolder& holder : one.holders) holders.push_back(ToHolder(holder));
  }
  return holders;
}

DLManagedTensor* Backend::ToDlpack(const Tensor& tensor) { return ToDLPack(tensor); }

Tensor Backend::FromDlpack(DLManagedTensor* managed) { return FromDLPack(managed, registry_->keys()); }

}  // namespace plumbline::reference::adapter
