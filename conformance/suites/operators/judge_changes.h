// What a call did to its arguments: only those it writes may change, there only their elements, and their version goes
// up.
//
//   std::optional<std::string> wrong = WrongChange(oracle(call), call, outcome);
//
// Pure; any thread.
#ifndef PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_JUDGE_CHANGES_H_
#define PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_JUDGE_CHANGES_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "conformance/suites/operators/operator_call.h"
#include "conformance/suites/operators/oracle.h"

namespace plumbline::suites {

// The tensor argument in whose memory the i-th is: itself, if it has its own.
std::size_t OwnerOf(const std::vector<const Argument*>& tensors, std::size_t i);

// In words, for an outcome that Compare accepts; empty: nothing is wrong.
std::optional<std::string> WrongChange(const Expected& expected, const OperatorCall& call,
                                       const OperatorOutcome& outcome);

}  // namespace plumbline::suites

#endif  // PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_JUDGE_CHANGES_H_
