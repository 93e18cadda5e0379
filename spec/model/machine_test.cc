// What the corpus does not say: scenarios that are wrong themselves, corners of kernels' bodies, other releases.

#include "spec/model/machine.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "spec/model/call.h"
#include "spec/model/testing.h"

namespace plumbline::model {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const char kDefine[] = "define demo::f(Tensor a) -> Tensor\n";

TEST(MachineTest, AnUnknownReleaseIsToldInEachOutcome) {
  scenario::Scenario s = ParsedFragment(kDefine);
  s.release = "pytorch-0";
  const std::vector<scenario::Outcome> outcomes = Predict(s, {});
  ASSERT_EQ(outcomes.size(), 1u);
  EXPECT_EQ(outcomes[0].error, "not-found");
  EXPECT_THAT(outcomes[0].message, HasSubstr("pytorch-0"));
  Settings settings;
  settings.release = "pytorch-2.x";
  EXPECT_EQ(Predict(s, settings)[0].error, "");
}

TEST(MachineTest, ASenselessDeclarationIsToldInEachOutcome) {
  scenario::Scenario s = ParsedFragment(kDefine);
  s.declared_keys.push_back({scenario::KeyDeclaration::Kind::kComponent, "CUDA", "CPU", "own"});
  EXPECT_EQ(Predict(s, {})[0].error, "invalid-argument");
}

TEST(MachineTest, AScenarioRepeatsWhatTheBackendDeclares) {
  const scenario::KeyDeclaration tally{scenario::KeyDeclaration::Kind::kComponent, "Tally", "CUDA", "own"};
  scenario::Scenario s = ParsedFragment(std::string(kDefine) + "impl demo::f Tally k1\ncall demo::f [Tally]\n");
  s.declared_keys.push_back(tally);
  Settings settings;
  settings.declared_keys.push_back(tally);
  for (const scenario::Outcome& outcome : Predict(s, settings)) EXPECT_EQ(outcome.error, "") << outcome.message;
}

TEST(MachineTest, OwnFallbacksReplaceTheReleases) {
  Settings settings;
  settings.own_fallbacks = {{"AutogradCUDA", true}};
  CheckModel(std::string(kDefine) +
                 "impl demo::f CUDA k1\n"
                 "query has-fallback AutogradCPU => false\n"
                 "query has-fallback AutogradCUDA => true\n"
                 "guard exclude [BackendSelect ADInplaceOrView] as g\n"
                 "call demo::f [CUDA AutogradCUDA] => k1 with [CUDA]\n",
             settings);
}

TEST(MachineTest, NamesOfTheScenario) {
  CheckModel(std::string(kDefine) +
             "release r1 => error not-found\n"
             "impl demo::f CPU k1 as r1\n"
             "impl demo::f CUDA k1 as r1 => error invalid-argument\n"
             "release r1 => ok\n"
             "release r1 => error invalid-handle\n"
             "impl demo::f CUDA k1 as r1 => ok\n"
             "release r1 => ok\n"
             "impl demo::f Bogus k1 as r2 => error not-found\n"
             "release r2 => error not-found\n"
             "leave g => error not-found\n"
             "guard include [CPU] as g\n"
             "guard include [CPU] as g => error invalid-argument\n"
             "on t2 leave g => error invalid-argument\n"
             "leave g => ok\n"
             "leave g => error invalid-handle\n"
             "guard include [Bogus] as g => error not-found\n"
             "call @h [CPU] => error not-found\n"
             "close l => error not-found\n"
             "define f(Tensor a) -> Tensor in l => error not-found\n"
             "library l fragment demo\n"
             "library l fragment demo => error invalid-argument\n"
             "close l\n"
             "close l => error invalid-handle\n"
             "impl f CPU k1 in l => error invalid-handle\n"
             "library l fragment demo => ok\n"
             "query heard l => error not-found\n"
             "call demo::f [Bogus] => error not-found\n"
             "impl f CPU k1 => error invalid-argument\n"
             "define f(Tensor a) -> Tensor => error invalid-argument\n");
}

TEST(MachineTest, ALibrarysNameMayBeUsedAgain) {
  CheckModel(std::string(kDefine) +
             "library l impl demo CPU\n"
             "impl f k1 in l as r1\n"
             "close l\n"
             "library l impl demo CPU\n"
             "impl f k2 in l\n"
             "release r1 => ok\n"
             "call demo::f [CPU] => k2\n"
             "close l\n"
             "call demo::f [CPU] => error no-kernel\n");
}

TEST(MachineTest, AKeyIsForImplLibraries) {
  CheckModel(
      "library l fragment demo CPU => error invalid-argument\n"
      "library l impl demo Bogus => error not-found\n");
}

TEST(MachineTest, RefusedContextsAreDestroyedIfTheyWereGivenAway) {
  CheckModel(std::string(kDefine) +
             "library l impl _ PrivateUse2\n"
             "impl f k1 in l => error invalid-argument\n"
             "query destroyed k1 => count 1\n"
             "fallback AutogradCPU k1 => error duplicate\n"
             "query destroyed k1 => count 2\n"
             "impl demo::f Bogus k1 => error not-found\n"
             "query destroyed k1 => count 2\n"
             "fallback PrivateUse1 k1 typed tensor => error invalid-argument\n"
             "query destroyed k1 => count 3\n");
}

TEST(MachineTest, WhatABodyReturns) {
  CheckModel(
      "kernel k1 { return arg 1 3 }\n"
      "kernel k2 { return inner }\n"
      "kernel k3 { call demo::f; return inner }\n"
      "kernel k4 { return arg 7 1 }\n"
      "kernel k5 { return [CPU] }\n"
      "define demo::f(Tensor a, Tensor b) -> (Tensor, int)\n"
      "impl demo::f CPU k1\n"
      "impl demo::f CUDA k2\n"
      "impl demo::f XLA k4\n"
      "impl demo::f Meta k5\n"
      "define demo::g(Tensor a, Tensor b) -> (Tensor, int)\n"
      "impl demo::g CPU k3\n"
      "call demo::f [CPU] [CPU] => k1 returns arg 1 3\n"
      "call demo::f [CUDA] [CPU] => k2 > error schema-mismatch\n"
      "call demo::g [CPU] [CPU] => k3 > k1 returns arg 1 3\n"
      "call demo::f [XLA] [CPU] => k4 > error invalid-argument\n"
      "call demo::f [Meta] [CPU] => k5 > error schema-mismatch\n");
}

TEST(MachineTest, ErrorsInABodyEndIt) {
  CheckModel(
      "kernel k1 { guard exclude [CPU]; guard include [Bogus] }\n"
      "kernel k2 { redispatch below Autograd }\n"
      "kernel k3 { redispatch to [Bogus] }\n"
      "kernel k4 { release nothing }\n"
      "kernel k5 { call demo::f; }\n" +
      std::string(kDefine) +
      "impl demo::f CPU k1\n"
      "impl demo::f CUDA k2\n"
      "impl demo::f XLA k3\n"
      "impl demo::f Meta k4\n"
      "impl demo::f Lazy k5\n"
      "call demo::f [CPU] => k1 > error not-found\n"
      "call demo::f [CPU] => k1 > error not-found\n"
      "call demo::f [CUDA] => k2 > error invalid-argument\n"
      "call demo::f [XLA] => k3 > error not-found\n"
      "call demo::f [Meta] => k4 > error not-found\n"
      "call demo::f [Lazy] => error overflow\n");
}

TEST(MachineTest, ARunningKernelMayOutliveItsOperator) {
  CheckModel(
      "kernel last { release d; release r1; redispatch below CPU }\n"
      "define demo::f(Tensor a) -> Tensor as d\n"
      "impl demo::f CPU last as r1\n"
      "call demo::f [CPU] => last > error invalid-handle\n");
  CheckModel(
      "kernel last { release d; release r1 }\n"
      "define demo::f(Tensor a) -> Tensor as d\n"
      "impl demo::f CPU last as r1\n"
      "call demo::f [CPU] => last returns arg 0\n"
      "call demo::f [CPU] => error not-found\n");
}

TEST(MachineTest, AHandleIsOfOneLifeOfTheOperator) {
  CheckModel(
      "define demo::f(Tensor a) -> Tensor as d\n"
      "find demo::f as h\n"
      "release d\n"
      "define demo::f(Tensor a) -> Tensor\n"
      "impl demo::f CPU k\n"
      "call @h [CPU] => error invalid-handle\n"
      "call demo::f [CPU] => k\n");
}

TEST(MachineTest, AHandleToAnUndefinedOperatorIsNotFound) {
  CheckModel(
      "define demo::f(Tensor a) -> Tensor as d\n"
      "impl demo::f CPU k\n"
      "find demo::f as h\n"
      "release d\n"
      "call @h [CPU] => error not-found\n"
      "define demo::f(Tensor a) -> Tensor\n"
      "call @h [CPU] => k\n");
}

TEST(MachineTest, ReceivedKeysAndDepth) {
  const scenario::Scenario s = ParsedFragment(
      "kernel k1 { redispatch below Autograd }\nkernel k2 { redispatch below "
      "AutogradOther }\ndefine demo::f(Tensor a, Tensor[] b) -> Tensor\n"
      "impl demo::f Autograd k2\nimpl demo::f CPU k3\n"
      "call demo::f [CPU AutogradCPU] {[CUDA]}\n");
  const scenario::Outcome outcome = Predict(s, {}).back();
  EXPECT_EQ(outcome.error, "no-kernel");
  ASSERT_EQ(outcome.runs.size(), 1u);
  EXPECT_EQ(outcome.runs[0].depth, 0);
  EXPECT_EQ(outcome.runs[0].operator_name, "demo::f");
  EXPECT_THAT(outcome.runs[0].keys, ElementsAre("CPU", "CUDA", "AutogradCPU", "AutogradCUDA"));
  EXPECT_EQ(outcome.runs[0].arguments.at(0).argument, -1);
  EXPECT_TRUE(outcome.returns.empty());
}

TEST(MachineTest, TheReleasesOwnBoxedFallbacks) {
  // Those of autograd in 2.x hand on below autograd; others are none of the spec's.
  const std::string steps = std::string(kDefine) +
                            "impl demo::f CPU k1\n"
                            "call demo::f [CPU AutogradCPU] => k1 with [CPU]\n"
                            "call demo::f [CPU Named] => error unsupported\n";
  CheckModel(steps, {}, "pytorch-1.13");
  CheckModel(steps, {}, "pytorch-2.x");
}

TEST(MachineTest, CountersOfARedefinedOperatorStartAtZero) {
  CheckModel(
      "define demo::f(Tensor a) -> Tensor as d\n"
      "impl demo::f CPU k1\n"
      "call demo::f [CPU]\n"
      "release d\n"
      "query counters demo::f => error not-found\n"
      "define demo::f(Tensor a) -> Tensor\n"
      "query counters demo::f => hits 0 misses 0 invalidations 0\n"
      "call demo::f [CPU]\n"
      "query counters demo::f => hits 0 misses 1 invalidations 0\n");
}

TEST(MachineTest, AChainInvalidatesWhatItServes) {
  CheckModel(std::string(kDefine) +
             "chain PrivateUse2 served by CPU as c\n"
             "impl demo::f CPU k1\n"
             "call demo::f [PrivateUse2] => k1\n"
             "call demo::f [CUDA] => error no-kernel\n"
             "impl demo::f CPU k2\n"
             "query counters demo::f => hits 0 misses 2 invalidations 1\n"
             "call demo::f [PrivateUse2] => k2\n"
             "release c\n"
             "query counters demo::f => hits 0 misses 1 invalidations 1\n"
             "impl demo::f CPU k3\n"
             "query counters demo::f => hits 0 misses 0 invalidations 0\n");
}

TEST(MachineTest, TypedCallsOfOtherSignatures) {
  CheckModel(
      "define demo::f(Tensor a, SymInt b) -> Tensor\n"
      "impl demo::f CPU k1 typed tensor_int\n"
      "impl demo::f CUDA k2 typed tensor_symint => ok\n"
      "call typed tensor_int demo::f [CUDA] 3 => k2\n"
      "call typed tensor_symint demo::f [CPU] 3 => k1\n"
      "call typed tensor demo::f [CPU] => error schema-mismatch\n");
}

TEST(MachineTest, RecordsCallsOnRequest) {
  const scenario::Scenario s = ParsedFragment(std::string(kDefine) + "call demo::f [CPU]\n");
  Machine machine(s, {});
  for (const scenario::Step& step : s.steps) machine.Run(step);
  EXPECT_EQ(machine.last_calls().size(), 0u);
}

std::vector<std::size_t> KernelsRun(const std::string& text) {
  std::vector<std::size_t> counts;
  for (const scenario::Outcome& outcome : Predict(ParsedFragment(text), {})) counts.push_back(outcome.runs.size());
  return counts;
}

TEST(MachineTest, KernelsNestAsDeepAsTheLanguageSays) {
  const std::string calls = "kernel k { call demo::f }\n" + std::string(kDefine) + "impl demo::f CPU k\n";
  EXPECT_THAT(KernelsRun(calls + "call demo::f [CPU]\ncall demo::f [CPU]\n"), ElementsAre(0, 0, 100, 100));
  const std::string redispatches = "kernel k { redispatch to [CPU] }\n" + std::string(kDefine) + "impl demo::f CPU k\n";
  EXPECT_THAT(KernelsRun(redispatches + "call demo::f [CPU]\n"), ElementsAre(0, 0, 100));
}

TEST(MachineTest, KernelsMakeAsManyCallsAsTheLanguageSays) {
  const std::string text = "kernel k { try call demo::f; try call demo::f }\n" + std::string(kDefine) +
                           "impl demo::f CPU k\ncall demo::f [CPU] => returns arg 0\n";
  EXPECT_THAT(KernelsRun(text), ElementsAre(0, 0, 1001));  // and the step's own
  CheckModel(text);
}

TEST(MachineTest, ACallThatTheLanguageRefusesIsRecorded) {
  const scenario::Scenario s =
      ParsedFragment("kernel k { call demo::f }\n" + std::string(kDefine) + "impl demo::f CPU k\ncall demo::f [CPU]\n");
  Settings settings;
  settings.record = true;
  Machine machine(s, settings);
  for (const scenario::Step& step : s.steps) machine.Run(step);
  ASSERT_EQ(machine.last_calls().size(), 101u);
  EXPECT_TRUE(machine.last_calls().back().refused);
  EXPECT_EQ(machine.last_calls().back().error, "overflow");
  EXPECT_THAT(machine.last_calls().back().message, HasSubstr("at most 100 deep"));
}

}  // namespace
}  // namespace plumbline::model
