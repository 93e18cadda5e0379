#include "conformance/race/heap_points.h"

#include <malloc.h>

#include <cstdlib>
#include <cstring>
#include <new>

#include "conformance/harness/sanitizers.h"
#include "conformance/race/memory_points.h"
#include "conformance/race/scheduler.h"

#ifdef PLUMBLINE_OWN_ALLOCATOR

namespace plumbline::race {
HeapReport CheckQuarantine() { return {}; }
}  // namespace plumbline::race

#ifdef PLUMBLINE_THREAD_SANITIZER
// It judges what is done to memory that is freed, but only where there is a point can a thread be switched in time. Its
// runtime calls this first of all that `delete` does.
extern "C" std::size_t __sanitizer_get_allocated_size(const volatile void* block);
extern "C" __attribute__((visibility("default"), no_sanitize("thread"))) void __sanitizer_free_hook(
    const volatile void* block) {
  if (!plumbline::race::NotesFreed()) return;
  plumbline::race::NoteFreed(const_cast<const void*>(block), __sanitizer_get_allocated_size(block));
}
#endif

#else

namespace plumbline::race {
namespace {

// Fixed arrays: what stands behind `delete` must not itself need memory.
class Quarantine {
 public:
  // False: `block` is not kept, and is the caller's to free.
  bool Keep(void* block);
  // `block` is kept already: counts it and returns true.
  bool FreedTwice(void* block);
  HeapReport Empty();

 private:
  static constexpr std::size_t kMaxBlocks = std::size_t{1} << 16;
  static constexpr std::size_t kMaxBytes = std::size_t{256} << 20;
  static constexpr std::size_t kPlaces = 2 * kMaxBlocks;  // a power of two

  struct Kept {
    unsigned char* block;
    std::size_t size;
    int thread;
    std::uint32_t step;
    std::uint32_t place;
  };

  // Threads without a schedule free as well.
  class Locked {
   public:
    explicit Locked(Quarantine& quarantine) : quarantine_(quarantine) {
      while (__atomic_test_and_set(&quarantine_.locked_, __ATOMIC_ACQUIRE)) {
      }
    }
    Locked(const Locked&) = delete;
    Locked& operator=(const Locked&) = delete;
    ~Locked() { __atomic_clear(&quarantine_.locked_, __ATOMIC_RELEASE); }

   private:
    Quarantine& quarantine_;
  };

  static bool Written(const Kept& kept) {
    return kept.size > 0 &&
           (kept.block[0] != kFreedByte || std::memcmp(kept.block, kept.block + 1, kept.size - 1) != 0);
  }
  static std::size_t FirstWritten(const Kept& kept) {
    std::size_t at = 0;
    while (kept.block[at] == kFreedByte) ++at;
    return at;
  }

  // Where `block` is, or the empty place where it would be.
  std::uint32_t PlaceOf(const void* block) const {
    const auto address = reinterpret_cast<std::uintptr_t>(block) >> 4;
    std::size_t place = address * 0x9e3779b97f4a7c15 >> 20;
    for (;; ++place) {
      place %= kPlaces;
      if (places_[place] == 0 || kept_[places_[place] - 1].block == block) return static_cast<std::uint32_t>(place);
    }
  }

  bool locked_ = false;
  std::size_t count_ = 0;
  std::size_t bytes_ = 0;
  bool all_kept_ = true;
  std::uint32_t freed_twice_ = 0;
  std::size_t first_freed_twice_ = 0;
  Kept kept_[kMaxBlocks] = {};
  std::uint32_t places_[kPlaces] = {};  // index in kept_, plus one; 0: empty
};

bool Quarantine::Keep(void* block) {
  const Locked locked(*this);
  const std::size_t size = malloc_usable_size(block);
  if (count_ == kMaxBlocks || size > kMaxBytes - bytes_) {
    all_kept_ = false;
    return false;
  }
  NoteFreed(block, size);
  std::memset(block, kFreedByte, size);
  const std::uint32_t place = PlaceOf(block);
  kept_[count_] = {static_cast<unsigned char*>(block), size, ScheduledThread(), Now(), place};
  bytes_ += size;
  places_[place] = static_cast<std::uint32_t>(count_ + 1);
  __atomic_store_n(&count_, count_ + 1, __ATOMIC_RELEASE);
  return true;
}

bool Quarantine::FreedTwice(void* block) {
  if (__atomic_load_n(&count_, __ATOMIC_ACQUIRE) == 0) return false;
  const Locked locked(*this);
  const std::uint32_t found = places_[PlaceOf(block)];
  if (found == 0) return false;
  if (freed_twice_++ == 0) first_freed_twice_ = found - 1;
  return true;
}

HeapReport Quarantine::Empty() {
  const Locked locked(*this);
  HeapReport report;
  report.watched = true;
  report.freed = static_cast<std::uint32_t>(count_);
  report.all_kept = all_kept_;
  report.freed_twice = freed_twice_;
  const auto show = [&report](const Kept& kept, std::size_t offset) {
    report.block = kept.block;
    report.size = kept.size;
    report.offset = offset;
    report.thread = kept.thread;
    report.step = kept.step;
  };
  for (std::size_t i = 0; i < count_; ++i) {
    const Kept& kept = kept_[i];
    if (Written(kept) && report.written++ == 0) show(kept, FirstWritten(kept));
    places_[kept.place] = 0;
  }
  if (report.written == 0 && freed_twice_ > 0) show(kept_[first_freed_twice_], 0);
  for (std::size_t i = 0; i < count_; ++i) std::free(kept_[i].block);
  count_ = bytes_ = first_freed_twice_ = 0;
  all_kept_ = true;
  freed_twice_ = 0;
  return report;
}

constinit Quarantine quarantine;

void* Get(std::size_t size, std::size_t alignment) {
  if (size == 0) size = 1;
  for (;;) {
    void* block = nullptr;
    if (alignment <= __STDCPP_DEFAULT_NEW_ALIGNMENT__) {
      block = std::malloc(size);
    } else if (posix_memalign(&block, alignment, size) != 0) {
      block = nullptr;
    }
    if (block != nullptr) return block;
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) return nullptr;
    handler();
  }
}

void* GetOrThrow(std::size_t size, std::size_t alignment = 0) {
  void* block = Get(size, alignment);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}

void* GetOrNull(std::size_t size, std::size_t alignment = 0) noexcept {
  try {  // the handler may throw
    return Get(size, alignment);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void GiveBack(void* block) noexcept {
  if (block == nullptr) return;
  Point();
  if (quarantine.FreedTwice(block)) return;
  if (ScheduledThread() >= 0 && quarantine.Keep(block)) return;
  if (ScheduledThread() < 0 && NotesFreed()) NoteFreed(block, malloc_usable_size(block));
  std::free(block);
}

}  // namespace

HeapReport CheckQuarantine() { return quarantine.Empty(); }

}  // namespace plumbline::race

#define PLUMBLINE_OPERATOR __attribute__((visibility("default")))

using plumbline::race::GetOrNull;
using plumbline::race::GetOrThrow;
using plumbline::race::GiveBack;
using Alignment = std::align_val_t;

PLUMBLINE_OPERATOR void* operator new(std::size_t size) { return GetOrThrow(size); }
PLUMBLINE_OPERATOR void* operator new[](std::size_t size) { return GetOrThrow(size); }
PLUMBLINE_OPERATOR void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return GetOrNull(size); }
PLUMBLINE_OPERATOR void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return GetOrNull(size); }
PLUMBLINE_OPERATOR void* operator new(std::size_t size, Alignment alignment) {
  return GetOrThrow(size, static_cast<std::size_t>(alignment));
}
PLUMBLINE_OPERATOR void* operator new[](std::size_t size, Alignment alignment) {
  return GetOrThrow(size, static_cast<std::size_t>(alignment));
}
PLUMBLINE_OPERATOR void* operator new(std::size_t size, Alignment alignment, const std::nothrow_t&) noexcept {
  return GetOrNull(size, static_cast<std::size_t>(alignment));
}
PLUMBLINE_OPERATOR void* operator new[](std::size_t size, Alignment alignment, const std::nothrow_t&) noexcept {
  return GetOrNull(size, static_cast<std::size_t>(alignment));
}

PLUMBLINE_OPERATOR void operator delete(void* block) noexcept { GiveBack(block); }
PLUMBLINE_OPERATOR void operator delete[](void* block) noexcept { GiveBack(block); }
PLUMBLINE_OPERATOR void operator delete(void* block, std::size_t) noexcept { GiveBack(block); }
PLUMBLINE_OPERATOR void operator delete[](void* block, std::size_t) noexcept { GiveBack(block); }
PLUMBLINE_OPERATOR void operator delete(void* block, const std::nothrow_t&) noexcept { GiveBack(block); }
PLUMBLINE_OPERATOR void operator delete[](void* block, const std::nothrow_t&) noexcept { GiveBack(block); }
PLUMBLINE_OPERATOR void operator delete(void* block, Alignment) noexcept { GiveBack(block); }
PLUMBLINE_OPERATOR void operator delete[](void* block, Alignment) noexcept { GiveBack(block); }
PLUMBLINE_OPERATOR void operator delete(void* block, std::size_t, Alignment) noexcept { GiveBack(block); }
PLUMBLINE_OPERATOR void operator delete[](void* block, std::size_t, Alignment) noexcept { GiveBack(block); }
PLUMBLINE_OPERATOR void operator delete(void* block, Alignment, const std::nothrow_t&) noexcept { GiveBack(block); }
PLUMBLINE_OPERATOR void operator delete[](void* block, Alignment, const std::nothrow_t&) noexcept { GiveBack(block); }

#endif
