#include "conformance/cli/scenario_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include "conformance/cli/keys_text.h"
#include "conformance/harness/data_folder.h"
#include "conformance/harness/nearest.h"
#include "conformance/harness/stray_names.h"
#include "conformance/harness/text_file.h"
#include "spec/model/key_table.h"
#include "spec/scenario/parse.h"

namespace plumbline::cli {

using harness::InputError;
using harness::NameOfFile;
using harness::OrError;

namespace {

// The line that names a clause, counted from 1; tokens of the head know no lines.
int LineOfClause(const std::string& text, const std::string& id) {
  std::istringstream lines(text);
  std::string line, verb;
  for (int number = 1; std::getline(lines, line); ++number) {
    std::istringstream words(line);
    if (words >> verb && verb == "clauses" && line.find(id) != std::string::npos) return number;
  }
  return 1;
}

}  // namespace

std::optional<std::string> WrongClause(const std::vector<std::string>& named, const std::string& path,
                                       const std::string& text) {
  if (named.empty()) return std::nullopt;
  const OrError<std::vector<reports::Clause>> clauses = harness::ReadClauseIndex();
  const OrError<std::vector<harness::DraftClause>> drafts = harness::ReadDraftClauses();
  if (!clauses.ok() || !drafts.ok()) return std::nullopt;
  std::vector<std::string> ids;
  for (const reports::Clause& clause : *clauses) ids.push_back(clause.id);
  for (const harness::DraftClause& draft : *drafts) ids.push_back(draft.id);
  for (const std::string& id : named) {
    if (std::find(ids.begin(), ids.end(), id) != ids.end()) continue;
    return fmt::format("{}:{}: there is no clause '{}'{}\n`plumbline list clauses` shows them all.", path,
                       LineOfClause(text, id), id, harness::DidYouMean(id, ids));
  }
  return std::nullopt;
}

namespace {

std::optional<std::string> WrongName(const scenario::Scenario& scenario, const std::string& path) {
  for (const harness::StrayName& stray : harness::StrayNames(scenario)) {
    // In a kernel it cannot be said to be meant; where an outcome is written, the model judges that.
    if (!stray.step || scenario.steps[*stray.step].expected) continue;
    return fmt::format(
        "{}:{}: no step gives {} the name '{}'{}\nIf the error that this is in every backend is meant, write "
        "`=> error not-found` behind it.",
        path, stray.line, stray.what, stray.name, harness::DidYouMean(stray.name, stray.given));
  }
  return std::nullopt;
}

}  // namespace

OrError<scenario::Scenario> ParseScenario(const std::string& path, const std::string& text) {
  scenario::ParseResult parsed = scenario::Parse(text);
  if (!parsed.scenario) {
    return InputError{
        fmt::format("{}:{}:{}: {}", NameOfFile(path), parsed.error->line, parsed.error->column, parsed.error->message)};
  }
  if (auto wrong = WrongClause(parsed.scenario->clauses, NameOfFile(path), text)) return InputError{*wrong};
  if (auto wrong = WrongName(*parsed.scenario, NameOfFile(path))) return InputError{*wrong};
  return std::move(*parsed.scenario);
}

OrError<scenario::Scenario> ReadScenarioFile(const std::string& path, const std::string& wanted) {
  const OrError<std::string> text = harness::ReadTextFile(path, wanted);
  if (!text.ok()) return InputError{text.error()};
  if (path.ends_with(".prog")) {
    return InputError{
        fmt::format("{}: this is a tensor program, and a scenario (.scn) is read here\n"
                    "`plumbline replay` runs programs.",
                    path)};
  }
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
