// plumbline prove: shows that the suites catch every planted fault of a backend.

#include <fmt/core.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <vector>

#include "conformance/cli/command_line.h"
#include "conformance/cli/paint.h"
#include "conformance/cli/progress.h"
#include "conformance/cli/prove.h"
#include "conformance/harness/backend_file.h"
#include "conformance/harness/data_folder.h"
#include "conformance/harness/run_main.h"
#include "conformance/harness/text_file.h"
#include "conformance/race/cases.h"
#include "conformance/race/service.h"
#include "conformance/suites/corpus_cases.h"
#include "conformance/suites/lifecycle_service.h"
#include "conformance/suites/operators/operator_cases.h"
#include "conformance/suites/operators/operator_service.h"
#include "conformance/suites/service.h"

namespace plumbline::cli {
namespace {

using harness::OrError;

OrError<Proof> ReadAndMerge(const std::vector<std::string>& files) {
  std::vector<Proof> shards;
  for (const std::string& file : files) {
    constexpr const char* kWanted = "a kill matrix that `plumbline prove --report` wrote";
    OrError<std::string> text = harness::ReadTextFile(file, kWanted, harness::kMostOfAProgram);
    if (!text.ok()) return harness::InputError{text.error()};
    OrError<Proof> proof = ProofFromJson(*text);
    if (!proof.ok()) return harness::InputError{fmt::format("{}: {}; give {}", file, proof.error(), kWanted)};
    shards.push_back(*std::move(proof));
  }
  return MergeProofs(shards);
}

// Prints the matrix, and writes it if that is wanted.
int Tell(const CLI::App& app, const Proof& proof, const std::string& report, bool no_color) {
  Print("{}", Painted{PrintProof(proof, Colours(STDOUT_FILENO, no_color))});
  if (!report.empty()) {
    OrError<bool> written = harness::WriteTextFile(report, ProofAsJson(proof));
    if (!written.ok()) return Complain(app, "--report " + written.error());
  }
  return proof.Holds() ? kGood : kFailed;
}

int Main(int argc, char** argv) {
  CLI::App app(
      "Switches on each planted fault of a backend in turn and shows that a case which names the fault's clause "
      "catches it.",
      "plumbline prove");
  ProveOptions options;
  std::string backend = "broken", report, shard_text;
  std::vector<std::string> merge;
  double timeout_s = 5;
  bool no_color = false;
  app.add_option("-b,--backend", backend, "the backend with faults: a name or the path of a shared object")
      ->type_name("NAME|FILE")
      ->capture_default_str();
  app.add_option("--fault", options.only, "try only this fault; repeatable")
      ->type_name("NAME")
      ->allow_extra_args(false);
  app.add_flag(
      "--full", options.everything,
      "run every case of the standard tier on each fault, not only until one that names its clause catches it");
  AddShard(app, shard_text, "`plumbline prove --merge` joins the matrices");
  app.add_option("--merge", merge, "run nothing; join these kill matrices, that --report wrote for each shard")
      ->type_name("FILE");
  AddJobs(app, options.jobs);
  AddSeed(app, options.seed);
  AddTimeout(app, timeout_s);
  app.add_option("--report", report, "write the kill matrix as JSON into this file")->type_name("FILE");
  AddNoColor(app, no_color);
  app.footer(
      "A fault is killed when a case that names its clause fails a check; a crash or a hang counts only where the "
      "fault\n"
      "says that it crashes or hangs. Without a fault every case must pass.\n"
      "Exit status: 0 all were killed; 1 a fault survived, a MUST clause has no fault, or a case fails without one;\n"
      "2 bad input.");
  if (auto status = ParseCommandLine(app, argc, argv)) return *status;
  if (!merge.empty()) {
    if (auto status = RefuseIdle(app, {"--backend", "--fault", "--full", "--shard", "--jobs", "--seed", "--timeout"},
                                 "beside --merge, which runs nothing")) {
      return *status;
    }
  }
  if (!report.empty()) {
    if (auto wrong = harness::CannotWrite(report)) return Complain(app, "--report " + *wrong);
  }

  if (!merge.empty()) {
    OrError<Proof> proof = ReadAndMerge(merge);
    return proof.ok() ? Tell(app, *proof, report, no_color) : Complain(app, "--merge: " + proof.error());
  }
  OrError<Shard> shard = ReadShard(shard_text);
  if (!shard.ok()) return Complain(app, shard.error());
  options.shard = shard->number;
  options.shards = shard->count;

  BackendOptions chosen;
  chosen.backend = backend;
  chosen.timeout_s = timeout_s;
  OrError<harness::ExecutorConfig> config = chosen.Config();
  if (!config.ok()) return Complain(app, config.error());
  OrError<std::vector<reports::Clause>> clauses = harness::ReadClauseIndex();
  if (!clauses.ok()) return Complain(app, clauses.error());
  OrError<std::vector<harness::Case>> cases = suites::AllCases();
  if (!cases.ok()) return Complain(app, cases.error());
  for (harness::Case& one : suites::OperatorCases({})) cases->push_back(std::move(one));
  // Races are hunted where the hunt goes deepest, in a build that has no operators.
  options.with_operators = config->path;
  config->path = race::TracedOr(config->path);
  config->service = [](const pl_adapter& adapter, const harness::BackendFacts& facts, const std::string& request,
                       harness::Progress& progress) {
    const bool suite = request.starts_with(suites::kLifecycleRequest) || request.starts_with(suites::kOperatorsRequest);
    return (suite ? suites::Serve : race::Serve)(adapter, facts, request, progress);
  };
  OrError<std::vector<harness::Case>> races =
      race::RaceCases(harness::CorpusFolder() + "/concurrency", {.time = std::chrono::seconds(6),
                                                                 .least = race::kSchedulesOfACalibration,
                                                                 .shrink = false,
                                                                 .calibration = std::nullopt,
                                                                 .faults = {}});
  if (!races.ok()) return Complain(app, races.error());
  cases->insert(cases->end(), races->begin(), races->end());
  options.executor = *config;
  options.backend_argument = backend;
  options.clauses = std::move(*clauses);

  Progress progress;
  options.progress = [&](std::string_view doing, std::size_t done, std::size_t total) {
    progress.Show(done, total, doing);
  };
  OrError<Proof> proof = Prove(options, *cases);
  progress.Clear();
  if (!proof.ok()) return Complain(app, proof.error());
  return Tell(app, *proof, report, no_color);
}

}  // namespace
}  // namespace plumbline::cli

int main(int argc, char** argv) { return plumbline::harness::RunMain(&plumbline::cli::Main, argc, argv); }
