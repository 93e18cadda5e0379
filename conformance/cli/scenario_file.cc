#include "conformance/cli/scenario_file.h"

#include <fmt/core.h>

#include <utility>

#include "conformance/harness/text_file.h"
#include "spec/scenario/parse.h"

namespace plumbline::cli {

using harness::InputError;
using harness::OrError;

OrError<scenario::Scenario> ReadScenarioFile(const std::string& path, const std::string& wanted) {
  const OrError<std::string> text = harness::ReadTextFile(path, wanted);
  if (!text.ok()) return InputError{text.error()};
  scenario::ParseResult parsed = scenario::Parse(*text);
  if (!parsed.scenario) {
    return InputError{
        fmt::format("{}:{}:{}: {}", path, parsed.error->line, parsed.error->column, parsed.error->message)};
  }
  return std::move(*parsed.scenario);
}

}  // namespace plumbline::cli
