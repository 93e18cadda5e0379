#include "conformance/suites/operators/agreement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>

#include "conformance/suites/operators/host_tensor.h"
#include "spec/abi/abi.h"

namespace plumbline::suites {
namespace {

using ::testing::HasSubstr;

OperatorOutcome With(std::uint32_t dtype, Sizes sizes, std::vector<long double> values) {
  OperatorOutcome outcome;
  ReturnedTensor returned;
  returned.tensor = HostTensor::Contiguous(dtype, sizes);
  for (std::size_t i = 0; i < values.size(); ++i) returned.tensor.Set(static_cast<std::int64_t>(i), values[i]);
  returned.strides = ContiguousStrides(sizes);
  outcome.tensors.push_back(std::move(returned));
  outcome.results.push_back({.kind = PL_TENSOR, .integer = 0});
  return outcome;
}

OperatorOutcome Refused(std::uint32_t error_class) {
  OperatorOutcome outcome;
  outcome.error_class = error_class;
  outcome.message = "why";
  return outcome;
}

Expected Due(std::vector<long double> values, long double bound) {
  Expected expected;
  ExpectedTensor tensor{.dtype = PL_DTYPE_FLOAT32,
                        .sizes = {static_cast<std::int64_t>(values.size())},
                        .values = {},
                        .bounds = std::vector<long double>(values.size(), bound)};
  tensor.values = std::move(values);
  expected.tensors.push_back(std::move(tensor));
  return expected;
}

std::string KindOf(const Expected& expected, const OperatorOutcome& a, const OperatorOutcome& b) {
  const std::optional<Disagreement> found = CompareOutcomes(expected, a, b);
  return found ? found->kind : "none";
}

TEST(AgreementTest, ElementsMayBeApartByBothBounds) {
  const auto one = [](long double x) { return With(PL_DTYPE_FLOAT32, {1}, {x}); };
  const long double ulp = 0x1p-23L;
  EXPECT_EQ(KindOf(Due({1}, 2 * ulp), one(1 - 2 * ulp), one(1 + 2 * ulp)), "none");
  EXPECT_EQ(KindOf(Due({1}, 2 * ulp), one(1 - 4 * ulp), one(1 + 4 * ulp)), "values");
  EXPECT_EQ(KindOf(Due({1}, 0), one(1), one(1 + ulp)), "values") << "what is exact may not differ at all";
  EXPECT_EQ(KindOf(Due({1}, std::numeric_limits<long double>::infinity()), one(1), one(5)), "none");
  const long double nan = std::numeric_limits<long double>::quiet_NaN();
  EXPECT_EQ(KindOf(Due({nan}, 0), one(nan), one(nan)), "none");
  EXPECT_EQ(KindOf(Due({nan}, 0), one(nan), one(1)), "values");
}

TEST(AgreementTest, TheRestOfAResultHasToBeTheSame) {
  const OperatorOutcome plain = With(PL_DTYPE_FLOAT32, {2, 2}, {1, 2, 3, 4});
  OperatorOutcome other = plain;
  other.tensors[0].strides = {1, 2};
  EXPECT_EQ(KindOf({}, plain, other), "strides");
  EXPECT_THAT(CompareOutcomes({}, plain, other)->what, HasSubstr("[2, 1] and [1, 2]"));
  other = plain;
  other.tensors[0].shares_with = 0;
  EXPECT_EQ(KindOf({}, plain, other), "sharing");
  EXPECT_EQ(KindOf({}, plain, With(PL_DTYPE_FLOAT64, {2, 2}, {1, 2, 3, 4})), "dtype");
  EXPECT_EQ(KindOf({}, plain, With(PL_DTYPE_FLOAT32, {4}, {1, 2, 3, 4})), "sizes");
  EXPECT_EQ(KindOf({}, plain, plain), "none");
}

TEST(AgreementTest, TheTensorsOfAListAreCompared) {
  OperatorOutcome list = With(PL_DTYPE_FLOAT32, {1}, {1});
  list.results = {Argument::List({{.kind = PL_TENSOR, .integer = 0}})};
  OperatorOutcome other = list;
  EXPECT_EQ(KindOf(Due({1}, 0), list, other), "none");
  other.tensors[0].tensor.Set(0, 2);
  EXPECT_EQ(KindOf(Due({1}, 0), list, other), "values");
}

TEST(AgreementTest, RefusalsHaveToBeOfOneClass) {
  const OperatorOutcome done = With(PL_DTYPE_FLOAT32, {1}, {1});
  EXPECT_EQ(KindOf(Due({1}, 0), done, Refused(PL_ERROR_INVALID_ARGUMENT)), "error");
  EXPECT_EQ(KindOf({}, Refused(PL_ERROR_OVERFLOW), Refused(PL_ERROR_INVALID_ARGUMENT)), "error");
  EXPECT_EQ(KindOf({}, Refused(PL_ERROR_OVERFLOW), Refused(PL_ERROR_OVERFLOW)), "none");
  const Expected either{{PL_ERROR_NO_DTYPE, PL_ERROR_INVALID_ARGUMENT}, "both hold", {}};
  EXPECT_EQ(KindOf(either, Refused(PL_ERROR_NO_DTYPE), Refused(PL_ERROR_INVALID_ARGUMENT)), "none");
}

}  // namespace
}  // namespace plumbline::suites
