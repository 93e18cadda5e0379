#include "reports/junit/junit.h"

#include <fmt/format.h>

#include <map>

#include "reports/html/escape.h"

namespace plumbline::reports {
namespace {

enum class Kind { kPassed, kFailure, kError, kSkipped };

Kind KindOf(Verdict verdict) {
  switch (verdict) {
    case Verdict::kPass:
      return Kind::kPassed;
    case Verdict::kFail:
      return Kind::kFailure;
    case Verdict::kUnsupported:
    case Verdict::kWaived:
      return Kind::kSkipped;
    default:
      return Kind::kError;
  }
}

std::string Reason(const CaseResult& result) {
  if (result.verdict == Verdict::kWaived) return "waived by " + result.waiver;
  if (result.verdict == Verdict::kUnsupported) {
    return fmt::format("the backend does not claim: {}", fmt::join(result.missing_capabilities, ", "));
  }
  if (!result.findings.empty()) return result.findings.front().summary;
  return Spelling(result.verdict);
}

std::string Body(const CaseResult& result) {
  std::string body;
  for (const Finding& finding : result.findings) {
    body += fmt::format("{}\nexpected: {}\ngot: {}\nrule: {}\nrerun: {}\n\n{}\n", finding.summary, finding.expected,
                        finding.got, finding.rule, finding.rerun, finding.scenario);
  }
  return body;
}

struct Suite {
  int tests = 0, failures = 0, errors = 0, skipped = 0;
  std::string cases;
};

}  // namespace

std::string ToJUnit(const Run& run, const SideNotes& notes) {
  std::map<std::string, Suite> suites;
  for (const CaseResult& result : run.cases) {
    Suite& suite = suites[result.chapter];
    ++suite.tests;
    const auto time = notes.seconds_by_case.find(result.id);
    suite.cases += fmt::format("    <testcase classname=\"{}\" name=\"{}\" time=\"{:.3f}\"", Escape(result.chapter),
                               Escape(result.id), time == notes.seconds_by_case.end() ? 0.0 : time->second);
    const char* element = nullptr;
    switch (KindOf(result.verdict)) {
      case Kind::kPassed:
        suite.cases += "/>\n";
        continue;
      case Kind::kSkipped:
        ++suite.skipped;
        suite.cases += fmt::format("><skipped message=\"{}\"/></testcase>\n", Escape(Reason(result)));
        continue;
      case Kind::kFailure:
        ++suite.failures;
        element = "failure";
        break;
      case Kind::kError:
        ++suite.errors;
        element = "error";
        break;
    }
    suite.cases += fmt::format("><{0} type=\"{1}\" message=\"{2}\">{3}</{0}></testcase>\n", element,
                               Spelling(result.verdict), Escape(Reason(result)), Escape(Body(result)));
  }
  std::string xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  xml += fmt::format("<testsuites name=\"Plumbline {} on {}\">\n", Escape(run.suite_version),
                     EscapeInLine(run.backend.name));
  for (const auto& [chapter, suite] : suites) {
    xml += fmt::format(
        "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\">\n{}  </testsuite>\n",
        Escape(chapter), suite.tests, suite.failures, suite.errors, suite.skipped, suite.cases);
  }
  return xml + "</testsuites>\n";
}

}  // namespace plumbline::reports
