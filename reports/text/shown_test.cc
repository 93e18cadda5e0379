#include "reports/text/shown.h"

#include <gtest/gtest.h>

namespace plumbline::reports {
namespace {

using namespace std::string_literals;

TEST(Shown, EscapesWhatATerminalObeys) {
  EXPECT_EQ(Visible("plain, with\ttabs\nand lines; ümläut — 漢字 😀"), "plain, with\ttabs\nand lines; ümläut — 漢字 😀");
  EXPECT_EQ(Visible("a\x1b[2Jb\rc\ad\x7f\0e"s), "a\\x1b[2Jb\\x0dc\\x07d\\x7f\\x00e");
  EXPECT_EQ(Visible("csi \xc2\x9b, bare \x9b"), "csi \\u009b, bare \\x9b");
  EXPECT_EQ(Visible("\xe2\x80\xae\xe2\x81\xa6\xe2\x80\xa8\xef\xbb\xbf"), "\\u202e\\u2066\\u2028\\ufeff");
}

TEST(Shown, EscapesWhatIsNoUtf8) {
  EXPECT_EQ(Visible("\xff\xc3"), "\\xff\\xc3");
  EXPECT_EQ(Visible("\xc0\x80"), "\\xc0\\x80") << "longer than need be";
  EXPECT_EQ(Visible("\xe0\x80\x80"), "\\xe0\\x80\\x80");
  EXPECT_EQ(Visible("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "half of a pair";
  EXPECT_EQ(Visible("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "beyond the last character";
  EXPECT_EQ(Visible("\xef\xbf\xbe"), "\\ufffe") << "not for XML";
}

TEST(Shown, FitsIntoALine) { EXPECT_EQ(ShownInLine("a\nb\tc\x1b"), "a\\x0ab\\x09c\\x1b"); }

TEST(Shown, CutsLongLinesAndCountsTheRest) {
  const std::string full(kLongestLine, 'x');
  EXPECT_EQ(Shown(full + "\n" + full), full + "\n" + full);
  EXPECT_EQ(Shown(full + std::string(38000, 'y') + "\nnext"), full + "... (38,000 more bytes)\nnext");
  const std::string characters = Shown(full.substr(1) + "ü" + "z");
  EXPECT_EQ(characters, full.substr(1) + "... (3 more bytes)") << "no character is cut in two";
}

}  // namespace
}  // namespace plumbline::reports
