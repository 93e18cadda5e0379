#include "conformance/harness/runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "conformance/harness/glob.h"
#include "conformance/harness/nearest.h"

namespace plumbline::harness {
namespace {

using reports::Verdict;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Case Named(const std::string& id, const std::vector<std::string>& clauses, Tier tier = Tier::kQuick) {
  Case one;
  one.id = id;
  one.chapter = id.substr(0, id.find('/'));
  one.clauses = clauses;
  one.tier = tier;
  return one;
}

const std::vector<Case>& Sample() {
  static const std::vector<Case> cases = {Named("keys/a", {"KEY-001"}), Named("keys/b", {"KEY-002"}, Tier::kFull),
                                          Named("tls/a", {"TLS-001", "KEY-001"}), Named("tls/b", {"TLS-002"})};
  return cases;
}

std::vector<std::string> Selected(const SuiteOptions& options) {
  const OrError<std::vector<Case>> selected = SelectCases(options, Sample());
  if (!selected.ok()) return {"error: " + selected.error()};
  std::vector<std::string> ids;
  for (const Case& one : *selected) ids.push_back(one.id);
  return ids;
}

SuiteOptions With(std::vector<std::string> filters, std::vector<std::string> ids = {}) {
  SuiteOptions options;
  options.filters = std::move(filters);
  options.ids = std::move(ids);
  return options;
}

TEST(SelectCasesTest, ByChapterClausePatternAndId) {
  EXPECT_THAT(Selected(With({})), ElementsAre("keys/a", "tls/a", "tls/b"));
  EXPECT_THAT(Selected(With({"tls"})), ElementsAre("tls/a", "tls/b"));
  EXPECT_THAT(Selected(With({"KEY-001"})), ElementsAre("keys/a", "tls/a"));
  EXPECT_THAT(Selected(With({"key-001"})), ElementsAre("keys/a", "tls/a"));
  EXPECT_THAT(Selected(With({"*/a"})), ElementsAre("keys/a", "tls/a"));
  EXPECT_THAT(Selected(With({"TLS-002", "keys"})), ElementsAre("keys/a", "tls/b"));
  EXPECT_THAT(Selected(With({}, {"keys/b"})), ElementsAre("keys/b")) << "an id is run whatever its tier";
}

TEST(SelectCasesTest, SelectingNothingIsAnError) {
  EXPECT_THAT(Selected(With({"nothing"})), ElementsAre(HasSubstr("selects nothing")));
  EXPECT_THAT(Selected(With({"nothing"})), ElementsAre(HasSubstr("The chapters are keys, tls;")));
  EXPECT_THAT(Selected(With({"kexs/*"})), ElementsAre(HasSubstr("did you mean 'keys")));
  EXPECT_THAT(Selected(With({"tls", "nothing"})), ElementsAre(HasSubstr("'nothing' selects nothing")));
  EXPECT_THAT(Selected(With({"KEY-002"})), ElementsAre(HasSubstr("in the standard tier")));
  EXPECT_THAT(Selected(With({}, {"keys/c"})), ElementsAre(HasSubstr("--case keys/c: there is no such case")));
}

TEST(SelectCasesTest, ShardsPartitionWhateverTheirNumber) {
  for (int shards = 1; shards < 6; ++shards) {
    std::vector<std::string> all;
    for (int shard = 1; shard <= shards; ++shard) {
      SuiteOptions options;
      options.shard = shard;
      options.shards = shards;
      const std::vector<std::string> part = Selected(options);
      all.insert(all.end(), part.begin(), part.end());
    }
    std::sort(all.begin(), all.end());
    EXPECT_THAT(all, ElementsAre("keys/a", "tls/a", "tls/b"));
  }
}

TEST(MatchesGlobTest, StarsAndQuestionMarks) {
  EXPECT_TRUE(MatchesGlob("a*c", "abbc"));
  EXPECT_TRUE(MatchesGlob("a*", "a"));
  EXPECT_TRUE(MatchesGlob("a?c", "abc"));
  EXPECT_FALSE(MatchesGlob("a?c", "ac"));
  EXPECT_FALSE(MatchesGlob("a*c", "abcd"));
  EXPECT_FALSE(MatchesGlob("", "a"));
}

TEST(ExitStatusTest, FailureBeforeFaultOfTheSuite) {
  const auto status = [](const std::vector<Verdict>& verdicts) {
    reports::Run run;
    for (const Verdict verdict : verdicts) run.cases.emplace_back().verdict = verdict;
    return ExitStatus(run);
  };
  EXPECT_EQ(status({Verdict::kPass, Verdict::kWaived, Verdict::kUnsupported}), 0);
  EXPECT_EQ(status({Verdict::kPass, Verdict::kFail}), 1);
  EXPECT_EQ(status({Verdict::kHarnessError, Verdict::kCrash}), 1);
  EXPECT_EQ(status({Verdict::kPass, Verdict::kTimeout}), 1);
  EXPECT_EQ(status({Verdict::kPass, Verdict::kVacuous}), 2);
  EXPECT_EQ(status({Verdict::kPass, Verdict::kHarnessError}), 2);
  EXPECT_EQ(status({Verdict::kPass, Verdict::kInconclusive}), 2);
  EXPECT_EQ(status({}), 2) << "nothing was checked";
}

TEST(NearestTest, OnlyWhatIsNear) {
  const std::vector<std::string> names = {"check", "list", "replay", "resolution/RES-004-newest"};
  EXPECT_EQ(Nearest("chekc", names), "check");
  EXPECT_EQ(Nearest("replays", names), "replay");
  EXPECT_EQ(Nearest("RES-004", names), "resolution/RES-004-newest");
  EXPECT_EQ(Nearest("something", names), "");
  EXPECT_EQ(Nearest("replaying", names), "replay");
  EXPECT_EQ(Nearest("LIST", names), "list");
  EXPECT_EQ(DidYouMean("lst", names), "; did you mean 'list'?");
  EXPECT_EQ(OneOf("lst", {"check", "list"}), "'lst' is none of check, list; did you mean 'list'?");
  EXPECT_EQ(OneOf("frob", {"check", "list"}), "'frob' is none of check, list");
  EXPECT_EQ(UpperCase("res-001"), "RES-001");
}

TEST(HashOfTest, DependsOnTextAndSeed) {
  EXPECT_EQ(HashOf("a", 1), HashOf("a", 1));
  EXPECT_NE(HashOf("a", 1), HashOf("a", 2));
  EXPECT_NE(HashOf("a", 1), HashOf("b", 1));
}

TEST(ShellWordTest, QuotesWhatAShellWouldRead) {
  EXPECT_EQ(ShellWord("a/b-c.so"), "a/b-c.so");
  EXPECT_EQ(ShellWord("a b"), "'a b'");
  EXPECT_EQ(ShellWord("it's"), "'it'\\''s'");
  EXPECT_EQ(ShellWord(""), "''");
  EXPECT_EQ(ShellWord("a\x1b'\\b\n"), "$'a\\x1b\\x27\\x5cb\\x0a'") << "as a terminal may show it";
}

TEST(ShellPathTest, IsNoOption) {
  EXPECT_EQ(ShellPath("a/-b.so"), "a/-b.so");
  EXPECT_EQ(ShellPath("-o/a.scn"), "./-o/a.scn");
  EXPECT_EQ(ShellPath("-a b"), "'./-a b'");
}

}  // namespace
}  // namespace plumbline::harness
