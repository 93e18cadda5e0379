// Makes a call that fails smaller, as long as it fails.
//
//   OperatorCall smallest = Shrink(call, [&](const OperatorCall& smaller) { return Fails(smaller); });
//
// Greedy: dimensions are left out or made smaller in all tensors alike, layouts made contiguous, values 0 or 1. Not
// more than a few hundred tries. Pure but for what `fails` does.
#ifndef PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_SHRINK_CALL_H_
#define PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_SHRINK_CALL_H_

#include <functional>

#include "conformance/suites/operators/operator_call.h"

namespace plumbline::suites {

OperatorCall Shrink(OperatorCall call, const std::function<bool(const OperatorCall&)>& fails);

}  // namespace plumbline::suites

#endif  // PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_SHRINK_CALL_H_
