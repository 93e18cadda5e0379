// Programs of threads under schedules, on the reference.
//
// Property: whichever thread goes on wherever, some order of the steps explains every answer; each kernel's context
// is destroyed once and not while a call is in it; no memory is used after it was freed; and the threads come to an
// end.
//
// There is no real parallelism: one thread runs at a time and the input says which (conformance/race/scheduler.h), so
// an input always leads to the same run. Points are where threads of a fixed set of programs have met before the first
// input.
#include <fmt/core.h>

#include <string>
#include <vector>

#include "conformance/race/check.h"
#include "conformance/race/concurrent_run.h"
#include "conformance/race/memory_points.h"
#include "conformance/race/schedule_text.h"
#include "fuzz/input/program_from_bytes.h"
#include "fuzz/input/traced_backend.h"
#include "fuzz/targets/property.h"
#include "spec/scenario/print.h"

namespace plumbline::fuzz {
namespace {

constexpr std::uint32_t kStuckAfterMs = 20'000;  // a busy machine is no fault

const model::KeyTable& Keys() {
  static const auto keys = model::KeyTable::Get(*model::FindRelease("pytorch-1.13"), {});
  return *keys;
}

race::ConcurrentRun RunOnce(const race::Program& program, const race::Plan& plan) {
  return race::RunProgram(TracedBackend(), program, Keys(), {.plan = &plan, .jitter = 0, .fresh = true});
}

race::Plan PlanOf(const Race& race) {
  return {.strategy = race::Strategy::kSwitches,
          .stuck_after_ms = kStuckAfterMs,
          .switches = race.switches.data(),
          .switch_count = race.switches.size()};
}

// Learns from programs that are always the same, so that a later run depends on its input only.
bool LearnWhereThreadsMeet() {
  constexpr int kPrograms = 64, kBytes = 96;
  race::SetMemoryPoints(race::MemoryPoints::kEverywhereNoted);
  std::uint32_t random = 1;
  for (int i = 0; i < kPrograms; ++i) {
    std::vector<std::uint8_t> bytes(kBytes);
    for (std::uint8_t& byte : bytes) {
      random = random * 1664525u + 1013904223u;
      byte = static_cast<std::uint8_t>(random >> 24);
    }
    bytes[0] = kBytes - 24;
    const Race race = RaceFromBytes(bytes.data(), bytes.size());
    const harness::OrError<race::Program> program = race::MakeProgram(race.scenario);
    Require(program.ok(), "what is decoded is no program", program.ok() ? "" : program.error());
    RunOnce(*program, PlanOf(race));
    race::LearnSharedSites();
  }
  race::SetMemoryPoints(race::MemoryPoints::kWhereShared);
  return true;
}

std::string WhatIsWrong(const race::ConcurrentRun& run) {
  if (!run.refused.empty()) return "the program is refused: " + run.refused;
  if (!run.threw.empty()) return "an exception came across the ABI: " + run.threw;
  if (run.ending == race::Ending::kDeadlock) return "every thread waits for another";
  if (run.ending == race::Ending::kStuck)
    return "a thread does not go on, and waits for nothing that the scheduler knows";
  if (run.ending == race::Ending::kStepLimit) return "the threads did not come to an end";
  if (!run.lifetime.empty()) return race::Words(run.lifetime.front());
  if (!run.heap.ok()) return "memory was written or freed after it had been freed";
  const harness::OrError<race::Verdict> verdict =
      race::Check(run.history, {.max_steps = 200'000, .fallbacks = std::nullopt});
  if (!verdict.ok()) return "the history cannot be judged: " + verdict.error();
  return verdict->outcome == race::Verdict::Outcome::kContradiction ? verdict->words : "";
}

}  // namespace
}  // namespace plumbline::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace plumbline;
  [[maybe_unused]] static const bool learnt = fuzz::LearnWhereThreadsMeet();
  const fuzz::Race race = fuzz::RaceFromBytes(data, size);
  const harness::OrError<race::Program> program = race::MakeProgram(race.scenario);
  fuzz::Require(program.ok(), "what is decoded is no program", program.ok() ? "" : program.error());
  const race::ConcurrentRun run = fuzz::RunOnce(*program, fuzz::PlanOf(race));
  const std::string wrong = fuzz::WhatIsWrong(run);
  if (wrong.empty()) return 0;
  fuzz::Broken(
      fmt::format("{}\n\n{}\nschedule {}", wrong, scenario::Print(race.scenario), race::PrintSchedule(run.switches)),
      race::PrintHistory(run.history));
}
