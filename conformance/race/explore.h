// Looks for a schedule under which a program shows a fault of the backend.
//
//   Exploration found = Explore(*adapter, program, keys, {.seed = 1, .schedules = 2000});
//   if (found.violation) std::cout << found.violation->words << found.violation->schedule;
//
// Several ways to choose schedules take turns, since each alone misses faults: any thread at each step; random
// priorities with 1, 2 and 4 changes (PCT at depths 2, 3, 5); up to three preemptions at random steps, the threads else
// running on; and, where threads are known to meet, one or two preemptions at places in the code, each as likely as the
// next, however often it is passed. Where the scheduler has no points in the backend, or with `free`, threads run
// freely instead and are shaken.
//
// A program is first run a few times in the same ways: that warms up what the backend does only once, shows where in a
// traced backend threads meet (memory_points.h), and tells how many steps there are. So a schedule leads to the same
// run in a fresh process. What is found in these first runs has the schedule "learning:N".
//
// In an executor, for one program at a time; see concurrent_run.h.
#ifndef PLUMBLINE_CONFORMANCE_RACE_EXPLORE_H_
#define PLUMBLINE_CONFORMANCE_RACE_EXPLORE_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "conformance/race/check.h"
#include "conformance/race/concurrent_run.h"
#include "conformance/race/journal.h"
#include "conformance/race/schedule_text.h"

namespace plumbline::race {

struct ExploreOptions {
  std::uint64_t seed = 1;
  std::uint64_t first = 0;            // number of the first schedule
  std::uint64_t schedules = 1000;     // how many
  std::chrono::milliseconds time{0};  // 0: no limit but that
  bool free = false;
  bool fresh = true;  // registries
  // A hunt judges histories by the thousand, and none for long.
  CheckOptions check{.max_steps = 200'000, .fallbacks = std::nullopt};
  std::function<void(std::uint64_t schedule)> on_schedule{};  // called before each
  JournalPage* journal = nullptr;                             // of the run that goes on
};

struct Violation {
  // "stale", "after-release", ..., "deadlock", "stuck", "threw", "lifetime": what must come back when it is replayed.
  std::string kind;
  std::string words;     // what happened, for people
  std::string schedule;  // schedule_text.h; empty for free threads
  std::string history;   // all of it, as text
  std::string smallest;  // the part that already cannot be, as text; empty if it is no contradiction
  std::uint32_t steps = 0;
};

struct Exploration {
  std::uint64_t schedules = 0;  // that were run
  std::uint64_t learning = 0;   // of these, at the start, to learn where threads meet
  std::uint64_t undecided = 0;  // of these, whose history was too hard to judge
  std::uint32_t steps = 0;      // of the first run, without a switch
  std::optional<Violation> violation;
  std::string refused;  // the program cannot be run on this backend, and why
};

Exploration Explore(const pl_adapter& adapter, const Program& program, const model::KeyTable& keys,
                    const ExploreOptions& options);

// What is known of a program's run: for each thread, its steps by the places in the code where they were, counted from
// the thread's first.
struct Ground {
  std::uint32_t steps = 1;  // of all threads together
  std::vector<std::vector<std::vector<std::uint32_t>>> by_place;
};

// The plan of a schedule by its number.
OwnedPlan PlanOf(std::uint64_t seed, std::uint64_t schedule, const Ground& ground, int threads);

// One schedule, after the warm-up.
Exploration Replay(const pl_adapter& adapter, const Program& program, const model::KeyTable& keys, OwnedPlan plan,
                   const ExploreOptions& options);

}  // namespace plumbline::race

#endif  // PLUMBLINE_CONFORMANCE_RACE_EXPLORE_H_
