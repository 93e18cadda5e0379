#include "conformance/cli/scenario_file.h"

#include <fmt/core.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

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
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  scenario::ParseResult parsed = scenario::Parse(text);
  if (!parsed.scenario) {
    return InputError{
        fmt::format("{}:{}:{}: {}", path, parsed.error->line, parsed.error->column, parsed.error->message)};
  }
  return std::move(*parsed.scenario);
}

}  // namespace plumbline::cli
