// What calls of many operators are drawn of: Scalars, dimensions, dtypes, sizes.
//
//   call.arguments.push_back(Argument::Of(draw.Tensor(dtype, draw.Shape(), Values::kUsual)));
//   call.arguments.push_back(DrawDim(dim, draw));           // now and then out of range
//
// Pure but for the Draw; any thread.
#ifndef PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_DRAW_ARGUMENTS_H_
#define PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_DRAW_ARGUMENTS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "conformance/suites/operators/draw_calls.h"

namespace plumbline::suites {

using Drawers = std::map<std::string, CallDrawer, std::less<>>;

void AddElementwiseDrawers(Drawers& drawers);
void AddReductionDrawers(Drawers& drawers);
void AddMatrixDrawers(Drawers& drawers);
void AddViewDrawers(Drawers& drawers);  // and copies
void AddJoiningDrawers(Drawers& drawers);
void AddIndexingDrawers(Drawers& drawers);
void AddFactoryDrawers(Drawers& drawers);
void AddRandomDrawers(Drawers& drawers);
void AddLayerDrawers(Drawers& drawers);  // softmax, normalisation, convolution, pooling, losses

std::uint32_t DrawDtype(Draw& draw);
std::uint32_t DrawFloating(Draw& draw);
std::uint32_t DrawDtypeLike(std::uint32_t dtype, Draw& draw);  // that one, mostly
Argument DrawOptionalDtype(Draw& draw);                        // none, mostly

Argument DrawScalar(Draw& draw);
Argument DrawDim(std::size_t dim, Draw& draw);   // one
Argument DrawDims(std::size_t dim, Draw& draw);  // a list, or none
Values DrawValues(Draw& draw);                   // whole numbers, so that results are exact, in a third of the calls

inline Argument DrawTensor(std::uint32_t dtype, const Sizes& sizes, Values values, Draw& draw) {
  return Argument::Of(draw.Tensor(dtype, sizes, values));
}

}  // namespace plumbline::suites

#endif  // PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_DRAW_ARGUMENTS_H_
