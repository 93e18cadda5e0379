// Scenario text.
//
// Property: a text is read, or refused with a line and a column that lie in it; what was read prints, and the print
// reads back equal and prints alike.
#include <algorithm>

#include "fuzz/targets/property.h"
#include "spec/scenario/parse.h"
#include "spec/scenario/print.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace plumbline;
  const std::string_view text = fuzz::Text(data, size);
  const scenario::ParseResult parsed = scenario::Parse(text);
  fuzz::Require(parsed.scenario.has_value() != parsed.error.has_value(), "neither a scenario nor an error, or both",
                text);
  if (parsed.error) {
    const auto lines = 1 + std::count(text.begin(), text.end(), '\n');
    fuzz::Require(parsed.error->line >= 1 && parsed.error->line <= lines, "the error's line is not in the text", text,
                  parsed.error->message);
    fuzz::Require(parsed.error->column >= 1 && parsed.error->column <= static_cast<int>(size) + 1,
                  "the error's column is not in the text", text, parsed.error->message);
    fuzz::Require(!parsed.error->message.empty(), "an error without a message", text);
    return 0;
  }
  const std::string printed = scenario::Print(*parsed.scenario);
  const scenario::ParseResult again = scenario::ParsePrinted(printed);
  fuzz::Require(again.scenario.has_value(), "a printed scenario does not parse", printed,
                again.error ? again.error->message : "");
  fuzz::Require(*again.scenario == *parsed.scenario, "a printed scenario reads back as another", printed);
  fuzz::Require(scenario::Print(*again.scenario) == printed, "a scenario prints in two ways", printed);
  return 0;
}
