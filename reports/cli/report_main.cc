// plumbline report: works on reports that `plumbline check --report` wrote.

#include <CLI/CLI.hpp>
#include <fstream>
#include <iostream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "reports/diff/diff.h"
#include "reports/html/html.h"
#include "reports/json/json.h"
#include "reports/junit/junit.h"
#include "reports/terminal/terminal.h"

namespace plumbline::reports {
namespace {

constexpr int kGood = 0, kBad = 1, kBadInput = 2;

// Says what is wrong on stderr when the file cannot be read.
std::optional<Run> Load(const std::string& path) {
  std::ifstream file(path);
  if (!file) {
    std::cerr << "plumbline report: cannot read " << path << "; give the report.json of a run\n";
    return std::nullopt;
  }
  std::ostringstream text;
  text << file.rdbuf();
  ReadResult read = FromJson(text.str());
  if (!read.error.empty()) {
    std::cerr << "plumbline report: " << path << ": " << read.error << "\n";
    return std::nullopt;
  }
  return read.run;
}

std::optional<std::vector<Run>> LoadAll(const std::vector<std::string>& paths) {
  std::vector<Run> runs;
  for (const std::string& path : paths) {
    std::optional<Run> run = Load(path);
    if (!run) return std::nullopt;
    runs.push_back(*std::move(run));
  }
  return runs;
}

int Write(const std::string& text, const std::string& path) {
  if (path.empty()) {
    std::cout << text;
    return kGood;
  }
  std::ofstream file(path);
  if (!(file << text)) {
    std::cerr << "plumbline report: cannot write " << path << "\n";
    return kBadInput;
  }
  return kGood;
}

int Merged(const std::vector<std::string>& paths, const std::string& output) {
  const auto runs = LoadAll(paths);
  if (!runs) return kBadInput;
  const MergeResult merged = Merge(*runs);
  if (!merged.error.empty()) {
    std::cerr << "plumbline report merge: " << merged.error << "\n";
    return kBadInput;
  }
  return Write(ToJson(merged.run), output);
}

int Differences(const std::string& before_path, const std::string& after_path) {
  const auto before = Load(before_path), after = Load(after_path);
  if (!before || !after) return kBadInput;
  const auto spell = [](const std::optional<Verdict>& verdict) { return verdict ? Spelling(*verdict) : "absent"; };
  const std::vector<Change> changes = Diff(*before, *after);
  for (const Change& change : changes) {
    std::cout << change.id << ": " << spell(change.before) << " -> " << spell(change.after) << "\n";
  }
  std::cout << changes.size() << " cases differ\n";
  return changes.empty() ? kGood : kBad;
}

int Main(int argc, char** argv) {
  CLI::App app("Works on reports that `plumbline check --report DIR` wrote.", "plumbline report");
  app.require_subcommand(1);
  std::vector<std::string> paths;
  std::string output, before, after;

  CLI::App* show = app.add_subcommand("show", "print the summary of a report");
  show->add_option("report", paths, "report.json files")->required();
  CLI::App* merge = app.add_subcommand("merge", "make one report of the shards of a run");
  merge->add_option("reports", paths, "the report.json of each shard")->required();
  merge->add_option("-o,--output", output, "where to write it; standard output if left out");
  CLI::App* html = app.add_subcommand("html", "make one page of reports: a matrix of clauses and backends");
  html->add_option("reports", paths, "report.json files, one a backend")->required();
  html->add_option("-o,--output", output, "where to write it; standard output if left out");
  CLI::App* junit = app.add_subcommand("junit", "make JUnit XML of a report");
  junit->add_option("report", paths, "a report.json file")->required()->expected(1);
  junit->add_option("-o,--output", output, "where to write it; standard output if left out");
  CLI::App* diff = app.add_subcommand("diff", "list the cases whose verdict differs; exit status 1 if any does");
  diff->add_option("before", before, "report.json")->required();
  diff->add_option("after", after, "report.json")->required();

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kGood : kBadInput;
  }
  if (*merge) return Merged(paths, output);
  if (*diff) return Differences(before, after);
  const auto runs = LoadAll(paths);
  if (!runs) return kBadInput;
  if (*html) return Write(ToHtml(*runs), output);
  if (*junit) return Write(ToJUnit(runs->front(), {}), output);
  for (const Run& run : *runs) std::cout << Summary(run, {});
  return kGood;
}

}  // namespace
}  // namespace plumbline::reports

int main(int argc, char** argv) { return plumbline::reports::Main(argc, argv); }
