#include "conformance/race/journal.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <string_view>
#include <vector>

#include "spec/scenario/print.h"

namespace plumbline::race {
namespace {

static_assert(std::atomic<std::uint32_t>::is_always_lock_free, "it is shared between processes");

// False: it does not fit.
template <std::size_t size>
bool Put(std::string_view text, std::array<char, size>& into) {
  if (text.size() >= size) return false;
  std::memcpy(into.data(), text.data(), text.size());
  into[text.size()] = '\0';
  return true;
}

// What a process that went wrong left, which may be anything.
template <std::size_t size>
std::string_view Get(const std::array<char, size>& from) {
  return {from.data(), strnlen(from.data(), size)};
}

JournalPage* Map(int file) {
  void* const mapped = mmap(nullptr, sizeof(JournalPage), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  return mapped == MAP_FAILED ? nullptr : static_cast<JournalPage*>(mapped);
}

}  // namespace

void JournalPage::Clear() {
  const std::size_t used = std::min<std::size_t>(asked_.load(std::memory_order_relaxed), kEntries);
  for (std::size_t i = 0; i < used; ++i) Set(entries_[i].state, JournalEntry::kNone);
  for (std::size_t i = 0; i < began_.size(); ++i) {
    Set(began_[i], 0);
    Set(ended_[i], 0);
  }
  Set(releasing_, 0);
  Set(asked_, 0);
}

JournalEntry* JournalPage::Asked(const Event& event) {
  const std::size_t index = asked_.fetch_add(1, std::memory_order_relaxed);
  if (index >= kEntries) return nullptr;
  JournalEntry& entry = entries_[index];
  if (!Put(PrintEvent(event), entry.asked)) {
    LeaveOut(&entry);
    return nullptr;
  }
  // The text before its state, also for one that looks after a crash right here.
  entry.state.store(JournalEntry::kAsked, std::memory_order_release);
  return &entry;
}

void JournalPage::Answered(JournalEntry* entry, const Event& event) {
  if (entry == nullptr) return;
  if (!Put(PrintEvent(event), entry->answered)) return LeaveOut(entry);
  entry->state.store(JournalEntry::kAnswered, std::memory_order_release);
}

void JournalPage::LeaveOut(JournalEntry* entry) {
  if (entry != nullptr) entry->state.store(JournalEntry::kLeftOut, std::memory_order_release);
}

JournalPage* OpenJournal(const std::string& path) {
  static std::string open_path;
  static JournalPage* page = nullptr;
  if (path == open_path) return page;
  if (page != nullptr) munmap(page, sizeof(JournalPage));
  page = nullptr;
  open_path = path;
  if (path.empty()) return nullptr;
  const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return nullptr;
  page = Map(file);
  close(file);
  return page;
}

Journal::Journal() : file_(memfd_create("plumbline-journal", MFD_CLOEXEC)) {
  if (file_ < 0 || ftruncate(file_, sizeof(JournalPage)) != 0) return;
  page_ = Map(file_);
  if (page_ == nullptr) return;
  new (page_) JournalPage;
  path_ = fmt::format("/proc/{}/fd/{}", getpid(), file_);
}

Journal::~Journal() {
  if (page_ != nullptr) munmap(page_, sizeof(JournalPage));
  if (file_ >= 0) close(file_);
}

void Journal::Clear() {
  if (page_ != nullptr) page_->Clear();
}

std::string Journal::History(const Program& program) const {
  if (page_ == nullptr) return "";
  const std::size_t asked = page_->asked_.load(std::memory_order_relaxed);
  std::string events;
  std::size_t left_out = asked - std::min(asked, JournalPage::kEntries);
  for (std::size_t i = 0; i < std::min(asked, JournalPage::kEntries); ++i) {
    const JournalEntry& entry = page_->entries_[i];
    const std::uint32_t state = entry.state.load(std::memory_order_acquire);
    if (state == JournalEntry::kAsked) events += fmt::format("{}\n", Get(entry.asked));
    if (state == JournalEntry::kAnswered) events += fmt::format("{}\n", Get(entry.answered));
    if (state == JournalEntry::kLeftOut) ++left_out;
  }
  if (events.empty()) return "";
  const scenario::Scenario& scenario = program.scenario;
  std::string history =
      PrintHistory({.release = scenario.release, .title = scenario.title, .clauses = scenario.clauses, .events = {}});
  if (left_out > 0) history += fmt::format("# {} more had no room here\n", left_out);
  return history + events;
}

std::string Journal::Steps(const Program& program) const {
  if (page_ == nullptr) return "";
  std::string text;
  bool all_ended = true;
  const auto tell = [&](std::size_t whose, std::string_view thread, const std::vector<std::size_t>& steps) {
    const std::uint32_t began = page_->began_[whose].load(std::memory_order_relaxed);
    const std::uint32_t ended = page_->ended_[whose].load(std::memory_order_relaxed);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      all_ended = all_ended && i < ended;
      scenario::Step step = program.scenario.steps[steps[i]];
      step.thread.clear();
      step.expected.reset();
      text += fmt::format("\n  {:<6} {:<9} line {}: {}", thread,
                          i < ended   ? "ended"
                          : i < began ? "began"
                                      : "-",
                          step.line, scenario::PrintStep(step));
    }
  };
  tell(JournalPage::kBefore, "main", program.before);
  for (std::size_t i = 0; i < program.threads.size(); ++i) {
    tell(JournalPage::OfThread(i), program.threads[i].name, program.threads[i].steps);
  }
  tell(JournalPage::kAfter, "main", program.after);
  std::string head = "its steps, and which of them had begun (`began`) and ended by then:";
  if (all_ended) {
    head = page_->releasing_.load(std::memory_order_relaxed) != 0
               ? "all steps had ended, and what they had left was being released:"
               : "all steps had ended:";
  }
  return head + text;
}

}  // namespace plumbline::race
