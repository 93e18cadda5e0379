// Runs a program's threads at the same time on a backend, through the ABI and nothing else, and tells what was seen.
//
//   ConcurrentRun run = RunProgram(*adapter, program, keys, {.plan = &plan, .fresh = true});
//   OrError<Verdict> verdict = Check(run.history);        // check.h
//   for (const LifetimeFault& fault : run.lifetime) ...
//
// With a plan the scheduler decides who runs (scheduler.h), and the same plan leads to the same run. Without one the
// threads are free and only shaken a little, for backends in which the scheduler has no points.
//
// Everything that can be prepared is: on the threads there is nothing but calls of the backend and notes. A step whose
// name is not there (its registration was released, or is not made yet) is left out of the run and of the history.
//
// Besides the history, the host watches the contexts of its kernels, which it never frees: none may be destroyed while
// a call is in it or twice, no call may enter it afterwards, and in the end each must have been destroyed.
//
// In an executor: a backend that crashes takes the process with it. One run at a time in a process. After a run that
// ended in a deadlock or stuck, the process is of no more use.
#ifndef PLUMBLINE_CONFORMANCE_RACE_CONCURRENT_RUN_H_
#define PLUMBLINE_CONFORMANCE_RACE_CONCURRENT_RUN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "conformance/race/heap_points.h"
#include "conformance/race/history.h"
#include "conformance/race/journal.h"
#include "conformance/race/program.h"
#include "conformance/race/scheduler.h"
#include "spec/abi/abi.h"
#include "spec/model/key_table.h"

namespace plumbline::race {

struct RunOptions {
  const Plan* plan = nullptr;      // null: free threads
  std::uint64_t jitter = 0;        // free threads: seed of the pauses at steps and in kernels; 0: none
  bool fresh = true;               // else in the process-wide registry, with namespaces of its own
  JournalPage* journal = nullptr;  // is told what goes on
};

// [CONC-005] [CONC-006] [CONC-018] [CONC-019]
struct LifetimeFault {
  enum class Kind { kRanAfterDestroyed, kDestroyedWhileRunning, kDestroyedTwice, kNotDrained, kNeverDestroyed } kind;
  std::string registration;
  friend bool operator==(const LifetimeFault&, const LifetimeFault&) = default;
};
std::string Words(const LifetimeFault& fault);

struct ConcurrentRun {
  History history;
  std::vector<LifetimeFault> lifetime;
  std::string refused;  // the registry could not be opened, or what comes before the threads went wrong
  std::string threw;    // an exception came across the ABI; what it said

  // With a plan:
  Ending ending = Ending::kDone;
  std::uint32_t steps = 0;
  std::vector<Switch> switches;  // lead to this run again, if complete
  bool switches_complete = true;
  HeapReport heap;  // what was done to memory that had been freed
};

// `keys` are those in force for the scenario's release on that backend.
ConcurrentRun RunProgram(const pl_adapter& adapter, const Program& program, const model::KeyTable& keys,
                         const RunOptions& options);

}  // namespace plumbline::race

#endif  // PLUMBLINE_CONFORMANCE_RACE_CONCURRENT_RUN_H_
