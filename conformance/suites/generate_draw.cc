#include "conformance/suites/generate_draw.h"

#include <rapidcheck/Gen.h>
#include <rapidcheck/gen/Numeric.h>

#include <algorithm>

namespace plumbline::suites {

Draw::Draw(const rc::Random& random, int size) : random_(random), size_(std::min(size, rc::kNominalSize)) {}

int Draw::Below(int limit) {
  return limit <= 1 ? 0 : rc::gen::inRange(0, limit)(random_.split(), rc::kNominalSize).value();
}

int Draw::Count(int least, int most) { return Between(least, least + (most - least) * size_ / rc::kNominalSize); }

}  // namespace plumbline::suites
