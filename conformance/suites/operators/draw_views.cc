#include <algorithm>
#include <string>
#include <utility>

#include "conformance/suites/operators/draw_arguments.h"

namespace plumbline::suites {
namespace {

constexpr std::int64_t kMost = 256;  // elements: what is checked is where they lie

OperatorCall Of(std::string_view op, std::uint32_t dtype, Draw& draw) {
  return {std::string(op), {DrawTensor(dtype, draw.Shape(kMost), Values::kAny, draw)}};
}

// Other sizes for as many elements: runs of dimensions joined, or a dimension cut.
OperatorCall Reshape(std::string_view op, std::uint32_t dtype, Draw& draw) {
  OperatorCall call = Of(op, dtype, draw);
  const Sizes& from = call.arguments[0].tensor.sizes;
  Sizes sizes;
  for (const std::int64_t size : from) {
    if (!sizes.empty() && draw.OneIn(2)) {
      sizes.back() *= size;
    } else if (size % 2 == 0 && size > 0 && draw.OneIn(2)) {
      sizes.insert(sizes.end(), {2, size / 2});
    } else {
      sizes.push_back(size);
    }
  }
  if (draw.OneIn(4)) sizes.insert(sizes.begin() + draw.Below(static_cast<std::int64_t>(sizes.size()) + 1), 1);
  if (draw.OneIn(6)) std::reverse(sizes.begin(), sizes.end());
  const bool empty = call.arguments[0].tensor.numel() == 0;
  if (!sizes.empty() && !empty && draw.OneIn(3))
    sizes[static_cast<std::size_t>(draw.Below(static_cast<std::int64_t>(sizes.size())))] = -1;
  if (!sizes.empty() && draw.OneIn(30)) sizes.back() += 1;
  call.arguments.push_back(Argument::Ints(sizes));
  return call;
}

OperatorCall AsStrided(std::string_view op, std::uint32_t dtype, Draw& draw) {
  OperatorCall call = Of(op, dtype, draw);
  const std::int64_t elements = call.arguments[0].tensor.elements();
  Sizes sizes, strides;
  std::int64_t last = 0;
  for (std::int64_t d = draw.Below(4); d > 0; --d) {
    sizes.push_back(1 + draw.Below(4));
    strides.push_back(draw.Below(4));
    last += (sizes.back() - 1) * strides.back();
  }
  while (last >= elements && !sizes.empty() && !draw.OneIn(20)) {
    last -= (sizes.back() - 1) * strides.back();
    sizes.back() = 1;
    std::rotate(sizes.begin(), sizes.end() - 1, sizes.end());
    std::rotate(strides.begin(), strides.end() - 1, strides.end());
    if (std::all_of(sizes.begin(), sizes.end(), [](std::int64_t size) { return size == 1; })) break;
  }
  call.arguments.push_back(Argument::Ints(sizes));
  call.arguments.push_back(Argument::Ints(strides));
  call.arguments.push_back(draw.OneIn(2) ? Argument::Int(draw.Below(3)) : Argument::None());
  return call;
}

OperatorCall Expand(std::string_view op, std::uint32_t dtype, Draw& draw) {
  OperatorCall call = Of(op, dtype, draw);
  Sizes sizes = call.arguments[0].tensor.sizes;
  for (std::int64_t& size : sizes) {
    if (size == 1 && draw.OneIn(2))
      size = draw.Of<std::int64_t>({0, 2, 5});
    else if (draw.OneIn(4))
      size = -1;
    else if (draw.OneIn(60))
      size += 1;
  }
  if (draw.OneIn(3)) sizes.insert(sizes.begin(), draw.Of<std::int64_t>({1, 2, 3}));
  call.arguments.push_back(Argument::Ints(sizes));
  call.arguments.push_back(Argument::Bool(false));
  return call;
}

OperatorCall Permute(std::string_view op, std::uint32_t dtype, Draw& draw) {
  OperatorCall call = Of(op, dtype, draw);
  const auto dim = static_cast<std::int64_t>(call.arguments[0].tensor.sizes.size());
  Sizes dims;
  for (std::int64_t d = 0; d < dim; ++d) dims.insert(dims.begin() + draw.Below(d + 1), d);
  for (std::int64_t& d : dims) {
    if (draw.OneIn(3)) d -= dim;
    if (draw.OneIn(60)) d = 0;
  }
  call.arguments.push_back(Argument::Ints(dims));
  return call;
}

OperatorCall WithDims(std::string_view op, std::uint32_t dtype, Draw& draw, int count, std::size_t more = 0) {
  OperatorCall call = Of(op, dtype, draw);
  const std::size_t dim = call.arguments[0].tensor.sizes.size();
  for (int k = 0; k < count; ++k) call.arguments.push_back(DrawDim(dim + more, draw));
  return call;
}

OperatorCall Select(std::string_view op, std::uint32_t dtype, Draw& draw) {
  OperatorCall call = WithDims(op, dtype, draw, 1);
  const Sizes& sizes = call.arguments[0].tensor.sizes;
  const std::int64_t size = sizes.empty() ? 1 : *std::max_element(sizes.begin(), sizes.end());
  call.arguments.push_back(Argument::Int(draw.OneIn(2) ? draw.Below(2) - 1 : draw.Below(2 * size + 1) - size));
  return call;
}

OperatorCall Slice(std::string_view op, std::uint32_t dtype, Draw& draw) {
  OperatorCall call = WithDims(op, dtype, draw, 1);
  const auto bound = [&] { return draw.OneIn(4) ? Argument::None() : Argument::Int(draw.Below(20) - 6); };
  call.arguments.push_back(bound());
  call.arguments.push_back(draw.OneIn(6) ? Argument::Int(INT64_MAX) : bound());
  call.arguments.push_back(Argument::Int(draw.OneIn(30) ? 0 : 1 + draw.Below(3)));
  return call;
}

OperatorCall Diagonal(std::string_view op, std::uint32_t dtype, Draw& draw) {
  OperatorCall call{
      std::string(op),
      {DrawTensor(dtype, draw.ShapeOf(2 + static_cast<std::size_t>(draw.Below(2)), kMost), Values::kAny, draw)}};
  const std::size_t dim = call.arguments[0].tensor.sizes.size();
  call.arguments.push_back(Argument::Int(draw.Below(7) - 3));
  for (int k = 0; k < 2; ++k) call.arguments.push_back(draw.OneIn(2) ? Argument::Int(k) : DrawDim(dim, draw));
  return call;
}

Argument Format(Draw& draw) {  // contiguous or preserved
  return draw.OneIn(2) ? Argument::None() : Argument::Int(draw.Below(2));
}

OperatorCall CopyInto(std::string_view op, std::uint32_t dtype, Draw& draw) {
  HostTensor self = draw.Tensor(dtype, draw.Shape(kMost), Values::kUsual);
  Sizes other = draw.BroadcastsWith(self.sizes);
  if (!other.empty() && draw.OneIn(40)) other.back() += 2;
  return {std::string(op),
          {Argument::Of(std::move(self)), DrawTensor(DrawDtypeLike(dtype, draw), other, Values::kAny, draw),
           Argument::Bool(false)}};
}

}  // namespace

void AddViewDrawers(Drawers& drawers) {
  drawers["view"] = &Reshape;
  drawers["reshape"] = &Reshape;
  drawers["as_strided"] = &AsStrided;
  drawers["expand"] = &Expand;
  drawers["permute"] = &Permute;
  for (const char* name : {"squeeze", "t", "alias", "detach", "zero_"}) drawers[name] = &Of;
  drawers["transpose.int"] = [](auto op, auto dtype, Draw& draw) { return WithDims(op, dtype, draw, 2); };
  drawers["squeeze.dim"] = [](auto op, auto dtype, Draw& draw) { return WithDims(op, dtype, draw, 1); };
  drawers["unsqueeze"] = [](auto op, auto dtype, Draw& draw) { return WithDims(op, dtype, draw, 1, 1); };
  drawers["flatten.using_ints"] = [](auto op, auto dtype, Draw& draw) {
    OperatorCall call = WithDims(op, dtype, draw, 2);
    if (draw.OneIn(2)) call.arguments[1].integer = 0, call.arguments[2].integer = -1;
    return call;
  };
  drawers["select.int"] = &Select;
  drawers["slice.Tensor"] = &Slice;
  drawers["diagonal"] = &Diagonal;
  drawers["copy_"] = &CopyInto;
  drawers["fill_.Scalar"] = [](auto op, auto dtype, Draw& draw) {
    OperatorCall call = Of(op, dtype, draw);
    call.arguments.push_back(DrawScalar(draw));
    return call;
  };
  drawers["resize_"] = [](auto op, auto dtype, Draw& draw) {
    OperatorCall call = Of(op, dtype, draw);
    call.arguments.push_back(Argument::Ints(draw.OneIn(6) ? call.arguments[0].tensor.sizes : draw.Shape(kMost)));
    call.arguments.push_back(Argument::None());
    return call;
  };
  drawers["item"] = [](auto op, auto dtype, Draw& draw) {
    const Sizes sizes = draw.OneIn(8) ? draw.Shape(4) : draw.Of({Sizes{}, Sizes{1}, Sizes{1, 1}});
    return OperatorCall{std::string(op), {DrawTensor(dtype, sizes, Values::kAny, draw)}};
  };
  drawers["to.dtype"] = [](auto op, auto dtype, Draw& draw) {
    OperatorCall call = Of(op, dtype, draw);
    call.arguments.push_back(Argument::Int(draw.OneIn(4) ? dtype : DrawDtype(draw)));
    call.arguments.push_back(Argument::Bool(false));
    call.arguments.push_back(Argument::Bool(draw.OneIn(3)));
    call.arguments.push_back(Format(draw));
    return call;
  };
  drawers["_to_copy"] = [](auto op, auto dtype, Draw& draw) {
    OperatorCall call = Of(op, dtype, draw);
    call.arguments.push_back(draw.OneIn(4) ? Argument::None() : Argument::Int(DrawDtype(draw)));
    for (int k = 0; k < 3; ++k) call.arguments.push_back(Argument::None());
    call.arguments.push_back(Argument::Bool(false));
    call.arguments.push_back(Format(draw));
    return call;
  };
  drawers["clone"] = [](auto op, auto dtype, Draw& draw) {
    OperatorCall call = Of(op, dtype, draw);
    call.arguments.push_back(Format(draw));
    return call;
  };
  drawers["contiguous"] = [](auto op, auto dtype, Draw& draw) {
    OperatorCall call = Of(op, dtype, draw);
    call.arguments.push_back(Argument::Int(0));
    return call;
  };
}

}  // namespace plumbline::suites
