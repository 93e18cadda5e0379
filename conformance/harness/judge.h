// Judges a scenario: what the model predicts, what the backend does, and whether that is right.
//
//   Judge judge(executor, waivers.DeviationsFor(id, release));
//   Judgement j = judge.Try(scenario);
//   if (j.verdict == reports::Verdict::kFail) Show(judge.Shrink(scenario, j));
//
// A disagreement that the model predicts under one of the given deviations, or all of them together, is kWaived.
// Belongs to one thread; borrows the executor.
#ifndef PLUMBLINE_CONFORMANCE_HARNESS_JUDGE_H_
#define PLUMBLINE_CONFORMANCE_HARNESS_JUDGE_H_

#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "conformance/harness/compare.h"
#include "conformance/harness/executor.h"
#include "conformance/harness/waivers.h"
#include "reports/result/result.h"
#include "spec/model/machine.h"
#include "spec/scenario/scenario.h"

namespace plumbline::harness {

struct Judgement {
  reports::Verdict verdict = reports::Verdict::kHarnessError;  // kPass: they agree
  std::vector<scenario::Outcome> predicted, observed;          // observed may be empty
  int step = -1;        // the first that is wrong; as many as there are steps: the clean-up; -1: none, or not known
  std::string summary;  // one line: the step and what about it is wrong
  std::string expected, got, rule;
  bool about_message = false;            // all is right but what an error says
  std::vector<std::string> waivers;      // kWaived: ids of those whose deviations predict it
  std::vector<std::string> deviations;   // kWaived: their names
  std::set<std::string> waived_clauses;  // kWaived: that they break
  std::string missing;                   // kUnsupported
  bool refused = false;  // kUnsupported: it claims what is needed, and yet opens no registry; `missing` says why

  bool Failed() const {
    return verdict == reports::Verdict::kFail || verdict == reports::Verdict::kCrash ||
           verdict == reports::Verdict::kTimeout;
  }
};

// The model's settings for a backend.
model::Settings SettingsFor(const BackendFacts& facts);

class Judge {
 public:
  Judge(Executor& executor, std::vector<const Waiver*> deviations)
      : executor_(executor), deviations_(std::move(deviations)) {}

  // Anything but an agreement makes the next scenario start in a fresh executor.
  Judgement Try(const scenario::Scenario& scenario);

  struct Smallest {
    scenario::Scenario scenario;  // with the model's outcomes written at its calls and where it fails
    Judgement judgement;          // of a fresh executor
    bool confirmed = true;        // false: in a fresh executor the original scenario does not fail
  };
  // Leaves out steps, body items and keys as long as it fails in the same way.
  Smallest Shrink(const scenario::Scenario& scenario, const Judgement& judgement);

 private:
  Judgement Compared(const scenario::Scenario& scenario, Observation seen);
  void TryDeviations(const scenario::Scenario& scenario, Judgement& judgement, const Observation& seen);

  Executor& executor_;
  std::vector<const Waiver*> deviations_;
};

}  // namespace plumbline::harness

#endif  // PLUMBLINE_CONFORMANCE_HARNESS_JUDGE_H_
