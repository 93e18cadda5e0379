// The memory of the device: host memory behind a fence, which a kernel for the CPU cannot cross.
//
//   at::Storage storage(at::Storage::use_byte_size_t(), 64, fenced::DeviceAllocator(), true);
//   std::memset(fenced::HostAddress(storage.data()), 0, 64);    // storage.data() itself would fault
//
// What a tensor of the device points at is the address of its bytes plus a distance that leads where no process of
// x86-64 or AArch64 has memory. So whatever takes it for a pointer of the host, because an operator forgot the fallback
// or a library reads past the dispatcher, ends at once with SIGSEGV, in the line that did it. Bytes that were only
// scrambled would be wrong much later, and right where they do not count. Kernels of the device take the distance off.
//
// Any thread. Memory belongs to its storage. Counts are exact when no thread allocates.
#ifndef FENCED_MEMORY_H_
#define FENCED_MEMORY_H_

#include <c10/core/Allocator.h>
#include <c10/core/Device.h>
#include <c10/core/StorageImpl.h>

#include <cstddef>
#include <cstdint>

#include "device.h"

namespace fenced {

// Of storages on the current device of the thread.
c10::Allocator* DeviceAllocator();

// Where the bytes are that a tensor of this device has at `address`.
inline constexpr std::uintptr_t kFence = std::uintptr_t{1} << 52;
inline char* HostAddress(const void* address) {
  const auto number = reinterpret_cast<std::uintptr_t>(address);
  return reinterpret_cast<char*>(number < kFence ? number : number - kFence);  // without bytes it is null
}

// Gives a storage of this device another size, and keeps the bytes that fit in it.
void Resize(c10::StorageImpl& storage, std::size_t bytes);

struct Counts {
  std::int64_t allocations = 0;  // ever
  std::int64_t blocks = 0;       // in use
  std::int64_t bytes = 0;        // in use
};
Counts CountsOf(c10::DeviceIndex device);

}  // namespace fenced

#endif  // FENCED_MEMORY_H_
