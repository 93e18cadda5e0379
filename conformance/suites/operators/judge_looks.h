// Whether a tensor looks as a program says.
//
//   if (const auto wrong = WrongLook(statement.looks, state.layout)) ...       // wrong->expected, wrong->got
//
// Pure; any thread.
#ifndef PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_JUDGE_LOOKS_H_
#define PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_JUDGE_LOOKS_H_

#include <optional>
#include <string>

#include "conformance/suites/operators/host_tensor.h"
#include "conformance/suites/operators/tensor_program.h"

namespace plumbline::suites {

struct Difference {
  std::string expected, got;
};

// The first look that is not so. On meta there are no elements to look at.
std::optional<Difference> WrongLook(const TensorLooks& looks, const HostTensor& is);

}  // namespace plumbline::suites

#endif  // PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_JUDGE_LOOKS_H_
