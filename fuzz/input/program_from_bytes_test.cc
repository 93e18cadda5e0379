#include "fuzz/input/program_from_bytes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "conformance/race/program.h"
#include "spec/scenario/print.h"

namespace plumbline::fuzz {
namespace {

TEST(ProgramFromBytes, EveryStringOfBytesIsAProgramAndASchedule) {
  std::mt19937 random(11);
  std::set<std::size_t> actions;
  for (std::size_t size = 0; size < 400; ++size) {
    std::vector<std::uint8_t> bytes(size);
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
    const Race race = RaceFromBytes(bytes.data(), bytes.size());
    const auto program = race::MakeProgram(race.scenario);
    ASSERT_TRUE(program.ok()) << scenario::Print(race.scenario) << program.error();
    EXPECT_GE(program->threads.size(), 2u);
    EXPECT_TRUE(std::is_sorted(race.switches.begin(), race.switches.end(),
                               [](const race::Switch& a, const race::Switch& b) { return a.step < b.step; }));
    for (const scenario::Step& step : race.scenario.steps) actions.insert(step.action.index());
  }
  EXPECT_GE(actions.size(), 10u);
}

TEST(ProgramFromBytes, TheScheduleIsWhatFollowsTheProgram) {
  const std::vector<std::uint8_t> bytes = {2, 0, 0, 5, 1, 0, 2, 200, 0};
  const Race race = RaceFromBytes(bytes.data(), bytes.size());
  EXPECT_EQ(race.switches, (std::vector<race::Switch>{{6, 1}, {7, 2}, {328, 0}}));
}

}  // namespace
}  // namespace plumbline::fuzz
