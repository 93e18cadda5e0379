#include "reference/autograd/block_cache.h"

namespace plumbline::reference {

constinit thread_local BlockCache block_cache;

namespace {

std::size_t WholeSize(std::size_t bytes) {
  return (bytes + BlockCache::kStep - 1) / BlockCache::kStep * BlockCache::kStep;
}

// Gives back what the thread kept, and lets it keep nothing more.
struct AtTheEnd {
  ~AtTheEnd() {
    BlockCache& cache = block_cache;
    cache.ends = false;
    for (std::size_t size = 0; size < BlockCache::kSizes; ++size) {
      while (cache.first[size] != nullptr) {
        BlockCache::Free* const block = cache.first[size];
        cache.first[size] = block->next;
        ::operator delete(block);
      }
      cache.kept[size] = 0;
    }
  }
  void Touch() {}
};
thread_local AtTheEnd at_the_end;
constinit thread_local bool was_set_up = false;

}  // namespace

void* AllocateNewBlock(std::size_t bytes) {
  if (!kAddressSanitizer && !was_set_up) {
    was_set_up = true;
    at_the_end.Touch();
    block_cache.ends = true;
  }
  return ::operator new(WholeSize(bytes));
}

void FreeOldBlock(void* block) { ::operator delete(block); }

}  // namespace plumbline::reference
