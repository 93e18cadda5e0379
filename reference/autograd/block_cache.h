// Memory of nodes and of what hangs on tensors, kept in lists of the thread that frees it: graphs are made and dropped
// all the time, of blocks of a few sizes, and a general allocator is half of what a node costs.
//
//   static void* operator new(std::size_t bytes) { return AllocateBlock(bytes); }
//   static void operator delete(void* block, std::size_t bytes) { FreeBlock(block, bytes); }
//
// A thread keeps at most kMostKept blocks of a size, and gives them back when it ends. Under the address sanitizer
// nothing is kept, so that it sees what is used after it was freed. Any thread; a block may be freed by another one
// than made it.
#ifndef PLUMBLINE_REFERENCE_AUTOGRAD_BLOCK_CACHE_H_
#define PLUMBLINE_REFERENCE_AUTOGRAD_BLOCK_CACHE_H_

#include <cstddef>
#include <cstdint>
#include <new>

#include "reference/keys/address_sanitizer.h"

namespace plumbline::reference {

struct BlockCache {
  static constexpr std::size_t kStep = 32, kSizes = 16;  // up to 512 bytes
  static constexpr std::uint32_t kMostKept = 1 << 16;

  struct Free {
    Free* next;
  };
  Free* first[kSizes] = {};
  std::uint32_t kept[kSizes] = {};
  bool ends = false;  // what gives it back at the thread's end is set up
};

extern constinit thread_local BlockCache block_cache __attribute__((tls_model("initial-exec")));

void* AllocateNewBlock(std::size_t bytes);
void FreeOldBlock(void* block);

inline void* AllocateBlock(std::size_t bytes) {
  const std::size_t size = (bytes - 1) / BlockCache::kStep;
  BlockCache& cache = block_cache;
  if (kAddressSanitizer || size >= BlockCache::kSizes || cache.first[size] == nullptr) return AllocateNewBlock(bytes);
  BlockCache::Free* const block = cache.first[size];
  cache.first[size] = block->next;
  --cache.kept[size];
  return block;
}

inline void FreeBlock(void* block, std::size_t bytes) {
  const std::size_t size = (bytes - 1) / BlockCache::kStep;
  BlockCache& cache = block_cache;
  if (kAddressSanitizer || size >= BlockCache::kSizes || cache.kept[size] == BlockCache::kMostKept || !cache.ends) {
    return FreeOldBlock(block);
  }
  cache.first[size] = new (block) BlockCache::Free{cache.first[size]};
  ++cache.kept[size];
}

}  // namespace plumbline::reference

#endif  // PLUMBLINE_REFERENCE_AUTOGRAD_BLOCK_CACHE_H_
