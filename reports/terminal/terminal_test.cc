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
  EXPECT_THAT(text, HasSubstr("clause    plumbline list --clause "));
  EXPECT_THAT(text, HasSubstr("blocked: 1 case that presumes it or ends as it does: resolution/c"));
  EXPECT_THAT(text, Not(HasSubstr("crash resolution/c")));
  EXPECT_THAT(text, HasSubstr("1 pass, 1 fail, 1 crash, 1 waived, 1 unsupported"));
  EXPECT_THAT(text, HasSubstr("accepted by a waived deviation"));
}

TEST(Summary, TheMostTellingRootsComeFirst) {
  reports::Run run = SampleRun();
  run.cases.clear();
  const auto add = [&](const char* id, Verdict verdict, std::vector<std::string> clauses) {
    CaseResult& one = run.cases.emplace_back();
    one.id = id;
    one.verdict = verdict;
    one.clauses = std::move(clauses);
  };
  add("a/1", Verdict::kFail, {"RES-001"});  // one of three of its clause
  add("a/2", Verdict::kPass, {"RES-001"});
  add("a/3", Verdict::kPass, {"RES-001"});
  add("b/1", Verdict::kFail, {"RES-002"});  // two of two
  add("b/2", Verdict::kFail, {"RES-002"});
  add("c/1", Verdict::kCrash, {"RES-001"});
  const std::string text = Summary(run, {});
  std::size_t last = 0;
  for (const char* line : {"crash c/1", "fail b/1", "fail b/2", "fail a/1"}) {
    const std::size_t at = text.find(line);
    ASSERT_NE(at, std::string::npos) << line;
    EXPECT_GE(at, last) << line;
    last = at;
  }
}

TEST(Summary, PlainInAPipeAndColouredOnATerminal) {
  EXPECT_THAT(Summary(SampleRun(), {}), Not(HasSubstr("\x1b")));
  EXPECT_THAT(Summary(SampleRun(), {.colour = true}), HasSubstr("\x1b[31mfail\x1b[0m"));
}

TEST(Summary, ShowsWhatWouldSteerATerminal) {
  reports::Run run = SampleRun();
  run.backend.name = "to\x1b]0;y";
  CaseResult& fail = run.cases[0];
  fail.id = "resolution/b\r";
  Finding& finding = fail.findings[0];
  finding.summary = "a\x1b[2J";
  finding.scenario = "# \a\n";
  finding.expected = "\xff";
  finding.got = std::string(40000, 'k');
  finding.rule = "\xc2\x9b";
  run.waivers[0].problem = "\b";
  const std::string text = Summary(run, {});
  for (const char* part : {"to\\x1b]0;y", "resolution/b\\x0d", "a\\x1b[2J", "# \\x07", "\\xff",
                           "k... (38,000 more bytes)", "\\u009b", "waiver W1: \\x08"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
  EXPECT_EQ(text.find_first_of("\x1b\r\a\b\xff\x9b"), std::string::npos);
}

TEST(Summary, ANameStaysInItsLine) {
  reports::Run run = SampleRun();
  run.backend.name = "to\ny";
  run.backend.version = "1\n0";
  EXPECT_THAT(Summary(run, {}), HasSubstr("to\\x0ay 1\\x0a0 (pytorch-1.13)"));
}

TEST(Summary, TellsOfKeysThatABackendDoesNotKnow) {
  reports::Run run = SampleRun();
  run.backend.key_count = 114;
  EXPECT_THAT(Summary(run, {}), Not(HasSubstr("  keys ")));
  run.backend.unknown_keys = {"CUDA", "HIP", "XLA"};
  EXPECT_THAT(Summary(run, {}), HasSubstr("  keys       111 of 114 keys and alias keys of pytorch-1.13; unknown: CUDA, "
                                          "HIP, XLA (`plumbline keys --all --backend ...`"));
  run.backend.unknown_keys.insert(run.backend.unknown_keys.end(), 2, "MPS\n");
  EXPECT_THAT(Summary(run, {}), HasSubstr("109 of 114 keys and alias keys of pytorch-1.13; unknown: CUDA, HIP, XLA and "
                                          "2 more"));
}

TEST(Summary, NamesTheRootsThatItDoesNotShowInFull) {
  const std::string text = Summary(SampleRun(), {.shown = 0});
  EXPECT_THAT(text, HasSubstr("fail resolution/b"));
  EXPECT_THAT(text, Not(HasSubstr("expected")));
  EXPECT_THAT(text,
              testing::StartsWith(
                  "fail resolution/b\n    blocked: 1 case that presumes it or ends as it does: resolution/c\n\n"));
  EXPECT_THAT(text, HasSubstr("0 of 1 are shown in full; `--show all` shows them all"));
  EXPECT_THAT(Summary(SampleRun(), {}), Not(HasSubstr("--show all")));
}

TEST(Summary, SaysWhereFailuresAreSaved) {
  reports::Run run = SampleRun();
  EXPECT_THAT(Summary(run, {.saved_in = "there"}), Not(HasSubstr("there"))) << "none is saved";
  run.cases[0].findings[0].rerun = "plumbline replay --backend toy there/b.scn";
  EXPECT_THAT(Summary(run, {.saved_in = "there"}), HasSubstr("saved      1 scenario of a failure in there/"));
  run.cases[0].verdict = Verdict::kWaived;
  EXPECT_THAT(Summary(run, {.saved_in = "there/"}), HasSubstr("saved      1 scenario of a waived failure in there/ "));
}

TEST(Summary, APartSaysWhatItDidNotSelect) {
  reports::Run run = SampleRun();
  EXPECT_THAT(Summary(run, {}), HasSubstr("1 vacuous"));
  run.filter = "tls";
  EXPECT_THAT(Summary(run, {}), HasSubstr("1 not selected"));
  run.shard = run.shards = 2;
  EXPECT_THAT(Summary(run, {}), HasSubstr("shard 2/2"));
}

TEST(Summary, SaysWhatWaivedCounts) {
  reports::Run run = SampleRun();
  EXPECT_THAT(Summary(run, {}), HasSubstr("\n             waived: 1 failed just as a waiver says\n"));
  CaseResult passed = run.cases[1];
  passed.id = "tls/b";
  passed.verdict = Verdict::kWaived;
  run.cases.push_back(passed);
  EXPECT_THAT(
      Summary(run, {}),
      HasSubstr("waived: 1 failed just as a waiver says; 1 passed, some scenarios only by a waiver's deviation\n"));
  run.cases.erase(run.cases.begin() + 4);
  EXPECT_THAT(Summary(run, {}), HasSubstr("waived: 1 passed, "));
  run.cases.pop_back();
  EXPECT_THAT(Summary(run, {}), Not(HasSubstr("waived:")));
}

TEST(Summary, NamesTheFilesOfWaivers) {
  reports::Run run = SampleRun();
  EXPECT_THAT(Summary(run, {}), HasSubstr("waivers    from toy.waivers.toml; --verbose names those of each case\n"));
  std::erase_if(run.cases, [](const CaseResult& one) { return one.verdict == Verdict::kWaived; });
  EXPECT_THAT(Summary(run, {}), HasSubstr("waivers    from toy.waivers.toml\n"));
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
