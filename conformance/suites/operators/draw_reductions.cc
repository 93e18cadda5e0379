#include <limits>
#include <string>
#include <utility>

#include "conformance/suites/operators/draw_arguments.h"

namespace plumbline::suites {
namespace {

OperatorCall Of(std::string_view op, std::uint32_t dtype, Draw& draw) {
  return {std::string(op), {DrawTensor(dtype, draw.Shape(), DrawValues(draw), draw)}};
}

// A list of dimensions for those that take none.
Argument List(Argument dims) { return dims.kind == PL_NONE ? Argument::Ints({}) : dims; }

enum class Takes { kNothing, kDim, kDims, kDimsOrNone, kDimOrNone };
CallDrawer Reduction(Takes takes, bool keep, bool dtype_too) {
  return [=](std::string_view op, std::uint32_t dtype, Draw& draw) {
    OperatorCall call = Of(op, dtype, draw);
    const std::size_t dim = call.arguments[0].tensor.sizes.size();
    if (takes == Takes::kDim) call.arguments.push_back(DrawDim(dim, draw));
    if (takes == Takes::kDims) call.arguments.push_back(List(DrawDims(dim, draw)));
    if (takes == Takes::kDimsOrNone) call.arguments.push_back(DrawDims(dim, draw));
    if (takes == Takes::kDimOrNone) call.arguments.push_back(draw.OneIn(3) ? Argument::None() : DrawDim(dim, draw));
    if (keep) call.arguments.push_back(Argument::Bool(draw.OneIn(2)));
    if (dtype_too) call.arguments.push_back(DrawOptionalDtype(draw));
    return call;
  };
}

// Factors about 1, so that products of many stay within the range.
CallDrawer Product(CallDrawer of) {
  return [of = std::move(of)](std::string_view op, std::uint32_t dtype, Draw& draw) {
    OperatorCall call = of(op, dtype, draw);
    HostTensor& self = call.arguments[0].tensor;
    if (!draw.OneIn(3)) {
      for (std::int64_t i = 0; i < self.numel(); ++i) {
        const long double factor = draw.Of({1.0L, 1.0L, -1.0L, 2.0L, 0.5L, 1.25L});
        self.Set(i, self.dtype == PL_DTYPE_UINT8 && factor < 0 ? 1 : factor);
      }
    }
    return call;
  };
}

OperatorCall Variance(std::string_view op, std::uint32_t dtype, Draw& draw) {
  OperatorCall call{std::string(op),
                    {DrawTensor(dtype, draw.Shape(), draw.OneIn(3) ? Values::kSmallIntegers : Values::kUsual, draw)}};
  call.arguments.push_back(DrawDims(call.arguments[0].tensor.sizes.size(), draw));
  call.arguments.push_back(draw.OneIn(3) ? Argument::None() : Argument::Int(draw.Below(3)));
  call.arguments.push_back(Argument::Bool(draw.OneIn(2)));
  return call;
}

OperatorCall Norm(std::string_view op, std::uint32_t dtype, Draw& draw) {
  OperatorCall call{std::string(op),
                    {DrawTensor(dtype, draw.Shape(), draw.OneIn(3) ? Values::kSmallIntegers : Values::kUsual, draw)}};
  call.arguments.push_back(
      draw.OneIn(4) ? Argument::None()
                    : draw.Of({Argument::Int(2), Argument::Int(1), Argument::Int(0), Argument::Float(3),
                               Argument::Float(std::numeric_limits<double>::infinity()), Argument::Float(1.5)}));
  call.arguments.push_back(List(DrawDims(call.arguments[0].tensor.sizes.size(), draw)));
  call.arguments.push_back(Argument::Bool(draw.OneIn(2)));
  return call;
}

OperatorCall CountNonzero(std::string_view op, std::uint32_t dtype, Draw& draw) {
  OperatorCall call{std::string(op), {DrawTensor(dtype, draw.Shape(), Values::kAny, draw)}};
  call.arguments.push_back(List(DrawDims(call.arguments[0].tensor.sizes.size(), draw)));
  return call;
}

}  // namespace

void AddReductionDrawers(Drawers& drawers) {
  for (const char* name : {"sum", "mean"}) {
    drawers[name] = Reduction(Takes::kNothing, false, true);
    drawers[name + std::string(name[0] == 's' ? ".dim_IntList" : ".dim")] = Reduction(Takes::kDimsOrNone, true, true);
  }
  drawers["prod"] = Product(Reduction(Takes::kNothing, false, true));
  drawers["prod.dim_int"] = Product(Reduction(Takes::kDim, true, true));
  drawers["cumsum"] = Reduction(Takes::kDim, false, true);
  drawers["cumprod"] = Product(Reduction(Takes::kDim, false, true));
  for (const char* name : {"max", "min", "any", "all"}) {
    drawers[name] = Reduction(Takes::kNothing, false, false);
    drawers[std::string(name) + ".dim"] = Reduction(Takes::kDim, true, false);
  }
  for (const char* name : {"amax", "amin", "logsumexp"}) drawers[name] = Reduction(Takes::kDims, true, false);
  for (const char* name : {"argmax", "argmin"}) drawers[name] = Reduction(Takes::kDimOrNone, true, false);
  drawers["count_nonzero.dim_IntList"] = &CountNonzero;
  drawers["var.correction"] = &Variance;
  drawers["std.correction"] = &Variance;
  drawers["norm.ScalarOpt_dim"] = &Norm;
}

}  // namespace plumbline::suites
