// When what calls read may be freed.
//
// A call reads a published table inside a *read section*: it marks its thread, finds its kernel, and takes the mark off
// before the kernel runs. Sections hold no user code and last some ten instructions, so a writer may wait for them:
// after it has made the old table unreachable, Synchronize returns when every section that could still see it is over.
//
//   {
//     ReadSection reading;
//     Table* table = view.table.load(std::memory_order_acquire);
//     ...
//   }
//
// The mark is a plain store. The fence that it needs against the following load is made by the writer, for all threads
// at once, with membarrier(2). Where the kernel has no membarrier (or PLUMBLINE_NO_MEMBARRIER is set) sections pay for
// it themselves: `asymmetric` is false, and no call takes the inline path, whose sections have no fence.
//
// Any thread; Synchronize must not be called inside a section.
#ifndef PLUMBLINE_REFERENCE_REGISTRY_RECLAIM_H_
#define PLUMBLINE_REFERENCE_REGISTRY_RECLAIM_H_

#include <atomic>

#include "reference/keys/thread_state.h"

namespace plumbline::reference {

extern const bool asymmetric;  // membarrier is there

// The inline path's marks; presume `asymmetric`.
inline void BeginRead(ThreadState& state) {
  state.reading.store(1, std::memory_order_relaxed);
  std::atomic_signal_fence(std::memory_order_seq_cst);
}
inline void EndRead(ThreadState& state) { state.reading.store(0, std::memory_order_release); }

// The calling thread must have entered a table (EnterTable), so that writers know it.
class ReadSection {
 public:
  ReadSection() {
    if (asymmetric) {
      BeginRead(thread_state);
    } else {
      thread_state.reading.store(1, std::memory_order_seq_cst);
    }
  }
  ReadSection(const ReadSection&) = delete;
  ReadSection& operator=(const ReadSection&) = delete;
  ~ReadSection() { EndRead(thread_state); }
};

void Synchronize();

}  // namespace plumbline::reference

#endif  // PLUMBLINE_REFERENCE_REGISTRY_RECLAIM_H_
