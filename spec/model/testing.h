// What the unit tests of this folder share: scenarios in text, checked step by step against the model.
//
//   CheckModel("impl demo::f CPU k1 => ok\n", {});
#ifndef PLUMBLINE_SPEC_MODEL_TESTING_H_
#define PLUMBLINE_SPEC_MODEL_TESTING_H_

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "spec/model/machine.h"
#include "spec/scenario/matches.h"
#include "spec/scenario/parse.h"
#include "spec/scenario/print.h"

namespace plumbline::model {

inline scenario::Scenario ParsedFragment(const std::string& text, const std::string& release = "pytorch-1.13") {
  const scenario::ParseResult parsed = scenario::ParseFragment(text, release);
  EXPECT_TRUE(parsed.scenario) << parsed.error->line << ": " << parsed.error->message << "\n" << text;
  return parsed.scenario.value_or(scenario::Scenario{});
}

// Every expectation in the text holds.
inline void CheckModel(const std::string& text, const Settings& settings = {},
                       const std::string& release = "pytorch-1.13") {
  const scenario::Scenario scenario = ParsedFragment(text, release);
  Machine machine(scenario, settings);
  ASSERT_EQ(machine.problem(), "");
  const auto canonical = [&](const std::vector<std::string>& names) {
    std::string unknown;
    const std::optional<KeySet> set = machine.keys().SetOf(names, &unknown);
    return set ? machine.keys().Names(*set) : names;
  };
  for (const scenario::Step& step : scenario.steps) {
    const scenario::Outcome outcome = machine.Run(step);
    if (!step.expected) {
      EXPECT_EQ(outcome.error, "") << scenario::PrintStep(step) << ": " << outcome.message;
      continue;
    }
    EXPECT_EQ(scenario::Mismatch(*step.expected, outcome, canonical), std::nullopt)
        << step.line << ": " << scenario::PrintStep(step) << "\n  " << scenario::PrintOutcome(outcome) << "  "
        << outcome.message;
  }
}

inline Settings With(Deviations deviations) {
  Settings settings;
  settings.deviations = std::move(deviations);
  return settings;
}

}  // namespace plumbline::model

#endif  // PLUMBLINE_SPEC_MODEL_TESTING_H_
