#include "conformance/harness/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "spec/abi/abi.h"
#include "spec/model/machine.h"
#include "spec/scenario/parse.h"

namespace plumbline::harness {
namespace {

using scenario::Outcome;
using scenario::Scenario;
using ::testing::HasSubstr;
using Result = Comparison::Result;

constexpr std::uint64_t kAll = ~std::uint64_t{0};

Scenario Sample(const std::string& last = "call demo::f [CPU]") {
  const scenario::ParseResult parsed = scenario::Parse(
      "scenario 1 pytorch-1.13\n"
      "kernel k1 { return arg 0 }\n"
      "define demo::f(Tensor a) -> Tensor\n"
      "impl demo::f CPU k1\n" +
      last + "\n");
  return parsed.scenario.value();
}

class CompareTest : public ::testing::Test {
 protected:
  Comparison With(const std::function<void(Outcome&)>& change, std::uint64_t capabilities = kAll) {
    observed_ = predicted_;
    change(observed_.back());
    return Compare(scenario_, predicted_, observed_, capabilities);
  }
  Scenario scenario_ = Sample();
  std::vector<Outcome> predicted_ = model::Predict(scenario_, {});
  std::vector<Outcome> observed_;
};

TEST_F(CompareTest, EqualOutcomesAgree) {
  EXPECT_EQ(With([](Outcome&) {}).result, Result::kAgrees);
  EXPECT_EQ(With([](Outcome& o) { o.message = "whatever"; }).result, Result::kAgrees);
}

TEST_F(CompareTest, EveryPartIsCompared) {
  EXPECT_EQ(With([](Outcome& o) { o.runs.back().kernel = "k2"; }).what, "the kernels that ran");
  EXPECT_EQ(With([](Outcome& o) { o.runs.clear(); }).what, "the kernels that ran");
  EXPECT_EQ(With([](Outcome& o) { o.runs.push_back(o.runs.back()); }).what, "the kernels that ran");
  EXPECT_EQ(With([](Outcome& o) { o.runs.back().keys = {"CUDA"}; }).what, "what a kernel received");
  EXPECT_EQ(With([](Outcome& o) { o.runs.back().depth = 1; }).what, "what a kernel received");
  EXPECT_EQ(With([](Outcome& o) { o.runs.back().arguments.clear(); }).what, "what a kernel received");
  EXPECT_EQ(With([](Outcome& o) { o.runs.back().operator_name = "demo::g"; }).what, "what a kernel received");
  EXPECT_EQ(With([](Outcome& o) { o.error = "no-kernel"; }).what, "the error");
  EXPECT_EQ(With([](Outcome& o) { o.returns.clear(); }).what, "the results");
  EXPECT_EQ(With([](Outcome& o) { o.returns[0].argument = -1; }).what, "the results") << "the kernel returned arg 0";
  EXPECT_EQ(With([](Outcome& o) { o.warned = true; }).what, "the override warning");
  EXPECT_EQ(With([](Outcome& o) { o.truth = true; }).what, "the answer");
  EXPECT_EQ(With([](Outcome& o) { o.count = 1; }).what, "the answer");
}

TEST_F(CompareTest, WarningsOnlyWhereClaimed) {
  EXPECT_EQ(With([](Outcome& o) { o.warned = true; }, kAll & ~PL_CAPABILITY(WARNINGS)).result, Result::kAgrees);
}

TEST_F(CompareTest, AnAnswerOfUnsupportedIsUnsupported) {
  EXPECT_EQ(With([](Outcome& o) {
              o = {};
              o.error = "unsupported";
            }).result,
            Result::kUnsupported);
}

TEST_F(CompareTest, WhatTheModelCannotTellIsUnsupported) {
  observed_ = predicted_;
  predicted_.back() = {};
  predicted_.back().error = "unsupported";
  EXPECT_EQ(Compare(scenario_, predicted_, observed_, kAll).result, Result::kUnsupported);
  observed_.back() = predicted_.back();
  EXPECT_EQ(Compare(scenario_, predicted_, observed_, kAll).result, Result::kAgrees) << "both say so";
}

TEST_F(CompareTest, WhatFollowsABuiltinKernelIsNotSeen) {
  scenario::KernelRun builtin = predicted_.back().runs.back();
  builtin.kernel = "builtin:Conjugate";
  predicted_.back().runs.push_back(builtin);
  const std::vector<Outcome> told = predicted_;
  observed_ = told;
  observed_.back().runs.pop_back();
  observed_.back().error = "internal";
  EXPECT_EQ(Compare(scenario_, told, observed_, kAll).result, Result::kAgrees);
  observed_.back().runs.clear();
  EXPECT_EQ(Compare(scenario_, told, observed_, kAll).result, Result::kDiffers) << "what ran before it is seen";
}

TEST(CompareErrorsTest, UnclassifiedStandsForAClassThatNobodyWrote) {
  for (const auto& [last, result] :
       std::vector<std::pair<std::string, Result>>{{"call demo::f [CUDA]", Result::kAgrees},
                                                   {"call demo::f [CUDA] => error any", Result::kAgrees},
                                                   {"call demo::f [CUDA] => error no-kernel", Result::kDiffers}}) {
    const Scenario scenario = Sample(last);
    const std::vector<Outcome> predicted = model::Predict(scenario, {});
    ASSERT_EQ(predicted.back().error, "no-kernel");
    std::vector<Outcome> observed = predicted;
    observed.back().error = "unclassified";
    EXPECT_EQ(Compare(scenario, predicted, observed, kAll).result, result) << last;
  }
}

TEST(CompareErrorsTest, AMessageIsComparedWhereItIsWritten) {
  const Scenario scenario = Sample("call demo::f [CUDA] => error no-kernel says \"demo::f\"");
  const std::vector<Outcome> predicted = model::Predict(scenario, {});
  std::vector<Outcome> observed = predicted;
  observed.back().message = "Could not find a kernel for demo::f";
  EXPECT_EQ(Compare(scenario, predicted, observed, kAll).result, Result::kAgrees);
  observed.back().message = "no";
  EXPECT_EQ(Compare(scenario, predicted, observed, kAll).what, "the error's message");
}

TEST(CompareWrittenTest, TheModelMustAgreeWithTheAuthor) {
  const model::KeyTable keys(*model::FindRelease("pytorch-1.13"), {});
  const auto compare = [&](const std::string& last) {
    const Scenario scenario = Sample(last);
    return CompareWritten(scenario, model::Predict(scenario, {}), keys);
  };
  EXPECT_EQ(compare("call demo::f [CPU] => k1 returns arg 0").result, Result::kAgrees);
  EXPECT_EQ(compare("call demo::f [CUDA] => error no-kernel says \"never compared\"").result, Result::kAgrees);
  const Comparison wrong = compare("call demo::f [CPU] => k2");
  EXPECT_EQ(wrong.result, Result::kDiffers);
  EXPECT_EQ(wrong.step, 2);
  EXPECT_THAT(wrong.what, HasSubstr("k2"));
}

}  // namespace
}  // namespace plumbline::harness
