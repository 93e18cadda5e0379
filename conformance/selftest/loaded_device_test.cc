// A device that is loaded, judged as its author would judge it: the OpenCL plug-in, and one with a mistake.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "conformance/selftest/run_tool.h"
#include "reports/json/json.h"

namespace plumbline::selftest {
namespace {

using reports::Verdict;
using ::testing::AllOf;
using ::testing::HasSubstr;

std::string Device(const std::string& library) {
  return " --backend " + BuildFolder() + "/lib/plumbline/backends/reference.so --load " + BuildFolder() +
         "/lib/plumbline/" + library + " --device privateuseone";
}
std::string OpenCl() { return Device("devices/libplumbline_opencl.so"); }

TEST(LoadedDeviceTest, TheProfileRunsToAReportWithoutAFailure) {
  const Folder folder;
  const Ran ran = RunTool("check --profile operators --tier quick --report " + folder.path() + OpenCl());
  EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
  const reports::ReadResult read = reports::FromJson(folder.Read("report.json"));
  ASSERT_EQ(read.error, "");
  std::map<std::string, Verdict> verdicts;
  std::map<Verdict, int> counts;
  for (const reports::CaseResult& one : read.run.cases) {
    verdicts[one.id] = one.verdict;
    if (one.id.starts_with("operators/")) ++counts[one.verdict];
  }
  // What is written in OpenCL C, and what is made of it.
  for (const char* name : {"abs",
                           "add.Scalar",
                           "add.Tensor",
                           "add_.Tensor",
                           "add.out",
                           "cat",
                           "copy_",
                           "div.Tensor",
                           "eq.Tensor",
                           "exp",
                           "fill_.Scalar",
                           "ge.Tensor",
                           "lt.Tensor",
                           "maximum",
                           "mm",
                           "mul.Tensor",
                           "neg",
                           "neg_",
                           "relu",
                           "sqrt",
                           "sub.Tensor",
                           "sum",
                           "sum.dim_IntList",
                           "sum.IntList_out",
                           "where.self",
                           "zero_",  //
                           "arange",
                           "clone",
                           "contiguous",
                           "empty.memory_format",
                           "item",
                           "matmul",
                           "stack",
                           "to.dtype",
                           "transpose.int",
                           "view",
                           "zeros"}) {
    EXPECT_EQ(verdicts["operators/" + std::string(name)], Verdict::kPass) << name;
  }
  for (const char* name : {"tanh", "logsumexp", "index.Tensor", "convolution", "sort.stable", "add_.Nonesuch"}) {
    if (verdicts.contains("operators/" + std::string(name))) {
      EXPECT_EQ(verdicts["operators/" + std::string(name)], Verdict::kUnsupported) << name;
    }
  }
  EXPECT_EQ(verdicts["operators/OPER-006-one-element"], Verdict::kPass);
  EXPECT_EQ(verdicts["tensors/TENS-041-views-share"], Verdict::kPass);
  EXPECT_GE(counts[Verdict::kUnsupported], 100);
}

TEST(LoadedDeviceTest, ProbeTellsDtypesApart) {
  const Ran ran = RunTool("probe -f neg -f tanh --calls 4" + OpenCl());
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("on privateuseone"),
                             HasSubstr("\nneg                               -        -        -        +        +      "
                                       "  -        +        -        -        -\n"),
                             HasSubstr("2 operators: 1 right, 0 differ or die for some dtype, 1 not there")));
}

TEST(LoadedDeviceTest, AWrongKernelIsCaught) {
  const Ran ran = RunTool("check --profile operators --tier quick --case operators/neg --case operators/abs" +
                          Device("selftest/opencl_wrong.so"));
  EXPECT_EQ(ran.status, 1) << ran.out << ran.err;
  EXPECT_THAT(ran.out,
              AllOf(HasSubstr("fail operators/neg"), HasSubstr("1 pass, 1 fail"), HasSubstr("plumbline replay"),
                    HasSubstr("--device privateuseone"), HasSubstr("opencl_wrong.so")));
}

TEST(LoadedDeviceTest, WithoutAPlatformItSaysWhatToInstall) {
  const Ran ran = RunTool("probe -f neg" + OpenCl(), {{"OCL_ICD_VENDORS", "/nonexistent"}});
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, AllOf(HasSubstr("no OpenCL platform"), HasSubstr("pocl-opencl-icd")));
  const Ran number = RunTool("probe -f neg" + OpenCl(), {{"PLUMBLINE_OPENCL_DEVICE", "999"}});
  EXPECT_EQ(number.status, 2);
  EXPECT_THAT(number.err, AllOf(HasSubstr("PLUMBLINE_OPENCL_DEVICE"), HasSubstr("999")));
}

}  // namespace
}  // namespace plumbline::selftest
