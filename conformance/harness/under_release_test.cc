#include "conformance/harness/under_release.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "conformance/harness/text_file.h"
#include "spec/scenario/parse.h"

namespace plumbline::harness {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

BackendFacts Of(const std::string& release) {
  BackendFacts facts;
  facts.release = release;
  return facts;
}

scenario::Scenario Written(const std::string& text) {
  const scenario::ParseResult parsed = scenario::Parse(text);
  EXPECT_TRUE(parsed.scenario) << text;
  return *parsed.scenario;
}

OrError<scenario::Scenario> Moved(const std::string& steps, BackendFacts facts = Of("pytorch-2.15")) {
  return UnderRelease(Written("scenario 1 pytorch-1.13\ndefine demo::f(Tensor a) -> Tensor\n" + steps), facts);
}

TEST(UnderReleaseTest, MovesWhatHoldsThere) {
  const OrError<scenario::Scenario> moved =
      Moved("impl demo::f CPU k\ncall demo::f [CPU AutogradCPU] => k with [CPU]\n");
  ASSERT_TRUE(moved.ok()) << moved.error();
  EXPECT_EQ(moved->release, "pytorch-2.15");
  EXPECT_EQ(moved->steps.size(), 3u);
}

TEST(UnderReleaseTest, LeavesWhatIsWrittenForItsOwnKeys) {
  const auto why = Moved("impl demo::f CompositeExplicitAutograd k\ncall demo::f [ORT] => k\n").error();
  EXPECT_THAT(why, HasSubstr("line 4, with the keys of pytorch-2.15 in place of pytorch-1.13"));
}

TEST(UnderReleaseTest, LeavesWhatEndsInAnotherErrorThoughNobodyWroteOne) {
  EXPECT_THAT(Moved("impl demo::f Named k\n").error(), HasSubstr("line 3"));
}

TEST(UnderReleaseTest, LeavesWhatRunsAnotherKernelThoughNobodyWroteOne) {
  // The one release has PrivateUse1 above Meta, the other below.
  EXPECT_THAT(Moved("impl demo::f Meta a\nimpl demo::f PrivateUse1 b\ncall demo::f [Meta PrivateUse1]\n").error(),
              HasSubstr("line 5"));
}

TEST(UnderReleaseTest, TakesWhatTheBackendBrings) {
  const std::string steps = "fallback AutogradCPU k => error duplicate\n";
  EXPECT_TRUE(Moved(steps).ok());
  BackendFacts bare = Of("pytorch-2.15");
  bare.fallbacks.emplace();
  EXPECT_THAT(Moved(steps, bare).error(), HasSubstr("line 3"));
}

TEST(WrittenForAnotherStateTest, TellsWhereTheBackendStartsFromIt) {
  BackendFacts facts = Of("pytorch-1.13");
  const scenario::Scenario scenario = Written("scenario 1 pytorch-1.13\nfallback PrivateUse1 k => ok\n");
  facts.fallbacks.emplace();
  EXPECT_EQ(WrittenForAnotherState(scenario, facts), std::nullopt);
  facts.fallbacks->push_back({"PrivateUse1", false});
  EXPECT_THAT(WrittenForAnotherState(scenario, facts).value_or(""), HasSubstr("line 2"));
  EXPECT_EQ(WrittenForAnotherState(Written("scenario 1 pytorch-1.13\nfallback PrivateUse2 k => ok\n"), facts),
            std::nullopt);
}

TEST(WithKeysOfTest, MovesWhatHoldsThereAndNothingElse) {
  const std::string head = "scenario 1 pytorch-1.13\ndefine demo::f(Tensor a) -> Tensor\nimpl demo::f CPU k\n";
  const auto release = [&](const std::string& call) {
    return WithKeysOf(Of("pytorch-2.15"), Written(head + call)).release;
  };
  EXPECT_EQ(release("on a call demo::f [CPU] => k\n"), "pytorch-2.15");
  EXPECT_EQ(release("on a call demo::f [ORT]\n"), "pytorch-1.13");
}

// They are about steps that overlap, not about keys.
TEST(WithKeysOfTest, MovesAllThatIsRaced) {
  for (const auto& entry : fs::directory_iterator("spec/corpus/concurrency")) {
    const OrError<std::string> text = ReadTextFile(entry.path().string(), "a scenario");
    ASSERT_TRUE(text.ok()) << text.error();
    EXPECT_EQ(WithKeysOf(Of("pytorch-2.15"), Written(*text)).release, "pytorch-2.15") << entry.path();
  }
}

TEST(UnderReleaseTest, OfTheCorpusMostMoves) {
  int moved = 0, all = 0;
  for (const auto& entry : fs::recursive_directory_iterator("spec/corpus")) {
    const std::string path = entry.path().string();
    if (entry.path().extension() != ".scn" || path.find("/tables/") != std::string::npos) continue;
    const OrError<std::string> text = ReadTextFile(path, "a scenario");
    ASSERT_TRUE(text.ok()) << text.error();
    const scenario::Scenario scenario = Written(*text);
    if (scenario.release != "pytorch-1.13") continue;
    ++all;
    moved += UnderRelease(scenario, Of("pytorch-2.15")).ok() ? 1 : 0;
  }
  EXPECT_GT(moved * 10, all * 9) << moved << " of " << all;
}

}  // namespace
}  // namespace plumbline::harness
