// plumbline race: hunts for what breaks when threads register, release and call at the same time.

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "conformance/cli/command_line.h"
#include "conformance/cli/paint.h"
#include "conformance/cli/progress.h"
#include "conformance/cli/report_folder.h"
#include "conformance/cli/scenario_file.h"
#include "conformance/harness/backend_file.h"
#include "conformance/harness/case_runner.h"
#include "conformance/harness/data_folder.h"
#include "conformance/harness/run_main.h"
#include "conformance/harness/runner.h"
#include "conformance/harness/sanitizers.h"
#include "conformance/harness/text_file.h"
#include "conformance/harness/under_release.h"
#include "conformance/race/cases.h"
#include "conformance/race/hunt.h"
#include "conformance/race/schedule_text.h"
#include "conformance/race/service.h"
#include "reports/terminal/terminal.h"
#include "reports/text/counted.h"
#include "spec/scenario/print.h"

namespace plumbline::cli {
namespace {

using harness::Executor;
using harness::ExecutorConfig;
using harness::InputError;
using harness::OrError;

struct Options {
  BackendOptions backend;
  std::vector<std::string> filters, cases, waivers;
  std::string scenario, schedule, shard, report, out = "plumbline-failures", tier = "standard", calibrate;
  std::uint64_t seed = 1;
  int jobs = 2;
  double seconds = 0;  // for each hunt; 0: the tier's
  std::size_t shown = 10;
  bool free = false, no_color = false, verbose = false, list = false, untraced = false;
};

// Seconds for each hunt.
double SecondsOf(const std::string& tier) { return tier == "quick" ? 1 : tier == "full" ? 60 : 6; }

OrError<std::unique_ptr<Executor>> Start(const CLI::App& app, ExecutorConfig& config, const Options& options) {
  config.service = &race::Serve;
  if (!options.untraced && !options.free) config.path = race::TracedOr(config.path);
  return StartBackend(app, config);
}

bool IsTraced(Executor& executor) {
  const harness::Reply reply = executor.Ask(race::kAskTraced, std::chrono::seconds(10));
  return reply.ending == harness::Reply::Ending::kAnswered && race::ReadTraced(reply.text);
}

std::string TierInWords(bool free, bool traced) {
  if (free) return "T0: free threads, judged by their histories";
#ifdef PLUMBLINE_THREAD_SANITIZER
  if (traced) return "T2: schedules with a point at every load, store and lock, each judged by thread sanitizer too";
#endif
  if (traced) return "T2: schedules with a point at every load, store, lock and release of memory";
  return "T1: schedules with points at locks, in kernels and at releases of memory; a backend rebuilt with tracing "
         "(see --help) is searched deeper";
}

// Keeps the smallest program that shows what was found, and its history, and says how to run it again.
void Keep(const Options& options, const race::Witness& witness, bool traced) {
  const std::string path =
      fmt::format("{}/race-{}-{:08x}", options.out, std::filesystem::path(options.scenario).stem().string(),
                  harness::HashOf(witness.scenario, 0) & 0xffffffffu);
  std::error_code failed;  // then writing fails too, and says it
  std::filesystem::create_directories(options.out, failed);
  const auto write = [&](const std::string& file, const std::string& text) {
    const OrError<bool> written = harness::WriteTextFile(file, text);
    if (written.ok()) Print("saved     {}\n", file);
    if (!written.ok()) fmt::print(stderr, "--out {}\n", written.error());
    return written.ok();
  };
  if (!witness.history.empty()) write(path + ".hist", witness.history);
  if (!write(path + ".scn", witness.scenario)) return;
  const std::string how =
      options.free ? fmt::format("--free --seed {}", options.seed) : "--schedule " + witness.schedule;
  Print("rerun     plumbline race --backend {}{}{} {} {}\n", harness::ShellPath(options.backend.backend),
        options.backend.MoreArguments(), traced || options.free ? "" : " --untraced", harness::ShellPath(path + ".scn"),
        how);
}

int RunOne(const CLI::App& app, const Options& options, Executor& executor, bool traced, const Painter& paint) {
  OrError<scenario::Scenario> scenario = ReadScenarioFile(options.scenario);
  if (!scenario.ok()) return Complain(app, scenario.error());
  if (scenario->release != executor.facts().release) {
    scenario = harness::WithKeysOf(executor.facts(), *std::move(scenario));
    if (scenario->release == executor.facts().release) {
      Print("{}: run with the keys of {}, on which nothing in it depends\n", options.scenario, scenario->release);
    }
  }
  const OrError<race::Program> program = race::MakeProgram(*scenario);
  if (!program.ok()) return Complain(app, fmt::format("{}: {}", options.scenario, program.error()));
  race::HuntOptions hunting{.seed = options.seed,
                            .time = std::chrono::milliseconds(static_cast<std::int64_t>(options.seconds * 1000)),
                            .free = options.free};
  std::optional<race::Witness> witness;
  if (!options.schedule.empty()) {
    const OrError<race::OwnedPlan> plan = race::ParseSchedule(options.schedule);
    if (!plan.ok()) return Complain(app, plan.error());
    std::string refused;
    witness = race::Hunt(executor, hunting).Replay(scenario::Print(*scenario), options.schedule, &refused);
    if (!refused.empty()) return Complain(app, fmt::format("{}: {}", options.scenario, refused));
    if (!witness) {
      Print("{}: {}\n", options.scenario, paint.Green("nothing is wrong under this schedule"));
      return kGood;
    }
  } else {
    race::Hunted found = race::Hunt(executor, hunting).Run(*scenario);
    if (!found.refused.empty()) return Complain(app, fmt::format("{}: {}", options.scenario, found.refused));
    if (!found.witness) {
      const std::uint64_t judged = found.schedules - std::min(found.undecided, found.schedules);
      Print("{}: {}\n", options.scenario,
            paint.Green(fmt::format("no violation found in {} schedules, {:.1f} s", judged, found.seconds)));
      if (found.undecided == 0) return kGood;
      Print(
          "{}: {}\n", options.scenario,
          paint.Yellow(fmt::format("{} more left more orders than could be tried; with fewer steps at once they can be",
                                   found.undecided)));
      return judged == 0 ? kBadInput : kGood;
    }
    witness = std::move(found.witness);
    Print("found after {} schedules; the smallest program that shows it:\n\n{}\n", witness->found_after,
          witness->scenario);
    if (witness->replays > 0) {
      Print("schedule {}  (replayed in fresh processes: {} of {} times the same)\n\n", witness->schedule,
            witness->again, witness->replays);
    }
  }
  if (!witness->contradicts && !witness->history.empty()) Print("{}\n", witness->history);  // else it is in the words
  Print("{}\n", witness->words);
  if (options.schedule.empty()) Keep(options, *witness, traced);
  Print("{}: {}\n", options.scenario, paint.Red(witness->kind));
  return kFailed;
}

// The sum says little of a hunt that had no time. A report holds the number of each case.
void PrintFewest(const std::vector<reports::CaseResult>& cases) {
  const reports::CaseResult* fewest = nullptr;
  for (const reports::CaseResult& one : cases) {
    if (one.verdict != reports::Verdict::kPass && one.verdict != reports::Verdict::kInconclusive) continue;
    if (fewest == nullptr || one.scenarios < fewest->scenarios) fewest = &one;
  }
  if (fewest == nullptr) return;
  Print("  at least   {} in each case that found nothing ({}); --verbose and --report tell them all\n",
        reports::Counted(fewest->scenarios, "schedule"), fewest->id);
}

// What is given and would be ignored.
std::optional<int> RefuseIgnored(const CLI::App& app, const Options& options) {
  if (options.scenario.empty()) {
    if (auto status = RefuseFilterBesideCase(app)) return status;
    if (auto status = RefuseIdle(app, {"--schedule"}, "without the FILE of a scenario")) return status;
    if (!options.backend.fault.empty() && options.calibrate != "none") {
      if (auto status = RefuseIdle(app, {"--calibrate"}, "beside --fault: a race is planted in the backend itself")) {
        return status;
      }
    }
    return options.list ? RefuseIdle(app, kOfResults, kBesideList) : std::nullopt;
  }
  if (auto status = RefuseIdle(app,
                               {"--filter", "--case", "--shard", "--calibrate", "--jobs", "--waivers", "--report",
                                "--show", "--list", "--verbose"},
                               "beside FILE, which is hunted in alone")) {
    return status;
  }
  if (!options.schedule.empty()) {
    return RefuseIdle(app, {"--free", "--seed", "--seconds", "--tier", "--out"},
                      "beside --schedule, which is all that is run");
  }
  return options.seconds == 0 ? std::nullopt : RefuseIdle(app, {"--tier"}, "beside FILE and --seconds");
}

int Main(int argc, char** argv) {
  CLI::App app("Hunts for what breaks in a backend when threads register, release and call at the same time.",
               "plumbline race");
  Options options;
  options.backend.AddTo(app);
  app.add_option("scenario", options.scenario, "hunt in this scenario (.scn, with steps `on THREAD`), not in the suite")
      ->type_name("FILE");
  app.add_option("--schedule", options.schedule, "run the scenario under just this schedule, as a failure printed it")
      ->type_name("TEXT");
  app.add_option("--tier", options.tier, "how long each hunt is: quick 1 s, standard 6 s, full 60 s")
      ->check(Choice({"quick", "standard", "full"}))
      ->type_name("TIER")
      ->capture_default_str();
  app.add_option("--seconds", options.seconds, "how long each hunt is, instead")
      ->check(Seconds())
      ->type_name("SECONDS");
  AddFilter(app, options.filters,
            "only cases that name this clause (CONC-004), or whose id matches this pattern; repeatable: any of them "
            "picks a case");
  AddCase(app, options.cases, "only the case of this id; repeatable; not beside --filter");
  app.add_option("--calibrate", options.calibrate,
                 "the backend with planted races that each case must catch first; none: trust the cases untried "
                 "(default: broken, if it is built)")
      ->type_name("NAME|FILE|none");
  app.add_flag("--free", options.free, "let threads run freely, and judge what they saw");
  app.add_flag("--untraced", options.untraced, "leave a traced build of the backend aside");
  AddSeed(app, options.seed);
  AddShard(app, options.shard, "`plumbline report merge` joins the reports");
  AddJobs(app, options.jobs);
  app.add_option("--waivers", options.waivers,
                 "a file of known failures, repeatable; else the one that is shipped with the backend, if any is; "
                 "none: without any")
      ->type_name("FILE|none")
      ->allow_extra_args(false);
  app.add_option("--report", options.report, "write report.json, junit.xml and index.html into this folder")
      ->type_name("DIR");
  AddShow(app, options.shown);
  app.add_option("--out", options.out, "where programs and histories of failures are saved")
      ->type_name("DIR")
      ->capture_default_str();
  app.add_flag("--list", options.list,
               "print the ids of the cases that would run, and run none; options on how to run them may stay");
  AddNoColor(app, options.no_color);
  app.add_flag("-v,--verbose", options.verbose, "print each case as it is done");
  app.footer(
      "How deep a hunt goes depends on how the backend is built. As it is (T1), threads can be switched at locks, in\n"
      "kernels and where memory is released. Compiled by clang with\n"
      "  -fsanitize-coverage=func,trace-pc-guard,trace-loads,trace-stores\n"
      "and put into the folder traced/ beside it, or named itself (T2), at every load and store. No source changes.\n"
      "No case says that a backend is right: it says how many schedules were clean, after the case has caught the\n"
      "planted races of its clauses in as much time; where it has not, it is inconclusive.\n"
      "Where few schedules fit into its time, a hunt goes on for up to five times as long: one for a planted race up\n"
      "to 3000, one in the backend up to 400, or to four times what its planted races took; with fewer than these\n"
      "took, it is inconclusive too.\n"
      "A failure is made small and saved; the line that it ends in runs its program under its schedule again. In a\n"
      "schedule, 12b means that at step 12 thread b goes on; nth:SEED:N is the N-th that a hunt of that seed tries. "
      "What is\n"
      "found is a wrong answer (stale: another kernel ran than the one in force all along; missed: none was found;\n"
      "after-release and before-registration: it was not in force; unknown-kernel; no-order: no order of the steps\n"
      "explains it), a context of a kernel that was destroyed too early, twice or never (lifetime), a write to freed\n"
      "memory (freed-memory), threads that wait for each other (deadlock) or never end (stuck, livelock), an "
      "exception\n"
      "across the ABI (threw), or a crash; in a build of this tool and of the backend by clang with thread sanitizer\n"
      "(`./dev race-tsan`) also what that finds (sanitizer).\n"
      "Exit status: 0 nothing was found; 1 something was; 2 a case is inconclusive, bad input or a harness-error.");
  if (auto status = ParseCommandLine(app, argc, argv)) return *status;
  if (auto status = RefuseIgnored(app, options)) return *status;
  OrError<Shard> shard = ReadShard(options.shard);
  if (!shard.ok()) return Complain(app, shard.error());
  if (options.seconds == 0) options.seconds = SecondsOf(options.tier);
  if (!options.report.empty()) {
    if (auto wrong = CannotWriteReports(options.report)) return Complain(app, "--report " + *wrong);
  }
  if (auto wrong = harness::CannotWriteInto(options.out)) return Complain(app, "--out " + *wrong);

  OrError<ExecutorConfig> config = options.backend.Config();
  if (!config.ok()) return Complain(app, config.error());
  OrError<std::unique_ptr<Executor>> executor = Start(app, *config, options);
  if (!executor.ok()) return Complain(app, executor.error());
  const bool traced = !options.free && IsTraced(**executor);
  const Painter paint(Colours(STDOUT_FILENO, options.no_color));
  if (!options.scenario.empty()) return RunOne(app, options, **executor, traced, paint);

  race::RaceOptions hunting{.time = std::chrono::milliseconds(static_cast<std::int64_t>(options.seconds * 1000)),
                            .free = options.free,
                            .untraced = !traced && !options.free,
                            .calibration = std::nullopt,
                            .faults = {}};
  std::string untried;  // why no case has to catch a planted race first
  if (!options.backend.fault.empty()) untried = "one is planted in the backend itself";
  if (options.calibrate == "none") untried = "--calibrate none";
  if (options.calibrate.empty() && !harness::FindBackend("broken").ok()) {
    untried = "the backend broken is not built; `./dev race` builds it";
  }
  if (untried.empty()) {
    BackendOptions planted;
    planted.backend = options.calibrate.empty() ? "broken" : options.calibrate;
    OrError<ExecutorConfig> broken = planted.Config();
    if (!broken.ok()) return Complain(app, "--calibrate " + broken.error());
    broken->service = &race::Serve;
    if (traced) broken->path = race::TracedOr(broken->path);
    OrError<std::unique_ptr<Executor>> started = Executor::Start(*broken);
    if (!started.ok()) return Complain(app, "--calibrate " + started.error());
    auto faults = race::FaultsByClause(**started);
    if (!faults.ok()) return Complain(app, "--calibrate " + faults.error());
    hunting.calibration = *broken;
    hunting.faults = *std::move(faults);
  }
  OrError<std::vector<harness::Case>> cases = race::RaceCases(harness::CorpusFolder() + "/concurrency", hunting);
  if (!cases.ok()) return Complain(app, cases.error());

  harness::SuiteOptions suite;
  suite.executor = *config;
  suite.cases = {.seed = options.seed,
                 .tier = options.tier == "quick"  ? harness::Tier::kQuick
                         : options.tier == "full" ? harness::Tier::kFull
                                                  : harness::Tier::kStandard,
                 .command = "race",
                 .backend_argument = options.backend.backend,
                 .more_arguments = options.backend.MoreArguments(),
                 .out = options.out};
  suite.filters = options.filters;
  suite.ids = options.cases;
  suite.jobs = options.jobs;
  suite.shard = shard->number;
  suite.shards = shard->count;
  OrError<harness::GivenWaivers> waivers = harness::ReadGivenWaivers(options.waivers);
  if (!waivers.ok()) return Complain(app, waivers.error());
  suite.waivers = std::move(waivers->waivers);
  suite.waiver_files = std::move(waivers->files);
  suite.shipped_waivers = options.waivers.empty();
  suite.suite = "race";
  suite.today = Today();
  OrError<std::vector<reports::Clause>> clauses = harness::ReadClauseIndex();
  if (!clauses.ok()) return Complain(app, clauses.error());
  std::erase_if(*clauses, [](const reports::Clause& clause) { return !harness::IsRaced(clause); });
  suite.clauses = std::move(*clauses);
  if (options.list) {
    OrError<std::vector<harness::Case>> selected = harness::SelectCases(suite, *cases);
    if (!selected.ok()) return Complain(app, selected.error());
    for (const harness::Case& one : *selected) Print("{}\n", one.id);
    return kGood;
  }
  Progress progress;
  suite.progress = [&](std::size_t finished, std::size_t total, const reports::CaseResult& result) {
    if (options.verbose) {
      progress.Clear();
      Print(stderr, "{:<13} {}  {} schedules\n", reports::Spelling(result.verdict), result.id, result.scenarios);
    }
    progress.Show(finished, total, result.id);
  };
  Print("{}\n", TierInWords(options.free, traced));
  if (!hunting.calibration) Print("No case has to catch a planted race first: {}.\n", untried);
  std::fflush(stdout);
  OrError<harness::SuiteRun> done = harness::RunSuite(suite, *std::move(cases));
  progress.Clear();
  if (!done.ok()) return Complain(app, done.error());
  done->notes.command_line = fmt::format("{}", fmt::join(std::vector<std::string>(argv, argv + argc), " "));
  Print("{}", Painted{reports::Summary(done->run, {.colour = Colours(STDOUT_FILENO, options.no_color),
                                                   .shown = options.shown,
                                                   .seconds = done->notes.seconds,
                                                   .tried = "schedules",
                                                   .saved_in = options.out})});
  PrintFewest(done->run.cases);
  if (!options.report.empty()) {
    OrError<std::string> page = WriteReports(options.report, done->run, done->notes);
    if (!page.ok()) return Complain(app, "--report " + page.error());
    Print("  report     {}\n", *page);
  }
  const bool inconclusive =
      std::any_of(done->run.cases.begin(), done->run.cases.end(),
                  [](const reports::CaseResult& result) { return result.verdict == reports::Verdict::kInconclusive; });
  if (inconclusive && !traced && !options.free) {
    Print(
        "  to do      hunt in a traced build: `./dev race` makes those of Plumbline's own backends, --help says how "
        "to\n"
        "             make one of yours; or give each hunt more time, by --seconds\n");
  } else if (inconclusive) {
    Print("  to do      give each hunt more time, by --seconds, or this machine less else to do\n");
  }
  return harness::ExitStatus(done->run);
}

}  // namespace
}  // namespace plumbline::cli

#ifdef PLUMBLINE_THREAD_SANITIZER
// A find ends its schedule, so that the schedule can be told; backends that crash do so by their signal.
extern "C" const char* __tsan_default_options() {
  return "halt_on_error=1:handle_segv=0:handle_sigbus=0:handle_abort=0";
}
#endif

int main(int argc, char** argv) { return plumbline::harness::RunMain(&plumbline::cli::Main, argc, argv); }
