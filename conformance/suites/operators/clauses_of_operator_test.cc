#include "conformance/suites/operators/clauses_of_operator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "conformance/harness/case.h"
#include "conformance/suites/operators/operator_cases.h"

namespace plumbline::suites {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;

TEST(ClausesOfOperator, FollowFromItsRow) {
  EXPECT_THAT(ClausesOfOperator("add.Tensor"),
              ElementsAre("OPER-010", "OPER-020", "OPER-038", "OPER-050", "OPER-051", "OPER-057", "OPER-060",
                          "OPER-061", "OPER-070", "OPER-080", "OPER-100", "TENS-044"));
  EXPECT_THAT(ClausesOfOperator("sum.dim_IntList"),
              ElementsAre("OPER-014", "OPER-022", "OPER-024", "OPER-038", "OPER-052", "OPER-057", "OPER-060",
                          "OPER-062", "OPER-063", "OPER-080", "OPER-100", "TENS-044"));
  EXPECT_THAT(ClausesOfOperator("mm"),
              ElementsAre("OPER-016", "OPER-038", "OPER-053", "OPER-066", "OPER-080", "OPER-100", "TENS-044"));
  EXPECT_THAT(ClausesOfOperator("zeros"), ElementsAre("OPER-110"));
}

TEST(ClausesOfOperator, OfWhatIsWrittenAreThoseOfWriting) {
  EXPECT_THAT(ClausesOfOperator("add_.Tensor"),
              ElementsAre("OPER-008", "OPER-020", "OPER-030", "OPER-031", "OPER-032", "OPER-035", "OPER-036",
                          "OPER-038", "OPER-050", "OPER-051", "OPER-057", "OPER-060", "OPER-061", "OPER-070",
                          "OPER-080", "TENS-040", "TENS-044"));
  EXPECT_THAT(ClausesOfOperator("add.out"), IsSupersetOf({"OPER-030", "OPER-033", "OPER-035", "OPER-037"}));
  EXPECT_THAT(ClausesOfOperator("mm.out"), Not(Contains("OPER-035"))) << "it is drawn for elementwise operators only";
  EXPECT_THAT(ClausesOfOperator("resize_"), Not(Contains("TENS-040"))) << "resize_ does not count";
}

TEST(ClausesOfOperator, AreNotThoseThatNoCallCouldShow) {
  EXPECT_THAT(ClausesOfOperator("gather"), Not(Contains("OPER-094"))) << "indices are int64";
  EXPECT_THAT(ClausesOfOperator("gather"), Not(Contains("OPER-091"))) << "no index is just negative";
  EXPECT_THAT(ClausesOfOperator("index.Tensor"), IsSupersetOf({"OPER-090", "OPER-091", "OPER-093"}));
  EXPECT_THAT(ClausesOfOperator("addcmul"), Not(Contains("OPER-010"))) << "its tensors are of one dtype";
  EXPECT_THAT(ClausesOfOperator("exp"), Not(Contains("OPER-070"))) << "a bound forgives the sign of a zero";
  EXPECT_THAT(ClausesOfOperator("exp"), Not(Contains("OPER-023"))) << "strides of elementwise results are not compared";
  EXPECT_THAT(ClausesOfOperator("linspace"), Not(Contains("OPER-110"))) << "it is given its dtype";
  EXPECT_THAT(ClausesOfOperator("outer"), Not(Contains("OPER-016"))) << "it promotes";
  EXPECT_THAT(ClausesOfOperator("pow.Tensor_Tensor"), Not(Contains("OPER-011"))) << "its exponent is a tensor";
  EXPECT_THAT(ClausesOfOperator("fill_.Scalar"), Not(Contains("OPER-035"))) << "it may overlap itself";
  EXPECT_THAT(ClausesOfOperator("sort.values_stable"), Not(Contains("OPER-090"))) << "it writes its indices";
  EXPECT_THAT(ClausesOfOperator("item"), Not(Contains("OPER-100"))) << "it gives no tensor";
  EXPECT_THAT(ClausesOfOperator("no_such"), IsEmpty());
}

TEST(ClausesOfOperator, AreThoseOfTheCases) {
  const std::vector<harness::Case> cases = OperatorCases();
  const auto add =
      std::find_if(cases.begin(), cases.end(), [](const auto& one) { return one.id == "operators/add.Tensor"; });
  ASSERT_NE(add, cases.end());
  EXPECT_EQ(add->clauses, ClausesOfOperator("add.Tensor"));
}

}  // namespace
}  // namespace plumbline::suites
