// The waivers of PyTorch's operators say all that the quick tier finds in them, and nothing that it does not.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "conformance/selftest/run_tool.h"

namespace plumbline::selftest {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(TorchOperatorsTest, NothingFailsButWhatIsWaived) {
  const Folder folder;
  const Ran ran = RunTool("check --profile operators --tier quick --backend torch --out " + folder.path());
  EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("torch.pytorch-1.13.operators.waivers.toml"), HasSubstr("waived:"),
                             Not(HasSubstr("error waiver"))));
}

}  // namespace
}  // namespace plumbline::selftest
