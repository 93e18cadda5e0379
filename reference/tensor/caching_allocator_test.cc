#include "reference/tensor/caching_allocator.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <map>
#include <random>
#include <thread>
#include <vector>

#include "reference/keys/address_sanitizer.h"
#include "reference/keys/error.h"

namespace plumbline::reference {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

long PageFaults() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

TEST(CachingAllocator, BlocksAreAlignedAndApart) {
  Allocator& memory = CpuAllocator();
  std::mt19937_64 random(1);
  std::map<char*, std::size_t> live;
  for (int i = 0; i < 4000; ++i) {
    if (live.size() > 50 || (!live.empty() && random() % 3 == 0)) {
      auto one = live.begin();
      std::advance(one, random() % live.size());
      // Nobody wrote into it meanwhile.
      const auto tag = static_cast<unsigned char>(one->second * 31);
      for (const std::size_t at : {std::size_t{0}, one->second / 2, one->second - 1}) {
        ASSERT_EQ(static_cast<unsigned char>(one->first[at]), tag);
      }
      memory.Free(one->first, one->second);
      live.erase(one);
      continue;
    }
    const std::size_t bytes = 1 + random() % (std::size_t{1} << random() % 23);
    auto* const block = static_cast<char*>(memory.Allocate(bytes));
    ASSERT_EQ(reinterpret_cast<std::uintptr_t>(block) % kBlockAlignment, 0u);
    const auto next = live.lower_bound(block);
    if (next != live.end()) {
      ASSERT_LE(block + bytes, next->first);
    }
    if (next != live.begin()) {
      ASSERT_LE(std::prev(next)->first + std::prev(next)->second, block);
    }
    std::memset(block, static_cast<unsigned char>(bytes * 31), bytes);
    live[block] = bytes;
  }
  for (const auto& [block, bytes] : live) memory.Free(block, bytes);
}

TEST(CachingAllocator, CountsWhatIsLive) {
  Allocator& memory = CpuAllocator();
  const AllocatorStatistics before = memory.statistics();
  void* const a = memory.Allocate(1000);
  void* const b = memory.Allocate(3 * kMiB);
  memory.Free(a, 1000);
  AllocatorStatistics now = memory.statistics();
  EXPECT_EQ(now.live_bytes - before.live_bytes, static_cast<std::int64_t>(3 * kMiB));
  EXPECT_GE(now.peak_bytes - before.live_bytes, static_cast<std::int64_t>(3 * kMiB + 1000));
  EXPECT_EQ(now.live_blocks - before.live_blocks, 1);
  EXPECT_EQ(now.allocations - before.allocations, 2);
  memory.Free(b, 3 * kMiB);
  memory.ResetPeak();
  now = memory.statistics();
  EXPECT_EQ(now.peak_bytes, before.live_bytes);
  EXPECT_EQ(now.live_blocks, before.live_blocks);
  EXPECT_GE(now.cached_bytes, kAddressSanitizer ? 0 : static_cast<std::int64_t>(3 * kMiB + 1000));
  memory.EmptyCache();
  EXPECT_EQ(memory.statistics().cached_bytes, 0);
  EXPECT_EQ(memory.Allocate(0), nullptr);
  memory.Free(nullptr, 0);
}

TEST(CachingAllocator, ALargeBlockIsUsedAgainWithItsPages) {
  if (kAddressSanitizer) GTEST_SKIP() << "nothing waits under the address sanitizer";
  Allocator& memory = CpuAllocator();
  memory.EmptyCache();
  constexpr std::size_t kBytes = 40'000'000;
  void* const first = memory.Allocate(kBytes);
  std::memset(first, 1, kBytes);
  memory.Free(first, kBytes);
  const long before = PageFaults();
  for (int i = 0; i < 10; ++i) {
    void* const again = memory.Allocate(kBytes - 1000 * static_cast<std::size_t>(i));
    EXPECT_EQ(again, first);
    std::memset(again, i, kBytes - 10000);
    memory.Free(again, kBytes - 1000 * static_cast<std::size_t>(i));
  }
  EXPECT_LT(PageFaults() - before, 20);
  // One that is much smaller does not take it.
  void* const small = memory.Allocate(kBytes / 2);
  EXPECT_NE(small, first);
  memory.Free(small, kBytes / 2);
}

TEST(CachingAllocator, WhatWaitsIsLimited) {
  if (kAddressSanitizer) GTEST_SKIP() << "nothing waits under the address sanitizer";
  Allocator& memory = CpuAllocator();
  memory.EmptyCache();
  // One at a time, ever larger, so that none fits the next: never more than twice the largest.
  std::size_t bytes = 2 * kMiB;
  for (int i = 0; i < 12; ++i, bytes = bytes * 3 / 2) {
    memory.Free(memory.Allocate(bytes), bytes);
    EXPECT_LE(memory.statistics().cached_bytes, static_cast<std::int64_t>(2 * bytes + kMiB));
  }
  memory.EmptyCache();
  std::vector<void*> many;
  for (int i = 0; i < 100; ++i) many.push_back(memory.Allocate(kMiB));
  for (void* one : many) memory.Free(one, kMiB);
  EXPECT_EQ(memory.statistics().cached_bytes, static_cast<std::int64_t>(32 * kMiB));
  memory.EmptyCache();
}

TEST(CachingAllocator, MemoryThatCannotBeHadIsAnError) {
  for (const std::size_t bytes : {std::size_t{1} << 60, SIZE_MAX, SIZE_MAX / 2}) {
    const AllocatorStatistics before = CpuAllocator().statistics();
    try {
      CpuAllocator().Allocate(bytes);
      ADD_FAILURE();
    } catch (const DispatchError& error) {
      EXPECT_EQ(error.error_class(), ErrorClass::kOverflow);
      EXPECT_NE(std::string(error.what()).find(std::to_string(bytes) + " bytes on cpu"), std::string::npos);
    }
    EXPECT_EQ(CpuAllocator().statistics().live_bytes, before.live_bytes);
    EXPECT_EQ(CpuAllocator().statistics().live_blocks, before.live_blocks);
  }
}

TEST(CachingAllocator, ThreadsGiveEachOtherBlocks) {
  Allocator& memory = CpuAllocator();
  const AllocatorStatistics before = memory.statistics();
  std::atomic<void*> handed[4] = {};
  const auto work = [&](unsigned seed) {
    std::mt19937 random(seed);
    for (int i = 0; i < 20000; ++i) {
      auto* block = static_cast<std::uint64_t*>(memory.Allocate(200));
      block[0] = block[24] = seed * 1000003u + static_cast<unsigned>(i);
      block = static_cast<std::uint64_t*>(handed[random() % 4].exchange(block, std::memory_order_acq_rel));
      if (block == nullptr) continue;
      EXPECT_EQ(block[0], block[24]);
      memory.Free(block, 200);
      if (i % 5000 == 0) memory.EmptyCache();
    }
  };
  std::thread one(work, 1), two(work, 2), three(work, 3);
  one.join();
  two.join();
  three.join();
  for (auto& block : handed) memory.Free(block.load(), 200);
  EXPECT_EQ(memory.statistics().live_bytes, before.live_bytes);
  EXPECT_EQ(memory.statistics().live_blocks, before.live_blocks);
}

TEST(CachingAllocator, AChildOfAForkCanAllocate) {
  Allocator& memory = CpuAllocator();
  std::atomic<bool> stop{false};
  std::thread other([&] {
    while (!stop.load(std::memory_order_relaxed)) {
      memory.Free(memory.Allocate(64), 64);
      memory.Free(memory.Allocate(2 * kMiB), 2 * kMiB);
    }
  });
  for (int i = 0; i < 50; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);
      // Of whichever list the other thread was in.
      for (std::size_t bytes : {std::size_t{64}, 2 * kMiB}) memory.Free(memory.Allocate(bytes), bytes);
      memory.EmptyCache();
      _exit(memory.statistics().cached_bytes == 0 ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
  stop = true;
  other.join();
}

}  // namespace
}  // namespace plumbline::reference
