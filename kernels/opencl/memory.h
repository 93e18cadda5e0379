// Memory of the OpenCL device behind the reference's Allocator: buffers, known by addresses that hold nothing.
//
//   Memory& memory = Memory::Get();                      // SetAllocator(memory.device(), &memory)
//   void* block = memory.Allocate(4096);
//   const Place place = memory.Find(block);              // {the cl_mem, 0}
//
// A buffer has no address on the host, and a tensor wants one to count from. So a range of addresses as long as the
// buffer is reserved, without any access: sums of address and offset are unique and can be found again, and a CPU
// kernel that is given one by mistake ends at once instead of reading something. A buffer that is freed while commands
// use it lives until they are done; OpenCL sees to that. Any thread.
#ifndef PLUMBLINE_KERNELS_OPENCL_MEMORY_H_
#define PLUMBLINE_KERNELS_OPENCL_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

#include "kernels/opencl/api.h"
#include "reference/tensor/allocator.h"

namespace plumbline::kernels::opencl {

struct Place {
  cl_mem buffer = nullptr;
  std::size_t offset = 0;  // in bytes
};

class Memory final : public reference::Allocator {
 public:
  // Of privateuseone:0; never destroyed.
  static Memory& Get();

  // kInternal for an address that is in none of its blocks.
  Place Find(const void* address) const;

  void CopyFromHost(void* to, const void* from, std::size_t bytes) override;
  void CopyToHost(void* to, const void* from, std::size_t bytes) override;
  void Synchronize() override;

 private:
  struct Block {
    cl_mem buffer;
    std::size_t bytes, reserved;
  };
  Memory();
  void* AllocateBlock(std::size_t bytes) override;
  void FreeBlock(void* block, std::size_t bytes) override;

  mutable std::mutex mutex_;
  std::map<std::uintptr_t, Block> blocks_;
};

}  // namespace plumbline::kernels::opencl

#endif  // PLUMBLINE_KERNELS_OPENCL_MEMORY_H_
