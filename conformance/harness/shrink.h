// Makes a failing scenario smaller: leaves out steps, items of kernels' bodies, keys of tensors and guards, as long as
// `fails` says that what is left still fails.
//
//   Scenario small = ShrinkScenario(scenario, failing_step, [&](const Scenario& s) { return Fails(s); });
//
// Every smaller scenario is still a scenario: names that lose their maker are an outcome like any other, and the model
// predicts it. Greedy, so the result depends on `fails` only. Pure but for what `fails` does.
#ifndef PLUMBLINE_CONFORMANCE_HARNESS_SHRINK_H_
#define PLUMBLINE_CONFORMANCE_HARNESS_SHRINK_H_

#include <functional>

#include "spec/scenario/scenario.h"

namespace plumbline::harness {

// Steps after `failing_step` are left out first; -1: not known. What an author expected is left out too.
scenario::Scenario ShrinkScenario(const scenario::Scenario& scenario, int failing_step,
                                  const std::function<bool(const scenario::Scenario&)>& fails);

}  // namespace plumbline::harness

#endif  // PLUMBLINE_CONFORMANCE_HARNESS_SHRINK_H_
