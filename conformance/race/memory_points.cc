#include "conformance/race/memory_points.h"

#include <cstddef>
#include <cstdint>

#include "conformance/race/scheduler.h"

// The callbacks run inside of the backend's loads and stores: no memory is asked for here, and nothing is called that
// could be traced itself. One thread of a run goes on at a time, so that nothing here is locked.
namespace plumbline::race {
namespace {

bool traced = false;
MemoryPoints mode = MemoryPoints::kEverywhere;

struct Access {
  std::uintptr_t site;     // where in the code
  std::uintptr_t granule;  // eight bytes of memory
  std::uint64_t value;     // of the granule, before
  std::uint32_t thread;
  std::uint32_t step;
  bool store;
};
constexpr std::uintptr_t kNoSite = 0;
constexpr int kNoThread = kMaxThreads;  // one more than there can be
constexpr std::size_t kMostAccesses = std::size_t{1} << 20;
Access accesses[kMostAccesses];
std::size_t access_count = 0;

// Open addressing; 0 is no key. What does not fit is left out, which costs points and no more.
template <class Cell, std::size_t kCells>
Cell* CellOf(Cell (&cells)[kCells], std::uintptr_t key) {
  std::size_t at = (key * 0x9E3779B97F4A7C15u) >> 40;
  for (int tries = 0; tries < 64; ++tries, ++at) {
    Cell& cell = cells[at % kCells];
    if (cell.key == key || cell.key == 0) return &cell;
  }
  return nullptr;
}

struct Memory {
  std::uintptr_t key;
  std::uint64_t value;
  std::uint32_t threads;  // a bit for each
  bool written;           // by a store, or by what is not traced: the value was another
};
Memory memory[std::size_t{1} << 18];

struct Site {
  std::uintptr_t key;
  int number;
};
Site sites[std::size_t{1} << 14];
int site_count = 0;

bool IsShared(std::uintptr_t site) {
  const Site* const cell = CellOf(sites, site);
  return cell != nullptr && cell->key == site;
}

void NoteTraced() {
  if (!__atomic_load_n(&traced, __ATOMIC_RELAXED)) __atomic_store_n(&traced, true, __ATOMIC_RELAXED);
}

void PointAt(const void* address, std::uintptr_t site, bool store) {
  NoteTraced();
  if (OnOwnStack(address)) return;
  const bool shared_only = mode == MemoryPoints::kWhereShared || mode == MemoryPoints::kWhereSharedNoted;
  if (shared_only && !IsShared(site)) return;
  const int thread = ScheduledThread();
  const bool noted = mode == MemoryPoints::kEverywhereNoted || mode == MemoryPoints::kWhereSharedNoted;
  if (noted && thread >= 0 && access_count < kMostAccesses) {
    const std::uintptr_t granule = reinterpret_cast<std::uintptr_t>(address) >> 3;
    std::uint64_t value;  // of memory that the backend is about to touch, so that it can be read
    __builtin_memcpy(&value, reinterpret_cast<const void*>(granule << 3), sizeof(value));
    accesses[access_count++] = {site, granule, value, static_cast<std::uint32_t>(thread), Now(), store};
  }
  Point();
}

}  // namespace

void SetMemoryPoints(MemoryPoints points) { mode = points; }

int LearnSharedSites() {
  for (Memory& cell : memory) cell = {};
  for (std::size_t i = 0; i < access_count; ++i) {
    const Access& access = accesses[i];
    Memory* const cell = CellOf(memory, access.granule);
    if (cell == nullptr) continue;
    const bool first = cell->key == 0;
    cell->key = access.granule;
    cell->threads |= 1u << access.thread;
    cell->written = cell->written || access.store || (!first && cell->value != access.value);
    cell->value = access.value;
  }
  for (std::size_t i = 0; i < access_count; ++i) {
    const Memory* const cell = CellOf(memory, accesses[i].granule);
    if (cell == nullptr || cell->key != accesses[i].granule) continue;
    const bool met = cell->written && (cell->threads & (cell->threads - 1)) != 0;
    if (!met || accesses[i].site == kNoSite) continue;
    Site* const site = CellOf(sites, accesses[i].site);
    if (site == nullptr || site->key == accesses[i].site) continue;
    *site = {accesses[i].site, site_count++};
  }
  access_count = 0;
  return site_count;
}

void TakeNoted(void* context, void (*take)(void* context, int thread, std::uint32_t step, int site)) {
  for (std::size_t i = 0; i < access_count; ++i) {
    const Site* const site = CellOf(sites, accesses[i].site);
    if (site == nullptr || site->key != accesses[i].site) continue;
    take(context, static_cast<int>(accesses[i].thread), accesses[i].step, site->number);
  }
  access_count = 0;
}

bool NotesFreed() { return mode == MemoryPoints::kEverywhereNoted; }

void NoteFreed(const void* block, std::size_t size) {
  if (!NotesFreed()) return;
  const int scheduled = ScheduledThread();
  const int thread = scheduled < 0 ? kNoThread : scheduled;
  const std::uintptr_t from = reinterpret_cast<std::uintptr_t>(block) >> 3;
  for (std::size_t i = 0; i < (size + 7) / 8 && access_count < kMostAccesses; ++i) {
    accesses[access_count++] = {kNoSite, from + i, 0, static_cast<std::uint32_t>(thread), Now(), true};
  }
}

void ForgetSharedSites() {
  for (Site& site : sites) site = {};
  site_count = 0;
  access_count = 0;
}

bool BackendIsTraced() { return __atomic_load_n(&traced, __ATOMIC_RELAXED); }

}  // namespace plumbline::race

#define PLUMBLINE_CALLBACK extern "C" __attribute__((visibility("default"))) void
#define PLUMBLINE_ACCESS(name, store)                                                                        \
  PLUMBLINE_CALLBACK name(const void* address) {                                                             \
    plumbline::race::PointAt(address, reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)), store); \
  }

PLUMBLINE_ACCESS(__sanitizer_cov_load1, false)
PLUMBLINE_ACCESS(__sanitizer_cov_load2, false)
PLUMBLINE_ACCESS(__sanitizer_cov_load4, false)
PLUMBLINE_ACCESS(__sanitizer_cov_load8, false)
PLUMBLINE_ACCESS(__sanitizer_cov_load16, false)
PLUMBLINE_ACCESS(__sanitizer_cov_store1, true)
PLUMBLINE_ACCESS(__sanitizer_cov_store2, true)
PLUMBLINE_ACCESS(__sanitizer_cov_store4, true)
PLUMBLINE_ACCESS(__sanitizer_cov_store8, true)
PLUMBLINE_ACCESS(__sanitizer_cov_store16, true)

// Tracing loads and stores needs some mode of coverage under it; of that one only the start is of use. A fuzzing engine
// and the runtime of a sanitizer have these two as well, and then they may be theirs.
PLUMBLINE_CALLBACK __attribute__((weak)) __sanitizer_cov_trace_pc_guard(std::uint32_t*) {}
PLUMBLINE_CALLBACK __attribute__((weak)) __sanitizer_cov_trace_pc_guard_init(std::uint32_t*, std::uint32_t*) {
  plumbline::race::NoteTraced();
}
