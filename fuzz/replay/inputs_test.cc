#include "fuzz/replay/inputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace plumbline::fuzz {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class Inputs : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "plumbline-test-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override {
    std::error_code failed;
    fs::remove_all(folder_, failed);
  }
  std::string Write(const std::string& name, const std::string& text) {
    const fs::path path = fs::path(folder_) / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
    return path.string();
  }
  std::string WhyNotCollected(const std::string& path) {
    std::vector<std::string> files;
    return CollectInputs(path, files).value_or("");
  }
  std::string WhyNotRead(const std::string& path) {
    std::vector<std::uint8_t> bytes;
    return ReadInput(path, bytes).value_or("");
  }

  std::string folder_;
};

TEST_F(Inputs, AFolderIsSearched) {
  const std::string one = Write("one", "1"), deep = Write("a/b/deep", "22");
  fs::create_symlink("/nonexistent", folder_ + "/dangling");
  fs::create_symlink("loop", folder_ + "/loop");
  ASSERT_EQ(mkfifo((folder_ + "/pipe").c_str(), 0600), 0);
  std::vector<std::string> files;
  EXPECT_EQ(CollectInputs(folder_, files), std::nullopt);
  EXPECT_THAT(files, ::testing::UnorderedElementsAre(one, deep));
  EXPECT_EQ(CollectInputs(one, files), std::nullopt);
  EXPECT_EQ(files.back(), one);
}

TEST_F(Inputs, AllBytesAreRead) {
  std::string text(200'000, 'x');
  text[70'000] = '\0';
  std::vector<std::uint8_t> bytes = {1, 2, 3};
  EXPECT_EQ(ReadInput(Write("long", text), bytes), std::nullopt);
  EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), text.begin(), text.end()));
  EXPECT_EQ(ReadInput(Write("empty", ""), bytes), std::nullopt);
  EXPECT_TRUE(bytes.empty());
}

TEST_F(Inputs, WhatIsNoneIsNamed) {
  EXPECT_EQ(WhyNotCollected(folder_ + "/none"), folder_ + "/none: there is no such file or folder");
  EXPECT_EQ(WhyNotCollected(""), ": there is no such file or folder");
  fs::create_symlink("loop", folder_ + "/loop");
  EXPECT_THAT(WhyNotCollected(folder_ + "/loop"), HasSubstr("/loop: it cannot be looked at ("));
  EXPECT_THAT(WhyNotCollected(Write("file", "") + "/x"), HasSubstr("file/x: there is no such file"));
  EXPECT_EQ(WhyNotCollected("/dev/zero"), "/dev/zero: this is neither a file nor a folder");
  // What only reading tells.
  EXPECT_THAT(WhyNotRead("/proc/self/mem"), HasSubstr("/proc/self/mem: it cannot be read (Input/output error)"));
  EXPECT_THAT(WhyNotRead(folder_), HasSubstr(": it cannot be read (Is a directory)"));
  EXPECT_THAT(WhyNotRead(folder_ + "/none"), HasSubstr("/none: it cannot be read (No such file or directory)"));
  fs::resize_file(folder_ + "/file", std::uintmax_t{1} << 40);
  EXPECT_THAT(WhyNotRead(folder_ + "/file"), HasSubstr("/file: it holds more than 67108864 bytes"));
}

// As a user sees it.
TEST_F(Inputs, AReplayLeavesWithTwo) {
  const char* build = std::getenv("PLUMBLINE_BUILD");
  ASSERT_NE(build, nullptr) << "run this test through ctest";
  const auto run = [&](const std::string& arguments) {
    const int status = std::system(
        (std::string(build) + "/fuzzers/waiver_text_replay " + arguments + " >" + folder_ + "/out 2>&1").c_str());
    std::ifstream in(folder_ + "/out");
    const std::string said{std::istreambuf_iterator<char>(in), {}};
    return std::to_string(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status)) + " " + said;
  };
  EXPECT_THAT(run("/proc/self/mem"), HasSubstr("2 /proc/self/mem: it cannot be read ("));
  EXPECT_THAT(run(folder_ + "/none"), HasSubstr("none: there is no such file or folder; give inputs of the target\n"));
  EXPECT_THAT(run("/dev/zero"), ::testing::StartsWith("2 /dev/zero: this is neither"));
  EXPECT_THAT(run(""), ::testing::StartsWith("2 usage: "));
  EXPECT_EQ(run(Write("in/empty", "") + " " + folder_ + "/in"), "0 2 inputs\n");
}

}  // namespace
}  // namespace plumbline::fuzz
