// How a property of this folder is written: a function that writes one scenario, checked on many.
//
//   void KeyPriority(Writer& w) { ... w.CallAny(f); }
//   PL_CASE("keys", "priority", kQuick, PL_CLAUSES("KEY-006"), PL_CAPABILITY(BOXED)) { CheckScenarios(ctx,
//   KeyPriority); }
//
// What is right is the model's to say: a scenario has no written outcomes, and the harness compares every step.
#ifndef PLUMBLINE_CONFORMANCE_SUITES_PROPERTIES_CHECK_H_
#define PLUMBLINE_CONFORMANCE_SUITES_PROPERTIES_CHECK_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "conformance/harness/case.h"
#include "conformance/suites/generate_writer.h"

namespace plumbline::suites {

// `world` is that of the backend unless one is given.
bool CheckScenarios(harness::CaseContext& ctx, std::function<void(Writer&)> write, int runs = 200,
                    std::shared_ptr<const World> world = nullptr);

// Most cases need kernels of one form or the other; all generators prefer boxed ones.
inline constexpr std::uint64_t kUsual = PL_CAPABILITY(CORE) | PL_CAPABILITY(BOXED);

}  // namespace plumbline::suites

#endif  // PLUMBLINE_CONFORMANCE_SUITES_PROPERTIES_CHECK_H_
