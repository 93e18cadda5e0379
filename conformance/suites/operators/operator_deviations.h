// Deviations: known faults of real backends, each as what it makes of a call.
//
//   for (const OperatorDeviation& one : OperatorDeviations()) {
//     if (accepted(one.name) && one.explains({call, expected, outcome, died})) ...
//   }
//
// A waiver names one, so that a case whose calls are drawn accepts precisely what that fault gives, counts it, and goes
// on; anything else still fails. A deviation looks at the call for what brings the fault about, and at the outcome for
// what the fault gives. Pure; any thread.
#ifndef PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_OPERATOR_DEVIATIONS_H_
#define PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_OPERATOR_DEVIATIONS_H_

#include <span>
#include <string_view>

#include "conformance/harness/waivers.h"
#include "conformance/suites/operators/operator_call.h"
#include "conformance/suites/operators/oracle.h"

namespace plumbline::suites {

// A call with what it should come to and what it came to.
struct WrongCall {
  const OperatorCall& call;
  const Expected& expected;
  const OperatorOutcome& outcome;
  bool died = false;  // the backend did, in the call
};

struct OperatorDeviation {
  std::string_view name, what;
  bool (*explains)(const WrongCall& wrong);
};

std::span<const OperatorDeviation> OperatorDeviations();
harness::DeviationNames OperatorDeviationNames();

}  // namespace plumbline::suites

#endif  // PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_OPERATOR_DEVIATIONS_H_
