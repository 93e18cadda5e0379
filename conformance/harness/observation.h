// What one scenario led to on a backend. Plain data; no thread rules.
#ifndef PLUMBLINE_CONFORMANCE_HARNESS_OBSERVATION_H_
#define PLUMBLINE_CONFORMANCE_HARNESS_OBSERVATION_H_

#include <string>
#include <vector>

#include "spec/scenario/outcome.h"

namespace plumbline::harness {

struct Observation {
  enum class Ending {
    kFinished,  // outcomes are complete
    kCrash,     // a signal, an exit, or an exception across the ABI; `what` says which
    kTimeout,
    kUnsupported,  // needs what the backend does not claim; `what` names it, or says why it is `refused`
    kHarnessError  // `what` says why
  };
  Ending ending = Ending::kHarnessError;
  std::vector<scenario::Outcome> outcomes;
  std::vector<std::string> leaks;  // kernels whose contexts were not destroyed once each, in words
  std::string what;
  bool refused = false;  // the backend opens no registry of the scenario's release and keys
  std::string output;    // the last lines that the backend wrote to standard output and error
  int step = -1;         // the step that was running when it ended early; as many as there are steps: the clean-up
};

}  // namespace plumbline::harness

#endif  // PLUMBLINE_CONFORMANCE_HARNESS_OBSERVATION_H_
