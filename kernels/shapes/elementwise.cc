#include "kernels/shapes/elementwise.h"

#include "reference/faults/faults.h"

namespace plumbline::kernels {

In OperandOf(const Call& call, int i) { return call.at(i).is_tensor() ? In(call.tensor(i)) : In(call.scalar(i)); }

DType PromotedOf(std::span<const In> inputs) {
  Promotion promotion;
  for (const In& input : inputs)
    input.tensor() != nullptr ? promotion.Add(*input.tensor()) : promotion.Add(input.scalar());
  return promotion.Result();
}

UnaryPlan PlanUnary(Call& call, UnaryResult result) {
  const Tensor self = call.tensor(0);
  call.CheckDType(self.dtype());
  const DType made = result == UnaryResult::kSame   ? self.dtype()
                     : result == UnaryResult::kBool ? DType::kBool
                                                    : FloatOr(self.dtype());
  const In inputs[] = {self};
  const Tensor out = call.Result(0, self.sizes(), made, StridesOfResult(self.sizes(), inputs));
  return {self, out, result == UnaryResult::kBool ? self.dtype() : made};
}

BinaryPlan::BinaryPlan(const Call& call, In a, In b, DType compute, DType result)
    : a(a), b(b), compute(compute), result(result) {
  const In inputs[] = {a, b};
  sizes = BroadcastOf(call, inputs);
}

BinaryPlan PlanBinary(const Call& call, BinaryResult result) {
  const In inputs[] = {OperandOf(call, 0), OperandOf(call, 1)};
  const DType promoted = PromotedOf(inputs);
  call.CheckDType(promoted);
  DType compute = result == BinaryResult::kFloat ? FloatOr(promoted) : promoted;
  if (PLUMBLINE_FAULT(integers_divide_in_float64) && result == BinaryResult::kFloat && !IsFloating(promoted)) {
    compute = DType::kFloat64;
  }
  if (PLUMBLINE_FAULT(comparison_is_in_the_first_dtype) && result == BinaryResult::kBool &&
      inputs[0].tensor() != nullptr) {
    compute = inputs[0].tensor()->dtype();
  }
  return {call, inputs[0], inputs[1], compute, result == BinaryResult::kBool ? DType::kBool : compute};
}

void CheckAlpha(const Call& call, const Scalar& alpha, DType dtype) {
  if (alpha.is_bool() && dtype != DType::kBool)
    call.Fail("argument 'alpha': a bool, but the result is " + std::string(Spelling(dtype)));
  if (alpha.is_float() && !IsFloating(dtype))
    call.Fail("argument 'alpha': a float, but the result is " + std::string(Spelling(dtype)));
}

BinaryPlan PlanWithAlpha(const Call& call, bool subtracts, bool swapped) {
  const In inputs[] = {OperandOf(call, 0), OperandOf(call, 1)};
  const DType promoted = PromotedOf(inputs);
  call.CheckDType(promoted);
  if (subtracts) {
    for (const In& input : inputs) {
      if (input.tensor() != nullptr ? input.tensor()->dtype() == DType::kBool : input.scalar().is_bool()) {
        call.Fail("bools are not subtracted; logical_xor tells them apart");
      }
    }
  }
  CheckAlpha(call, call.scalar(2), promoted);
  return {call, inputs[swapped ? 1 : 0], inputs[swapped ? 0 : 1], promoted, promoted};
}

Tensor ResultOf(Call& call, const BinaryPlan& plan) {
  const In inputs[] = {plan.a, plan.b};
  return call.Result(0, plan.sizes, plan.result, StridesOfResult(plan.sizes, inputs));
}

WherePlan PlanWhere(Call& call) {
  const Tensor condition = call.tensor(0), yes = call.tensor(1), no = call.tensor(2);
  if (condition.dtype() != DType::kBool && condition.dtype() != DType::kUint8) {
    call.Fail("expected argument 'condition' to be bool, but got " + std::string(Spelling(condition.dtype())));
  }
  const In values[] = {yes, no};
  const In inputs[] = {condition, yes, no};
  const DType promoted = PromotedOf(values);
  call.CheckDType(promoted);
  const DimVector sizes = BroadcastOf(call, inputs);
  return {condition, yes, no, call.Result(0, sizes, promoted, StridesOfResult(sizes, inputs)), promoted};
}

}  // namespace plumbline::kernels
