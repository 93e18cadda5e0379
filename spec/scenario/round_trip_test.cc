// What is written reads back the same: scenarios as text, outcomes as JSON.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <string>

#include "spec/scenario/generators.h"
#include "spec/scenario/matches.h"
#include "spec/scenario/outcome_json.h"
#include "spec/scenario/parse.h"
#include "spec/scenario/print.h"

namespace plumbline::scenario {
namespace {

TEST(RoundTrip, ScenariosAsText) {
  EXPECT_TRUE(rc::check("Parse(Print(s)) == s", [] {
    const Scenario scenario = *AnyScenario();
    const std::string text = Print(scenario);
    ParseResult result = Parse(text);
    if (result.error) {
      RC_FAIL(text + "\n" + std::to_string(result.error->line) + ":" + std::to_string(result.error->column) + ": " +
              result.error->message);
    }
    if (!(*result.scenario == scenario)) RC_FAIL(text + "\nreads back as\n" + Print(*result.scenario));
    RC_ASSERT(Print(*result.scenario) == text);
  }));
}

TEST(RoundTrip, OutcomesAsJson) {
  EXPECT_TRUE(rc::check("ReadOutcome(WriteOutcome(o)) == o", [] {
    const Outcome outcome = *AnyOutcome();
    const std::string text = WriteOutcome(outcome);
    RC_ASSERT(text.find('\n') == std::string::npos);
    RC_ASSERT(ReadOutcome(text) == outcome);
  }));
}

TEST(RoundTrip, AnOutcomeIsWhatItSaysItIs) {
  EXPECT_TRUE(rc::check("Mismatch(ExpectationOf(o), o) is empty", [] {
    Outcome outcome = *AnyOutcome();
    RC_ASSERT(Mismatch(ExpectationOf(outcome), outcome) == std::nullopt);
  }));
}

// Whatever the bytes, the parser answers.
TEST(RoundTrip, AnyTextIsReadOrRefused) {
  EXPECT_TRUE(rc::check("Parse never throws", [] {
    std::string text = Print(*AnyScenario());
    const int edits = *rc::gen::inRange(1, 4);
    for (int i = 0; i < edits && !text.empty(); ++i) {
      const auto at = *rc::gen::inRange<std::size_t>(0, text.size());
      text[at] = *rc::gen::oneOf(rc::gen::arbitrary<char>(),
                                 rc::gen::element(' ', '\n', '"', '{', '}', '[', ']', '(', ')', ';', ':', '#', '>'));
    }
    ParseResult result = Parse(text);
    RC_ASSERT(result.scenario.has_value() != result.error.has_value());
    if (result.scenario) {
      ParseResult again = Parse(Print(*result.scenario));
      RC_ASSERT(again.scenario.has_value());
      RC_ASSERT(*again.scenario == *result.scenario);
    }
  }));
}

}  // namespace
}  // namespace plumbline::scenario
