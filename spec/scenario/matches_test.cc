#include "spec/scenario/matches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "spec/scenario/parse.h"
#include "spec/scenario/print.h"

namespace plumbline::scenario {
namespace {

Expectation Expected(const std::string& text) {
  ParseResult result = ParseFragment("drain => " + text, "x");
  EXPECT_TRUE(result.scenario.has_value()) << text << ": " << result.error->message;
  return *result.scenario->steps.at(0).expected;
}

std::string Told(const std::string& expected, const Outcome& outcome, const Canonical& canonical = {}) {
  return Mismatch(Expected(expected), outcome, canonical).value_or("as expected");
}

Outcome Failed(const std::string& error, const std::string& message) {
  Outcome outcome;
  outcome.error = error;
  outcome.message = message;
  return outcome;
}

// k1 > k2 with [CPU] sees [CPU] 3 returns arg 0 4
Outcome Ran() {
  Outcome outcome;
  outcome.runs = {
      {.kernel = "k1", .operator_name = "demo::f", .keys = {"CPU", "AutogradCPU"}, .arguments = {}, .depth = 0},
      {.kernel = "k2",
       .operator_name = "demo::f",
       .keys = {"CPU"},
       .arguments = {Value::Tensor({"CPU"}), Value::Int(3)},
       .depth = 1}};
  Value first = Value::Tensor({"CPU"});
  first.argument = 0;
  outcome.returns = {first, Value::Int(4)};
  return outcome;
}

TEST(Matches, Errors) {
  const Outcome failed = Failed("no-kernel", "nothing for CPU");
  EXPECT_EQ(Told("ok", {}), "as expected");
  EXPECT_EQ(Told("ok", failed), "expected no error, but got error no-kernel (nothing for CPU)");
  EXPECT_EQ(Told("k1", failed), "expected no error, but got error no-kernel (nothing for CPU)");
  EXPECT_EQ(Told("error any", failed), "as expected");
  EXPECT_EQ(Told("error any", {}), "expected an error, but got no error");
  EXPECT_EQ(Told("error no-kernel", failed), "as expected");
  EXPECT_EQ(Told("error no-key", failed), "expected error no-key, but got error no-kernel (nothing for CPU)");
  EXPECT_EQ(Told("error no-kernel says \"CPU\"", failed), "as expected");
  EXPECT_EQ(Told("error no-kernel says \"CUDA\"", failed),
            "expected a message that says \"CUDA\", but it says \"nothing for CPU\"");
}

TEST(Matches, Kernels) {
  EXPECT_EQ(Told("k1 > k2", Ran()), "as expected");
  EXPECT_EQ(Told("k1", Ran()), "expected k1 to run, but k1 > k2 ran");
  EXPECT_EQ(Told("k1", {}), "expected k1 to run, but no kernel ran");
  EXPECT_EQ(Told("with [CPU]", {}), "expected a kernel to run, but no kernel ran");
  EXPECT_EQ(Told("k1 > k2 with [CPU] sees [CPU] 3 returns arg 0 4", Ran()), "as expected");
  EXPECT_EQ(Told("returns [CPU] 4", Ran()), "as expected") << "a result may be named by its keys";
  EXPECT_EQ(Told("with [CUDA]", Ran()), "expected k2 to receive [CUDA], but it received [CPU]");
  EXPECT_EQ(Told("sees [CPU] 4", Ran()), "expected k2 to see [CPU] 4, but it saw [CPU] 3");
  EXPECT_EQ(Told("sees", Ran()), "expected k2 to see nothing, but it saw [CPU] 3");
  EXPECT_EQ(Told("returns arg 1 4", Ran()), "expected the call to return arg 1 4, but it returned arg 0 4");
  EXPECT_EQ(Told("returns arg 0", Ran()), "expected the call to return arg 0, but it returned arg 0 4");
}

TEST(Matches, KeySetsAreSets) {
  Outcome outcome = Ran();
  outcome.runs.back().keys = {"CPU", "CUDA"};
  EXPECT_EQ(Told("with [CUDA CPU CPU]", outcome), "as expected");
  EXPECT_NE(Told("with [CUDA]", outcome), "as expected");
  Canonical all_devices = [](const std::vector<std::string>& keys) {
    return keys == std::vector<std::string>{"CUDA"} ? std::vector<std::string>{"CPU", "CUDA"} : keys;
  };
  EXPECT_EQ(Told("with [CUDA]", outcome, all_devices), "as expected");
}

TEST(Matches, ValuesBitByBit) {
  Outcome outcome = Ran();
  outcome.returns = {Value::Float(std::nan("")), Value::Float(-0.0)};
  EXPECT_EQ(Told("returns nan -0.0", outcome), "as expected");
  EXPECT_EQ(Told("returns nan 0.0", outcome), "expected the call to return nan 0.0, but it returned nan -0.0");
  outcome.returns = {Value::List({Value::Tensor({"CPU", "CUDA"}), Value::None()})};
  EXPECT_EQ(Told("returns {[CUDA CPU] none}", outcome), "as expected");
  EXPECT_EQ(Told("returns {[CUDA CPU]}", outcome),
            "expected the call to return {[CUDA CPU]}, but it returned {[CPU CUDA] none}");
}

TEST(Matches, Answers) {
  Outcome outcome;
  outcome.truth = true;
  EXPECT_EQ(Told("true", outcome), "as expected");
  EXPECT_EQ(Told("false", outcome), "expected false, but the answer is true");
  EXPECT_EQ(Told("true", {}), "expected true, but there was no answer");
  outcome = {};
  outcome.names = {"a::f"};
  EXPECT_EQ(Told("names a::f", outcome), "as expected");
  EXPECT_EQ(Told("names", outcome), "expected names, but got names a::f");
  outcome.names = {"+a::f"};
  EXPECT_EQ(Told("heard +a::f -a::f", outcome), "expected heard +a::f -a::f, but got heard +a::f");
  outcome = {};
  outcome.counters = CacheCounters{1, 2, 3};
  EXPECT_EQ(Told("hits 1 misses 2 invalidations 3", outcome), "as expected");
  EXPECT_EQ(Told("hits 1 misses 1 invalidations 3", outcome),
            "expected hits 1 misses 1 invalidations 3, but got hits 1 misses 2 invalidations 3");
  outcome = {};
  outcome.count = 2;
  EXPECT_EQ(Told("count 1", outcome), "expected a count of 1, but it is 2");
  outcome = {};
  outcome.warned = true;
  EXPECT_EQ(Told("ok", outcome), "as expected");
  EXPECT_EQ(Told("ok warned", outcome), "as expected");
  EXPECT_EQ(Told("ok unwarned", outcome), "expected no warning, but there was one");
}

TEST(Matches, TablesAreWhole) {
  Outcome outcome;
  outcome.table = {{"CPU", "kernel", false, "r1"}, {"Tracer", "fallback", true, "builtin"}};
  EXPECT_EQ(Told("{ fallback builtin fallthrough: Tracer; kernel r1: CPU }", outcome), "as expected");
  EXPECT_EQ(Told("{ kernel r1: CPU }", outcome),
            "expected the slot of Tracer to be empty, but it holds fallback builtin fallthrough");
  EXPECT_EQ(Told("{ kernel r2: CPU; fallback builtin fallthrough: Tracer }", outcome),
            "expected the slot of CPU to hold kernel r2, but it holds kernel r1");
  EXPECT_EQ(Told("{ kernel r1: CPU CUDA; fallback builtin fallthrough: Tracer }", outcome),
            "expected the slot of CUDA to hold kernel r1, but it is empty");
}

TEST(Outcomes, InOneLine) {
  EXPECT_EQ(PrintOutcome({}), "ok");
  EXPECT_EQ(PrintOutcome(Failed("no-key", "text")), "error no-key");
  EXPECT_EQ(PrintOutcome(Ran()), "k1 with [CPU AutogradCPU] sees > k2 with [CPU] sees [CPU] 3 returns arg 0 4");
  Outcome outcome = Ran();
  outcome.returns.clear();
  outcome.error = "kernel-raised";
  outcome.runs[1].operator_name = "demo::g";
  outcome.runs[1].depth = 3;
  EXPECT_EQ(PrintOutcome(outcome),
            "k1 with [CPU AutogradCPU] sees > k2 for demo::g at depth 3 with [CPU] sees [CPU] 3 > error kernel-raised");
}

TEST(Outcomes, AsWrittenExpectations) {
  EXPECT_EQ(PrintExpectation(ExpectationOf({})), "ok");
  EXPECT_EQ(PrintExpectation(ExpectationOf(Failed("no-key", "text"))), "error no-key");
  EXPECT_EQ(PrintExpectation(ExpectationOf(Ran())), "k1 > k2 with [CPU] sees [CPU] 3 returns arg 0 4");
}

}  // namespace
}  // namespace plumbline::scenario
