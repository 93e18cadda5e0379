#include "conformance/harness/waivers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace plumbline::harness {
namespace {

using ::testing::StartsWith;

std::string Refusal(const std::string& text) {
  const OrError<Waivers> waivers = ReadWaivers(text, "w.toml");
  return waivers.ok() ? "" : waivers.error();
}

std::string WaiverWith(const std::string& reference) {
  return "# r\xc3\xa9sum\xc3\xa9\n[[waiver]]\nid = \"w\"\nclause = \"RES-004\"\ncause = \"bug\"\nreference = " +
         reference + "\nowner = \"us\"\nexpires = \"2027-06-30\"\ncases = [\"a/b\"]\noutcome = \"crash\"\n";
}

TEST(Waivers, TextBeyondAsciiMayStandInStringsAndComments) {
  for (const char* quotes : {"\"", "'", "\"\"\"", "'''"}) {
    const OrError<Waivers> waivers = ReadWaivers(WaiverWith(std::string(quotes) + "J\xc3\xb6rg" + quotes), "w.toml");
    ASSERT_TRUE(waivers.ok()) << waivers.error();
    EXPECT_EQ(waivers->all.front().reference, "J\xc3\xb6rg");
  }
}

TEST(Waivers, ADayHasToExist) {
  std::string text = WaiverWith("\"r\"");
  text.replace(text.find("2027-06-30"), 10, "2027-02-31");
  EXPECT_THAT(Refusal(text), ::testing::HasSubstr("'2027-02-31' is neither a day (2027-06-30) nor a version (2.9)"));
  text.replace(text.find("2027-02-31"), 10, "2028-02-29");
  EXPECT_EQ(Refusal(text), "");
}

TEST(Waivers, ItsCasesHaveToBeEvidenceForItsClauses) {
  const OrError<Waivers> waivers = ReadWaivers(WaiverWith("\"r\""), "w.toml");
  ASSERT_TRUE(waivers.ok()) << waivers.error();
  reports::CaseResult result;
  result.id = "a/b";
  result.verdict = reports::Verdict::kWaived;
  result.waiver = "w";
  const auto problem = [&] {
    return JudgeWaivers(*waivers, {result},
                        {.cases = {"a/b"}, .clauses = {}, .release = "", .version = "1", .today = "2026-01-01"})
        .front()
        .problem;
  };
  result.clauses = {"RES-005"};
  EXPECT_EQ(problem(), "none of its cases is evidence for RES-004");
  result.clauses = {"RES-005", "RES-004"};
  EXPECT_EQ(problem(), "");
}

// Each of these once led the TOML library astray.
TEST(Waivers, BrokenTomlIsRefusedWithItsLine) {
  EXPECT_THAT(Refusal("[*waiver]]\n"), StartsWith("w.toml:1:"));
  EXPECT_EQ(Refusal(std::string("\n[\0[waiver]]\n", 13)),
            "w.toml:2: this is not TOML: the byte 0x00 may not stand there");
  EXPECT_THAT(Refusal("[[waiver]]\nclause\xc3\xa4\xdd\xa8 = 1\n"),
              StartsWith("w.toml:2: this is not TOML: the byte 0xc3"));
  EXPECT_THAT(Refusal("[[waiver]]\nclause = 018\"\xca\xbd\"\"x\n"), StartsWith("w.toml:2:"));
}

}  // namespace
}  // namespace plumbline::harness
