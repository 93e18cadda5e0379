// The program, run as a user runs it; no target has to be built for what it refuses.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace plumbline::fuzz {
namespace {

using ::testing::HasSubstr;

// The exit status, a blank, and all that it said.
std::string RunFuzz(const std::string& arguments) {
  const char* build = std::getenv("PLUMBLINE_BUILD");
  if (build == nullptr) return "PLUMBLINE_BUILD is not set: run this test through ctest";
  std::FILE* pipe = popen((std::string(build) + "/bin/plumbline-fuzz " + arguments + " 2>&1").c_str(), "r");
  std::string said;
  for (int c; (c = std::fgetc(pipe)) != EOF;) said += static_cast<char>(c);
  const int status = pclose(pipe);
  return std::to_string(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status)) + " " + said;
}

TEST(FuzzMain, NumbersHaveBounds) {
  for (const char* minutes : {"nan", "inf", "-inf", "-1", "0", "1e300", "0.001", "100001", "ten", "1m", "''"}) {
    EXPECT_THAT(RunFuzz(std::string("--minutes ") + minutes),
                ::testing::AllOf(::testing::StartsWith("2 plumbline fuzz: --minutes: '"),
                                 HasSubstr("' is no time from 0.01 to 100000 minutes\nSee plumbline fuzz --help.\n")));
  }
  for (const char* jobs : {"nan", "0", "-1", "257", "1.5", "0x10", "99999999999999999999"}) {
    EXPECT_THAT(RunFuzz(std::string("--jobs ") + jobs),
                ::testing::AllOf(::testing::StartsWith("2 plumbline fuzz: --jobs: '"),
                                 HasSubstr("' is no whole number from 1 to 256\n")));
  }
}

TEST(FuzzMain, WhatHasNoEffectOrIsNotThereIsRefused) {
  EXPECT_THAT(RunFuzz("--list --minutes 3 --target schedules --out x --corpus y --jobs 2"),
              ::testing::StartsWith("2 plumbline fuzz: --minutes, --target, --corpus, --out and --jobs have no effect "
                                    "beside --list, which runs nothing; leave them out\n"));
  EXPECT_THAT(RunFuzz("--out ''"), ::testing::StartsWith("2 plumbline fuzz: --out is given '', which says nothing"));
  EXPECT_THAT(RunFuzz("--target shcedules"), HasSubstr("there is no such target; did you mean 'schedules'?"));
  EXPECT_THAT(RunFuzz("--minuts 1"), HasSubstr("there is no option '--minuts'; did you mean '--minutes'?"));
  EXPECT_THAT(RunFuzz("--list"), ::testing::StartsWith("0 schema_text "));
}

}  // namespace
}  // namespace plumbline::fuzz
