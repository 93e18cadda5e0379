// Calls of an operator with drawn arguments.
//
//   if (const CallDrawer* drawer = CallDrawerFor("add.Tensor")) call = (*drawer)("aten::add.Tensor", PL_DTYPE_FLOAT32,
//   draw);
//
// Most calls are right; some are to be refused: shapes that do not go together, a dimension out of range, a dtype that
// the rules exclude. Pure but for the Draw; any thread.
#ifndef PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_DRAW_CALLS_H_
#define PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_DRAW_CALLS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "conformance/suites/operators/draw.h"
#include "conformance/suites/operators/operator_call.h"

namespace plumbline::suites {

// Of the first tensor the dtype is given.
using CallDrawer = std::function<OperatorCall(std::string_view op, std::uint32_t dtype, Draw& draw)>;

// Null where there is none; the name is without "aten::".
const CallDrawer* CallDrawerFor(std::string_view name);

}  // namespace plumbline::suites

#endif  // PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_DRAW_CALLS_H_
