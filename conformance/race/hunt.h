// Hunts for a schedule of one program under which a backend breaks the spec, and makes a witness of what it finds.
//
//   Hunt hunt(executor, {.seed = 7, .time = std::chrono::seconds(3)});
//   Hunted found = hunt.Run(scenario);
//   if (found.witness) std::cout << found.witness->words;
//
// Schedules run in executors, a few hundred in each, so that a crash or a deadlock costs only the rest of these; what
// the program's threads had done by then is told all the same (journal.h). What is found is replayed in fresh
// processes, and made smaller if that is wanted: first the program, as long as some schedule of what is left shows the
// same kind of fault; then the schedule, switch by switch.
//
// A hunt takes its time, and on a machine that has much else to do as much more as it needs for the least number of
// schedules, but at most kMostTimes as much.
//
// The executor must have been started with race::Serve as its service. Belongs to one thread; borrows the executor.
#ifndef PLUMBLINE_CONFORMANCE_RACE_HUNT_H_
#define PLUMBLINE_CONFORMANCE_RACE_HUNT_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "conformance/harness/executor.h"
#include "conformance/race/explore.h"
#include "conformance/race/journal.h"
#include "conformance/race/service.h"
#include "reports/result/result.h"
#include "spec/scenario/scenario.h"

namespace plumbline::race {

inline constexpr int kMostTimes = 5;

struct HuntOptions {
  std::uint64_t seed = 1;
  std::chrono::milliseconds time{3000};
  std::uint64_t least = 400;            // schedules, also where they take longer
  std::uint64_t schedules = 1'000'000;  // at most
  bool free = false;                    // threads run freely: no schedule, no replay
  bool shrink = true;
  int replays = 20;
  // Beyond the time that the schedules themselves have: the scheduler's own watchdog should speak first.
  std::chrono::milliseconds patience{20'000};
};

struct Witness {
  reports::Verdict verdict = reports::Verdict::kFail;
  std::string kind, words;
  std::string scenario;  // as text; small if that was wanted
  std::string schedule;  // empty with free threads
  // The same after those before it in its process, of a run that did not come back; else empty.
  std::string with_former{};
  // As text; empty if there is none. Of a process that did not come back, what it had written by then.
  std::string history;
  bool contradicts = false;  // it is the part of the history that already cannot be; else nothing may be wrong with it
  int replays = 0, again = 0;     // in fresh processes: how many, and in how many it came back
  std::uint64_t found_after = 0;  // schedules
};

struct Hunted {
  std::uint64_t schedules = 0, undecided = 0;
  std::uint32_t steps = 0;  // of the program's first run
  double seconds = 0;
  std::string refused;  // it cannot be run on this backend, and why
  std::optional<Witness> witness;
};

class Hunt {
 public:
  Hunt(harness::Executor& executor, HuntOptions options);
  Hunted Run(const scenario::Scenario& scenario);

  // One schedule in a fresh process: what came of it, if anything.
  std::optional<Witness> Replay(const std::string& scenario, const std::string& schedule, std::string* refused);

 private:
  Hunted Search(const std::string& scenario, std::chrono::milliseconds time, std::uint64_t least, std::uint64_t most);
  harness::Reply Ask(Asked& asked, std::chrono::milliseconds limit);
  Witness DidNotAnswer(const harness::Reply& reply, const std::string& scenario, std::string schedule) const;
  void Shrink(const scenario::Scenario& scenario, Witness& witness);

  harness::Executor& executor_;
  const HuntOptions options_;
  Journal journal_;
  bool fresh_ = true;
};

}  // namespace plumbline::race

#endif  // PLUMBLINE_CONFORMANCE_RACE_HUNT_H_
