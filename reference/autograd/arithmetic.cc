#include "reference/autograd/arithmetic.h"

#include <initializer_list>
#include <utility>
#include <vector>

#include "reference/dispatch/operator.h"

namespace plumbline::reference {
namespace {

Tensor CallNamed(const Registry& registry, const char* name, std::initializer_list<Value> arguments) {
  Stack stack;
  for (const Value& argument : arguments) stack.Push(argument);
  Operator::Find(registry, name).CallBoxed(stack, arguments.size());
  return std::move(stack.Pop()).ToTensor();
}

Value Ints(IntSpan items) {
  std::vector<Value> list;
  for (const std::int64_t item : items) list.emplace_back(item);
  return Value(std::move(list));
}

}  // namespace

Arithmetic::~Arithmetic() = default;

Tensor OperatorArithmetic::Add(const Tensor& a, const Tensor& b) const {
  return CallNamed(registry_, "aten::add.Tensor", {Value(a), Value(b), Value(1)});
}

void OperatorArithmetic::AddTo(const Tensor& sum, const Tensor& b) const {
  CallNamed(registry_, "aten::add_.Tensor", {Value(sum), Value(b), Value(1)});
}

Tensor OperatorArithmetic::SumTo(const Tensor& a, IntSpan sizes) const {
  // The dimensions in front that `sizes` lacks, and those where it has 1.
  const std::size_t front = a.sizes().size() - sizes.size();
  DimVector dims;
  for (std::size_t d = 0; d < a.sizes().size(); ++d) {
    if (d < front || (sizes[d - front] == 1 && a.sizes()[d] != 1)) dims.push_back(static_cast<std::int64_t>(d));
  }
  Tensor sum = a;
  if (!dims.empty()) {
    sum = CallNamed(registry_, "aten::sum.dim_IntList", {Value(a), Ints(dims), Value(true), Value::None()});
  }
  return front == 0 ? sum : CallNamed(registry_, "aten::view", {Value(sum), Ints(sizes)});
}

Tensor OperatorArithmetic::Cast(const Tensor& a, DType dtype) const {
  return CallNamed(registry_, "aten::_to_copy",
                   {Value(a), Value(static_cast<std::int64_t>(dtype)), Value::None(), Value::None(), Value::None(),
                    Value(false), Value::None()});
}

Tensor OperatorArithmetic::Copy(const Tensor& a, IntSpan strides) const {
  const Tensor copy = Tensor::EmptyStrided(a.sizes(), strides, a.dtype(), a.device(), a.keys());
  return CallNamed(registry_, "aten::copy_", {Value(copy), Value(a), Value(false)});
}

Tensor OperatorArithmetic::OnesLike(const Tensor& a) const {
  return CallNamed(registry_, "aten::ones_like",
                   {Value(a), Value::None(), Value::None(), Value::None(), Value::None(), Value::None()});
}

Tensor OperatorArithmetic::Zeros(IntSpan sizes, DType dtype, Device device) const {
  return CallNamed(
      registry_, "aten::zeros",
      {Ints(sizes), Value(static_cast<std::int64_t>(dtype)), Value::None(), Value(device.Spelling()), Value::None()});
}

}  // namespace plumbline::reference
