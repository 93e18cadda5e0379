// Reads a scenario from text; grammar.md says what the text may be.
//
//   ParseResult result = Parse(text);
//   if (!result.scenario) std::cerr << file << ":" << result.error->line << ":" << result.error->column << ": "
//                                   << result.error->message;  // "expected a signature of the catalogue, found
//                                   'tensr'"
//
// Stops at the first error. Pure functions of values; any thread.
#ifndef PLUMBLINE_SPEC_SCENARIO_PARSE_H_
#define PLUMBLINE_SPEC_SCENARIO_PARSE_H_

#include <optional>
#include <string>
#include <string_view>

#include "spec/scenario/scenario.h"

namespace plumbline::scenario {

struct ParseError {
  int line = 0;         // 1-based
  int column = 0;       // 1-based, in characters
  std::string message;  // "expected ..., found ..."

  // The text may be right for a later version of the language: an unknown verb, or a version above 1.
  bool unsupported = false;
};

struct ParseResult {
  std::optional<Scenario> scenario;
  std::optional<ParseError> error;  // set iff `scenario` is not
};

ParseResult Parse(std::string_view text);

// What Print wrote of a scenario that was read: it may be longer than a text that people give.
ParseResult ParsePrinted(std::string_view text);

// Only steps, without a head, as in the examples of the clauses: a scenario of that release with these steps. Kernel
// definitions may come first.
ParseResult ParseFragment(std::string_view text, std::string_view release);

}  // namespace plumbline::scenario

#endif  // PLUMBLINE_SPEC_SCENARIO_PARSE_H_
