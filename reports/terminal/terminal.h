// The summary that ends a run: what was checked, root failures first with all that is needed to understand and rerun
// them, blocked failures folded under their root, and one line of counts. Nothing in it steers a terminal but the
// colours that were asked for; long lines are cut.
//
//   std::cout << Summary(run, {.colour = isatty(1)});
#ifndef PLUMBLINE_REPORTS_TERMINAL_TERMINAL_H_
#define PLUMBLINE_REPORTS_TERMINAL_TERMINAL_H_

#include <cstddef>
#include <string>

#include "reports/result/result.h"

namespace plumbline::reports {

struct SummaryOptions {
  bool colour = false;
  std::size_t shown = 10;           // roots shown in full; the rest are named
  double seconds = -1;              // negative: not shown
  std::string tried = "scenarios";  // what the cases tried; else "schedules", judged by their histories
  std::string saved_in{};           // where the scenarios of failures are; empty: not said
};

std::string Summary(const Run& run, const SummaryOptions& options);

}  // namespace plumbline::reports

#endif  // PLUMBLINE_REPORTS_TERMINAL_TERMINAL_H_
