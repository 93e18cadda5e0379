// That the properties can see faults: each deviation of the model, played as a backend, is found by a property within
// its runs, and what is found is small. That what they generate can be written and read, and asks something.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/Gen.h>

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "conformance/harness/case.h"
#include "conformance/harness/case_runner.h"
#include "conformance/harness/compare.h"
#include "conformance/harness/property.h"
#include "conformance/harness/shrink.h"
#include "spec/model/machine.h"
#include "spec/scenario/capabilities_needed.h"
#include "spec/scenario/parse.h"
#include "spec/scenario/print.h"

namespace plumbline::suites {
namespace {

using harness::PropertyVerdict;
using scenario::Outcome;
using scenario::Scenario;

constexpr std::uint64_t kEverything = PL_CAPABILITY(END) - 1;

harness::BackendFacts Facts(const std::string& release, std::uint64_t capabilities = kEverything) {
  harness::BackendFacts facts;
  facts.name = "model";
  facts.release = release;
  facts.capabilities = capabilities;
  return facts;
}

// Runs a case's properties against a model with a deviation. Without one: every scenario is read back and looked over.
class ModelContext : public harness::CaseContext {
 public:
  ModelContext(std::string id, harness::BackendFacts facts, model::Deviations deviations, int most = 300)
      : id_(std::move(id)), facts_(std::move(facts)), deviations_(std::move(deviations)), most_(most) {}

  const harness::BackendFacts& backend() const override { return facts_; }
  harness::Tier tier() const override { return harness::Tier::kStandard; }

  bool CheckProperty(const rc::Gen<Scenario>& generator, int runs) override {
    ++properties;
    const auto attempt = [this](const Scenario& s) { return Try(s); };
    const std::uint64_t seed = harness::HashOf(id_, 1);
    const harness::PropertyRun run = harness::RunProperty(generator, seed, std::min(runs, most_), attempt);
    agreed += run.agreed;
    if (!run.failing) return !run.stopped;
    generated_shrink = *run.failing;
    found =
        harness::ShrinkScenario(*run.failing, -1, [&](const Scenario& s) { return Try(s) == PropertyVerdict::kFails; });
    return false;
  }
  bool Check(const Scenario& s) override { return Try(s) == PropertyVerdict::kAgrees; }
  harness::Observation Run(const Scenario&) override { return {}; }
  harness::Executor& executor() override { throw std::logic_error("the model runs in no executor"); }
  std::uint64_t seed() const override { return 1; }
  void Tried(std::uint64_t) override {}
  void Unsupported(const std::string&) override {}
  bool Accepts(std::string_view) const override { return false; }
  void Accepted(const std::string&, std::uint64_t) override {}
  std::string BackendArguments() const override { return " --backend model"; }
  std::string SaveAs(const std::string&, const std::string&) override { return ""; }
  void Inconclusive(const std::string& what) override { ADD_FAILURE() << id_ << ": " << what; }
  void Fail(reports::Finding finding, reports::Verdict) override { ADD_FAILURE() << id_ << ": " << finding.summary; }
  void Broken(const std::string& what) override { ADD_FAILURE() << id_ << ": " << what; }

  int properties = 0;
  int agreed = 0;
  std::optional<Scenario> generated_shrink, found;
  std::map<std::string, int> errors;  // by class, of all steps
  int steps = 0, runs_of_kernels = 0;
  std::set<std::string> texts;

 private:
  PropertyVerdict Try(const Scenario& s) {
    const std::string text = scenario::Print(s);
    const scenario::ParseResult parsed = scenario::Parse(text);
    if (!parsed.scenario) {
      ADD_FAILURE() << id_ << " generates what does not parse, line " << parsed.error->line << ": "
                    << parsed.error->message << "\n"
                    << text;
      return PropertyVerdict::kStop;
    }
    if ((scenario::CapabilitiesNeeded(*parsed.scenario) & ~facts_.capabilities) != 0)
      return PropertyVerdict::kDiscarded;
    const std::vector<Outcome> right = model::Predict(*parsed.scenario, {});
    if (deviations_.empty()) {
      texts.insert(text);
      for (const Outcome& outcome : right) {
        ++steps;
        ++errors[outcome.error];
        runs_of_kernels += static_cast<int>(outcome.runs.size());
        // A body that calls itself for ever; no generator may write one.
        if (outcome.error == "overflow") ADD_FAILURE() << id_ << " does not end\n" << text;
      }
      return PropertyVerdict::kAgrees;
    }
    model::Settings wrong;
    wrong.deviations = deviations_;
    const std::vector<Outcome> got = model::Predict(*parsed.scenario, wrong);
    return harness::Compare(*parsed.scenario, right, got, facts_.capabilities).result ==
                   harness::Comparison::Result::kDiffers
               ? PropertyVerdict::kFails
               : PropertyVerdict::kAgrees;
  }

  const std::string id_;
  const harness::BackendFacts facts_;
  const model::Deviations deviations_;
  const int most_;  // runs, to save time
};

std::vector<harness::Case> Properties() {
  std::vector<harness::Case> cases;
  for (const harness::Case& one : harness::RegisteredCases()) {
    if (one.where.find("properties_") != std::string::npos) cases.push_back(one);
  }
  return cases;
}

TEST(PropertiesTest, GenerateWhatCanBeWrittenAndReadAndAsksSomething) {
  const std::vector<harness::Case> cases = Properties();
  ASSERT_GT(cases.size(), 30u);
  for (const std::string release : {"pytorch-1.13", "pytorch-2.x", "pytorch-2.15"}) {
    for (const harness::Case& one : cases) {
      SCOPED_TRACE(release + " " + one.id);
      ModelContext context(one.id, Facts(release), {}, 50);
      one.run(context);
      EXPECT_EQ(context.properties, 1);
      EXPECT_GE(context.agreed, 50);
      // Most differ from each other.
      EXPECT_GT(static_cast<int>(context.texts.size()) * 10, context.agreed * 8);
      if (::testing::Test::HasFailure()) return;
      std::string errors;
      for (const auto& [name, count] : context.errors) {
        errors += " " + (name.empty() ? std::string("ok") : name) + "=" + std::to_string(count);
      }
      RecordProperty(one.id + "@" + release, std::to_string(context.agreed) + " scenarios," + errors);
      const int fine = context.errors[""];
      EXPECT_GT(fine * 6, context.steps) << "most steps fail:" << errors;
    }
  }
}

TEST(PropertiesTest, NeedOnlyWhatTheCaseSaysItNeeds) {
  for (const harness::Case& one : Properties()) {
    SCOPED_TRACE(one.id);
    ModelContext context(one.id, Facts("pytorch-1.13", one.needs), {}, 20);
    one.run(context);
    EXPECT_GE(context.agreed, 20);
  }
}

TEST(PropertiesTest, NameClausesAndAChapter) {
  for (const harness::Case& one : Properties()) {
    SCOPED_TRACE(one.id);
    EXPECT_FALSE(one.clauses.empty());
    EXPECT_EQ(std::set<std::string>(one.clauses.begin(), one.clauses.end()).size(), one.clauses.size());
    EXPECT_NE(one.needs & PL_CAPABILITY(CORE), 0u);
  }
}

// The properties that are there for each deviation; others may see it too.
const std::map<std::string, std::vector<std::string>>& Finders() {
  static const std::map<std::string, std::vector<std::string>> kFinders = {
      {"stale-autogradother", {"resolution/autograd-other", "registration/every-order"}},
      {"stale-autogradnestedtensor", {"resolution/autograd-other", "registration/every-order"}},
      {"stale-after-composite-explicit", {"resolution/aliases", "registration/every-order", "caching/changes"}},
      {"guard-leaks-backend-bits", {"tls/guards", "tls/unwound"}},
      {"guard-restores-what-it-found", {"tls/guards"}},
      {"fallback-replaces-another", {"resolution/fallback"}},
      {"refused-impl-poisons-symbolic-calls", {"registration/typed-kernels", "registration/refusals"}},
      {"autogradmtia-has-no-backend", {"registration/every-order"}},
      {"signature-outlives-kernels", {"registration/typed-kernels", "calling/typed-misfits"}},
      {"refused-impl-poisons-signature", {"registration/typed-kernels", "registration/refusals"}},
      {"mask-before-thread-state", {"resolution/fallthrough-under-guards"}},
      {"alias-fallback-fills-undefined", {"registration/misplaced-fallback"}},
      {"handle-outlives-definition", {"registration/handles"}},
      {"fallback-key-beats-library", {"registration/fallbacks-in-libraries"}},
      {"boxed-call-unchecked", {"calling/misfits"}},
      {"typed-call-unchecked", {"calling/typed-misfits"}},
  };
  return kFinders;
}

class DeviationTest : public ::testing::TestWithParam<model::DeviationInfo> {};

TEST_P(DeviationTest, IsFoundAndSmall) {
  const auto finders = Finders().find(std::string(GetParam().name));
  ASSERT_NE(finders, Finders().end()) << "which property finds " << GetParam().name << "?";
  std::vector<std::string> asked;
  for (const harness::Case& one : Properties()) {
    if (std::find(finders->second.begin(), finders->second.end(), one.id) == finders->second.end()) continue;
    asked.push_back(one.id);
    // The newest release has all the keys that deviations are about.
    const bool newest = GetParam().deviation == model::Deviation::kFallbackReplacesAnother ||
                        GetParam().deviation == model::Deviation::kAutogradMtiaHasNoBackend;
    ModelContext context(one.id, Facts(newest ? "pytorch-2.15" : "pytorch-1.13"), {GetParam().deviation});
    one.run(context);
    ASSERT_TRUE(context.found) << one.id << " does not see it";
    EXPECT_LE(context.found->steps.size(), 6u) << one.id << " found\n" << scenario::Print(*context.found);
    // The generator's own shrinks come near by themselves.
    EXPECT_LE(context.generated_shrink->steps.size(), 8u) << one.id << " shrank to\n"
                                                          << scenario::Print(*context.generated_shrink);
  }
  EXPECT_THAT(asked, ::testing::UnorderedElementsAreArray(finders->second));
}

INSTANTIATE_TEST_SUITE_P(All, DeviationTest,
                         ::testing::ValuesIn(std::vector<model::DeviationInfo>(model::AllDeviations().begin(),
                                                                               model::AllDeviations().end())),
                         [](const auto& info) {
                           std::string name(info.param.name);
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace plumbline::suites
