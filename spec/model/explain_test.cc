#include "spec/model/explain.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "spec/scenario/parse.h"

namespace plumbline::model {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

scenario::Scenario Parsed(const std::string& text) {
  const scenario::ParseResult parsed = scenario::ParseFragment(text, "pytorch-1.13");
  EXPECT_TRUE(parsed.scenario) << parsed.error->message;
  return parsed.scenario.value_or(scenario::Scenario{});
}

std::vector<std::string> CausesOfLast(const std::string& text) {
  const std::vector<Explanation> explanations = Explain(Parsed(text), {});
  std::vector<std::string> causes;
  if (explanations.empty()) return causes;
  for (const Cause& cause : explanations.back().causes) causes.push_back(cause.Text());
  return causes;
}

// Every cause has a scenario in spec/corpus/explain, with the diagnosis as a comment above the call.
TEST(ExplainTest, GivesTheDiagnosesOfTheCorpus) {
  int diagnoses = 0;
  for (const auto& entry : fs::directory_iterator("spec/corpus/explain")) {
    std::ostringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    const scenario::ParseResult parsed = scenario::Parse(text.str());
    ASSERT_TRUE(parsed.scenario) << entry.path() << ": " << parsed.error->message;
    const std::vector<Explanation> explanations = Explain(*parsed.scenario, {});
    for (const auto& [step, comment] : parsed.scenario->comments) {
      const std::string marker = "# diagnosis: ";
      const std::size_t at = comment.find(marker);
      if (at == std::string::npos) continue;
      const std::string wanted = comment.substr(at + marker.size(), comment.find('\n', at) - at - marker.size());
      ++diagnoses;
      const auto e = std::find_if(
          explanations.begin(), explanations.end(),
          [step = step](const Explanation& candidate) { return static_cast<int>(candidate.step) == step; });
      ASSERT_NE(e, explanations.end()) << entry.path();
      const bool given = std::any_of(e->causes.begin(), e->causes.end(),
                                     [&](const Cause& cause) { return cause.Text().starts_with(wanted); });
      EXPECT_TRUE(given) << entry.path() << "\n  wanted: " << wanted << "\n" << Print(*e);
      for (const Cause& cause : e->causes) EXPECT_NE(cause.clause, "") << cause.Text();
    }
  }
  EXPECT_GE(diagnoses, 16);
}

TEST(ExplainTest, RemarksOnAnExpectationThatTheRulesDoNotBearOut) {
  const std::vector<Explanation> explanations =
      Explain(Parsed("define demo::f(Tensor a) -> Tensor\nimpl demo::f CPU k\n"
                     "call demo::f [CPU] => other\ncall demo::f [CPU] => k\n"),
              {});
  ASSERT_EQ(explanations.size(), 2u);
  EXPECT_THAT(Print(explanations[0]), HasSubstr("the scenario says otherwise: expected other to run, but k ran\n"));
  EXPECT_THAT(Print(explanations[1]), Not(HasSubstr("otherwise")));
}

TEST(ExplainTest, ShowsTheFirstAndTheLastOfVeryManyCalls) {
  const std::vector<Explanation> explanations = Explain(
      Parsed("kernel k { call demo::f }\ndefine demo::f(Tensor a) -> Tensor\nimpl demo::f CPU k\ncall demo::f [CPU]\n"),
      {});
  ASSERT_EQ(explanations.size(), 1u);
  EXPECT_EQ(explanations[0].calls.size(), 101u);
  const std::string text = Print(explanations[0]);
  EXPECT_THAT(text, HasSubstr("\n  ... 79 more calls ...\n"));
  EXPECT_THAT(text, HasSubstr("refused: overflow: the kernels of a scenario nest at most 100 deep\n"));
  EXPECT_EQ(text.find(std::string(60, ' ')), std::string::npos);
}

TEST(ExplainTest, ShowsSetsRulesAndCache) {
  const std::vector<Explanation> explanations = Explain(Parsed(R"(
define   demo::f(Tensor a) -> Tensor
impl     demo::f CPU kcpu
impl     demo::f Autograd kauto
call     demo::f [CPU AutogradCPU AutocastCPU]
call     demo::f [CPU AutogradCPU AutocastCPU]
)"),
                                                        {});
  ASSERT_EQ(explanations.size(), 2u);
  const CallExplanation& call = explanations[0].calls.at(0);
  EXPECT_EQ(call.brought, "[CPU AutogradCPU AutocastCPU]");
  EXPECT_THAT(call.added, ::testing::ElementsAre("BackendSelect", "ADInplaceOrView"));
  EXPECT_THAT(call.removed, ::testing::ElementsAre("AutocastCPU"));
  EXPECT_THAT(call.fell_through, ::testing::ElementsAre("BackendSelect", "ADInplaceOrView"));
  EXPECT_EQ(call.backend, "CPU");
  EXPECT_EQ(call.received, "[CPU AutogradCPU]");
  EXPECT_EQ(call.key, "AutogradCPU");
  EXPECT_TRUE(call.rules.back().applies);
  EXPECT_EQ(call.rules.back().rule, "autograd");
  EXPECT_EQ(call.rules.front().rule, "kernel");
  EXPECT_FALSE(call.rules.front().applies);
  EXPECT_FALSE(call.hit);
  EXPECT_TRUE(explanations[1].calls.at(0).hit);
  EXPECT_THAT(Print(explanations[0]), HasSubstr("kernel 'kauto', registered at Autograd, line 4"));
}

TEST(ExplainTest, TellsWhatHoldsACompositeOff) {
  EXPECT_THAT(CausesOfLast("define demo::f(Tensor a) -> Tensor\n"
                           "impl demo::f CompositeImplicitAutograd k1\n"
                           "impl demo::f PrivateUse1 k2\n"
                           "call demo::f [PrivateUse1 AutogradPrivateUse1]\n"),
              ::testing::Contains("held off: the kernel at PrivateUse1 keeps CompositeImplicitAutograd out of "
                                  "AutogradPrivateUse1"));
}

TEST(ExplainTest, TellsWhatWasReleased) {
  EXPECT_THAT(CausesOfLast("define demo::f(Tensor a) -> Tensor\nimpl demo::f CPU k1 as r1\nrelease r1\n"
                           "call demo::f [CPU]\n"),
              ::testing::Contains(HasSubstr("released before the call: k1 at CPU")));
}

TEST(ExplainTest, ComparesWithWhatWasObserved) {
  const scenario::Scenario s = Parsed(
      "define demo::f(Tensor a) -> Tensor\nimpl demo::f CompositeImplicitAutograd k1\n"
      "impl demo::f CompositeExplicitAutograd k2\ncall demo::f [CPU AutogradCPU]\n");
  Settings faulty;
  faulty.deviations = {Deviation::kStaleAfterCompositeExplicit};
  const std::vector<scenario::Outcome> stale = Predict(s, faulty);
  EXPECT_EQ(Explain(s, {}, &stale).back().causes.at(0).Text(),
            "a stale answer: k1 ran, though the registration of k2 at CompositeExplicitAutograd came before this call");
  const std::vector<scenario::Outcome> right = Predict(s, {});
  const std::vector<Explanation> explained = Explain(s, {}, &right);
  for (const Cause& cause : explained.back().causes) EXPECT_NE(cause.kind, "a stale answer");
}

TEST(ExplainTest, SaysNothingOfAStrangeRelease) {
  scenario::Scenario s;
  s.release = "pytorch-0";
  EXPECT_TRUE(Explain(s, {}).empty());
}

// ---- many steps ----

double SecondsToExplain(const std::string& text) {
  const scenario::Scenario scenario = Parsed(text);
  const auto begin = std::chrono::steady_clock::now();
  Explain(scenario, {});
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// Each of these grows what a call has to be told from: operators, kernels of one stack, definitions to come, releases
// that were made. Were it looked through for each call, four times the steps would take sixteen times as long.
TEST(ExplainTest, TakesAsLongAsThereAreSteps) {
  const std::string define = "define demo::f(Tensor a) -> Tensor\n";
  const std::pair<const char*, std::function<std::string(int)>> shapes[] = {
      {"calls",
       [&](int steps) {
         std::string text = define + "impl demo::f CPU k\n";
         for (int i = 0; i < steps; ++i) text += "call demo::f [CPU]\n";
         return text;
       }},
      {"operators",
       [](int steps) {
         std::string text;
         for (int i = 0; i < steps / 2; ++i) {
           const std::string name = "demo::f" + std::to_string(i);
           text += "define " + name + "(Tensor a) -> Tensor\ncall " + name + " [CPU]\n";
         }
         return text;
       }},
      {"a stack of kernels",
       [&](int steps) {
         std::string text = define;
         for (int i = 0; i < steps / 2; ++i)
           text += "impl demo::f CPU k" + std::to_string(i) + "\ncall demo::f [CPU]\n";
         return text;
       }},
      {"releases",
       [&](int steps) {
         std::string text = define;
         for (int i = 0; i < steps / 3; ++i) {
           const std::string name = "r" + std::to_string(i);
           text += "impl demo::f CPU k as " + name + "\nrelease " + name + "\ncall demo::f [CPU]\n";
         }
         return text;
       }},
      {"kernels to come",
       [&](int steps) {
         std::string text = define;
         for (int i = 0; i < steps / 2; ++i) text += "call demo::f [CPU]\n";
         for (int i = 0; i < steps / 2; ++i) text += "impl demo::f CPU k\n";
         return text;
       }},
  };
  for (const auto& [what, text] : shapes) {
    const double few = SecondsToExplain(text(500)), many = SecondsToExplain(text(2000));
    EXPECT_LT(many, std::max(8 * few, 0.2)) << what << ": " << few << " s, then " << many << " s";
  }
}

TEST(ExplainTest, TellsOfAFewShadowedKernelsAndCountsTheRest) {
  std::string text = "define demo::f(Tensor a) -> Tensor\n";
  for (int i = 0; i < 10; ++i) text += "impl demo::f CPU k" + std::to_string(i) + "\n";
  const std::vector<Explanation> explanations = Explain(Parsed(text + "call demo::f [CPU]\n"), {});
  ASSERT_EQ(explanations.size(), 1u);
  ASSERT_EQ(explanations[0].causes.size(), 4u);
  EXPECT_EQ(explanations[0].causes[0].kernel, "k8 (CPU)");
  EXPECT_EQ(explanations[0].causes[3].kernel, "6 more (CPU)");
  EXPECT_EQ(explanations[0].causes[3].Text(), "shadowed: k9 was registered later at CPU than these too");
}

TEST(ExplainTest, AFallbackThatWasReleasedIsTold) {
  const std::vector<std::string> causes = CausesOfLast(R"(
define   demo::f(Tensor a) -> Tensor
fallback CPU kf as r
impl     demo::f CUDA k
release  r
call     demo::f [CPU]
)");
  EXPECT_THAT(causes, ::testing::Contains("released before the call: kf at CPU, line 5"));
}

// A name that is given again stands for the newest of that name only.
TEST(ExplainTest, AKernelOfAnotherOperatorIsNoCause) {
  const std::vector<std::string> causes = CausesOfLast(R"(
define   demo::f(Tensor a) -> Tensor
define   demo::g(Tensor a) -> Tensor
fallback CPU kf
impl     demo::g CPU k as r
release  r
call     demo::f [CUDA]
)");
  EXPECT_THAT(causes, ::testing::Each(::testing::Not(HasSubstr("released"))));
}

TEST(ExplainTest, SaysNothingOfWhatAnUnknownKernelDoes) {
  const std::vector<Explanation> explanations =
      Explain(Parsed("define demo::f(Tensor a) -> Tensor\nimpl demo::f CPU k\ncall demo::f [CPU]\n"), {});
  EXPECT_THAT(Print(explanations[0]), HasSubstr("returns arg 0"));
  EXPECT_THAT(Print(explanations[0], Bodies::kUnknown),
              ::testing::AllOf(HasSubstr("outcome: k runs; what it does then is not told here\n"),
                               ::testing::Not(HasSubstr("returns"))));
}

}  // namespace
}  // namespace plumbline::model
