#include <string>
#include <utility>

#include "conformance/suites/operators/draw_arguments.h"

namespace plumbline::suites {
namespace {

std::int64_t Size(Draw& draw) { return draw.OneIn(16) ? 0 : draw.Of<std::int64_t>({1, 2, 3, 5, 8, 13, 17, 33}); }
Values Of(Draw& draw) { return draw.OneIn(2) ? Values::kSmallIntegers : Values::kUsual; }
std::uint32_t Same(std::uint32_t dtype, Draw& draw) { return draw.OneIn(40) ? DrawDtype(draw) : dtype; }

OperatorCall Product(std::string_view op, std::uint32_t dtype, Draw& draw, bool batch) {
  const Values values = Of(draw);
  const std::int64_t m = Size(draw), k = Size(draw), n = Size(draw);
  Sizes a{m, k}, b{draw.OneIn(40) ? k + 1 : k, n};
  if (batch) {
    const std::int64_t batches = draw.Of<std::int64_t>({0, 1, 2, 3});
    a.insert(a.begin(), batches);
    b.insert(b.begin(), draw.OneIn(40) ? batches + 1 : batches);
  }
  if (draw.OneIn(40)) a.push_back(1);
  return {std::string(op), {DrawTensor(dtype, a, values, draw), DrawTensor(Same(dtype, draw), b, values, draw)}};
}

OperatorCall Adding(std::string_view op, std::uint32_t dtype, Draw& draw, bool batch) {
  OperatorCall call = Product(op, dtype, draw, batch);
  const Sizes &a = call.arguments[0].tensor.sizes, &b = call.arguments[1].tensor.sizes;
  Sizes sizes = batch ? Sizes{a[0], a[1], b.back()} : Sizes{a[0], b.back()};
  const bool poisoned = draw.OneIn(4) && IsFloating(dtype);
  Argument self = DrawTensor(Same(dtype, draw), draw.BroadcastsWith(sizes), poisoned ? Values::kAny : Of(draw), draw);
  call.arguments.insert(call.arguments.begin(), std::move(self));
  const auto factor = [&] {
    return IsFloating(dtype) && draw.OneIn(3) ? Argument::Float(draw.Of({0.5, 1.25, -2.0}))
                                              : Argument::Int(draw.Below(4) - 1);
  };
  call.arguments.push_back(poisoned ? Argument::Int(0) : factor());
  call.arguments.push_back(draw.OneIn(2) ? Argument::Int(1) : factor());
  return call;
}

OperatorCall MatrixVector(std::string_view op, std::uint32_t dtype, Draw& draw) {
  const std::int64_t m = Size(draw), k = Size(draw);
  const Values values = Of(draw);
  return {std::string(op),
          {DrawTensor(dtype, {m, k}, values, draw),
           DrawTensor(Same(dtype, draw), {draw.OneIn(40) ? k + 1 : k}, values, draw)}};
}

OperatorCall Vectors(std::string_view op, std::uint32_t dtype, Draw& draw, bool any) {
  const std::int64_t k = Size(draw), n = any ? Size(draw) : draw.OneIn(40) ? k + 1 : k;
  const Values values = Of(draw);
  return {std::string(op), {DrawTensor(dtype, {k}, values, draw), DrawTensor(Same(dtype, draw), {n}, values, draw)}};
}

OperatorCall Matmul(std::string_view op, std::uint32_t dtype, Draw& draw) {
  const Values values = Of(draw);
  const auto size = [&] { return draw.OneIn(20) ? 0 : draw.Of<std::int64_t>({1, 2, 3, 5, 7, 16}); };
  const std::int64_t k = size();
  Sizes a{k}, b{draw.OneIn(40) ? k + 1 : k};
  if (!draw.OneIn(4)) a.insert(a.begin(), size());
  if (!draw.OneIn(4)) b.push_back(size());
  Sizes batch;
  for (std::int64_t d = draw.Below(3); d > 0; --d) batch.push_back(draw.Of<std::int64_t>({1, 2, 3}));
  if (a.size() == 2 && draw.OneIn(2)) a.insert(a.begin(), batch.begin(), batch.end());
  if (b.size() == 2 && draw.OneIn(2)) {
    const Sizes other = draw.BroadcastsWith(batch);
    b.insert(b.begin(), other.begin(), other.end());
  }
  return {std::string(op), {DrawTensor(dtype, a, values, draw), DrawTensor(Same(dtype, draw), b, values, draw)}};
}

OperatorCall Linear(std::string_view op, std::uint32_t dtype, Draw& draw) {
  const Values values = Of(draw);
  const std::int64_t k = Size(draw), n = Size(draw);
  Sizes input{draw.OneIn(40) ? k + 1 : k};
  for (std::int64_t d = draw.Below(3); d > 0; --d) input.insert(input.begin(), draw.Of<std::int64_t>({1, 2, 5, 7}));
  OperatorCall call{std::string(op),
                    {DrawTensor(dtype, input, values, draw), DrawTensor(Same(dtype, draw), {n, k}, values, draw)}};
  call.arguments.push_back(draw.OneIn(3) ? Argument::None() : DrawTensor(dtype, {n}, values, draw));
  return call;
}

}  // namespace

void AddMatrixDrawers(Drawers& drawers) {
  for (const bool batch : {false, true}) {
    drawers[batch ? "bmm" : "mm"] = [batch](auto op, auto dtype, Draw& draw) {
      return Product(op, dtype, draw, batch);
    };
    drawers[batch ? "baddbmm" : "addmm"] = [batch](auto op, auto dtype, Draw& draw) {
      OperatorCall call = Adding(op, dtype, draw, batch);
      return call;
    };
  }
  drawers["mv"] = &MatrixVector;
  drawers["dot"] = [](auto op, auto dtype, Draw& draw) { return Vectors(op, dtype, draw, false); };
  drawers["outer"] = [](auto op, auto dtype, Draw& draw) { return Vectors(op, dtype, draw, true); };
  drawers["matmul"] = &Matmul;
  drawers["linear"] = &Linear;
}

}  // namespace plumbline::suites
