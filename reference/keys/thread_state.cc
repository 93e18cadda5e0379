#include "reference/keys/thread_state.h"

#include <pthread.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <vector>

#include "reference/faults/faults.h"
#include "reference/keys/carried_state.h"
#include "reference/keys/error.h"
#include "reference/keys/fork_mutex.h"
#include "reference/keys/make_once.h"

namespace plumbline::reference {

constinit thread_local ThreadState thread_state;

#ifdef PLUMBLINE_WITH_FAULTS
constinit std::atomic<std::uint64_t> shared_keep{~std::uint64_t{0}};
#endif

namespace {

struct Threads {
  ForkMutex mutex;
  std::vector<ThreadState*> states;
};

// Never destroyed: threads may outlive static destruction.
Threads& AllThreads() {
  static constinit std::atomic<Threads*> threads{nullptr};
  return MakeOnce(threads, [] {
    // In a child process only the forking thread lives on.
    return new Threads{
        .mutex = ForkMutex(
            ForkRank::kThreads,
            [](void*) { std::erase_if(AllThreads().states, [](auto* state) { return state != &thread_state; }); }),
        .states = {}};
  });
}

struct Words {
  std::uint32_t table_number;
  std::uint64_t include, keep;
};

#ifdef PLUMBLINE_WITH_FAULTS
Words latest{};  // set by the guard that was entered last, on any thread; for faults that mix up threads
#endif

// The words of the tables that are not loaded, and the thread's place in the list.
struct ThreadRecord {
  std::vector<Words> stored;
  ThreadRecord() {
    Threads& threads = AllThreads();
    const std::lock_guard lock(threads.mutex);
    threads.states.push_back(&thread_state);
  }
  ~ThreadRecord();
};

// Not itself a thread-local with a destructor: the destructors of others' thread-locals may still call, so that this
// has to go after all of them, as the values of a thread's keys do. A key's destructor that calls makes it anew.
constinit thread_local ThreadRecord* thread_record __attribute__((tls_model("initial-exec"))) = nullptr;

ThreadRecord::~ThreadRecord() {
#ifdef PLUMBLINE_WITH_FAULTS
  if (PLUMBLINE_FAULT(guards_outlive_their_thread)) {
    latest = {thread_state.table_number, thread_state.include, thread_state.keep};
  }
#endif
  Threads& threads = AllThreads();
  const std::lock_guard lock(threads.mutex);
  std::erase(threads.states, &thread_state);
  thread_state.table_number = ThreadState::kNoTable;
  thread_record = nullptr;
}

const pthread_key_t record_key = [] {
  pthread_key_t made;
  pthread_key_create(&made, [](void* record) { delete static_cast<ThreadRecord*>(record); });
  return made;
}();

ThreadRecord& Record() {
  if (thread_record != nullptr) return *thread_record;
  thread_record = new ThreadRecord;
  pthread_setspecific(record_key, thread_record);
  return *thread_record;
}

#ifdef PLUMBLINE_WITH_FAULTS
// What a thread-local of the library's own would do.
void CheckNotEnding() {
  if (!PLUMBLINE_FAULT(ending_thread_cannot_call)) return;
  static thread_local bool gone = false;
  struct Own {
    bool used = false;
    ~Own() { gone = true; }
  };
  if (gone) Throw(ErrorClass::kInternal, "This thread is ending");
  thread_local Own own;
  own.used = true;
}
#endif

}  // namespace

void EnterTable(const KeyTable& table) {
#ifdef PLUMBLINE_WITH_FAULTS
  CheckNotEnding();
#endif
  ThreadState& state = thread_state;
  if (state.table_number == table.number()) return;
  std::vector<Words>& stored = Record().stored;
  if (state.table_number != ThreadState::kNoTable) stored.push_back({state.table_number, state.include, state.keep});
  state.table_number = table.number();
  const auto known = std::find_if(stored.begin(), stored.end(),
                                  [&](const Words& words) { return words.table_number == table.number(); });
  if (known != stored.end()) {
    state.include = known->include;
    state.keep = known->keep;
    stored.erase(known);
    return;
  }
#ifdef PLUMBLINE_WITH_FAULTS
  const bool inherits = PLUMBLINE_FAULT(new_thread_inherits_guards) || PLUMBLINE_FAULT(guards_outlive_their_thread);
  if (inherits && latest.table_number == table.number()) {
    state.include = latest.include;
    state.keep = latest.keep;
    return;
  }
#endif
  state.include = PLUMBLINE_FAULT(thread_includes_nothing) ? KeySet().bits() : table.thread_include().bits();
  state.keep = ~(table.thread_exclude().bits() & KeySet::kFunctionalityBits);
  if (PLUMBLINE_FAULT(thread_excludes_nothing)) state.keep = ~std::uint64_t{0};
}

KeySet ThreadInclude(const KeyTable& table) {
  EnterTable(table);
  return KeySet::FromBits(thread_state.include);
}

KeySet ThreadExclude(const KeyTable& table) {
  EnterTable(table);
  return KeySet::FromBits(~thread_state.keep & KeySet::kFunctionalityBits);
}

KeyGuard::KeyGuard(const KeyTable& table, KeySet keys, bool include) : table_(table), include_(include) {
  EnterTable(table);
#ifdef PLUMBLINE_WITH_FAULTS
  include_before_ = thread_state.include;
  keep_before_ = thread_state.keep;
#endif
  if (include_) {
    added_ = keys.bits() & ~thread_state.include;
    if (PLUMBLINE_FAULT(include_guard_is_ignored)) added_ = 0;
    if (PLUMBLINE_FAULT(include_brings_no_backend)) added_ &= KeySet::kFunctionalityBits;
    thread_state.include |= added_;
  } else {
    added_ = keys.bits() & KeySet::kFunctionalityBits & thread_state.keep;
    if (PLUMBLINE_FAULT(exclusion_takes_backends)) added_ = keys.bits() & ~KeySet::kAlways & thread_state.keep;
    thread_state.keep &= ~added_;
  }
  if (PLUMBLINE_FAULT(guard_takes_back_all_its_keys)) added_ = keys.bits() & ~KeySet::kAlways;
  if (PLUMBLINE_FAULT(guard_keeps_component)) added_ &= KeySet::kFunctionalityBits;
#ifdef PLUMBLINE_WITH_FAULTS
  if (!PLUMBLINE_FAULT(guards_outlive_their_thread)) {
    latest = {table.number(), thread_state.include, thread_state.keep};
  }
  if (!include_ && PLUMBLINE_FAULT(guards_share_one_set)) shared_keep.fetch_and(~added_, std::memory_order_relaxed);
  if (PLUMBLINE_FAULT(guard_holds_for_every_thread)) {
    VisitThreads([](ThreadState& state) {
      state.include = thread_state.include;
      state.keep = thread_state.keep;
    });
  }
#endif
}

KeyGuard::~KeyGuard() {
  EnterTable(table_);
#ifdef PLUMBLINE_WITH_FAULTS
  if (!include_) shared_keep.fetch_or(added_, std::memory_order_relaxed);
#endif
  if (include_) {
    thread_state.include &= ~added_;
  } else {
    thread_state.keep |= added_;
    if (PLUMBLINE_FAULT(exclude_guard_ends_inclusion)) thread_state.include &= ~added_;
  }
#ifdef PLUMBLINE_WITH_FAULTS
  if (PLUMBLINE_FAULT(guard_restores_what_it_found)) {
    thread_state.include = include_before_;
    thread_state.keep = keep_before_;
  }
  latest = {};
#endif
}

namespace {

// Loads `words`; what the thread had for their table, if it had anything, is the result.
std::optional<Words> ExchangeWords(const Words& words) {
  ThreadState& state = thread_state;
  std::vector<Words>& stored = Record().stored;
  std::optional<Words> before;
  if (state.table_number == words.table_number) {
    before = Words{state.table_number, state.include, state.keep};
  } else {
    if (state.table_number != ThreadState::kNoTable) stored.push_back({state.table_number, state.include, state.keep});
    const auto known = std::find_if(stored.begin(), stored.end(),
                                    [&](const Words& other) { return other.table_number == words.table_number; });
    if (known != stored.end()) {
      before = *known;
      stored.erase(known);
    }
  }
  state.table_number = words.table_number;
  state.include = words.include;
  state.keep = words.keep;
  return before;
}

}  // namespace

CarriedState::CarriedState()
    : table_number_(thread_state.table_number), include_(thread_state.include), keep_(thread_state.keep) {}

CarriedState::Use::Use(const CarriedState& state) : table_number_(state.table_number_) {
  if (table_number_ == ThreadState::kNoTable) return;
  const std::optional<Words> before = ExchangeWords({state.table_number_, state.include_, state.keep_});
  known_ = before.has_value();
  if (known_) {
    include_ = before->include;
    keep_ = before->keep;
  }
}

CarriedState::Use::~Use() {
  if (table_number_ == ThreadState::kNoTable) return;
  ExchangeWords({table_number_, include_, keep_});
  if (!known_) thread_state.table_number = ThreadState::kNoTable;
}

void VisitThreads(void (*visit)(ThreadState& state)) {
  Threads& threads = AllThreads();
  const std::lock_guard lock(threads.mutex);
  for (ThreadState* state : threads.states) visit(*state);
}

}  // namespace plumbline::reference
