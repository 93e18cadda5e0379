// The programs, run as a user runs them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace plumbline::perf {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// The exit status, a blank, and all that it said.
std::string RunProgram(const std::string& arguments) {
  const char* build = std::getenv("PLUMBLINE_BUILD");
  if (build == nullptr) return "PLUMBLINE_BUILD is not set: run this test through ctest";
  std::FILE* pipe = popen((std::string(build) + "/bin/plumbline-" + arguments + " 2>&1").c_str(), "r");
  std::string said;
  for (int c; (c = std::fgetc(pipe)) != EOF;) said += static_cast<char>(c);
  const int status = pclose(pipe);
  return std::to_string(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status)) + " " + said;
}

TEST(BenchMainTest, AFilterThatMatchesNothingIsBadInput) {
  const std::string names = "`plumbline bench --backend floor --benchmark_list_tests=true` prints their names.\n";
  for (const char* list : {"", " --benchmark_list_tests=true"}) {
    EXPECT_THAT(RunProgram(std::string("bench --backend floor --benchmark_filter=NOSUCH") + list),
                AllOf(StartsWith("2 "), HasSubstr("plumbline bench: --benchmark_filter=NOSUCH matches no operation"),
                      HasSubstr(names)));
  }
  EXPECT_THAT(RunProgram("bench --backend=floor '--benchmark_filter=NO('"),
              AllOf(StartsWith("2 "), HasSubstr("regular expression"), HasSubstr("--benchmark_filter=NO( matches no"),
                    HasSubstr(names)));
  EXPECT_THAT(RunProgram("bench --backend floor --benchmark_filter=call --benchmark_list_tests=true"),
              AllOf(StartsWith("0 floor/"), Not(HasSubstr("matches no"))));
}

TEST(BenchMainTest, ATextThatNoOperationHoldsIsBadInput) {
  EXPECT_THAT(RunProgram("instructions --backend floor --only NOSUCH"),
              StartsWith("2 plumbline instructions: --only NOSUCH: no operation's name holds this text; there are "));
}

TEST(BenchMainTest, OptionsThatThereAreNot) {
  EXPECT_THAT(RunProgram("bench --bakcend floor"), StartsWith("2 plumbline bench: there is no option '--bakcend'"));
  EXPECT_THAT(RunProgram("bench --backend"), StartsWith("2 plumbline bench: --backend needs a value"));
}

}  // namespace
}  // namespace plumbline::perf
