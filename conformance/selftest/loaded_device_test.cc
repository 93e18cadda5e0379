// A device that is loaded, judged as its author would judge it: the OpenCL plug-in, and one with a mistake.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "conformance/selftest/run_tool.h"
#include "reports/json/json.h"

namespace plumbline::selftest {
namespace {

using reports::Verdict;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

std::string Device(const std::string& library) {
  return " --backend " + BuildFolder() + "/lib/plumbline/backends/reference.so --load " + BuildFolder() +
         "/lib/plumbline/" + library + " --device privateuseone";
}
std::string OpenCl() { return Device("devices/libplumbline_opencl.so"); }

// By case, of a run that has to be without a failure.
std::map<std::string, Verdict> Check(const std::string& filters) {
  const Folder folder;
  const Ran ran = RunTool("check --profile operators --tier quick --report " + folder.path() + filters + OpenCl());
  EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
  const reports::ReadResult read = reports::FromJson(folder.Read("report.json"));
  EXPECT_EQ(read.error, "");
  std::map<std::string, Verdict> verdicts;
  for (const reports::CaseResult& one : read.run.cases) verdicts[one.id] = one.verdict;
  return verdicts;
}

// What is written in OpenCL C, then what is made of it.
const std::vector<std::string> kThere = {"abs",
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
                                         "maximum",
                                         "mm",
                                         "mul.Tensor",
                                         "neg",
                                         "relu",
                                         "sqrt",
                                         "sum",
                                         "sub.Tensor",
                                         "sum.out",
                                         "where.self",
                                         "sum.dim_IntList",
                                         "sum.IntList_out",  //
                                         "arange",
                                         "clone",
                                         "contiguous",
                                         "item",
                                         "matmul",
                                         "stack",
                                         "to.dtype",
                                         "view",
                                         "zeros",
                                         "transpose.int",
                                         "empty.memory_format"};
const std::vector<std::string> kNotThere = {"tanh",        "logsumexp",   "index.Tensor",
                                            "convolution", "sort.stable", "softmax.int"};

void ExpectTheirVerdicts(const std::map<std::string, Verdict>& verdicts) {
  for (const auto& [names, verdict] : {std::pair(&kThere, Verdict::kPass), {&kNotThere, Verdict::kUnsupported}}) {
    for (const std::string& name : *names) {
      const auto found = verdicts.find("operators/" + name);
      ASSERT_NE(found, verdicts.end()) << name;
      EXPECT_EQ(found->second, verdict) << name;
    }
  }
}

TEST(LoadedDeviceTest, OperatorsPassOrAreUnsupported) {
  std::string filters;
  for (const auto* names : {&kThere, &kNotThere}) {
    for (const std::string& name : *names) filters += " -f operators/" + name;
  }
  ExpectTheirVerdicts(Check(filters));
}

TEST(LoadedDeviceTest, TensorsPass) {
  const std::map<std::string, Verdict> verdicts = Check(" -f 'tensors/*' -f OPER-006");
  for (const char* name : {"operators/OPER-006-one-element", "tensors/TENS-030-select", "tensors/TENS-040-writes",
                           "tensors/TENS-041-views-share", "tensors/TENS-053-bits", "tensors/TENS-013-from-the-host"}) {
    const auto found = verdicts.find(name);
    ASSERT_NE(found, verdicts.end()) << name;
    EXPECT_EQ(found->second, Verdict::kPass) << name;
  }
}

// Takes a minute: one of the tests of `./dev full`.
TEST(LoadedDeviceTest, DISABLED_TheWholeProfileIsWithoutAFailure) {
  const std::map<std::string, Verdict> verdicts = Check("");
  ExpectTheirVerdicts(verdicts);
  const auto count = [&](Verdict verdict) {
    return std::count_if(verdicts.begin(), verdicts.end(), [&](const auto& one) { return one.second == verdict; });
  };
  EXPECT_GT(count(Verdict::kPass), 200);
  EXPECT_EQ(count(Verdict::kPass) + count(Verdict::kUnsupported), static_cast<std::int64_t>(verdicts.size()));
}

TEST(LoadedDeviceTest, ProbeTellsDtypesApart) {
  const Ran ran = RunTool("probe -f neg -f tanh --calls 4" + OpenCl());
  EXPECT_EQ(ran.status, 0) << ran.err;
  // Of bool it is refused, as it should be.
  EXPECT_THAT(ran.out, AllOf(HasSubstr("on privateuseone"),
                             HasSubstr("2 operators: 1 right, 0 differ or die for some "
                                       "dtype, 1 not there"),
                             ContainsRegex("\nneg +-  +-  +-  +[+]  +[+]  +-  +[+]  +-  +[+]  +-\n")));
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
