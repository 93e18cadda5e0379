// Whether what happened is what a scenario's author expected.
//
//   if (auto difference = Mismatch(*step.expected, outcome)) std::cout << *difference;
//     // "expected k1 > k2 to run, but k1 ran"
//
// Key sets and tables are compared as sets. Pure functions of values; any thread.
#ifndef PLUMBLINE_SPEC_SCENARIO_MATCHES_H_
#define PLUMBLINE_SPEC_SCENARIO_MATCHES_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "spec/scenario/outcome.h"

namespace plumbline::scenario {

// Brings a written key set to the form that outcomes use: {CPU, AutogradCUDA} is also {CUDA, AutogradCPU}. A table of
// keys knows how; without one, sets are compared as written.
using Canonical = std::function<std::vector<std::string>(const std::vector<std::string>& keys)>;

// What differs, in words; nothing if `outcome` is as expected.
std::optional<std::string> Mismatch(const Expectation& expected, const Outcome& outcome,
                                    const Canonical& canonical = {});

}  // namespace plumbline::scenario

#endif  // PLUMBLINE_SPEC_SCENARIO_MATCHES_H_
