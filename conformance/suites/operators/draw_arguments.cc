#include "conformance/suites/operators/draw_arguments.h"

#include <algorithm>
#include <iterator>

namespace plumbline::suites {
std::uint32_t DrawDtype(Draw& draw) { return kDtypes[draw.Below(std::ssize(kDtypes))]; }

std::uint32_t DrawFloating(Draw& draw) {
  return draw.Of<std::uint32_t>({PL_DTYPE_FLOAT16, PL_DTYPE_BFLOAT16, PL_DTYPE_FLOAT32, PL_DTYPE_FLOAT64});
}

std::uint32_t DrawDtypeLike(std::uint32_t dtype, Draw& draw) { return draw.OneIn(4) ? DrawDtype(draw) : dtype; }

Argument DrawOptionalDtype(Draw& draw) { return draw.OneIn(4) ? Argument::Int(DrawDtype(draw)) : Argument::None(); }

Argument DrawScalar(Draw& draw) {
  switch (draw.Below(4)) {
    case 0:
      return Argument::Bool(draw.OneIn(2));
    case 1:
      return Argument::Float(static_cast<double>(draw.Value(PL_DTYPE_FLOAT64, Values::kUsual)));
    default:
      return Argument::Int(draw.Below(11) - 5);
  }
}

Argument DrawDim(std::size_t dim, Draw& draw) {
  const auto count = static_cast<std::int64_t>(std::max<std::size_t>(dim, 1));
  if (draw.OneIn(40)) return Argument::Int(draw.OneIn(2) ? count : -count - 1);
  return Argument::Int(draw.Below(2 * count) - count);
}

Argument DrawDims(std::size_t dim, Draw& draw) {
  if (draw.OneIn(5)) return draw.OneIn(2) ? Argument::None() : Argument::Ints({});
  Sizes dims;
  for (std::size_t d = 0; d < dim; ++d) {
    if (draw.OneIn(2))
      dims.push_back(static_cast<std::int64_t>(d) - (draw.OneIn(2) ? static_cast<std::int64_t>(dim) : 0));
  }
  if (dims.empty()) dims.push_back(dim == 0 ? 0 : draw.Below(static_cast<std::int64_t>(dim)));
  if (draw.OneIn(40)) dims.push_back(draw.OneIn(2) ? dims.front() : static_cast<std::int64_t>(dim) + 1);
  return Argument::Ints(dims);
}

Values DrawValues(Draw& draw) { return draw.Of({Values::kSmallIntegers, Values::kUsual, Values::kAny}); }

}  // namespace plumbline::suites
