// What changed between two runs: cases that appeared, went, or changed their verdict. Order and counts do not matter.
//
//   for (const std::string& why : Unlike(before, after)) ...   // not the same run twice
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

// Why some of the differences may come from how the suites were run, and not from the backend: each in words, such as
// "the tiers differ (quick, full): ...". Two shards of equal number are compared as far as they go, which is said too.
std::vector<std::string> Unlike(const Run& before, const Run& after);

}  // namespace plumbline::reports

#endif  // PLUMBLINE_REPORTS_DIFF_DIFF_H_
