// plumbline list: what there is: cases, clauses, faults, capabilities, backends.

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include "conformance/cli/command_line.h"
#include "conformance/cli/paint.h"
#include "conformance/harness/backend_file.h"
#include "conformance/harness/data_folder.h"
#include "conformance/harness/nearest.h"
#include "conformance/harness/run_main.h"
#include "conformance/harness/runner.h"
#include "conformance/suites/corpus_cases.h"
#include "conformance/suites/operators/operator_cases.h"

namespace plumbline::cli {
namespace {

using harness::Case;
using harness::ClausePage;
using harness::OrError;

// Of both, if it is empty.
bool IsOf(const std::string& profile, const reports::Clause& clause) {
  return profile.empty() || harness::IsOfOperators(clause) == (profile == kOperators);
}

int ListCases(const CLI::App& app, const std::string& profile) {
  std::vector<Case> cases;
  if (profile != kOperators) {
    OrError<std::vector<Case>> of_dispatcher = suites::AllCases();
    if (!of_dispatcher.ok()) return Complain(app, of_dispatcher.error());
    cases = std::move(*of_dispatcher);
  }
  if (profile != kDispatcher) {
    for (Case& one : suites::OperatorCases({})) cases.push_back(std::move(one));
  }
  for (const Case& one : cases) {
    Print("{:<60} {:<9} {}\n", one.id, harness::Spelling(one.tier), fmt::join(one.clauses, " "));
  }
  return kGood;
}

int ListClauses(const CLI::App& app, const std::string& profile) {
  OrError<std::vector<reports::Clause>> clauses = harness::ReadClauseIndex();
  if (!clauses.ok()) return Complain(app, clauses.error());
  for (const reports::Clause& clause : *clauses) {
    if (!IsOf(profile, clause)) continue;
    Print("{:<10} {:<7} {:<14} {}\n", clause.id, clause.strength, clause.profile, clause.title);
  }
  return kGood;
}

// What these are good for is a profile of its own.
constexpr std::uint64_t kOfOperators =
    PL_CAPABILITY(TENSORS) | PL_CAPABILITY(OPERATORS) | PL_CAPABILITY(MEMORY) | PL_CAPABILITY(DLPACK);

int ListCapabilities() {
#define PLUMBLINE_LIST_CAPABILITY(bit, NAME, spelling, meaning) \
  Print("{:<16} {}{}\n", spelling, meaning,                     \
        (PL_CAPABILITY(NAME) & kOfOperators) != 0 ? " (for `plumbline check --profile operators`)" : "");
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

void PrintIndented(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) Print("{}{}\n", line.empty() ? "" : "  ", line);
}

// A rule with everything that is one hop away.
int ShowClause(const CLI::App& app, const std::string& asked, bool all) {
  const std::string id = harness::UpperCase(asked);
  OrError<std::vector<ClausePage>> pages = harness::ReadClausePages();
  if (!pages.ok()) return Complain(app, pages.error());
  const auto at =
      std::find_if(pages->begin(), pages->end(), [&](const ClausePage& page) { return page.clause.id == id; });
  if (at == pages->end()) {
    OrError<std::vector<harness::DraftClause>> drafts = harness::ReadDraftClauses();
    if (!drafts.ok()) return Complain(app, drafts.error());
    std::vector<std::string> ids;
    for (const ClausePage& page : *pages) ids.push_back(page.clause.id);
    for (const harness::DraftClause& draft : *drafts) {
      ids.push_back(draft.id);
      if (draft.id != id) continue;
      return Complain(app, fmt::format("{}, '{}', is a clause of a draft, which binds nobody yet\n"
                                       "Its text is at {}.",
                                       id, draft.title, harness::OnThisMachine(draft.where)));
    }
    return Complain(app, fmt::format("there is no clause '{}'{}\n`plumbline list clauses` shows them all.", asked,
                                     harness::DidYouMean(asked, ids)));
  }
  const reports::Clause& clause = at->clause;
  Print("{} {}\n{}, profile {}{}{}\n\n{}\n", clause.id, clause.title, clause.strength, clause.profile,
        clause.needs.empty() ? "" : ", needs ", fmt::join(clause.needs, " "), clause.text);
  for (const std::string& example : at->examples) {
    Print("\nexample:\n");
    PrintIndented(example);
  }
  Print("\nPyTorch:\n");
  PrintIndented(at->pytorch);
  PrintPlaces("text", {clause.where}, "", all);
  PrintPlaces("scenarios", at->scenarios, "none", all);
  PrintPlaces("properties", at->properties, "none", all);
  PrintPlaces("model", clause.model, "no line names it", all);
  const bool raced = !harness::IsChecked(clause), also_raced = harness::IsRaced(clause);
  const bool of_operators = harness::IsOfOperators(clause);
  PrintPlaces(raced ? "faults (`plumbline race --backend broken --fault NAME` hunts one)"
              : also_raced
                  ? "faults (`plumbline check --backend broken --fault NAME` runs one; `plumbline race` with the "
                    "same hunts one that needs threads at once)"
              : of_operators ? "faults (`plumbline check --profile operators --backend broken --fault NAME` runs one)"
                             : "faults (`plumbline check --backend broken --fault NAME` runs one)",
              clause.faults, "none", all);
  return kGood;
}

int ListFaults(const CLI::App& app, const std::string& profile) {
  OrError<std::vector<ClausePage>> pages = harness::ReadClausePages();
  if (!pages.ok()) return Complain(app, pages.error());
  std::erase_if(*pages, [&](const ClausePage& page) { return !IsOf(profile, page.clause); });
  std::size_t width = 0;
  for (const ClausePage& page : *pages) {
    for (const harness::IndexedFault& fault : page.faults) width = std::max(width, fault.name.size());
  }
  for (const ClausePage& page : *pages) {
    for (const harness::IndexedFault& fault : page.faults) {
      Print("{:<{}}  {:<10} {}\n", fault.name, width, fault.clause, fault.what);
    }
  }
  return kGood;
}

int Main(int argc, char** argv) {
  CLI::App app("Lists what there is, or shows one clause with all that belongs to it.", "plumbline list");
  std::string what, clause, profile;
  bool all = false;
  app.add_option("what", what, "cases, clauses, faults, capabilities or backends")
      ->check(Choice({"cases", "clauses", "faults", "capabilities", "backends"}))
      ->type_name("WHAT");
  app.add_option("--profile", profile,
                 "of cases, clauses and faults: only those of the dispatcher, or of its operators and their tensors")
      ->check(Choice({kDispatcher, kOperators}))
      ->type_name("NAME");
  app.add_option("--clause", clause,
                 "show this clause: its text, an example, where PyTorch differs, its tests, model lines and faults")
      ->type_name("ID");
  app.add_flag("--all", all, "of a clause: all of its tests, also where they are many");
  app.footer(
      "  plumbline list cases             id, tier and clauses of each\n"
      "  plumbline list clauses           id, strength, profile and title of each\n"
      "  plumbline list faults            name, clause and description of each planted fault of the backend broken\n"
      "  plumbline list capabilities      name and meaning of each\n"
      "  plumbline list backends          name and file of each that --backend knows by its name\n"
      "  plumbline list --clause RES-001  one rule in full\n"
      "Exit status: 0 listed; 2 bad input.");
  if (auto status = ParseCommandLine(app, argc, argv)) return *status;
  if (!clause.empty()) {
    if (auto status = RefuseIdle(app, {"what", "--profile"}, "beside --clause, which shows one rule")) return *status;
  } else if (auto status = RefuseIdle(app, {"--all"}, "without --clause")) {
    return *status;
  }
  if (!clause.empty()) return ShowClause(app, clause, all);
  if (what == "cases") return ListCases(app, profile);
  if (what == "clauses") return ListClauses(app, profile);
  if (what == "faults") return ListFaults(app, profile);
  if (auto status = RefuseIdle(app, {"--profile"}, "but with cases, clauses and faults")) return *status;
  if (what == "capabilities") return ListCapabilities();
  if (what == "backends") return ListBackends();
  return Complain(app, "say what to list: cases, clauses, faults, capabilities or backends; or --clause ID");
}

}  // namespace
}  // namespace plumbline::cli

int main(int argc, char** argv) { return plumbline::harness::RunMain(&plumbline::cli::Main, argc, argv); }
