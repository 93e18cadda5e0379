#include "conformance/cli/scenario_file.h"

#include <fmt/core.h>

#include <filesystem>
#include <fstream>
#include <utility>

#include "spec/scenario/limits.h"
#include "spec/scenario/parse.h"

namespace plumbline::cli {

using harness::InputError;
using harness::OrError;

OrError<scenario::Scenario> ReadScenarioFile(const std::string& path) {
  std::error_code failed;
  std::ifstream in(path, std::ios::binary);
  if (!in || std::filesystem::is_directory(path, failed)) {
    return InputError{fmt::format("{}: there is no such file, or it cannot be read", path)};
  }
  // No more than shows that it is too large: the parser says so, and where.
  std::string text(scenario::kMaxTextBytes + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  scenario::ParseResult parsed = scenario::Parse(text);
  if (!parsed.scenario) {
    return InputError{
        fmt::format("{}:{}:{}: {}", path, parsed.error->line, parsed.error->column, parsed.error->message)};
  }
  return std::move(*parsed.scenario);
}

}  // namespace plumbline::cli
