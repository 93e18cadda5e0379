// A scenario on the model and on a backend in this process, and what they disagree about.
//
//   const Subject subject(&LinkedBackend());
//   if (!subject.facts().problems.empty()) ...
//   Difference difference = subject.Try(scenario);
//   if (!difference.what.empty()) Broken(difference.what, ...);
//
// There is no process for each scenario, so that it is fast; in return a backend that crashes ends this one. One
// scenario at a time.
#ifndef PLUMBLINE_FUZZ_INPUT_DIFFERENTIAL_H_
#define PLUMBLINE_FUZZ_INPUT_DIFFERENTIAL_H_

#include <string>

#include "conformance/harness/backend_facts.h"
#include "spec/abi/abi.h"
#include "spec/model/machine.h"
#include "spec/scenario/scenario.h"

namespace plumbline::fuzz {

struct Difference {
  std::string what;  // empty: they agree, or the backend does not claim what it takes
  std::string expected, got;
  bool unsupported = false;
};

class Subject {
 public:
  explicit Subject(const pl_adapter* adapter);  // usable if facts().problems is empty

  const harness::BackendFacts& facts() const { return facts_; }
  Difference Try(const scenario::Scenario& scenario) const;

 private:
  const pl_adapter* adapter_;
  harness::BackendFacts facts_;
  model::Settings settings_;
};

// Ends the process as a crash, with the scenario and the disagreement, if there is one. False: unsupported. With
// PLUMBLINE_FUZZ_SHOW in the environment each scenario is printed before it is tried.
bool RequireAgreement(const Subject& subject, const scenario::Scenario& scenario);

}  // namespace plumbline::fuzz

#endif  // PLUMBLINE_FUZZ_INPUT_DIFFERENTIAL_H_
