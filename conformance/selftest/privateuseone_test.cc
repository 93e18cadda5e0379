// A PyTorch device of a stranger's, checked as its author would check it: conformance/adapters/privateuseone.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "conformance/selftest/run_tool.h"
#include "reports/json/json.h"

namespace plumbline::selftest {
namespace {

using reports::Verdict;
using ::testing::AllOf;
using ::testing::HasSubstr;

const std::string kDevice = " --device privateuseone";

std::string Fenced() { return " --backend torch --load " + BuildFolder() + "/lib/plumbline/extensions/libfenced.so"; }

std::string WrongKernels() { return " --load " + BuildFolder() + "/lib/plumbline/selftest/wrong_kernels_extension.so"; }

class PrivateUseOneTest : public ::testing::Test {
 protected:
  // Of the cases of the quick tier that `more` selects.
  void Check(const std::string& more) {
    ran_ = RunTool("check --profile operators --tier quick --waivers none --out " + folder_.path() + "/out --report " +
                   folder_.path() + "/report" + Fenced() + more);
    const reports::ReadResult read = reports::FromJson(folder_.Read("report/report.json"));
    ASSERT_EQ(read.error, "") << ran_.out << ran_.err;
    for (const reports::CaseResult& result : read.run.cases) verdicts_[result.verdict].push_back(result.id);
  }
  std::size_t Count(Verdict verdict) { return verdicts_[verdict].size(); }

  const Folder folder_;
  Ran ran_;
  std::map<Verdict, std::vector<std::string>> verdicts_;
};

// Where PyTorch's CPU is wrong, so is the fallback to it; but nothing dies, and most is right.
TEST_F(PrivateUseOneTest, RunsToAReport) {
  Check(kDevice +
        " -f tensors -f 'operators/OPER-03*' -f 'operators/atan*' -f 'operators/index*' -f 'operators/conv*'");
  EXPECT_EQ(verdicts_[Verdict::kCrash], std::vector<std::string>()) << ran_.out;
  EXPECT_EQ(verdicts_[Verdict::kTimeout], std::vector<std::string>()) << ran_.out;
  EXPECT_EQ(verdicts_[Verdict::kHarnessError], std::vector<std::string>()) << ran_.out;
  EXPECT_GE(Count(Verdict::kPass), 70U) << ran_.out;
}

TEST_F(PrivateUseOneTest, KernelsOfItsOwnAreRight) {
  std::string cases;
  for (const char* name : {"add.Tensor", "add.out", "sub_.Tensor", "mul.Tensor", "neg", "abs", "relu", "relu.out",
                           "fill_.Scalar", "sum.dim_IntList", "mm.out", "eq.Scalar", "where.self"}) {
    cases += std::string(" --case operators/") + name;
  }
  Check(kDevice + cases);
  EXPECT_EQ(ran_.status, 0) << ran_.out << ran_.err;
  EXPECT_EQ(Count(Verdict::kPass), 13U) << ran_.out;
}

TEST_F(PrivateUseOneTest, TheFallbackIsRight) {
  Check(kDevice + " --case operators/atan2_ --case operators/scatter_.src --case operators/sort.stable");
  EXPECT_EQ(ran_.status, 0) << ran_.out << ran_.err;
  EXPECT_EQ(Count(Verdict::kPass), 3U) << ran_.out;
}

TEST_F(PrivateUseOneTest, AWrongKernelFails) {
  Check(WrongKernels() + kDevice + " --case operators/sub.Tensor --case operators/mul.Tensor");
  EXPECT_EQ(ran_.status, 1) << ran_.out << ran_.err;
  EXPECT_EQ(verdicts_[Verdict::kFail], std::vector<std::string>{"operators/sub.Tensor"}) << ran_.out;
  EXPECT_EQ(verdicts_[Verdict::kPass], std::vector<std::string>{"operators/mul.Tensor"}) << ran_.out;
}

TEST_F(PrivateUseOneTest, AKernelOfTheCpuOnItsMemoryCrashes) {
  Check(WrongKernels() + kDevice + " --case operators/index_select");
  EXPECT_EQ(verdicts_[Verdict::kCrash], std::vector<std::string>{"operators/index_select"}) << ran_.out;
  EXPECT_THAT(ran_.out, HasSubstr("signal 11"));
}

TEST_F(PrivateUseOneTest, IsProbed) {
  const Ran ran = RunTool("probe" + Fenced() + kDevice + " -f mm -f atan --calls 4");
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("on privateuseone"), HasSubstr("2 operators: 2 right")));
}

TEST_F(PrivateUseOneTest, ItsDispatchIsChecked) {
  const Ran ran = RunTool("check --tier quick -f introspection" + Fenced());
  EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
}

}  // namespace
}  // namespace plumbline::selftest
