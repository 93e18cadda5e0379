#include "reports/diff/diff.h"

#include <fmt/format.h>

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

std::vector<std::string> Unlike(const Run& before, const Run& after) {
  std::vector<std::string> unlike;
  const auto compare = [&](const char* what, const std::string& a, const std::string& b, const char* so) {
    if (a != b) unlike.push_back(fmt::format("the {} differ ({}, {}): {}", what, a, b, so));
  };
  constexpr const char* kOthers = "cases of one run may be absent in the other";
  const auto filter = [](const Run& run) { return run.filter.empty() ? "none" : run.filter; };
  const auto shard = [](const Run& run) {
    return run.shards == 1 ? "the whole run" : fmt::format("{}/{}", run.shard, run.shards);
  };
  compare("tiers", before.tier, after.tier, kOthers);
  compare("filters", filter(before), filter(after), kOthers);
  compare("shards", shard(before), shard(after), "merge the shards of each run first (plumbline report merge)");
  if (before.shards > 1 && shard(before) == shard(after)) {
    unlike.push_back(fmt::format("both are shard {}: what the other shards hold is not compared", shard(before)));
  }
  compare("seeds", std::to_string(before.seed), std::to_string(after.seed), "properties drew other scenarios");
  compare("releases", before.backend.release, after.backend.release, "other rules hold");
  compare("versions of the suite", before.suite_version, after.suite_version, "cases may have changed");
  return unlike;
}

}  // namespace plumbline::reports
