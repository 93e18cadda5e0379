// A scenario from a file or from standard input ("-"), for the programs that are given one.
//
//   OrError<Scenario> scenario = ReadScenarioFile("demo.scn");   // error: "demo.scn:3:7: expected ..., found ..."
//                                                                // "demo.scn:6: ... gives the name 'r2' ..."
//   OrError<bool> good = CheckHead("demo.scn", *scenario, facts.keys);   // "demo.scn:4: cannot declare key ..."
//
// Touches the file system; any thread.
#ifndef PLUMBLINE_CONFORMANCE_CLI_SCENARIO_FILE_H_
#define PLUMBLINE_CONFORMANCE_CLI_SCENARIO_FILE_H_

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "conformance/harness/or_error.h"
#include "spec/scenario/scenario.h"

namespace plumbline::cli {

// Which of the clauses that a file names does not exist, with its line in the text; nothing if all do.
std::optional<std::string> WrongClause(const std::vector<std::string>& named, const std::string& path,
                                       const std::string& text);

// `wanted` closes the message of a file that cannot be read.
harness::OrError<scenario::Scenario> ReadScenarioFile(const std::string& path,
                                                      const std::string& wanted = "a scenario file (.scn)");

// The same of text that was read from there. The clauses that it names have to be in the index, if that can be read,
// and what it releases, leaves, closes or calls by a handle has to have been given its name.
harness::OrError<scenario::Scenario> ParseScenario(const std::string& path, const std::string& text);

// Whether its release is known and its declared keys make sense beside those that the backend declares, if there is
// one.
harness::OrError<bool> CheckHead(const std::string& path, const scenario::Scenario& scenario,
                                 std::span<const scenario::KeyDeclaration> of_backend = {});

}  // namespace plumbline::cli

#endif  // PLUMBLINE_CONFORMANCE_CLI_SCENARIO_FILE_H_
