// plumbline fuzz: runs the fuzz targets for a while and tells what they found.

#include <fmt/core.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "conformance/harness/arguments.h"
#include "conformance/harness/backend_file.h"
#include "conformance/harness/case_runner.h"
#include "conformance/harness/nearest.h"
#include "conformance/harness/run_main.h"
#include "conformance/harness/text_file.h"
#include "fuzz/cli/target_run.h"
#include "fuzz/cli/targets.h"

namespace plumbline::fuzz {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

using harness::Complain;
using harness::kBadInput;
using harness::kFailed;
using harness::kGood;
constexpr std::chrono::seconds kBetweenProgress(5);

volatile sig_atomic_t interrupted = 0;

struct Options {
  double minutes = 1;
  std::vector<std::string> targets;
  bool list = false;
  std::string corpus, out = "plumbline-failures", programs;
  int jobs = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
};

// Beside the programs of this build, or in the build of the preset `fuzz` beside this one.
std::string FolderOfTargets() {
  const fs::path here = harness::ProgramFolder();
  for (const fs::path& folder : {here / ".." / "fuzzers", here / ".." / ".." / "fuzz" / "fuzzers"}) {
    const std::string path = folder.lexically_normal().string();
    for (const Target& target : AllTargets(path, "")) {
      if (!target.program.empty()) return path;
    }
  }
  return (here / ".." / "fuzzers").lexically_normal().string();
}

// A path as short as it is from the current folder.
std::string Near(const std::string& path) {
  std::error_code failed;
  const std::string near = fs::relative(path, failed).string();
  return failed || near.empty() || near.size() > path.size() ? path : near;
}

std::string Time(double seconds) {
  const int whole = static_cast<int>(std::lround(seconds));
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

void PrintProgress(const TargetRun& run) {
  const EngineOutput& seen = run.output();
  fmt::print(stderr, "{:<19} {:>11} runs {:>7.0f}/s  {:>6} edges {:>5} inputs  {:>6} left{}\n", run.target().name,
             seen.executions, run.ExecutionsPerSecond(), seen.coverage, seen.corpus, Time(run.SecondsLeft()),
             seen.findings.empty() ? "" : "  FOUND");
}

void PrintTable(const std::vector<std::unique_ptr<TargetRun>>& runs) {
  fmt::print("{:<19} {:>12} {:>8} {:>8} {:>7} {:>11} {:>9}\n", "target", "executions", "seconds", "per s", "edges",
             "new inputs", "findings");
  std::uint64_t executions = 0, inputs = 0;
  std::size_t findings = 0;
  double seconds = 0;
  for (const auto& run : runs) {
    const EngineOutput& seen = run->output();
    fmt::print("{:<19} {:>12} {:>8.0f} {:>8.0f} {:>7} {:>11} {:>9}\n", run->target().name, seen.executions,
               run->seconds(), run->ExecutionsPerSecond(), seen.coverage, run->new_inputs(), seen.findings.size());
    executions += seen.executions;
    inputs += run->new_inputs();
    findings += seen.findings.size();
    seconds += run->seconds();
  }
  fmt::print("{:<19} {:>12} {:>8.0f} {:>8} {:>7} {:>11} {:>9}\n", "all", executions, seconds, "", "", inputs, findings);
}

// What the input needs to be told as it was found: the backend, and the steps that it stands for.
std::string Environment(const std::string& target) {
  if (!target.starts_with("steps_")) return "";
  std::string text = "PLUMBLINE_FUZZ_SHOW=1 ";
  const char* const backend = std::getenv("PLUMBLINE_FUZZ_BACKEND");
  if (target == "steps_on_backend" && backend != nullptr) {
    text += "PLUMBLINE_FUZZ_BACKEND=" + harness::ShellWord(backend) + " ";
  }
  return text;
}

int PrintOutcome(const std::vector<std::unique_ptr<TargetRun>>& runs) {
  int status = kGood;
  for (const auto& run : runs) {
    for (const std::string& finding : run->output().findings) {
      fmt::print("\nfound by {}: {}\n  what it said  {}.txt\n  rerun         {}{} {}\n", run->target().name,
                 run->output().broken, finding, Environment(run->target().name), Near(run->target().program),
                 harness::ShellPath(finding));
      if (status == kGood) status = kFailed;
    }
    if (!run->failed()) continue;
    fmt::print(stderr, "\n{} did not run:\n{}", run->target().name, run->LastLines());
    status = kBadInput;
  }
  return status;
}

// As many at once as there are jobs, each for its time.
void RunAll(const std::vector<std::unique_ptr<TargetRun>>& runs, int jobs, std::optional<std::string>& wrong) {
  std::size_t next = 0;
  std::vector<TargetRun*> running;
  auto told = Clock::now();
  while (next < runs.size() || !running.empty()) {
    while (!interrupted && !wrong && next < runs.size() && running.size() < static_cast<std::size_t>(jobs)) {
      TargetRun& run = *runs[next++];
      wrong = run.Start();
      if (!wrong) running.push_back(&run);
    }
    if (running.empty()) return;
    std::vector<pollfd> waited;
    for (const TargetRun* run : running) waited.push_back({run->descriptor(), POLLIN, 0});
    poll(waited.data(), waited.size(), 500);
    for (TargetRun* run : running) {
      run->Pump();
      if (interrupted || wrong) run->Stop();
      if (run->done()) PrintProgress(*run);
    }
    std::erase_if(running, [](const TargetRun* run) { return run->done(); });
    if (Clock::now() - told < kBetweenProgress) continue;
    told = Clock::now();
    for (const TargetRun* run : running) PrintProgress(*run);
  }
}

int Main(int argc, char** argv) {
  CLI::App app(
      "Runs the fuzz targets: makes up inputs, keeps those that reach something new, and keeps each that breaks\n"
      "a property.",
      "plumbline fuzz");
  Options options;
  app.add_option("--minutes", options.minutes, "how long each target runs")
      ->check(harness::Duration(0.01, 100'000, "minutes"))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--target", options.targets, "only this target; repeatable")
      ->type_name("NAME")
      ->allow_extra_args(false);
  app.add_flag("--list", options.list, "print the targets, and run none");
  app.add_option("--corpus", options.corpus,
                 "where new inputs are kept, a folder for each target; a run begins with what is there and with the\n"
                 "inputs that come with Plumbline (default: the folder corpus beside the targets)")
      ->type_name("DIR");
  app.add_option("--out", options.out, "where inputs that break a property are saved")
      ->type_name("DIR")
      ->capture_default_str();
  app.add_option("--programs", options.programs, "where the targets are built (default: found)")->type_name("DIR");
  app.add_option("--jobs", options.jobs, "how many targets run at once")
      ->transform(harness::WholeNumber(1, 256))
      ->type_name("N")
      ->capture_default_str();
  app.footer(
      "`./dev fuzz MINUTES` builds the targets, with clang and the address and undefined-behaviour sanitizers, and "
      "runs\n"
      "this. Every few seconds there is a line for each target that runs: executions, executions a second, edges of\n"
      "code that were reached, inputs in its corpus. A target ends early when it finds something.\n"
      "The target steps_on_backend tries a backend of your own, which PLUMBLINE_FUZZ_BACKEND names:\n"
      "  PLUMBLINE_FUZZ_BACKEND=./libmine.so plumbline fuzz --target steps_on_backend\n"
      "Exit status: 0 nothing was found; 1 something was; 2 bad input, or a target could not run.");
  if (auto status = harness::ParseCommandLine(app, argc, argv)) return *status;
  if (options.list) {
    if (auto status = harness::RefuseIdle(app, {"--minutes", "--target", "--corpus", "--out", "--jobs"},
                                          "beside --list, which runs nothing")) {
      return *status;
    }
  }

  if (options.programs.empty()) options.programs = FolderOfTargets();
  std::vector<Target> targets = AllTargets(options.programs, PLUMBLINE_FUZZ_DATA);
  if (options.list) {
    for (const Target& target : targets) {
      fmt::print("{:<19} {}{}\n", target.name, target.purpose, target.program.empty() ? "  (not built)" : "");
    }
    return kGood;
  }
  std::vector<std::string> names;
  for (const Target& target : targets) names.push_back(target.name);
  for (const std::string& wanted : options.targets) {
    if (std::find(names.begin(), names.end(), wanted) != names.end()) continue;
    return Complain(app, fmt::format("--target {}: there is no such target{}; --list shows them", wanted,
                                     harness::DidYouMean(wanted, names)));
  }
  std::erase_if(targets, [&](const Target& target) {
    if (options.targets.empty()) return !target.by_default;
    return std::find(options.targets.begin(), options.targets.end(), target.name) == options.targets.end();
  });
  for (const Target& target : targets) {
    if (!target.program.empty()) continue;
    return Complain(
        app, fmt::format("{} is not built in {}; `./dev fuzz` builds all targets", target.name, options.programs));
  }
  if (auto wrong = harness::CannotWriteInto(options.out)) return Complain(app, "--out " + *wrong);
  if (options.corpus.empty()) options.corpus = options.programs + "/corpus";
  if (auto wrong = harness::CannotWriteInto(options.corpus)) return Complain(app, "--corpus " + *wrong);
  std::error_code failed;
  fs::create_directories(options.out, failed);

  std::vector<std::unique_ptr<TargetRun>> runs;
  for (const Target& target : targets) {
    runs.push_back(std::make_unique<TargetRun>(
        target, TargetRunOptions{.seconds = std::max(1, static_cast<int>(std::lround(options.minutes * 60))),
                                 .corpus = options.corpus + "/" + target.name,
                                 .failures = options.out}));
  }
  signal(SIGINT, [](int) { interrupted = 1; });
  signal(SIGTERM, [](int) { interrupted = 1; });
  std::optional<std::string> wrong;
  RunAll(runs, options.jobs, wrong);
  if (wrong) return Complain(app, *wrong);
  PrintTable(runs);
  return PrintOutcome(runs);
}

}  // namespace
}  // namespace plumbline::fuzz

int main(int argc, char** argv) { return plumbline::harness::RunMain(&plumbline::fuzz::Main, argc, argv); }
