#include "spec/scenario/outcome_json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

namespace plumbline::scenario {
namespace {

TEST(OutcomeJson, KeepsEveryByteAndEveryNaN) {
  Outcome outcome;
  for (int byte = 0; byte < 256; ++byte) outcome.message += static_cast<char>(byte);
  outcome.returns = {Value::Float(-std::nan("7")), Value::Float(-0.0),
                     Value::Float(std::numeric_limits<double>::infinity()), Value::String(outcome.message),
                     Value::Int(std::numeric_limits<std::int64_t>::min())};
  const std::string text = WriteOutcome(outcome);
  EXPECT_EQ(ReadOutcome(text), outcome);
  for (char c : text) EXPECT_TRUE(c >= 0x20 && c < 0x7f);
}

TEST(OutcomeJson, TellsAbsentFromEmpty) {
  Outcome outcome;
  EXPECT_EQ(ReadOutcome(WriteOutcome(outcome)), outcome);
  outcome.names.emplace();
  outcome.table.emplace();
  outcome.truth = false;
  outcome.count = 0;
  outcome.counters.emplace();
  EXPECT_EQ(ReadOutcome(WriteOutcome(outcome)), outcome);
  EXPECT_FALSE(ReadOutcome(WriteOutcome(outcome)) == Outcome{});
}

TEST(OutcomeJson, RefusesWhatIsNoOutcome) {
  for (const char* text : {"", "{", "[]", "{}", "null", "{\"error\": 3}"}) {
    EXPECT_THROW(ReadOutcome(text), std::invalid_argument) << text;
  }
  std::string text = WriteOutcome({});
  text.replace(text.find("\"returns\":[]"), 12, "\"returns\":[{\"kind\":99}]");
  EXPECT_THROW(ReadOutcome(text), std::invalid_argument);
}

}  // namespace
}  // namespace plumbline::scenario
