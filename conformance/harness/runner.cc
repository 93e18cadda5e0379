#include "conformance/harness/runner.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "conformance/harness/glob.h"
#include "conformance/harness/isolation.h"
#include "conformance/harness/nearest.h"
#include "reports/json/json.h"
#include "reports/text/counted.h"
#include "spec/scenario/capabilities_needed.h"

namespace plumbline::harness {
namespace {

using Clock = std::chrono::steady_clock;
using reports::CaseResult;
using reports::Verdict;

// Long enough for any case of the full tier; a worker that takes longer is stuck in the harness itself.
constexpr std::chrono::hours kCaseLimit(2);
constexpr std::chrono::seconds kStartLimit(30);

bool Selects(const std::string& filter, const Case& one) {
  return filter == one.chapter || MatchesGlob(filter, one.id) ||
         std::find(one.clauses.begin(), one.clauses.end(), UpperCase(filter)) != one.clauses.end();
}

// What is near to a pattern is near to its letters.
std::string WithoutStars(std::string pattern) {
  std::erase_if(pattern, [](char c) { return c == '*' || c == '?'; });
  return pattern;
}

// What a worker holds; made in it by its first case.
struct Worker {
  std::unique_ptr<Executor> executor;
  std::unique_ptr<CaseRunner> runner;
};

// One result as text: how much was tried, which the canonical form leaves out where runs may differ in it, and that
// form of a run that holds only this result.
std::string WriteResult(CaseResult result) {
  const std::string tried = std::to_string(result.scenarios);
  reports::Run run;
  run.cases.push_back(std::move(result));
  return tried + "\n" + reports::ToJson(run);
}

CaseResult ResultWithout(const Case& one, const SuiteOptions& options, Verdict verdict, const std::string& what) {
  CaseResult result;
  result.id = one.id;
  result.chapter = one.chapter;
  result.clauses = one.clauses;
  result.verdict = verdict;
  reports::Finding& finding = result.findings.emplace_back();
  finding.summary = what;
  finding.rerun = RerunLine(options.cases, one);
  return result;
}

std::string RunInWorker(Worker& worker, const SuiteOptions& options, const std::vector<Case>& cases,
                        const std::string& request) {
  const Case& one = cases[std::stoul(request)];
  if (!worker.executor) {
    OrError<std::unique_ptr<Executor>> started = Executor::Start(options.executor);
    if (!started.ok()) return WriteResult(ResultWithout(one, options, Verdict::kHarnessError, started.error()));
    worker.executor = std::move(*started);
    worker.runner = std::make_unique<CaseRunner>(*worker.executor, options.waivers, options.cases);
  }
  return WriteResult(worker.runner->Run(one));
}

CaseResult ReadResult(const Case& one, const SuiteOptions& options, const Reply& reply) {
  if (reply.ending != Reply::Ending::kAnswered) {
    return ResultWithout(one, options, Verdict::kHarnessError,
                         fmt::format("the worker {}{}{}", reply.what, reply.output.empty() ? "" : "\n", reply.output));
  }
  const std::size_t head = reply.text.find('\n');
  reports::ReadResult read = reports::FromJson(reply.text.substr(head + 1));
  if (!read.error.empty() || read.run.cases.size() != 1) {
    return ResultWithout(one, options, Verdict::kHarnessError, "the worker's answer cannot be read: " + read.error);
  }
  read.run.cases.front().scenarios = std::stoull(reply.text);
  return std::move(read.run.cases.front());
}

reports::Backend DescribeBackend(const BackendFacts& facts) {
  return {.name = facts.name,
          .version = facts.version,
          .release = facts.release,
          .abi = facts.abi,
          .digest = facts.digest,
          .capabilities = scenario::CapabilityNames(facts.capabilities),
          .loaded = facts.loaded,
          .key_count = facts.key_count,
          .unknown_keys = facts.unknown_keys};
}

// What prints the cases of that suite.
std::string ListOf(const SuiteOptions& options) {
  const CaseRunnerOptions& cases = options.cases;
  if (cases.command == "check" && cases.case_arguments.empty()) return "plumbline list cases";
  return fmt::format("plumbline {} --backend {}{} --list", cases.command, ShellPath(cases.backend_argument),
                     cases.more_arguments + cases.case_arguments);
}

}  // namespace

const char* Spelling(Tier tier) {
  switch (tier) {
    case Tier::kQuick:
      return "quick";
    case Tier::kStandard:
      return "standard";
    case Tier::kFull:
      return "full";
  }
  return "?";
}

OrError<std::vector<Case>> SelectCases(const SuiteOptions& options, const std::vector<Case>& cases) {
  std::vector<std::string> ids, words;
  std::set<std::string> chapters;
  for (const Case& one : cases) {
    chapters.insert(one.chapter);
    ids.push_back(one.id);
    words.push_back(one.id);
    words.push_back(one.chapter);
    words.insert(words.end(), one.clauses.begin(), one.clauses.end());
  }
  for (const std::string& id : options.ids) {
    if (std::find(ids.begin(), ids.end(), id) == ids.end()) {
      return InputError{fmt::format("--case {}: there is no such case{}\n`{}` shows them all.", id, DidYouMean(id, ids),
                                    ListOf(options))};
    }
  }
  for (const std::string& filter : options.filters) {
    if (std::none_of(cases.begin(), cases.end(), [&](const Case& one) { return Selects(filter, one); })) {
      return InputError{
          fmt::format("the filter '{}' selects nothing: it is neither a chapter, nor a clause, nor a pattern that a "
                      "case's id matches{}\nThe chapters are {}; `{}` shows all cases.",
                      filter, DidYouMean(WithoutStars(filter), words), fmt::join(chapters, ", "), ListOf(options))};
    }
  }
  std::vector<Case> selected;
  for (const Case& one : cases) {
    const bool by_id = std::find(options.ids.begin(), options.ids.end(), one.id) != options.ids.end();
    const bool by_filter = std::any_of(options.filters.begin(), options.filters.end(),
                                       [&](const std::string& filter) { return Selects(filter, one); });
    const bool everything = options.ids.empty() && options.filters.empty();
    if (!by_id && !(one.tier <= options.cases.tier && (everything || by_filter))) continue;
    if (!InShard(one.id, options.shard, options.shards)) continue;
    selected.push_back(one);
  }
  if (selected.empty() && options.shards == 1) {
    return InputError{
        fmt::format("the filter selects nothing in the {} tier; try --tier full", Spelling(options.cases.tier))};
  }
  return selected;
}

OrError<SuiteRun> RunSuite(const SuiteOptions& given, std::vector<Case> cases) {
  const auto started = Clock::now();
  SuiteOptions options = given;
  OrError<std::vector<Case>> selection = SelectCases(options, cases);
  if (!selection.ok()) return InputError{selection.error()};
  const std::vector<Case> selected = std::move(*selection);

  SuiteRun done;
  // A user's library may well change what the backend's own waivers describe.
  bool shipped_for_more = false;
  {
    OrError<std::unique_ptr<Executor>> executor = Executor::Start(options.executor);
    if (!executor.ok()) return InputError{executor.error()};
    done.facts = (*executor)->facts();
    done.run.backend = DescribeBackend(done.facts);
    if (const std::string file = ShippedWaiverFile(done.facts, options.suite);
        options.shipped_waivers && !file.empty()) {
      OrError<Waivers> shipped = ReadWaiverFile(file, options.deviations);
      if (!shipped.ok()) return InputError{shipped.error()};
      options.waivers = std::move(*shipped);
      options.waiver_files = {std::filesystem::path(file).filename().string()};
      shipped_for_more = !done.facts.loaded.empty();
    }
  }
  done.run.waiver_files = options.waiver_files;
  done.run.suite_version = PLUMBLINE_VERSION;
  done.run.tier = Spelling(options.cases.tier);
  done.run.seed = options.cases.seed;
  std::vector<std::string> filters = options.filters;
  filters.insert(filters.end(), options.ids.begin(), options.ids.end());
  done.run.filter = fmt::format("{}", fmt::join(filters, " "));
  done.run.shard = options.shard;
  done.run.shards = options.shards;
  done.run.clauses = options.clauses;

  // All workers are forked before there is a thread.
  const std::size_t jobs = std::min<std::size_t>(static_cast<std::size_t>(std::max(options.jobs, 1)),
                                                 std::max<std::size_t>(selected.size(), 1));
  std::vector<std::unique_ptr<Isolation>> workers;
  for (std::size_t i = 0; i < jobs; ++i) {
    auto worker = std::make_shared<Worker>();
    OrError<std::unique_ptr<Isolation>> isolation =
        Isolation::Start({.prepare = [] { return std::string(); },
                          .serve = [worker, &options, &selected](
                                       const std::string& request,
                                       Progress&) { return RunInWorker(*worker, options, selected, request); }},
                         kStartLimit);
    if (!isolation.ok()) return InputError{"no worker could be started: " + isolation.error()};
    workers.push_back(std::move(*isolation));
  }

  std::atomic<std::size_t> next{0}, timeouts{0};
  std::mutex mutex;
  const auto work = [&](Isolation& worker) {
    for (std::size_t i = next++; i < selected.size(); i = next++) {
      const auto begun = Clock::now();
      const bool give_up = options.most_timeouts != 0 && timeouts >= options.most_timeouts;
      CaseResult result = give_up ? ResultWithout(selected[i], options, Verdict::kInconclusive,
                                                  fmt::format("not run: {} had timed out before (--most-timeouts)",
                                                              reports::Counted(options.most_timeouts, "case")))
                                  : ReadResult(selected[i], options, worker.Ask(std::to_string(i), kCaseLimit));
      if (result.verdict == Verdict::kTimeout) ++timeouts;
      const std::lock_guard lock(mutex);
      if (result.sampled) done.notes.tried_by_case[result.id] = result.scenarios;
      done.notes.seconds_by_case[result.id] = std::chrono::duration<double>(Clock::now() - begun).count();
      done.run.cases.push_back(std::move(result));
      if (options.progress) options.progress(done.run.cases.size(), selected.size(), done.run.cases.back());
    }
  };
  std::vector<std::thread> threads;
  for (const auto& worker : workers) threads.emplace_back([&work, &worker] { work(*worker); });
  for (std::thread& thread : threads) thread.join();

  std::sort(done.run.cases.begin(), done.run.cases.end(),
            [](const CaseResult& a, const CaseResult& b) { return a.id < b.id; });
  reports::MarkBlocked(done.run);
  WaiverScope scope{.cases = {},
                    .clauses = {},
                    .release = done.run.backend.release,
                    .version = done.run.backend.version,
                    .today = options.today,
                    .tier = options.cases.tier,
                    .whole = filters.empty() && options.shards == 1 && !shipped_for_more,
                    .all_of_backend = !shipped_for_more};
  for (const Case& one : cases) scope.cases.insert(one.id);
  for (const reports::Clause& clause : options.clauses) scope.clauses.insert(clause.id);
  done.run.waivers = JudgeWaivers(options.waivers, done.run.cases, scope);
  done.notes.seconds = std::chrono::duration<double>(Clock::now() - started).count();
  return done;
}

int ExitStatus(const reports::Run& run) {
  const reports::Counts counts = reports::Count(run);
  for (const Verdict failed : {Verdict::kFail, Verdict::kCrash, Verdict::kTimeout}) {
    if (counts.by_verdict.contains(failed)) return 1;
  }
  if (reports::Good(run)) return 0;
  // An empty shard is as good as any.
  return run.cases.empty() && run.shards > 1 ? 0 : 2;
}

}  // namespace plumbline::harness
