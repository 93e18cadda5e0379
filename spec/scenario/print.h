// Writes scenarios, and parts of them, in the language of grammar.md.
//
//   Parse(Print(scenario)).scenario == scenario     // comments, title and all
//   PrintStep(step)  ==  "call     demo::f [CPU] => k1"
//
// The form is canonical: equal scenarios print alike, and what was written otherwise is set in order. Pure functions of
// values; any thread.
#ifndef PLUMBLINE_SPEC_SCENARIO_PRINT_H_
#define PLUMBLINE_SPEC_SCENARIO_PRINT_H_

#include <string>
#include <vector>

#include "spec/scenario/scenario.h"

namespace plumbline::scenario {

std::string Print(const Scenario& scenario);  // ends in a newline

// One line, without a newline (a step with a large table is one long line).
std::string PrintStep(const Step& step);
std::string PrintKernel(const KernelDefinition& kernel);  // kernel k0 { ...; ... }
std::string PrintExpectation(const Expectation& expected);
std::string PrintValue(const Value& value);
std::string PrintValues(const std::vector<Value>& values);    // with blanks between
std::string PrintKeys(const std::vector<std::string>& keys);  // "[CPU AutogradCPU]"
std::string PrintTable(const std::vector<TableRow>& rows);    // "{ kernel r1: CPU; ... }"

// All that an outcome says but its message, in one line. It reads as an expectation does, but tells key set and
// arguments of every kernel, so that two outcomes that differ print differently.
std::string PrintOutcome(const Outcome& outcome);

}  // namespace plumbline::scenario

#endif  // PLUMBLINE_SPEC_SCENARIO_PRINT_H_
