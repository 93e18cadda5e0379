// The RapidCheck loop: generates scenarios until one fails, then goes down its generator's own shrinks.
//
//   PropertyRun run = RunProperty(generator, seed, 200, [&](const Scenario& s) { return Try(s); });
//   if (run.failing) Report(*run.failing);
//
// Sizes grow from small to RapidCheck's nominal one, so that the first failure is often small already. Everything
// depends on generator and seed only. Not thread-safe: generators may use RapidCheck's own state.
#ifndef PLUMBLINE_CONFORMANCE_HARNESS_PROPERTY_H_
#define PLUMBLINE_CONFORMANCE_HARNESS_PROPERTY_H_

#include <rapidcheck/Gen.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "spec/scenario/scenario.h"

namespace plumbline::harness {

enum class PropertyVerdict {
  kAgrees,
  kDiscarded,  // not in the property's scope, or needs what the backend does not claim
  kFails,
  kStop  // the harness itself failed
};

struct PropertyRun {
  int agreed = 0;
  int discarded = 0;
  bool stopped = false;
  bool gave_up = false;  // too many were discarded
  std::optional<scenario::Scenario> failing;
};

PropertyRun RunProperty(const rc::Gen<scenario::Scenario>& generator, std::uint64_t seed, int runs,
                        const std::function<PropertyVerdict(const scenario::Scenario&)>& attempt);

}  // namespace plumbline::harness

#endif  // PLUMBLINE_CONFORMANCE_HARNESS_PROPERTY_H_
