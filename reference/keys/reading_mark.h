// A thread's mark that it is in a read section (registry/publication.h).
//
// With PLUMBLINE_LOCKED_CALLS it is the plain design instead, to hold the real one against: one lock for all sections.
// To set the mark takes it, to clear the mark gives it back, and who looks at a mark waits for it. Everything else is
// the same, so what a hunt for races says of the one must hold for the other.
#ifndef PLUMBLINE_REFERENCE_KEYS_READING_MARK_H_
#define PLUMBLINE_REFERENCE_KEYS_READING_MARK_H_

#include <atomic>
#include <cstdint>
#include <mutex>

namespace plumbline::reference {

#ifdef PLUMBLINE_LOCKED_CALLS

class ReadingMark {
 public:
  constexpr explicit ReadingMark(std::uint32_t) {}
  void store(std::uint32_t reading, std::memory_order) {
    if (reading != 0) {
      lock_.lock();
    } else {
      lock_.unlock();
    }
  }
  std::uint32_t load(std::memory_order) const {
    const std::lock_guard<std::mutex> nobody_reads(lock_);
    return 0;
  }

 private:
  static inline std::mutex lock_;
};

#else

using ReadingMark = std::atomic<std::uint32_t>;

#endif

}  // namespace plumbline::reference

#endif  // PLUMBLINE_REFERENCE_KEYS_READING_MARK_H_
