#include "conformance/harness/shrink.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "spec/model/machine.h"
#include "spec/scenario/parse.h"

namespace plumbline::harness {
namespace {

using scenario::Scenario;

Scenario Sample() {
  const scenario::ParseResult parsed = scenario::Parse(
      "scenario 1 pytorch-1.13\n"
      "kernel k { throw \"a\"; throw \"b\" }\n"
      "kernel unused { throw \"a\" }\n"
      "flush\n"
      "flush\n"
      "impl demo::f CPU k\n"
      "flush\n"
      "flush\n"
      "call demo::f [CPU CUDA Meta]\n"
      "flush\n"
      "flush\n");
  return parsed.scenario.value();
}

bool HasCallWithCuda(const Scenario& s) {
  return std::any_of(s.steps.begin(), s.steps.end(), [](const scenario::Step& step) {
    const auto* call = std::get_if<scenario::Call>(&step.action);
    return call != nullptr && std::count(call->arguments[0].keys.begin(), call->arguments[0].keys.end(), "CUDA") == 1;
  });
}

TEST(ShrinkTest, KeepsOnlyWhatTheFailureNeeds) {
  const Scenario small = ShrinkScenario(Sample(), 5, HasCallWithCuda);
  ASSERT_EQ(small.steps.size(), 1u);
  EXPECT_EQ(std::get<scenario::Call>(small.steps[0].action).arguments[0].keys, std::vector<std::string>{"CUDA"});
  EXPECT_TRUE(small.kernels.empty());
}

TEST(ShrinkTest, ThinsBodies) {
  const auto needs_b = [](const Scenario& s) {
    const bool used = std::any_of(s.steps.begin(), s.steps.end(), [](const scenario::Step& step) {
      return std::holds_alternative<scenario::Impl>(step.action);
    });
    return used && !s.kernels.empty() &&
           std::any_of(s.kernels[0].body.begin(), s.kernels[0].body.end(), [](const auto& item) {
             const auto* thrown = std::get_if<scenario::BodyThrow>(&item);
             return thrown != nullptr && thrown->message == "b";
           });
  };
  const Scenario small = ShrinkScenario(Sample(), -1, needs_b);
  EXPECT_EQ(small.steps.size(), 1u);
  ASSERT_EQ(small.kernels.size(), 1u);
  EXPECT_EQ(small.kernels[0].body.size(), 1u);
}

// Without its guard the kernel calls itself for ever; the language's limits end each attempt.
TEST(ShrinkTest, MayLeaveOutTheGuardThatEndsARecursion) {
  const scenario::ParseResult parsed = scenario::Parse(
      "scenario 1 pytorch-1.13\n"
      "kernel k { guard exclude [AutogradCPU]; try call demo::f; try call demo::f; throw \"b\" }\n"
      "define demo::f(Tensor a) -> Tensor\n"
      "impl demo::f AutogradCPU k\n"
      "impl demo::f CPU k1\n"
      "call demo::f [CPU AutogradCPU]\n");
  bool endless = false;
  const auto raises_after_an_inner_call = [&](const Scenario& s) {
    const std::vector<scenario::Outcome> outcomes = model::Predict(s, {});
    if (outcomes.empty() || outcomes.back().error != "kernel-raised" || outcomes.back().runs.size() < 2) return false;
    endless = endless || outcomes.back().runs.size() >= 100;
    return true;
  };
  const Scenario small = ShrinkScenario(parsed.scenario.value(), 3, raises_after_an_inner_call);
  EXPECT_TRUE(endless);
  ASSERT_EQ(small.kernels.size(), 1u);
  EXPECT_EQ(small.kernels[0].body.size(), 2u);
}

TEST(ShrinkTest, WhatCannotShrinkStaysWhole) {
  const Scenario sample = Sample();
  const Scenario same = ShrinkScenario(sample, 5, [](const Scenario&) { return false; });
  EXPECT_EQ(same.steps, sample.steps);
}

}  // namespace
}  // namespace plumbline::harness
