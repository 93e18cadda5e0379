#include "conformance/race/hunt.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "conformance/harness/shrink.h"
#include "spec/scenario/parse.h"
#include "spec/scenario/print.h"

namespace plumbline::race {
namespace {

using Clock = std::chrono::steady_clock;
using harness::Reply;
using reports::Verdict;
using std::chrono::milliseconds;

// In one executor. What a backend keeps of former runs should not pile up, nor make them unlike those of a fresh one.
constexpr std::uint64_t kSchedulesAtOnce = 400;
// Enough schedules for a smaller program to show the same again, if it can.
constexpr std::uint64_t kSchedulesForLess = 400;
constexpr milliseconds kTimeForLess(1500);
// What hangs takes the scheduler's patience each time, so there is an end to making it smaller and to replaying it.
constexpr milliseconds kTimeForAllLess(30'000), kTimeForReplays(20'000);

milliseconds Since(Clock::time_point start) { return std::chrono::duration_cast<milliseconds>(Clock::now() - start); }

Witness AsWitness(const Violation& violation, const std::string& scenario) {
  return {.verdict = violation.kind == "deadlock" || violation.kind == "stuck" || violation.kind == "livelock"
                         ? Verdict::kTimeout
                         : Verdict::kFail,
          .kind = violation.kind,
          .words = violation.words,
          .scenario = scenario,
          .schedule = violation.schedule,
          .history = violation.smallest.empty() ? violation.history : violation.smallest,
          .contradicts = !violation.smallest.empty()};
}

// What thread sanitizer found, in its words; it then ended the process. Empty if it found nothing.
std::string SanitizersFind(const std::string& output) {
  constexpr std::string_view kBegins = "SUMMARY: ThreadSanitizer: ";
  const std::size_t from = output.rfind(kBegins);
  if (from == std::string::npos) return "";
  const std::size_t text = from + kBegins.size();
  return output.substr(text, output.find('\n', text) - text);
}

std::string Line(const std::string& words) { return words.empty() ? "" : "\n" + words; }

// Many in a row, nth:SEED:FIRST-LAST, take their time, and on a busy machine more of it.
int PatienceFor(const std::string& schedule) {
  const harness::OrError<OwnedPlan> plan = ParseSchedule(schedule);
  if (!plan.ok() || !plan->nth || plan->nth->first == plan->nth->last) return 1;
  return static_cast<int>(3 + (plan->nth->last - plan->nth->first) / 20);
}

}  // namespace

Hunt::Hunt(harness::Executor& executor, HuntOptions options)
    : executor_(executor),
      options_(options),
      fresh_(executor.facts().Claims(PL_CAPABILITY(FRESH_REGISTRY)) && executor.config().load.empty()) {}

Reply Hunt::Ask(Asked& asked, milliseconds limit) {
  executor_.Renew();
  journal_.Clear();
  asked.journal = journal_.path();
  return executor_.Ask(Write(asked), limit);
}

Witness Hunt::DidNotAnswer(const Reply& reply, const std::string& scenario, std::string schedule) const {
  Witness witness;
  witness.scenario = scenario;
  witness.schedule = std::move(schedule);
  if (const std::string find = SanitizersFind(reply.output); !find.empty()) {
    witness.kind = "sanitizer";
    witness.words = fmt::format("thread sanitizer found a {}", find);
  } else {
    const bool timeout = reply.ending == Reply::Ending::kTimeout;
    witness.verdict = timeout ? reports::Verdict::kTimeout : reports::Verdict::kCrash;
    witness.kind = timeout ? "timeout" : "crash";
    witness.words = fmt::format("the backend {}", reply.what);
  }
  if (scenario::ParseResult parsed = scenario::ParsePrinted(scenario); parsed.scenario) {
    if (const harness::OrError<Program> program = MakeProgram(*std::move(parsed.scenario)); program.ok()) {
      witness.words += Line(journal_.Steps(*program));
      witness.history = journal_.History(*program);
    }
  }
  witness.words += Line(reply.output);
  return witness;
}

Hunted Hunt::Search(const std::string& scenario, milliseconds time, std::uint64_t least, std::uint64_t most) {
  const Clock::time_point started = Clock::now();
  const milliseconds longest = time * kMostTimes;
  least = std::min(least, most);
  Hunted hunted;
  Asked asked{.scenario = scenario, .schedule = "", .explore = {}};
  asked.explore.seed = options_.seed;
  asked.explore.free = options_.free;
  asked.explore.fresh = fresh_;
  for (;;) {
    const milliseconds since = Since(started);
    const bool in_time = since < time;
    if (hunted.schedules >= (in_time ? most : least) || since >= longest) break;
    asked.explore.first = hunted.schedules;
    asked.explore.schedules = std::min(kSchedulesAtOnce, (in_time ? most : least) - hunted.schedules);
    asked.explore.time = (in_time ? time : longest) - since;
    const Reply reply = Ask(asked, asked.explore.time + options_.patience);
    if (reply.ending != Reply::Ending::kAnswered) {
      // It did not come back to tell; the number leads to it again, unless it was not that far.
      const std::string schedule = reply.step < 0 ? "-" : fmt::format("nth:{}:{}", options_.seed, reply.step);
      hunted.schedules = std::max<std::uint64_t>(hunted.schedules, static_cast<std::uint64_t>(reply.step + 1));
      hunted.witness = DidNotAnswer(reply, scenario, options_.free ? "" : schedule);
      if (!options_.free && reply.step > 0 && static_cast<std::uint64_t>(reply.step) > asked.explore.first) {
        hunted.witness->with_former = fmt::format("nth:{}:{}-{}", options_.seed, asked.explore.first, reply.step);
      }
      break;
    }
    const Exploration done = ReadExploration(reply.text);
    if (!done.refused.empty()) {
      hunted.refused = done.refused;
      break;
    }
    hunted.schedules += done.schedules - std::min(done.learning, done.schedules);
    hunted.undecided += done.undecided;
    if (hunted.steps == 0) hunted.steps = done.steps;
    if (done.violation) {
      hunted.witness = AsWitness(*done.violation, scenario);
      break;
    }
  }
  executor_.Renew();
  if (hunted.witness) {
    hunted.schedules = std::max<std::uint64_t>(hunted.schedules, 1);  // or in one of those that come before all
    hunted.witness->found_after = hunted.schedules;
  }
  hunted.seconds = std::chrono::duration<double>(Clock::now() - started).count();
  return hunted;
}

std::optional<Witness> Hunt::Replay(const std::string& scenario, const std::string& schedule, std::string* refused) {
  Asked asked{.scenario = scenario, .schedule = schedule, .explore = {}};
  asked.explore.seed = options_.seed;
  asked.explore.fresh = fresh_;
  const milliseconds patience = options_.patience * PatienceFor(schedule);
  const Reply reply = Ask(asked, patience);
  if (reply.ending != Reply::Ending::kAnswered) return DidNotAnswer(reply, scenario, schedule);
  const Exploration done = ReadExploration(reply.text);
  if (!done.refused.empty() && refused != nullptr) *refused = done.refused;
  if (!done.violation) return std::nullopt;
  return AsWitness(*done.violation, scenario);
}

void Hunt::Shrink(const scenario::Scenario& scenario, Witness& witness) {
  const Clock::time_point started = Clock::now();
  // The smallest that failed is in `witness`.
  harness::ShrinkScenario(scenario, -1, [&](const scenario::Scenario& less) {
    if (Since(started) > kTimeForAllLess || !MakeProgram(less).ok()) return false;
    Hunted found = Search(scenario::Print(less), kTimeForLess, 0, kSchedulesForLess);
    if (!found.witness || found.witness->kind != witness.kind) return false;
    const std::uint64_t before = witness.found_after;
    witness = *std::move(found.witness);
    witness.found_after = before;
    return true;
  });
  harness::OrError<OwnedPlan> plan = ParseSchedule(witness.schedule);
  if (!plan.ok() || plan->plan.strategy != Strategy::kSwitches) return;
  std::vector<Switch> switches = plan->switches;
  for (std::size_t i = switches.size(); i-- > 0 && Since(started) < kTimeForAllLess;) {
    std::vector<Switch> less = switches;
    less.erase(less.begin() + static_cast<std::ptrdiff_t>(i));
    const std::optional<Witness> still = Replay(witness.scenario, PrintSchedule(less), nullptr);
    if (!still || still->kind != witness.kind) continue;
    // What comes back is what was switched indeed, which may be less than was asked for.
    const harness::OrError<OwnedPlan> seen = ParseSchedule(still->schedule);
    switches = seen.ok() && seen->switches.size() < less.size() ? seen->switches : less;
    i = std::min(i, switches.size());
    witness.words = still->words;
    witness.history = still->history;
    witness.schedule = PrintSchedule(switches);
  }
}

Hunted Hunt::Run(const scenario::Scenario& scenario) {
  Hunted hunted = Search(scenario::Print(scenario), options_.time, options_.least, options_.schedules);
  if (!hunted.witness || options_.free) return hunted;
  if (options_.shrink) Shrink(scenario, *hunted.witness);
  Witness& witness = *hunted.witness;
  const Clock::time_point started = Clock::now();
  // What the schedules before it left behind may have had a part in it.
  if (!witness.with_former.empty()) {
    const std::optional<Witness> alone = Replay(witness.scenario, witness.schedule, nullptr);
    if (!alone || alone->kind != witness.kind) witness.schedule = witness.with_former;
  }
  for (; witness.replays < options_.replays && Since(started) < kTimeForReplays; ++witness.replays) {
    const std::optional<Witness> once = Replay(witness.scenario, witness.schedule, nullptr);
    witness.again += once && once->kind == witness.kind ? 1 : 0;
  }
  return hunted;
}

}  // namespace plumbline::race
