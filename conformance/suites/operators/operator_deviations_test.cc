#include "conformance/suites/operators/operator_deviations.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "conformance/suites/operators/host_tensor.h"
#include "spec/abi/abi.h"

namespace plumbline::suites {
namespace {

// The outcome of a call as a right backend gives it.
OperatorOutcome RightOutcome(const OperatorCall& call, const Expected& expected) {
  OperatorOutcome outcome;
  for (const Argument* argument : TensorsOf(call)) {
    outcome.arguments_after.push_back(argument->tensor);
    outcome.raised.push_back(false);
  }
  if (expected.refused()) {
    outcome.error_class = expected.errors.front();
    return outcome;
  }
  for (const ExpectedTensor& due : expected.tensors) {
    ReturnedTensor returned;
    returned.tensor = HostTensor::Contiguous(due.dtype, due.sizes);
    for (std::int64_t i = 0; i < returned.tensor.numel(); ++i) {
      returned.tensor.Set(i, due.values[static_cast<std::size_t>(i)]);
    }
    returned.strides = ContiguousStrides(due.sizes);
    returned.same_as = due.same_as;
    outcome.tensors.push_back(std::move(returned));
  }
  return outcome;
}

HostTensor Vector(std::uint32_t dtype, std::vector<long double> values) {
  HostTensor tensor = HostTensor::Contiguous(dtype, {static_cast<std::int64_t>(values.size())});
  for (std::size_t i = 0; i < values.size(); ++i) tensor.Set(static_cast<std::int64_t>(i), values[i]);
  return tensor;
}

std::set<std::string> Explaining(const OperatorCall& call, const Expected& expected, const OperatorOutcome& outcome,
                                 bool died = false) {
  std::set<std::string> names;
  for (const OperatorDeviation& one : OperatorDeviations()) {
    if (one.explains({call, expected, outcome, died})) names.emplace(one.name);
  }
  return names;
}

using Names = std::set<std::string>;

TEST(OperatorDeviationsTest, NamesAreDifferent) {
  const harness::DeviationNames names = OperatorDeviationNames();
  EXPECT_EQ(std::set<std::string_view>(names.begin(), names.end()).size(), names.size());
}

TEST(OperatorDeviationsTest, SixteenBitsBetweenIsSoMuchAndNoMore) {
  const OperatorCall call{"aten::dot",
                          {Argument::Of(Vector(PL_DTYPE_BFLOAT16, {1, -0.796875})),
                           Argument::Of(Vector(PL_DTYPE_BFLOAT16, {1, -1.515625}))}};
  const Expected expected = (*OracleFor("dot"))(call);
  OperatorOutcome outcome = RightOutcome(call, expected);
  outcome.tensors[0].tensor.Set(0, 2.21875);
  EXPECT_EQ(Explaining(call, expected, outcome), Names{"sixteen-bits-between"});
  outcome.tensors[0].tensor.Set(0, 3);
  EXPECT_EQ(Explaining(call, expected, outcome), Names{});
}

TEST(OperatorDeviationsTest, Float32IsNotExcusedBySixteenBits) {
  const OperatorCall call{
      "aten::dot", {Argument::Of(Vector(PL_DTYPE_FLOAT32, {1, 2})), Argument::Of(Vector(PL_DTYPE_FLOAT32, {3, 4}))}};
  const Expected expected = (*OracleFor("dot"))(call);
  OperatorOutcome outcome = RightOutcome(call, expected);
  outcome.tensors[0].tensor.Set(0, 11.01L);
  EXPECT_EQ(Explaining(call, expected, outcome), Names{});
}

TEST(OperatorDeviationsTest, ARefusalMayHaveWrittenWhatItWasToWriteOnly) {
  const OperatorCall call{"aten::floor_divide_.Tensor",
                          {Argument::Of(Vector(PL_DTYPE_INT32, {7, 8})), Argument::Of(Vector(PL_DTYPE_INT32, {7, 0}))}};
  const Expected expected = (*OracleFor("floor_divide_.Tensor"))(call);
  ASSERT_TRUE(expected.refused());
  OperatorOutcome outcome = RightOutcome(call, expected);
  outcome.arguments_after[0].Set(0, 1);
  EXPECT_EQ(Explaining(call, expected, outcome), Names{"refused-call-writes"});
  outcome.arguments_after[1].Set(0, 1);
  EXPECT_EQ(Explaining(call, expected, outcome), Names{}) << "the divisor is not written";
}

TEST(OperatorDeviationsTest, OnlyDivisionsOfIntegersMayEndTheProcess) {
  const auto of = [](const char* op, std::uint32_t dtype) {
    return OperatorCall{op, {Argument::Of(Vector(dtype, {1})), Argument::Of(Vector(dtype, {1}))}};
  };
  EXPECT_EQ(Explaining(of("aten::remainder.Tensor", PL_DTYPE_INT64), {}, {}, true),
            Names{"integer-division-ends-the-process"});
  EXPECT_EQ(Explaining(of("aten::remainder.Tensor", PL_DTYPE_FLOAT32), {}, {}, true), Names{});
  EXPECT_EQ(Explaining(of("aten::mul.Tensor", PL_DTYPE_INT64), {}, {}, true), Names{});
}

TEST(OperatorDeviationsTest, WhatIsEmptyIsUncheckedAndNothingElse) {
  const auto call = [](std::vector<long double> values) {
    return OperatorCall{
        "aten::_softmax",
        {Argument::Of(Vector(PL_DTYPE_INT64, std::move(values))), Argument::Int(0), Argument::Bool(false)}};
  };
  OperatorOutcome accepted;
  accepted.tensors.emplace_back();
  EXPECT_EQ(Explaining(call({}), (*OracleFor("_softmax"))(call({})), accepted), Names{"empty-is-unchecked"});
  EXPECT_EQ(Explaining(call({1}), (*OracleFor("_softmax"))(call({1})), accepted), Names{});
}

// None excuses a call that is right: a deviation that does would hide its own absence.
TEST(OperatorDeviationsTest, AnotherErrorIsNotExplained) {
  const OperatorCall call{"aten::floor_divide_.Tensor",
                          {Argument::Of(Vector(PL_DTYPE_INT32, {7, 8})), Argument::Of(Vector(PL_DTYPE_INT32, {7, 0}))}};
  const Expected expected = (*OracleFor("floor_divide_.Tensor"))(call);
  OperatorOutcome outcome = RightOutcome(call, expected);
  outcome.error_class = PL_ERROR_INTERNAL;
  EXPECT_EQ(Explaining(call, expected, outcome), Names{});
}

}  // namespace
}  // namespace plumbline::suites
