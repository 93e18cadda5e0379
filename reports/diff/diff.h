// What changed between two runs: cases that appeared, went, or changed their verdict. Order and counts do not matter.
//
//   for (const Change& change : Diff(before, after)) ...
#ifndef PLUMBLINE_REPORTS_DIFF_DIFF_H_
#define PLUMBLINE_REPORTS_DIFF_DIFF_H_

#include <optional>
#include <string>
#include <vector>

#include "reports/result/result.h"

namespace plumbline::reports {

struct Change {
  std::string id;
  std::optional<Verdict> before, after;  // absent: the run lacks the case
};

// Sorted by id.
std::vector<Change> Diff(const Run& before, const Run& after);

}  // namespace plumbline::reports

#endif  // PLUMBLINE_REPORTS_DIFF_DIFF_H_
