#include "spec/scenario/scenario.h"

namespace plumbline::scenario {

// Out of line: BodyStep and Step contain each other.
bool operator==(const BodyStep& a, const BodyStep& b) { return a.step == b.step; }

bool operator==(const Step& a, const Step& b) {
  return a.action == b.action && a.thread == b.thread && a.expected == b.expected;
}

}  // namespace plumbline::scenario
