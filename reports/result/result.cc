#include "reports/result/result.h"

#include <algorithm>
#include <array>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

namespace plumbline::reports {
namespace {

// From best to worst: the verdict of a clause is the worst of its cases'.
constexpr std::array kFromBest = {Verdict::kPass,    Verdict::kWaived,       Verdict::kUnsupported,
                                  Verdict::kVacuous, Verdict::kInconclusive, Verdict::kTimeout,
                                  Verdict::kCrash,   Verdict::kFail,         Verdict::kHarnessError};

int Badness(Verdict verdict) {
  return static_cast<int>(std::find(kFromBest.begin(), kFromBest.end(), verdict) - kFromBest.begin());
}

bool Failed(Verdict verdict) {
  return verdict == Verdict::kFail || verdict == Verdict::kCrash || verdict == Verdict::kTimeout;
}

}  // namespace

const char* Spelling(Verdict verdict) {
  switch (verdict) {
    case Verdict::kPass:
      return "pass";
    case Verdict::kFail:
      return "fail";
    case Verdict::kCrash:
      return "crash";
    case Verdict::kTimeout:
      return "timeout";
    case Verdict::kUnsupported:
      return "unsupported";
    case Verdict::kWaived:
      return "waived";
    case Verdict::kVacuous:
      return "vacuous";
    case Verdict::kInconclusive:
      return "inconclusive";
    case Verdict::kHarnessError:
      return "harness-error";
  }
  return "?";
}

Counts Count(const Run& run) {
  Counts counts;
  for (const CaseResult& result : run.cases) {
    ++counts.by_verdict[result.verdict];
    counts.scenarios += result.scenarios;
    for (const auto& [deviation, accepted] : result.accepted_by_deviation) counts.accepted_by_deviation += accepted;
    if (Failed(result.verdict)) {
      ++(result.blocked_by.empty() ? counts.roots : counts.blocked);
    }
  }
  return counts;
}

std::map<std::string, Verdict> ByClause(const Run& run) {
  std::map<std::string, Verdict> by_clause;
  const auto fold = [&by_clause](const std::string& clause, Verdict told) {
    auto [entry, first] = by_clause.emplace(clause, told);
    // A clause that one case could check and another could not was checked.
    if (first) return;
    Verdict& verdict = entry->second;
    if (verdict == Verdict::kUnsupported && told == Verdict::kPass) verdict = Verdict::kPass;
    if (told == Verdict::kUnsupported && verdict == Verdict::kPass) return;
    if (Badness(told) > Badness(verdict)) verdict = told;
  };
  for (const CaseResult& result : run.cases) {
    const bool by_deviation = result.verdict == Verdict::kWaived && result.findings.empty();
    // It says something good of its other clauses only if some of its scenarios were right without a deviation.
    std::uint64_t accepted = 0;
    for (const auto& [deviation, count] : result.accepted_by_deviation) accepted += count;
    const bool some_right = by_deviation && accepted < result.scenarios;
    for (const std::string& clause : result.clauses) fold(clause, some_right ? Verdict::kPass : result.verdict);
    if (!by_deviation) continue;
    for (const std::string& clause : result.waived_clauses) fold(clause, Verdict::kWaived);
  }
  if (run.filter.empty() && run.shards == 1) {
    for (const Clause& clause : run.clauses) by_clause.emplace(clause.id, Verdict::kVacuous);
  }
  return by_clause;
}

namespace {

// The verb of the step that a failed case ends in and how it ends, where that tells nothing of what the case asked for:
// a backend that is not done yet raises one error wherever it is asked for what it lacks. Empty where it may depend on
// the case, as wrong answers and the errors of the rules do.
std::string CauseOf(const CaseResult& result) {
  if (result.findings.empty()) return "";
  const Finding& finding = result.findings.front();
  const std::size_t step = finding.summary.find('`');
  if (step == std::string::npos) return "";
  std::istringstream words(finding.summary.substr(step + 1));
  std::string verb;
  words >> verb;
  if (verb == "on") words >> verb >> verb;  // on THREAD
  std::string end = finding.got;
  if (result.verdict == Verdict::kFail) {
    // Kernels may have run before.
    if (const std::size_t last = end.rfind("> error "); last != std::string::npos) end.erase(0, last + 2);
    const std::string error = end.substr(0, end.find(" ("));
    if (error != "error internal" && error != "error unclassified" && error != "error unsupported") return "";
  }
  return std::string(Spelling(result.verdict)) + " " + verb + " " + end;
}

// Of the roots that fail for one cause, the sharpest stays; the others, and what they block, are folded under it.
template <class Sharper>
void FoldCauses(const std::map<std::string, CaseResult*>& failed, const Sharper& sharper) {
  std::map<std::string, CaseResult*> root_of;  // by cause
  const auto each_root = [&](const auto& visit) {
    for (const auto& [id, result] : failed) {
      const std::string cause = result->blocked_by.empty() ? CauseOf(*result) : "";
      if (!cause.empty()) visit(cause, result);
    }
  };
  each_root([&](const std::string& cause, CaseResult* result) {
    const auto [at, first] = root_of.emplace(cause, result);
    if (!first && sharper(result, at->second)) at->second = result;
  });
  std::map<std::string, std::string> folded;
  each_root([&](const std::string& cause, CaseResult* result) {
    const CaseResult* root = root_of.at(cause);
    if (root != result) folded[result->id] = root->id;
  });
  for (const auto& [id, result] : failed) {
    if (const auto at = folded.find(id); at != folded.end()) result->blocked_by = at->second;
    if (const auto at = folded.find(result->blocked_by); at != folded.end()) result->blocked_by = at->second;
  }
}

}  // namespace

void MarkBlocked(Run& run) {
  std::map<std::string, const Clause*> clauses;
  for (const Clause& clause : run.clauses) clauses[clause.id] = &clause;
  // The needs of a clause, transitively.
  const auto gather = [&](const auto& self, const std::string& id, std::set<std::string>& needed) -> void {
    const auto at = clauses.find(id);
    if (at == clauses.end()) return;
    for (const std::string& need : at->second->needs) {
      if (needed.insert(need).second) self(self, need, needed);
    }
  };
  // The most exact evidence first: what names few clauses says more of each.
  const auto sharper = [](const CaseResult* a, const CaseResult* b) {
    return std::pair(a->clauses.size(), a->id) < std::pair(b->clauses.size(), b->id);
  };
  std::map<std::string, const CaseResult*> failed_by_clause;  // clause -> the sharpest failed case that names it
  std::map<std::string, CaseResult*> failed;
  for (CaseResult& result : run.cases) {
    result.blocked_by.clear();
    if (!Failed(result.verdict)) continue;
    failed[result.id] = &result;
    for (const std::string& clause : result.clauses) {
      auto [at, first] = failed_by_clause.emplace(clause, &result);
      if (!first && sharper(&result, at->second)) at->second = &result;
    }
  }
  for (auto& [id, result] : failed) {
    std::set<std::string> needed;
    for (const std::string& clause : result->clauses) gather(gather, clause, needed);
    for (const std::string& clause : result->clauses) needed.erase(clause);
    const CaseResult* blocker = nullptr;
    for (const std::string& need : needed) {
      const auto at = failed_by_clause.find(need);
      // A failure of one rule is not folded under that of many, which may have failed for any of them.
      if (at == failed_by_clause.end() || at->second->clauses.size() > result->clauses.size()) continue;
      if (blocker == nullptr || sharper(at->second, blocker)) blocker = at->second;
    }
    if (blocker != nullptr && blocker != result) result->blocked_by = blocker->id;
  }
  // Cases of several clauses may need each other's; the sharpest of such a circle is its root.
  for (auto& [id, result] : failed) {
    CaseResult* root = result;
    std::size_t steps = 0;
    for (CaseResult* at = result; !at->blocked_by.empty() && steps <= failed.size(); ++steps) {
      at = failed.at(at->blocked_by);
      if (sharper(at, root)) root = at;
      if (at == result) {
        root->blocked_by.clear();
        break;
      }
    }
  }
  FoldCauses(failed, sharper);
}

bool Good(const Run& run) {
  const Counts counts = Count(run);
  for (const auto& [verdict, count] : counts.by_verdict) {
    if (Badness(verdict) >= Badness(Verdict::kVacuous)) return false;
  }
  for (const WaiverUse& waiver : run.waivers) {
    if (!waiver.problem.empty()) return false;
  }
  return counts.by_verdict.contains(Verdict::kPass) || counts.by_verdict.contains(Verdict::kUnsupported) ||
         counts.by_verdict.contains(Verdict::kWaived);
}

std::string UnknownKeys(const Backend& backend) {
  const std::vector<std::string>& unknown = backend.unknown_keys;
  if (unknown.empty()) return "";
  constexpr std::size_t kNamed = 3;
  const std::size_t named = std::min(unknown.size(), kNamed);
  std::string text = std::to_string(backend.key_count - std::min<std::size_t>(backend.key_count, unknown.size())) +
                     " of " + std::to_string(backend.key_count) + " keys and alias keys of " + backend.release +
                     "; unknown: ";
  for (std::size_t i = 0; i < named; ++i) text += (i == 0 ? "" : ", ") + unknown[i];
  return text + (named < unknown.size() ? " and " + std::to_string(unknown.size() - named) + " more" : "");
}

MergeResult Merge(const std::vector<Run>& shards) {
  if (shards.empty()) return {{}, "there is nothing to merge"};
  MergeResult merged{shards.front(), ""};
  Run& run = merged.run;
  const auto name = [&](int shard) { return "shard " + std::to_string(shard) + "/" + std::to_string(run.shards); };
  std::set<int> seen;
  run.cases.clear();
  run.waivers.clear();
  std::map<std::string, WaiverUse> waivers;
  for (const Run& shard : shards) {
    if (shard.shards != run.shards || shard.seed != run.seed || shard.tier != run.tier || shard.filter != run.filter ||
        shard.suite_version != run.suite_version || shard.backend.digest != run.backend.digest) {
      return {{}, "the reports are not shards of one run: they differ in tier, seed, filter, suite or backend"};
    }
    if (shard.shard < 1 || shard.shard > run.shards) return {{}, name(shard.shard) + " is no part of a run"};
    if (!seen.insert(shard.shard).second) return {{}, name(shard.shard) + " is given twice"};
    run.cases.insert(run.cases.end(), shard.cases.begin(), shard.cases.end());
    for (const WaiverUse& use : shard.waivers) {
      auto [entry, first] = waivers.emplace(use.id, use);
      if (first) continue;
      entry->second.used += use.used;
      if (entry->second.problem.empty()) entry->second.problem = use.problem;
    }
  }
  for (int i = 1; i <= run.shards; ++i) {
    if (!seen.contains(i)) return {{}, name(i) + " is missing; give the report of each shard"};
  }
  // Only the merged full run can say that a waiver was not needed.
  for (auto& [id, use] : waivers) {
    if (run.filter.empty() && use.used == 0 && use.problem.empty()) use.problem = kUnusedWaiver;
    run.waivers.push_back(std::move(use));
  }
  std::sort(run.cases.begin(), run.cases.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  run.shard = 1;
  run.shards = 1;
  MarkBlocked(run);  // a shard sees only its own failures
  return merged;
}

SideNotes MergeNotes(const std::vector<SideNotes>& shards) {
  SideNotes merged;
  for (const SideNotes& notes : shards) {
    merged.seconds += notes.seconds;
    merged.seconds_by_case.insert(notes.seconds_by_case.begin(), notes.seconds_by_case.end());
    merged.tried_by_case.insert(notes.tried_by_case.begin(), notes.tried_by_case.end());
    if (merged.started.empty() || (!notes.started.empty() && notes.started < merged.started)) {
      merged.started = notes.started;
    }
  }
  return merged;
}

void AddSampledCounts(Run& run, const SideNotes& notes) {
  for (CaseResult& result : run.cases) {
    const auto tried = notes.tried_by_case.find(result.id);
    if (result.sampled && tried != notes.tried_by_case.end()) result.scenarios = tried->second;
  }
}

}  // namespace plumbline::reports
