// Outcomes as JSON, to move them between processes.
//
//   std::string line = WriteOutcome(outcome);  // one line, plain ASCII
//   Outcome same = ReadOutcome(line);          // throws std::invalid_argument if it is not one
//
// The round trip is complete: every NaN and every byte of a string survives. Pure functions of values; any thread.
#ifndef PLUMBLINE_SPEC_SCENARIO_OUTCOME_JSON_H_
#define PLUMBLINE_SPEC_SCENARIO_OUTCOME_JSON_H_

#include <string>
#include <string_view>

#include "spec/scenario/outcome.h"

namespace plumbline::scenario {

std::string WriteOutcome(const Outcome& outcome);
Outcome ReadOutcome(std::string_view text);

}  // namespace plumbline::scenario

#endif  // PLUMBLINE_SPEC_SCENARIO_OUTCOME_JSON_H_
