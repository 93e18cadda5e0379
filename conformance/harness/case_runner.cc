#include "conformance/harness/case_runner.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <exception>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <utility>

#include "conformance/harness/glob.h"
#include "conformance/harness/judge.h"
#include "conformance/harness/property.h"
#include "conformance/harness/stray_names.h"
#include "reports/text/shown.h"
#include "spec/model/deviations.h"
#include "spec/scenario/capabilities_needed.h"
#include "spec/scenario/parse.h"
#include "spec/scenario/print.h"

namespace plumbline::harness {
namespace {

namespace fs = std::filesystem;
using reports::Verdict;
using scenario::Scenario;

// A case that fails in many ways is read for its first few.
constexpr std::size_t kMostFindings = 5;

// Those that the model has a switch for.
std::vector<const Waiver*> OfModel(std::vector<const Waiver*> deviations) {
  std::erase_if(deviations, [](const Waiver* waiver) { return !model::FindDeviation(waiver->deviation); });
  return deviations;
}

class Context : public CaseContext {
 public:
  Context(const Case& one, Executor& executor, const Waivers& waivers, const CaseRunnerOptions& options)
      : case_(one),
        executor_(executor),
        options_(options),
        deviations_(waivers.DeviationsFor(one.id, executor.facts().release)),
        judge_(executor, OfModel(deviations_)) {
    result_.id = one.id;
    result_.chapter = one.chapter;
    result_.clauses = one.clauses;
    result_.sampled = one.sampled;
  }

  const BackendFacts& backend() const override { return executor_.facts(); }
  Tier tier() const override { return options_.tier; }

  bool Check(const Scenario& scenario) override {
    if (full()) return false;
    // Both sides must number lines alike, and a saved scenario must mean what was run.
    const scenario::ParseResult parsed = scenario::ParsePrinted(scenario::Print(scenario));
    if (!parsed.scenario) {
      HarnessError(fmt::format("a scenario of this case does not parse again: line {}: {}\n{}", parsed.error->line,
                               parsed.error->message, scenario::Print(scenario)));
      return false;
    }
    const Judgement judgement = judge_.Try(*parsed.scenario);
    switch (judgement.verdict) {
      case Verdict::kPass:
        // Without a step nothing was checked.
        result_.scenarios += parsed.scenario->steps.empty() ? 0 : 1;
        return true;
      case Verdict::kWaived:
        ++result_.scenarios;
        Accept(judgement);
        return true;
      case Verdict::kUnsupported:
        Unsupported(judgement.missing);
        return true;
      case Verdict::kHarnessError:
        HarnessError(judgement.summary);
        return false;
      default:
        ++result_.scenarios;
        Report(*parsed.scenario, judgement);
        return false;
    }
  }

  bool CheckProperty(const rc::Gen<Scenario>& generator, int runs) override {
    if (full()) return false;
    const int scaled = tier() == Tier::kQuick ? std::max(runs / 10, 10) : tier() == Tier::kFull ? runs * 10 : runs;
    const std::uint64_t seed = HashOf(fmt::format("{}#{}", case_.id, properties_++), options_.seed);
    std::optional<Judgement> failed;
    std::string problem;
    const auto attempt = [&](const Scenario& generated) {
      if (failed && !options_.shrink) return PropertyVerdict::kAgrees;
      // As in Check. What a generator makes and the language cannot say is the generator's fault.
      const scenario::ParseResult parsed = scenario::ParsePrinted(scenario::Print(generated));
      if (!parsed.scenario) {
        problem = fmt::format("a generated scenario does not parse: line {}: {}\n{}", parsed.error->line,
                              parsed.error->message, scenario::Print(generated));
        return PropertyVerdict::kStop;
      }
      Judgement judgement = judge_.Try(*parsed.scenario);
      switch (judgement.verdict) {
        case Verdict::kPass:
          ++result_.scenarios;
          return PropertyVerdict::kAgrees;
        case Verdict::kWaived:
          ++result_.scenarios;
          if (!failed) Accept(judgement);
          return PropertyVerdict::kAgrees;
        case Verdict::kUnsupported:
          ++result_.discarded;
          missing_.insert(judgement.missing);
          return PropertyVerdict::kDiscarded;
        case Verdict::kHarnessError:
          problem = judgement.summary;
          return PropertyVerdict::kStop;
        default:
          failed = std::move(judgement);
          return PropertyVerdict::kFails;
      }
    };
    const std::uint64_t before = result_.scenarios;
    const PropertyRun run = RunProperty(generator, seed, scaled, attempt);
    if (run.stopped) {
      HarnessError(problem);
      return false;
    }
    if (run.failing) {
      // Shrinking is no part of what was checked.
      result_.scenarios = before + static_cast<std::uint64_t>(run.agreed) + 1;
      result_.discarded = static_cast<std::uint64_t>(run.discarded);
      const scenario::ParseResult parsed = scenario::ParsePrinted(scenario::Print(*run.failing));
      Report(*parsed.scenario, *failed);
      return false;
    }
    if (run.gave_up && run.agreed > 0) {
      Note(Verdict::kInconclusive, fmt::format("too few scenarios could be checked: {} of {}, {} were discarded",
                                               run.agreed, scaled, run.discarded));
    }
    return true;
  }

  Observation Run(const Scenario& scenario) override {
    Observation seen = executor_.Run(scenario);
    if (seen.ending == Observation::Ending::kUnsupported) {
      Unsupported(seen.what);
    } else {
      ++result_.scenarios;
    }
    if (seen.ending != Observation::Ending::kFinished) executor_.Renew();
    return seen;
  }

  Executor& executor() override { return executor_; }
  std::uint64_t seed() const override { return HashOf(case_.id, options_.seed); }
  void Tried(std::uint64_t scenarios) override { result_.scenarios += scenarios; }
  void Unsupported(const std::string& missing) override { missing_.insert(missing); }
  bool Accepts(std::string_view deviation) const override {
    return std::any_of(deviations_.begin(), deviations_.end(),
                       [&](const Waiver* waiver) { return waiver->deviation == deviation; });
  }
  void Accepted(const std::string& deviation, std::uint64_t scenarios) override {
    result_.accepted_by_deviation[deviation] += scenarios;
    for (const Waiver* waiver : deviations_) {
      if (waiver->deviation != deviation) continue;
      accepting_.insert(waiver->id);
      waived_clauses_.insert(waiver->clauses.begin(), waiver->clauses.end());
    }
  }
  std::string BackendArguments() const override {
    return fmt::format(" --backend {}{}", ShellPath(options_.backend_argument), options_.more_arguments);
  }
  std::string SaveAs(const std::string& suffix, const std::string& text) override {
    const std::optional<std::string> path = SaveFile(suffix, text);
    return path.value_or("");
  }

  void Fail(reports::Finding finding, Verdict verdict) override {
    if (finding.clauses.empty()) finding.clauses = case_.clauses;
    if (finding.rerun.empty()) finding.rerun = RerunCase();
    Add(verdict, std::move(finding));
  }

  void Inconclusive(const std::string& what) override { Note(Verdict::kInconclusive, what); }

  void Broken(const std::string& what) override { HarnessError(what); }

  void HarnessError(const std::string& what) { Note(Verdict::kHarnessError, what); }

  reports::CaseResult Finish() {
    result_.missing_capabilities.assign(missing_.begin(), missing_.end());
    if (!result_.findings.empty()) {
      result_.verdict = worst_;
    } else if (!accepting_.empty()) {
      result_.verdict = Verdict::kWaived;
      result_.waiver = fmt::format("{}", fmt::join(accepting_, " "));
      result_.waived_clauses.assign(waived_clauses_.begin(), waived_clauses_.end());
    } else if (result_.scenarios > 0) {
      result_.verdict = Verdict::kPass;
      // What a passed case could not do besides is of no interest: counted as discarded.
      result_.missing_capabilities.clear();
    } else {
      result_.verdict = missing_.empty() ? Verdict::kVacuous : Verdict::kUnsupported;
    }
    return std::move(result_);
  }

 private:
  bool full() const { return result_.findings.size() >= kMostFindings; }

  void Accept(const Judgement& judgement) {
    for (const std::string& deviation : judgement.deviations) ++result_.accepted_by_deviation[deviation];
    accepting_.insert(judgement.waivers.begin(), judgement.waivers.end());
    waived_clauses_.insert(judgement.waived_clauses.begin(), judgement.waived_clauses.end());
  }

  // The keys that a failing scenario names and the backend does not know, which explain most of what it then does.
  std::string UnknownKeysIn(const std::string& scenario) const {
    std::vector<std::string> unknown;
    std::istringstream lines(scenario);
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("title") || line.starts_with('#')) continue;
      std::replace_if(
          line.begin(), line.end(), [](unsigned char c) { return std::isalnum(c) == 0 && c != '_'; }, ' ');
      std::istringstream words(line);
      for (std::string word; words >> word;) {
        const std::vector<std::string>& keys = executor_.facts().unknown_keys;
        const bool named = std::find(unknown.begin(), unknown.end(), word) != unknown.end();
        if (!named && std::find(keys.begin(), keys.end(), word) != keys.end()) unknown.push_back(word);
      }
    }
    if (unknown.empty()) return "";
    return fmt::format("; the backend does not know the {} {}", unknown.size() == 1 ? "key" : "keys",
                       fmt::join(unknown, ", "));
  }

  void Add(Verdict verdict, reports::Finding finding) {
    finding.summary += UnknownKeysIn(finding.scenario);
    // A harness error hides what else was seen: nothing that such a case says can be relied on.
    if (result_.findings.empty() || verdict == Verdict::kHarnessError) worst_ = verdict;
    result_.findings.push_back(std::move(finding));
  }

  void Note(Verdict verdict, const std::string& what) {
    reports::Finding finding;
    finding.summary = what;
    finding.rerun = RerunCase();
    Add(verdict, std::move(finding));
  }

  std::string RerunCase() const { return RerunLine(options_, case_); }

  void Report(const Scenario& scenario, const Judgement& judgement) {
    const Judge::Smallest smallest =
        options_.shrink ? judge_.Shrink(scenario, judgement)
                        : Judge::Smallest{.scenario = scenario, .judgement = judgement, .confirmed = true};
    Scenario shown = WithStraysMeant(smallest.scenario);
    shown.clauses = case_.clauses;
    if (shown.title.empty()) shown.title = "found by " + case_.id;
    const std::string text = scenario::Print(shown);
    const Judgement& final = smallest.judgement;
    reports::Finding finding{.summary = final.summary,
                             .scenario = text,
                             .line = 0,
                             .expected = final.expected,
                             .got = final.got,
                             .rule = final.rule,
                             .rerun = smallest.confirmed ? Save(text) : RerunCase(),
                             .clauses = case_.clauses};
    if (!smallest.confirmed) finding.summary += " (only after other scenarios in the same process)";
    const scenario::ParseResult parsed = scenario::ParsePrinted(text);
    if (parsed.scenario && final.step >= 0 && final.step < static_cast<int>(parsed.scenario->steps.size())) {
      finding.line = parsed.scenario->steps[static_cast<std::size_t>(final.step)].line;
    }
    Add(final.verdict, std::move(finding));
  }

  // Saves a failing scenario; the line that reruns it.
  std::string Save(const std::string& text) {
    const std::optional<std::string> path = SaveFile(".scn", text);
    if (!path) return RerunCase();
    return fmt::format("plumbline replay{} {}", BackendArguments(), ShellPath(*path));
  }

  std::optional<std::string> SaveFile(const std::string& suffix, const std::string& text) {
    if (options_.out.empty()) return std::nullopt;
    std::string name = fmt::format("{}-{}", executor_.facts().name, case_.id);
    std::replace_if(
        name.begin(), name.end(), [](char c) { return c == '/' || c == ' ' || c == ':' || c == '\\'; }, '-');
    if (!result_.findings.empty()) name += fmt::format("-{}", result_.findings.size() + 1);
    const fs::path path = fs::path(options_.out) / (name + suffix);
    std::error_code failed;
    fs::create_directories(options_.out, failed);
    std::ofstream out(path);
    out << text;
    if (!out.flush()) return std::nullopt;
    return path.string();
  }

  const Case& case_;
  Executor& executor_;
  const CaseRunnerOptions& options_;
  const std::vector<const Waiver*> deviations_;  // that are accepted in this case
  Judge judge_;
  reports::CaseResult result_;
  Verdict worst_ = Verdict::kFail;
  std::set<std::string> missing_;
  std::set<std::string> accepting_, waived_clauses_;
  int properties_ = 0;
};

// True if the scenario of a finding has a step that `pattern` matches, where it went wrong or before.
bool HasStepBefore(const reports::Finding& finding, std::string_view pattern) {
  std::istringstream in(finding.scenario);
  std::string line;
  for (int number = 1; std::getline(in, line) && (finding.line == 0 || number <= finding.line); ++number) {
    std::string words;  // as they are in a sentence, without the outcome
    std::istringstream text(line);
    for (std::string word; text >> word && word != "=>";) words += (words.empty() ? "" : " ") + word;
    if (MatchesGlob(pattern, words)) return true;
  }
  return false;
}

// The first waiver by outcome that describes the failure.
const Waiver* WaivedBy(const reports::CaseResult& result, const std::vector<const Waiver*>& waivers) {
  const bool failed =
      result.verdict == Verdict::kFail || result.verdict == Verdict::kCrash || result.verdict == Verdict::kTimeout;
  if (!failed) return nullptr;
  for (const Waiver* waiver : waivers) {
    const auto described = [&](const reports::Finding& finding) {
      if (!waiver->from.empty() && !HasStepBefore(finding, waiver->from)) return false;
      if (!waiver->unstable) return MatchesOutcome(waiver->outcome, result.verdict, finding.got);
      return std::any_of(waiver->admits.begin(), waiver->admits.end(), [&](const std::string& admitted) {
        return MatchesOutcome(admitted, result.verdict, finding.got);
      });
    };
    if (std::all_of(result.findings.begin(), result.findings.end(), described)) return waiver;
  }
  return nullptr;
}

}  // namespace

std::string RerunLine(const CaseRunnerOptions& options, const Case& one) {
  return fmt::format("plumbline {} --backend {}{} --case {} --seed {}{}", options.command,
                     ShellPath(options.backend_argument), options.more_arguments + options.case_arguments,
                     ShellWord(one.id), options.seed,
                     options.tier == Tier::kStandard ? ""
                     : options.tier == Tier::kQuick  ? " --tier quick"
                                                     : " --tier full");
}

std::uint64_t HashOf(std::string_view text, std::uint64_t seed) {
  std::uint64_t hash = 0xcbf29ce484222325u ^ (seed * 0x9e3779b97f4a7c15u);  // FNV-1a
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  hash ^= hash >> 33;  // so that its low bits depend on all of it
  hash *= 0xff51afd7ed558ccdu;
  return hash ^ (hash >> 33);
}

bool InShard(std::string_view name, int shard, int shards) {
  return HashOf(name, 0) % static_cast<std::uint64_t>(shards) == static_cast<std::uint64_t>(shard - 1);
}

std::string ShellWord(const std::string& word) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_-./:=+,@").find(c) != std::string_view::npos;
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), plain)) return word;
  // What a terminal would show otherwise is written as it shows it, so that the line can be copied.
  if (reports::Visible(word) != word || word.find_first_of("\n\t") != std::string::npos) {
    std::string quoted = "$'";
    for (const char c : word) {
      const bool printed = c >= 0x20 && c < 0x7f && c != '\'' && c != '\\';
      quoted += printed ? std::string(1, c) : fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
    return quoted + "'";
  }
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string ShellPath(const std::string& path) { return ShellWord(path.starts_with('-') ? "./" + path : path); }

reports::CaseResult CaseRunner::Run(const Case& one) {
  Context context(one, executor_, waivers_, options_);
  const std::uint64_t missing = one.needs & ~executor_.facts().capabilities;
  if (missing != 0) {
    for (const std::string& name : scenario::CapabilityNames(missing)) context.Unsupported(name);
    return context.Finish();
  }
  executor_.Renew();
  try {
    one.run(context);
  } catch (const std::exception& error) {
    context.HarnessError(fmt::format("the case threw an exception: {}", error.what()));
  }
  reports::CaseResult result = context.Finish();
  if (const Waiver* waiver = WaivedBy(result, waivers_.OutcomesFor(one.id, executor_.facts().release))) {
    result.verdict = Verdict::kWaived;
    result.waiver = waiver->id;
    result.waived_clauses = waiver->clauses;
  }
  return result;
}

}  // namespace plumbline::harness
