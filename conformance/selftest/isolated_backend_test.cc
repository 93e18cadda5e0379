// A backend that crashes, hangs, leaves or throws costs only the case that meets it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "conformance/harness/sanitizers.h"
#include "conformance/selftest/sample_suite.h"
#include "reports/json/json.h"

namespace plumbline::selftest {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

reports::Run RunOf(const SampleSuite& suite) {
  reports::ReadResult read = reports::FromJson(suite.folder().Read("report/report.json"));
  EXPECT_EQ(read.error, "");
  return read.run;
}

const reports::CaseResult& CaseOf(const reports::Run& run, const std::string& id) {
  for (const reports::CaseResult& one : run.cases) {
    if (one.id == id) return one;
  }
  throw std::runtime_error("there is no case " + id);
}

class IsolatedBackendTest : public ::testing::Test {
 protected:
  // The verdict of the bad case; all others must pass.
  reports::CaseResult Check(const std::string& misbehave, const std::string& arguments = "") {
    ran_ = suite_.Check(misbehave, "--report " + suite_.folder().path() + "/report " + arguments);
    const reports::Run run = RunOf(suite_);
    EXPECT_EQ(run.cases.size(), 4u);
    for (const reports::CaseResult& one : run.cases) {
      if (one.id == "demo/DEMO-002-bad") continue;
      EXPECT_EQ(one.verdict, reports::Verdict::kPass) << one.id;
    }
    return CaseOf(run, "demo/DEMO-002-bad");
  }

  // Runs the line that a finding gives.
  Ran Rerun(const reports::CaseResult& failed, const std::string& misbehave) {
    return RunLine(failed.findings.at(0).rerun, suite_.Environment(misbehave));
  }

  SampleSuite suite_;
  Ran ran_;
};

TEST_F(IsolatedBackendTest, AGoodBackendPasses) {
  EXPECT_EQ(Check("").verdict, reports::Verdict::kPass);
  EXPECT_EQ(ran_.status, 0) << ran_.out << ran_.err;
}

TEST_F(IsolatedBackendTest, ASegmentationFaultIsACrash) {
  const reports::CaseResult bad = Check("segfault");
  EXPECT_EQ(bad.verdict, reports::Verdict::kCrash);
  ASSERT_FALSE(bad.findings.empty());
  EXPECT_THAT(bad.findings[0].summary, HasSubstr("in `call demo::bad"));
#if !defined(PLUMBLINE_ADDRESS_SANITIZER) && !defined(PLUMBLINE_THREAD_SANITIZER)  // which report it and leave
  EXPECT_THAT(bad.findings[0].summary, HasSubstr("was killed by signal 11 (Segmentation fault)"));
  EXPECT_THAT(bad.findings[0].got, HasSubstr("last words"));
#endif
  EXPECT_THAT(bad.findings[0].scenario, Not(HasSubstr("demo::g"))) << "it is the smallest";
  EXPECT_EQ(ran_.status, 1);
  EXPECT_EQ(Rerun(bad, "segfault").status, 1);
  EXPECT_EQ(Rerun(bad, "").status, 0) << "the line must run the very backend";
}

TEST_F(IsolatedBackendTest, AnExitIsACrash) {
  const reports::CaseResult bad = Check("exit");
  EXPECT_EQ(bad.verdict, reports::Verdict::kCrash);
  EXPECT_THAT(bad.findings.at(0).got, HasSubstr("left with exit status 3"));
  EXPECT_EQ(Rerun(bad, "exit").status, 1);
}

TEST_F(IsolatedBackendTest, ARegistryThatCannotBeOpenedIsNoLackOfAClaim) {
  const Ran ran = suite_.Check("no-registry", "--no-color --report " + suite_.folder().path() + "/report");
  EXPECT_EQ(ran.status, 1) << ran.out;
  const reports::CaseResult bad = CaseOf(RunOf(suite_), "demo/DEMO-001-good");
  EXPECT_EQ(bad.verdict, reports::Verdict::kCrash);
  EXPECT_THAT(bad.findings.at(0).summary, HasSubstr("opened no registry: no memory today (internal) before the first"));
}

// What is tried while a failure is made smaller begins afresh each time, also after what passed.
TEST_F(IsolatedBackendTest, WhatABackendRemembersIsNoPartOfAFailure) {
  const reports::CaseResult bad = Check("sticky");
  EXPECT_EQ(bad.verdict, reports::Verdict::kCrash);
  EXPECT_THAT(bad.findings.at(0).summary, Not(HasSubstr("only after other scenarios")));
  EXPECT_THAT(bad.findings.at(0).rerun, HasSubstr("plumbline replay"));
  EXPECT_EQ(Rerun(bad, "sticky").status, 1);
}

TEST_F(IsolatedBackendTest, ARerunHasTheTimeoutThatWasGiven) {
  const reports::CaseResult bad = Check("hang", "--timeout 0.5");
  EXPECT_THAT(bad.findings.at(0).rerun, HasSubstr(" --timeout 0.5 "));
}

TEST_F(IsolatedBackendTest, ASignalToItsGroupReachesNobodyElse) {
  const reports::CaseResult bad = Check("kill-group");
  EXPECT_EQ(bad.verdict, reports::Verdict::kCrash);
  EXPECT_THAT(bad.findings.at(0).got, HasSubstr("was killed by signal 15"));
}

TEST_F(IsolatedBackendTest, TheEndOfItsParentIsACrash) {
  const reports::CaseResult bad = Check("kill-parent");
  EXPECT_EQ(bad.verdict, reports::Verdict::kCrash);
  EXPECT_THAT(bad.findings.at(0).got, HasSubstr("ended with its parent, which was killed by signal 9"));
  EXPECT_EQ(Rerun(bad, "kill-parent").status, 1);
}

// Nothing is left of what the worker knew: the whole case is run again.
TEST_F(IsolatedBackendTest, TheEndOfAWorkerCostsItsCase) {
  const reports::CaseResult bad = Check("kill-worker");
  EXPECT_EQ(bad.verdict, reports::Verdict::kHarnessError);
  EXPECT_THAT(bad.findings.at(0).summary, HasSubstr("the worker was killed by signal 9"));
  EXPECT_EQ(ran_.status, 2);
  EXPECT_EQ(Rerun(bad, "kill-worker").status, 2);
  EXPECT_EQ(Rerun(bad, "").status, 0);
}

// The child has the same descriptors, so that they do not close when the backend ends.
TEST_F(IsolatedBackendTest, ACrashThatLeavesAChildIsACrash) {
  const reports::CaseResult bad = Check("orphan");
  EXPECT_EQ(bad.verdict, reports::Verdict::kCrash);
  EXPECT_THAT(bad.findings.at(0).got, HasSubstr("left with exit status 3"));
}

TEST_F(IsolatedBackendTest, AHangIsATimeout) {
  const reports::CaseResult bad = Check("hang", "--timeout 0.5");
  EXPECT_EQ(bad.verdict, reports::Verdict::kTimeout);
  EXPECT_THAT(bad.findings.at(0).summary, HasSubstr("did not end within"));
}

// With one worker the cases run in the order of their ids: good, bad, and two more.
TEST_F(IsolatedBackendTest, AfterManyTimeoutsTheRestIsNotRun) {
  ran_ =
      suite_.Check("hang", "--jobs 1 --timeout 0.5 --most-timeouts 1 --report " + suite_.folder().path() + "/report");
  const reports::Run run = RunOf(suite_);
  EXPECT_EQ(CaseOf(run, "demo/DEMO-002-bad").verdict, reports::Verdict::kTimeout);
  const reports::CaseResult& left = CaseOf(run, "later/DEMO-001-again");
  EXPECT_EQ(left.verdict, reports::Verdict::kInconclusive);
  EXPECT_THAT(left.findings.at(0).summary, HasSubstr("not run: 1 case had timed out before (--most-timeouts)"));
  EXPECT_EQ(ran_.status, 1);
}

TEST_F(IsolatedBackendTest, AnExceptionAcrossTheLineIsACrash) {
  for (const char* how : {"throw", "throw-int"}) {
    // These throw out of every call.
    const Ran ran = suite_.Check(how, "--report " + suite_.folder().path() + "/report");
    EXPECT_EQ(ran.status, 1);
    const reports::CaseResult bad = CaseOf(RunOf(suite_), "demo/DEMO-002-bad");
    EXPECT_EQ(bad.verdict, reports::Verdict::kCrash) << how;
    EXPECT_THAT(bad.findings.at(0).got, HasSubstr("threw an exception across the ABI"));
    EXPECT_THAT(bad.findings.at(0).summary, HasSubstr("in `call demo::")) << how;
  }
}

TEST_F(IsolatedBackendTest, AWrongKernelIsAFailureThatReplays) {
  const Ran ran = suite_.Check("oldest", "--report " + suite_.folder().path() + "/report");
  EXPECT_EQ(ran.status, 1);
  const reports::Run run = RunOf(suite_);
  const reports::CaseResult& failed = CaseOf(run, "demo/DEMO-003-newest");
  EXPECT_EQ(failed.verdict, reports::Verdict::kFail);
  ASSERT_FALSE(failed.findings.empty());
  EXPECT_THAT(failed.findings[0].expected, HasSubstr("k2"));
  EXPECT_THAT(failed.findings[0].got, HasSubstr("k1"));
  EXPECT_THAT(failed.findings[0].rule, HasSubstr("its highest key is CPU, served by rule kernel [RES-030]"));
  EXPECT_THAT(failed.findings[0].scenario, Not(HasSubstr("demo::g")));
  EXPECT_THAT(failed.findings[0].rerun, HasSubstr("plumbline replay"));
  const Ran rerun = Rerun(failed, "oldest");
  EXPECT_EQ(rerun.status, 1);
  EXPECT_THAT(rerun.out, HasSubstr("expected"));
  EXPECT_EQ(Rerun(failed, "").status, 0);
  EXPECT_EQ(CaseOf(run, "demo/DEMO-001-good").verdict, reports::Verdict::kPass);
}

// A line to rerun can be pasted, whatever the folder is called.
TEST_F(IsolatedBackendTest, AFolderThatLooksLikeAnOption) {
  const Ran ran = RunLine("plumbline check --no-color --case demo/DEMO-003-newest --out=-o --backend " + Misbehaving() +
                              " > said; eval \"$(sed -n 's/^ *rerun *//p' said)\"; status=$?; cat said; exit $status",
                          suite_.Environment("oldest"));
  EXPECT_EQ(ran.status, 1) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr(" ./-o/misbehaving-demo-DEMO-003-newest.scn\n"));
  EXPECT_THAT(ran.out, HasSubstr("./-o/misbehaving-demo-DEMO-003-newest.scn: fail: "));
}

TEST_F(IsolatedBackendTest, ANameThatWouldSteerATerminalStaysInItsLine) {
  const Ran ran = suite_.Check("odd-name", "--no-color --report " + suite_.folder().path() + "/report");
  EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
  const std::string shown = "mis\\x0abehaving\\x1b[2J";
  EXPECT_THAT(ran.out, HasSubstr(shown + " 1\\x09\\x07 (pytorch-1.13)  tier"));
  EXPECT_THAT(suite_.folder().Read("report/junit.xml"), HasSubstr(" on " + shown + "\">\n"));
  EXPECT_THAT(suite_.folder().Read("report/index.html"), HasSubstr("Findings on " + shown + "<"));
  const Ran keys = RunTool("keys --backend " + Misbehaving(), suite_.Environment("odd-name"));
  EXPECT_THAT(keys.out, ::testing::StartsWith(shown));
}

TEST_F(IsolatedBackendTest, WhatToClaimNextIsToldWhereNothingFailed) {
  EXPECT_THAT(suite_.Check("").out, HasSubstr("next: claim "));
  const Ran failed = suite_.Check("oldest");
  EXPECT_EQ(failed.status, 1);
  EXPECT_THAT(failed.out, Not(HasSubstr("next: ")));
}

TEST_F(IsolatedBackendTest, KeysThatItDoesNotKnowAreToldOf) {
  suite_.folder().Write("corpus/demo/DEMO-003-cuda.scn",
                        "scenario 1 pytorch-1.13\n"
                        "title    CUDA, of which this says nothing: HIP\n"
                        "clauses  DEMO-003\n"
                        "define   demo::f(Tensor a) -> Tensor\n"
                        "impl     demo::f CUDA k1 => ok\n"
                        "call     demo::f [CUDA] => k1\n");
  const std::string report = suite_.folder().path() + "/report";
  const Ran ran = suite_.Check("few-keys", "--no-color --report " + report);
  EXPECT_EQ(ran.status, 1) << ran.out << ran.err;
  EXPECT_THAT(ran.out,
              ::testing::ContainsRegex("\n  keys       3 of [0-9]+ keys and alias keys of pytorch-1.13; unknown: "
                                       "Undefined, [A-Za-z0-9]+, [A-Za-z0-9]+ and [0-9]+ more .`plumbline"));
  EXPECT_THAT(ran.out, HasSubstr("; the backend does not know the key CUDA\n"));
  const reports::Run run = RunOf(suite_);
  EXPECT_EQ(run.backend.unknown_keys.size(), run.backend.key_count - 3);
  EXPECT_EQ(CaseOf(run, "demo/DEMO-003-cuda").verdict, reports::Verdict::kFail);
  EXPECT_EQ(CaseOf(run, "demo/DEMO-001-good").verdict, reports::Verdict::kPass);
  EXPECT_THAT(suite_.folder().Read("report/index.html"), HasSubstr("<p>misbehaving 1 knows 3 of "));

  const Ran whole = suite_.Check("", "--report " + report);
  EXPECT_THAT(whole.out, Not(HasSubstr("  keys  ")));
  EXPECT_GT(RunOf(suite_).backend.key_count, 100u);
  EXPECT_THAT(RunOf(suite_).backend.unknown_keys, ::testing::IsEmpty());
}

// Whether it knows its keys is asked beside what is checked.
TEST_F(IsolatedBackendTest, ACrashAtTheKeysIsLeftToTheCases) {
  const Ran ran = suite_.Check("crash-at-keys", "--report " + suite_.folder().path() + "/report");
  EXPECT_EQ(ran.status, 1) << ran.out << ran.err;
  EXPECT_EQ(RunOf(suite_).backend.key_count, 0u);
}

TEST_F(IsolatedBackendTest, AContextMayLiveUntilTheRegistryIsClosed) {
  const Ran ran = suite_.Check("keep");
  EXPECT_EQ(ran.status, 0) << ran.out;
}

TEST_F(IsolatedBackendTest, AContextThatIsNeverDestroyedIsAFailure) {
  const Ran ran = suite_.Check("leak", "--no-color");
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.out, HasSubstr("kernel k1: 1 registered, 0 destroyed by the end"));
}

TEST_F(IsolatedBackendTest, ACrashBeforeTheTableIsBadInput) {
  const Ran ran = suite_.Check("segfault-at-once");
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, HasSubstr("misbehaving.so: it "));
  EXPECT_THAT(ran.err, HasSubstr("when it was asked who it is"));
}

TEST_F(IsolatedBackendTest, ShardsMergeToTheSameReport) {
  const std::string folder = suite_.folder().path();
  ASSERT_EQ(suite_.Check("oldest", "--report " + folder + "/whole --jobs 1").status, 1);
  std::string parts;
  for (const char* shard : {"1/3", "2/3", "3/3"}) {
    const std::string part = folder + "/part" + std::string(1, shard[0]);
    EXPECT_LE(suite_.Check("oldest", "--report " + part + " --shard " + shard).status, 1);
    parts += " " + part + "/report.json";
  }
  const Ran merged = RunTool("report merge -o " + folder + "/merged.json" + parts);
  ASSERT_EQ(merged.status, 0) << merged.err;
  EXPECT_EQ(suite_.folder().Read("merged.json"), suite_.folder().Read("whole/report.json"));
  EXPECT_EQ(RunTool("report merge -o " + folder + "/merged" + parts).status, 0);
  for (const char* form : {"/report.json", "/index.html"}) {
    EXPECT_EQ(suite_.folder().Read(std::string("merged") + form), suite_.folder().Read(std::string("whole") + form));
  }
  EXPECT_THAT(suite_.folder().Read("merged/junit.xml"), HasSubstr("<testsuite"));
  EXPECT_EQ(RunTool("report merge" + parts).out, suite_.folder().Read("merged.json"));

  const Ran unlike = RunTool("report diff " + folder + "/part1 " + folder + "/whole");
  EXPECT_THAT(unlike.err, HasSubstr("plumbline report diff: warning: the shards differ (1/3, the whole run): merge"));
  EXPECT_EQ(RunTool("report diff " + folder + "/merged " + folder + "/whole").err, "");

  // What another shard has is counted and not listed; what this one should have is.
  const auto diff = [&](const std::string& before, const std::string& after) {
    const Ran ran = RunTool("report diff " + folder + "/" + before + " " + folder + "/" + after);
    return std::to_string(ran.status) + " " + ran.out;
  };
  std::size_t of_others = 0;
  for (const std::string part : {"1", "2", "3"}) {
    const std::string said = diff("whole", "part" + part);
    EXPECT_THAT(said, ::testing::MatchesRegex("0 [1-4] cases? (is|are) only in BEFORE: AFTER is shard " + part +
                                              " of 3\n0 cases differ\n"));
    of_others += static_cast<std::size_t>(said[2] - '0');
    EXPECT_THAT(diff("part" + part, "whole"), HasSubstr("only in AFTER: BEFORE is shard " + part + " of 3\n"));
  }
  EXPECT_EQ(of_others, 2u * 4u) << "each of four cases is in two shards of three not";
  std::string text = suite_.folder().Read("part1/report.json");
  for (std::size_t at; (at = text.find("\"shard\": 1,")) != std::string::npos;) text.replace(at, 11, "\"shard\": 2,");
  suite_.folder().Write("moved/report.json", text);
  EXPECT_THAT(diff("whole", "moved"), ::testing::ContainsRegex("^1 .* -> absent\n"))
      << "shard 2 lacks what it should have";

  // A filter leaves out cases too.
  ASSERT_EQ(RunTool("check --backend " + Misbehaving() + " --filter demo --out " + folder + "/out --report " + folder +
                        "/demo",
                    suite_.Environment("oldest"))
                .status,
            1);
  EXPECT_EQ(diff("whole", "demo"), "0 1 case is only in BEFORE: AFTER is of the filter 'demo'\n0 cases differ\n");
  EXPECT_EQ(diff("demo", "whole"), "0 1 case is only in AFTER: BEFORE is of the filter 'demo'\n0 cases differ\n");
}

TEST_F(IsolatedBackendTest, EqualRunsGiveEqualReports) {
  const std::string folder = suite_.folder().path();
  suite_.Check("segfault", "--report " + folder + "/a --jobs 1");
  suite_.Check("segfault", "--report " + folder + "/b --jobs 4");
  EXPECT_EQ(suite_.folder().Read("a/report.json"), suite_.folder().Read("b/report.json"));
}

}  // namespace
}  // namespace plumbline::selftest
