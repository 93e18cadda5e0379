#include "conformance/race/cases.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace plumbline::race {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Hunted Clean(std::uint64_t schedules, std::uint64_t undecided = 0) {
  Hunted hunted;
  hunted.schedules = schedules;
  hunted.undecided = undecided;
  hunted.seconds = 30;
  return hunted;
}

Calibration Caught(const std::string& fault, std::uint64_t schedules) {
  return {.fault = fault, .caught = true, .how = "stale", .schedules = schedules};
}

TEST(RaceCases, SaySomethingAfterAsManySchedulesAsWereNeeded) {
  EXPECT_THAT(WhyNothingIsSaid(Clean(400), {}), IsEmpty());
  EXPECT_THAT(WhyNothingIsSaid(Clean(400), {Caught("one", 1), Caught("two", 400)}), IsEmpty());
  EXPECT_THAT(WhyNothingIsSaid(Clean(399), {Caught("one", 1), Caught("two", 400)}),
              ElementsAre("only 399 schedules could be run in 30 s, and the planted fault two was caught after 400"));
}

TEST(RaceCases, SayNothingAfterAFaultThatWasMissed) {
  const Calibration missed{
      .fault = "two", .caught = false, .how = "not seen in 3000 schedules, 6 s", .schedules = 3000};
  EXPECT_THAT(WhyNothingIsSaid(Clean(400), {Caught("one", 1), missed}),
              ElementsAre("the planted fault two was not caught here: not seen in 3000 schedules, 6 s"));
}

TEST(RaceCases, SayNothingWhereManyWereUndecided) {
  EXPECT_THAT(WhyNothingIsSaid(Clean(400, 40), {}), IsEmpty());
  EXPECT_THAT(WhyNothingIsSaid(Clean(400, 41), {}),
              ElementsAre("of 400 schedules, 41 left more orders than could be tried: nothing is said of these"));
}

}  // namespace
}  // namespace plumbline::race
