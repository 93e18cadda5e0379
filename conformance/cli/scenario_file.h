// A scenario from a file, for the programs that are given one.
//
//   OrError<Scenario> scenario = ReadScenarioFile("demo.scn");   // error: "demo.scn:3:7: expected ..., found ..."
//
// Touches the file system; any thread.
#ifndef PLUMBLINE_CONFORMANCE_CLI_SCENARIO_FILE_H_
#define PLUMBLINE_CONFORMANCE_CLI_SCENARIO_FILE_H_

#include <string>

#include "conformance/harness/or_error.h"
#include "spec/scenario/scenario.h"

namespace plumbline::cli {

// `wanted` closes the message of a file that cannot be read.
harness::OrError<scenario::Scenario> ReadScenarioFile(const std::string& path,
                                                      const std::string& wanted = "a scenario file (.scn)");

}  // namespace plumbline::cli

#endif  // PLUMBLINE_CONFORMANCE_CLI_SCENARIO_FILE_H_
