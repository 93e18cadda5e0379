// plumbline check: runs the suites on a backend and says, clause by clause, whether it is right.

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "conformance/cli/command_line.h"
#include "conformance/cli/next_claim.h"
#include "conformance/cli/paint.h"
#include "conformance/cli/progress.h"
#include "conformance/cli/report_folder.h"
#include "conformance/harness/data_folder.h"
#include "conformance/harness/nearest.h"
#include "conformance/harness/run_main.h"
#include "conformance/harness/runner.h"
#include "conformance/harness/text_file.h"
#include "conformance/suites/corpus_cases.h"
#include "conformance/suites/operators/operator_backend.h"
#include "conformance/suites/operators/operator_cases.h"
#include "conformance/suites/operators/operator_deviations.h"
#include "conformance/suites/operators/program_cases.h"
#include "conformance/suites/service.h"
#include "reports/terminal/terminal.h"

namespace plumbline::cli {
namespace {

using harness::Case;
using harness::InputError;
using harness::OrError;
using harness::SuiteOptions;
using harness::SuiteRun;
using harness::Tier;

constexpr Tier kTiers[] = {Tier::kQuick, Tier::kStandard, Tier::kFull};

struct Options {
  BackendOptions backend;
  std::string tier = "standard", profile = kDispatcher, device;
  std::vector<std::string> filters, cases, waivers;
  std::uint64_t seed = 1;
  std::string shard, report, out = "plumbline-failures";
  int jobs = 2;
  std::size_t shown = 10, most_timeouts = 25;
  bool list = false, no_color = false, verbose = false;
};

void AddTo(CLI::App& app, Options& options) {
  options.backend.AddTo(app);
  std::vector<std::string> tiers;
  for (const Tier tier : kTiers) tiers.emplace_back(harness::Spelling(tier));
  app.add_option("--tier", options.tier, "how much: quick, standard or full")
      ->check(Choice(tiers))
      ->type_name("TIER")
      ->capture_default_str();
  AddFilter(app, options.filters,
            "only cases of this chapter (tls), that name this clause (TLS-004), or whose id matches this pattern "
            "(tls/*); repeatable: any of them picks a case");
  app.add_option("--profile", options.profile,
                 "what is checked: the dispatcher, or its operators and their tensors, by what they compute")
      ->check(Choice({kDispatcher, kOperators}))
      ->type_name("NAME")
      ->capture_default_str();
  app.add_option(
         "--device", options.device,
         "of --profile operators: where the tensors are, such as meta or privateuseone:0; else the backend's own "
         "default")
      ->type_name("DEVICE");
  AddCase(app, options.cases, "only the case of this id, whatever its tier; repeatable; not beside --filter");
  AddSeed(app, options.seed);
  AddShard(app, options.shard, "`plumbline report merge` joins the reports");
  AddJobs(app, options.jobs);
  app.add_option("--most-timeouts", options.most_timeouts,
                 "when so many cases have timed out, the others are not run and count as inconclusive; 0: run all")
      ->transform(WholeNumber(0, 1'000'000))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--waivers", options.waivers,
                 "a file of known failures, repeatable; else the one that is shipped with the backend, if any is; "
                 "none: without any")
      ->type_name("FILE|none")
      ->allow_extra_args(false);
  app.add_option("--report", options.report, "write report.json, junit.xml and index.html into this folder")
      ->type_name("DIR");
  AddShow(app, options.shown);
  app.add_option("--out", options.out, "where the scenarios of failures are saved, a file for each")
      ->type_name("DIR")
      ->capture_default_str();
  app.add_flag("--list", options.list,
               "print the ids of the cases that would run, and run none; options on how to run them may stay");
  AddNoColor(app, options.no_color);
  app.add_flag("-v,--verbose", options.verbose, "print each case as it is done");
  app.footer(
      "Verdicts: pass; fail, crash and timeout; unsupported (the backend does not claim what the case needs);\n"
      "waived (failed exactly as a waiver says, or passed only by a deviation that one accepts); vacuous and\n"
      "inconclusive (nothing was shown); harness-error (ours).\n"
      "Exit status: 0 all passed, were waived or are unsupported; 1 something failed; 2 bad input or a harness-error.");
}

// For a line that reruns.
std::string ProfileArguments(const Options& options) {
  if (options.profile == kDispatcher) return "";
  const std::string device = options.device.empty() ? "" : " --device " + harness::ShellWord(options.device);
  return " --profile " + options.profile + device;
}

Tier TierOf(const std::string& spelling) {
  return *std::find_if(std::begin(kTiers), std::end(kTiers),
                       [&](Tier tier) { return harness::Spelling(tier) == spelling; });
}

int Main(int argc, char** argv) {
  CLI::App app("Checks a backend against the spec and reports a verdict for each clause.", "plumbline check");
  Options options;
  AddTo(app, options);
  if (auto status = ParseCommandLine(app, argc, argv)) return *status;
  if (auto status = RefuseFilterBesideCase(app)) return *status;
  if (options.list) {
    if (auto status = RefuseIdle(app, kOfResults, kBesideList)) return *status;
  }

  SuiteOptions suite;
  OrError<Shard> shard = ReadShard(options.shard);
  if (!shard.ok()) return Complain(app, shard.error());
  suite.shard = shard->number;
  suite.shards = shard->count;
  // Before the run: its findings should not be lost to a wrong path.
  if (!options.report.empty()) {
    if (auto wrong = CannotWriteReports(options.report)) return Complain(app, "--report " + *wrong);
  }
  if (auto wrong = harness::CannotWriteInto(options.out)) return Complain(app, "--out " + *wrong);
  OrError<harness::ExecutorConfig> config = options.backend.Config();
  if (!config.ok()) return Complain(app, config.error());
  suite.shipped_waivers = options.waivers.empty();
  if (options.profile == kOperators) suite.deviations = suites::OperatorDeviationNames();
  OrError<harness::GivenWaivers> waivers = harness::ReadGivenWaivers(options.waivers, suite.deviations);
  if (!waivers.ok()) return Complain(app, waivers.error());
  suite.waivers = std::move(waivers->waivers);
  suite.waiver_files = std::move(waivers->files);
  OrError<std::vector<reports::Clause>> clauses = harness::ReadClauseIndex();
  if (!clauses.ok()) return Complain(app, clauses.error());
  std::erase_if(*clauses, [](const reports::Clause& clause) { return !harness::IsChecked(clause); });
  const bool operators = options.profile == kOperators;
  if (!operators) {
    if (auto status = RefuseIdle(app, {"--device"}, "without --profile operators")) return *status;
  }
  std::erase_if(*clauses, [&](const reports::Clause& clause) { return operators != harness::IsOfOperators(clause); });
  OrError<std::vector<Case>> cases =
      operators ? OrError(suites::OperatorCases({.device = options.device})) : suites::AllCases();
  if (!cases.ok()) return Complain(app, cases.error());

  if (operators) suite.suite = kOperators;
  suite.executor = *config;
  suite.executor.service = &suites::Serve;
  suite.cases = {.seed = options.seed,
                 .tier = TierOf(options.tier),
                 .backend_argument = options.backend.backend,
                 .more_arguments = options.backend.MoreArguments(),
                 .case_arguments = ProfileArguments(options),
                 .out = options.out};
  for (const std::vector<std::string>* words : {&options.filters, &options.cases}) {
    for (const std::string& word : *words) {
      const std::string upper = harness::UpperCase(word);
      const bool checked = std::any_of(clauses->begin(), clauses->end(),
                                       [&](const reports::Clause& clause) { return clause.id == upper; });
      if (checked || (!word.starts_with("concurrency") && !upper.starts_with("CONC-"))) continue;
      return Complain(app,
                      fmt::format("'{}': threads at once are for `plumbline race`; see `plumbline race --list`", word));
    }
  }
  suite.filters = options.filters;
  suite.ids = options.cases;
  suite.jobs = options.jobs;
  suite.most_timeouts = options.most_timeouts;
  suite.clauses = std::move(*clauses);
  suite.today = Today();
  if (options.list) {
    OrError<std::vector<Case>> selected = harness::SelectCases(suite, *cases);
    if (!selected.ok()) return Complain(app, selected.error());
    for (const Case& one : *selected) Print("{}\n", one.id);
    return kGood;
  }

  if (!options.device.empty()) {
    OrError<std::unique_ptr<harness::Executor>> executor = StartBackend(app, suite.executor);
    if (!executor.ok()) return Complain(app, executor.error());
    if ((*executor)->facts().Claims(suites::kWithOperators)) {
      suites::OperatorBackend backend(**executor, options.device);
      if (const auto why = backend.WhyNoDevice()) return Complain(app, *why);
    }
  }
  Progress progress;
  suite.progress = [&](std::size_t finished, std::size_t total, const reports::CaseResult& result) {
    if (options.verbose) {
      progress.Clear();
      Print(stderr, "{:<13} {}{}{}\n", reports::Spelling(result.verdict), result.id,
            result.waiver.empty() ? "" : "  by ", result.waiver);
    }
    progress.Show(finished, total, result.id);
  };
  OrError<SuiteRun> done = harness::RunSuite(suite, std::move(*cases));
  progress.Clear();
  if (!done.ok()) return Complain(app, done.error());
  done->notes.command_line = fmt::format("{}", fmt::join(std::vector<std::string>(argv, argv + argc), " "));
  PrintNotes(app, done->facts);
  Print("{}", Painted{reports::Summary(done->run, {.colour = Colours(STDOUT_FILENO, options.no_color),
                                                   .shown = options.shown,
                                                   .seconds = done->notes.seconds,
                                                   .saved_in = options.out})});
  if (!options.report.empty()) {
    OrError<std::string> page = WriteReports(options.report, done->run, done->notes);
    if (!page.ok()) return Complain(app, "--report " + page.error());
    Print("  report     {}\n", *page);
  }
  const int status = harness::ExitStatus(done->run);
  // What is claimed and broken comes first.
  if (status == kGood) {
    Print("{}", NextClaim(done->run.backend.capabilities, done->facts.entries, options.profile == kOperators));
  }
  return status;
}

}  // namespace
}  // namespace plumbline::cli

int main(int argc, char** argv) { return plumbline::harness::RunMain(&plumbline::cli::Main, argc, argv); }
