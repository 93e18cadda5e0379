#include "reference/tensor/caching_allocator.h"

#include <cstdlib>

#include "reference/keys/make_once.h"

namespace plumbline::reference {
namespace {

class CpuMemory final : public Allocator {
 public:
  CpuMemory() : Allocator(DeviceType::kCpu) {}

 private:
  void* AllocateBlock(std::size_t bytes) override {
    if (bytes > SIZE_MAX - kBlockAlignment) return nullptr;
    return std::aligned_alloc(kBlockAlignment, (bytes + kBlockAlignment - 1) / kBlockAlignment * kBlockAlignment);
  }
  void FreeBlock(void* block, std::size_t) override { std::free(block); }
};

}  // namespace

Allocator& CpuAllocator() {
  static constinit std::atomic<CpuMemory*> made{nullptr};
  return MakeOnce(made, [] { return new CpuMemory; });
}

}  // namespace plumbline::reference
