#include "conformance/harness/data_folder.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

#include "conformance/harness/backend_file.h"

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

OrError<std::vector<reports::Clause>> ReadClauseIndex() {
  const std::string path = ClauseIndexFile();
  std::ifstream in(path);
  if (!in) {
    return InputError{
        fmt::format("{}: the clause index is missing; build the target plumbline_clauses, or point "
                    "PLUMBLINE_DATA at the folder that holds clauses.json",
                    path)};
  }
  std::vector<reports::Clause> clauses;
  try {
    const nlohmann::json index = nlohmann::json::parse(in);
    for (const nlohmann::json& entry : index.at("clauses")) {
      std::vector<std::string> faults;
      for (const nlohmann::json& fault : entry.at("faults")) {
        faults.push_back(fmt::format("{} {}: {}", fault.at("where").get<std::string>(),
                                     fault.at("name").get<std::string>(), fault.at("what").get<std::string>()));
      }
      clauses.push_back({.id = entry.at("id"),
                         .title = entry.at("title"),
                         .strength = entry.at("strength"),
                         .profile = entry.at("profile"),
                         .chapter = entry.at("chapter"),
                         .text = entry.at("text"),
                         .needs = entry.at("needs"),
                         .where = entry.at("where"),
                         .tests = entry.at("tests"),
                         .model = entry.at("model"),
                         .faults = std::move(faults)});
    }
  } catch (const nlohmann::json::exception& error) {
    return InputError{fmt::format("{}: not a clause index: {}", path, error.what())};
  }
  std::sort(clauses.begin(), clauses.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  return clauses;
}

}  // namespace plumbline::harness
