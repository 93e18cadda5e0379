#include <algorithm>
#include <string>
#include <utility>

#include "conformance/suites/operators/draw_arguments.h"

namespace plumbline::suites {
namespace {

Values Of(Draw& draw) { return draw.OneIn(3) ? Values::kSmallIntegers : Values::kUsual; }

OperatorCall Softmax(std::string_view op, std::uint32_t dtype, Draw& draw, bool native) {
  const Values values = draw.OneIn(6) ? Values::kAny : Of(draw);
  OperatorCall call{std::string(op), {DrawTensor(dtype, draw.Shape(1024), values, draw)}};
  call.arguments.push_back(DrawDim(call.arguments[0].tensor.sizes.size(), draw));
  if (native) {
    call.arguments.push_back(Argument::Bool(draw.OneIn(40)));
  } else {
    call.arguments.push_back(draw.OneIn(3) ? Argument::Int(DrawFloating(draw)) : Argument::None());
  }
  return call;
}

OperatorCall LayerNorm(std::string_view op, std::uint32_t dtype, Draw& draw, bool native) {
  const Sizes sizes = draw.ShapeOf(1 + static_cast<std::size_t>(draw.Below(3)), 1024);
  const auto dim = static_cast<std::int64_t>(sizes.size());
  Sizes shape(sizes.begin() + draw.Below(dim), sizes.end());
  OperatorCall call{std::string(op), {DrawTensor(dtype, sizes, Values::kUsual, draw)}};
  const auto factor = [&] { return draw.OneIn(3) ? Argument::None() : DrawTensor(dtype, shape, Values::kUsual, draw); };
  Argument weight = factor(), bias = factor();
  if (draw.OneIn(40)) shape.back() += 1;
  call.arguments.push_back(Argument::Ints(shape));
  call.arguments.push_back(std::move(weight));
  call.arguments.push_back(std::move(bias));
  call.arguments.push_back(Argument::Float(1e-5));
  if (!native) call.arguments.push_back(Argument::Bool(true));
  return call;
}

OperatorCall BatchNorm(std::string_view op, std::uint32_t dtype, Draw& draw, bool native) {
  const std::int64_t channels = draw.Of<std::int64_t>({1, 2, 3, 5, 8});
  Sizes sizes{2 + draw.Below(5), channels};
  for (std::int64_t d = draw.Below(3); d > 0; --d) sizes.push_back(1 + draw.Below(6));
  const bool training = draw.OneIn(2), running = !training || draw.OneIn(2);
  OperatorCall call{std::string(op), {DrawTensor(dtype, sizes, Values::kUsual, draw)}};
  const auto each = [&](Values values) { return Argument::Of(draw.Contiguous(dtype, {channels}, values)); };
  call.arguments.push_back(draw.OneIn(3) ? Argument::None() : each(Values::kUsual));
  call.arguments.push_back(draw.OneIn(3) ? Argument::None() : each(Values::kUsual));
  call.arguments.push_back(running ? each(Values::kUsual) : Argument::None());
  call.arguments.push_back(running ? each(Values::kPositive) : Argument::None());
  call.arguments.push_back(Argument::Bool(training));
  call.arguments.push_back(Argument::Float(0.25));
  call.arguments.push_back(Argument::Float(1e-5));
  if (!native) call.arguments.push_back(Argument::Bool(false));
  return call;
}

OperatorCall Conv(std::string_view op, std::uint32_t dtype, Draw& draw, std::size_t spatial, bool full) {
  const Values values = Of(draw);
  const std::int64_t groups = draw.Of<std::int64_t>({1, 1, 2});
  const std::int64_t in = groups * (1 + draw.Below(3)), out = groups * (1 + draw.Below(3));
  const bool transposed = full && draw.OneIn(2);
  Sizes input{1 + draw.Below(2), draw.OneIn(40) ? in + 1 : in};
  Sizes weight = transposed ? Sizes{in, out / groups} : Sizes{out, in / groups};
  Sizes stride, padding, dilation, output_padding;
  for (std::size_t d = 0; d < spatial; ++d) {
    input.push_back(draw.OneIn(30) ? 1 : 4 + draw.Below(5));
    weight.push_back(1 + draw.Below(3));
    stride.push_back(1 + draw.Below(2));
    padding.push_back(draw.Below(2));
    dilation.push_back(1 + draw.Below(2));
    output_padding.push_back(transposed ? draw.Below(std::max(stride.back(), dilation.back())) : 0);
  }
  if (!full && draw.OneIn(6)) input.erase(input.begin());
  OperatorCall call{std::string(op), {DrawTensor(dtype, input, values, draw), DrawTensor(dtype, weight, values, draw)}};
  call.arguments.push_back(draw.OneIn(3) ? Argument::None() : DrawTensor(dtype, {out}, values, draw));
  for (const Sizes* sizes : {&stride, &padding, &dilation}) call.arguments.push_back(Argument::Ints(*sizes));
  if (full) {
    call.arguments.push_back(Argument::Bool(transposed));
    call.arguments.push_back(Argument::Ints(output_padding));
  }
  call.arguments.push_back(Argument::Int(groups));
  return call;
}

OperatorCall Pool(std::string_view op, std::uint32_t dtype, Draw& draw, bool max) {
  Sizes sizes{1 + draw.Below(2), 1 + draw.Below(3), 2 + draw.Below(8), 2 + draw.Below(8)};
  if (draw.OneIn(4)) sizes.erase(sizes.begin());
  OperatorCall call{std::string(op), {DrawTensor(dtype, sizes, max ? Values::kAny : Of(draw), draw)}};
  Sizes kernel, stride, padding, dilation;
  for (int d = 0; d < 2; ++d) {
    kernel.push_back(1 + draw.Below(3));
    stride.push_back(1 + draw.Below(3));
    padding.push_back(draw.OneIn(40) ? kernel.back() : draw.Below(kernel.back() / 2 + 1));
    dilation.push_back(1 + draw.Below(2));
  }
  call.arguments.push_back(Argument::Ints(kernel));
  call.arguments.push_back(Argument::Ints(draw.OneIn(3) ? Sizes{} : stride));
  call.arguments.push_back(Argument::Ints(padding));
  if (max) call.arguments.push_back(Argument::Ints(dilation));
  call.arguments.push_back(Argument::Bool(draw.OneIn(2)));
  if (!max) {
    call.arguments.push_back(Argument::Bool(draw.OneIn(2)));
    call.arguments.push_back(draw.OneIn(4) ? Argument::Int(draw.OneIn(8) ? 0 : 1 + draw.Below(5)) : Argument::None());
  }
  return call;
}

OperatorCall AdaptivePool(std::string_view op, std::uint32_t dtype, Draw& draw) {
  Sizes sizes{1 + draw.Below(2), 1 + draw.Below(3), 1 + draw.Below(9), 1 + draw.Below(9)};
  if (draw.OneIn(4)) sizes.erase(sizes.begin());
  return {std::string(op),
          {DrawTensor(dtype, sizes, Of(draw), draw), Argument::Ints({1 + draw.Below(5), 1 + draw.Below(5)})}};
}

Argument Reduction(Draw& draw) { return Argument::Int(draw.Below(3)); }

OperatorCall Pairwise(std::string_view op, std::uint32_t dtype, Draw& draw, bool beta) {
  const Values values = Of(draw);
  HostTensor self = draw.Tensor(dtype, draw.Shape(512), values);
  HostTensor target = draw.Tensor(dtype, self.sizes, values);
  OperatorCall call{std::string(op), {Argument::Of(std::move(self)), Argument::Of(std::move(target)), Reduction(draw)}};
  if (beta) call.arguments.push_back(Argument::Float(draw.OneIn(30) ? -1.0 : draw.Of({0.0, 0.5, 1.0, 2.0})));
  return call;
}

// Probabilities, mostly.
HostTensor Shares(std::uint32_t dtype, const Sizes& sizes, Draw& draw, bool all) {
  HostTensor tensor = draw.Tensor(dtype, sizes, Values::kPositive);
  for (std::int64_t i = 0; IsFloating(dtype) && i < tensor.numel(); ++i) {
    tensor.Set(i, draw.OneIn(8) ? draw.Of({0.0L, 1.0L}) : RoundTo(dtype, draw.Unit()));
  }
  if (!all && tensor.numel() > 0 && draw.OneIn(40)) tensor.Set(0, 2);
  return tensor;
}

OperatorCall OfShares(std::string_view op, std::uint32_t dtype, Draw& draw, bool logits) {
  const Sizes sizes = draw.Shape(512);
  OperatorCall call{std::string(op), {}};
  call.arguments.push_back(logits ? DrawTensor(dtype, sizes, Values::kUsual, draw)
                                  : Argument::Of(Shares(dtype, sizes, draw, false)));
  call.arguments.push_back(Argument::Of(Shares(dtype, sizes, draw, true)));
  for (int k = logits ? 2 : 1; k > 0; --k) {
    call.arguments.push_back(draw.OneIn(2) ? Argument::None() : DrawTensor(dtype, sizes, Values::kPositive, draw));
  }
  call.arguments.push_back(Reduction(draw));
  return call;
}

OperatorCall OfClasses(std::string_view op, std::uint32_t dtype, Draw& draw, bool smoothing) {
  const std::int64_t rows = draw.Of<std::int64_t>({0, 1, 2, 5, 17}), classes = draw.Of<std::int64_t>({1, 2, 3, 10});
  const bool one = !smoothing && draw.OneIn(6), probabilities = smoothing && IsFloating(dtype) && draw.OneIn(4);
  HostTensor self = draw.Tensor(dtype, one ? Sizes{classes} : Sizes{rows, classes}, Values::kUsual);
  HostTensor target = probabilities ? Shares(dtype, self.sizes, draw, true)
                                    : draw.Contiguous(PL_DTYPE_INT64, one ? Sizes{} : Sizes{rows}, Values::kUsual);
  const std::int64_t ignored = draw.OneIn(3) ? 1 : -100;
  for (std::int64_t i = 0; !probabilities && i < target.numel(); ++i) {
    target.Set(i, static_cast<long double>(draw.OneIn(200) ? classes : draw.Below(classes)));
  }
  OperatorCall call{std::string(op), {Argument::Of(std::move(self)), Argument::Of(std::move(target))}};
  call.arguments.push_back(draw.OneIn(2) ? Argument::None() : DrawTensor(dtype, {classes}, Values::kPositive, draw));
  call.arguments.push_back(Reduction(draw));
  call.arguments.push_back(Argument::Int(ignored));
  // With smoothing and weights the mean is divided by the weights; without them by the rows.
  if (smoothing) call.arguments.push_back(Argument::Float(draw.OneIn(2) ? 0.0 : 0.25));
  return call;
}

}  // namespace

void AddLayerDrawers(Drawers& drawers) {
  for (const char* name : {"softmax.int", "log_softmax.int"}) {
    drawers[name] = [](auto op, auto dtype, Draw& draw) { return Softmax(op, dtype, draw, false); };
  }
  for (const char* name : {"_softmax", "_log_softmax"}) {
    drawers[name] = [](auto op, auto dtype, Draw& draw) { return Softmax(op, dtype, draw, true); };
  }
  for (const bool native : {false, true}) {
    const std::string prefix = native ? "native_" : "";
    drawers[prefix + "layer_norm"] = [native](auto op, auto dtype, Draw& draw) {
      return LayerNorm(op, dtype, draw, native);
    };
    drawers[prefix + "batch_norm"] = [native](auto op, auto dtype, Draw& draw) {
      return BatchNorm(op, dtype, draw, native);
    };
  }
  drawers["conv1d"] = [](auto op, auto dtype, Draw& draw) { return Conv(op, dtype, draw, 1, false); };
  drawers["conv2d"] = [](auto op, auto dtype, Draw& draw) { return Conv(op, dtype, draw, 2, false); };
  drawers["convolution"] = [](auto op, auto dtype, Draw& draw) { return Conv(op, dtype, draw, 2, true); };
  for (const char* name : {"max_pool2d", "max_pool2d_with_indices"}) {
    drawers[name] = [](auto op, auto dtype, Draw& draw) { return Pool(op, dtype, draw, true); };
  }
  drawers["avg_pool2d"] = [](auto op, auto dtype, Draw& draw) { return Pool(op, dtype, draw, false); };
  drawers["adaptive_avg_pool2d"] = &AdaptivePool;
  drawers["_adaptive_avg_pool2d"] = &AdaptivePool;
  drawers["mse_loss"] = [](auto op, auto dtype, Draw& draw) { return Pairwise(op, dtype, draw, false); };
  drawers["l1_loss"] = [](auto op, auto dtype, Draw& draw) { return Pairwise(op, dtype, draw, false); };
  drawers["smooth_l1_loss"] = [](auto op, auto dtype, Draw& draw) { return Pairwise(op, dtype, draw, true); };
  drawers["binary_cross_entropy"] = [](auto op, auto dtype, Draw& draw) { return OfShares(op, dtype, draw, false); };
  drawers["binary_cross_entropy_with_logits"] = [](auto op, auto dtype, Draw& draw) {
    return OfShares(op, dtype, draw, true);
  };
  for (const char* name : {"nll_loss", "nll_loss_forward"}) {
    drawers[name] = [](auto op, auto dtype, Draw& draw) { return OfClasses(op, dtype, draw, false); };
  }
  drawers["cross_entropy_loss"] = [](auto op, auto dtype, Draw& draw) { return OfClasses(op, dtype, draw, true); };
}

}  // namespace plumbline::suites
