#include "conformance/harness/judge.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "conformance/harness/shrink.h"
#include "spec/model/call.h"
#include "spec/model/deviations.h"
#include "spec/scenario/print.h"

namespace plumbline::harness {
namespace {

using reports::Verdict;
using scenario::Scenario;

// Enough for what people write; a shrinker that runs longer than a reader waits is no help.
constexpr int kShrinkRuns = 400;
constexpr std::chrono::seconds kShrinkTime(20);
constexpr std::chrono::seconds kHangTime(2);

std::string StepText(const Scenario& scenario, int step) {
  if (step < 0) return "";
  if (step >= static_cast<int>(scenario.steps.size())) return "the clean-up at the end";
  scenario::Step bare = scenario.steps[static_cast<std::size_t>(step)];
  bare.expected.reset();
  std::string text = scenario::PrintStep(bare);
  // The printer aligns operands; in a sentence one blank is enough.
  text.erase(std::unique(text.begin(), text.end(), [](char a, char b) { return a == ' ' && b == ' '; }), text.end());
  return text;
}

// Which rule of the model decides the step, with its clause where the model names one.
std::string RuleFor(const Scenario& scenario, model::Settings settings, int step) {
  if (step < 0 || step >= static_cast<int>(scenario.steps.size())) return "";
  settings.record = true;
  model::Machine machine(scenario, settings);
  for (int i = 0; i <= step; ++i) machine.Run(scenario.steps[static_cast<std::size_t>(i)]);
  std::string text;
  // Of kernels that call each other a thousand times the first and the last calls tell enough.
  constexpr std::size_t kFirst = 20, kLast = 2;
  const std::vector<model::CallRecord>& calls = machine.last_calls();
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (i == kFirst && calls.size() > kFirst + kLast) {
      text += fmt::format("\n... {} more calls ...", calls.size() - kFirst - kLast);
      i = calls.size() - kLast;
    }
    const model::CallRecord& record = calls[i];
    const std::string& key = machine.keys().Name(record.selection.key);
    text += fmt::format("{}{} {} has {} left; its highest key is {}, {}", text.empty() ? "" : "\n",
                        record.redispatch ? "redispatch of" : "call of", record.operator_name,
                        machine.keys().Print(record.selection.effective), key,
                        record.slot.rule == model::Rule::kMissing
                            ? "which nothing serves"
                            : fmt::format("served by rule {}", model::Spelling(record.slot.rule)));
    for (const model::Trial& trial : record.trials) {
      if (trial.applies && !trial.clause.empty()) text += fmt::format(" [{}]", trial.clause);
    }
  }
  return text;
}

}  // namespace

model::Settings SettingsFor(const BackendFacts& facts) {
  model::Settings settings;
  settings.declared_keys = facts.keys;
  if (facts.fallbacks) {
    settings.own_fallbacks.emplace();
    for (const BuiltinFallback& fallback : *facts.fallbacks) {
      settings.own_fallbacks->push_back({fallback.key, fallback.fallthrough});
    }
  }
  return settings;
}

void Judge::TryDeviations(const Scenario& scenario, Judgement& judgement, const Observation& seen) {
  const auto predicts = [&](const std::vector<const Waiver*>& waivers) {
    model::Settings settings = SettingsFor(executor_.facts());
    for (const Waiver* waiver : waivers) settings.deviations.insert(*model::FindDeviation(waiver->deviation));
    const Comparison comparison =
        Compare(scenario, model::Predict(scenario, settings), seen.outcomes, executor_.facts().capabilities);
    return comparison.result == Comparison::Result::kAgrees;
  };
  const auto accept = [&](const std::vector<const Waiver*>& waivers) {
    judgement.verdict = Verdict::kWaived;
    for (const Waiver* waiver : waivers) {
      judgement.waivers.push_back(waiver->id);
      judgement.waived_clauses.insert(waiver->clauses.begin(), waiver->clauses.end());
      judgement.deviations.push_back(waiver->deviation);
    }
  };
  for (const Waiver* waiver : deviations_) {
    if (predicts({waiver})) return accept({waiver});
  }
  if (deviations_.size() < 2) return;
  std::vector<const Waiver*> needed = deviations_;
  if (!predicts(needed)) return;
  // Only those that the prediction cannot do without are counted.
  for (const Waiver* waiver : deviations_) {
    std::vector<const Waiver*> fewer = needed;
    fewer.erase(std::find(fewer.begin(), fewer.end(), waiver));
    if (predicts(fewer)) needed = std::move(fewer);
  }
  accept(needed);
}

Judgement Judge::Compared(const Scenario& scenario, Observation seen) {
  Judgement judgement;
  const model::Settings settings = SettingsFor(executor_.facts());
  judgement.predicted = model::Predict(scenario, settings);
  const int steps = static_cast<int>(scenario.steps.size());
  const auto expect_step = [&](int step) {
    judgement.step = step;
    if (step >= 0 && step < steps) judgement.expected = Describe(judgement.predicted[static_cast<std::size_t>(step)]);
    judgement.rule = RuleFor(scenario, settings, step);
  };
  switch (seen.ending) {
    case Observation::Ending::kUnsupported:
      judgement.verdict = Verdict::kUnsupported;
      judgement.missing = seen.what;
      judgement.refused = seen.refused;
      return judgement;
    case Observation::Ending::kHarnessError:
      judgement.summary = seen.what;
      return judgement;
    case Observation::Ending::kCrash:
    case Observation::Ending::kTimeout: {
      const bool crash = seen.ending == Observation::Ending::kCrash;
      // The spec says nothing of what may come then.
      if (seen.step >= 0 && seen.step < steps &&
          judgement.predicted[static_cast<std::size_t>(seen.step)].error == "unsupported") {
        judgement.verdict = Verdict::kUnsupported;
        judgement.missing = fmt::format("`{}`: {}", StepText(scenario, seen.step),
                                        judgement.predicted[static_cast<std::size_t>(seen.step)].message);
        return judgement;
      }
      judgement.verdict = crash ? Verdict::kCrash : Verdict::kTimeout;
      expect_step(seen.step);
      judgement.summary = seen.step < 0
                              ? fmt::format("the backend {} before the first step", seen.what)
                              : fmt::format("the backend {} in `{}`", seen.what, StepText(scenario, seen.step));
      judgement.got = fmt::format("{}: {}", crash ? "crash" : "timeout", seen.what);
      if (!seen.output.empty()) judgement.got += "\n" + seen.output;
      return judgement;
    }
    case Observation::Ending::kFinished:
      break;
  }
  judgement.observed = std::move(seen.outcomes);
  const Comparison comparison =
      Compare(scenario, judgement.predicted, judgement.observed, executor_.facts().capabilities);
  switch (comparison.result) {
    case Comparison::Result::kUnsupported:
      judgement.verdict = Verdict::kUnsupported;
      judgement.missing = fmt::format("`{}`: {}", StepText(scenario, comparison.step), comparison.got);
      return judgement;
    case Comparison::Result::kDiffers:
      judgement.verdict = Verdict::kFail;
      expect_step(comparison.step);
      judgement.summary = fmt::format("`{}`: {}", StepText(scenario, comparison.step), comparison.what);
      judgement.about_message = comparison.about_message;
      judgement.expected = comparison.expected;
      judgement.got = comparison.got;
      return judgement;
    case Comparison::Result::kAgrees:
      break;
  }
  if (!seen.leaks.empty()) {
    judgement.verdict = Verdict::kFail;
    judgement.step = steps;
    judgement.summary = "the contexts of kernels after everything was released";
    judgement.expected = "each destroyed once";
    judgement.got = fmt::format("{}", fmt::join(seen.leaks, "; "));
    judgement.rule = "the host's context is destroyed exactly once, when no call can reach the kernel (spec/abi/abi.h)";
    return judgement;
  }
  judgement.verdict = Verdict::kPass;
  return judgement;
}

Judgement Judge::Try(const Scenario& scenario) {
  Observation seen = executor_.Run(scenario);
  const Observation kept = deviations_.empty() ? Observation{} : seen;
  Judgement judgement = Compared(scenario, std::move(seen));
  if (judgement.verdict == Verdict::kFail && judgement.step < static_cast<int>(scenario.steps.size())) {
    TryDeviations(scenario, judgement, kept);
  }
  if (judgement.verdict != Verdict::kPass && judgement.verdict != Verdict::kUnsupported) executor_.Renew();
  return judgement;
}

Judge::Smallest Judge::Shrink(const Scenario& scenario, const Judgement& judgement) {
  // A hang costs its limit each time; while shrinking a shorter one will do.
  const auto limit = executor_.limit();
  if (judgement.verdict == Verdict::kTimeout) {
    executor_.set_limit(std::min<std::chrono::milliseconds>(limit, kHangTime));
  }
  const auto end = std::chrono::steady_clock::now() + kShrinkTime;
  int runs = 0;
  const auto fails_alike = [&](const Scenario& smaller) {
    if (++runs > kShrinkRuns || std::chrono::steady_clock::now() > end) return false;
    executor_.Renew();  // what passes leaves something behind too
    const Judgement tried = Try(smaller);
    // The kind of difference is kept, so that a wrong kernel does not shrink into a wrong message.
    return tried.verdict == judgement.verdict &&
           (tried.verdict != Verdict::kFail || tried.summary.substr(tried.summary.rfind('`') + 1) ==
                                                   judgement.summary.substr(judgement.summary.rfind('`') + 1));
  };
  // What an error should say is written for that very scenario: with fewer steps it would ask for something else.
  Smallest smallest{
      .scenario = judgement.about_message ? scenario : ShrinkScenario(scenario, judgement.step, fails_alike),
      .judgement = {}};
  executor_.set_limit(limit);
  executor_.Renew();
  smallest.judgement = Try(smallest.scenario);
  if (!smallest.judgement.Failed()) {
    // Shrinking went on in fresh executors throughout, so only the original can depend on what ran before it.
    smallest.confirmed = false;
    smallest.scenario = scenario;
    smallest.judgement = judgement;
    return smallest;
  }
  for (std::size_t i = 0; i < smallest.scenario.steps.size(); ++i) {
    scenario::Step& step = smallest.scenario.steps[i];
    const scenario::Outcome& outcome = smallest.judgement.predicted[i];
    const std::optional<std::string> says = step.expected ? step.expected->says : std::nullopt;
    step.expected.reset();
    if (static_cast<int>(i) == smallest.judgement.step || std::holds_alternative<scenario::Call>(step.action) ||
        !outcome.error.empty()) {
      step.expected = scenario::ExpectationOf(outcome);
      step.expected->says = says;
    }
  }
  return smallest;
}

}  // namespace plumbline::harness
