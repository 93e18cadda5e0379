#include "conformance/cli/prove.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace plumbline::cli {
namespace {

using harness::Case;
using harness::Tier;
using reports::CaseResult;
using reports::Verdict;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

const Fault kFault{"swaps", "A-001", "swaps two things"};

std::vector<Case> SomeCases() {
  return {{.id = "a/A-001-own", .chapter = "a", .clauses = {"A-001"}, .where = "corpus/a/A-001-own.scn", .run = {}},
          {.id = "a/a-property", .chapter = "a", .clauses = {"A-001", "A-002"}, .where = "properties.cc", .run = {}},
          {.id = "a/another", .chapter = "a", .clauses = {"A-001"}, .where = "corpus/a/another.scn", .run = {}},
          {.id = "a/huge",
           .chapter = "a",
           .clauses = {"A-001"},
           .tier = Tier::kFull,
           .where = "corpus/a/huge.scn",
           .run = {}},
          {.id = "b/B-001-own", .chapter = "b", .clauses = {"B-001"}, .where = "corpus/b/B-001-own.scn", .run = {}}};
}

std::vector<std::string> Ids(const std::vector<Case>& cases) {
  std::vector<std::string> ids;
  for (const Case& one : cases) ids.push_back(one.id);
  return ids;
}

// Tries the fault on all of the cases that name its clause; those listed end so, the others pass.
FaultResult Try(const Fault& fault, const std::map<std::string, Verdict>& verdicts, bool everything = false) {
  const auto run = [&](const Case& one) {
    CaseResult result;
    result.id = one.id;
    const auto at = verdicts.find(one.id);
    result.verdict = at == verdicts.end() ? Verdict::kPass : at->second;
    if (at != verdicts.end()) result.findings.emplace_back().summary = "a difference";
    return result;
  };
  return TryFault(fault, CasesFor(fault, SomeCases(), everything), run, everything);
}

TEST(ReadFaultsTest, TakesLinesApart) {
  const auto faults = ReadFaults({"swaps\tA-001\tswaps two things"}, {{.id = "A-001"}});
  ASSERT_TRUE(faults.ok());
  EXPECT_EQ((*faults).front().name, "swaps");
  EXPECT_EQ((*faults).front().clause, "A-001");
  EXPECT_EQ((*faults).front().what, "swaps two things");
}

TEST(ReadFaultsTest, RefusesWhatItCannotJudge) {
  EXPECT_THAT(ReadFaults({"swaps"}, {{.id = "A-001"}}).error(), HasSubstr("'swaps'"));
  EXPECT_THAT(ReadFaults({"swaps\tA-007\tx"}, {{.id = "A-001"}}).error(), HasSubstr("A-007"));
}

TEST(CasesForTest, ItsOwnScenarioFirstAndPropertiesLast) {
  EXPECT_THAT(Ids(CasesFor(kFault, SomeCases(), false)), ElementsAre("a/A-001-own", "a/another", "a/a-property"));
  EXPECT_THAT(Ids(CasesFor(kFault, SomeCases(), true)),
              ElementsAre("a/A-001-own", "a/another", "a/a-property", "b/B-001-own"));
}

TEST(CasesForTest, WhatMayMissAFaultAfterWhatMayNot) {
  std::vector<Case> cases = SomeCases();
  cases.insert(
      cases.begin(),
      {.id = "a/a-race", .chapter = "a", .clauses = {"A-001"}, .sampled = true, .where = "suites/a.cc", .run = {}});
  EXPECT_THAT(Ids(CasesFor(kFault, cases, false)), ElementsAre("a/A-001-own", "a/another", "a/a-property", "a/a-race"));
}

TEST(TryFaultTest, StopsAtTheFirstKill) {
  const FaultResult result = Try(kFault, {{"a/another", Verdict::kFail}, {"a/a-property", Verdict::kFail}});
  EXPECT_TRUE(result.killed);
  EXPECT_EQ(result.by, "a/another");
  EXPECT_EQ(result.cases, 2u);
}

TEST(TryFaultTest, SurvivesWhereAllPass) {
  const FaultResult result = Try(kFault, {});
  EXPECT_FALSE(result.killed);
  EXPECT_EQ(result.cases, 3u);
}

TEST(TryFaultTest, ACrashIsNoKillUnlessItWasMeant) {
  for (const Verdict verdict : {Verdict::kCrash, Verdict::kTimeout, Verdict::kHarnessError, Verdict::kVacuous}) {
    const FaultResult result = Try(kFault, {{"a/another", verdict}});
    EXPECT_FALSE(result.killed) << reports::Spelling(verdict);
    EXPECT_EQ(result.verdict, verdict);
    EXPECT_EQ(result.by, "a/another");
  }
  const Fault crashing{"frees", "A-001", "reads freed memory"};
  EXPECT_TRUE(Try(crashing, {{"a/another", Verdict::kCrash}}).killed);
  EXPECT_FALSE(Try(crashing, {{"a/another", Verdict::kTimeout}}).killed);
  const Fault hanging{"waits", "A-001", "waits for ever"};
  EXPECT_TRUE(Try(hanging, {{"a/another", Verdict::kTimeout}}).killed);
}

TEST(TryFaultTest, AFailedCheckAfterACrashKills) {
  const FaultResult result = Try(kFault, {{"a/A-001-own", Verdict::kCrash}, {"a/another", Verdict::kFail}});
  EXPECT_TRUE(result.killed);
  EXPECT_EQ(result.by, "a/another");
  EXPECT_THAT(result.also, ElementsAre("a/A-001-own"));
}

TEST(TryFaultTest, ACaseOfAnotherClauseDoesNotKill) {
  const FaultResult result = Try(kFault, {{"b/B-001-own", Verdict::kFail}}, true);
  EXPECT_FALSE(result.killed);
  EXPECT_EQ(result.by, "b/B-001-own");
  const FaultResult both = Try(kFault, {{"b/B-001-own", Verdict::kFail}, {"a/another", Verdict::kFail}}, true);
  EXPECT_TRUE(both.killed);
  EXPECT_EQ(both.cases, 4u);
  EXPECT_THAT(both.also, ElementsAre("b/B-001-own"));
}

TEST(ProofTest, HoldsOnlyIfAllIsWell) {
  Proof proof;
  EXPECT_FALSE(proof.Holds()) << "nothing was shown";
  proof.faults.push_back({.fault = kFault, .killed = true, .by = "a/another", .verdict = Verdict::kFail});
  EXPECT_TRUE(proof.Holds());
  EXPECT_THAT(PrintProof(proof, false), HasSubstr("killed   fail    by a/another"));
  EXPECT_THAT(PrintProof(proof, false), Not(HasSubstr("SURVIVED")));

  Proof survivor = proof;
  survivor.faults.push_back({.fault = {"other", "A-002", "does other things"}, .cases = 3});
  EXPECT_FALSE(survivor.Holds());
  EXPECT_THAT(PrintProof(survivor, false), HasSubstr("SURVIVED 3 cases ran and did not see it"));

  Proof uncovered = proof;
  uncovered.without_fault = {"A-003"};
  EXPECT_FALSE(uncovered.Holds());
  EXPECT_THAT(PrintProof(uncovered, false), HasSubstr("A-003"));

  Proof null_killed = proof;
  null_killed.null_failures.emplace_back().id = "a/another";
  EXPECT_FALSE(null_killed.Holds());
  EXPECT_THAT(ProofAsJson(null_killed), HasSubstr("\"holds\": false"));
}

// A run of two shards, with a fault that a hunt caught, one that survived, and a case that fails without any.
std::vector<Proof> TwoShards() {
  Proof first;
  first.backend = "toy";
  first.seed = 7;
  first.shard = 1;
  first.shards = 2;
  first.null_cases = 3;
  first.without_fault = {"A-003"};
  FaultResult& hunted = first.faults.emplace_back();
  hunted.fault = {"races", "B-001", "x"};
  hunted.killed = hunted.sampled = true;
  hunted.by = "b/r";
  hunted.verdict = Verdict::kTimeout;
  hunted.seen = "step 77";
  Proof second = first;
  second.shard = 2;
  second.null_cases = 4;
  CaseResult& failure = second.null_failures.emplace_back();
  failure.id = "a/another";
  failure.verdict = Verdict::kCrash;
  failure.findings.emplace_back().summary = "it fell";
  second.faults.clear();
  FaultResult& survivor = second.faults.emplace_back();
  survivor.fault = kFault;
  survivor.by = "a/another";
  survivor.verdict = Verdict::kCrash;
  survivor.seen = "it crashed";
  survivor.also = {"a/b"};
  return {first, second};
}

TEST(ProofTest, JsonReadsBackAndTellsOfNoSchedule) {
  for (const Proof& proof : TwoShards()) {
    const std::string text = ProofAsJson(proof);
    EXPECT_THAT(text, Not(AnyOf(HasSubstr("step 77"), HasSubstr("b/r"))))
        << "another run of the same may see another end of the race, by another case";
    const auto read = ProofFromJson(text);
    ASSERT_TRUE(read.ok()) << read.error();
    EXPECT_EQ(ProofAsJson(*read), text);
  }
}

// Each says what is wrong where, in words of its own.
TEST(ProofTest, JsonThatIsNone) {
  EXPECT_EQ(ProofFromJson("{}").error(), "this is no kill matrix: 'format' is missing");
  EXPECT_EQ(ProofFromJson("{\n[").error(), "this is no kill matrix: it is not JSON from line 2 on");
  EXPECT_EQ(ProofFromJson("[]").error(), "this is no kill matrix: it should be an object");
  EXPECT_EQ(ProofFromJson(R"({"format": 2})").error(), "the kill matrix has format 2, and this program reads format 1");
  const std::string good = ProofAsJson(TwoShards()[1]);
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from << " in " << text;
    return ProofFromJson(text.replace(at, from.size(), to)).error();
  };
  EXPECT_EQ(with("\"seed\": 7", "\"seed\": -7"),
            "this is no kill matrix: 'seed' should be a whole number of at least 0");
  EXPECT_EQ(with("\"shard\": 2", "\"shard\": 3"), "this is no kill matrix: 'shard' is 3 of 2");
  EXPECT_EQ(with("\"shard\": 2", "\"shard\": 0"), "this is no kill matrix: 'shard' is 0 of 2");
  EXPECT_EQ(with("\"cases\": 4", "\"cases\": 0"), "this is no kill matrix: 'null.failures' are more than 'null.cases'");
  EXPECT_EQ(with("\"killed\": false", "\"killed\": 0"),
            "this is no kill matrix: 'faults[0].killed' should be true or false");
  EXPECT_EQ(with("\"verdict\": \"crash\"", "\"verdict\": \"meltdown\""),
            "this is no kill matrix: 'faults[0].verdict' is 'meltdown', which is no verdict");
  EXPECT_EQ(with("\"without_fault\"", "\"without\""), "this is no kill matrix: 'without_fault' is missing");
}

// No more room is made for shards than there are.
TEST(ProofTest, OneShardOfVeryMany) {
  Proof shard = TwoShards()[1];
  shard.shards = 2'000'000'000;
  EXPECT_THAT(MergeProofs({shard}).error(), HasSubstr("shard 1/2000000000 is missing"));
}

TEST(ProofTest, ShardsJoinToTheWhole) {
  const std::vector<Proof> shards = TwoShards();
  const auto merged = MergeProofs({shards[1], shards[0]});
  ASSERT_TRUE(merged.ok()) << merged.error();
  EXPECT_EQ(merged->shards, 1);
  EXPECT_EQ(merged->null_cases, 7u);
  ASSERT_EQ(merged->null_failures.size(), 1u);
  ASSERT_EQ(merged->faults.size(), 2u);
  EXPECT_EQ(merged->faults[0].fault.name, "swaps") << "by clause";
  EXPECT_EQ(merged->faults[1].fault.name, "races");
  EXPECT_THAT(merged->without_fault, ElementsAre("A-003"));
}

TEST(ProofTest, ShardsThatDoNotMakeAWhole) {
  const std::vector<Proof> shards = TwoShards();
  EXPECT_THAT(MergeProofs({shards[0]}).error(), HasSubstr("shard 2/2 is missing"));
  EXPECT_THAT(MergeProofs({shards[0], shards[0]}).error(), HasSubstr("shard 1/2 is there twice"));
  const auto with = [&](const auto& change) {
    Proof other = shards[1];
    change(other);
    return MergeProofs({shards[0], other}).error();
  };
  EXPECT_THAT(with([](Proof& other) { other.seed = 8; }), HasSubstr("another run"));
  EXPECT_THAT(with([](Proof& other) { other.backend = "other"; }), HasSubstr("another run"));
  EXPECT_THAT(with([](Proof& other) { other.shards = 3; }), HasSubstr("another run"));
  EXPECT_THAT(with([](Proof& other) { other.without_fault.clear(); }), HasSubstr("another run"));
  EXPECT_FALSE(MergeProofs({}).ok());
}

}  // namespace
}  // namespace plumbline::cli
