// What scheduled threads do to memory that they have given back: heap_points.cc puts its own operators new and delete
// into the executable, for its libraries and the backends that it loads as well.
//
//   Run run = Schedule(...);
//   HeapReport report = CheckQuarantine();
//   if (!report.ok()) std::cout << report.written << " blocks were written to after they were freed";
//
// `delete` on a scheduled thread is a point. Its block is filled with kFreedByte and kept until CheckQuarantine(), so
// that a write to it is found, and a read gets an address that no process has. A second `delete` of a block that is
// kept is counted and not done. What is freed with free() is not seen.
//
// In a build with address, thread or memory sanitizer, which have operators of their own, nothing is watched. Thread
// sanitizer finds such accesses itself; what is freed is noted for memory_points.h there too.
#ifndef PLUMBLINE_CONFORMANCE_RACE_HEAP_POINTS_H_
#define PLUMBLINE_CONFORMANCE_RACE_HEAP_POINTS_H_

#include <cstddef>
#include <cstdint>

namespace plumbline::race {

inline constexpr unsigned char kFreedByte = 0xdb;

struct HeapReport {
  bool watched = false;
  std::uint32_t freed = 0;        // blocks that were kept
  bool all_kept = true;           // false: there were too many (2^16, or 256 MiB), and the rest were freed at once
  std::uint32_t written = 0;      // of them, to after they were freed
  std::uint32_t freed_twice = 0;  // times that one of them was freed again

  // Of the first that was written to, or if there is none, of the first that was freed again.
  const void* block = nullptr;
  std::size_t size = 0;
  std::size_t offset = 0;  // of the first byte written
  int thread = -1;         // that freed it
  std::uint32_t step = 0;  // at which

  bool ok() const { return written == 0 && freed_twice == 0; }
};

// Looks at all blocks that are kept and gives them back. To be called after each run, from the thread that ran it, when
// nothing goes on.
HeapReport CheckQuarantine();

}  // namespace plumbline::race

#endif  // PLUMBLINE_CONFORMANCE_RACE_HEAP_POINTS_H_
