#include "conformance/harness/text_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace plumbline::harness {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class TextFileTest : public ::testing::Test {
 protected:
  TextFileTest() : folder_(fs::path(testing::TempDir()) / ("text_file_test." + std::to_string(getpid()))) {
    fs::create_directories(folder_);
  }
  ~TextFileTest() override { fs::remove_all(folder_); }
  std::string Path(const std::string& name) const { return (folder_ / name).string(); }
  std::string Write(const std::string& name, const std::string& bytes) const {
    std::ofstream(Path(name), std::ios::binary) << bytes;
    return Path(name);
  }
  static std::string ErrorOf(const std::string& path) {
    const OrError<std::string> text = ReadTextFile(path, "a list");
    return text.ok() ? "read: " + *text : text.error();
  }
  fs::path folder_;
};

TEST_F(TextFileTest, ReadsTextWhole) {
  const std::string text = "one\n\ttwo \u00e4 \u20ac \U0001F600\r\nthree";
  const OrError<std::string> read = ReadTextFile(Write("good", text), "a list");
  ASSERT_TRUE(read.ok()) << read.error();
  EXPECT_EQ(*read, text);
}

TEST_F(TextFileTest, AByteOrderMarkIsNoText) {
  EXPECT_EQ(ErrorOf(Write("marked", "\xef\xbb\xbfone\n")), "read: one\n");
  EXPECT_THAT(ErrorOf(Write("only", "\xef\xbb\xbf")), HasSubstr("it is empty"));
}

TEST_F(TextFileTest, SaysWhatWhereAndWhatToGive) {
  EXPECT_EQ(ErrorOf(Path("none")), Path("none") + ": there is no such file; give a list");
  EXPECT_EQ(ErrorOf(Write("file", "x") + "/below"), Path("file/below") + ": there is no such file; give a list");
  EXPECT_EQ(ErrorOf(folder_.string()), folder_.string() + ": this is a folder; give a list");
  EXPECT_EQ(ErrorOf(Write("empty", "")), Path("empty") + ": it is empty; give a list");
  EXPECT_THAT(ErrorOf(Write("blank", " \n\t\n")), HasSubstr("it is empty"));
  EXPECT_THAT(ErrorOf(""), StartsWith("'': there is no such file"));
  if (geteuid() != 0) {  // root reads everything
    chmod(Write("secret", "x").c_str(), 0);
    EXPECT_THAT(ErrorOf(Path("secret")), HasSubstr("it cannot be read (Permission denied)"));
  }
  EXPECT_THAT(ErrorOf("/proc/self/mem"), AllOf(HasSubstr("it cannot be read ("), EndsWith("give a list")));
}

// None of them is waited for.
TEST_F(TextFileTest, WhatMayNeverEndIsNoFile) {
  ASSERT_EQ(mkfifo(Path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(ErrorOf(Path("pipe")), Path("pipe") + ": this is a pipe; give a list");
  EXPECT_EQ(ErrorOf("/dev/zero"), "/dev/zero: this is a device; give a list");
  EXPECT_EQ(ErrorOf("/dev/null"), "/dev/null: this is a device; give a list");
  fs::create_symlink("/dev/zero", folder_ / "link");
  EXPECT_THAT(ErrorOf(Path("link")), HasSubstr("this is a device"));
  EXPECT_EQ(NoRegularFile(Path("pipe")), "a pipe");
  EXPECT_EQ(NoRegularFile(folder_.string()), "a folder");
  EXPECT_EQ(NoRegularFile(Write("file", "x")), std::nullopt);
  EXPECT_EQ(NoRegularFile(Path("none")), std::nullopt);
}

TEST_F(TextFileTest, EachKindHasALimit) {
  const std::string file = Write("file", "x");
  fs::resize_file(file, kMostOfAPerson + 1);
  EXPECT_EQ(ErrorOf(file), file + ": it holds more than 4 MiB; give a list");
  fs::resize_file(file, std::uintmax_t{1} << 40);  // nobody waits for a terabyte of zeros
  EXPECT_THAT(ReadTextFile(file, "a list", kMostOfAProgram).error(), HasSubstr("more than 64 MiB"));
  EXPECT_TRUE(ReadTextFile(Write("file", std::string(kMostOfAPerson, 'x')), "a list").ok());
}

TEST_F(TextFileTest, BinaryIsNoText) {
  using namespace std::string_literals;
  EXPECT_THAT(ErrorOf(Write("zero", "a\nb\0c"s)), HasSubstr("it is not UTF-8 text: line 2 has the byte 00"));
  for (const std::string& bad : {"\xff"s, "\xc3"s, "\xc0\x80"s, "\xe2\x82"s, "\xe2\x82x"s, "\x80"s, "\xf5\x80\x80\x80"s,
                                 "\xe0\x80\x80"s, "\xed\xa0\x80"s, "\xf4\x90\x80\x80"s}) {
    EXPECT_THAT(ErrorOf(Write("bad", "a" + bad)), HasSubstr("it is not UTF-8 text: line 1 has the byte ")) << bad;
  }
}

TEST_F(TextFileTest, WhatCannotBeWrittenIsSeenBefore) {
  const std::string file = Write("file", "x");
  EXPECT_EQ(CannotWriteInto(Path("new/deep")), std::nullopt);
  EXPECT_FALSE(fs::exists(Path("new"))) << "only asked";
  EXPECT_THAT(CannotWriteInto(file).value_or(""), HasSubstr("is a file, not a folder"));
  EXPECT_THAT(CannotWriteInto(file + "/deep").value_or(""), HasSubstr(file + " is a file, not a folder"));
  EXPECT_THAT(CannotWriteInto("").value_or(""), HasSubstr("name of a folder"));
  EXPECT_EQ(CannotWrite(file), std::nullopt);
  EXPECT_EQ(ErrorOf(file), "read: x") << "only asked";
  EXPECT_EQ(CannotWrite(Path("new.json")), std::nullopt);
  EXPECT_THAT(CannotWrite(folder_.string()).value_or(""), HasSubstr("this is a folder"));
  EXPECT_THAT(CannotWrite(Path("none/new.json")).value_or(""), HasSubstr("there is no folder"));
  EXPECT_THAT(CannotWrite(file + "/new.json").value_or(""), HasSubstr("cannot be written"));
  EXPECT_FALSE(fs::exists(Path("new.json"))) << "only asked";
  EXPECT_TRUE(WriteTextFile(file, "y").ok());
  EXPECT_EQ(ErrorOf(file), "read: y");
  EXPECT_THAT(WriteTextFile(folder_.string(), "y").error(), HasSubstr("this is a folder"));
  EXPECT_THAT(WriteTextFile("/dev/full", "y").error(), HasSubstr("it cannot be written (No space left on device)"));
}

// Only trying tells, for root too.
TEST_F(TextFileTest, PlacesThatTakeNothingAreSeenBefore) {
  EXPECT_THAT(CannotWriteInto("/proc/x").value_or(""), HasSubstr("/proc/x: nothing can be written into /proc ("));
  EXPECT_THAT(CannotWriteInto("/proc").value_or(""), HasSubstr("nothing can be written into /proc ("));
  EXPECT_THAT(CannotWrite("/proc/x").value_or(""), HasSubstr("/proc/x: it cannot be written ("));
  EXPECT_THAT(CannotWrite("/dev/full").value_or(""), HasSubstr("it cannot be written (No space left on device)"));
  EXPECT_EQ(CannotWrite("/dev/null"), std::nullopt);
  ASSERT_EQ(mkfifo(Path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(CannotWrite(Path("pipe")), std::nullopt) << "a reader may still come";
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1) << "nothing is left behind";
}

}  // namespace
}  // namespace plumbline::harness
