// One plain self-contained page for any number of runs: what was checked, the matrix clause × backend, and every
// failure with its scenario and the line that reruns it. No script, no network; readable without colours. Its links
// lead within the page: from a failure to its clauses and to what blocks it, from a clause to the failures that tell of
// it and to the clauses that it needs.
//
//   out << ToHtml({reference_run, torch_run});
//
// The clauses are those of the first run that brings any.
#ifndef PLUMBLINE_REPORTS_HTML_HTML_H_
#define PLUMBLINE_REPORTS_HTML_HTML_H_

#include <string>
#include <vector>

#include "reports/result/result.h"

namespace plumbline::reports {

std::string ToHtml(const std::vector<Run>& runs);

}  // namespace plumbline::reports

#endif  // PLUMBLINE_REPORTS_HTML_HTML_H_
