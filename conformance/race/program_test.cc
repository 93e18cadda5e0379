#include "conformance/race/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "conformance/race/scheduler.h"
#include "spec/scenario/parse.h"

namespace plumbline::race {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

harness::OrError<Program> Read(const std::string& steps) {
  const scenario::ParseResult parsed = scenario::Parse("scenario 1 pytorch-1.13\n" + steps);
  EXPECT_TRUE(parsed.scenario.has_value()) << parsed.error->message;
  return MakeProgram(*parsed.scenario);
}

TEST(Program, DividesTheSteps) {
  const harness::OrError<Program> program = Read(
      "define demo::f(Tensor a) -> Tensor\n"
      "on a call demo::f [CPU]\n"
      "on b impl demo::f CPU k as r\n"
      "on a call demo::f [CPU]\n"
      "call demo::f [CPU]\n");
  ASSERT_TRUE(program.ok()) << program.error();
  EXPECT_THAT(program->before, ElementsAre(0));
  EXPECT_THAT(program->after, ElementsAre(4));
  ASSERT_EQ(program->threads.size(), 2u);
  EXPECT_EQ(program->threads[0].name, "a");
  EXPECT_THAT(program->threads[0].steps, ElementsAre(1, 3));
  EXPECT_EQ(program->threads[1].name, "b");
  EXPECT_THAT(program->threads[1].steps, ElementsAre(2));
}

TEST(Program, SaysWhatCannotBeRaced) {
  const std::pair<const char*, const char*> wrong[] = {
      {"define demo::f(Tensor a) -> Tensor\n", "no threads of its own"},
      {"on a call demo::f [CPU]\ncall demo::f [CPU]\non b call demo::f [CPU]\n", "line 3: main has a step between"},
      {"library l def demo\non a close l\non b define f(Tensor a) -> Tensor in l\n", "line 3: the library l is closed"},
      {"on a guard exclude [CPU] as g\non b leave g\n", "line 3: the guard g is entered and left on two threads"},
      {"on a release rr\n", "line 2: nothing is made under the name rr"},
      {"declare mode Mine after Tracer\non a call demo::f [Mine]\n", "line 2: a history knows the keys of its release"},
      {"on a query counters demo::f\n", "line 2: threads at once may ask"}};
  for (const auto& [steps, what] : wrong) {
    const harness::OrError<Program> program = Read(steps);
    ASSERT_FALSE(program.ok()) << steps;
    EXPECT_THAT(program.error(), HasSubstr(what)) << steps;
  }
  std::string many;
  for (int i = 0; i <= kMaxThreads; ++i) many += "on t" + std::to_string(i) + " call demo::f [CPU]\n";
  const harness::OrError<Program> program = Read(many);
  ASSERT_FALSE(program.ok());
  EXPECT_THAT(program.error(), HasSubstr("line 18: a race has at most 16 threads"));
}

}  // namespace
}  // namespace plumbline::race
