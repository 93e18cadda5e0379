#include <string>
#include <utility>

#include "conformance/suites/operators/draw_arguments.h"

namespace plumbline::suites {
namespace {

// dtype, layout, device, pin_memory, and a memory format where there is one.
void Options(OperatorCall& call, Argument dtype, bool format, bool of_tensor = false) {
  call.arguments.push_back(std::move(dtype));
  call.arguments.push_back(Argument::None());
  call.arguments.push_back(of_tensor ? Argument::None() : Argument::Text(std::string(kThisDevice)));
  call.arguments.push_back(Argument::None());
  if (format) call.arguments.push_back(Argument::None());
}

Argument Given(std::uint32_t dtype, Draw& draw) { return draw.OneIn(5) ? Argument::None() : Argument::Int(dtype); }

Argument Size(Draw& draw) {
  Sizes sizes = draw.Shape(256);
  if (!sizes.empty() && draw.OneIn(40)) sizes.back() = -1;
  return Argument::Ints(sizes);
}

CallDrawer OfSize(bool value, bool format) {
  return [=](std::string_view op, std::uint32_t dtype, Draw& draw) {
    OperatorCall call{std::string(op), {Size(draw)}};
    if (value)
      call.arguments.push_back(IsFloating(dtype) && draw.OneIn(2) ? Argument::Float(2.75)
                                                                  : Argument::Int(draw.Below(9)));
    Options(call, value && !IsFloating(dtype) ? Argument::Int(dtype) : Given(dtype, draw), format);
    return call;
  };
}

CallDrawer Like(bool value) {
  return [=](std::string_view op, std::uint32_t dtype, Draw& draw) {
    OperatorCall call{std::string(op), {DrawTensor(dtype, draw.Shape(256), Values::kUsual, draw)}};
    if (value) call.arguments.push_back(Argument::Int(draw.Below(9)));
    Options(call, DrawOptionalDtype(draw), true, true);
    return call;
  };
}

// Whole numbers for integers, so that they are exact; bool has no range.
CallDrawer Range(int numbers) {
  return [=](std::string_view op, std::uint32_t dtype, Draw& draw) {
    if (dtype == PL_DTYPE_BOOL) dtype = PL_DTYPE_INT64;
    const bool fractions = IsFloating(dtype) && draw.OneIn(2);
    const auto number = [&](std::int64_t least, std::int64_t greatest) {
      const std::int64_t whole = least + draw.Below(greatest - least + 1);
      return fractions ? Argument::Float(static_cast<double>(whole) + 0.25 * static_cast<double>(draw.Below(4)))
                       : Argument::Int(whole);
    };
    OperatorCall call{std::string(op), {}};
    const bool down = numbers == 3 && dtype != PL_DTYPE_UINT8 && draw.OneIn(3);
    if (numbers > 1) call.arguments.push_back(number(down ? 20 : 0, down ? 40 : 20));
    call.arguments.push_back(number(draw.OneIn(30) ? 0 : 20, 20 + (down ? 0 : 60)));
    if (numbers > 2) call.arguments.push_back(number(down ? -4 : 1, down ? -1 : 5));
    if (down) call.arguments[1] = number(-20, 10);
    if (numbers > 2 && draw.OneIn(40)) call.arguments[2] = fractions ? Argument::Float(0) : Argument::Int(0);
    Options(call, fractions && dtype == PL_DTYPE_FLOAT32 && draw.OneIn(2) ? Argument::None() : Argument::Int(dtype),
            false);
    return call;
  };
}

OperatorCall Linspace(std::string_view op, std::uint32_t dtype, Draw& draw) {
  if (!IsFloating(dtype)) dtype = PL_DTYPE_FLOAT32;
  const auto number = [&] {
    return draw.OneIn(2) ? Argument::Int(draw.Below(21) - 10)
                         : Argument::Float(static_cast<double>(draw.Value(PL_DTYPE_FLOAT32, Values::kUsual)));
  };
  OperatorCall call{std::string(op), {number(), number(), Argument::Int(draw.OneIn(40) ? -1 : draw.Below(70))}};
  Options(call, Argument::Int(dtype), false);
  return call;
}

OperatorCall EmptyStrided(std::string_view op, std::uint32_t dtype, Draw& draw) {
  const HostTensor layout = draw.Tensor(dtype, draw.Shape(256), Values::kUsual);
  OperatorCall call{std::string(op), {Argument::Ints(layout.sizes), Argument::Ints(layout.strides)}};
  if (draw.OneIn(40)) call.arguments[1].items.push_back(Argument::Int(1));
  Options(call, Given(dtype, draw), false);
  return call;
}

OperatorCall Eye(std::string_view op, std::uint32_t dtype, Draw& draw) {
  OperatorCall call{std::string(op),
                    {Argument::Int(draw.Below(12) - (draw.OneIn(40) ? 12 : 0)), Argument::Int(draw.Below(12))}};
  Options(call, Given(dtype, draw), false);
  return call;
}

OperatorCall ScalarTensor(std::string_view op, std::uint32_t dtype, Draw& draw) {
  OperatorCall call{std::string(op),
                    {IsFloating(dtype) && draw.OneIn(2) ? Argument::Float(-0.75) : Argument::Int(draw.Below(9))}};
  Options(call, Given(dtype, draw), false);
  return call;
}

}  // namespace

void AddFactoryDrawers(Drawers& drawers) {
  drawers["empty.memory_format"] = OfSize(false, true);
  drawers["zeros"] = OfSize(false, false);
  drawers["ones"] = OfSize(false, false);
  drawers["full"] = OfSize(true, false);
  for (const char* name : {"empty_like", "zeros_like", "ones_like"}) drawers[name] = Like(false);
  drawers["full_like"] = Like(true);
  drawers["arange"] = Range(1);
  drawers["arange.start"] = Range(2);
  drawers["arange.start_step"] = Range(3);
  drawers["linspace"] = &Linspace;
  drawers["empty_strided"] = &EmptyStrided;
  drawers["eye.m"] = &Eye;
  drawers["scalar_tensor"] = &ScalarTensor;
}

}  // namespace plumbline::suites
