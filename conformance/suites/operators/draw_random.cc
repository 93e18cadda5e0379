#include <string>
#include <utility>

#include "conformance/suites/operators/draw_arguments.h"

namespace plumbline::suites {
namespace {

void Options(OperatorCall& call, Argument dtype) {
  call.arguments.push_back(std::move(dtype));
  call.arguments.push_back(Argument::None());
  call.arguments.push_back(Argument::Text(std::string(kThisDevice)));
  call.arguments.push_back(Argument::None());
}

OperatorCall Factory(std::string_view op, std::uint32_t dtype, Draw& draw) {
  OperatorCall call{std::string(op), {Argument::Ints(draw.Shape(256))}};
  Options(call, IsFloating(dtype) && draw.OneIn(4) ? Argument::None() : Argument::Int(dtype));
  return call;
}

OperatorCall Integers(std::string_view op, std::uint32_t dtype, Draw& draw) {
  if (dtype == PL_DTYPE_BOOL) dtype = PL_DTYPE_INT64;
  const std::int64_t low = dtype == PL_DTYPE_UINT8 ? draw.Below(3) : draw.Below(9) - 4;
  OperatorCall call{std::string(op),
                    {Argument::Int(low), Argument::Int(low + (draw.OneIn(30) ? 0 : 1 + draw.Below(9))),
                     Argument::Ints(draw.Shape(256))}};
  Options(call, Argument::Int(dtype));
  return call;
}

CallDrawer InPlace(int numbers) {
  return [=](std::string_view op, std::uint32_t dtype, Draw& draw) {
    OperatorCall call{std::string(op), {DrawTensor(dtype, draw.Shape(256), Values::kUsual, draw)}};
    const bool wrong = draw.OneIn(40);
    if (numbers == 1) {
      call.arguments.push_back(Argument::Float(wrong ? 1.5 : draw.Of({0.0, 0.25, 1.0})));
    } else {
      call.arguments.push_back(Argument::Float(draw.Of({0.0, -1.0, 0.5})));
      call.arguments.push_back(Argument::Float(wrong ? -3.0 : draw.Of({1.0, 2.0})));
    }
    call.arguments.push_back(Argument::None());
    return call;
  };
}

OperatorCall Dropout(std::string_view op, std::uint32_t dtype, Draw& draw) {
  return {std::string(op),
          {DrawTensor(dtype, draw.Shape(256), Values::kUsual, draw),
           Argument::Float(draw.OneIn(40) ? 1.5 : draw.Of({0.0, 0.25, 0.5})), Argument::Bool(draw.OneIn(2))}};
}

}  // namespace

void AddRandomDrawers(Drawers& drawers) {
  drawers["rand"] = &Factory;
  drawers["randn"] = &Factory;
  drawers["randint.low"] = &Integers;
  drawers["uniform_"] = InPlace(2);
  drawers["normal_"] = InPlace(2);
  drawers["bernoulli_.float"] = InPlace(1);
  drawers["native_dropout"] = &Dropout;
  drawers["dropout"] = &Dropout;
}

}  // namespace plumbline::suites
