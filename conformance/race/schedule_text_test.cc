#include "conformance/race/schedule_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace plumbline::race {
namespace {

using ::testing::HasSubstr;

TEST(ScheduleText, ComesBackAsItWasPrinted) {
  for (const char* text : {"-", "12b.40a.41c", "0p", "pct:3:77:240", "random:18446744073709551615", "nth:7:1234",
                           "nth:7:1200-1234", "learning:3"}) {
    const harness::OrError<OwnedPlan> plan = ParseSchedule(text);
    ASSERT_TRUE(plan.ok()) << plan.error();
    EXPECT_EQ(PrintSchedule(*plan), text);
  }
}

TEST(ScheduleText, ReadsWhatItSays) {
  const harness::OrError<OwnedPlan> switches = ParseSchedule("12b.40a");
  ASSERT_TRUE(switches.ok());
  EXPECT_EQ(switches->plan.strategy, Strategy::kSwitches);
  EXPECT_EQ(switches->switches, (std::vector<Switch>{{12, 1}, {40, 0}}));
  const harness::OrError<OwnedPlan> pct = ParseSchedule("pct:5:9:70");
  ASSERT_TRUE(pct.ok());
  EXPECT_EQ(pct->plan.strategy, Strategy::kPct);
  EXPECT_EQ(pct->plan.depth, 5);
  EXPECT_EQ(pct->plan.seed, 9u);
  EXPECT_EQ(pct->plan.expected_steps, 70u);
}

TEST(ScheduleText, SaysWhatIsWrong) {
  const std::pair<const char*, const char*> wrong[] = {{"", "is no switch"},
                                                       {"12", "'12' names no thread"},
                                                       {"b", "'b' is no switch"},
                                                       {"12q", "no thread a to p"},
                                                       {"12b.11a", "goes back in time"},
                                                       {"12b..13a", "'' is no switch"},
                                                       {"pct:3:77", "takes 3"},
                                                       {"pct:0:1:1", "depth is not from"},
                                                       {"pct:17:1:1", "depth is not from"},
                                                       {"pct:2:1:0", "above 0"},
                                                       {"random:x", "seed is no number"},
                                                       {"random:-1", "seed is no number"},
                                                       {"nth:7", "nth takes 2 numbers"},
                                                       {"nth:7:x", "no number"},
                                                       {"nth:7:9-3", "'9-3' is no range"},
                                                       {"nth:7:1-2-3", "no number"},
                                                       {"random", "takes 1 number"},
                                                       {"99999999999999999999b", "no switch"}};
  for (const auto& [text, what] : wrong) {
    const harness::OrError<OwnedPlan> plan = ParseSchedule(text);
    ASSERT_FALSE(plan.ok()) << text;
    EXPECT_THAT(plan.error(), HasSubstr(what)) << text;
    EXPECT_THAT(plan.error(), HasSubstr("write it as it was printed")) << text;
  }
}

}  // namespace
}  // namespace plumbline::race
