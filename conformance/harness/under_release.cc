#include "conformance/harness/under_release.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "conformance/harness/compare.h"
#include "conformance/harness/judge.h"
#include "spec/model/machine.h"
#include "spec/scenario/print.h"

namespace plumbline::harness {
namespace {

using scenario::KernelRun;
using scenario::Outcome;

bool SameCourse(const Outcome& a, const Outcome& b) {
  return a.error == b.error && std::equal(a.runs.begin(), a.runs.end(), b.runs.begin(), b.runs.end(),
                                          [](const KernelRun& x, const KernelRun& y) { return x.kernel == y.kernel; });
}

}  // namespace

std::optional<std::string> WrittenForAnotherState(const scenario::Scenario& scenario, const BackendFacts& facts) {
  model::Machine machine(scenario, SettingsFor(facts));
  if (!machine.problem().empty()) return machine.problem();
  std::vector<Outcome> there;
  for (const scenario::Step& step : scenario.steps) there.push_back(machine.Run(step));
  const Comparison written = CompareWritten(scenario, there, machine.keys());
  if (written.result == Comparison::Result::kAgrees) return std::nullopt;
  return fmt::format("line {}, after what the backend starts with: {}",
                     scenario.steps[static_cast<std::size_t>(written.step)].line, written.what);
}

OrError<scenario::Scenario> UnderRelease(scenario::Scenario scenario, const BackendFacts& facts) {
  const std::vector<Outcome> own = model::Predict(scenario, {});
  const std::string written_for = std::exchange(scenario.release, facts.release);
  const auto differs = [&](std::size_t step, const std::string& what) {
    return InputError{fmt::format("line {}, with the keys of {} in place of {}: {}", scenario.steps[step].line,
                                  facts.release, written_for, what)};
  };
  model::Machine machine(scenario, SettingsFor(facts));
  if (!machine.problem().empty()) return InputError{fmt::format("{}: {}", facts.release, machine.problem())};
  std::vector<Outcome> there;
  for (const scenario::Step& step : scenario.steps) there.push_back(machine.Run(step));
  const Comparison written = CompareWritten(scenario, there, machine.keys());
  if (written.result != Comparison::Result::kAgrees) {
    return differs(static_cast<std::size_t>(written.step), written.what);
  }
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (!SameCourse(own[i], there[i])) {
      return differs(i, fmt::format("{}, not {}", Describe(there[i]), Describe(own[i])));
    }
  }
  return scenario;
}

scenario::Scenario WithKeysOf(const BackendFacts& facts, scenario::Scenario scenario) {
  if (scenario.release == facts.release) return scenario;
  OrError<scenario::Scenario> there = UnderRelease(scenario, facts);
  return there.ok() ? *std::move(there) : scenario;
}

}  // namespace plumbline::harness
