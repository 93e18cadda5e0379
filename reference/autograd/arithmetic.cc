#include "reference/autograd/arithmetic.h"

#include <algorithm>
#include <initializer_list>
#include <utility>
#include <vector>

#include "reference/autograd/view.h"
#include "reference/dispatch/operator.h"

namespace plumbline::reference {
namespace {

Tensor CallNamed(const Registry& registry, const char* name, std::initializer_list<Value> arguments) {
  Stack stack;
  for (const Value& argument : arguments) stack.Push(argument);
  Operator::Find(registry, name).CallBoxed(stack, arguments.size());
  return std::move(stack.Pop()).ToTensor();
}

// One after the last element of the storage that it looks at.
std::int64_t EndOf(const Window& window) {
  std::int64_t last = window.offset;
  for (std::size_t d = 0; d < window.sizes.size(); ++d) {
    if (window.sizes[d] == 0) return 0;
    last += (window.sizes[d] - 1) * window.strides[d];
  }
  return last + 1;
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
    sum = CallNamed(registry_, "aten::sum.dim_IntList", {Value(a), Value::Ints(dims), Value(true), Value::None()});
  }
  return front == 0 ? sum : CallNamed(registry_, "aten::view", {Value(sum), Value::Ints(sizes)});
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
  return CallNamed(registry_, "aten::zeros",
                   {Value::Ints(sizes), Value(static_cast<std::int64_t>(dtype)), Value::None(),
                    Value(device.Spelling()), Value::None()});
}

void OperatorArithmetic::CopyInto(const Tensor& to, const Tensor& from) const {
  CallNamed(registry_, "aten::copy_", {Value(to), Value(from), Value(false)});
}

Tensor OperatorArithmetic::InWindow(const Tensor& a, IntSpan sizes, IntSpan strides, std::int64_t offset) const {
  return CallNamed(registry_, "aten::as_strided", {Value(a), Value::Ints(sizes), Value::Ints(strides), Value(offset)});
}

// Summed at its places in the storage, then read at those of the base.
Tensor OperatorArithmetic::FromWindow(const Tensor& gradient, const Window& window, const Window& base) const {
  const std::int64_t end = std::max(EndOf(window), EndOf(base));
  const Value device(gradient.device().Spelling()), none;
  const Tensor places = CallNamed(registry_, "aten::arange",
                                  {Value(end), Value(static_cast<std::int64_t>(DType::kInt64)), none, device, none});
  const auto places_of = [&](const Window& of) {
    const Tensor seen = InWindow(places, of.sizes, of.strides, of.offset);
    return CallNamed(registry_, "aten::reshape", {Value(seen), Value::Ints(DimVector{-1})});
  };
  if (gradient.numel() == 0) return Zeros(base.sizes, gradient.dtype(), gradient.device());
  const Tensor flat = CallNamed(registry_, "aten::reshape", {Value(gradient), Value::Ints(DimVector{-1})});
  const Tensor zeros = Zeros(DimVector{end}, gradient.dtype(), gradient.device());
  const Tensor sums = CallNamed(registry_, "aten::index_add",
                                {Value(zeros), Value(0), Value(places_of(window)), Value(flat), Value(1)});
  const Tensor of_base = CallNamed(registry_, "aten::index_select", {Value(sums), Value(0), Value(places_of(base))});
  return CallNamed(registry_, "aten::reshape", {Value(of_base), Value::Ints(base.sizes)});
}

}  // namespace plumbline::reference
