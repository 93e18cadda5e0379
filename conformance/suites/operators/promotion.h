// Which dtype an operator computes in: PyTorch's rule of three categories, in the suite's own words and code.
//
//   std::uint32_t common = CommonDtype({&call.arguments[0], &call.arguments[1]});
//
// Tensors with dimensions count first, then tensors without, then Scalars. A lower category matters only where its kind
// (bool, integer, floating) is above that of the higher ones; then the result is the two's promotion. A Scalar has the
// default float32, int64 or bool. Pure; any thread.
#ifndef PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_PROMOTION_H_
#define PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_PROMOTION_H_

#include <cstdint>
#include <vector>

#include "conformance/suites/operators/operator_call.h"

namespace plumbline::suites {

// The least dtype that both can be cast to: uint8 and int8 give int16, an integer and a floating one the floating one,
// float16 and bfloat16 float32.
std::uint32_t Promote(std::uint32_t a, std::uint32_t b);

// Of tensors and Scalars; what is no such argument (None) does not count.
std::uint32_t CommonDtype(const std::vector<const Argument*>& arguments);

// Whether a result of one dtype may be written into a tensor of the other: never from a floating to an integer one, nor
// from anything else to bool.
bool CanCast(std::uint32_t from, std::uint32_t to);

}  // namespace plumbline::suites

#endif  // PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_PROMOTION_H_
