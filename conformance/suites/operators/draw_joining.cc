#include <string>
#include <utility>

#include "conformance/suites/operators/draw_arguments.h"

namespace plumbline::suites {
namespace {

constexpr std::int64_t kMost = 256;

OperatorCall Of(std::string_view op, std::uint32_t dtype, Draw& draw) {
  return {std::string(op), {DrawTensor(dtype, draw.Shape(kMost), Values::kAny, draw)}};
}

OperatorCall Join(std::string_view op, std::uint32_t dtype, Draw& draw, bool stack) {
  const Sizes sizes = draw.OneIn(30) ? Sizes{} : draw.ShapeOf(1 + static_cast<std::size_t>(draw.Below(3)), kMost);
  const Argument dim = DrawDim(sizes.size() + (stack ? 1 : 0), draw);
  std::vector<Argument> tensors;
  for (std::int64_t count = draw.OneIn(40) ? 0 : 1 + draw.Below(4); count > 0; --count) {
    Sizes other = sizes;
    const auto d = dim.integer < 0 ? dim.integer + static_cast<std::int64_t>(sizes.size()) : dim.integer;
    if (!stack && d >= 0 && d < static_cast<std::int64_t>(sizes.size()))
      other[static_cast<std::size_t>(d)] = draw.Below(5);
    if (!stack && draw.OneIn(12)) other = {0};
    if (!other.empty() && draw.OneIn(60)) other.back() += 1;
    tensors.push_back(DrawTensor(DrawDtypeLike(dtype, draw), other, Values::kAny, draw));
  }
  return {std::string(op), {Argument::List(std::move(tensors)), dim}};
}

OperatorCall Split(std::string_view op, std::uint32_t dtype, Draw& draw, bool sized) {
  OperatorCall call = Of(op, dtype, draw);
  const std::size_t dim = call.arguments[0].tensor.sizes.size();
  // Of a large dimension not hundreds of parts.
  if (sized)
    call.arguments.push_back(
        Argument::Int(draw.OneIn(40) ? draw.Below(2) - 1 : draw.Of<std::int64_t>({2, 3, 7, 16, 100, 300})));
  if (dim > 0 && !sized && op.find("unbind") != std::string_view::npos) {
    call.arguments[0] = DrawTensor(dtype, draw.ShapeOf(dim, 24), Values::kAny, draw);
  }
  call.arguments.push_back(DrawDim(dim, draw));
  return call;
}

OperatorCall Repeat(std::string_view op, std::uint32_t dtype, Draw& draw) {
  OperatorCall call{std::string(op), {DrawTensor(dtype, draw.Shape(64), Values::kAny, draw)}};
  Sizes repeats;
  for (std::size_t d = 0; d < call.arguments[0].tensor.sizes.size(); ++d)
    repeats.push_back(draw.Of<std::int64_t>({0, 1, 1, 2, 3}));
  if (draw.OneIn(3)) repeats.insert(repeats.begin(), 1 + draw.Below(3));
  if (!repeats.empty() && draw.OneIn(30)) repeats.pop_back();
  call.arguments.push_back(Argument::Ints(repeats));
  return call;
}

OperatorCall Flip(std::string_view op, std::uint32_t dtype, Draw& draw) {
  OperatorCall call = Of(op, dtype, draw);
  Argument dims = DrawDims(call.arguments[0].tensor.sizes.size(), draw);
  call.arguments.push_back(dims.kind == PL_NONE ? Argument::Ints({}) : std::move(dims));
  return call;
}

OperatorCall Pad(std::string_view op, std::uint32_t dtype, Draw& draw) {
  OperatorCall call = Of(op, dtype, draw);
  Sizes pad;
  const auto dim = static_cast<std::int64_t>(call.arguments[0].tensor.sizes.size());
  for (std::int64_t k = draw.Below(dim + 1); k > 0; --k) pad.insert(pad.end(), {draw.Below(5) - 1, draw.Below(5) - 1});
  call.arguments.push_back(Argument::Ints(pad));
  call.arguments.push_back(IsFloating(dtype) && draw.OneIn(2) ? Argument::Float(1.5) : Argument::Int(draw.Below(3)));
  return call;
}

}  // namespace

void AddJoiningDrawers(Drawers& drawers) {
  drawers["cat"] = [](auto op, auto dtype, Draw& draw) { return Join(op, dtype, draw, false); };
  drawers["stack"] = [](auto op, auto dtype, Draw& draw) { return Join(op, dtype, draw, true); };
  drawers["split.Tensor"] = [](auto op, auto dtype, Draw& draw) { return Split(op, dtype, draw, true); };
  drawers["chunk"] = [](auto op, auto dtype, Draw& draw) { return Split(op, dtype, draw, true); };
  drawers["unbind.int"] = [](auto op, auto dtype, Draw& draw) { return Split(op, dtype, draw, false); };
  drawers["repeat"] = &Repeat;
  drawers["flip"] = &Flip;
  drawers["constant_pad_nd"] = &Pad;
}

}  // namespace plumbline::suites
