#include "conformance/suites/generate_shrink.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "spec/model/machine.h"
#include "spec/scenario/parse.h"
#include "spec/scenario/print.h"

namespace plumbline::suites {
namespace {

using scenario::Scenario;

Scenario Read(const std::string& text) {
  const scenario::ParseResult parsed = scenario::Parse("scenario 1 pytorch-1.13\n" + text);
  EXPECT_TRUE(parsed.scenario) << parsed.error->message;
  return *parsed.scenario;
}

std::vector<std::string> AllSmaller(const Scenario& from) {
  std::vector<std::string> texts;
  rc::Seq<Scenario> smaller = Smaller(from);
  while (const auto next = smaller.next()) texts.push_back(scenario::Print(*next));
  return texts;
}

TEST(SmallerTest, LeavesOutOnePartAtATime) {
  const Scenario from = Read(
      "kernel k1 { throw \"no\" }\n"
      "define demo::f(Tensor a) -> Tensor\n"
      "impl demo::f CPU k1\n"
      "call demo::f [CPU AutogradCPU]\n"
      "guard include [CUDA] as g\n");
  const std::vector<std::string> texts = AllSmaller(from);
  // Two halves, four steps, the body and its item, two keys of the tensor, one of the guard.
  EXPECT_EQ(texts.size(), 2u + 4u + 2u + 2u + 1u);
  for (const std::string& text : texts) EXPECT_LT(text.size(), scenario::Print(from).size());
}

// Without its guard the kernel calls itself for ever; the language's own limit ends it.
TEST(SmallerTest, LeavesOutAGuardThatACallNeedsToEnd) {
  const Scenario from = Read(
      "kernel k1 { guard exclude [CPU]; call demo::f }\n"
      "define demo::f(Tensor a) -> Tensor\n"
      "impl demo::f CPU k1\n"
      "call demo::f [CPU]\n");
  int endless = 0;
  rc::Seq<Scenario> smaller = Smaller(from);
  while (const auto next = smaller.next()) {
    if (next->steps.size() == 3 && model::Predict(*next, {}).back().error == "overflow") ++endless;
  }
  EXPECT_EQ(endless, 1);
}

TEST(SmallerTest, ThereIsAnEnd) { EXPECT_TRUE(AllSmaller(Read("")).empty()); }

TEST(ScenariosTest, SameRandomSameScenario) {
  const rc::Gen<Scenario> generator = Scenarios([](Draw& draw) {
    Scenario made;
    made.title = std::to_string(draw.Below(1000000));
    return made;
  });
  EXPECT_EQ(generator(rc::Random(3), 50).value().title, generator(rc::Random(3), 50).value().title);
  EXPECT_NE(generator(rc::Random(3), 50).value().title, generator(rc::Random(4), 50).value().title);
}

}  // namespace
}  // namespace plumbline::suites
