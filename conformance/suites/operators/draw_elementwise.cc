#include <string>
#include <utility>

#include "conformance/suites/operators/draw_arguments.h"
#include "conformance/suites/operators/oracle.h"

namespace plumbline::suites {
namespace {

OperatorCall Unary(std::string_view op, std::uint32_t dtype, Draw& draw) {
  return {std::string(op), {DrawTensor(dtype, draw.Shape(), Values::kAny, draw)}};
}

// Two that mostly broadcast, of which either may be the larger.
std::pair<HostTensor, HostTensor> Pair(std::uint32_t dtype, Draw& draw, Values values, Values others) {
  HostTensor a = draw.Tensor(dtype, draw.Shape(), values);
  Sizes other = draw.BroadcastsWith(a.sizes);
  if (!other.empty() && draw.OneIn(40)) other.back() += 2;
  HostTensor b = draw.Tensor(DrawDtypeLike(dtype, draw), other, others);
  return {std::move(a), std::move(b)};
}

OperatorCall Binary(std::string_view op, std::uint32_t dtype, Draw& draw) {
  const Values values = draw.OneIn(2) ? Values::kAny : Values::kUsual;
  auto [a, b] = Pair(dtype, draw, values, values);
  if (draw.OneIn(2)) std::swap(a, b);
  return {std::string(op), {Argument::Of(std::move(a)), Argument::Of(std::move(b))}};
}

// A divisor is rarely 0.
OperatorCall Division(std::string_view op, std::uint32_t dtype, Draw& draw) {
  const Values values = draw.OneIn(2) ? Values::kAny : Values::kUsual;
  auto [a, b] = Pair(dtype, draw, values, draw.OneIn(8) ? values : Values::kNonZero);
  return {std::string(op), {Argument::Of(std::move(a)), Argument::Of(std::move(b))}};
}

OperatorCall WithScalar(std::string_view op, std::uint32_t dtype, Draw& draw) {
  const Values values = draw.OneIn(2) ? Values::kAny : Values::kUsual;
  return {std::string(op), {DrawTensor(dtype, draw.Shape(), values, draw), DrawScalar(draw)}};
}

template <class F>
CallDrawer With(F draw_call, std::function<Argument(Draw&)> last) {
  return [=](std::string_view op, std::uint32_t dtype, Draw& draw) {
    OperatorCall call = draw_call(op, dtype, draw);
    call.arguments.push_back(last(draw));
    return call;
  };
}

Argument Alpha(Draw& draw) { return draw.OneIn(2) ? Argument::Int(1) : DrawScalar(draw); }

Argument SmallNumber(Draw& draw) {
  return draw.OneIn(2) ? Argument::Int(draw.Below(9) - 4)
                       : Argument::Float(static_cast<double>(draw.Value(PL_DTYPE_FLOAT64, Values::kUsual)));
}

OperatorCall Where(std::string_view op, std::uint32_t dtype, Draw& draw) {
  OperatorCall call = Binary(op, dtype, draw);
  Sizes sizes = draw.BroadcastsWith(call.arguments[0].tensor.sizes);
  call.arguments.insert(call.arguments.begin(), DrawTensor(PL_DTYPE_BOOL, sizes, Values::kAny, draw));
  return call;
}

OperatorCall Clamp(std::string_view op, std::uint32_t dtype, Draw& draw) {
  OperatorCall call = Unary(op, dtype, draw);
  const bool is_bool = dtype == PL_DTYPE_BOOL;  // which it is not defined for, whatever the bounds
  for (int k = 0; k < 2; ++k) {
    call.arguments.push_back(draw.OneIn(4) ? Argument::None() : is_bool ? Argument::Bool(true) : SmallNumber(draw));
  }
  return call;
}

OperatorCall Addc(std::string_view op, std::uint32_t dtype, Draw& draw) {
  const Values values = DrawValues(draw);
  OperatorCall call{std::string(op), {DrawTensor(dtype, draw.Shape(), values, draw)}};
  const Sizes sizes = call.arguments[0].tensor.sizes;
  for (int k = 0; k < 2; ++k) call.arguments.push_back(DrawTensor(dtype, draw.BroadcastsWith(sizes), values, draw));
  call.arguments.push_back(IsFloating(dtype) && draw.OneIn(2) ? SmallNumber(draw) : Argument::Int(draw.Below(5) - 1));
  return call;
}

OperatorCall Equal(std::string_view op, std::uint32_t dtype, Draw& draw) {
  HostTensor a = draw.Tensor(dtype, draw.Shape(), draw.OneIn(2) ? Values::kUsual : Values::kAny);
  HostTensor b = draw.Tensor(dtype, a.sizes, Values::kUsual);
  if (draw.OneIn(4)) b = draw.Tensor(dtype, draw.Shape(), Values::kUsual);
  if (!draw.OneIn(3) && a.sizes == b.sizes) {
    for (std::int64_t i = 0; i < a.numel(); ++i) b.Set(i, a.Get(i));
  }
  return {std::string(op), {Argument::Of(std::move(a)), Argument::Of(std::move(b))}};
}

OperatorCall Power(std::string_view op, std::uint32_t dtype, Draw& draw) {
  auto [a, b] = Pair(dtype, draw, draw.OneIn(2) ? Values::kAny : Values::kPositive, Values::kUsual);
  return {std::string(op), {Argument::Of(std::move(a)), Argument::Of(std::move(b))}};
}

}  // namespace

void AddElementwiseDrawers(Drawers& drawers) {
  for (const char* name :
       {"abs",    "neg",     "sign",        "floor",       "ceil",  "round", "trunc",   "relu", "exp",        "exp2",
        "expm1",  "log",     "log2",        "log10",       "log1p", "sqrt",  "rsqrt",   "sin",  "cos",        "tan",
        "asin",   "acos",    "atan",        "sinh",        "cosh",  "tanh",  "erf",     "erfc", "reciprocal", "silu",
        "square", "sigmoid", "logical_not", "bitwise_not", "isnan", "isinf", "isfinite"}) {
    drawers[name] = &Unary;
  }
  for (const char* name :
       {"mul", "div", "eq", "ne", "lt", "le", "gt", "ge", "bitwise_and", "bitwise_or", "bitwise_xor"}) {
    drawers[std::string(name) + ".Tensor"] = &Binary;
    drawers[std::string(name) + ".Scalar"] = &WithScalar;
  }
  for (const char* name : {"add", "sub"}) {
    drawers[std::string(name) + ".Tensor"] = With(&Binary, &Alpha);
    drawers[std::string(name) + ".Scalar"] = With(&WithScalar, &Alpha);
  }
  for (const char* name : {"maximum", "minimum", "atan2", "logical_and", "logical_or", "logical_xor"}) {
    drawers[name] = &Binary;
  }
  for (const char* name : {"fmod.Tensor", "remainder.Tensor", "floor_divide"}) drawers[name] = &Division;
  drawers["div.Tensor_mode"] = With(&Division, [](Draw& draw) {
    if (draw.OneIn(4)) return Argument::None();
    return Argument::Text(draw.OneIn(40) ? "round" : draw.OneIn(2) ? "floor" : "trunc");
  });
  drawers["pow.Tensor_Tensor"] = &Power;
  drawers["pow.Tensor_Scalar"] = With(&Unary, [](Draw& draw) {
    if (draw.OneIn(3)) return Argument::Float(draw.Of({0.5, -0.5, 2.0, 3.0, -1.0, -2.0, 0.0, 1.7}));
    return Argument::Int(draw.Below(8) - 2);
  });
  drawers["where.self"] = &Where;
  drawers["clamp"] = &Clamp;
  drawers["addcmul"] = &Addc;
  drawers["addcdiv"] = &Addc;
  drawers["equal"] = &Equal;
  drawers["leaky_relu"] = With(&Unary, [](Draw& draw) { return Argument::Float(draw.Of({0.01, 0.25, 0.0, 1.5})); });
  drawers["gelu"] = With(&Unary, [](Draw& draw) {
    return Argument::Text(draw.OneIn(40) ? "erf" : draw.OneIn(2) ? "tanh" : "none");
  });
}

}  // namespace plumbline::suites
