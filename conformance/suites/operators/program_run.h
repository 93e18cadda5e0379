// Runs a tensor program in a session, statement by statement, and looks at every tensor and capsule after each.
//
//   ProgramTrace trace = RunProgram(session, program, "cpu", progress);
//
// Ends at the first statement that is not as the program says of errors. Progress counts statements. What a program
// has named is gone when it returns. In an executor; one thread.
#ifndef PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_PROGRAM_RUN_H_
#define PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_PROGRAM_RUN_H_

#include <string>

#include "conformance/harness/isolation.h"
#include "conformance/suites/operators/operator_session.h"
#include "conformance/suites/operators/program_trace.h"
#include "conformance/suites/operators/tensor_program.h"

namespace plumbline::suites {

ProgramTrace RunProgram(OperatorSession& session, const TensorProgram& program, const std::string& device,
                        harness::Progress& progress);

}  // namespace plumbline::suites

#endif  // PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_PROGRAM_RUN_H_
