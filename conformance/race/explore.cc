#include "conformance/race/explore.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <utility>

#include "conformance/race/memory_points.h"

namespace plumbline::race {
namespace {

// A busy machine may keep the running thread off its processor for a while.
constexpr std::uint32_t kStuckAfterMs = 8'000;

// Of a splitmix64 generator.
std::uint64_t Mix(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

const char* Spelling(Verdict::Kind kind) {
  switch (kind) {
    case Verdict::Kind::kUnknownKernel:
      return "unknown-kernel";
    case Verdict::Kind::kBeforeRegistration:
      return "before-registration";
    case Verdict::Kind::kAfterRelease:
      return "after-release";
    case Verdict::Kind::kMissed:
      return "missed";
    case Verdict::Kind::kStale:
      return "stale";
    case Verdict::Kind::kNoOrder:
      return "no-order";
  }
  return "";
}

std::optional<Violation> WhatIsWrong(const ConcurrentRun& run, const ExploreOptions& options, bool* undecided) {
  Violation violation;
  if (!run.threw.empty()) {
    violation.kind = "threw";
    violation.words = "an exception came across the ABI: " + run.threw;
    return violation;
  }
  if (run.ending == Ending::kDeadlock || run.ending == Ending::kStuck) {
    const bool deadlock = run.ending == Ending::kDeadlock;  // [CONC-012] [CONC-013] [CONC-014]
    violation.kind = deadlock ? "deadlock" : "stuck";
    violation.words = deadlock ? "every thread waits for another"
                               : "a thread does not go on, and waits for nothing that the scheduler knows";
    for (const Event& event : run.history.events) {
      if (event.end == kNever) violation.words += fmt::format("\n  {} is in: {}", event.thread, PrintEvent(event));
    }
    return violation;
  }
  if (run.ending == Ending::kStepLimit) {
    violation.kind = "livelock";
    violation.words = fmt::format("the threads did not come to an end in {} steps", run.steps);
    return violation;
  }
  if (!run.lifetime.empty()) {
    violation.kind = "lifetime";
    for (const LifetimeFault& fault : run.lifetime) {
      violation.words += (violation.words.empty() ? "" : "\n") + Words(fault);
    }
    return violation;
  }
  if (!run.heap.ok()) {
    violation.kind = "freed-memory";
    if (run.heap.written != 0) {
      violation.words = fmt::format("memory was written to after it had been freed: {} bytes into a block of {}",
                                    run.heap.offset, run.heap.size);
    } else {
      violation.words = fmt::format("a block of {} bytes was freed twice", run.heap.size);
    }
    return violation;
  }
  const harness::OrError<Verdict> verdict = Check(run.history, options.check);
  if (!verdict.ok()) {
    violation.kind = "unreadable";
    violation.words = verdict.error();
    return violation;
  }
  *undecided = verdict->outcome == Verdict::Outcome::kGaveUp;
  if (verdict->outcome != Verdict::Outcome::kContradiction) return std::nullopt;
  violation.kind = Spelling(verdict->kind);
  violation.words = verdict->words;
  violation.smallest = PrintHistory(verdict->smallest);
  return violation;
}

// What is wrong with a run, if anything.
std::optional<Violation> Judge(const ConcurrentRun& run, const ExploreOptions& options, bool* undecided) {
  std::optional<Violation> violation = WhatIsWrong(run, options, undecided);
  if (!violation) return std::nullopt;
  violation->steps = run.steps;
  violation->history = PrintHistory(run.history);
  if (!options.free && run.switches_complete) violation->schedule = PrintSchedule(run.switches);
  return violation;
}

// Runs that show where in the backend threads meet: one after the other, then at random. The same in every process.
constexpr int kLearningRuns = 5;

// Runs once and fills in what came of it; false: it ends here.
bool RunOnce(const pl_adapter& adapter, const Program& program, const model::KeyTable& keys, const RunOptions& run,
             const ExploreOptions& options, Exploration& into) {
  const ConcurrentRun done = RunProgram(adapter, program, keys, run);
  if (!done.refused.empty()) {
    into.refused = done.refused;
    return false;
  }
  ++into.schedules;
  if (into.steps == 0) into.steps = std::max<std::uint32_t>(done.steps, 1);
  bool undecided = false;
  into.violation = Judge(done, options, &undecided);
  into.undecided += undecided ? 1 : 0;
  return !into.violation.has_value();
}

// The places where a thread came in the run that it began.
void ReadGround(int thread, Ground& ground) {
  struct Reading {
    std::vector<std::vector<std::uint32_t>>& by_place;
    const int thread;
    std::uint32_t first = UINT32_MAX;
    std::map<int, std::size_t> places;  // site -> index, in the order in which it came there
  } reading{ground.by_place[static_cast<std::size_t>(thread)], thread, UINT32_MAX, {}};
  TakeNoted(&reading, [](void* context, int by, std::uint32_t step, int site) {
    Reading& into = *static_cast<Reading*>(context);
    if (by != into.thread) return;
    into.first = std::min(into.first, step);
    const auto [place, fresh] = into.places.try_emplace(site, into.by_place.size());
    if (fresh) into.by_place.emplace_back();
    into.by_place[place->second].push_back(step - into.first);
  });
}

// One thread runs to a place of its own, then another, perhaps to a place too, then by rule.
std::vector<Switch> AtPlaces(const Ground& ground, int threads, std::uint64_t random) {
  const auto below = [&](std::size_t limit) {
    random = Mix(random);
    return static_cast<std::size_t>(random % limit);
  };
  std::vector<Switch> switches;
  std::size_t thread = below(static_cast<std::size_t>(threads));
  std::uint32_t step = 0;
  const std::size_t preemptions = 1 + below(2);
  for (std::size_t i = 0;; ++i) {
    switches.push_back({step, static_cast<std::uint32_t>(thread)});
    const auto& places = ground.by_place[thread];
    if (i == preemptions || places.empty() || threads == 1) break;
    const std::vector<std::uint32_t>& steps = places[below(places.size())];
    step += 1 + steps[below(steps.size())];
    const std::size_t other = below(static_cast<std::size_t>(threads) - 1);
    thread = other < thread ? other : other + 1;
  }
  return switches;
}

// The first runs, with points at every load and store; false: it ends here.
bool WarmUp(const pl_adapter& adapter, const Program& program, const model::KeyTable& keys,
            const ExploreOptions& options, Exploration& into, Ground& ground) {
  SetMemoryPoints(MemoryPoints::kEverywhereNoted);
  ForgetSharedSites();
  const int threads = static_cast<int>(program.threads.size());
  bool good = true;
  for (int i = 0; i < kLearningRuns && good; ++i) {
    OwnedPlan plan;
    plan.plan.strategy = Strategy::kSwitches;
    if (i > 0) plan = PlanOf(1, static_cast<std::uint64_t>(i), {.steps = into.steps, .by_place = {}}, threads);
    plan.plan.stuck_after_ms = kStuckAfterMs;
    good =
        RunOnce(adapter, program, keys,
                {.plan = &plan.Get(), .jitter = 0, .fresh = options.fresh, .journal = options.journal}, options, into);
    if (!BackendIsTraced()) break;
    LearnSharedSites();
  }
  into.learning = into.schedules;
  if (into.violation) into.violation->schedule = fmt::format("learning:{}", into.learning);
  // What is found from here on is found with points where threads meet only; so are its steps counted.
  SetMemoryPoints(MemoryPoints::kWhereSharedNoted);
  ground.steps = into.steps;
  if (!good || !BackendIsTraced()) return good;
  into.steps = 0;
  ground.by_place.assign(static_cast<std::size_t>(threads), {});
  for (int thread = 0; thread < threads; ++thread) {
    OwnedPlan first;
    first.plan.strategy = Strategy::kSwitches;
    first.plan.stuck_after_ms = kStuckAfterMs;
    first.switches = {{0, static_cast<std::uint32_t>(thread)}};
    const RunOptions run{.plan = &first.Get(), .jitter = 0, .fresh = options.fresh, .journal = options.journal};
    good = RunOnce(adapter, program, keys, run, options, into);
    if (!good) break;
    ReadGround(thread, ground);
  }
  SetMemoryPoints(MemoryPoints::kWhereShared);
  ground.steps = into.steps;
  return good;
}

}  // namespace

OwnedPlan PlanOf(std::uint64_t seed, std::uint64_t schedule, const Ground& ground, int threads) {
  OwnedPlan owned;
  const std::uint32_t steps = ground.steps;
  std::uint64_t random = Mix(seed * 0x100000001B3u + schedule);
  owned.plan.seed = random >> 16;  // short enough to be typed
  owned.plan.expected_steps = steps;
  owned.plan.stuck_after_ms = kStuckAfterMs;
  const std::uint64_t way = schedule % 8;
  if (way >= 5 && !ground.by_place.empty()) {
    owned.plan.strategy = Strategy::kSwitches;
    owned.switches = AtPlaces(ground, threads, random);
    return owned;
  }
  switch (way % 5) {
    case 0:
      owned.plan.strategy = Strategy::kRandom;
      break;
    case 1:
    case 2:
    case 3:
      owned.plan.strategy = Strategy::kPct;
      owned.plan.depth = way % 5 == 1 ? 2 : way % 5 == 2 ? 3 : 5;
      break;
    default:
      owned.plan.strategy = Strategy::kSwitches;
      for (std::uint64_t i = 0; i < 1 + schedule / 8 % 3; ++i) {
        random = Mix(random);
        owned.switches.push_back({static_cast<std::uint32_t>(1 + random % steps),
                                  static_cast<std::uint32_t>((random >> 32) % static_cast<std::uint64_t>(threads))});
      }
      std::sort(owned.switches.begin(), owned.switches.end(),
                [](const Switch& a, const Switch& b) { return a.step < b.step; });
  }
  return owned;
}

Exploration Explore(const pl_adapter& adapter, const Program& program, const model::KeyTable& keys,
                    const ExploreOptions& options) {
  const auto started = std::chrono::steady_clock::now();
  Exploration done;
  const int threads = static_cast<int>(program.threads.size());
  RunOptions run{.plan = nullptr, .jitter = 0, .fresh = options.fresh, .journal = options.journal};
  Ground ground;
  if (!options.free && !WarmUp(adapter, program, keys, options, done, ground)) return done;
  done.learning = done.schedules;
  for (std::uint64_t i = 0; i < options.schedules; ++i) {
    if (options.time.count() > 0 && std::chrono::steady_clock::now() - started >= options.time) break;
    const std::uint64_t schedule = options.first + i;
    if (options.on_schedule) options.on_schedule(schedule);
    OwnedPlan plan = PlanOf(options.seed, schedule, ground, threads);
    run.plan = options.free ? nullptr : &plan.Get();
    run.jitter = Mix(options.seed + schedule) | 1;
    if (!RunOnce(adapter, program, keys, run, options, done)) break;
  }
  return done;
}

Exploration Replay(const pl_adapter& adapter, const Program& program, const model::KeyTable& keys, OwnedPlan plan,
                   const ExploreOptions& options) {
  Exploration done;
  Ground ground;
  if (!WarmUp(adapter, program, keys, options, done, ground)) return done;
  const auto run = [&](OwnedPlan one) {
    one.plan.stuck_after_ms = kStuckAfterMs;
    return RunOnce(adapter, program, keys,
                   {.plan = &one.Get(), .jitter = 0, .fresh = options.fresh, .journal = options.journal}, options,
                   done);
  };
  if (!plan.nth) {
    run(std::move(plan));
    return done;
  }
  const int threads = static_cast<int>(program.threads.size());
  for (std::uint64_t i = plan.nth->first; i <= plan.nth->last; ++i) {
    if (!run(PlanOf(plan.nth->seed, i, ground, threads))) break;
  }
  return done;
}

}  // namespace plumbline::race
