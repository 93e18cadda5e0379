// Memory of a device, and who counts it.
//
//   Allocator& allocator = AllocatorFor(DeviceType::kCpu);
//   void* block = allocator.Allocate(4096);         // 64-byte aligned on the CPU; of 0 bytes: null
//   allocator.Free(block, 4096);                    // the same number of bytes
//   allocator.CopyToHost(bytes, block, 4096);       // when all that the device was asked for before is done
//   allocator.statistics().peak_bytes;  allocator.ResetPeak();  allocator.EmptyCache();
//
// An allocator of a plug-in device derives from Allocator, is made known by SetAllocator and stays for the life of the
// process: tensors may be freed at any time. What it gives need not be memory that the CPU can read: an address is only
// kept, counted on from as bytes of the block, and handed back to the device's own kernels and to the copies below.
// Addresses of different blocks may not meet, for that is how overlapping tensors are told. Counting is done here,
// alike for all of them, in bytes that were asked for. Any thread.
#ifndef PLUMBLINE_REFERENCE_TENSOR_ALLOCATOR_H_
#define PLUMBLINE_REFERENCE_TENSOR_ALLOCATOR_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "reference/tensor/device.h"

namespace plumbline::reference {

struct AllocatorStatistics {
  std::int64_t live_bytes = 0;  // asked for and not yet freed
  std::int64_t peak_bytes = 0;  // most of them at one time since the last ResetPeak
  std::int64_t live_blocks = 0;
  std::int64_t allocations = 0;   // since the start of the process
  std::int64_t cached_bytes = 0;  // kept for later, from the system's view in use
};

class Allocator {
 public:
  explicit Allocator(Device device) : device_(device) {}
  virtual ~Allocator();
  Allocator(const Allocator&) = delete;
  Allocator& operator=(const Allocator&) = delete;

  Device device() const { return device_; }
  // Contents are not initialised. Memory that cannot be had is kOverflow with bytes and device.
  void* Allocate(std::size_t bytes);
  void Free(void* block, std::size_t bytes);

  AllocatorStatistics statistics() const;
  void ResetPeak();
  // Gives back to the system what is kept for later.
  virtual void EmptyCache() {}

  // Between host memory and a block, from any address inside of it; they return when the bytes are there. Memory of the
  // CPU is copied as it is; for another device they are kUnsupported unless its allocator says how.
  virtual void CopyFromHost(void* to, const void* from, std::size_t bytes);
  virtual void CopyToHost(void* to, const void* from, std::size_t bytes);
  // Waits until all that the device was asked for is done.
  virtual void Synchronize() {}

 private:
  // Of at least one byte; null if there is no memory.
  virtual void* AllocateBlock(std::size_t bytes) = 0;
  virtual void FreeBlock(void* block, std::size_t bytes) = 0;
  virtual std::int64_t CachedBytes() const { return 0; }

  const Device device_;
  alignas(64) std::atomic<std::int64_t> live_bytes_{0};
  std::atomic<std::int64_t> peak_bytes_{0}, allocations_{0}, frees_{0};
};

// The allocator of a device: CPU and meta always have one. kInvalidArgument if only other devices of its kind have one,
// kUnsupported, saying what to do, if none has.
Allocator& AllocatorFor(Device device);
// Null takes it away. Blocks know where they came from: tensors that live are freed to the former one.
void SetAllocator(Device device, Allocator* allocator);
// CPU first, then those that were set.
std::vector<Device> DevicesWithAllocator();

}  // namespace plumbline::reference

#endif  // PLUMBLINE_REFERENCE_TENSOR_ALLOCATOR_H_
