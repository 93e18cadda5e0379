// The inside of concurrent_run.h: one run, its state and its parts. prepare_run.cc makes all that can be made before
// there are threads, run_kernels.cc is what the backend calls, run_steps.cc what the threads do, concurrent_run.cc the
// whole.
//
// A Runner outlives its run for as long as the backend holds contexts of it. See concurrent_run.h for threads.
#ifndef PLUMBLINE_CONFORMANCE_RACE_CONCURRENT_RUNNER_H_
#define PLUMBLINE_CONFORMANCE_RACE_CONCURRENT_RUNNER_H_

#include <fmt/core.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "conformance/harness/host_values.h"
#include "conformance/harness/renaming.h"
#include "conformance/harness/sanitizers.h"
#include "conformance/race/concurrent_run.h"
#include "spec/abi/host.h"
#include "spec/scenario/limits.h"
#include "spec/scenario/schema.h"

namespace plumbline::race {

#ifdef PLUMBLINE_THREAD_SANITIZER
// The thread sanitizer must not take the host's clock for an order between the backend's own accesses.
constexpr std::memory_order kClockOrder = std::memory_order_relaxed;
#else
constexpr std::memory_order kClockOrder = std::memory_order_seq_cst;
#endif

// The host's own code is no business of the scheduler's; the backend's is.
class HostCode {
 public:
  HostCode() { PausePoints(true); }
  ~HostCode() { PausePoints(false); }
  HostCode(const HostCode&) = delete;
  HostCode& operator=(const HostCode&) = delete;
};
class BackendCode {
 public:
  BackendCode() { PausePoints(false); }
  ~BackendCode() { PausePoints(true); }
  BackendCode(const BackendCode&) = delete;
  BackendCode& operator=(const BackendCode&) = delete;
};

// Held for a few instructions, in which nothing of the backend runs.
class SpinLock {
 public:
  void lock() {
    while (flag_.test_and_set(std::memory_order_acquire)) sched_yield();
  }
  void unlock() { flag_.clear(std::memory_order_release); }

 private:
  std::atomic_flag flag_;
};

#define PLUMBLINE_RACE_HAS(entry) PL_HAS(&adapter_, entry)

class Runner;

// What the backend is given as a kernel's context.
struct Context {
  Runner* runner = nullptr;
  const scenario::KernelDefinition* body = nullptr;  // null: empty
  std::uint32_t signature = PL_SIGNATURE_none;
  std::string registration;
  std::atomic<int> running{0}, destroyed{0};
  std::atomic<bool> released{false};  // and the release has returned
};

// A registration, library or handle that was made, and what the history calls it.
struct Made {
  std::string name;
  pl_registration* registration = nullptr;
  pl_library* library = nullptr;
  pl_operator* op = nullptr;
  Context* context = nullptr;  // of a kernel
};

struct Prepared {
  const scenario::Step* step = nullptr;
  std::string op, place, text;  // renamed
  pl_key key = PL_NO_KEY;
  std::vector<pl_key> keys;
  std::vector<std::string> brought;  // by the arguments of a call
  std::vector<harness::HostValue> values;
  harness::Lender lender;
  pl_value_list arguments{nullptr, 0};
  std::uint32_t signature = PL_SIGNATURE_none;
  std::atomic<int> times{0};  // that it was done: from the second time on, names get a number
};

struct ThreadNotes {
  ThreadNotes(std::string thread, std::size_t of_journal) : name(std::move(thread)), place(of_journal) {}
  const std::string name;
  const std::size_t place;  // of its steps in the journal
  std::vector<Event> events;
  std::vector<JournalEntry*> entries;  // of the events; null: it is in none
  std::vector<std::size_t> pending;    // calls that did not reach a kernel yet
  struct Guard {
    std::string name;
    bool include;
    const std::vector<std::string>* keys;
    pl_guard* handle;
  };
  std::vector<Guard> guards;
  std::uint64_t random = 0;
  int running = 0;                   // kernels inside each other
  scenario::InnerCalls inner_calls;  // of the present step
};

extern thread_local ThreadNotes* notes;  // of the calling thread, if it is one of a run

class Runner {
 public:
  Runner(const pl_adapter& adapter, const Program& program, const model::KeyTable& keys, const RunOptions& options,
         const std::string& suffix)
      : adapter_(adapter),
        program_(program),
        scenario_(program_.scenario),
        keys_(keys),
        options_(options),
        renaming_(scenario_, suffix) {
    for (const scenario::KernelDefinition& kernel : scenario_.kernels) definitions_[kernel.name] = &kernel;
  }

  ConcurrentRun Run();

  // All contexts are gone, so that nobody will call back.
  bool Forgotten() const {
    return std::all_of(contexts_.begin(), contexts_.end(),
                       [](const Context& context) { return context.destroyed.load() == 1; });
  }

 private:
  struct Failure {
    std::string error_class, message;
  };
  using MaybeFailure = std::optional<Failure>;

  // ---- before the threads ----
  MaybeFailure Take(pl_error* error);
  MaybeFailure Open();
  MaybeFailure Prepare(const scenario::Step& step);
  MaybeFailure PrepareAll();
  MaybeFailure InternKey(const std::string& name, pl_key& out);  // on threads: only of those that were before
  MaybeFailure InternKeysOf(const scenario::Value& value);
  MaybeFailure Make(const scenario::Value& value, harness::HostValue& out, std::vector<std::string>* brought);

  // ---- on them ----
  std::uint64_t Tick() { return clock_.fetch_add(1, kClockOrder); }
  void Shake();
  void OnThread(ThreadNotes& mine, const std::vector<std::size_t>& steps);
  void DoStep(const scenario::Step& step);
  std::string Do(const scenario::Step& step, Prepared& prepared);  // the error's class, or empty
  Event& Note(Event::Kind kind, std::size_t* index = nullptr);
  // It is all there: the backend is asked next.
  void Begin(std::size_t index);
  // With `told`, the whole answer is in the event; else the caller says so, by Told.
  std::string Finish(std::size_t index, pl_error* error, bool told = true);
  void Told(std::size_t index);
  void Unnote(std::size_t index);  // the last; it never was
  std::string NewName(const std::string& given, const char* what, Prepared& prepared);
  // Each registration has a place of its own, by which a table tells it.
  std::string NewPlace(const scenario::Step& step, const std::string& registration);
  void Keep(const std::string& slot, Made made);
  Made* Look(const std::string& slot) { return slots_.at(slot).load(std::memory_order_acquire); }
  std::string CallOperator(Event::Kind kind, Event event, pl_operator* op, bool typed, std::uint32_t signature,
                           const pl_value* arguments, std::uint64_t count);
  std::string CallByName(const std::string& name, const std::string& renamed, Event event, bool typed,
                         std::uint32_t signature, const pl_value* arguments, std::uint64_t count);
  void LeaveGuards(std::size_t down_to);

  static pl_error* RunKernel(void* context, pl_frame* frame);
  static void DestroyKernel(void* context);
  pl_error* RunBody(Context& context, pl_frame& frame);
  std::string RunItem(const scenario::BodyItem& item, Context& context, pl_frame& frame, bool* returned);
  pl_error* PushZeros(pl_frame& frame);
  void Fault(LifetimeFault::Kind kind, const std::string& registration);
  void Threw(std::string what);
  void Ask();
  Context& NewContext(const scenario::KernelUse& use, const std::string& registration, const std::string& place,
                      pl_kernel* out);

  void CleanUp();

  const pl_adapter& adapter_;
  const Program program_;  // a copy: contexts may outlive the caller's
  const scenario::Scenario& scenario_;
  const model::KeyTable& keys_;
  const RunOptions& options_;
  const harness::Renaming renaming_;
  std::map<std::string, const scenario::KernelDefinition*> definitions_;

  pl_registry* registry_ = nullptr;
  std::map<std::string, pl_key> interned_;
  std::map<pl_key, std::string> key_names_;
  std::map<const scenario::Step*, std::unique_ptr<Prepared>> prepared_;
  std::map<std::string, std::vector<scenario::SchemaArgument>> returns_;  // by operator, renamed
  std::map<std::string, std::string> registration_at_;                    // by place, for tables

  std::map<std::string, std::atomic<Made*>> slots_;
  std::deque<Made> made_;
  std::deque<Context> contexts_;
  std::deque<ThreadNotes> threads_;
  std::vector<LifetimeFault> lifetime_;
  std::string threw_;
  SpinLock lock_;  // the five above, and `registration_at_`
  std::atomic<std::uint64_t> clock_{1};
  std::atomic<int> started_{0};
  std::atomic<bool> racing_{false};
  std::atomic<bool> endless_{false};
  bool over_ = false;
};

}  // namespace plumbline::race

#endif  // PLUMBLINE_CONFORMANCE_RACE_CONCURRENT_RUNNER_H_
