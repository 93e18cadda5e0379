// A scenario, read as a program of threads that run at the same time.
//
//   OrError<Program> program = MakeProgram(scenario);
//   program->before      // main's steps up to the first step on a thread of its own
//   program->threads     // the steps of each thread, to be run at once
//   program->after       // main's steps from then on
//
// Any scenario in which main does nothing between the threads' steps is one. What it says of outcomes is not looked at:
// with threads at once they are for a history's check to judge (check.h).
//
// Plain data; no thread rules.
#ifndef PLUMBLINE_CONFORMANCE_RACE_PROGRAM_H_
#define PLUMBLINE_CONFORMANCE_RACE_PROGRAM_H_

#include <string>
#include <vector>

#include "conformance/harness/or_error.h"
#include "spec/scenario/scenario.h"

namespace plumbline::race {

struct Program {
  scenario::Scenario scenario;
  // Indices of its steps.
  std::vector<std::size_t> before, after;
  struct Thread {
    std::string name;
    std::vector<std::size_t> steps;
  };
  std::vector<Thread> threads;
};

// The error names the line and what to change: no thread at all, too many, main in between, a library that is closed
// on one thread while others use it, a guard that is left on another thread, a query whose answer no history holds, a
// key of the scenario's own.
harness::OrError<Program> MakeProgram(scenario::Scenario scenario);

}  // namespace plumbline::race

#endif  // PLUMBLINE_CONFORMANCE_RACE_PROGRAM_H_
