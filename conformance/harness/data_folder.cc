#include "conformance/harness/data_folder.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "conformance/harness/backend_file.h"
#include "conformance/harness/text_file.h"

namespace plumbline::harness {
namespace {

namespace fs = std::filesystem;

// `in_tree` is where it lies in the tree that this program was built from.
std::string Find(const char* name, const char* in_tree) {
  if (const char* folder = std::getenv("PLUMBLINE_DATA")) return (fs::path(folder) / name).string();
  const fs::path installed = fs::path(ProgramFolder()) / ".." / "share" / "plumbline" / name;
  std::error_code failed;
  return fs::exists(installed, failed) ? installed.lexically_normal().string() : in_tree;
}

}  // namespace

std::string CorpusFolder() { return Find("corpus", PLUMBLINE_TREE_CORPUS); }
std::string ClauseIndexFile() { return Find("clauses.json", PLUMBLINE_TREE_CLAUSES); }
std::string NewAdapterFolder() { return Find("template/new_adapter", PLUMBLINE_TREE_NEW_ADAPTER); }

std::string OnThisMachine(const std::string& place) {
  const std::size_t end = std::min(place.find(':'), place.size());
  const fs::path path = place.substr(0, end);
  const fs::path installed = fs::path(ProgramFolder()) / "..";
  std::vector<fs::path> candidates;
  if (path.string().starts_with("spec/")) {
    const fs::path data = path.lexically_relative("spec");  // corpus and clauses
    if (const char* folder = std::getenv("PLUMBLINE_DATA")) candidates.push_back(fs::path(folder) / data);
    candidates.push_back(installed / "share" / "plumbline" / data);
  }
  candidates.push_back(installed / "include" / "plumbline" / path);
  candidates.push_back(fs::path(PLUMBLINE_TREE) / path);
  std::error_code failed;
  for (const fs::path& candidate : candidates) {
    if (path.empty() || !fs::exists(candidate, failed)) continue;
    const fs::path found = fs::weakly_canonical(candidate, failed);
    const std::string near = found.lexically_relative(fs::current_path(failed)).string();
    return (near.empty() || near.starts_with("..") ? found.string() : near) + place.substr(end);
  }
  return place + " (in Plumbline's sources)";
}

namespace {

// What `read` makes of the index.
template <class Read>
auto FromIndex(const Read& read) -> OrError<decltype(read(nlohmann::json()))> {
  const std::string path = ClauseIndexFile();
  const std::string wanted =
      "the clause index: build the target plumbline_clauses, or point PLUMBLINE_DATA at the folder that holds "
      "clauses.json";
  const OrError<std::string> text = ReadTextFile(path, wanted, kMostOfAProgram);
  if (!text.ok()) return InputError{text.error()};
  try {
    return read(nlohmann::json::parse(*text));
  } catch (const nlohmann::json::exception&) {
    return InputError{fmt::format("{}: this is no clause index of this version; give {}", path, wanted)};
  }
}

std::vector<ClausePage> PagesOf(const nlohmann::json& index) {
  std::vector<ClausePage> pages;
  for (const nlohmann::json& entry : index.at("clauses")) {
    ClausePage page{.clause = {.id = entry.at("id"),
                               .title = entry.at("title"),
                               .strength = entry.at("strength"),
                               .profile = entry.at("profile"),
                               .chapter = entry.at("chapter"),
                               .text = entry.at("text"),
                               .needs = entry.at("needs"),
                               .where = entry.at("where"),
                               .tests = entry.at("tests"),
                               .model = entry.at("model"),
                               .faults = {}},
                    .examples = entry.at("examples"),
                    .pytorch = entry.at("pytorch"),
                    .scenarios = {},
                    .properties = {},
                    .faults = {}};
    std::copy_if(page.clause.tests.begin(), page.clause.tests.end(), std::back_inserter(page.scenarios),
                 [](const std::string& place) {
                   return place.find(".scn:") != std::string::npos || place.find(".prog:") != std::string::npos;
                 });
    for (const nlohmann::json& property : entry.at("properties")) {
      page.properties.push_back(property.at("where").get<std::string>() + " " + property.at("name").get<std::string>());
    }
    for (const nlohmann::json& fault : entry.at("faults")) {
      page.faults.push_back(
          {.name = fault.at("name"), .clause = page.clause.id, .what = fault.at("what"), .where = fault.at("where")});
      const IndexedFault& read = page.faults.back();
      page.clause.faults.push_back(fmt::format("{} {}: {}", read.where, read.name, read.what));
    }
    pages.push_back(std::move(page));
  }
  std::sort(pages.begin(), pages.end(), [](const auto& a, const auto& b) { return a.clause.id < b.clause.id; });
  return pages;
}

bool IsForThreadsAtOnce(const std::string& test) { return test.starts_with("spec/corpus/concurrency/"); }

}  // namespace

OrError<std::vector<ClausePage>> ReadClausePages() { return FromIndex(PagesOf); }

OrError<std::vector<DraftClause>> ReadDraftClauses() {
  return FromIndex([](const nlohmann::json& index) {
    std::vector<DraftClause> drafts;
    for (const nlohmann::json& entry : index.value("drafts", nlohmann::json::array())) {
      drafts.push_back({.id = entry.at("id"), .title = entry.at("title"), .where = entry.at("where")});
    }
    return drafts;
  });
}

bool IsRaced(const reports::Clause& clause) {
  return std::any_of(clause.tests.begin(), clause.tests.end(), IsForThreadsAtOnce);
}

bool IsChecked(const reports::Clause& clause) {
  return clause.tests.empty() || !std::all_of(clause.tests.begin(), clause.tests.end(), IsForThreadsAtOnce);
}

bool IsOfOperators(const reports::Clause& clause) {
  static constexpr std::string_view kProfiles[] = {"tensors", "operators", "memory", "dlpack"};
  return std::find(std::begin(kProfiles), std::end(kProfiles), clause.profile) != std::end(kProfiles);
}

OrError<std::vector<reports::Clause>> ReadClauseIndex() {
  OrError<std::vector<ClausePage>> pages = ReadClausePages();
  if (!pages.ok()) return InputError{pages.error()};
  std::vector<reports::Clause> clauses;
  for (ClausePage& page : *pages) clauses.push_back(std::move(page.clause));
  return clauses;
}

}  // namespace plumbline::harness
