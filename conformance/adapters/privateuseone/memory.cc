#include "memory.h"

#include <c10/core/DeviceGuard.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <limits>

namespace fenced {
namespace {

struct AtomicCounts {
  std::atomic<std::int64_t> allocations{0}, blocks{0}, bytes{0};
};
AtomicCounts counts[kDevices];

// What a storage owns.
struct Block {
  void* host;
  std::size_t bytes;
  c10::DeviceIndex device;
};

void Free(void* context) {
  auto* block = static_cast<Block*>(context);
  counts[block->device].blocks -= 1;
  counts[block->device].bytes -= static_cast<std::int64_t>(block->bytes);
  std::free(block->host);
  delete block;
}

class FencedAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) const override {
    constexpr std::size_t kLine = 64;
    const c10::Device device = c10::impl::getDeviceGuardImpl(kType)->getDevice();
    if (bytes == 0) return {nullptr, device};
    // A negative count of bytes comes here as a large one.
    TORCH_CHECK(bytes <= static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max()) - kLine,
                "Storage size calculation overflowed: ", bytes, " bytes on ", device, " are more than 63 bits count");
    void* host = std::aligned_alloc(kLine, (bytes + kLine - 1) / kLine * kLine);
    TORCH_CHECK(host != nullptr, device, " has no ", bytes, " bytes left; free some tensors");
    counts[device.index()].allocations += 1;
    counts[device.index()].blocks += 1;
    counts[device.index()].bytes += static_cast<std::int64_t>(bytes);
    void* fenced = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(host) + kFence);
    return {fenced, new Block{host, bytes, device.index()}, &Free, device};
  }
};

FencedAllocator allocator;
REGISTER_ALLOCATOR(kType, &allocator)

}  // namespace

c10::Allocator* DeviceAllocator() { return &allocator; }

void Resize(c10::StorageImpl& storage, std::size_t bytes) {
  TORCH_CHECK(storage.resizable(), "a storage of ", storage.device(), " that was not made to be resized needs ", bytes,
              " bytes and has ", storage.nbytes());
  const c10::DeviceGuard guard(storage.device());
  c10::DataPtr data = storage.allocator()->allocate(bytes);
  const std::size_t kept = std::min(bytes, storage.nbytes());
  if (kept != 0) std::memcpy(HostAddress(data.get()), HostAddress(storage.data()), kept);
  storage.set_data_ptr_noswap(std::move(data));
  storage.set_nbytes(bytes);
}

Counts CountsOf(c10::DeviceIndex device) {
  TORCH_CHECK(device >= 0 && device < kDevices, "there is no device ", c10::Device(kType, device), ", only ", kDevices);
  const AtomicCounts& of = counts[device];
  return {of.allocations, of.blocks, of.bytes};
}

}  // namespace fenced
