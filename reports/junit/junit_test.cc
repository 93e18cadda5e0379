#include "reports/junit/junit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/result/sample.h"

namespace plumbline::reports {
namespace {

using testing::HasSubstr;

TEST(JUnit, OneSuiteAChapterAndEveryVerdictInItsKind) {
  SideNotes notes;
  notes.seconds_by_case = {{"resolution/a", 0.25}};
  const std::string xml = ToJUnit(SampleRun(), notes);
  EXPECT_THAT(xml, HasSubstr("<testsuite name=\"resolution\" tests=\"3\" failures=\"1\" errors=\"1\" skipped=\"0\">"));
  EXPECT_THAT(xml, HasSubstr("<testsuite name=\"chains\" tests=\"1\" failures=\"0\" errors=\"0\" skipped=\"1\">"));
  EXPECT_THAT(xml, HasSubstr("name=\"resolution/a\" time=\"0.250\"/>"));
  EXPECT_THAT(xml, HasSubstr("does not claim: chains"));
  EXPECT_THAT(xml, HasSubstr("waived by W1"));
}

TEST(JUnit, EscapesText) { EXPECT_THAT(ToJUnit(SampleRun(), {}), HasSubstr("k1 &amp; &lt;nothing&gt;")); }

TEST(JUnit, HoldsNoByteThatXmlForbids) {
  reports::Run run = SampleRun();
  run.backend.name = "a\xff\x1b\n";
  run.cases[0].findings[0].got = "\xc3\x01\r\xef\xbf\xbe";
  const std::string xml = ToJUnit(run, {});
  EXPECT_THAT(xml, HasSubstr("on a\\xff\\x1b\\x0a\""));
  EXPECT_THAT(xml, HasSubstr("got: \\xc3\\x01\\x0d\\ufffe\n"));
}

}  // namespace
}  // namespace plumbline::reports
