// Elementwise operators: of one tensor, of two, comparisons, logic.
#include "kernels/shapes/elementwise.h"

#include "kernels/compute.h"
#include "kernels/cpu/reduce.h"
#include "kernels/ops/ops.h"
#include "reference/faults/faults.h"

namespace plumbline::kernels {
namespace {

using cpu::BinaryOp;
using cpu::ComputeType;
using cpu::Index;
using cpu::Level;
using cpu::Parameters;
using cpu::TernaryOp;
using cpu::Type;
using cpu::UnaryOp;

// ---- one tensor ----

void CopyThrough(const Tensor& out, const Tensor& in) { CopyTo(out, in); }

void Unary(Call& call, UnaryOp op, UnaryResult result, const Parameters& parameters = {}) {
  const UnaryPlan plan = PlanUnary(call, result);
  if (call.meta()) return;
  const Type compute = ComputeType(TypeOf(plan.compute));
  const cpu::Loop loop = Level().unary[Index(op)][Index(compute)];
  // What has no loop for a dtype leaves its values as they are: floor of integers, abs of bool.
  if (loop == nullptr) return CopyThrough(plan.out, plan.self);
  const In inputs[] = {plan.self};
  RunLoop(plan.out, result == UnaryResult::kBool ? Type::kBool : compute, inputs, compute, loop, parameters,
          IsCheap(op));
}

template <UnaryOp op, UnaryResult result>
void Unary(Call& call) {
  Unary(call, op, result);
}

void LeakyRelu(Call& call) { Unary(call, UnaryOp::kLeakyRelu, UnaryResult::kSame, ParametersOf(call.scalar(1))); }

void Gelu(Call& call) {
  const std::string_view approximate = call.text(1);
  if (approximate != "none" && approximate != "tanh") {
    call.Fail("argument 'approximate': expected none or tanh, but got '" + std::string(approximate) + "'");
  }
  Unary(call, approximate == "tanh" ? UnaryOp::kGeluTanh : UnaryOp::kGelu, UnaryResult::kSame);
}

void Square(Call& call) {
  if (call.variant() == tables::Variant::kFunctional) {
    return call.Return(0, call.Invoke("aten::pow.Tensor_Scalar", {call.at(0), Value(2)}));
  }
  if (call.variant() == tables::Variant::kInPlace) {
    return call.Return(0, call.Invoke("aten::pow_.Scalar", {call.at(0), Value(2)}));
  }
  call.Return(0, call.Invoke("aten::pow.Tensor_Scalar_out", {call.at(0), Value(2), call.at(1)}));
}

void Clamp(Call& call) {
  const Tensor self = call.tensor(0);
  call.CheckDType(self.dtype());
  if (!call.has(1) && !call.has(2)) call.Fail("at least one of 'min' and 'max' has to be given");
  Promotion promotion;
  promotion.Add(self);
  for (const int i : {1, 2}) {
    if (call.has(i)) promotion.Add(call.scalar(i));
  }
  const DType result = promotion.Result();
  for (const int i : {1, 2}) {
    if (call.has(i)) call.CheckHolds(i, result);
  }
  const In inputs[] = {self};
  const Tensor out = call.Result(0, self.sizes(), result, StridesOfResult(self.sizes(), inputs));
  if (call.meta()) return;
  Parameters bounds;
  bounds.real[0] = call.has(1) ? call.real(1) : -__builtin_inf();
  bounds.real[1] = call.has(2) ? call.real(2) : __builtin_inf();
  const Type compute = ComputeType(TypeOf(result));
  const bool is_unsigned = compute == Type::kU8;
  const int bits = static_cast<int>(8 * cpu::SizeOf(compute));
  const std::int64_t most = is_unsigned ? 255 : static_cast<std::int64_t>((std::uint64_t{1} << (bits - 1)) - 1);
  for (const int i : {1, 2}) {
    bounds.integer[i - 1] = call.has(i) ? AsInteger(call.scalar(i)) : i == 2 ? most : is_unsigned ? 0 : -most - 1;
  }
  RunLoop(out, compute, inputs, compute, Level().unary[Index(UnaryOp::kClamp)][Index(compute)], bounds, true);
}

// ---- two tensors ----

// Also what only becomes zero in the dtype that is computed in.
bool HasZero(const Tensor& divisor, DType dtype) {
  const Tensor converted = Converted(divisor, dtype);
  const Strided in(converted);
  const auto everywhere = std::make_unique<bool[]>(in.sizes.size() + 1);
  std::fill_n(everywhere.get(), in.sizes.size(), true);
  bool all = false;
  cpu::Reduce(cpu::ReduceKind::kAll, in, {everywhere.get(), in.sizes.size()}, {&all, Type::kBool});
  return !all;
}

void Binary(Call& call, const BinaryPlan& plan, BinaryOp op, const Parameters& parameters = {}) {
  // Before anything is written; all operators that divide integers have a tensor as divisor.
  const bool divides = op >= BinaryOp::kDivTrunc && op <= BinaryOp::kRemainder && !IsFloating(plan.compute);
  if (divides && !PLUMBLINE_FAULT(integers_are_divided_by_zero) && !call.meta() &&
      reference::CheckedNumel(plan.sizes) != 0 && HasZero(*plan.b.tensor(), plan.compute)) {
    call.Fail("argument 'other': an integer is divided by zero");
  }
  const Tensor out = ResultOf(call, plan);
  if (call.meta()) return;
  const Type compute = ComputeType(TypeOf(plan.compute));
  const bool tests = op >= BinaryOp::kEq && op <= BinaryOp::kLogicalXor;
  std::optional<Tensor> held[2];
  const In rounded[] = {Rounded(plan.a, plan.compute, held[0]), Rounded(plan.b, plan.compute, held[1])};
  RunLoop(out, tests ? Type::kBool : compute, rounded, compute, Level().binary[Index(op)][Index(compute)], parameters,
          IsCheap(op));
}

template <BinaryOp op, BinaryResult result>
void Binary(Call& call) {
  Binary(call, PlanBinary(call, result), op);
}

template <BinaryOp op, bool swapped = false>
void WithAlpha(Call& call) {
  Binary(call, PlanWithAlpha(call, op == BinaryOp::kSub, swapped), op, ParametersOf(call.scalar(2)));
}

void DivMode(Call& call) {
  if (!call.has(2)) return Binary<BinaryOp::kDiv, BinaryResult::kFloat>(call);
  if (call.text(2) == "trunc") return Binary<BinaryOp::kDivTrunc, BinaryResult::kPromoted>(call);
  if (call.text(2) == "floor") return Binary<BinaryOp::kDivFloor, BinaryResult::kPromoted>(call);
  call.Fail("argument 'rounding_mode': expected none, trunc or floor, but got '" + std::string(call.text(2)) + "'");
}

void PowScalar(Call& call) {
  const Tensor self = call.tensor(0);
  const Scalar exponent = call.scalar(1);
  const In inputs[] = {self, exponent};
  const DType promoted = PromotedOf(inputs);
  call.CheckDType(promoted);
  if (!IsFloating(promoted) && AsInteger(exponent) < 0)
    call.Fail("integers to negative integer powers are not allowed");
  if (promoted == DType::kBool) call.Fail(ErrorClass::kNoDtype, "not implemented for bool");
  // x * x is exact where a power is not.
  if (AsReal(exponent) == 2 && IsFloating(promoted)) {
    const In squared[] = {self};
    const Tensor out = call.Result(0, self.sizes(), promoted, StridesOfResult(self.sizes(), squared));
    if (call.meta()) return;
    const Type compute = ComputeType(TypeOf(promoted));
    return RunLoop(out, compute, squared, compute, Level().unary[Index(UnaryOp::kSquare)][Index(compute)], {}, true);
  }
  Binary(call, {call, inputs[0], inputs[1], promoted, promoted}, BinaryOp::kPow);
}

template <TernaryOp op>
void Pointwise(Call& call) {
  const In inputs[] = {call.tensor(0), call.tensor(1), call.tensor(2)};
  const DType promoted = PromotedOf(inputs);
  call.CheckDType(promoted);
  CheckAlpha(call, call.scalar(3), promoted);
  const DimVector sizes = BroadcastOf(call, inputs);
  const Tensor out = call.Result(0, sizes, promoted, StridesOfResult(sizes, inputs));
  if (call.meta()) return;
  const Type compute = ComputeType(TypeOf(promoted));
  RunLoop(out, compute, inputs, compute, Level().ternary[Index(op)][Index(compute)], ParametersOf(call.scalar(3)),
          true);
}

void WhereSelf(Call& call) {
  const WherePlan plan = PlanWhere(call);
  if (call.meta()) return;
  const In inputs[] = {plan.condition, plan.yes, plan.no};
  const Type compute = ComputeType(TypeOf(plan.compute));
  RunLoop(plan.out, compute, inputs, compute, Level().ternary[Index(TernaryOp::kWhere)][Index(compute)], {}, true,
          Type::kBool);
}

void MaskedFill(Call& call) {
  const Tensor self = call.tensor(0), mask = call.tensor(1);
  call.CheckDType(self.dtype());
  if (mask.dtype() != DType::kBool && mask.dtype() != DType::kUint8) {
    call.Fail("expected argument 'mask' to be bool, but got " + std::string(Spelling(mask.dtype())));
  }
  call.CheckHolds(2, self.dtype());
  const In shapes[] = {self, mask};
  const DimVector sizes = BroadcastOf(call, shapes);
  const In inputs[] = {mask, call.scalar(2), self};
  const Tensor out = call.Result(0, sizes, self.dtype(), StridesOfResult(sizes, shapes));
  if (call.meta()) return;
  const Type compute = ComputeType(TypeOf(self.dtype()));
  RunLoop(out, compute, inputs, compute, Level().ternary[Index(TernaryOp::kWhere)][Index(compute)], {}, true,
          Type::kBool);
}

void Equal(Call& call) {
  const Tensor a = call.tensor(0), b = call.tensor(1);
  if (call.meta()) call.Fail(ErrorClass::kUnsupported, "needs elements, which a meta tensor has not");
  call.CheckSameDType(0, 1);
  if (!(a.sizes() == b.sizes())) return call.ReturnValue(Value(false));
  const Tensor same = call.Invoke("aten::eq.Tensor", {Value(a), Value(b)});
  call.ReturnValue(call.Invoke("aten::all", {Value(same)}).data<bool>()[0] ? Value(true) : Value(false));
}

constexpr NamedKernel kKernels[] = {
    {"abs", &Unary<UnaryOp::kAbs, UnaryResult::kSame>},
    {"neg", &Unary<UnaryOp::kNeg, UnaryResult::kSame>},
    {"sign", &Unary<UnaryOp::kSign, UnaryResult::kSame>},
    {"floor", &Unary<UnaryOp::kFloor, UnaryResult::kSame>},
    {"ceil", &Unary<UnaryOp::kCeil, UnaryResult::kSame>},
    {"trunc", &Unary<UnaryOp::kTrunc, UnaryResult::kSame>},
    {"round", &Unary<UnaryOp::kRound, UnaryResult::kSame>},
    {"relu", &Unary<UnaryOp::kRelu, UnaryResult::kSame>},
    {"leaky_relu", &LeakyRelu},
    {"gelu", &Gelu},
    {"silu", &Unary<UnaryOp::kSilu, UnaryResult::kSame>},
    {"sqrt", &Unary<UnaryOp::kSqrt, UnaryResult::kFloat>},
    {"rsqrt", &Unary<UnaryOp::kRsqrt, UnaryResult::kFloat>},
    {"reciprocal", &Unary<UnaryOp::kReciprocal, UnaryResult::kFloat>},
    {"square", &Square, Where::kAnywhere},
    {"exp", &Unary<UnaryOp::kExp, UnaryResult::kFloat>},
    {"exp2", &Unary<UnaryOp::kExp2, UnaryResult::kFloat>},
    {"expm1", &Unary<UnaryOp::kExpm1, UnaryResult::kFloat>},
    {"log", &Unary<UnaryOp::kLog, UnaryResult::kFloat>},
    {"log2", &Unary<UnaryOp::kLog2, UnaryResult::kFloat>},
    {"log10", &Unary<UnaryOp::kLog10, UnaryResult::kFloat>},
    {"log1p", &Unary<UnaryOp::kLog1p, UnaryResult::kFloat>},
    {"sin", &Unary<UnaryOp::kSin, UnaryResult::kFloat>},
    {"cos", &Unary<UnaryOp::kCos, UnaryResult::kFloat>},
    {"tan", &Unary<UnaryOp::kTan, UnaryResult::kFloat>},
    {"asin", &Unary<UnaryOp::kAsin, UnaryResult::kFloat>},
    {"acos", &Unary<UnaryOp::kAcos, UnaryResult::kFloat>},
    {"atan", &Unary<UnaryOp::kAtan, UnaryResult::kFloat>},
    {"sinh", &Unary<UnaryOp::kSinh, UnaryResult::kFloat>},
    {"cosh", &Unary<UnaryOp::kCosh, UnaryResult::kFloat>},
    {"tanh", &Unary<UnaryOp::kTanh, UnaryResult::kFloat>},
    {"erf", &Unary<UnaryOp::kErf, UnaryResult::kFloat>},
    {"erfc", &Unary<UnaryOp::kErfc, UnaryResult::kFloat>},
    {"sigmoid", &Unary<UnaryOp::kSigmoid, UnaryResult::kFloat>},
    {"isnan", &Unary<UnaryOp::kIsNan, UnaryResult::kBool>},
    {"isinf", &Unary<UnaryOp::kIsInf, UnaryResult::kBool>},
    {"isfinite", &Unary<UnaryOp::kIsFinite, UnaryResult::kBool>},
    {"logical_not", &Unary<UnaryOp::kLogicalNot, UnaryResult::kBool>},
    {"bitwise_not", &Unary<UnaryOp::kBitwiseNot, UnaryResult::kSame>},
    {"clamp", &Clamp},
    {"add.Tensor", &WithAlpha<BinaryOp::kAdd>},
    {"add.Scalar", &WithAlpha<BinaryOp::kAdd>},
    {"sub.Tensor", &WithAlpha<BinaryOp::kSub>},
    {"sub.Scalar", &WithAlpha<BinaryOp::kSub>},
    {"rsub.Scalar", &WithAlpha<BinaryOp::kSub, true>},
    {"mul.Tensor", &Binary<BinaryOp::kMul, BinaryResult::kPromoted>},
    {"mul.Scalar", &Binary<BinaryOp::kMul, BinaryResult::kPromoted>},
    {"div.Tensor", &Binary<BinaryOp::kDiv, BinaryResult::kFloat>},
    {"div.Scalar", &Binary<BinaryOp::kDiv, BinaryResult::kFloat>},
    {"div.Tensor_mode", &DivMode},
    {"floor_divide", &Binary<BinaryOp::kDivFloor, BinaryResult::kPromoted>},
    {"remainder.Tensor", &Binary<BinaryOp::kRemainder, BinaryResult::kPromoted>},
    {"fmod.Tensor", &Binary<BinaryOp::kFmod, BinaryResult::kPromoted>},
    {"pow.Tensor_Tensor", &Binary<BinaryOp::kPow, BinaryResult::kPromoted>},
    {"pow.Tensor_Scalar", &PowScalar},
    {"maximum", &Binary<BinaryOp::kMaximum, BinaryResult::kPromoted>},
    {"minimum", &Binary<BinaryOp::kMinimum, BinaryResult::kPromoted>},
    {"atan2", &Binary<BinaryOp::kAtan2, BinaryResult::kFloat>},
    {"addcmul", &Pointwise<TernaryOp::kAddcmul>},
    {"addcdiv", &Pointwise<TernaryOp::kAddcdiv>},
    {"eq.Tensor", &Binary<BinaryOp::kEq, BinaryResult::kBool>},
    {"ne.Tensor", &Binary<BinaryOp::kNe, BinaryResult::kBool>},
    {"lt.Tensor", &Binary<BinaryOp::kLt, BinaryResult::kBool>},
    {"le.Tensor", &Binary<BinaryOp::kLe, BinaryResult::kBool>},
    {"gt.Tensor", &Binary<BinaryOp::kGt, BinaryResult::kBool>},
    {"ge.Tensor", &Binary<BinaryOp::kGe, BinaryResult::kBool>},
    {"eq.Scalar", &Binary<BinaryOp::kEq, BinaryResult::kBool>},
    {"ne.Scalar", &Binary<BinaryOp::kNe, BinaryResult::kBool>},
    {"gt.Scalar", &Binary<BinaryOp::kGt, BinaryResult::kBool>},
    {"lt.Scalar", &Binary<BinaryOp::kLt, BinaryResult::kBool>},
    {"le.Scalar", &Binary<BinaryOp::kLe, BinaryResult::kBool>},
    {"ge.Scalar", &Binary<BinaryOp::kGe, BinaryResult::kBool>},
    {"equal", &Equal},
    {"logical_and", &Binary<BinaryOp::kLogicalAnd, BinaryResult::kBool>},
    {"logical_or", &Binary<BinaryOp::kLogicalOr, BinaryResult::kBool>},
    {"logical_xor", &Binary<BinaryOp::kLogicalXor, BinaryResult::kBool>},
    {"bitwise_and.Tensor", &Binary<BinaryOp::kBitwiseAnd, BinaryResult::kPromoted>},
    {"bitwise_or.Tensor", &Binary<BinaryOp::kBitwiseOr, BinaryResult::kPromoted>},
    {"bitwise_xor.Tensor", &Binary<BinaryOp::kBitwiseXor, BinaryResult::kPromoted>},
    {"bitwise_and.Scalar", &Binary<BinaryOp::kBitwiseAnd, BinaryResult::kPromoted>},
    {"bitwise_or.Scalar", &Binary<BinaryOp::kBitwiseOr, BinaryResult::kPromoted>},
    {"bitwise_xor.Scalar", &Binary<BinaryOp::kBitwiseXor, BinaryResult::kPromoted>},
    {"where.self", &WhereSelf},
    {"masked_fill.Scalar", &MaskedFill},
};

}  // namespace

std::span<const NamedKernel> ElementwiseKernels() { return kKernels; }

}  // namespace plumbline::kernels
