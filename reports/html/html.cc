#include "reports/html/html.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <sstream>

#include "reports/html/escape.h"
#include "reports/text/counted.h"
#include "reports/text/shown.h"

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

std::string Name(const Run& run) { return EscapeInLine(run.backend.name + " " + run.backend.version); }

// A place of the page by an id that no blank ends and no address has to escape: other characters as ~xx.
std::string Anchor(std::size_t run, std::string_view id) {
  std::string anchor = fmt::format("run{}-", run + 1);
  for (const char c : id) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_' || c == '/' || c == '-';
    anchor += plain ? std::string(1, c) : fmt::format("~{:02x}", static_cast<unsigned char>(c));
  }
  return anchor;
}

std::string Link(const std::string& anchor, std::string_view text) {
  return fmt::format("<a href=\"#{}\">{}</a>", anchor, Escape(text));
}

bool IsShown(const CaseResult& result) {
  return result.verdict != Verdict::kPass && result.verdict != Verdict::kUnsupported;
}

// What of the page can be led to.
struct Places {
  std::set<std::string> clauses;                          // their id is their anchor
  std::vector<std::map<std::string, std::string>> cases;  // by run: the anchors of those that are shown, by id
  std::vector<std::map<std::string, std::vector<std::string>>> by_clause;  // by run: ids of cases shown that name it

  std::string Clause(const std::string& id) const { return clauses.contains(id) ? Link(id, id) : Escape(id); }
  std::string Case(std::size_t run, const std::string& id) const {
    const auto at = cases[run].find(id);
    return at != cases[run].end() ? Link(at->second, id) : Escape(id);
  }
};

const std::vector<Clause>& ClausesOf(const std::vector<Run>& runs) {
  static const std::vector<Clause> none;
  const auto at = std::find_if(runs.begin(), runs.end(), [](const Run& run) { return !run.clauses.empty(); });
  return at == runs.end() ? none : at->clauses;
}

Places PlacesOf(const std::vector<Run>& runs) {
  Places places;
  for (const Clause& clause : ClausesOf(runs)) places.clauses.insert(clause.id);
  places.by_clause.resize(runs.size());
  for (std::size_t i = 0; i < runs.size(); ++i) {
    std::map<std::string, std::string>& anchors = places.cases.emplace_back();
    for (const CaseResult& result : runs[i].cases) {
      if (!IsShown(result)) continue;
      anchors[result.id] = Anchor(i, result.id);
      for (const std::string& clause : result.clauses) places.by_clause[i][clause].push_back(result.id);
    }
  }
  return places;
}

std::string Contents(const std::vector<Run>& runs, const Places& places) {
  std::string html = "<p>";
  for (std::size_t i = 0; i < runs.size(); ++i)
    html += Link(Anchor(i, ""), "Findings on " + ShownInLine(runs[i].backend.name)) + " · ";
  return html + (places.clauses.empty() ? "" : Link("clauses", "Clauses")) + "</p>\n";
}

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
        Name(run), Escape(run.backend.release),
        Escape(run.tier) + (run.shards > 1 ? fmt::format(", shard {}/{}", run.shard, run.shards) : ""), run.seed, cases,
        counts.scenarios, counts.accepted_by_deviation,
        counts.scenarios == 0 ? 0.0 : 100.0 * counts.accepted_by_deviation / counts.scenarios,
        Escape(fmt::format("{}", fmt::join(run.backend.capabilities, ", "))));
  }
  html += "</table>\n";
  for (const Run& run : runs) {
    const std::string keys = UnknownKeys(run.backend);
    if (!keys.empty()) html += fmt::format("<p>{} knows {}.</p>\n", Name(run), EscapeInLine(keys));
  }
  return html;
}

std::string Links(std::string_view what, const std::vector<std::string>& places) {
  if (places.empty()) return "";
  return fmt::format("<div class=\"links\">{}: <code>{}</code></div>", what,
                     Escape(fmt::format("{}", fmt::join(places, "  "))));
}

// The cases that tell of a clause, for a reader who wants to see what happened.
std::string FindingsOf(const Clause& clause, const std::vector<Run>& runs, const Places& places) {
  std::string html;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto at = places.by_clause[i].find(clause.id);
    if (at == places.by_clause[i].end()) continue;
    html += fmt::format("<div class=\"links\">findings on {}:", Name(runs[i]));
    for (const std::string& id : at->second) html += " " + places.Case(i, id);
    html += "</div>";
  }
  return html;
}

std::string Needs(const Clause& clause, const Places& places) {
  if (clause.needs.empty()) return "";
  std::string html = "<div class=\"links\">needs:";
  for (const std::string& need : clause.needs) html += " " + places.Clause(need);
  return html + "</div>";
}

std::string Matrix(const std::vector<Run>& runs, const Places& places) {
  const std::vector<Clause>& clauses = ClausesOf(runs);
  if (clauses.empty()) return "";
  std::vector<std::map<std::string, Verdict>> verdicts;
  std::string html = "<h2 id=\"clauses\">Clauses</h2>\n<table><tr><th>clause</th><th>strength</th><th>rule</th>";
  for (const Run& run : runs) {
    verdicts.push_back(ByClause(run));
    html += fmt::format("<th>{}</th>", Name(run));
  }
  html += "</tr>\n";
  std::string chapter;
  for (const Clause& clause : clauses) {
    if (clause.chapter != chapter) {
      chapter = clause.chapter;
      html += fmt::format("<tr><th colspan=\"{}\">{}</th></tr>\n", 3 + runs.size(), Escape(chapter));
    }
    html += fmt::format(
        "<tr id=\"{0}\"><td><code>{0}</code></td><td>{1}</td><td><details><summary>{2}</summary>{3}{4}{5}{6}{7}"
        "{8}{9}</details></td>",
        Escape(clause.id), Escape(clause.strength), Escape(clause.title), Escape(clause.text), Needs(clause, places),
        FindingsOf(clause, runs, places),
        Links("text", clause.where.empty() ? std::vector<std::string>() : std::vector{clause.where}),
        Links("model", clause.model), Links("tests", clause.tests), Links("faults", clause.faults));
    for (std::size_t i = 0; i < verdicts.size(); ++i) {
      const auto found = verdicts[i].find(clause.id);
      if (found == verdicts[i].end()) {
        html += "<td class=\"not-run\">not run</td>";
        continue;
      }
      // To the first that has this verdict, which is the worst.
      const char* verdict = Spelling(found->second);
      std::string text = verdict;
      for (const CaseResult& result : runs[i].cases) {
        if (result.verdict != found->second || !places.cases[i].contains(result.id)) continue;
        if (std::find(result.clauses.begin(), result.clauses.end(), clause.id) == result.clauses.end()) continue;
        text = Link(places.cases[i].at(result.id), verdict);
        break;
      }
      html += fmt::format("<td class=\"{}\">{}</td>", verdict, text);
    }
    html += "</tr>\n";
  }
  return html + "</table>\n";
}

std::string Article(const CaseResult& result, std::size_t run, const Places& places) {
  const bool waived = result.verdict == Verdict::kWaived;
  std::string html = fmt::format("<article id=\"{}\" class=\"{}\"><h3><span class=\"{}\">{}</span> {}</h3>\n<p>",
                                 Anchor(run, result.id), waived ? "waived-case" : "", Spelling(result.verdict),
                                 Spelling(result.verdict), Escape(result.id));
  for (const std::string& clause : result.clauses) html += places.Clause(clause) + " ";
  html += "</p>\n";
  if (waived) html += fmt::format("<p>waived by {}</p>\n", Escape(result.waiver));
  if (!result.blocked_by.empty()) html += fmt::format("<p>blocked by {}</p>\n", places.Case(run, result.blocked_by));
  for (const Finding& finding : result.findings) {
    html += fmt::format(
        "<p>{}</p>\n<table><tr><th>expected</th><td>{}</td></tr><tr><th>got</th><td>{}</td></tr>{}</table>\n",
        Escape(finding.summary), Escape(finding.expected), Escape(finding.got),
        finding.rule.empty() ? "" : fmt::format("<tr><th>rule</th><td>{}</td></tr>", Escape(finding.rule)));
    if (!finding.scenario.empty()) html += fmt::format("<pre>{}</pre>\n", Escape(finding.scenario));
    if (!finding.rerun.empty()) html += fmt::format("<pre>{}</pre>\n", Escape(finding.rerun));
  }
  return html + "</article>\n";
}

std::string Findings(const std::vector<Run>& runs, const Places& places) {
  std::string html;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const Run& run = runs[i];
    std::string roots, blocked;
    for (const CaseResult& result : run.cases) {
      if (IsShown(result)) (result.blocked_by.empty() ? roots : blocked) += Article(result, i, places);
    }
    html += fmt::format("<h2 id=\"{}\">Findings on {}</h2>\n", Anchor(i, ""), Name(run));
    html += roots.empty() ? "<p>None.</p>\n" : roots;
    if (!blocked.empty()) html += "<details><summary>Blocked by those above</summary>\n" + blocked + "</details>\n";
    const auto clauses_of = [&](const WaiverUse& use) {
      std::vector<std::string> links;
      std::istringstream ids(use.clause);
      for (std::string id; ids >> id;) links.push_back(places.Clause(id));
      return fmt::format("{}", fmt::join(links, " "));
    };
    std::vector<WaiverUse> waivers = run.waivers;  // in an order that shards do not change
    std::sort(waivers.begin(), waivers.end(), [](const WaiverUse& a, const WaiverUse& b) { return a.id < b.id; });
    for (const WaiverUse& use : waivers) {
      html += fmt::format("<p>Waiver <code>{}</code> for {}: {}; used {}; {}{}</p>\n", Escape(use.id), clauses_of(use),
                          Escape(use.cause), Counted(use.used, "time"), Escape(use.reference),
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
  const Places places = PlacesOf(runs);
  html += Contents(runs, places) + Overview(runs) + Findings(runs, places) + Matrix(runs, places);
  return html + "</body></html>\n";
}

}  // namespace plumbline::reports
