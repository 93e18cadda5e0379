// plumbline replay: runs scenario files on a backend and shows, step by step, what was expected and what came.

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "conformance/cli/command_line.h"
#include "conformance/cli/paint.h"
#include "conformance/cli/scenario_file.h"
#include "conformance/harness/case_runner.h"
#include "conformance/harness/judge.h"
#include "conformance/harness/run_main.h"
#include "conformance/harness/text_file.h"
#include "conformance/harness/under_release.h"
#include "conformance/race/check.h"
#include "conformance/race/history.h"
#include "conformance/suites/operators/operator_backend.h"
#include "conformance/suites/operators/program_cases.h"
#include "conformance/suites/operators/tensor_program.h"
#include "conformance/suites/service.h"
#include "spec/model/key_table.h"
#include "spec/scenario/print.h"

namespace plumbline::cli {
namespace {

using harness::InputError;
using harness::Judgement;
using harness::OrError;
using reports::Verdict;
using scenario::Scenario;

std::string BareStep(scenario::Step step) {
  step.expected.reset();
  return scenario::PrintStep(step);
}

// What is written must be what the model says, or the file tests nothing.
OrError<bool> CheckWritten(const std::string& path, const Scenario& scenario, const harness::BackendFacts& facts) {
  std::vector<scenario::KeyDeclaration> declared = facts.keys;
  declared.insert(declared.end(), scenario.declared_keys.begin(), scenario.declared_keys.end());
  const model::KeyTable keys(*model::FindRelease(scenario.release), declared);
  const model::Settings settings{.release = "", .declared_keys = facts.keys, .own_fallbacks = {}, .deviations = {}};
  const std::vector<scenario::Outcome> predicted = model::Predict(scenario, settings);
  const harness::Comparison written = harness::CompareWritten(scenario, predicted, keys);
  if (written.result == harness::Comparison::Result::kAgrees) return true;
  std::string text = fmt::format("{}:{}: the model disagrees with what is written: {}", path,
                                 scenario.steps[static_cast<std::size_t>(written.step)].line, written.what);
  // What was refused before, and nobody expected to be, is likely why.
  for (std::size_t i = 0; i < static_cast<std::size_t>(written.step); ++i) {
    if (scenario.steps[i].expected || predicted[i].error.empty()) continue;
    text += fmt::format("\n{}:{}: note: this step is refused: {}", path, scenario.steps[i].line,
                        harness::Describe(predicted[i]));
    break;
  }
  return InputError{text};
}

// A step that ends in an error that both sides agree on and that nobody wrote down is likely a slip of the author's.
void PrintUnexpectedErrors(const Scenario& scenario, const std::string& path, const Judgement& judgement,
                           const Painter& paint) {
  for (std::size_t i = 0; i < scenario.steps.size() && i < judgement.observed.size(); ++i) {
    if (scenario.steps[i].expected || judgement.observed[i].error.empty()) continue;
    Print("{}:{}: {}\n", path, scenario.steps[i].line,
          paint.Yellow(fmt::format("note: this step ends in an error that the file does not expect: {}",
                                   harness::Describe(judgement.observed[i]))));
  }
}

// Exit status of one file.
int Show(const Scenario& scenario, const std::string& path, const Judgement& judgement, const Painter& paint,
         bool quiet) {
  if (judgement.verdict == Verdict::kUnsupported) {
    if (judgement.observed.empty()) {
      Print("{}: unsupported, nothing was run: {} {}\n", path,
            judgement.refused ? "the backend opens no registry for it:" : "the backend lacks", judgement.missing);
    } else {
      Print("{}: unsupported: {}\n", path, judgement.missing);
    }
    return kGood;
  }
  if (judgement.verdict == Verdict::kHarnessError) {
    Print("{}: {}\n", path, paint.Red("harness-error: " + judgement.summary));
    return kBadInput;
  }
  const int steps = static_cast<int>(scenario.steps.size());
  const int last = judgement.Failed() ? std::min(judgement.step, steps - 1) : steps - 1;
  for (int i = 0; i <= last && !quiet; ++i) {
    const std::size_t at = static_cast<std::size_t>(i);
    // The error is the same one, in the backend's words.
    scenario::Outcome outcome = judgement.predicted[at];
    if (at < judgement.observed.size() && !outcome.error.empty()) outcome.message = judgement.observed[at].message;
    const bool wrong = judgement.Failed() && i == judgement.step;
    Print("{:>4}  {}\n", scenario.steps[at].line, BareStep(scenario.steps[at]));
    if (!wrong) Print("      {} {}\n", paint.Green("="), harness::Describe(outcome));
  }
  if (!judgement.Failed()) {
    PrintUnexpectedErrors(scenario, path, judgement, paint);
    Print("{}: {}\n", path, paint.Green("as the model predicts"));
    return kGood;
  }
  Print("      {} {}\n", paint.Red("expected"), judgement.expected);
  Print("      {}      {}\n", paint.Red("got"), judgement.got);
  if (!judgement.rule.empty()) Print("      rule     {}\n", judgement.rule);
  Print("{}: {}: {}\n", path, paint.Red(reports::Spelling(judgement.verdict)), judgement.summary);
  return kFailed;
}

// Judges what threads saw, which needs no backend. Exit status.
OrError<int> JudgeHistory(const std::string& path, const race::History& history, const Painter& paint, bool quiet) {
  const OrError<race::Verdict> verdict = race::Check(history);
  if (!verdict.ok()) return InputError{fmt::format("{}: {}", path, verdict.error())};
  switch (verdict->outcome) {
    case race::Verdict::Outcome::kExplained:
      Print("{}: {}\n", path, paint.Green("some order of its events explains every answer"));
      return kGood;
    case race::Verdict::Outcome::kContradiction:
      Print("{}{}: {}\n", quiet ? "" : verdict->words, path, paint.Red("a contradiction"));
      return kFailed;
    case race::Verdict::Outcome::kGaveUp:
      Print("{}: undecided after {} steps of the search; give a shorter history\n", path, verdict->steps);
      return kBadInput;
  }
  return kBadInput;
}

// Exit status of one tensor program.
int ShowProgram(const std::string& file, const suites::TensorProgram& program, suites::OperatorBackend& backend,
                const Painter& paint, bool quiet) {
  const suites::ProgramVerdict tried = suites::TryProgram(backend, program);
  for (const suites::Statement& statement : program.statements) {
    if (quiet || (tried.verdict != Verdict::kPass && statement.line > tried.line)) break;
    Print("{:>4}  {}\n", statement.line, suites::PrintStatement(program, statement));
  }
  if (tried.verdict == Verdict::kPass) {
    for (const auto& [line, note] : tried.notes) Print("{}:{}: {}\n", file, line, paint.Yellow("note: " + note));
    Print("{}: {}\n", file, paint.Green("as it says, and as the clauses of its operators do"));
    return kGood;
  }
  if (tried.verdict == Verdict::kUnsupported) {
    Print("{}:{}: unsupported: {}\n", file, tried.line, tried.got);
    return kGood;
  }
  Print("      {} {}\n", paint.Red("expected"), tried.expected);
  Print("      {}      {}\n", paint.Red("got"), tried.got);
  Print("{}:{}: {}\n", file, tried.line, paint.Red(reports::Spelling(tried.verdict)));
  return kFailed;
}

// A program of threads for `plumbline race`: what its threads do has no outcomes of its own.
bool IsForRace(const Scenario& scenario) {
  const auto on_thread = [](const scenario::Step& step) { return !step.thread.empty(); };
  return std::any_of(scenario.steps.begin(), scenario.steps.end(), on_thread) &&
         std::none_of(scenario.steps.begin(), scenario.steps.end(),
                      [&](const scenario::Step& step) { return on_thread(step) && step.expected.has_value(); });
}

int Main(int argc, char** argv) {
  CLI::App app(
      "Runs scenario files on a backend and shows each step with what the model predicts; at the first step "
      "that differs, what came instead. Judges histories of what threads saw: whether some order explains them.",
      "plumbline replay");
  BackendOptions backend;
  std::vector<std::string> files;
  std::string device;
  bool no_color = false, quiet = false;
  backend.AddTo(app, false);
  app.add_option("--device", device, "of tensor programs: where the tensors are that name no device of their own")
      ->type_name("DEVICE");
  app.add_option(
         "files", files,
         "scenario files (.scn), tensor programs (.prog), and histories (.hist), which need no backend; - for one from "
         "standard input")
      ->required()
      ->type_name("FILE");
  app.add_flag("-q,--quiet", quiet, "only say how each file ended");
  AddNoColor(app, no_color);
  app.footer(
      "Each step is judged against the model, whether the file expects something of it or not. A step that ends in an\n"
      "error as the model predicts, and of which the file expects nothing, is pointed out; it is no failure.\n"
      "A clause that does not exist, and a step that releases or calls by a name that no step gave, are bad input.\n"
      "What the backend writes to standard output and error comes through on standard error, also a trace:\n"
      "  PLUMBLINE_DISPATCH_TRACE=stderr plumbline replay demo.scn --backend reference\n"
      "  PLUMBLINE_REGISTRATION_LOG=stderr plumbline replay demo.scn --backend reference\n"
      "Places in them, such as scenario:7, are lines of the file.\n"
      "Exit status: 0 as predicted or unsupported; 1 something differs; 2 bad input, or a history with more orders\n"
      "than can be tried.");
  if (auto status = ParseCommandLine(app, argc, argv)) return *status;

  const Painter paint(Colours(STDOUT_FILENO, no_color));
  int status = kGood;
  std::vector<std::pair<std::string, Scenario>> scenarios;  // by the name of the file
  std::vector<std::pair<std::string, race::History>> histories;
  std::vector<std::pair<std::string, suites::TensorProgram>> programs;
  for (const std::string& path : files) {
    const bool named_history = path.ends_with(".hist");
    const bool may_be_long = named_history || path == harness::kStandardInput;
    const OrError<std::string> text =
        harness::ReadTextFile(path, named_history ? "a history (.hist)" : "a scenario file (.scn)",
                              may_be_long ? harness::kMostOfAProgram : harness::kMostOfAPerson);
    if (!text.ok()) return Complain(app, text.error());
    const std::string file = harness::NameOfFile(path);
    if (named_history || (path == harness::kStandardInput && race::IsHistory(*text))) {
      OrError<race::History> history = race::ParseHistory(*text);
      if (!history.ok()) return Complain(app, fmt::format("{}: {}", file, history.error()));
      if (auto wrong = WrongClause(history->clauses, file, *text)) return Complain(app, *wrong);
      histories.emplace_back(file, std::move(*history));
      continue;
    }
    if (suites::IsTensorProgram(*text)) {
      OrError<suites::TensorProgram> program = suites::ParseTensorProgram(*text);
      if (!program.ok()) return Complain(app, fmt::format("{}:{}", file, program.error()));
      if (auto wrong = WrongClause(program->clauses, file, *text)) return Complain(app, *wrong);
      programs.emplace_back(file, std::move(*program));
      continue;
    }
    if (path.ends_with(".prog")) {
      return Complain(app, fmt::format("{}:1:1: expected 'program 1' on the first line of a tensor program", file));
    }
    OrError<Scenario> scenario = ParseScenario(path, *text);
    if (!scenario.ok()) return Complain(app, scenario.error());
    scenarios.emplace_back(file, std::move(*scenario));
  }
  if (scenarios.empty() && programs.empty()) {
    if (auto refused = RefuseIdle(app, {"--backend", "--release", "--load", "--fault", "--timeout"},
                                  "where all that is given is a history, which is judged by itself")) {
      return *refused;
    }
  } else if (backend.backend.empty()) {
    return Complain(app, "--backend is needed to run a scenario; see `plumbline list backends`");
  }
  for (const auto& [file, history] : histories) {
    const OrError<int> judged = JudgeHistory(file, history, paint, quiet);
    if (!judged.ok()) return Complain(app, judged.error());
    status = std::max(status, *judged);
  }
  if (scenarios.empty() && programs.empty()) return status;

  OrError<harness::ExecutorConfig> config = backend.Config();
  if (!config.ok()) return Complain(app, config.error());
  config->service = &suites::Serve;
  OrError<std::unique_ptr<harness::Executor>> executor = StartBackend(app, *config);
  if (!executor.ok()) return Complain(app, executor.error());
  for (auto& [file, scenario] : scenarios) {
    OrError<bool> good = CheckHead(file, scenario, (*executor)->facts().keys);
    if (good.ok()) good = CheckWritten(file, scenario, (*executor)->facts());
    if (!good.ok()) return Complain(app, good.error());
  }
  (*executor)->CopyOutputTo(STDERR_FILENO);

  suites::OperatorBackend with_operators(**executor, device);
  if (!programs.empty() && !with_operators.broken().empty()) return Complain(app, with_operators.broken());
  for (const auto& [file, program] : programs) {
    (*executor)->Renew();
    status = std::max(status, ShowProgram(file, program, with_operators, paint, quiet));
  }
  harness::Judge judge(**executor, {});
  for (auto& [file, scenario] : scenarios) {
    (*executor)->Renew();
    Judgement judgement = judge.Try(scenario);
    // A backend of one release has nothing to say about another's keys, but to what does not depend on them.
    if (judgement.verdict == Verdict::kUnsupported && scenario.release != (*executor)->facts().release) {
      OrError<Scenario> there = harness::UnderRelease(scenario, (*executor)->facts());
      if (there.ok()) {
        Print("{}: run with the keys of {}, on which nothing in it depends\n", file, there->release);
        scenario = *std::move(there);
        judgement = judge.Try(scenario);
      }
    }
    status = std::max(status, Show(scenario, file, judgement, paint, quiet));
    if (!quiet && IsForRace(scenario)) {
      Print("{}: its threads took turns here, a step at a time; `plumbline race {}` has them run at once\n", file,
            harness::ShellPath(file));
    }
  }
  return status;
}

}  // namespace
}  // namespace plumbline::cli

int main(int argc, char** argv) { return plumbline::harness::RunMain(&plumbline::cli::Main, argc, argv); }
