#include "conformance/suites/corpus_cases.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <sstream>
#include <utility>

#include "conformance/harness/compare.h"
#include "conformance/harness/data_folder.h"
#include "conformance/harness/text_file.h"
#include "conformance/harness/under_release.h"
#include "conformance/suites/operators/operator_cases.h"
#include "spec/model/key_table.h"
#include "spec/model/machine.h"
#include "spec/scenario/parse.h"

namespace plumbline::suites {
namespace {

namespace fs = std::filesystem;
using harness::Case;
using harness::CaseContext;
using harness::InputError;
using harness::OrError;
using harness::Tier;

// Its scenarios are for threads at once: `plumbline race` runs them.
constexpr const char* kRaced = "concurrency";

OrError<std::string> ReadText(const fs::path& path) {
  return harness::ReadTextFile(path.string(), "a scenario file (.scn)");
}

// The clauses of a scenario file's head; what cannot be read is said when the case is run.
std::vector<std::string> ClausesOf(const fs::path& path) {
  const OrError<std::string> text = ReadText(path);
  std::istringstream in(text.ok() ? *text : "");
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string word;
    words >> word;
    if (word != "clauses") continue;
    return {std::istream_iterator<std::string>(words), std::istream_iterator<std::string>()};
  }
  return {};
}

void RunFile(const fs::path& path, bool recorded, CaseContext& ctx) {
  const OrError<std::string> text = ReadText(path);
  if (!text.ok()) return ctx.Broken(text.error());
  const scenario::ParseResult parsed = scenario::Parse(*text);
  if (!parsed.scenario) {
    ctx.Broken(
        fmt::format("{}:{}:{}: {}", path.string(), parsed.error->line, parsed.error->column, parsed.error->message));
    return;
  }
  const scenario::Scenario& scenario = *parsed.scenario;
  const tables::ReleaseData* release = model::FindRelease(scenario.release);
  if (release == nullptr) {
    ctx.Broken(fmt::format("{}: there is no release '{}'", path.string(), scenario.release));
    return;
  }
  const std::shared_ptr<const model::KeyTable> keys = model::KeyTable::Get(*release, scenario.declared_keys);
  if (!keys->problem().empty()) {
    const int line = scenario.declared_keys[keys->problem_at()].line;
    ctx.Broken(fmt::format("{}:{}: {}", path.string(), line, keys->problem()));
    return;
  }
  const harness::Comparison written = harness::CompareWritten(scenario, model::Predict(scenario, {}), *keys);
  if (written.result != harness::Comparison::Result::kAgrees) {
    const int line = scenario.steps[static_cast<std::size_t>(written.step)].line;
    ctx.Broken(fmt::format("{}:{}: the model disagrees with what is written: {}", path.string(), line, written.what));
    return;
  }
  if (scenario.release == ctx.backend().release) {
    if (auto step = harness::WrittenForAnotherState(scenario, ctx.backend())) return ctx.Unsupported(*step);
  }
  ctx.Check(scenario);
  if (scenario.release == ctx.backend().release || recorded) return;
  const OrError<scenario::Scenario> there = harness::UnderRelease(scenario, ctx.backend());
  if (there.ok()) ctx.Check(*there);
}

}  // namespace

OrError<std::vector<Case>> CorpusCases(const std::string& folder) {
  std::error_code failed;
  std::vector<Case> cases;
  for (fs::recursive_directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed)) {
    if (at->path().extension() != ".scn") continue;
    if (at->path().parent_path().filename() == kRaced) continue;
    const fs::path path = at->path();
    const fs::path relative = fs::relative(path, folder, failed);
    const std::string chapter = relative.begin()->string();
    if (relative.begin() == std::prev(relative.end())) continue;  // in no chapter
    const bool recorded = chapter == "tables";
    cases.push_back({.id = fs::path(relative).replace_extension().generic_string(),
                     .chapter = chapter,
                     .clauses = ClausesOf(path),
                     .tier = recorded ? Tier::kStandard : Tier::kQuick,
                     .where = path.string(),
                     .run = [path, recorded](CaseContext& ctx) { RunFile(path, recorded, ctx); }});
  }
  if (cases.empty()) {
    return InputError{
        fmt::format("{}: there is no scenario in it; point PLUMBLINE_DATA at the folder that holds "
                    "corpus/, or install Plumbline's data",
                    folder)};
  }
  std::sort(cases.begin(), cases.end(), [](const Case& a, const Case& b) { return a.id < b.id; });
  return cases;
}

OrError<std::vector<Case>> AllCases() {
  OrError<std::vector<Case>> cases = CorpusCases(harness::CorpusFolder());
  if (!cases.ok()) return cases;
  for (const Case& one : harness::RegisteredCases()) {
    if (one.chapter != kOperatorsChapter) cases->push_back(one);
  }
  std::sort(cases->begin(), cases->end(), [](const Case& a, const Case& b) { return a.id < b.id; });
  return cases;
}

}  // namespace plumbline::suites
