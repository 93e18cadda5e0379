#include "conformance/harness/property.h"

#include <rapidcheck.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace plumbline::harness {
namespace {

using Generated = rc::Shrinkable<scenario::Scenario>;

constexpr int kDiscardsPerRun = 10;
constexpr int kShrinkAttempts = 300;
constexpr std::chrono::seconds kShrinkTime(20);  // each attempt at a hang takes its whole limit

// A generator that gives up on a value throws when the value is asked for.
std::optional<scenario::Scenario> ValueOf(const Generated& generated) {
  try {
    return generated.value();
  } catch (const rc::GenerationFailure&) {
    return std::nullopt;
  }
}

scenario::Scenario Smallest(Generated failing, scenario::Scenario value,
                            const std::function<PropertyVerdict(const scenario::Scenario&)>& attempt) {
  int attempts = 0;
  const auto end = std::chrono::steady_clock::now() + kShrinkTime;
  const auto goes_on = [&] { return attempts < kShrinkAttempts && std::chrono::steady_clock::now() < end; };
  for (bool smaller = true; smaller && goes_on();) {
    smaller = false;
    auto shrinks = failing.shrinks();
    for (auto next = shrinks.next(); next && goes_on(); next = shrinks.next()) {
      ++attempts;
      std::optional<scenario::Scenario> tried = ValueOf(*next);
      if (!tried || attempt(*tried) != PropertyVerdict::kFails) continue;
      failing = *next;
      value = std::move(*tried);
      smaller = true;
      break;
    }
  }
  return value;
}

}  // namespace

PropertyRun RunProperty(const rc::Gen<scenario::Scenario>& generator, std::uint64_t seed, int runs,
                        const std::function<PropertyVerdict(const scenario::Scenario&)>& attempt) {
  PropertyRun run;
  rc::Random random(seed);
  while (run.agreed < runs) {
    if (run.discarded > kDiscardsPerRun * runs) {
      run.gave_up = true;
      return run;
    }
    const int size = rc::kNominalSize * (run.agreed + 1) / runs;
    const Generated generated = generator(random.split(), size);
    std::optional<scenario::Scenario> value = ValueOf(generated);
    if (!value) {
      ++run.discarded;
      continue;
    }
    switch (attempt(*value)) {
      case PropertyVerdict::kAgrees:
        ++run.agreed;
        break;
      case PropertyVerdict::kDiscarded:
        ++run.discarded;
        break;
      case PropertyVerdict::kStop:
        run.stopped = true;
        return run;
      case PropertyVerdict::kFails:
        run.failing = Smallest(generated, std::move(*value), attempt);
        return run;
    }
  }
  return run;
}

}  // namespace plumbline::harness
