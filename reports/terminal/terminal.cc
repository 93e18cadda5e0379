#include "reports/terminal/terminal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <vector>

#include "reports/text/counted.h"
#include "reports/text/shown.h"

namespace plumbline::reports {
namespace {

class Painter {
 public:
  explicit Painter(bool colour) : colour_(colour) {}
  std::string Red(std::string_view text) const { return Paint("31", text); }
  std::string Green(std::string_view text) const { return Paint("32", text); }
  std::string Yellow(std::string_view text) const { return Paint("33", text); }
  std::string Bold(std::string_view text) const { return Paint("1", text); }
  std::string Dim(std::string_view text) const { return Paint("2", text); }

 private:
  std::string Paint(std::string_view code, std::string_view text) const {
    return colour_ ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : std::string(text);
  }
  bool colour_;
};

bool IsBad(Verdict verdict) {
  return verdict != Verdict::kPass && verdict != Verdict::kUnsupported && verdict != Verdict::kWaived;
}

std::string Indented(std::string_view text, std::string_view indent) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    out += fmt::format("{}{}\n", indent, text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return out;
}

std::string Field(std::string_view name, std::string_view text) {
  if (text.empty()) return "";
  if (text.find('\n') == std::string_view::npos) return fmt::format("    {:<9} {}\n", name, text);
  return fmt::format("    {}\n{}", name, Indented(text, "      "));
}

std::string Describe(const CaseResult& result, const Painter& paint) {
  std::string out = fmt::format("{} {}  {}\n", paint.Red(Spelling(result.verdict)), paint.Bold(result.id),
                                fmt::join(result.clauses, " "));
  if (result.findings.empty()) return out;
  const Finding& finding = result.findings.front();
  out += Indented(finding.summary, "    ");
  out += Field("expected", finding.expected);
  out += Field("got", finding.got);
  out += Field("rule", finding.rule);
  if (!finding.scenario.empty()) out += Indented(finding.scenario, paint.Dim("    | "));
  out += Field("rerun", finding.rerun);
  if (!result.clauses.empty()) out += Field("clause", "plumbline list --clause " + result.clauses.front());
  if (result.findings.size() > 1)
    out += fmt::format("    and {} more\n", Counted(result.findings.size() - 1, "finding"));
  return out;
}

// The findings whose line to rerun names a file, in words; empty if there are none.
std::string SavedScenarios(const Run& run) {
  std::size_t failed = 0, waived = 0;
  for (const CaseResult& result : run.cases) {
    for (const Finding& finding : result.findings) {
      if (!finding.rerun.starts_with("plumbline replay ")) continue;
      ++(result.verdict == Verdict::kWaived ? waived : failed);
    }
  }
  std::vector<std::string> parts;
  if (failed != 0) parts.push_back(Counted(failed, "scenario of a failure", "scenarios of failures"));
  if (waived != 0) parts.push_back(Counted(waived, "scenario of a waived failure", "scenarios of waived failures"));
  return fmt::format("{}", fmt::join(parts, ", "));
}

// How many of the waived cases failed, and how many were let pass; empty if there are none.
std::string WhatWaivedMeans(const Run& run) {
  std::size_t failed = 0, let_pass = 0;
  for (const CaseResult& result : run.cases) {
    if (result.verdict == Verdict::kWaived) ++(result.findings.empty() ? let_pass : failed);
  }
  std::vector<std::string> parts;
  if (failed != 0) parts.push_back(fmt::format("{} failed just as a waiver says", failed));
  if (let_pass != 0) parts.push_back(fmt::format("{} passed, some scenarios only by a waiver's deviation", let_pass));
  return fmt::format("{}", fmt::join(parts, "; "));
}

// The run with its texts as a terminal may show them, so that only colours are left to steer it.
Run ForTerminal(Run run) {
  const auto show = [](auto&... texts) { ((texts = Shown(texts)), ...); };
  const auto show_in_line = [](auto&... texts) { ((texts = ShownInLine(texts)), ...); };
  show_in_line(run.tier, run.backend.name, run.backend.version, run.backend.release);
  for (std::string& key : run.backend.unknown_keys) show_in_line(key);
  for (std::string& file : run.waiver_files) show_in_line(file);
  for (WaiverUse& use : run.waivers) {
    show_in_line(use.id);
    show(use.problem);
  }
  for (CaseResult& result : run.cases) {
    show_in_line(result.id, result.blocked_by);
    for (std::string& clause : result.clauses) show_in_line(clause);
    for (Finding& finding : result.findings) {
      show(finding.summary, finding.scenario, finding.expected, finding.got, finding.rule, finding.rerun);
    }
  }
  return run;
}

// Those that tell most first: where the backend came to an end, then by how much the failures of a case's clauses are
// to blame on them, as a clause whose cases fail and nearly no others do (the measure of Ochiai). Equal ones stay.
void MostTellingFirst(const Run& run, std::vector<const CaseResult*>& roots) {
  struct Cases {
    double bad = 0, good = 0;
  };
  std::map<std::string, Cases> by_clause;
  double all = 0;
  for (const CaseResult& result : run.cases) {
    const bool bad = IsBad(result.verdict);
    if (!bad && result.verdict != Verdict::kPass) continue;
    all += bad ? 1 : 0;
    for (const std::string& clause : result.clauses) ++(bad ? by_clause[clause].bad : by_clause[clause].good);
  }
  const auto rank = [&](const CaseResult* result) {
    double blame = 0;
    for (const std::string& clause : result->clauses) {
      const Cases& cases = by_clause[clause];
      blame = std::max(blame, cases.bad / std::sqrt(all * (cases.bad + cases.good)));
    }
    const bool ended = result->verdict == Verdict::kCrash || result->verdict == Verdict::kTimeout;
    return std::pair(ended, blame);
  };
  std::stable_sort(roots.begin(), roots.end(),
                   [&](const CaseResult* a, const CaseResult* b) { return rank(a) > rank(b); });
}

}  // namespace

std::string Summary(const Run& whole, const SummaryOptions& options) {
  const Run run = ForTerminal(whole);
  const Painter paint(options.colour);
  const Counts counts = Count(run);
  std::string out;

  std::map<std::string, std::vector<const CaseResult*>> blocked;
  std::vector<const CaseResult*> roots;
  for (const CaseResult& result : run.cases) {
    if (!IsBad(result.verdict)) continue;
    if (result.blocked_by.empty()) {
      roots.push_back(&result);
    } else {
      blocked[result.blocked_by].push_back(&result);
    }
  }
  MostTellingFirst(run, roots);
  std::size_t shown = 0;
  for (const CaseResult* root : roots) {
    const bool in_full = shown++ < options.shown;
    if (in_full) {
      out += Describe(*root, paint);
    } else {
      out += fmt::format("{} {}\n", paint.Red(Spelling(root->verdict)), root->id);
    }
    if (const auto found = blocked.find(root->id); found != blocked.end()) {
      const std::size_t count = found->second.size();
      out += paint.Dim(fmt::format(
                 "    blocked: {}{} {}",
                 Counted(count, "case that presumes it or ends as it does", "cases that presume it or end as it does"),
                 count == 1 ? ":" : ", such as", found->second.front()->id)) +
             "\n";
    }
    if (in_full) out += "\n";
  }
  if (roots.size() > options.shown) out += "\n";

  for (const WaiverUse& use : run.waivers) {
    if (!use.problem.empty()) out += fmt::format("{} waiver {}: {}\n", paint.Red("error"), use.id, use.problem);
  }

  std::vector<std::string> parts;
  for (Verdict verdict : {Verdict::kPass, Verdict::kFail, Verdict::kCrash, Verdict::kTimeout, Verdict::kHarnessError,
                          Verdict::kVacuous, Verdict::kInconclusive, Verdict::kWaived, Verdict::kUnsupported}) {
    const auto found = counts.by_verdict.find(verdict);
    if (found == counts.by_verdict.end()) continue;
    const std::string text = fmt::format("{} {}", found->second, Spelling(verdict));
    parts.push_back(verdict == Verdict::kPass ? paint.Green(text)
                    : IsBad(verdict)          ? paint.Red(text)
                                              : paint.Yellow(text));
  }
  const std::string shard = run.shards > 1 ? fmt::format(", shard {}/{}", run.shard, run.shards) : "";
  const std::string time = options.seconds < 0 ? "" : fmt::format(", {:.1f} s", options.seconds);
  out += fmt::format("{} {} ({})  tier {}, seed {}{}{}\n", paint.Bold(run.backend.name), run.backend.version,
                     run.backend.release, run.tier, run.seed, shard, time);
  out += fmt::format("  cases      {}\n", fmt::join(parts, ", "));
  const std::string waived_cases = WhatWaivedMeans(run);
  if (!waived_cases.empty()) out += fmt::format("             waived: {}\n", waived_cases);
  const std::uint64_t accepted = counts.accepted_by_deviation;
  out += fmt::format("  {:<10} {} {}", options.tried, counts.scenarios,
                     options.tried == "scenarios" ? "compared with the model" : "run and judged");
  if (accepted != 0) {
    out += fmt::format(", {} ({:.1f} %) accepted by a waived deviation", accepted,
                       counts.scenarios == 0 ? 0.0 : 100.0 * accepted / counts.scenarios);
  }
  out += "\n";
  std::map<Verdict, int> clauses;
  const std::map<std::string, Verdict> by_clause = ByClause(run);
  for (const auto& [clause, verdict] : by_clause) ++clauses[verdict];
  parts.clear();
  std::size_t not_selected = run.clauses.size();
  for (const Clause& clause : run.clauses) not_selected -= by_clause.contains(clause.id) ? 1 : 0;
  for (const auto& [verdict, count] : clauses) parts.push_back(fmt::format("{} {}", count, Spelling(verdict)));
  if (not_selected != 0) parts.push_back(fmt::format("{} not selected", not_selected));
  out += fmt::format("  clauses    {}\n", fmt::join(parts, ", "));
  const std::string keys = UnknownKeys(run.backend);
  if (!keys.empty()) out += fmt::format("  keys       {} (`plumbline keys --all --backend ...` marks them)\n", keys);
  if (!run.waiver_files.empty()) {
    out += fmt::format("  waivers    from {}{}\n", fmt::join(run.waiver_files, ", "),
                       waived_cases.empty() ? "" : "; --verbose names those of each case");
  }
  if (counts.roots + counts.blocked != 0) {
    out += fmt::format("  failures   {}", Counted(counts.roots, "root"));
    if (counts.blocked != 0)
      out += fmt::format(", {} blocked by {}", counts.blocked, counts.roots == 1 ? "it" : "them");
    out += "\n";
  }
  if (roots.size() > options.shown) {
    out += fmt::format("             {} of {} are shown in full; `--show all` shows them all\n", options.shown,
                       roots.size());
  }
  const std::string saved = SavedScenarios(run);
  if (!saved.empty() && !options.saved_in.empty()) {
    out += fmt::format("  saved      {} in {}{} (`--out DIR` puts them elsewhere)\n", saved, Shown(options.saved_in),
                       options.saved_in.ends_with('/') ? "" : "/");
  }
  return out;
}

}  // namespace plumbline::reports
