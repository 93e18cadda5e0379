#include "fuzz/input/steps_from_bytes.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "spec/scenario/parse.h"
#include "spec/scenario/print.h"

namespace plumbline::fuzz {
namespace {

scenario::Scenario Decode(const std::vector<std::uint8_t>& bytes) {
  ByteReader reader(bytes.data(), bytes.size());
  return StepsFromBytes(reader, {"pytorch-1.13", "pytorch-2.x"});
}

// Short, long, and all of one byte.
std::vector<std::vector<std::uint8_t>> Samples() {
  std::mt19937 random(7);
  std::vector<std::vector<std::uint8_t>> samples;
  for (std::size_t size = 0; size < 400; ++size) {
    std::vector<std::uint8_t>& bytes = samples.emplace_back(size);
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
  }
  for (int byte = 0; byte < 256; ++byte) samples.emplace_back(64, static_cast<std::uint8_t>(byte));
  return samples;
}

TEST(StepsFromBytes, EveryStringOfBytesIsAScenarioOfTheLanguage) {
  for (const auto& bytes : Samples()) {
    const scenario::Scenario made = Decode(bytes);
    const std::string text = scenario::Print(made);
    const scenario::ParseResult read = scenario::Parse(text);
    ASSERT_TRUE(read.scenario) << text << read.error->line << ": " << read.error->message;
    EXPECT_EQ(*read.scenario, made) << text;
  }
}

TEST(StepsFromBytes, EveryKindOfStepCanBeSaid) {
  std::set<std::size_t> actions, items;
  for (const auto& bytes : Samples()) {
    const scenario::Scenario made = Decode(bytes);
    for (const scenario::Step& step : made.steps) actions.insert(step.action.index());
    for (const scenario::KernelDefinition& kernel : made.kernels) {
      for (const scenario::BodyItem& item : kernel.body) items.insert(item.index());
    }
  }
  EXPECT_EQ(actions.size(), std::variant_size_v<scenario::Action>);
  EXPECT_EQ(items.size(), std::variant_size_v<scenario::BodyItem>);
}

TEST(StepsFromBytes, MoreBytesAtTheEndLeaveWhatWasSaid) {
  const std::vector<std::uint8_t> bytes = {0, 0, 0, 1, 0, 0, 0, 8, 1, 0, 0, 0, 0, 0, 24, 0, 1, 0, 1};
  const scenario::Scenario all = Decode(bytes);
  const scenario::Scenario some = Decode({bytes.begin(), bytes.begin() + 7});
  ASSERT_GT(all.steps.size(), some.steps.size());
  for (std::size_t i = 0; i + 1 < some.steps.size(); ++i) EXPECT_EQ(all.steps[i], some.steps[i]);
}

TEST(StepsFromBytes, NoBytesAreNoSteps) { EXPECT_TRUE(Decode({}).steps.empty()); }

}  // namespace
}  // namespace plumbline::fuzz
