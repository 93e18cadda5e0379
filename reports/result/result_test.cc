#include "reports/result/result.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/result/sample.h"
#include "reports/text/counted.h"

namespace plumbline::reports {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

CaseResult Case(const std::string& id, Verdict verdict, std::vector<std::string> clauses = {}) {
  CaseResult result;
  result.id = id;
  result.verdict = verdict;
  result.clauses = std::move(clauses);
  return result;
}

TEST(Counted, OneIsSingular) {
  EXPECT_EQ(Counted(0, "case"), "0 cases");
  EXPECT_EQ(Counted(1, "case"), "1 case");
  EXPECT_EQ(Counted(2, "case differs", "cases differ"), "2 cases differ");
}

TEST(Count, SeparatesRootsFromBlocked) {
  const Counts counts = Count(SampleRun());
  EXPECT_EQ(counts.roots, 1);
  EXPECT_EQ(counts.blocked, 1);
  EXPECT_EQ(counts.by_verdict.at(Verdict::kPass), 1);
  EXPECT_EQ(counts.by_verdict.at(Verdict::kUnsupported), 1);
  EXPECT_EQ(counts.accepted_by_deviation, 2u);
}

TEST(ByClause, TakesTheWorstAndCountsAnUntestedClauseAsVacuous) {
  const auto verdicts = ByClause(SampleRun());
  EXPECT_EQ(verdicts.at("RES-001"), Verdict::kFail);
  EXPECT_EQ(verdicts.at("RES-002"), Verdict::kVacuous);
  EXPECT_EQ(verdicts.at("TLS-001"), Verdict::kWaived);
}

TEST(ByClause, APartOfARunLeavesOutWhatItDidNotSelect) {
  reports::Run run = SampleRun();
  run.filter = "tls";
  EXPECT_FALSE(ByClause(run).contains("RES-002"));
  run.filter.clear();
  run.shards = 2;
  EXPECT_FALSE(ByClause(run).contains("RES-002"));
}

TEST(ByClause, ACheckedClauseIsNotUnsupported) {
  reports::Run run;
  run.cases = {Case("a", Verdict::kUnsupported, {"X-001"}), Case("b", Verdict::kPass, {"X-001"}),
               Case("c", Verdict::kUnsupported, {"X-001"})};
  EXPECT_EQ(ByClause(run).at("X-001"), Verdict::kPass);
}

TEST(ByClause, ADeviationCostsOnlyTheClausesThatItBreaks) {
  reports::Run run;
  run.cases = {Case("a", Verdict::kWaived, {"X-001", "X-002"}), Case("b", Verdict::kPass, {"X-003"})};
  run.cases[0].waived_clauses = {"X-002", "X-003"};
  run.cases[0].scenarios = 2;
  run.cases[0].accepted_by_deviation = {{"d", 1}};
  EXPECT_EQ(ByClause(run), (std::map<std::string, Verdict>{
                               {"X-001", Verdict::kPass}, {"X-002", Verdict::kWaived}, {"X-003", Verdict::kWaived}}));
  // Where no scenario was right by itself, nothing good was seen.
  run.cases[0].scenarios = 1;
  EXPECT_EQ(ByClause(run).at("X-001"), Verdict::kWaived);
  // What failed, and is known to, shows nothing of its other clauses.
  run.cases[0].scenarios = 2;
  run.cases[0].findings.emplace_back();
  EXPECT_EQ(ByClause(run), (std::map<std::string, Verdict>{
                               {"X-001", Verdict::kWaived}, {"X-002", Verdict::kWaived}, {"X-003", Verdict::kPass}}));
}

TEST(Good, OnlyPassWaivedAndUnsupportedAreGood) {
  reports::Run run;
  EXPECT_FALSE(Good(run)) << "nothing was checked";
  run.cases = {Case("a", Verdict::kPass), Case("b", Verdict::kWaived), Case("c", Verdict::kUnsupported)};
  EXPECT_TRUE(Good(run));
  for (const Verdict bad : {Verdict::kFail, Verdict::kCrash, Verdict::kTimeout, Verdict::kVacuous,
                            Verdict::kInconclusive, Verdict::kHarnessError}) {
    reports::Run with = run;
    with.cases.push_back(Case("d", bad));
    EXPECT_FALSE(Good(with)) << Spelling(bad);
  }
  run.waivers = {{.id = "W", .clause = "", .cause = "", .reference = "", .expires = "", .problem = "unused"}};
  EXPECT_FALSE(Good(run));
}

TEST(MarkBlocked, FoldsUnderTheFailedPrerequisite) {
  reports::Run run;
  run.clauses = {{.id = "A-001"}, {.id = "A-002", .needs = {"A-001"}}, {.id = "A-003", .needs = {"A-002"}}};
  run.cases = {Case("far", Verdict::kCrash, {"A-003"}), Case("itself", Verdict::kFail, {"A-001", "A-002"}),
               Case("passes", Verdict::kPass, {"A-002"}), Case("root", Verdict::kFail, {"A-001"})};
  MarkBlocked(run);
  EXPECT_EQ(run.cases[0].blocked_by, "root") << "the one that names no other clause";
  EXPECT_EQ(run.cases[1].blocked_by, "");
  EXPECT_EQ(run.cases[2].blocked_by, "");
  EXPECT_EQ(run.cases[3].blocked_by, "");
}

TEST(MarkBlocked, TheExactCaseIsNoneOfMany) {
  reports::Run run;
  run.clauses = {{.id = "A-001"}, {.id = "A-002", .needs = {"A-001"}}, {.id = "A-003"}};
  run.cases = {Case("exact", Verdict::kFail, {"A-002"}), Case("many", Verdict::kFail, {"A-001", "A-003"})};
  MarkBlocked(run);
  EXPECT_EQ(run.cases[0].blocked_by, "");
  EXPECT_EQ(run.cases[1].blocked_by, "");
}

TEST(MarkBlocked, ACircleHasARoot) {
  reports::Run run;
  run.clauses = {
      {.id = "A-001"}, {.id = "A-002", .needs = {"A-001"}}, {.id = "B-001"}, {.id = "B-002", .needs = {"B-001"}}};
  run.cases = {Case("one", Verdict::kFail, {"A-001", "B-002"}), Case("two", Verdict::kFail, {"A-002", "B-001"}),
               Case("under", Verdict::kFail, {"A-002", "B-002"})};
  MarkBlocked(run);
  EXPECT_EQ(run.cases[0].blocked_by, "");
  EXPECT_EQ(run.cases[1].blocked_by, "one");
  EXPECT_EQ(run.cases[2].blocked_by, "one");
}

CaseResult Ends(const char* id, Verdict verdict, const char* summary, const char* got, const char* clause) {
  CaseResult result = Case(id, verdict, {clause});
  Finding& finding = result.findings.emplace_back();
  finding.summary = summary;
  finding.got = got;
  return result;
}

std::vector<std::string> BlockedBy(const std::vector<CaseResult>& cases, const std::vector<Clause>& clauses = {}) {
  reports::Run run;
  run.clauses = clauses;
  run.cases = cases;
  MarkBlocked(run);
  std::vector<std::string> blocked_by;
  for (const CaseResult& result : run.cases) blocked_by.push_back(result.blocked_by);
  return blocked_by;
}

constexpr const char* kTodo = "error internal (\"not implemented yet\")";

TEST(MarkBlocked, OneCauseIsOneRoot) {
  const std::vector<Clause> clauses = {{.id = "A-001"}, {.id = "A-002", .needs = {"A-001"}}, {.id = "B-001"}};
  EXPECT_THAT(
      BlockedBy({Ends("a", Verdict::kFail, "`define t::f(Tensor a) -> Tensor`: the error", kTodo, "B-001"),
                 Ends("b", Verdict::kFail, "`on x define t::g() -> ()`: the error", kTodo, "A-001"),
                 Ends("c", Verdict::kFail, "`call t::f [CPU]`: the error", kTodo, "C-001"),
                 Ends("d", Verdict::kFail, "`call t::f []`: the kernels that ran",
                      ("k1 > no kernel ran > " + std::string(kTodo)).c_str(), "C-002"),
                 Ends("e", Verdict::kFail, "`define t::f() -> ()`: the error", "error internal (\"else\")", "D-001"),
                 Case("f", Verdict::kFail, {"A-002"})},
                clauses),
      ElementsAre("", "a", "", "c", "", "a"));
}

TEST(MarkBlocked, CrashesAlikeAreOneRoot) {
  constexpr const char* kDied = "crash: died of signal 11";
  EXPECT_THAT(
      BlockedBy({Ends("a", Verdict::kCrash, "the backend died of signal 11 in `define t::f() -> ()`", kDied, "A-001"),
                 Ends("b", Verdict::kCrash, "the backend died of signal 11 in `define t::g() -> ()`", kDied, "B-001"),
                 Ends("c", Verdict::kCrash, "the backend died of signal 11 in `impl t::g CPU k`", kDied, "C-001"),
                 Ends("d", Verdict::kCrash, "the backend died of signal 11 in `define t::g() -> ()`",
                      "crash: died of signal 11\nassertion x", "D-001")}),
      ElementsAre("", "a", "", ""));
}

// The errors and answers that rules ask for may be wrong for many reasons.
TEST(MarkBlocked, WrongAnswersAlikeStayRoots) {
  for (const char* got : {"k1", "ok", "error no-kernel (\"none\")", "error internally (\"x\")", ""}) {
    EXPECT_THAT(BlockedBy({Ends("a", Verdict::kFail, "`call t::f [CPU]`: the error", got, "A-001"),
                           Ends("b", Verdict::kFail, "`call t::f [CPU]`: the error", got, "B-001")}),
                ElementsAre("", ""))
        << got;
  }
  EXPECT_THAT(BlockedBy({Case("a", Verdict::kFail, {"A-001"}), Case("b", Verdict::kFail, {"B-001"})}),
              ElementsAre("", ""));
}

TEST(Merge, PutsShardsTogetherInAnyOrder) {
  reports::Run whole = SampleRun();
  reports::Run first = whole, second = whole;
  first.shards = second.shards = 2;
  second.shard = 2;
  first.cases = {whole.cases[0], whole.cases[3]};
  second.cases = {whole.cases[1], whole.cases[2], whole.cases[4]};
  first.waivers[0].used = 0;
  const MergeResult merged = Merge({second, first});
  ASSERT_THAT(merged.error, IsEmpty());
  EXPECT_EQ(merged.run.cases.size(), whole.cases.size());
  EXPECT_EQ(merged.run.shards, 1);
  EXPECT_EQ(merged.run.waivers.at(0).used, 1u);
  EXPECT_EQ(Count(merged.run).by_verdict, Count(whole).by_verdict);
}

TEST(Merge, SaysWhatDoesNotFit) {
  reports::Run first = SampleRun();
  first.shards = 2;
  EXPECT_THAT(Merge({}).error, HasSubstr("nothing"));
  EXPECT_THAT(Merge({first}).error, HasSubstr("shard 2/2 is missing"));
  EXPECT_THAT(Merge({first, first}).error, HasSubstr("shard 1/2 is given twice"));
  reports::Run other = first;
  other.shard = 2;
  other.seed = 3;
  EXPECT_THAT(Merge({first, other}).error, HasSubstr("not shards of one run"));
  other = first;
  other.shard = 0;
  EXPECT_THAT(Merge({first, other}).error, HasSubstr("shard 0/2 is no part of a run"));
}

TEST(Merge, NotesAreJoined) {
  SideNotes first, second;
  first.seconds = 1;
  first.started = "2020-01-02";
  first.seconds_by_case = {{"a", 1}};
  first.tried_by_case = {{"a", 5}};
  second.seconds = 2;
  second.started = "2020-01-01";
  second.tried_by_case = {{"b", 7}};
  const SideNotes merged = MergeNotes({first, second});
  EXPECT_EQ(merged.seconds, 3);
  EXPECT_EQ(merged.started, "2020-01-01");
  EXPECT_EQ(merged.seconds_by_case.at("a"), 1);
  EXPECT_EQ(merged.tried_by_case, (std::map<std::string, std::uint64_t>{{"a", 5}, {"b", 7}}));

  reports::Run run = SampleRun();
  run.cases[0].sampled = true;
  run.cases[0].scenarios = run.cases[1].scenarios = 0;
  AddSampledCounts(run, {.tried_by_case = {{run.cases[0].id, 9}, {run.cases[1].id, 9}}});
  EXPECT_EQ(run.cases[0].scenarios, 9u);
  EXPECT_EQ(run.cases[1].scenarios, 0u) << "is not sampled: its count stands in the report";
}

TEST(Merge, AWaiverThatNoShardUsedIsAProblem) {
  reports::Run run = SampleRun();
  run.waivers[0].used = 0;
  EXPECT_EQ(Merge({run}).run.waivers.at(0).problem, kUnusedWaiver);
  run.filter = "resolution/*";
  EXPECT_EQ(Merge({run}).run.waivers.at(0).problem, "");
}

}  // namespace
}  // namespace plumbline::reports
