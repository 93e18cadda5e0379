#include "conformance/harness/case.h"

#include <algorithm>
#include <utility>

namespace plumbline::harness {
namespace {

std::vector<Case>& Registry() {
  static std::vector<Case> cases;  // made on first use: cases register while other files' statics are being made
  return cases;
}

}  // namespace

const std::vector<Case>& RegisteredCases() { return Registry(); }

bool RegisterCase(Case made) {
  std::vector<Case>& cases = Registry();
  const auto at = std::lower_bound(cases.begin(), cases.end(), made.id,
                                   [](const Case& one, const std::string& id) { return one.id < id; });
  cases.insert(at, std::move(made));
  return true;
}

}  // namespace plumbline::harness
