// plumbline list: what there is: cases, clauses, capabilities, backends.

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "conformance/cli/command_line.h"
#include "conformance/cli/paint.h"
#include "conformance/harness/backend_file.h"
#include "conformance/harness/data_folder.h"
#include "conformance/harness/nearest.h"
#include "conformance/harness/runner.h"
#include "conformance/suites/corpus_cases.h"

namespace plumbline::cli {
namespace {

using harness::Case;
using harness::OrError;

int ListCases(const CLI::App& app) {
  OrError<std::vector<Case>> cases = suites::AllCases();
  if (!cases.ok()) return Complain(app, cases.error());
  for (const Case& one : *cases) {
    Print("{:<60} {:<9} {}\n", one.id, harness::Spelling(one.tier), fmt::join(one.clauses, " "));
  }
  return kGood;
}

int ListClauses(const CLI::App& app) {
  OrError<std::vector<reports::Clause>> clauses = harness::ReadClauseIndex();
  if (!clauses.ok()) return Complain(app, clauses.error());
  for (const reports::Clause& clause : *clauses) {
    Print("{:<10} {:<7} {:<14} {}\n", clause.id, clause.strength, clause.profile, clause.title);
  }
  return kGood;
}

int ListCapabilities() {
#define PLUMBLINE_LIST_CAPABILITY(bit, NAME, spelling, meaning) Print("{:<16} {}\n", spelling, meaning);
  PL_CAPABILITIES(PLUMBLINE_LIST_CAPABILITY)
#undef PLUMBLINE_LIST_CAPABILITY
  return kGood;
}

int ListBackends() {
  for (const auto& [name, path] : harness::ListBackends()) Print("{:<12} {}\n", name, path);
  return kGood;
}

// A rule that every recorded table exercises has hundreds of tests.
constexpr std::size_t kShown = 20;

void PrintPlaces(const char* what, const std::vector<std::string>& places, const char* none, bool all) {
  Print("\n{}:\n", what);
  if (places.empty()) Print("  {}\n", none);
  const std::size_t shown = all ? places.size() : std::min(kShown, places.size());
  for (std::size_t i = 0; i < shown; ++i) Print("  {}\n", harness::OnThisMachine(places[i]));
  if (shown < places.size()) Print("  and {} more; --all shows them\n", places.size() - shown);
}

// A rule with everything that is one hop away.
int ShowClause(const CLI::App& app, const std::string& asked, bool all) {
  const std::string id = harness::UpperCase(asked);
  OrError<std::vector<reports::Clause>> clauses = harness::ReadClauseIndex();
  if (!clauses.ok()) return Complain(app, clauses.error());
  const auto at =
      std::find_if(clauses->begin(), clauses->end(), [&](const reports::Clause& clause) { return clause.id == id; });
  if (at == clauses->end()) {
    std::vector<std::string> ids;
    for (const reports::Clause& clause : *clauses) ids.push_back(clause.id);
    return Complain(app, fmt::format("there is no clause '{}'{}\n`plumbline list clauses` shows them all.", asked,
                                     harness::DidYouMean(asked, ids)));
  }
  Print("{} {}\n{}, profile {}{}{}\n\n{}\n", at->id, at->title, at->strength, at->profile,
        at->needs.empty() ? "" : ", needs ", fmt::join(at->needs, " "), at->text);
  PrintPlaces("text", {at->where}, "", all);
  PrintPlaces("tests", at->tests, "none", all);
  PrintPlaces("model", at->model, "no line names it", all);
  PrintPlaces("faults", at->faults, "none", all);
  return kGood;
}

int Main(int argc, char** argv) {
  CLI::App app("Lists what there is, or shows one clause with all that belongs to it.", "plumbline list");
  std::string what, clause;
  bool all = false;
  app.add_option("what", what, "cases, clauses, capabilities or backends")
      ->check(Choice({"cases", "clauses", "capabilities", "backends"}))
      ->type_name("WHAT");
  app.add_option("--clause", clause, "show the text of this clause, where it stands, its tests, model lines and faults")
      ->type_name("ID");
  app.add_flag("--all", all, "of a clause: all of its tests, also where they are many");
  app.footer(
      "  plumbline list cases             id, tier and clauses of each\n"
      "  plumbline list clauses           id, strength, profile and title of each\n"
      "  plumbline list --clause RES-001  one rule in full");
  if (auto status = ParseCommandLine(app, argc, argv)) return *status;
  if (!clause.empty()) return ShowClause(app, clause, all);
  if (what == "cases") return ListCases(app);
  if (what == "clauses") return ListClauses(app);
  if (what == "capabilities") return ListCapabilities();
  if (what == "backends") return ListBackends();
  return Complain(app, "say what to list: cases, clauses, capabilities or backends; or --clause ID");
}

}  // namespace
}  // namespace plumbline::cli

int main(int argc, char** argv) { return plumbline::cli::Main(argc, argv); }
