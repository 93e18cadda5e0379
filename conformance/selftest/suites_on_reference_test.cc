// Every case of the quick tier on the reference backend, each as a test of its own: with the keys of its own release,
// and with those of the newest.

#include <gtest/gtest.h>

#include <cstdlib>
#include <deque>
#include <iostream>
#include <memory>
#include <string>

#include "conformance/harness/case_runner.h"
#include "conformance/harness/executor.h"
#include "conformance/harness/sanitizers.h"
#include "conformance/suites/corpus_cases.h"
#include "conformance/suites/service.h"
#include "reports/result/result.h"

namespace plumbline::selftest {
namespace {

struct Suite {
  std::unique_ptr<harness::Executor> executor;
  harness::Waivers waivers;
  std::unique_ptr<harness::CaseRunner> runner;
  bool full_of_keys = false;  // no room in a set for backends on top, which a property may need too often
};

// Programs that a sanitizer itself does not survive, whatever the backend: the thread sanitizer gives up on a thread
// that starts after main has ended, or in a child of a process with threads; the address sanitizer's allocator is left
// locked in a child that was forked while another thread allocated.
bool BeyondSanitizer([[maybe_unused]] const std::string& id) {
#if defined(PLUMBLINE_THREAD_SANITIZER)
  return id == "lifecycle/exit-after-main-ended" || id == "lifecycle/fork-at-first-use";
#elif defined(PLUMBLINE_ADDRESS_SANITIZER)
  return id.starts_with("lifecycle/fork-while-others") || id == "lifecycle/fork-at-first-use";
#else
  return false;
#endif
}

class SuiteCase : public ::testing::Test {
 public:
  SuiteCase(const harness::Case& one, Suite& suite) : case_(one), suite_(suite) {}

  void TestBody() override {
    if (BeyondSanitizer(case_.id)) GTEST_SKIP() << "not under this sanitizer";
    const reports::CaseResult result = suite_.runner->Run(case_);
    if (result.verdict == reports::Verdict::kUnsupported) {
      GTEST_SKIP() << "unsupported: " << ::testing::PrintToString(result.missing_capabilities);
    }
    if (suite_.full_of_keys && result.verdict == reports::Verdict::kInconclusive) {
      GTEST_SKIP() << "inconclusive: " << result.findings.front().summary;
    }
    EXPECT_EQ(result.verdict, reports::Verdict::kPass) << reports::Spelling(result.verdict);
    for (const reports::Finding& finding : result.findings) {
      ADD_FAILURE() << finding.summary << "\nexpected " << finding.expected << "\ngot      " << finding.got << "\n"
                    << finding.scenario << finding.rerun;
    }
  }

 private:
  const harness::Case& case_;
  Suite& suite_;
};

// GoogleTest's names are identifiers.
std::string Identifier(const std::string& text) {
  std::string name = text;
  for (char& c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  return name;
}

int Main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  const char* build = std::getenv("PLUMBLINE_BUILD");
  if (build == nullptr) {
    std::cerr << "PLUMBLINE_BUILD is not set: run this test through ctest\n";
    return 2;
  }
  auto cases = suites::AllCases();
  if (!cases.ok()) {
    std::cerr << cases.error() << "\n";
    return 2;
  }
  static const std::vector<harness::Case> all = std::move(*cases);
  // Not a static: an executor that runs destructors as it leaves, to write its coverage, would shut the others'
  // sockets.
  std::deque<Suite> suites;
  for (const std::string release : {"pytorch-1.13", "pytorch-2.15"}) {
    harness::ExecutorConfig config;
    config.path = std::string(build) + "/lib/plumbline/backends/reference.so";
    config.release = release;
    config.service = &suites::Serve;
    auto executor = harness::Executor::Start(config);
    if (!executor.ok()) {
      std::cerr << executor.error() << "\n";
      return 2;
    }
    Suite& suite = suites.emplace_back();
    suite.executor = std::move(*executor);
    suite.full_of_keys = release == "pytorch-2.15";
    harness::CaseRunnerOptions options;
    options.tier = harness::Tier::kQuick;
    options.backend_argument = "reference";
    options.more_arguments = " --release " + release;
    suite.runner = std::make_unique<harness::CaseRunner>(*suite.executor, suite.waivers, options);
    for (const harness::Case& one : all) {
      if (one.tier != harness::Tier::kQuick) continue;
      ::testing::RegisterTest(Identifier(one.chapter + "_" + release).c_str(), Identifier(one.id).c_str(), nullptr,
                              nullptr, one.where.c_str(), 1,
                              [&one, &suite]() -> SuiteCase* { return new SuiteCase(one, suite); });
    }
  }
  return RUN_ALL_TESTS();
}

}  // namespace
}  // namespace plumbline::selftest

int main(int argc, char** argv) { return plumbline::selftest::Main(argc, argv); }
