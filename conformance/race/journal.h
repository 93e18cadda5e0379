// What a run has done so far, kept where it outlives the process that runs it: who asked for the run reads it when that
// process crashed, left or hangs.
//
//   Journal journal;                                       // who asks; passes journal.path() on
//   JournalPage* page = OpenJournal(path);                 // in the executor; null: it cannot, and nothing is kept
//   page->Clear();
//   page->StepBegan(place, 0); JournalEntry* entry = page->Asked(event); page->Answered(entry, event); ...
//   std::string history = journal.History(program);        // who asks, once that process is dead
//   std::string words = journal.Steps(program);
//
// It costs a few writes into shared memory for each event, and no system call. What does not fit is left out and
// counted.
//
// A Journal owns a nameless file, which is gone with it. A page stays mapped for as long as its process lives. Each
// entry belongs to the thread that asked; the rest of a page may be used by all threads of a run.
#ifndef PLUMBLINE_CONFORMANCE_RACE_JOURNAL_H_
#define PLUMBLINE_CONFORMANCE_RACE_JOURNAL_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "conformance/race/history.h"
#include "conformance/race/program.h"
#include "conformance/race/scheduler.h"

namespace plumbline::race {

// An event, as history.h prints it.
struct JournalEntry {
  enum State : std::uint32_t { kNone, kAsked, kAnswered, kLeftOut };
  std::atomic<std::uint32_t> state{kNone};
  std::array<char, 252> asked{};  // without an answer; ends in a zero, as the next
  std::array<char, 512> answered{};
};

class JournalPage {
 public:
  // Whose steps: main's before there are threads, a thread's by its number, main's after them.
  static constexpr std::size_t kBefore = 0, kAfter = kMaxThreads + 1;
  static constexpr std::size_t OfThread(std::size_t thread) { return thread + 1; }

  void Clear();  // a run begins
  // The page's writers. `steps` are those before it on that thread.
  void StepBegan(std::size_t whose, std::uint32_t steps) { Set(began_[whose], steps + 1); }
  void StepEnded(std::size_t whose, std::uint32_t steps) { Set(ended_[whose], steps + 1); }
  void Releasing() { Set(releasing_, 1); }  // all steps are over, and what they left is taken down
  JournalEntry* Asked(const Event& event);  // null: there is no room
  static void Answered(JournalEntry* entry, const Event& event);
  static void LeaveOut(JournalEntry* entry);

 private:
  friend class Journal;
  static constexpr std::size_t kEntries = 512;
  // Only who outlives the process reads them, so no thread may take one for an order between threads.
  static void Set(std::atomic<std::uint32_t>& counter, std::uint32_t value) {
    counter.store(value, std::memory_order_relaxed);
  }

  std::array<std::atomic<std::uint32_t>, kMaxThreads + 2> began_{}, ended_{};
  std::atomic<std::uint32_t> releasing_{0}, asked_{0};
  std::array<JournalEntry, kEntries> entries_{};
};

// The page of a journal's path, of this process; null: it has none. One at a time: another takes its place.
JournalPage* OpenJournal(const std::string& path);

class Journal {
 public:
  Journal();
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  // By which processes of the same user open it while this one lives; empty: it could not be made.
  const std::string& path() const { return path_; }

  // Before a request, so that nothing is read that another run left.
  void Clear();
  // The events, as text; empty if there are none.
  std::string History(const Program& program) const;
  // Each step of the program: whether it had begun and ended.
  std::string Steps(const Program& program) const;

 private:
  int file_ = -1;
  JournalPage* page_ = nullptr;
  std::string path_;
};

}  // namespace plumbline::race

#endif  // PLUMBLINE_CONFORMANCE_RACE_JOURNAL_H_
