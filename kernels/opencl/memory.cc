#include "kernels/opencl/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <iterator>

#include "kernels/opencl/runtime.h"
#include "reference/keys/error.h"

namespace plumbline::kernels::opencl {

Memory::Memory() : Allocator({reference::DeviceType::kPrivateUse1, 0}) {}

Memory& Memory::Get() {
  static Memory* const made = new Memory;
  return *made;
}

void* Memory::AllocateBlock(std::size_t bytes) {
  cl_int status = CL_SUCCESS;
  const cl_mem buffer = clCreateBuffer(Runtime::Get().context(), CL_MEM_READ_WRITE, bytes, nullptr, &status);
  if (status != CL_SUCCESS) return nullptr;
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t reserved = (bytes + page - 1) / page * page;
  void* const range = mmap(nullptr, reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range == MAP_FAILED) {
    clReleaseMemObject(buffer);
    return nullptr;
  }
  const std::lock_guard lock(mutex_);
  blocks_.emplace(reinterpret_cast<std::uintptr_t>(range), Block{buffer, bytes, reserved});
  return range;
}

void Memory::FreeBlock(void* block, std::size_t) {
  Block freed;
  {
    const std::lock_guard lock(mutex_);
    const auto found = blocks_.find(reinterpret_cast<std::uintptr_t>(block));
    freed = found->second;
    blocks_.erase(found);
  }
  // Only now may the range be given to another block.
  clReleaseMemObject(freed.buffer);
  munmap(block, freed.reserved);
}

Place Memory::Find(const void* address) const {
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  const std::lock_guard lock(mutex_);
  auto found = blocks_.upper_bound(wanted);
  if (found == blocks_.begin() || wanted - std::prev(found)->first > std::prev(found)->second.bytes) {
    reference::Throw(reference::ErrorClass::kInternal,
                     "An address is in no block of " + device().Spelling() +
                         "; only memory that its allocator gave can be computed with there");
  }
  --found;
  return {found->second.buffer, wanted - found->first};
}

void Memory::CopyFromHost(void* to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  const Place place = Find(to);
  Runtime::Get().Write(place.buffer, place.offset, from, bytes);
}

void Memory::CopyToHost(void* to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  const Place place = Find(from);
  Runtime::Get().Read(to, place.buffer, place.offset, bytes);
}

void Memory::Synchronize() { Runtime::Get().Wait(); }

}  // namespace plumbline::kernels::opencl
