#include "conformance/cli/scenario_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "conformance/cli/keys_text.h"
#include "conformance/harness/text_file.h"
#include "spec/model/key_table.h"
#include "spec/scenario/parse.h"

namespace plumbline::cli {

using harness::InputError;
using harness::NameOfFile;
using harness::OrError;

OrError<scenario::Scenario> ParseScenario(const std::string& path, const std::string& text) {
  scenario::ParseResult parsed = scenario::Parse(text);
  if (!parsed.scenario) {
    return InputError{
        fmt::format("{}:{}:{}: {}", NameOfFile(path), parsed.error->line, parsed.error->column, parsed.error->message)};
  }
  return std::move(*parsed.scenario);
}

OrError<scenario::Scenario> ReadScenarioFile(const std::string& path, const std::string& wanted) {
  const OrError<std::string> text = harness::ReadTextFile(path, wanted);
  if (!text.ok()) return InputError{text.error()};
  return ParseScenario(path, *text);
}

OrError<bool> CheckHead(const std::string& path, const scenario::Scenario& scenario,
                        std::span<const scenario::KeyDeclaration> of_backend) {
  const OrError<const tables::ReleaseData*> release = ReadRelease(scenario.release);
  if (!release.ok()) return InputError{fmt::format("{}: {}", NameOfFile(path), release.error())};
  std::vector<scenario::KeyDeclaration> declared(of_backend.begin(), of_backend.end());
  for (const scenario::KeyDeclaration& key : scenario.declared_keys) {
    // Said again, it is the backend's.
    if (std::find(of_backend.begin(), of_backend.end(), key) == of_backend.end()) declared.push_back(key);
  }
  const model::KeyTable keys(**release, declared);
  if (keys.problem().empty() || keys.problem_at() < of_backend.size()) return true;
  return InputError{fmt::format("{}:{}: {}", NameOfFile(path), declared[keys.problem_at()].line, keys.problem())};
}

}  // namespace plumbline::cli
