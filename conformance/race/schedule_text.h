// A schedule as a word that a command line takes: what leads to one run, in a fresh process too.
//
//   "12b.40a.41c"        go on, but at step 12 thread 2 takes over, at 40 thread 1, at 41 thread 3
//   "-"                  go on
//   "pct:3:77:240"       priorities at random (seed 77), changed at 2 of 240 steps
//   "random:77"          at each step any thread (seed 77)
//
//   "nth:7:1234"         the schedule of that number that explore.h makes of seed 7
//   "nth:7:1200-1234"    those of these numbers, one after the other in one process
//   "learning:3"         found in the third of the runs that come before all schedules (explore.h)
//
// The first form is what a run leaves behind and what is made smaller. The others stand for a run that did not come
// back to tell.
//
// Pure functions; any thread.
#ifndef PLUMBLINE_CONFORMANCE_RACE_SCHEDULE_TEXT_H_
#define PLUMBLINE_CONFORMANCE_RACE_SCHEDULE_TEXT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "conformance/harness/or_error.h"
#include "conformance/race/scheduler.h"

namespace plumbline::race {

// A plan that owns its switches.
struct OwnedPlan {
  Plan plan;
  std::vector<Switch> switches;
  // "nth" and "learning": not the plan, which is then the straight one, but the way to it.
  struct Nth {
    std::uint64_t seed, first, last;
  };
  std::optional<Nth> nth;
  std::optional<std::uint64_t> learning;
  const Plan& Get() {
    plan.switches = switches.data();
    plan.switch_count = switches.size();
    return plan;
  }
};

std::string PrintSchedule(const std::vector<Switch>& switches);
std::string PrintSchedule(const OwnedPlan& plan);
harness::OrError<OwnedPlan> ParseSchedule(std::string_view text);

}  // namespace plumbline::race

#endif  // PLUMBLINE_CONFORMANCE_RACE_SCHEDULE_TEXT_H_
