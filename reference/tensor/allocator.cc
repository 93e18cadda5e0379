#include "reference/tensor/allocator.h"

#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>

#include "reference/faults/faults.h"
#include "reference/keys/error.h"
#include "reference/keys/make_once.h"
#include "reference/tensor/caching_allocator.h"

namespace plumbline::reference {
namespace {

// Shapes alone: every block is null.
class MetaAllocator final : public Allocator {
 public:
  MetaAllocator() : Allocator(DeviceType::kMeta) {}

 private:
  void* AllocateBlock(std::size_t) override { return nullptr; }
  void FreeBlock(void*, std::size_t) override {}
};

Allocator& MetaMemory() {
  static constinit std::atomic<MetaAllocator*> made{nullptr};
  return MakeOnce(made, [] { return new MetaAllocator; });
}

constinit std::atomic<Allocator*> set[kDeviceTypes][kMaxDeviceIndex + 1] = {};

std::atomic<Allocator*>& SetFor(Device device) {
  if (device.index < 0 || device.index > kMaxDeviceIndex) {
    Throw(ErrorClass::kInvalidArgument,
          "There is no device " + device.Spelling() + "; numbers go from 0 to " + std::to_string(kMaxDeviceIndex));
  }
  return set[static_cast<int>(device.type)][device.index];
}

}  // namespace

Allocator::~Allocator() = default;

void* Allocator::Allocate(std::size_t bytes) {
  if (bytes == 0 || device_.type == DeviceType::kMeta) return nullptr;
  void* const block =
      bytes <= static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max()) ? AllocateBlock(bytes) : nullptr;
  if (block == nullptr) {
    if (PLUMBLINE_FAULT(no_memory_ends_the_process)) std::abort();
    Throw(ErrorClass::kOverflow, "No memory for " + std::to_string(bytes) + " bytes on " + device_.Spelling() + "; " +
                                     std::to_string(live_bytes_.load(std::memory_order_relaxed)) +
                                     " bytes are in use there");
  }
  const auto signed_bytes = static_cast<std::int64_t>(bytes);
  const std::int64_t live = live_bytes_.fetch_add(signed_bytes, std::memory_order_relaxed) + signed_bytes;
  std::int64_t peak = peak_bytes_.load(std::memory_order_relaxed);
  while (live > peak && !peak_bytes_.compare_exchange_weak(peak, live, std::memory_order_relaxed)) {
  }
  allocations_.fetch_add(1, std::memory_order_relaxed);
  return block;
}

void Allocator::Free(void* block, std::size_t bytes) {
  if (block == nullptr) return;
  live_bytes_.fetch_sub(static_cast<std::int64_t>(bytes), std::memory_order_relaxed);
  frees_.fetch_add(1, std::memory_order_relaxed);
  FreeBlock(block, bytes);
}

namespace {

void CopyAsItIs(Device device, void* to, const void* from, std::size_t bytes) {
  if (device.type != DeviceType::kCpu) {
    Throw(ErrorClass::kUnsupported, "Nothing copies between " + device.Spelling() +
                                        " and the host; its allocator has to override CopyFromHost and CopyToHost");
  }
  if (bytes != 0) std::memcpy(to, from, bytes);
}

}  // namespace

void Allocator::CopyFromHost(void* to, const void* from, std::size_t bytes) { CopyAsItIs(device_, to, from, bytes); }
void Allocator::CopyToHost(void* to, const void* from, std::size_t bytes) { CopyAsItIs(device_, to, from, bytes); }

AllocatorStatistics Allocator::statistics() const {
  AllocatorStatistics now;
  const std::int64_t frees = frees_.load(std::memory_order_relaxed);  // first, so that no more than was allocated
  now.live_bytes = live_bytes_.load(std::memory_order_relaxed);
  now.peak_bytes = peak_bytes_.load(std::memory_order_relaxed);
  now.allocations = allocations_.load(std::memory_order_relaxed);
  now.live_blocks = now.allocations - frees;
  now.cached_bytes = CachedBytes();
  return now;
}

void Allocator::ResetPeak() {
  peak_bytes_.store(live_bytes_.load(std::memory_order_relaxed), std::memory_order_relaxed);
}

Allocator& AllocatorFor(Device device) {
  if (Allocator* const own = SetFor(device).load(std::memory_order_acquire); own != nullptr) return *own;
  if (device.type == DeviceType::kCpu) return CpuAllocator();
  if (device.type == DeviceType::kMeta) return MetaMemory();
  for (const Device other : DevicesWithAllocator()) {
    if (other.type != device.type) continue;  // [TENS-052]
    Throw(ErrorClass::kInvalidArgument,
          "There is no device " + device.Spelling() + "; of its kind there is " + other.Spelling());
  }
  Throw(ErrorClass::kUnsupported, "Nothing allocates memory on " + device.Spelling() +
                                      "; load the device's plug-in first, which calls SetAllocator");
}

void SetAllocator(Device device, Allocator* allocator) { SetFor(device).store(allocator, std::memory_order_release); }

std::vector<Device> DevicesWithAllocator() {
  std::vector<Device> devices = {DeviceType::kCpu};
  for (int type = 0; type < kDeviceTypes; ++type) {
    for (int index = 0; index <= kMaxDeviceIndex; ++index) {
      const Device device(static_cast<DeviceType>(type), index);
      if (device != devices[0] && SetFor(device).load(std::memory_order_acquire) != nullptr) devices.push_back(device);
    }
  }
  return devices;
}

}  // namespace plumbline::reference
