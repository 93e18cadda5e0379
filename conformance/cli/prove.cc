#include "conformance/cli/prove.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <thread>
#include <tuple>
#include <utility>

#include "conformance/cli/paint.h"
#include "conformance/harness/case_runner.h"
#include "conformance/harness/isolation.h"
#include "conformance/harness/nearest.h"
#include "conformance/harness/runner.h"
#include "reports/json/object.h"
#include "reports/text/counted.h"

namespace plumbline::cli {
namespace {

using harness::Case;
using harness::Executor;
using harness::InputError;
using harness::Isolation;
using harness::OrError;
using reports::CaseResult;
using reports::JsonObject;
using reports::Verdict;
using Json = nlohmann::json;

constexpr int kFormat = 1;
constexpr std::chrono::hours kFaultLimit(2);
constexpr std::chrono::seconds kStartLimit(30);

bool Names(const Case& one, const std::string& clause) {
  return std::find(one.clauses.begin(), one.clauses.end(), clause) != one.clauses.end();
}

bool NeedsOperators(const Case& one) { return (one.needs & PL_CAPABILITY(OPERATORS)) != 0; }

harness::ExecutorConfig ConfigFor(const ProveOptions& options, bool operators) {
  harness::ExecutorConfig config = options.executor;
  if (operators && !options.with_operators.empty()) config.path = options.with_operators;
  return config;
}

// What a fault says about itself decides which ends count besides a failed check.
bool Says(const Fault& fault, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return fault.what.find(word) != std::string::npos; });
}

bool Counts(const Fault& fault, const Case& one, Verdict verdict) {
  switch (verdict) {
    case Verdict::kFail:
      return true;
    case Verdict::kCrash:
      // A race ends in a wrong answer under one schedule and in a crash under the next: a hunt takes what comes first.
      return one.sampled || Says(fault, {"crash", "freed memory"});
    case Verdict::kTimeout:
      return Says(fault, {"hang", "for ever"});
    default:
      return false;
  }
}

std::string OneLine(const CaseResult& result) {
  if (result.findings.empty()) return "";
  const reports::Finding& finding = result.findings.front();
  std::string text = finding.summary;
  if (!finding.expected.empty() || !finding.got.empty()) {
    text += fmt::format(": expected {}, got {}", finding.expected, finding.got);
  }
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

// One fault, tried in a process that holds an executor with it switched on.
FaultResult TryInExecutor(const ProveOptions& options, const Fault& fault, const std::vector<Case>& cases) {
  const bool operators = std::any_of(cases.begin(), cases.end(),
                                     [&](const Case& one) { return NeedsOperators(one) && Names(one, fault.clause); });
  harness::ExecutorConfig config = ConfigFor(options, operators);
  config.fault = fault.name;
  OrError<std::unique_ptr<Executor>> executor = Executor::Start(config);
  if (!executor.ok()) {
    FaultResult result{.fault = fault};
    result.verdict = Verdict::kHarnessError;
    result.seen = executor.error();
    return result;
  }
  const harness::Waivers none;
  harness::CaseRunner runner(**executor, none,
                             {.seed = options.seed,
                              .tier = harness::Tier::kStandard,
                              .backend_argument = options.backend_argument,
                              .more_arguments = " --fault " + harness::ShellWord(fault.name),
                              .out = "",
                              .shrink = false});
  return TryFault(
      fault, CasesFor(fault, cases, options.everything), [&](const Case& one) { return runner.Run(one); },
      options.everything);
}

Json Write(const FaultResult& result) {
  return {{"name", result.fault.name}, {"clause", result.fault.clause},
          {"what", result.fault.what}, {"killed", result.killed},
          {"by", result.by},           {"verdict", Spelling(result.verdict)},
          {"seen", result.seen},       {"sampled", result.sampled},
          {"cases", result.cases},     {"also", result.also}};
}

FaultResult ReadFault(const JsonObject& object) {
  return {.fault = {.name = object.Text("name"), .clause = object.Text("clause"), .what = object.Text("what")},
          .killed = object.Flag("killed"),
          .by = object.Text("by"),
          .verdict = object.ReadVerdict("verdict"),
          .seen = object.Text("seen"),
          .sampled = object.Flag("sampled"),
          .cases = object.Count("cases"),
          .also = object.Texts("also")};
}

FaultResult Read(const Fault& fault, const harness::Reply& reply) {
  if (reply.ending == harness::Reply::Ending::kAnswered) {
    const Json json = Json::parse(reply.text);
    return ReadFault(JsonObject(json, ""));
  }
  FaultResult result{.fault = fault};
  result.verdict = Verdict::kHarnessError;
  result.seen = fmt::format("the worker {}{}{}", reply.what, reply.output.empty() ? "" : ": ", reply.output);
  return result;
}

bool ByClauseAndName(const FaultResult& a, const FaultResult& b) {
  return std::tie(a.fault.clause, a.fault.name) < std::tie(b.fault.clause, b.fault.name);
}

OrError<std::vector<Fault>> FaultsOf(const ProveOptions& options, std::string* backend) {
  OrError<std::unique_ptr<Executor>> executor = Executor::Start(options.executor);
  if (!executor.ok()) return InputError{executor.error()};
  *backend = (*executor)->facts().name;
  OrError<std::vector<std::string>> lines = (*executor)->Faults();
  if (!lines.ok()) return InputError{lines.error()};
  OrError<std::vector<Fault>> all = ReadFaults(*lines, options.clauses);
  if (!all.ok() || options.only.empty()) return all;
  std::vector<Fault> chosen;
  std::vector<std::string> names;
  for (const Fault& fault : *all) names.push_back(fault.name);
  for (const std::string& name : options.only) {
    const auto at = std::find(names.begin(), names.end(), name);
    if (at == names.end()) {
      return InputError{fmt::format("--fault: backend {}: {}", *backend, harness::NoSuchFault(name, names))};
    }
    chosen.push_back((*all)[static_cast<std::size_t>(at - names.begin())]);
  }
  return chosen;
}

// Runs cases that have to pass.
OrError<bool> RunNull(const ProveOptions& options, const harness::ExecutorConfig& config, std::vector<Case> cases,
                      Proof& proof) {
  if (cases.empty()) return true;
  harness::SuiteOptions suite;
  suite.executor = config;
  suite.cases.seed = options.seed;
  suite.cases.tier = harness::Tier::kStandard;
  suite.cases.backend_argument = options.backend_argument;
  suite.jobs = options.jobs;
  suite.shard = options.shard;
  suite.shards = options.shards;
  suite.progress = [&](std::size_t done, std::size_t total, const CaseResult&) {
    if (options.progress) options.progress("no fault", done, total);
  };
  OrError<harness::SuiteRun> done = harness::RunSuite(suite, std::move(cases));
  if (!done.ok()) return InputError{done.error()};
  proof.null_cases += done->run.cases.size();
  for (CaseResult& result : done->run.cases) {
    if (result.verdict == Verdict::kPass || result.verdict == Verdict::kUnsupported) continue;
    proof.null_failures.push_back(std::move(result));
  }
  return true;
}

// Without a fault, all that may kill one must pass.
OrError<bool> RunNull(const ProveOptions& options, const std::set<std::string>& violated,
                      const std::vector<Case>& cases, Proof& proof) {
  std::vector<Case> selected, with_operators;
  for (const Case& one : cases) {
    const bool wanted = options.everything || std::any_of(one.clauses.begin(), one.clauses.end(),
                                                          [&](const auto& id) { return violated.contains(id); });
    if (wanted && one.tier <= harness::Tier::kStandard) {
      (NeedsOperators(one) ? with_operators : selected).push_back(one);
    }
  }
  for (std::vector<Case>* const some : {&selected, &with_operators}) {
    OrError<bool> done = RunNull(options, ConfigFor(options, some == &with_operators), std::move(*some), proof);
    if (!done.ok()) return done;
  }
  return true;
}

OrError<bool> RunFaults(const ProveOptions& options, const std::vector<Case>& cases, Proof& proof) {
  const std::size_t total = proof.faults.size();
  const std::size_t jobs = std::min<std::size_t>(static_cast<std::size_t>(std::max(options.jobs, 1)), total);
  std::vector<std::unique_ptr<Isolation>> workers;
  for (std::size_t i = 0; i < jobs; ++i) {
    OrError<std::unique_ptr<Isolation>> worker =
        Isolation::Start({.prepare = [] { return std::string(); },
                          .serve =
                              [&options, &cases, &proof](const std::string& request, harness::Progress&) {
                                return Write(TryInExecutor(options, proof.faults[std::stoul(request)].fault, cases))
                                    .dump(-1, ' ', false, Json::error_handler_t::replace);
                              }},
                         kStartLimit);
    if (!worker.ok()) return InputError{"no worker could be started: " + worker.error()};
    workers.push_back(std::move(*worker));
  }
  std::atomic<std::size_t> next{0};
  std::size_t done = 0;
  std::mutex mutex;
  std::vector<std::thread> threads;
  for (const auto& worker : workers) {
    threads.emplace_back([&, at = worker.get()] {
      for (std::size_t i = next++; i < total; i = next++) {
        const harness::Reply reply = at->Ask(std::to_string(i), kFaultLimit);
        const std::lock_guard lock(mutex);
        proof.faults[i] = Read(proof.faults[i].fault, reply);
        if (options.progress) options.progress(proof.faults[i].fault.name, ++done, total);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return true;
}

}  // namespace

OrError<std::vector<Fault>> ReadFaults(const std::vector<std::string>& lines,
                                       const std::vector<reports::Clause>& clauses) {
  std::vector<Fault> faults;
  std::vector<std::string> ids;
  for (const reports::Clause& clause : clauses) ids.push_back(clause.id);
  for (const std::string& line : lines) {
    const std::size_t first = line.find('\t');
    const std::size_t second = first == std::string::npos ? first : line.find('\t', first + 1);
    if (second == std::string::npos || first == 0) {
      return InputError{fmt::format(
          "the backend's fault list has the line '{}'; give a name, a clause and what goes wrong, with tabs between",
          line)};
    }
    Fault fault{line.substr(0, first), line.substr(first + 1, second - first - 1), line.substr(second + 1)};
    if (std::find(ids.begin(), ids.end(), fault.clause) == ids.end()) {
      return InputError{fmt::format("the fault {} violates {}, and there is no such clause{}", fault.name, fault.clause,
                                    harness::DidYouMean(fault.clause, ids))};
    }
    faults.push_back(std::move(fault));
  }
  return faults;
}

std::vector<Case> CasesFor(const Fault& fault, const std::vector<Case>& cases, bool everything) {
  const auto rank = [&](const Case& one) {
    if (!Names(one, fault.clause)) return 4;
    // Programs that may miss it come after those that may not.
    if (!one.where.ends_with(".scn")) return one.sampled ? 3 : 2;
    return one.id.find("/" + fault.clause) != std::string::npos ? 0 : 1;
  };
  std::vector<Case> chosen;
  for (int wanted = 0; wanted <= (everything ? 4 : 3); ++wanted) {
    for (const Case& one : cases) {
      if (one.tier <= harness::Tier::kStandard && rank(one) == wanted) chosen.push_back(one);
    }
  }
  return chosen;
}

FaultResult TryFault(const Fault& fault, const std::vector<Case>& cases,
                     const std::function<CaseResult(const Case&)>& run, bool everything) {
  FaultResult result{.fault = fault};
  for (const Case& one : cases) {
    if (result.killed && !everything) break;
    ++result.cases;
    const CaseResult seen = run(one);
    if (seen.verdict == Verdict::kPass || seen.verdict == Verdict::kUnsupported) continue;
    const bool kills = Names(one, fault.clause) && Counts(fault, one, seen.verdict);
    if ((kills && !result.killed) || result.by.empty()) {
      if (!result.by.empty()) result.also.push_back(result.by);
      result.killed = kills;
      result.by = one.id;
      result.verdict = seen.verdict;
      result.seen = OneLine(seen);
      result.sampled = one.sampled;
    } else {
      result.also.push_back(one.id);
    }
  }
  return result;
}

bool Proof::Holds() const {
  return null_failures.empty() && without_fault.empty() && (!faults.empty() || shards > 1) &&
         std::all_of(faults.begin(), faults.end(), [](const FaultResult& result) { return result.killed; });
}

OrError<Proof> Prove(const ProveOptions& options, const std::vector<Case>& cases) {
  const auto started = std::chrono::steady_clock::now();
  Proof proof;
  proof.seed = options.seed;
  OrError<std::vector<Fault>> faults = FaultsOf(options, &proof.backend);
  if (!faults.ok()) return InputError{faults.error()};
  proof.shard = options.shard;
  proof.shards = options.shards;
  std::set<std::string> violated;
  for (const Fault& fault : *faults) {
    violated.insert(fault.clause);
    if (harness::InShard(fault.name, options.shard, options.shards)) proof.faults.push_back({.fault = fault});
  }
  std::sort(proof.faults.begin(), proof.faults.end(), ByClauseAndName);
  if (options.only.empty()) {
    for (const reports::Clause& clause : options.clauses) {
      if (clause.strength == "MUST" && !violated.contains(clause.id)) proof.without_fault.push_back(clause.id);
    }
  }
  OrError<bool> ran = RunNull(options, violated, cases, proof);
  if (!ran.ok()) return InputError{ran.error()};
  ran = RunFaults(options, cases, proof);
  if (!ran.ok()) return InputError{ran.error()};
  proof.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  return proof;
}

std::string PrintProof(const Proof& proof, bool colours) {
  const Painter paint(colours);
  std::string text = Format("Kill matrix of backend {}, seed {}{}\n\n", proof.backend, proof.seed,
                            proof.shards == 1 ? "" : Format(", shard {} of {}", proof.shard, proof.shards));
  std::size_t clause = 0, name = 0, killed = 0;
  for (const FaultResult& result : proof.faults) {
    clause = std::max(clause, result.fault.clause.size());
    name = std::max(name, result.fault.name.size());
    killed += result.killed ? 1 : 0;
  }
  for (const FaultResult& row : proof.faults) {
    const std::string head = Format("{:<{}}  {:<{}}  ", row.fault.clause, clause, row.fault.name, name);
    if (row.killed) {
      text += Format("{}{} {:<7} by {}{}\n", head, paint.Green("killed  "), Spelling(row.verdict), row.by,
                     row.also.empty() ? "" : Format(", and {} more", row.also.size()));
      continue;
    }
    const std::string why = row.cases == 0 && row.seen.empty() ? "no case names the clause"
                            : row.by.empty() && row.seen.empty()
                                ? Format("{} and did not see it", reports::Counted(row.cases, "case ran", "cases ran"))
                                : Format("{} in {}: {}", Spelling(row.verdict), row.by, row.seen);
    text += Format("{}{} {}\n{:>{}}  {}\n", head, paint.Red("SURVIVED"), why, "", clause, row.fault.what);
  }
  if (!proof.null_failures.empty()) {
    text += paint.Red("\nWithout a fault these cases do not pass, so what they kill says nothing:\n").text;
    for (const CaseResult& result : proof.null_failures) {
      text += Format("  {:<13} {}  {}\n", Spelling(result.verdict), result.id, OneLine(result));
    }
  }
  if (!proof.without_fault.empty()) {
    text += paint.Red("\nMUST clauses that no fault violates:\n").text;
    text += Format("  {}\n", fmt::join(proof.without_fault, " "));
  }
  text +=
      Format("\n{}: {} killed, {} survived. {} without a fault. Without a fault {} of {} pass. {:.0f} s.\n{}\n",
             reports::Counted(proof.faults.size(), "fault"), killed, proof.faults.size() - killed,
             reports::Counted(proof.without_fault.size(), "MUST clause"), proof.null_cases - proof.null_failures.size(),
             reports::Counted(proof.null_cases, "case"), proof.seconds,
             proof.faults.empty() && proof.Holds() ? paint.Green("No fault is in this shard.")
             : proof.Holds()                       ? paint.Green("The suites catch every planted fault.")
                                                   : paint.Red("The proof does not hold."));
  return text;
}

std::string ProofAsJson(const Proof& proof) {
  Json faults = Json::array(), failures = Json::array();
  for (FaultResult result : proof.faults) {
    // Which of them sees it first, and how, is chance.
    if (result.sampled && result.killed) {
      result.by = fmt::format("a sampled case of {}", result.fault.clause);
      result.verdict = Verdict::kFail;
      result.seen.clear();
      result.cases = 0;
      result.also.clear();
    }
    faults.push_back(Write(result));
  }
  for (const CaseResult& result : proof.null_failures) {
    failures.push_back({{"case", result.id}, {"verdict", Spelling(result.verdict)}, {"seen", OneLine(result)}});
  }
  return Json{{"format", kFormat},
              {"backend", proof.backend},
              {"seed", proof.seed},
              {"shard", proof.shard},
              {"shards", proof.shards},
              {"holds", proof.Holds()},
              {"null", {{"cases", proof.null_cases}, {"failures", failures}}},
              {"faults", faults},
              {"without_fault", proof.without_fault}}
             .dump(1, ' ', false, Json::error_handler_t::replace) +
         "\n";
}

OrError<Proof> ProofFromJson(const std::string& text) {
  try {
    const Json json = reports::ParseJson(text);
    const JsonObject object(json, "");
    if (const int format = object.Int("format"); format != kFormat) {
      return InputError{
          fmt::format("the kill matrix has format {}, and this program reads format {}", format, kFormat)};
    }
    const JsonObject null = object.In("null");
    Proof proof{.backend = object.Text("backend"),
                .seed = object.Count("seed"),
                .shard = object.Int("shard"),
                .shards = object.Int("shards"),
                .null_cases = null.Count("cases"),
                .null_failures = {},
                .faults = {},
                .without_fault = object.Texts("without_fault")};
    if (proof.shard < 1 || proof.shard > proof.shards) {
      return InputError{fmt::format("this is no kill matrix: 'shard' is {} of {}", proof.shard, proof.shards)};
    }
    for (const JsonObject& failure : null.Objects("failures")) {
      CaseResult& result = proof.null_failures.emplace_back();
      result.id = failure.Text("case");
      result.verdict = failure.ReadVerdict("verdict");
      result.findings.emplace_back().summary = failure.Text("seen");
    }
    if (proof.null_failures.size() > proof.null_cases) {
      return InputError{"this is no kill matrix: 'null.failures' are more than 'null.cases'"};
    }
    for (const JsonObject& fault : object.Objects("faults")) proof.faults.push_back(ReadFault(fault));
    return proof;
  } catch (const std::invalid_argument& error) {
    return InputError{fmt::format("this is no kill matrix: {}", error.what())};
  }
}

OrError<Proof> MergeProofs(const std::vector<Proof>& shards) {
  if (shards.empty()) return InputError{"there is nothing to join"};
  const int count = shards.front().shards;
  std::map<int, const Proof*> parts;
  Proof merged;
  merged.backend = shards.front().backend;
  merged.seed = shards.front().seed;
  merged.without_fault = shards.front().without_fault;
  for (const Proof& shard : shards) {
    if (shard.backend != merged.backend || shard.seed != merged.seed || shard.shards != shards.front().shards ||
        shard.without_fault != merged.without_fault) {
      return InputError{
          fmt::format("shard {}/{} of backend {}, seed {}, is of another run than shard {}/{} of backend "
                      "{}, seed {}",
                      shard.shard, shard.shards, shard.backend, shard.seed, shards.front().shard, shards.front().shards,
                      merged.backend, merged.seed)};
    }
    if (!parts.emplace(shard.shard, &shard).second) {
      return InputError{fmt::format("shard {}/{} is there twice", shard.shard, shard.shards)};
    }
  }
  for (int i = 1; i <= count; ++i) {
    const auto part = parts.find(i);
    if (part == parts.end()) return InputError{fmt::format("shard {}/{} is missing", i, count)};
    const Proof& proof = *part->second;
    merged.null_cases += proof.null_cases;
    merged.null_failures.insert(merged.null_failures.end(), proof.null_failures.begin(), proof.null_failures.end());
    merged.faults.insert(merged.faults.end(), proof.faults.begin(), proof.faults.end());
  }
  std::sort(merged.faults.begin(), merged.faults.end(), ByClauseAndName);
  std::sort(merged.null_failures.begin(), merged.null_failures.end(),
            [](const CaseResult& a, const CaseResult& b) { return a.id < b.id; });
  return merged;
}

}  // namespace plumbline::cli
