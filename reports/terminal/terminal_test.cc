#include "reports/terminal/terminal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/result/sample.h"

namespace plumbline::reports {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Summary, RootsInFullAndBlockedFolded) {
  const std::string text = Summary(SampleRun(), {});
  EXPECT_THAT(text, HasSubstr("fail resolution/b  RES-001"));
  EXPECT_THAT(text, HasSubstr("expected  k2"));
  EXPECT_THAT(text, HasSubstr("    | call a::f [CPU] => k2"));
  EXPECT_THAT(text, HasSubstr("rerun     plumbline check --backend toy --case resolution/b"));
  EXPECT_THAT(text, HasSubstr("blocked: 1 cases that presume it, such as resolution/c"));
  EXPECT_THAT(text, Not(HasSubstr("crash resolution/c")));
  EXPECT_THAT(text, HasSubstr("1 pass, 1 fail, 1 crash, 1 waived, 1 unsupported"));
  EXPECT_THAT(text, HasSubstr("accepted by a waived deviation"));
}

TEST(Summary, PlainInAPipeAndColouredOnATerminal) {
  EXPECT_THAT(Summary(SampleRun(), {}), Not(HasSubstr("\x1b")));
  EXPECT_THAT(Summary(SampleRun(), {.colour = true}), HasSubstr("\x1b[31mfail\x1b[0m"));
}

TEST(Summary, NamesTheRootsThatItDoesNotShowInFull) {
  const std::string text = Summary(SampleRun(), {.max_findings = 0});
  EXPECT_THAT(text, HasSubstr("fail resolution/b"));
  EXPECT_THAT(text, Not(HasSubstr("expected")));
}

TEST(Summary, NamesTheFilesOfWaiversAndWhatTheyWaived) {
  reports::Run run = SampleRun();
  EXPECT_THAT(Summary(run, {}), HasSubstr("waivers    toy.waivers.toml: 1 case waived\n"));
  run.waiver_files.clear();
  EXPECT_THAT(Summary(run, {}), Not(HasSubstr("waivers  ")));
}

TEST(Summary, ShowsAWaiverThatDoesNotHold) {
  reports::Run run = SampleRun();
  run.waivers[0].problem = "unused";
  EXPECT_THAT(Summary(run, {}), HasSubstr("waiver W1: unused"));
}

}  // namespace
}  // namespace plumbline::reports
