// Whether what a tensor program came to is as it says, and where it says nothing of a call, as the oracle does.
//
//   if (const std::optional<ProgramFault> fault = JudgeProgram(program, trace)) ...   // fault->line, ->expected, ->got
//
// Pure; any thread.
#ifndef PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_JUDGE_PROGRAM_H_
#define PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_JUDGE_PROGRAM_H_

#include <optional>
#include <string>

#include "conformance/suites/operators/program_trace.h"
#include "conformance/suites/operators/tensor_program.h"

namespace plumbline::suites {

struct ProgramFault {
  std::size_t statement = 0;
  std::string expected, got;
  // The backend lacks an operator, a dtype of it, or a device: it is no fault.
  bool unsupported = false;
};

std::optional<ProgramFault> JudgeProgram(const TensorProgram& program, const ProgramTrace& trace);

}  // namespace plumbline::suites

#endif  // PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_JUDGE_PROGRAM_H_
