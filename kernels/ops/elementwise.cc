// Elementwise operators: of one tensor, of two, comparisons, logic.
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

enum class Made { kSame, kFloat, kBool };

void CopyThrough(const Tensor& out, const Tensor& in) { CopyTo(out, in); }

void Unary(Call& call, UnaryOp op, Made made, const Parameters& parameters = {}) {
  const Tensor self = call.tensor(0);
  call.CheckDType(self.dtype());
  const DType result = made == Made::kSame ? self.dtype() : made == Made::kBool ? DType::kBool : FloatOr(self.dtype());
  const In inputs[] = {self};
  const Tensor out = call.Result(0, self.sizes(), result, StridesOfResult(self.sizes(), inputs));
  if (call.meta()) return;
  const Type compute = made == Made::kBool ? ComputeType(TypeOf(self.dtype())) : ComputeType(TypeOf(result));
  const cpu::Loop loop = Level().unary[Index(op)][Index(compute)];
  // What has no loop for a dtype leaves its values as they are: floor of integers, abs of bool.
  if (loop == nullptr) return CopyThrough(out, self);
  RunLoop(out, made == Made::kBool ? Type::kBool : compute, inputs, compute, loop, parameters, IsCheap(op));
}

template <UnaryOp op, Made made>
void Unary(Call& call) {
  Unary(call, op, made);
}

void LeakyRelu(Call& call) { Unary(call, UnaryOp::kLeakyRelu, Made::kSame, ParametersOf(call.scalar(1))); }

void Gelu(Call& call) {
  const std::string_view approximate = call.text(1);
  if (approximate != "none" && approximate != "tanh") {
    call.Fail("argument 'approximate': expected none or tanh, but got '" + std::string(approximate) + "'");
  }
  Unary(call, approximate == "tanh" ? UnaryOp::kGeluTanh : UnaryOp::kGelu, Made::kSame);
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

In Operand(const Call& call, int i) { return call.at(i).is_tensor() ? In(call.tensor(i)) : In(call.scalar(i)); }

DType Promoted(std::span<const In> inputs) {
  Promotion promotion;
  for (const In& input : inputs)
    input.tensor() != nullptr ? promotion.Add(*input.tensor()) : promotion.Add(input.scalar());
  return promotion.Result();
}

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

void Binary(Call& call, const In& a, const In& b, BinaryOp op, DType compute_dtype, DType result,
            const Parameters& parameters = {}) {
  const In inputs[] = {a, b};
  const DimVector sizes = BroadcastOf(call, inputs);
  // Before anything is written; all operators that divide integers have a tensor as divisor.
  const bool divides = op >= BinaryOp::kDivTrunc && op <= BinaryOp::kRemainder && !IsFloating(compute_dtype);
  if (divides && !PLUMBLINE_FAULT(integers_are_divided_by_zero) && !call.meta() &&
      reference::CheckedNumel(sizes) != 0 && HasZero(*b.tensor(), compute_dtype)) {
    call.Fail("argument 'other': an integer is divided by zero");
  }
  const Tensor out = call.Result(0, sizes, result, StridesOfResult(sizes, inputs));
  if (call.meta()) return;
  const Type compute = ComputeType(TypeOf(compute_dtype));
  const bool tests = op >= BinaryOp::kEq && op <= BinaryOp::kLogicalXor;
  std::optional<Tensor> held[2];
  const In rounded[] = {Rounded(a, compute_dtype, held[0]), Rounded(b, compute_dtype, held[1])};
  RunLoop(out, tests ? Type::kBool : compute, rounded, compute, Level().binary[Index(op)][Index(compute)], parameters,
          IsCheap(op));
}

enum class Result { kPromoted, kFloat, kBool };

template <BinaryOp op, Result result>
void Binary(Call& call) {
  const In inputs[] = {Operand(call, 0), Operand(call, 1)};
  const DType promoted = Promoted(inputs);
  call.CheckDType(promoted);
  DType compute = result == Result::kFloat ? FloatOr(promoted) : promoted;
  if (PLUMBLINE_FAULT(integers_divide_in_float64) && result == Result::kFloat && !IsFloating(promoted)) {
    compute = DType::kFloat64;
  }
  if (PLUMBLINE_FAULT(comparison_is_in_the_first_dtype) && result == Result::kBool && inputs[0].tensor() != nullptr) {
    compute = inputs[0].tensor()->dtype();
  }
  Binary(call, inputs[0], inputs[1], op, compute, result == Result::kBool ? DType::kBool : compute);
}

void CheckAlpha(const Call& call, const Scalar& alpha, DType dtype) {
  if (alpha.is_bool() && dtype != DType::kBool)
    call.Fail("argument 'alpha': a bool, but the result is " + std::string(Spelling(dtype)));
  if (alpha.is_float() && !IsFloating(dtype))
    call.Fail("argument 'alpha': a float, but the result is " + std::string(Spelling(dtype)));
}

template <BinaryOp op, bool swapped = false>
void WithAlpha(Call& call) {
  const In inputs[] = {Operand(call, 0), Operand(call, 1)};
  const DType promoted = Promoted(inputs);
  call.CheckDType(promoted);
  if (op == BinaryOp::kSub) {
    for (const In& input : inputs) {
      if (input.tensor() != nullptr ? input.tensor()->dtype() == DType::kBool : input.scalar().is_bool()) {
        call.Fail("bools are not subtracted; logical_xor tells them apart");
      }
    }
  }
  CheckAlpha(call, call.scalar(2), promoted);
  Binary(call, inputs[swapped ? 1 : 0], inputs[swapped ? 0 : 1], op, promoted, promoted, ParametersOf(call.scalar(2)));
}

void DivMode(Call& call) {
  if (!call.has(2)) return Binary<BinaryOp::kDiv, Result::kFloat>(call);
  if (call.text(2) == "trunc") return Binary<BinaryOp::kDivTrunc, Result::kPromoted>(call);
  if (call.text(2) == "floor") return Binary<BinaryOp::kDivFloor, Result::kPromoted>(call);
  call.Fail("argument 'rounding_mode': expected none, trunc or floor, but got '" + std::string(call.text(2)) + "'");
}

void PowScalar(Call& call) {
  const Tensor self = call.tensor(0);
  const Scalar exponent = call.scalar(1);
  const In inputs[] = {self, exponent};
  const DType promoted = Promoted(inputs);
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
  Binary(call, inputs[0], inputs[1], BinaryOp::kPow, promoted, promoted);
}

template <TernaryOp op>
void Pointwise(Call& call) {
  const In inputs[] = {call.tensor(0), call.tensor(1), call.tensor(2)};
  const DType promoted = Promoted(inputs);
  call.CheckDType(promoted);
  CheckAlpha(call, call.scalar(3), promoted);
  const DimVector sizes = BroadcastOf(call, inputs);
  const Tensor out = call.Result(0, sizes, promoted, StridesOfResult(sizes, inputs));
  if (call.meta()) return;
  const Type compute = ComputeType(TypeOf(promoted));
  RunLoop(out, compute, inputs, compute, Level().ternary[Index(op)][Index(compute)], ParametersOf(call.scalar(3)),
          true);
}

void Where(Call& call) {
  const Tensor condition = call.tensor(0);
  if (condition.dtype() != DType::kBool && condition.dtype() != DType::kUint8) {
    call.Fail("expected argument 'condition' to be bool, but got " + std::string(Spelling(condition.dtype())));
  }
  const In values[] = {call.tensor(1), call.tensor(2)};
  const In inputs[] = {condition, call.tensor(1), call.tensor(2)};
  const DType promoted = Promoted(values);
  call.CheckDType(promoted);
  const DimVector sizes = BroadcastOf(call, inputs);
  const Tensor out = call.Result(0, sizes, promoted, StridesOfResult(sizes, inputs));
  if (call.meta()) return;
  const Type compute = ComputeType(TypeOf(promoted));
  RunLoop(out, compute, inputs, compute, Level().ternary[Index(TernaryOp::kWhere)][Index(compute)], {}, true,
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
    {"abs", &Unary<UnaryOp::kAbs, Made::kSame>},
    {"neg", &Unary<UnaryOp::kNeg, Made::kSame>},
    {"sign", &Unary<UnaryOp::kSign, Made::kSame>},
    {"floor", &Unary<UnaryOp::kFloor, Made::kSame>},
    {"ceil", &Unary<UnaryOp::kCeil, Made::kSame>},
    {"trunc", &Unary<UnaryOp::kTrunc, Made::kSame>},
    {"round", &Unary<UnaryOp::kRound, Made::kSame>},
    {"relu", &Unary<UnaryOp::kRelu, Made::kSame>},
    {"leaky_relu", &LeakyRelu},
    {"gelu", &Gelu},
    {"silu", &Unary<UnaryOp::kSilu, Made::kSame>},
    {"sqrt", &Unary<UnaryOp::kSqrt, Made::kFloat>},
    {"rsqrt", &Unary<UnaryOp::kRsqrt, Made::kFloat>},
    {"reciprocal", &Unary<UnaryOp::kReciprocal, Made::kFloat>},
    {"square", &Square},
    {"exp", &Unary<UnaryOp::kExp, Made::kFloat>},
    {"exp2", &Unary<UnaryOp::kExp2, Made::kFloat>},
    {"expm1", &Unary<UnaryOp::kExpm1, Made::kFloat>},
    {"log", &Unary<UnaryOp::kLog, Made::kFloat>},
    {"log2", &Unary<UnaryOp::kLog2, Made::kFloat>},
    {"log10", &Unary<UnaryOp::kLog10, Made::kFloat>},
    {"log1p", &Unary<UnaryOp::kLog1p, Made::kFloat>},
    {"sin", &Unary<UnaryOp::kSin, Made::kFloat>},
    {"cos", &Unary<UnaryOp::kCos, Made::kFloat>},
    {"tan", &Unary<UnaryOp::kTan, Made::kFloat>},
    {"asin", &Unary<UnaryOp::kAsin, Made::kFloat>},
    {"acos", &Unary<UnaryOp::kAcos, Made::kFloat>},
    {"atan", &Unary<UnaryOp::kAtan, Made::kFloat>},
    {"sinh", &Unary<UnaryOp::kSinh, Made::kFloat>},
    {"cosh", &Unary<UnaryOp::kCosh, Made::kFloat>},
    {"tanh", &Unary<UnaryOp::kTanh, Made::kFloat>},
    {"erf", &Unary<UnaryOp::kErf, Made::kFloat>},
    {"erfc", &Unary<UnaryOp::kErfc, Made::kFloat>},
    {"sigmoid", &Unary<UnaryOp::kSigmoid, Made::kFloat>},
    {"isnan", &Unary<UnaryOp::kIsNan, Made::kBool>},
    {"isinf", &Unary<UnaryOp::kIsInf, Made::kBool>},
    {"isfinite", &Unary<UnaryOp::kIsFinite, Made::kBool>},
    {"logical_not", &Unary<UnaryOp::kLogicalNot, Made::kBool>},
    {"bitwise_not", &Unary<UnaryOp::kBitwiseNot, Made::kSame>},
    {"clamp", &Clamp},
    {"add.Tensor", &WithAlpha<BinaryOp::kAdd>},
    {"add.Scalar", &WithAlpha<BinaryOp::kAdd>},
    {"sub.Tensor", &WithAlpha<BinaryOp::kSub>},
    {"sub.Scalar", &WithAlpha<BinaryOp::kSub>},
    {"rsub.Scalar", &WithAlpha<BinaryOp::kSub, true>},
    {"mul.Tensor", &Binary<BinaryOp::kMul, Result::kPromoted>},
    {"mul.Scalar", &Binary<BinaryOp::kMul, Result::kPromoted>},
    {"div.Tensor", &Binary<BinaryOp::kDiv, Result::kFloat>},
    {"div.Scalar", &Binary<BinaryOp::kDiv, Result::kFloat>},
    {"div.Tensor_mode", &DivMode},
    {"floor_divide", &Binary<BinaryOp::kDivFloor, Result::kPromoted>},
    {"remainder.Tensor", &Binary<BinaryOp::kRemainder, Result::kPromoted>},
    {"fmod.Tensor", &Binary<BinaryOp::kFmod, Result::kPromoted>},
    {"pow.Tensor_Tensor", &Binary<BinaryOp::kPow, Result::kPromoted>},
    {"pow.Tensor_Scalar", &PowScalar},
    {"maximum", &Binary<BinaryOp::kMaximum, Result::kPromoted>},
    {"minimum", &Binary<BinaryOp::kMinimum, Result::kPromoted>},
    {"atan2", &Binary<BinaryOp::kAtan2, Result::kFloat>},
    {"addcmul", &Pointwise<TernaryOp::kAddcmul>},
    {"addcdiv", &Pointwise<TernaryOp::kAddcdiv>},
    {"eq.Tensor", &Binary<BinaryOp::kEq, Result::kBool>},
    {"ne.Tensor", &Binary<BinaryOp::kNe, Result::kBool>},
    {"lt.Tensor", &Binary<BinaryOp::kLt, Result::kBool>},
    {"le.Tensor", &Binary<BinaryOp::kLe, Result::kBool>},
    {"gt.Tensor", &Binary<BinaryOp::kGt, Result::kBool>},
    {"ge.Tensor", &Binary<BinaryOp::kGe, Result::kBool>},
    {"eq.Scalar", &Binary<BinaryOp::kEq, Result::kBool>},
    {"ne.Scalar", &Binary<BinaryOp::kNe, Result::kBool>},
    {"gt.Scalar", &Binary<BinaryOp::kGt, Result::kBool>},
    {"lt.Scalar", &Binary<BinaryOp::kLt, Result::kBool>},
    {"le.Scalar", &Binary<BinaryOp::kLe, Result::kBool>},
    {"ge.Scalar", &Binary<BinaryOp::kGe, Result::kBool>},
    {"equal", &Equal},
    {"logical_and", &Binary<BinaryOp::kLogicalAnd, Result::kBool>},
    {"logical_or", &Binary<BinaryOp::kLogicalOr, Result::kBool>},
    {"logical_xor", &Binary<BinaryOp::kLogicalXor, Result::kBool>},
    {"bitwise_and.Tensor", &Binary<BinaryOp::kBitwiseAnd, Result::kPromoted>},
    {"bitwise_or.Tensor", &Binary<BinaryOp::kBitwiseOr, Result::kPromoted>},
    {"bitwise_xor.Tensor", &Binary<BinaryOp::kBitwiseXor, Result::kPromoted>},
    {"bitwise_and.Scalar", &Binary<BinaryOp::kBitwiseAnd, Result::kPromoted>},
    {"bitwise_or.Scalar", &Binary<BinaryOp::kBitwiseOr, Result::kPromoted>},
    {"bitwise_xor.Scalar", &Binary<BinaryOp::kBitwiseXor, Result::kPromoted>},
    {"where.self", &Where},
    {"masked_fill.Scalar", &MaskedFill},
};

}  // namespace

std::span<const NamedKernel> ElementwiseKernels() { return kKernels; }

}  // namespace plumbline::kernels
