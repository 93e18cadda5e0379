#include "reports/html/html.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "reports/html/escape.h"
#include "reports/text/counted.h"

namespace plumbline::reports {
namespace {

constexpr std::string_view kStyle = R"(
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; padding: 0 1rem; color: #1b1f24; }
h1 { font-size: 1.6rem; } h2 { margin-top: 2.2rem; font-size: 1.25rem; }
table { border-collapse: collapse; } th, td { border: 1px solid #d0d7de; padding: .25rem .6rem; text-align: left; }
th { background: #f6f8fa; } td { vertical-align: top; }
pre { background: #f6f8fa; padding: .8rem; overflow-x: auto; } code { font-family: ui-monospace, monospace; }
.pass { background: #dafbe1; } .fail, .crash, .timeout, .harness-error { background: #ffd8d3; }
.waived { background: #fff8c5; } .unsupported, .not-run { color: #6e7781; } .vacuous, .inconclusive { background: #ffe8c7; }
details { margin: .1rem 0; } summary { cursor: pointer; } .links { color: #57606a; font-size: .85rem; }
article { border-left: 4px solid #cf222e; padding-left: 1rem; margin: 1.5rem 0; }
article.waived-case { border-color: #bf8700; background: none; }
)";

std::string Name(const Run& run) { return Escape(run.backend.name + " " + run.backend.version); }

std::string Overview(const std::vector<Run>& runs) {
  std::string html =
      "<h2>Runs</h2>\n<table><tr><th>backend</th><th>release</th><th>tier</th><th>seed</th>"
      "<th>cases</th><th>scenarios</th><th>accepted by a deviation</th><th>claims</th></tr>\n";
  for (const Run& run : runs) {
    const Counts counts = Count(run);
    std::string cases;
    for (const auto& [verdict, count] : counts.by_verdict) {
      cases += fmt::format("<span class=\"{0}\">{1} {0}</span> ", Spelling(verdict), count);
    }
    html += fmt::format(
        "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{} ({:.1f} "
        "%)</td><td>{}</td></tr>\n",
        Name(run), Escape(run.backend.release), Escape(run.tier), run.seed, cases, counts.scenarios,
        counts.accepted_by_deviation,
        counts.scenarios == 0 ? 0.0 : 100.0 * counts.accepted_by_deviation / counts.scenarios,
        Escape(fmt::format("{}", fmt::join(run.backend.capabilities, ", "))));
  }
  return html + "</table>\n";
}

std::string Links(std::string_view what, const std::vector<std::string>& places) {
  if (places.empty()) return "";
  return fmt::format("<div class=\"links\">{}: <code>{}</code></div>", what,
                     Escape(fmt::format("{}", fmt::join(places, "  "))));
}

std::string Matrix(const std::vector<Run>& runs) {
  const std::vector<Clause>* clauses = nullptr;
  for (const Run& run : runs) {
    if (!run.clauses.empty()) {
      clauses = &run.clauses;
      break;
    }
  }
  if (clauses == nullptr) return "";
  std::vector<std::map<std::string, Verdict>> verdicts;
  std::string html = "<h2>Clauses</h2>\n<table><tr><th>clause</th><th>strength</th><th>rule</th>";
  for (const Run& run : runs) {
    verdicts.push_back(ByClause(run));
    html += fmt::format("<th>{}</th>", Name(run));
  }
  html += "</tr>\n";
  std::string chapter;
  for (const Clause& clause : *clauses) {
    if (clause.chapter != chapter) {
      chapter = clause.chapter;
      html += fmt::format("<tr><th colspan=\"{}\">{}</th></tr>\n", 3 + runs.size(), Escape(chapter));
    }
    html += fmt::format(
        "<tr id=\"{0}\"><td><code>{0}</code></td><td>{1}</td><td><details><summary>{2}</summary>{3}{4}{5}{6}{7}"
        "</details></td>",
        Escape(clause.id), Escape(clause.strength), Escape(clause.title), Escape(clause.text),
        Links("text", {clause.where}), Links("model", clause.model), Links("tests", clause.tests),
        Links("faults", clause.faults));
    for (const auto& of_run : verdicts) {
      const auto found = of_run.find(clause.id);
      html += found == of_run.end() ? "<td class=\"not-run\">not run</td>"
                                    : fmt::format("<td class=\"{0}\">{0}</td>", Spelling(found->second));
    }
    html += "</tr>\n";
  }
  return html + "</table>\n";
}

std::string Article(const CaseResult& result) {
  const bool waived = result.verdict == Verdict::kWaived;
  std::string html =
      fmt::format("<article class=\"{}\"><h3><span class=\"{}\">{}</span> {}</h3>\n<p>", waived ? "waived-case" : "",
                  Spelling(result.verdict), Spelling(result.verdict), Escape(result.id));
  for (const std::string& clause : result.clauses) html += fmt::format("<a href=\"#{0}\">{0}</a> ", Escape(clause));
  html += "</p>\n";
  if (waived) html += fmt::format("<p>waived by {}</p>\n", Escape(result.waiver));
  if (!result.blocked_by.empty()) html += fmt::format("<p>blocked by {}</p>\n", Escape(result.blocked_by));
  for (const Finding& finding : result.findings) {
    html += fmt::format(
        "<p>{}</p>\n<table><tr><th>expected</th><td>{}</td></tr><tr><th>got</th><td>{}</td></tr>"
        "<tr><th>rule</th><td>{}</td></tr></table>\n",
        Escape(finding.summary), Escape(finding.expected), Escape(finding.got), Escape(finding.rule));
    if (!finding.scenario.empty()) html += fmt::format("<pre>{}</pre>\n", Escape(finding.scenario));
    if (!finding.rerun.empty()) html += fmt::format("<pre>{}</pre>\n", Escape(finding.rerun));
  }
  return html + "</article>\n";
}

bool IsShown(const CaseResult& result) {
  return result.verdict != Verdict::kPass && result.verdict != Verdict::kUnsupported;
}

std::string Findings(const std::vector<Run>& runs) {
  std::string html;
  for (const Run& run : runs) {
    std::string roots, blocked;
    for (const CaseResult& result : run.cases) {
      if (IsShown(result)) (result.blocked_by.empty() ? roots : blocked) += Article(result);
    }
    html += fmt::format("<h2>Findings on {}</h2>\n", Name(run));
    html += roots.empty() ? "<p>None.</p>\n" : roots;
    if (!blocked.empty()) html += "<details><summary>Blocked by those above</summary>\n" + blocked + "</details>\n";
    for (const WaiverUse& use : run.waivers) {
      html += fmt::format("<p>Waiver <code>{}</code> for {}: {}; used {}; {}{}</p>\n", Escape(use.id),
                          Escape(use.clause), Escape(use.cause), Counted(use.used, "time"), Escape(use.reference),
                          use.problem.empty() ? "" : " — <span class=\"fail\">" + Escape(use.problem) + "</span>");
    }
  }
  return html;
}

}  // namespace

std::string ToHtml(const std::vector<Run>& runs) {
  std::string html = "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Plumbline report</title>";
  html += fmt::format("<style>{}</style></head><body>\n<h1>Plumbline report</h1>\n", kStyle);
  if (!runs.empty()) html += fmt::format("<p>Suite version {}.</p>\n", Escape(runs.front().suite_version));
  html += Overview(runs) + Findings(runs) + Matrix(runs);
  return html + "</body></html>\n";
}

}  // namespace plumbline::reports
