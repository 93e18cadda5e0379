// Predicted against observed, step by step.
//
//   Comparison c = Compare(scenario, predicted, observed, facts.capabilities);
//   if (c.result == Comparison::Result::kDiffers) Report(c.step, c.expected, c.got);
//
// What a backend does not claim is not compared: warnings, and a call after a built-in kernel of the backend's own has
// run, which no host can see. An error of class `unclassified` stands for any class, unless the step's author wrote
// one. Pure functions; any thread.
#ifndef PLUMBLINE_CONFORMANCE_HARNESS_COMPARE_H_
#define PLUMBLINE_CONFORMANCE_HARNESS_COMPARE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "spec/model/key_table.h"
#include "spec/scenario/scenario.h"

namespace plumbline::harness {

struct Comparison {
  enum class Result {
    kAgrees,
    kDiffers,
    kUnsupported  // backend or model answered a step with the error class `unsupported`
  };
  Result result = Result::kAgrees;
  int step = -1;           // the first that is not as predicted
  std::string what{};      // which part: "the kernels that ran", "the error", ...
  std::string expected{};  // in the language's words
  std::string got{};
  bool about_message = false;  // all is right but what an error says
};

Comparison Compare(const scenario::Scenario& scenario, const std::vector<scenario::Outcome>& predicted,
                   const std::vector<scenario::Outcome>& observed, std::uint64_t capabilities);

// What the scenario's author wrote, against the model: a difference is an error of the scenario, not of a backend.
// Messages are not compared, for the model's are its own.
Comparison CompareWritten(const scenario::Scenario& scenario, const std::vector<scenario::Outcome>& predicted,
                          const model::KeyTable& keys);

// An outcome in the language's words, with the message of its error.
std::string Describe(const scenario::Outcome& outcome);

}  // namespace plumbline::harness

#endif  // PLUMBLINE_CONFORMANCE_HARNESS_COMPARE_H_
