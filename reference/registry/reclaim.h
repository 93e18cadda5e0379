// What registry/publication.h is built on in the reference: real atomics, and the two ways to order marks and tables.
//
//   {
//     ReadSection reading;
//     Table* table = Core::Load(view.table);
//     ...
//   }
//
// With membarrier(2), the fence that a section needs is made by the writer, for all threads at once, and a mark is a
// plain store. Where the kernel has no membarrier (or PLUMBLINE_NO_MEMBARRIER is set) sections pay for it themselves:
// `asymmetric` is false, and no call takes the inline path, whose sections have no fence. The steps of Core that have
// no fence in them are the same for both.
//
// Any thread; Synchronize must not be called inside a section.
#ifndef PLUMBLINE_REFERENCE_REGISTRY_RECLAIM_H_
#define PLUMBLINE_REFERENCE_REGISTRY_RECLAIM_H_

#include <sched.h>

#include <atomic>

#include "reference/keys/thread_state.h"
#include "reference/registry/publication.h"

// GCC and Clang each tell of thread sanitizer in a way of their own.
#if defined(__SANITIZE_THREAD__)
#define PLUMBLINE_REFERENCE_THREAD_SANITIZER
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define PLUMBLINE_REFERENCE_THREAD_SANITIZER
#endif
#endif

namespace plumbline::reference {

extern const bool asymmetric;  // membarrier is there

struct HardwarePolicy {
  template <class T>
  using Atomic = std::atomic<T>;
  using Mark = ReadingMark;
  static void Wait() { sched_yield(); }
};

struct Membarrier : HardwarePolicy {
  static void ReaderFence() { std::atomic_signal_fence(std::memory_order_seq_cst); }
  static void WriterFence();
};

struct Fences : HardwarePolicy {
  static void ReaderFence() { Fence(); }
  static void WriterFence() { Fence(); }

 private:
  static void Fence() {
#ifdef PLUMBLINE_REFERENCE_THREAD_SANITIZER
    // It knows no fences. An exchange is one on x86, and of a word that nobody else has it hides no race.
    std::atomic<int> mine{0};
    mine.exchange(1, std::memory_order_seq_cst);
#else
    std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
  }
};

using Core = Publication<Membarrier>;

// The calling thread must have entered a table (EnterTable), so that writers know it.
class ReadSection {
 public:
  ReadSection() {
    if (asymmetric) {
      Core::BeginRead(thread_state.reading);
    } else {
      Publication<Fences>::BeginRead(thread_state.reading);
    }
  }
  ReadSection(const ReadSection&) = delete;
  ReadSection& operator=(const ReadSection&) = delete;
  ~ReadSection() { Core::EndRead(thread_state.reading); }
};

// Each thread's mark, while no thread can come or go.
struct VisitMarks {
  template <class Each>
  void operator()(Each) const {
    VisitThreads([](ThreadState& state) { Each()(state.reading); });
  }
};

template <class Free, class Kernels, class Drop>
void Reclaim(Free&& free, const Kernels& kernels, Drop&& drop) {
  if (asymmetric) {
    Core::Reclaim(VisitMarks(), free, kernels, drop);
  } else {
    Publication<Fences>::Reclaim(VisitMarks(), free, kernels, drop);
  }
}

}  // namespace plumbline::reference

#endif  // PLUMBLINE_REFERENCE_REGISTRY_RECLAIM_H_
