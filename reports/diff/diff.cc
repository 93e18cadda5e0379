#include "reports/diff/diff.h"

#include <map>

namespace plumbline::reports {

std::vector<Change> Diff(const Run& before, const Run& after) {
  std::map<std::string, Change> changes;
  for (const CaseResult& result : before.cases) changes[result.id].before = result.verdict;
  for (const CaseResult& result : after.cases) changes[result.id].after = result.verdict;
  std::vector<Change> changed;
  for (auto& [id, change] : changes) {
    change.id = id;
    if (change.before != change.after) changed.push_back(change);
  }
  return changed;
}

}  // namespace plumbline::reports
