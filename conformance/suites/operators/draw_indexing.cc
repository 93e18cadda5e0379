#include <algorithm>
#include <string>
#include <utility>

#include "conformance/suites/operators/draw_arguments.h"
#include "conformance/suites/operators/oracle.h"

namespace plumbline::suites {
namespace {

constexpr std::int64_t kMost = 256;

// Indices below a size; rarely one out of range.
HostTensor Indices(const Sizes& sizes, std::int64_t below, Draw& draw, bool negative_too = false) {
  HostTensor index = draw.Tensor(PL_DTYPE_INT64, sizes, Values::kUsual);
  for (std::int64_t i = 0; i < index.elements(); ++i) index.SetAt(i, 0);
  for (std::int64_t i = 0; i < index.numel(); ++i) {
    std::int64_t value = draw.Below(std::max<std::int64_t>(below, 1));
    if (negative_too && draw.OneIn(3)) value -= below;
    index.Set(i, static_cast<long double>(value));
  }
  if (index.numel() > 0 && draw.OneIn(40)) {
    index.Set(draw.Below(index.numel()), static_cast<long double>(draw.OneIn(2) ? below : -below - 1));
  }
  return index;
}

struct SelfAndDim {
  HostTensor self;
  Argument dim;
  std::size_t d = 0;
  std::int64_t size = 1;
};
SelfAndDim Of(std::uint32_t dtype, Draw& draw, Values values = Values::kAny) {
  SelfAndDim of{draw.Tensor(dtype, draw.Shape(kMost), values), {}};
  of.dim = DrawDim(of.self.sizes.size(), draw);
  const auto dim = static_cast<std::int64_t>(of.self.sizes.size());
  const std::int64_t d = of.dim.integer < 0 ? of.dim.integer + dim : of.dim.integer;
  if (d >= 0 && d < dim) {
    of.d = static_cast<std::size_t>(d);
    of.size = of.self.sizes[of.d];
  }
  return of;
}

OperatorCall IndexSelect(std::string_view op, std::uint32_t dtype, Draw& draw) {
  SelfAndDim of = Of(dtype, draw);
  Sizes count{of.size == 0 ? 0 : of.self.sizes.empty() ? 1 : draw.Below(7)};
  if (count[0] == 1 && draw.OneIn(3)) count = {};
  HostTensor index = Indices(count, of.size, draw);
  return {std::string(op), {Argument::Of(std::move(of.self)), of.dim, Argument::Of(std::move(index))}};
}

// No larger than self, but in the dimension.
Sizes Smaller(const SelfAndDim& of, Draw& draw, bool any_at_dim) {
  Sizes sizes = of.self.sizes;
  for (std::int64_t& size : sizes) {
    if (size > 0 && draw.OneIn(3)) size = 1 + draw.Below(size);
  }
  if (!sizes.empty() && any_at_dim) sizes[of.d] = of.size == 0 ? 0 : draw.Below(6);
  if (of.size == 0 && !sizes.empty()) sizes[of.d] = 0;
  return sizes;
}

OperatorCall Gather(std::string_view op, std::uint32_t dtype, Draw& draw) {
  SelfAndDim of = Of(dtype, draw);
  HostTensor index = Indices(Smaller(of, draw, true), of.size, draw);
  return {std::string(op),
          {Argument::Of(std::move(of.self)), of.dim, Argument::Of(std::move(index)), Argument::Bool(false)}};
}

OperatorCall Scatter(std::string_view op, std::uint32_t dtype, Draw& draw, bool value) {
  const Values values = DrawValues(draw);
  SelfAndDim of = Of(dtype, draw, values);
  const Sizes sizes = Smaller(of, draw, true);
  HostTensor index = Indices(sizes, of.size, draw);
  Argument source;
  if (value) {
    source = IsFloating(dtype) ? Argument::Float(1.5) : Argument::Int(draw.Below(2));
  } else {
    Sizes larger = sizes;
    if (!larger.empty() && draw.OneIn(3)) larger.back() += 1;
    source = DrawTensor(draw.OneIn(40) ? DrawDtype(draw) : dtype, larger, values, draw);
  }
  return {std::string(op),
          {Argument::Of(std::move(of.self)), of.dim, Argument::Of(std::move(index)), std::move(source)}};
}

OperatorCall IndexAdd(std::string_view op, std::uint32_t dtype, Draw& draw) {
  const Values values = draw.OneIn(2) ? Values::kSmallIntegers : Values::kUsual;
  SelfAndDim of = Of(dtype, draw, values);
  Sizes sizes = of.self.sizes;
  const std::int64_t count = of.self.sizes.empty() ? 1 : of.size == 0 ? 0 : draw.Below(6);
  if (!sizes.empty()) sizes[of.d] = count;
  HostTensor index = Indices({count}, of.size, draw);
  Argument source = DrawTensor(draw.OneIn(40) ? DrawDtype(draw) : dtype, sizes, values, draw);
  const Argument alpha = draw.OneIn(2) || dtype == PL_DTYPE_BOOL ? Argument::Int(1) : Argument::Int(draw.Below(5) - 1);
  return {std::string(op),
          {Argument::Of(std::move(of.self)), of.dim, Argument::Of(std::move(index)), std::move(source), alpha}};
}

OperatorCall Masked(std::string_view op, std::uint32_t dtype, Draw& draw, bool fill) {
  HostTensor self = draw.Tensor(dtype, draw.Shape(kMost), Values::kAny);
  HostTensor mask = draw.Tensor(PL_DTYPE_BOOL, draw.BroadcastsWith(self.sizes), Values::kAny);
  OperatorCall call{std::string(op), {Argument::Of(std::move(self)), Argument::Of(std::move(mask))}};
  if (fill)
    call.arguments.push_back(IsFloating(dtype) && draw.OneIn(2) ? Argument::Float(-2.5) : Argument::Int(draw.Below(2)));
  return call;
}

OperatorCall Embedding(std::string_view op, std::uint32_t dtype, Draw& draw) {
  const std::int64_t rows = 1 + draw.Below(9);
  HostTensor weight = draw.Tensor(dtype, {rows, draw.Below(8)}, Values::kAny);
  HostTensor indices = Indices(draw.Shape(32), rows, draw);
  return {std::string(op),
          {Argument::Of(std::move(weight)), Argument::Of(std::move(indices)), Argument::Int(-1), Argument::Bool(false),
           Argument::Bool(false)}};
}

OperatorCall Triangle(std::string_view op, std::uint32_t dtype, Draw& draw) {
  const std::size_t dim = draw.OneIn(30) ? 1 : 2 + static_cast<std::size_t>(draw.Below(2));
  return {std::string(op),
          {DrawTensor(dtype, draw.ShapeOf(dim, kMost), Values::kAny, draw), Argument::Int(draw.Below(7) - 3)}};
}

OperatorCall Sort(std::string_view op, std::uint32_t dtype, Draw& draw) {
  SelfAndDim of = Of(dtype, draw, draw.OneIn(2) ? Values::kAny : Values::kSmallIntegers);
  return {std::string(op),
          {Argument::Of(std::move(of.self)), Argument::Bool(draw.OneIn(2)), of.dim, Argument::Bool(draw.OneIn(2))}};
}

OperatorCall Topk(std::string_view op, std::uint32_t dtype, Draw& draw) {
  SelfAndDim of = Of(dtype, draw, draw.OneIn(2) ? Values::kAny : Values::kSmallIntegers);
  const std::int64_t k = draw.Below(of.size + 1) + (draw.OneIn(40) ? 1 : 0);
  return {std::string(op),
          {Argument::Of(std::move(of.self)), Argument::Int(k), of.dim, Argument::Bool(draw.OneIn(2)),
           Argument::Bool(draw.OneIn(2))}};
}

// Some dimensions with indices that broadcast, some absent, now and then a mask.
std::vector<Argument> IndexList(const HostTensor& self, Draw& draw) {
  std::vector<Argument> indices;
  const Sizes common = draw.ShapeOf(1 + static_cast<std::size_t>(draw.Below(2)), 8);
  for (std::size_t d = 0; d < self.sizes.size(); ++d) {
    if (draw.OneIn(3)) {
      indices.push_back(Argument::None());
    } else if (draw.OneIn(8)) {
      indices.push_back(DrawTensor(PL_DTYPE_BOOL, {self.sizes[d]}, Values::kAny, draw));
    } else {
      const Sizes sizes = self.sizes[d] == 0 ? Sizes{0} : draw.BroadcastsWith(common);
      indices.push_back(Argument::Of(Indices(sizes, self.sizes[d], draw, true)));
    }
  }
  // One at least is there.
  const bool none =
      std::all_of(indices.begin(), indices.end(), [](const Argument& one) { return one.kind == PL_NONE; });
  if (none) indices[0] = Argument::Of(Indices(self.sizes[0] == 0 ? Sizes{0} : common, self.sizes[0], draw, true));
  while (indices.size() > 1 && indices.back().kind == PL_NONE && draw.OneIn(2)) indices.pop_back();
  return indices;
}

OperatorCall Index(std::string_view op, std::uint32_t dtype, Draw& draw) {
  HostTensor self = draw.Tensor(dtype, draw.ShapeOf(1 + static_cast<std::size_t>(draw.Below(3)), kMost), Values::kAny);
  std::vector<Argument> indices = IndexList(self, draw);
  return {std::string(op), {Argument::Of(std::move(self)), Argument::List(std::move(indices))}};
}

OperatorCall IndexPut(std::string_view op, std::uint32_t dtype, Draw& draw) {
  OperatorCall call = Index(op, dtype, draw);
  // Of the sizes that the same indices select; of some of them, expanded.
  Sizes sizes{};
  if (const Oracle* index = OracleFor("index.Tensor")) {
    const Expected selected = (*index)({"index.Tensor", call.arguments});
    if (!selected.refused()) sizes = draw.BroadcastsWith(selected.tensors[0].sizes);
  }
  call.arguments.push_back(DrawTensor(draw.OneIn(40) ? DrawDtype(draw) : dtype, sizes, DrawValues(draw), draw));
  call.arguments.push_back(Argument::Bool(draw.OneIn(2)));
  return call;
}

OperatorCall Nonzero(std::string_view op, std::uint32_t dtype, Draw& draw) {
  return {std::string(op),
          {DrawTensor(dtype, draw.Shape(kMost), draw.OneIn(2) ? Values::kAny : Values::kSmallIntegers, draw)}};
}

}  // namespace

void AddIndexingDrawers(Drawers& drawers) {
  drawers["index.Tensor"] = &Index;
  drawers["index_put"] = &IndexPut;
  drawers["index_select"] = &IndexSelect;
  drawers["gather"] = &Gather;
  drawers["scatter.src"] = [](auto op, auto dtype, Draw& draw) { return Scatter(op, dtype, draw, false); };
  drawers["scatter.value"] = [](auto op, auto dtype, Draw& draw) { return Scatter(op, dtype, draw, true); };
  drawers["scatter_add"] = [](auto op, auto dtype, Draw& draw) { return Scatter(op, dtype, draw, false); };
  drawers["index_add"] = &IndexAdd;
  drawers["masked_fill.Scalar"] = [](auto op, auto dtype, Draw& draw) { return Masked(op, dtype, draw, true); };
  drawers["masked_select"] = [](auto op, auto dtype, Draw& draw) { return Masked(op, dtype, draw, false); };
  drawers["embedding"] = &Embedding;
  drawers["nonzero"] = &Nonzero;
  drawers["tril"] = &Triangle;
  drawers["triu"] = &Triangle;
  drawers["sort.stable"] = &Sort;
  drawers["topk"] = &Topk;
}

}  // namespace plumbline::suites
