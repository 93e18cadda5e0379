#include "conformance/harness/stray_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "spec/scenario/parse.h"
#include "spec/scenario/print.h"

namespace plumbline::harness {
namespace {

using testing::ElementsAre;

std::vector<StrayName> StraysOf(const std::string& steps) {
  const scenario::ParseResult parsed = scenario::Parse("scenario 1 pytorch-1.13\n" + steps);
  EXPECT_TRUE(parsed.scenario) << parsed.error->message;
  return StrayNames(*parsed.scenario);
}

TEST(StrayNamesTest, EachKindHasItsOwnNames) {
  const std::vector<StrayName> strays = StraysOf(
      "define demo::f(Tensor a) -> Tensor as d\n"
      "find demo::f as h\n"
      "library l def demo\n"
      "guard include [CPU] as g\n"
      "release h\ncall @g [CPU]\nclose d\nleave l\n");
  ASSERT_EQ(strays.size(), 4u);
  const char* const what[] = {"a registration", "a handle", "a library", "a guard"};
  const char* const given[] = {"d", "h", "l", "g"};
  for (std::size_t i = 0; i < strays.size(); ++i) {
    EXPECT_STREQ(strays[i].what, what[i]);
    EXPECT_THAT(strays[i].given, ElementsAre(given[i]));
    EXPECT_EQ(strays[i].step, 4 + i);
    EXPECT_EQ(strays[i].line, static_cast<int>(6 + i));
  }
}

TEST(StrayNamesTest, KernelsGiveAndUseNamesToo) {
  const std::vector<StrayName> strays = StraysOf(
      "kernel k { define demo::g() -> () as d; release e }\n"
      "release d\n"
      "release c\n"
      "chain PrivateUse1 served by CPU as c\n");
  ASSERT_EQ(strays.size(), 1u);
  EXPECT_EQ(strays[0].name, "e");
  EXPECT_FALSE(strays[0].step);
}

TEST(StrayNamesTest, ThatTheyAreMeantCanBeSaid) {
  const scenario::ParseResult parsed = scenario::Parse(
      "scenario 1 pytorch-1.13\n"
      "define demo::f(Tensor a) -> Tensor as d\n"
      "release e\n"
      "release c => error any\n"
      "release d\n");
  const scenario::Scenario meant = WithStraysMeant(*parsed.scenario);
  EXPECT_THAT(scenario::Print(meant), testing::HasSubstr("e => error not-found\n"));
  EXPECT_EQ(meant.steps[2], parsed.scenario->steps[2]);
  EXPECT_EQ(meant.steps[3], parsed.scenario->steps[3]);
}

}  // namespace
}  // namespace plumbline::harness
