// plumbline report: works on reports that `plumbline check --report` wrote.

#include <fmt/core.h>
#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "conformance/cli/command_line.h"
#include "conformance/cli/paint.h"
#include "conformance/cli/report_folder.h"
#include "conformance/harness/case_runner.h"
#include "conformance/harness/run_main.h"
#include "conformance/harness/text_file.h"
#include "reports/diff/diff.h"
#include "reports/html/html.h"
#include "reports/json/json.h"
#include "reports/junit/junit.h"
#include "reports/terminal/terminal.h"
#include "reports/text/counted.h"

namespace plumbline::cli {
namespace {

namespace fs = std::filesystem;
using harness::InputError;
using harness::OrError;
using reports::Run;
using reports::SideNotes;
using reports::Verdict;

struct Report {
  Run run;
  SideNotes notes;  // empty if there is no file of them beside the report
};

// A report, or the one in the folder that `check --report` was given.
OrError<Report> Load(const std::string& path) {
  constexpr const char* kWanted = "the report.json of a run, or the folder that `plumbline check --report` wrote";
  std::error_code failed;
  const fs::path inside = fs::path(path) / "report.json";
  const bool folder = fs::is_directory(path, failed);
  if (folder && !fs::exists(inside, failed)) {
    return InputError{fmt::format("{}: this folder holds no report.json; give {}", path, kWanted)};
  }
  const std::string file = folder ? inside.string() : path;
  OrError<std::string> text = harness::ReadTextFile(file, kWanted, harness::kMostOfAProgram);
  if (!text.ok()) return InputError{text.error()};
  reports::ReadResult read = reports::FromJson(*text);
  if (!read.error.empty()) return InputError{fmt::format("{}: {}; give {}", file, read.error, kWanted)};
  // What sampled cases tried stands in the notes, so that the shown and the merged tell it as the run did.
  const fs::path beside = fs::path(file).replace_filename(kNotesFile);
  if (fs::path(file).filename() != kReportFile || !fs::exists(beside, failed)) return Report{std::move(read.run), {}};
  OrError<std::string> notes_text = harness::ReadTextFile(beside.string(), kWanted, harness::kMostOfAProgram);
  if (!notes_text.ok()) return InputError{notes_text.error()};
  reports::ReadNotesResult notes = reports::NotesFromJson(*notes_text);
  if (!notes.error.empty()) {
    return InputError{fmt::format("{}: {}; write the report again, or remove this file", beside.string(), notes.error)};
  }
  reports::AddSampledCounts(read.run, notes.notes);
  return Report{std::move(read.run), std::move(notes.notes)};
}

struct Reports {
  std::vector<Run> runs;
  std::vector<SideNotes> notes;
};

OrError<Reports> LoadAll(const std::vector<std::string>& paths) {
  Reports reports;
  for (const std::string& path : paths) {
    OrError<Report> report = Load(path);
    if (!report.ok()) return InputError{report.error()};
    reports.runs.push_back(std::move(report->run));
    reports.notes.push_back(std::move(report->notes));
  }
  return reports;
}

// What only the whole run can say of its waivers is said as `check` says it.
int StatusOfWaivers(const std::string& program, const Run& merged) {
  int status = kGood;
  for (const reports::WaiverUse& waiver : merged.waivers) {
    if (waiver.problem.empty()) continue;
    fmt::print(stderr, "{}: waiver {}: {}\n", program, waiver.id, waiver.problem);
    status = kFailed;
  }
  return status;
}

// To a file, or to standard output.
int Write(const std::string& program, const std::string& text, const std::string& path) {
  if (path.empty()) {
    std::fwrite(text.data(), 1, text.size(), stdout);  // a format with escapes of its own
    return kGood;
  }
  const OrError<bool> written = harness::WriteTextFile(path, text);
  return written.ok() ? kGood : Complain(program, "--output " + written.error());
}

// What `merge -o` names: a file for the JSON alone, or a folder for every form.
bool IsFolder(const std::string& path) {
  std::error_code failed;
  if (fs::exists(path, failed)) return fs::is_directory(path, failed);
  return !path.empty() && !path.ends_with(".json");
}

// Why a case was not among those that `lacks` ran, and `has` did: it tells nothing of the backend. Empty: there is no
// reason, so that it came or went.
std::string WhyNotRun(const std::string& id, const Run& lacks, const Run& has) {
  if (lacks.shards > 1 && !harness::InShard(id, lacks.shard, lacks.shards)) {
    return fmt::format("shard {} of {}", lacks.shard, lacks.shards);
  }
  if (!lacks.filter.empty() && lacks.filter != has.filter) return fmt::format("of the filter '{}'", lacks.filter);
  const auto rank = [](const Run& run) { return run.tier == "quick" ? 0 : run.tier == "standard" ? 1 : 2; };
  return rank(lacks) < rank(has) ? fmt::format("of the tier {}", lacks.tier) : "";
}

int PrintDifferences(const std::string& program, const Run& before, const Run& after) {
  for (const std::string& unlike : reports::Unlike(before, after)) {
    fmt::print(stderr, "{}: warning: {}\n", program, unlike);
  }
  const auto spell = [](const std::optional<Verdict>& verdict) {
    return verdict ? reports::Spelling(*verdict) : "absent";
  };
  std::size_t differ = 0;
  std::map<std::string, std::size_t> not_run;  // in words
  for (const reports::Change& change : reports::Diff(before, after)) {
    const bool only_before = !change.after.has_value();
    const std::string why = only_before      ? WhyNotRun(change.id, after, before)
                            : !change.before ? WhyNotRun(change.id, before, after)
                                             : "";
    if (!why.empty()) {
      ++not_run[only_before ? fmt::format("only in BEFORE: AFTER is {}", why)
                            : fmt::format("only in AFTER: BEFORE is {}", why)];
      continue;
    }
    ++differ;
    Print("{}: {} -> {}\n", change.id, spell(change.before), spell(change.after));
  }
  for (const auto& [where, count] : not_run) {
    Print("{} {}\n", reports::Counted(count, "case is", "cases are"), where);
  }
  Print("{}\n", reports::Counted(differ, "case differs", "cases differ"));
  return differ == 0 ? kGood : kFailed;
}

int Main(int argc, char** argv) {
  CLI::App app("Works on reports that `plumbline check --report DIR` wrote.", "plumbline report");
  app.require_subcommand(1);
  app.footer(
      "A report is the report.json of a run, or the folder that holds it.\n"
      "`plumbline report COMMAND --help` says more. Exit status: 0 good, 1 reports differ, 2 bad input.");
  std::vector<std::string> paths;
  std::string output, before, after;
  std::size_t shown = 10;
  bool no_color = false;
  const auto add_reports = [&](CLI::App* command, const char* what) {
    command->add_option("reports", paths, what)->required()->type_name("REPORT");
  };
  const auto add_output = [&](CLI::App* command) {
    command->add_option("-o,--output", output, "where to write it; standard output if left out")->type_name("FILE");
  };

  CLI::App* show = app.add_subcommand("show", "print the summary that the run ended with");
  add_reports(show, "what to show: report.json files or folders that hold one");
  AddShow(*show, shown);
  AddNoColor(*show, no_color);
  CLI::App* merge = app.add_subcommand("merge", "make one report of the shards of a run");
  add_reports(merge, "the report of each shard, in any order");
  merge
      ->add_option(
          "-o,--output", output,
          "a folder, for report.json, junit.xml and index.html; a name in .json, for that alone; the JSON goes "
          "to standard output if left out")
      ->type_name("DIR|FILE");
  merge->footer(
      "  plumbline check --backend B --report out1 --shard 1/2      on one machine\n"
      "  plumbline check --backend B --report out2 --shard 2/2      on another\n"
      "  plumbline report merge out1 out2 -o out                    the report of the whole run, in every form\n"
      "All shards 1/N to N/N have to be there, of the same backend, tier, seed and filter.\n"
      "Exit status: 0 merged, 1 merged, and a waiver of it is unused or wrong, 2 bad input. What failed in a shard "
      "was\n"
      "its own exit status.");
  CLI::App* html = app.add_subcommand("html", "make one page of reports: a matrix of clauses and backends");
  add_reports(html, "reports, one for each column");
  add_output(html);
  html->footer("  plumbline report html reference/ torch/ -o matrix.html");
  CLI::App* junit = app.add_subcommand("junit", "make JUnit XML of a report, for a CI to show");
  add_reports(junit, "one report");
  add_output(junit);
  CLI::App* diff = app.add_subcommand("diff", "list the cases whose verdict differs between two reports");
  diff->add_option("before", before, "the earlier report")->required()->type_name("BEFORE");
  diff->add_option("after", after, "the later report")->required()->type_name("AFTER");
  diff->footer(
      "A case that only one report has is absent in the other. Reports of different tiers, seeds, filters or shards "
      "are\n"
      "compared with a warning, and of the cases that one of them did not run for that the number is told; they do "
      "not\n"
      "count as different. Exit status: 0 none differs, 1 some do.");

  if (auto status = ParseCommandLine(app, argc, argv)) return *status;
  const std::string program = app.get_name() + " " + app.get_subcommands().front()->get_name();
  if (*diff) paths = {before, after};
  if (*junit && paths.size() > 1) return Complain(program, "give one report; JUnit XML holds one run");
  if (!output.empty()) {
    const bool folder = *merge && IsFolder(output);
    if (auto wrong = folder ? CannotWriteReports(output) : harness::CannotWrite(output)) {
      return Complain(program, "--output " + *wrong);
    }
  }
  OrError<Reports> loaded = LoadAll(paths);
  if (!loaded.ok()) return Complain(program, loaded.error());
  const std::vector<Run>& runs = loaded->runs;

  if (*diff) return PrintDifferences(program, runs.front(), runs.back());
  if (*html) return Write(program, reports::ToHtml(runs), output);
  if (*junit) return Write(program, reports::ToJUnit(runs.front(), loaded->notes.front()), output);
  if (*merge) {
    const reports::MergeResult merged = reports::Merge(runs);
    if (!merged.error.empty()) return Complain(program, merged.error);
    if (IsFolder(output)) {
      const SideNotes notes = reports::MergeNotes(loaded->notes);
      OrError<std::string> page = WriteReports(output, merged.run, notes);
      if (!page.ok()) return Complain(program, "--output " + page.error());
    } else if (const int status = Write(program, reports::ToJson(merged.run), output); status != kGood) {
      return status;
    }
    return StatusOfWaivers(program, merged.run);
  }
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (i > 0) Print("\n");
    Print("{}", Painted{reports::Summary(runs[i], {.colour = Colours(STDOUT_FILENO, no_color), .shown = shown})});
  }
  return kGood;
}

}  // namespace
}  // namespace plumbline::cli

int main(int argc, char** argv) { return plumbline::harness::RunMain(&plumbline::cli::Main, argc, argv); }
