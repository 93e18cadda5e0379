#include "conformance/harness/arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace plumbline::harness {
namespace {

using ::testing::HasSubstr;
using ::testing::internal::CaptureStderr;
using ::testing::internal::GetCapturedStderr;

// A program with an option of each kind.
class Arguments : public ::testing::Test {
 protected:
  Arguments() {
    app_.add_option("file", file_, "what to read")->type_name("FILE");
    app_.add_option("-n,--name", name_, "a name")->type_name("NAME");
    app_.add_option("--many", many_, "names")->type_name("NAME")->allow_extra_args(false);
    app_.add_option("--minutes", minutes_, "how long")->check(Duration(0.5, 90, "minutes"))->type_name("N");
    app_.add_flag("--flag", flag_, "a flag");
  }
  // The status, and what was said; no status: it goes on.
  std::optional<int> Parse(const std::vector<std::string>& words) {
    std::vector<char*> argv;
    std::vector<std::string> all = {"tool"};
    all.insert(all.end(), words.begin(), words.end());
    for (std::string& word : all) argv.push_back(word.data());
    CaptureStderr();
    const std::optional<int> status = ParseCommandLine(app_, static_cast<int>(argv.size()), argv.data());
    said_ = GetCapturedStderr();
    return status;
  }

  CLI::App app_{"", "tool"};
  std::string file_, name_, where_, said_;
  std::vector<std::string> many_;
  double minutes_ = 1;
  bool flag_ = false;
};

TEST_F(Arguments, AnEmptyTextIsNoValue) {
  EXPECT_EQ(Parse({"--name", ""}), kBadInput);
  EXPECT_EQ(said_,
            "tool: --name is given '', which says nothing; give NAME or leave it out: a name\nSee tool --help.\n");
  EXPECT_EQ(Parse({"--many", "a", "--many", ""}), kBadInput);
  EXPECT_THAT(said_, HasSubstr("--many is given ''"));
  EXPECT_EQ(Parse({""}), kBadInput);
  EXPECT_THAT(said_, HasSubstr("tool: '' is no FILE: what to read\n"));
  EXPECT_EQ(Parse({"x", "--name", " ", "--many", "a", "--flag"}), std::nullopt) << said_;
  CLI::App* command = app_.add_subcommand("go", "goes");
  command->add_option("--where", where_, "a place")->required()->type_name("PLACE");
  EXPECT_EQ(Parse({"go", "--where", ""}), kBadInput);
  EXPECT_EQ(said_, "tool go: --where is given '', which says nothing; give PLACE: a place\nSee tool go --help.\n");
}

TEST_F(Arguments, WhatHasNoEffectIsNamed) {
  ASSERT_EQ(Parse({"x", "-n", "y", "--flag"}), std::nullopt);
  CaptureStderr();
  EXPECT_EQ(RefuseIdle(app_, {"--many"}, "here"), std::nullopt);
  EXPECT_EQ(RefuseIdle(app_, {"--many", "--name"}, "without --many"), kBadInput);
  EXPECT_EQ(RefuseIdle(app_, {"--flag", "--name", "file"}, "here"), kBadInput);
  EXPECT_EQ(GetCapturedStderr(),
            "tool: --name has no effect without --many; leave it out\nSee tool --help.\n"
            "tool: --flag, --name and FILE have no effect here; leave them out\nSee tool --help.\n");
}

TEST_F(Arguments, TimesHaveBounds) {
  for (const char* time : {"nan", "-nan", "inf", "1e300", "1e999", "0", "-1", "0.49", "90.1", "1m", " 1", ""}) {
    EXPECT_EQ(Parse({"--minutes", time}), kBadInput) << time;
    EXPECT_THAT(said_, HasSubstr("tool: --minutes: '" + std::string(time) + "' is no time from 0.5 to 90 minutes\n"));
  }
  for (const char* time : {"0.5", "90", "1e1", "7.25"}) EXPECT_EQ(Parse({"--minutes", time}), std::nullopt) << time;
}

}  // namespace
}  // namespace plumbline::harness
