#include "conformance/race/cases.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <utility>

#include "conformance/harness/case_runner.h"
#include "conformance/harness/text_file.h"
#include "conformance/harness/under_release.h"
#include "reports/text/counted.h"
#include "spec/scenario/capabilities_needed.h"
#include "spec/scenario/parse.h"
#include "spec/scenario/print.h"

namespace plumbline::race {
namespace {

namespace fs = std::filesystem;
using harness::Case;
using harness::CaseContext;
using harness::Executor;
using harness::InputError;
using harness::OrError;
using scenario::Scenario;

// A hunt has as many schedules as its calibration took, and some more, for that took as few as it did by luck.
constexpr std::uint64_t kTimesACalibration = 4;

Calibration Calibrate(const RaceOptions& options, const std::string& fault, const Scenario& scenario,
                      std::uint64_t seed) {
  Calibration done{.fault = fault, .how = ""};
  harness::ExecutorConfig config = *options.calibration;
  config.fault = fault;
  OrError<std::unique_ptr<Executor>> executor = Executor::Start(config);
  if (!executor.ok()) {
    done.how = executor.error();
    return done;
  }
  Hunt hunt(**executor, {.seed = seed,
                         .time = options.time,
                         .least = kSchedulesOfACalibration,
                         .free = options.free,
                         .shrink = false,
                         .replays = 0});
  const Hunted found = hunt.Run(scenario);
  done.caught = found.witness.has_value();
  done.schedules = found.schedules;
  done.how = done.caught              ? found.witness->kind
             : !found.refused.empty() ? found.refused
                                      : fmt::format("not seen in {}, {:.0f} s",
                                                    reports::Counted(found.schedules, "schedule"), found.seconds);
  return done;
}

void Report(CaseContext& ctx, const RaceOptions& options, const Witness& witness) {
  const std::size_t first = std::min(witness.words.find('\n'), witness.words.size());
  reports::Finding finding;
  finding.summary = fmt::format("{}: {}", witness.kind, witness.words.substr(0, first));
  finding.scenario = witness.scenario;
  finding.got = first < witness.words.size() ? witness.words.substr(first + 1) : witness.words;
  while (finding.got.ends_with('\n')) finding.got.pop_back();
  finding.expected = "some order of the steps that explains every answer, each context destroyed once, and an end";
  // Another hunt may make another program of the same case, and must not take this one's place.
  const std::string name = fmt::format("-{:08x}", harness::HashOf(witness.scenario, 0) & 0xffffffffu);
  const std::string scenario = ctx.SaveAs(name + ".scn", witness.scenario);
  const std::string history = witness.history.empty() ? "" : ctx.SaveAs(name + ".hist", witness.history);
  const bool comes_back = witness.replays == 0 || witness.again > 0;
  if (!witness.schedule.empty() && !scenario.empty() && comes_back) {
    finding.rerun = fmt::format("plumbline race{}{} {} --schedule {}", ctx.BackendArguments(),
                                options.untraced ? " --untraced" : "", harness::ShellPath(scenario), witness.schedule);
  }
  if (witness.replays > 0) {
    finding.got +=
        fmt::format("\nreplayed in fresh processes: {} of {} times the same", witness.again, witness.replays);
    if (!comes_back) {
      finding.got += fmt::format(
          "; it was seen under the schedule {}, which does not bring it back by itself: the line "
          "below hunts again",
          witness.schedule);
    }
  }
  if (!history.empty()) {
    finding.got += witness.contradicts
                       ? fmt::format("\n`plumbline replay {}` judges the history again", harness::ShellPath(history))
                       : fmt::format("\nwhat its threads had done by then is in {}", history);
  }
  ctx.Fail(std::move(finding), witness.verdict);
}

void RunCase(const Scenario& scenario, const std::vector<std::string>& clauses, const RaceOptions& options,
             CaseContext& ctx) {
  const std::uint64_t missing = scenario::CapabilitiesNeeded(scenario) & ~ctx.backend().capabilities;
  if (missing != 0) {
    for (const std::string& name : scenario::CapabilityNames(missing)) ctx.Unsupported(name);
    return;
  }
  std::vector<Calibration> calibrations;
  std::uint64_t needed = 0;
  if (options.calibration) {
    for (const std::string& clause : clauses) {
      const auto faults = options.faults.find(clause);
      if (faults == options.faults.end()) continue;
      for (const std::string& fault : faults->second) {
        calibrations.push_back(Calibrate(options, fault, scenario, ctx.seed()));
        if (calibrations.back().caught) needed = std::max(needed, calibrations.back().schedules);
      }
    }
  }
  const HuntOptions hunting{.seed = ctx.seed(),
                            .time = options.time,
                            .least = std::max(options.least, kTimesACalibration * needed),
                            .free = options.free,
                            .shrink = options.shrink};
  const Hunted found = Hunt(ctx.executor(), hunting).Run(harness::WithKeysOf(ctx.backend(), scenario));
  if (!found.refused.empty()) {
    ctx.Unsupported(found.refused);
    return;
  }
  ctx.Tried(found.schedules);
  if (found.witness) return Report(ctx, options, *found.witness);
  for (const std::string& why : WhyNothingIsSaid(found, calibrations)) ctx.Inconclusive(why);
}

OrError<Scenario> Read(const std::string& path) {
  const OrError<std::string> text = harness::ReadTextFile(path, "a scenario file (.scn)");
  if (!text.ok()) return InputError{text.error()};
  scenario::ParseResult parsed = scenario::Parse(*text);
  if (!parsed.scenario) {
    return InputError{
        fmt::format("{}:{}:{}: {}", path, parsed.error->line, parsed.error->column, parsed.error->message)};
  }
  const OrError<Program> program = MakeProgram(*parsed.scenario);
  if (!program.ok()) return InputError{fmt::format("{}: {}", path, program.error())};
  return *std::move(parsed.scenario);
}

}  // namespace

std::vector<std::string> WhyNothingIsSaid(const Hunted& clean, const std::vector<Calibration>& calibrations) {
  std::vector<std::string> why;
  if (clean.undecided * 10 > clean.schedules) {
    why.push_back(fmt::format("of {}, {} left more orders than could be tried: nothing is said of these",
                              reports::Counted(clean.schedules, "schedule"), clean.undecided));
  }
  for (const Calibration& one : calibrations) {
    if (!one.caught) {
      why.push_back(fmt::format("the planted fault {} was not caught here: {}", one.fault, one.how));
    } else if (clean.schedules < one.schedules) {
      why.push_back(fmt::format("only {} could be run in {:.0f} s, and the planted fault {} was caught after {}",
                                reports::Counted(clean.schedules, "schedule"), clean.seconds, one.fault,
                                one.schedules));
    }
  }
  return why;
}

OrError<std::map<std::string, std::vector<std::string>>> FaultsByClause(Executor& executor) {
  const OrError<std::vector<std::string>> lines = executor.Faults();
  if (!lines.ok()) return InputError{lines.error()};
  std::map<std::string, std::vector<std::string>> faults;
  for (const std::string& line : *lines) {
    const std::size_t first = line.find('\t');
    const std::size_t second = first == std::string::npos ? first : line.find('\t', first + 1);
    if (second == std::string::npos) continue;
    faults[line.substr(first + 1, second - first - 1)].push_back(line.substr(0, first));
  }
  return faults;
}

std::string TracedOr(const std::string& path) {
  const fs::path traced = fs::path(path).parent_path() / "traced" / fs::path(path).filename();
  std::error_code failed;
  return fs::exists(traced, failed) ? traced.string() : path;
}

OrError<std::vector<Case>> RaceCases(const std::string& folder, const RaceOptions& options) {
  const auto shared = std::make_shared<const RaceOptions>(options);
  std::vector<Case> cases;
  std::error_code failed;
  for (fs::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed)) {
    if (at->path().extension() != ".scn") continue;
    OrError<Scenario> scenario = Read(at->path().string());
    if (!scenario.ok()) return InputError{scenario.error()};
    const std::vector<std::string> clauses = scenario->clauses;
    cases.push_back({.id = "concurrency/" + at->path().stem().string(),
                     .chapter = "concurrency",
                     .clauses = clauses,
                     .tier = harness::Tier::kQuick,
                     .needs = PL_CAPABILITY(CORE),
                     .sampled = true,
                     .where = at->path().string(),
                     .run = [scenario = *std::move(scenario), clauses, shared](CaseContext& ctx) {
                       RunCase(scenario, clauses, *shared, ctx);
                     }});
  }
  if (failed || cases.empty()) {
    return InputError{
        fmt::format("{}: no scenarios of races are there{}", folder, failed ? ": " + failed.message() : "")};
  }
  std::sort(cases.begin(), cases.end(), [](const Case& a, const Case& b) { return a.id < b.id; });
  return cases;
}

}  // namespace plumbline::race
