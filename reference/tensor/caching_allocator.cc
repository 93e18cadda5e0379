#include "reference/tensor/caching_allocator.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "reference/faults/faults.h"
#include "reference/keys/address_sanitizer.h"
#include "reference/keys/fork_mutex.h"
#include "reference/keys/make_once.h"

namespace plumbline::reference {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr std::size_t kMostSmall = kMiB;
constexpr std::size_t kMostSanitized = std::size_t{1} << 38;  // for more, the address sanitizer ends the process

// ---- size classes: 64, 128, 192, 256, then four to a power of two ----

struct SizeClass {
  std::size_t index;
  std::size_t bytes;
};
constexpr std::size_t kClasses = 52;

constexpr SizeClass ClassOf(std::size_t bytes) {
  if (bytes <= 256) {
    const std::size_t index = (bytes - 1) / 64;
    return {index, (index + 1) * 64};
  }
  const std::size_t last = bytes - 1;
  const auto power = static_cast<std::size_t>(std::bit_width(last)) - 1;
  const std::size_t quarter = (last >> (power - 2)) & 3;
  return {4 + (power - 8) * 4 + quarter, (quarter + 5) << (power - 2)};
}
static_assert(ClassOf(257).bytes == 320 && ClassOf(320).bytes == 320 && ClassOf(321).bytes == 384);
static_assert(ClassOf(512).bytes == 512 && ClassOf(513).bytes == 640 && ClassOf(513).index == ClassOf(512).index + 1);
static_assert(ClassOf(kMostSmall).index == kClasses - 1 && ClassOf(kMostSmall).bytes == kMostSmall);

// ---- blocks of up to 1 MiB ----

struct alignas(64) Shelf {
  static constexpr std::size_t kMostWaiting = 32 * kMiB;
  struct Waiting {
    Waiting* next;
  };

  void* Take(SizeClass wanted) {
    const std::lock_guard lock(mutex);
    Waiting* const found = first[wanted.index];
    if (found == nullptr) return nullptr;
    first[wanted.index] = found->next;
    waiting_bytes -= wanted.bytes;
    return found;
  }

  bool Keep(void* block, SizeClass kind) {
    const std::lock_guard lock(mutex);
    if (waiting_bytes + kind.bytes > kMostWaiting) return false;
    first[kind.index] = new (block) Waiting{first[kind.index]};
    waiting_bytes += kind.bytes;
    return true;
  }

  void Empty() {
    for (Waiting*& list : first) {
      Waiting* block;
      {
        const std::lock_guard lock(mutex);
        block = std::exchange(list, nullptr);
        std::size_t count = 0;
        for (const Waiting* one = block; one != nullptr; one = one->next) ++count;
        waiting_bytes -= count * BytesOf(static_cast<std::size_t>(&list - first));
      }
      while (block != nullptr) std::free(std::exchange(block, block->next));
    }
  }

  static constexpr std::size_t BytesOf(std::size_t index) {
    return index < 4 ? (index + 1) * 64 : ((index & 3) + 5) << ((index - 4) / 4 + 6);
  }

  mutable ForkMutex mutex{ForkRank::kMemory};
  Waiting* first[kClasses] = {};
  std::size_t waiting_bytes = 0;
};
static_assert(Shelf::BytesOf(0) == 64 && Shelf::BytesOf(4) == 320 && Shelf::BytesOf(kClasses - 1) == kMostSmall);

constexpr std::uint32_t kShelves = 8;
constexpr std::uint32_t kNoShelf = UINT32_MAX;
constinit thread_local std::uint32_t my_shelf __attribute__((tls_model("initial-exec"))) = kNoShelf;

// ---- larger blocks ----

class LargeBlocks {
 public:
  LargeBlocks()
      : memory_(static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE))) {}

  void* Take(std::size_t bytes) {
    const std::size_t length = Rounded(bytes);
    {
      const std::lock_guard lock(mutex_);
      const auto best = waiting_.lower_bound(length);
      if (best != waiting_.end() && best->first <= length + length / 4) {
        void* const block = best->second.block;
        waiting_bytes_ -= best->first;
        SetUsed(block, best->first);
        waiting_.erase(best);
        return block;
      }
    }
    void* const block = Map(length);
    if (block == nullptr) return nullptr;
    const std::lock_guard lock(mutex_);
    SetUsed(block, length);
    return block;
  }

  void Keep(void* block) {
    std::vector<std::pair<void*, std::size_t>> gone;
    {
      const std::lock_guard lock(mutex_);
      const auto used = used_.find(block);
      const std::size_t length = used->second;
      used_.erase(used);
      used_bytes_ -= length;
      waiting_.emplace(length, Waiting{block, ++age_});
      waiting_bytes_ += length;
      const std::size_t most = std::min(2 * most_used_bytes_, memory_ / 8);
      while (waiting_bytes_ > most) {
        const auto oldest = std::min_element(waiting_.begin(), waiting_.end(),
                                             [](const auto& a, const auto& b) { return a.second.age < b.second.age; });
        gone.emplace_back(oldest->second.block, oldest->first);
        waiting_bytes_ -= oldest->first;
        waiting_.erase(oldest);
      }
    }
    for (const auto& [start, length] : gone) munmap(start, length);
  }

  void Empty() {
    std::multimap<std::size_t, Waiting> gone;
    {
      const std::lock_guard lock(mutex_);
      gone.swap(waiting_);
      waiting_bytes_ = 0;
      most_used_bytes_ = used_bytes_;
    }
    for (const auto& [length, one] : gone) munmap(one.block, length);
  }

  std::size_t waiting_bytes() const {
    const std::lock_guard lock(mutex_);
    return waiting_bytes_;
  }

 private:
  struct Waiting {
    void* block;
    std::uint64_t age;
  };
  static constexpr std::size_t kHugePage = 2 * kMiB;
  static constexpr std::size_t kGrain = std::size_t{1} << 16;
  static std::size_t Rounded(std::size_t bytes) { return (bytes + kGrain - 1) / kGrain * kGrain; }

  static void* Map(std::size_t length) {
    if (length < kHugePage) return MapAnywhere(length);
    // A huge page starts at a multiple of its size.
    if (length > SIZE_MAX - kHugePage) return nullptr;
    char* const start = static_cast<char*>(MapAnywhere(length + kHugePage));
    if (start == nullptr) return nullptr;
    const std::size_t before = -reinterpret_cast<std::uintptr_t>(start) % kHugePage;
    if (before > 0) munmap(start, before);
    if (before < kHugePage) munmap(start + before + length, kHugePage - before);
    madvise(start + before, length, MADV_HUGEPAGE);  // where there are none, it is slower and as right
    return start + before;
  }

  static void* MapAnywhere(std::size_t length) {
    void* const start = mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return start == MAP_FAILED ? nullptr : start;
  }

  void SetUsed(void* block, std::size_t length) {
    used_.emplace(block, length);
    used_bytes_ += length;
    most_used_bytes_ = std::max(most_used_bytes_, used_bytes_);
  }

  const std::size_t memory_;
  mutable ForkMutex mutex_{ForkRank::kMemory};
  std::unordered_map<void*, std::size_t> used_;
  std::multimap<std::size_t, Waiting> waiting_;
  std::size_t used_bytes_ = 0, most_used_bytes_ = 0, waiting_bytes_ = 0;
  std::uint64_t age_ = 0;
};

class CpuMemory final : public Allocator {
 public:
  CpuMemory() : Allocator(DeviceType::kCpu) {}

  void EmptyCache() override {
    if (!PLUMBLINE_FAULT(emptied_cache_keeps_small_blocks)) {
      for (Shelf& shelf : shelves_) shelf.Empty();
    }
    if (!PLUMBLINE_FAULT(emptied_cache_keeps_large_blocks)) large_.Empty();
  }

 private:
  void* AllocateBlock(std::size_t bytes) override {
    void* const block = TryAllocate(bytes);
    if (block != nullptr) [[likely]] {
      return block;
    }
    EmptyCache();
    return TryAllocate(bytes);
  }

  void* TryAllocate(std::size_t bytes) {
    if constexpr (kAddressSanitizer) {
      if (bytes > kMostSanitized) return nullptr;
      const std::size_t rounded = (bytes + kBlockAlignment - 1) / kBlockAlignment * kBlockAlignment;
      return std::aligned_alloc(kBlockAlignment, rounded);
    }
    if (bytes > kMostSmall) return large_.Take(bytes);
    const SizeClass kind = ClassOf(bytes);
    void* const waiting = MyShelf().Take(kind);
    return waiting != nullptr ? waiting : std::aligned_alloc(kBlockAlignment, kind.bytes);
  }

  void FreeBlock(void* block, std::size_t bytes) override {
    if (!kAddressSanitizer && bytes > kMostSmall) return large_.Keep(block);
    if (!kAddressSanitizer && MyShelf().Keep(block, ClassOf(bytes))) return;
    std::free(block);
  }

  std::int64_t CachedBytes() const override {
    std::size_t bytes = large_.waiting_bytes();
    for (const Shelf& shelf : shelves_) {
      const std::lock_guard lock(shelf.mutex);
      bytes += shelf.waiting_bytes;
    }
    return static_cast<std::int64_t>(bytes);
  }

  Shelf& MyShelf() {
    if (my_shelf == kNoShelf) [[unlikely]] {
      my_shelf = next_shelf_.fetch_add(1, std::memory_order_relaxed) % kShelves;
    }
    return shelves_[my_shelf];
  }

  Shelf shelves_[kShelves];
  std::atomic<std::uint32_t> next_shelf_{0};
  LargeBlocks large_;
};

}  // namespace

Allocator& CpuAllocator() {
  static constinit std::atomic<CpuMemory*> made{nullptr};
  return MakeOnce(made, [] { return new CpuMemory; });
}

}  // namespace plumbline::reference
