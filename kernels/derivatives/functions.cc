#include "kernels/derivatives/functions.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "reference/autograd/arithmetic.h"
#include "reference/autograd/view.h"
#include "reference/dispatch/operator.h"
#include "reference/keys/error.h"
#include "reference/tensor/dims.h"

namespace plumbline::kernels {
namespace {

using reference::DimVector;
using reference::IntSpan;
using reference::Operator;
using reference::Registry;
using reference::Stack;
using reference::Tensor;
using reference::Value;

using Ints = std::vector<std::int64_t>;

// The arguments of a function, and calls of operators.
class Ops {
 public:
  Ops(const Registry& registry, std::span<const std::optional<Value>> arguments)
      : registry_(registry), arguments_(arguments) {}

  const Registry& registry() const { return registry_; }
  const Value& at(std::size_t i) const { return *arguments_[i]; }
  Tensor tensor(std::size_t i) const { return at(i).ToTensor(); }
  bool has(std::size_t i) const { return !at(i).is_none(); }
  std::int64_t integer(std::size_t i) const { return at(i).ToInt(); }
  bool boolean(std::size_t i) const { return at(i).ToBool(); }
  Ints ints(std::size_t i) const { return IntsOf(at(i)); }
  static Ints IntsOf(const Value& value) {
    if (value.kind() == Value::Kind::kInt) return {value.ToInt()};
    Ints list;
    for (const Value& item : value.ToList()) list.push_back(item.ToInt());
    return list;
  }

  // All arguments of the schema.
  Tensor Call(std::string_view name, std::initializer_list<Value> arguments) const {
    Stack stack;
    for (const Value& argument : arguments) stack.Push(argument);
    Operator::Find(registry_, "aten::" + std::string(name)).CallBoxed(stack, arguments.size());
    const std::size_t results = stack.size();
    if (results > 1) stack.Drop(results - 1);
    return std::move(stack.Pop()).ToTensor();
  }

  Tensor Add(const Tensor& a, const Tensor& b) const { return Call("add.Tensor", {Value(a), Value(b), Value(1)}); }
  Tensor Add(const Tensor& a, double b) const { return Call("add.Scalar", {Value(a), Value(b), Value(1)}); }
  Tensor Sub(const Tensor& a, const Tensor& b) const { return Call("sub.Tensor", {Value(a), Value(b), Value(1)}); }
  Tensor Mul(const Tensor& a, const Tensor& b) const { return Call("mul.Tensor", {Value(a), Value(b)}); }
  Tensor Mul(const Tensor& a, const Value& b) const { return Call("mul.Scalar", {Value(a), b}); }
  Tensor Mul(const Tensor& a, double b) const { return Mul(a, Value(b)); }
  Tensor Div(const Tensor& a, const Tensor& b) const { return Call("div.Tensor", {Value(a), Value(b)}); }
  Tensor Pow(const Tensor& a, double b) const { return Call("pow.Tensor_Scalar", {Value(a), Value(b)}); }
  Tensor Unary(const char* name, const Tensor& a) const { return Call(name, {Value(a)}); }
  // Where the mask says so: 0, whatever is there.
  Tensor ZeroWhere(const Tensor& mask, const Tensor& a) const {
    return Call("masked_fill.Scalar", {Value(a), Value(mask), Value(0)});
  }
  Tensor Where(const Tensor& mask, const Tensor& a, const Tensor& b) const {
    return Call("where.self", {Value(mask), Value(a), Value(b)});
  }
  Tensor Compare(const char* name, const Tensor& a, const Value& b) const { return Call(name, {Value(a), b}); }
  Tensor ZerosLike(const Tensor& a) const {
    return Call("zeros_like", {Value(a), Value::None(), Value::None(), Value::None(), Value::None(), Value::None()});
  }
  // Of the dtype and on the device of `like`.
  Tensor Zeros(const Ints& sizes, const Tensor& like) const {
    return Call("zeros", {Value::Ints(sizes), Value(static_cast<std::int64_t>(like.dtype())), Value::None(),
                          Value(like.device().Spelling()), Value::None()});
  }
  Tensor Sum(const Tensor& a, const Ints& dims, bool keepdim) const {
    return Call("sum.dim_IntList", {Value(a), Value::Ints(dims), Value(keepdim), Value::None()});
  }
  Tensor Reshape(const Tensor& a, const Ints& sizes) const { return Call("reshape", {Value(a), Value::Ints(sizes)}); }
  Tensor Expand(const Tensor& a, const Ints& sizes) const {
    return Call("expand", {Value(a), Value::Ints(sizes), Value(false)});
  }
  Tensor Unsqueeze(const Tensor& a, std::int64_t dim) const { return Call("unsqueeze", {Value(a), Value(dim)}); }
  // A reduction's gradient or result, with the dimensions that it lost as sizes of 1.
  Tensor Restored(const Tensor& a, const Ints& dims, bool keepdim, std::size_t rank) const {
    Tensor restored = a;
    if (keepdim || rank == 0) return restored;
    for (const std::int64_t dim : Dims(dims, rank)) restored = Unsqueeze(restored, dim);
    return restored;
  }
  // From 0 up, in order; none are all.
  static Ints Dims(const Ints& dims, std::size_t rank) {
    Ints wrapped;
    const auto count = static_cast<std::int64_t>(rank);
    for (const std::int64_t dim : dims) wrapped.push_back(dim < 0 ? dim + count : dim);
    if (dims.empty()) {
      for (std::int64_t dim = 0; dim < count; ++dim) wrapped.push_back(dim);
    }
    std::sort(wrapped.begin(), wrapped.end());
    return wrapped;
  }
  static std::int64_t Counted(const Ints& dims, const Ints& sizes) {
    std::int64_t count = 1;
    for (const std::int64_t dim : Dims(dims, sizes.size())) {
      if (!sizes.empty()) count *= sizes[static_cast<std::size_t>(dim)];
    }
    return count;
  }
  static std::int64_t Wrap(std::int64_t dim, std::size_t rank) {
    return dim < 0 ? dim + static_cast<std::int64_t>(rank) : dim;
  }
  Ints dims(std::size_t i) const { return has(i) ? ints(i) : Ints(); }
  static double Number(const Value& scalar) {
    return scalar.kind() == Value::Kind::kFloat ? scalar.ToFloat() : static_cast<double>(scalar.ToInt());
  }
  static Ints SizesOf(const Tensor& a) { return {a.sizes().begin(), a.sizes().end()}; }

 private:
  const Registry& registry_;
  std::span<const std::optional<Value>> arguments_;
};

// ---- elementwise ----

// (grad, self, exponent): exponent * self^(exponent - 1)
Tensor PowBackward(const Ops& op) {
  const double exponent = Ops::Number(op.at(2));
  if (exponent == 0) return op.ZerosLike(op.tensor(0));
  return op.Mul(op.tensor(0), op.Mul(op.Pow(op.tensor(1), exponent - 1), exponent));
}

// (grad, self, exponent), both tensors; 0 where the exponent is 0
Tensor PowBackwardSelf(const Ops& op) {
  const Tensor grad = op.tensor(0), self = op.tensor(1), exponent = op.tensor(2);
  const Tensor power = op.Call("pow.Tensor_Tensor", {Value(self), Value(op.Add(exponent, -1.0))});
  return op.ZeroWhere(op.Compare("eq.Scalar", exponent, Value(0)), op.Mul(grad, op.Mul(exponent, power)));
}

// (grad, self, exponent, result); 0 where self is 0 and the exponent not negative
Tensor PowBackwardExponent(const Ops& op) {
  const Tensor self = op.tensor(1);
  const Tensor zero = op.Call("logical_and", {Value(op.Compare("eq.Scalar", self, Value(0))),
                                              Value(op.Compare("ge.Scalar", op.tensor(2), Value(0)))});
  return op.ZeroWhere(zero, op.Mul(op.tensor(0), op.Mul(op.tensor(3), op.Unary("log", self))));
}

// (grad, self, other): the greater one has it, equal ones half of it each
Tensor Chosen(const Ops& op, const char* loses) {
  const Tensor grad = op.tensor(0), self = op.tensor(1), other = op.tensor(2);
  const Tensor half = op.Where(op.Call("eq.Tensor", {Value(self), Value(other)}), op.Mul(grad, 0.5), grad);
  return op.ZeroWhere(op.Call(loses, {Value(self), Value(other)}), half);
}
Tensor GreaterBackward(const Ops& op) { return Chosen(op, "lt.Tensor"); }
Tensor LesserBackward(const Ops& op) { return Chosen(op, "gt.Tensor"); }

// (grad, self, min, max): the gradient of what was not clamped
Tensor ClampBackward(const Ops& op) {
  Tensor grad = op.tensor(0);
  if (op.has(2)) grad = op.ZeroWhere(op.Compare("lt.Scalar", op.tensor(1), op.at(2)), grad);
  if (op.has(3)) grad = op.ZeroWhere(op.Compare("gt.Scalar", op.tensor(1), op.at(3)), grad);
  return grad;
}

// (grad, rounding_mode): a rounded quotient stands still
Tensor UnlessRounded(const Ops& op) { return op.has(1) ? op.ZerosLike(op.tensor(0)) : op.tensor(0); }

// (grad, self, approximate)
Tensor GeluBackward(const Ops& op) {
  const Tensor grad = op.tensor(0), x = op.tensor(1);
  if (op.at(2).ToString() == "none") {
    const Tensor below = op.Mul(op.Add(op.Unary("erf", op.Mul(x, std::numbers::sqrt2 / 2)), 1.0), 0.5);
    const Tensor density =
        op.Mul(op.Unary("exp", op.Mul(op.Mul(x, x), -0.5)), std::numbers::inv_sqrtpi * std::numbers::sqrt2 / 2);
    return op.Mul(grad, op.Add(below, op.Mul(x, density)));
  }
  constexpr double kCubic = 0.044715, kScale = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
  const Tensor square = op.Mul(x, x);
  const Tensor inner = op.Mul(op.Mul(x, op.Add(op.Mul(square, kCubic), 1.0)), kScale);
  const Tensor tanh = op.Unary("tanh", inner);
  const Tensor slope = op.Mul(op.Add(op.Mul(square, 3 * kCubic), 1.0), kScale);
  const Tensor outside = op.Mul(op.Add(tanh, 1.0), 0.5);
  const Tensor inside = op.Mul(op.Mul(op.Add(op.Mul(op.Mul(tanh, tanh), -1.0), 1.0), slope), op.Mul(x, 0.5));
  return op.Mul(grad, op.Add(outside, inside));
}

// ---- reductions ----

// (grad, sizes, dim, keepdim)
Tensor SumBackward(const Ops& op) {
  const Ints sizes = op.ints(1);
  return op.Expand(op.Restored(op.tensor(0), op.dims(2), op.boolean(3), sizes.size()), sizes);
}

Tensor MeanBackward(const Ops& op) {
  return op.Mul(SumBackward(op), 1.0 / static_cast<double>(Ops::Counted(op.dims(2), op.ints(1))));
}

// (grad, self, result, dim, keepdim): those that are the extreme share it
Tensor ExtremeBackward(const Ops& op) {
  const Tensor self = op.tensor(1);
  const std::size_t rank = self.sizes().size();
  const Ints dims = op.dims(3);
  const bool keepdim = op.boolean(4);
  const Tensor mask = op.Call("eq.Tensor", {Value(self), Value(op.Restored(op.tensor(2), dims, keepdim, rank))});
  const Tensor grad = op.Restored(op.tensor(0), dims, keepdim, rank);
  const Tensor share = op.Div(op.Mul(grad, mask), op.Sum(mask, Ops::Dims(dims, rank), true));
  return share;
}

// (grad, dim, indices, sizes, keepdim): to the places that were chosen
Tensor SelectedBackward(const Ops& op) {
  const Ints sizes = op.ints(3);
  Tensor grad = op.tensor(0), indices = op.tensor(2);
  if (sizes.empty()) return op.Reshape(grad, sizes);
  const std::int64_t dim = Ops::Wrap(op.integer(1), sizes.size());
  if (!op.boolean(4)) grad = op.Unsqueeze(grad, dim), indices = op.Unsqueeze(indices, dim);
  return op.Call("scatter_add", {Value(op.Zeros(sizes, grad)), Value(dim), Value(indices), Value(grad)});
}

// (grad, self, dim, correction, keepdim): 2 (x - mean) / (n - correction)
Tensor VarianceBackward(const Ops& op) {
  const Tensor self = op.tensor(1);
  const std::size_t rank = self.sizes().size();
  const Ints dims = Ops::Dims(op.dims(2), rank);
  const double correction = op.has(3) ? static_cast<double>(op.integer(3)) : 1;
  const auto count = static_cast<double>(Ops::Counted(dims, Ops::SizesOf(self)));
  const Tensor mean = op.Call("mean.dim", {Value(self), Value::Ints(dims), Value(true), Value::None()});
  const Tensor grad = op.Restored(op.tensor(0), dims, op.boolean(4), rank);
  return op.Mul(op.Mul(grad, op.Sub(self, mean)), 2 / (count - correction));
}

// (grad, result): of the square root of what grad is then of; 0 where the result is 0
Tensor RootBackward(const Ops& op) {
  const Tensor result = op.tensor(1);
  return op.ZeroWhere(op.Compare("eq.Scalar", result, Value(0)), op.Div(op.tensor(0), op.Mul(result, 2.0)));
}

// (grad, self, result, p, dim, keepdim)
Tensor NormBackward(const Ops& op) {
  const Tensor self = op.tensor(1);
  const std::size_t rank = self.sizes().size();
  const Ints dims = op.dims(4);
  const bool keepdim = op.boolean(5);
  const double p = op.has(3) ? Ops::Number(op.at(3)) : 2;
  const Tensor norm = op.Restored(op.tensor(2), dims, keepdim, rank);
  const Tensor grad = op.Restored(op.tensor(0), dims, keepdim, rank);
  const Tensor none = op.Compare("eq.Scalar", norm, Value(0));
  const Tensor sign = op.Unary("sign", self), size = op.Unary("abs", self);
  if (p == 0) return op.ZerosLike(self);
  if (p == 1) return op.Mul(grad, sign);
  if (p == 2) return op.Mul(self, op.ZeroWhere(none, op.Div(grad, norm)));
  if (std::isinf(p)) {
    const Tensor mask = op.Call("eq.Tensor", {Value(size), Value(norm)});
    const Tensor share = op.Div(grad, op.Sum(mask, Ops::Dims(dims, rank), true));
    return op.Mul(op.Mul(sign, mask), share);
  }
  const Tensor scale = op.ZeroWhere(none, op.Div(grad, op.Pow(norm, p - 1)));
  const Tensor power = op.ZeroWhere(op.Compare("eq.Scalar", self, Value(0)), op.Mul(sign, op.Pow(size, p - 1)));
  return op.Mul(power, scale);
}

// (grad, dim): the sums from each element to the last
Tensor SumsFromEnd(const Ops& op) {
  const Tensor grad = op.tensor(0);
  if (grad.sizes().size() == 0) return grad;
  const Value dims = Value::Ints({op.integer(1)});
  const Tensor flipped = op.Call("flip", {Value(grad), dims});
  return op.Call("flip", {Value(op.Call("cumsum", {Value(flipped), op.at(1), Value::None()})), dims});
}

// ---- matrices ----

Tensor Transposed(const Ops& op, const Tensor& a) { return op.Call("transpose.int", {Value(a), Value(-2), Value(-1)}); }
// (grad, batch2) and (batch1, grad)
Tensor BmmBackwardFirst(const Ops& op) { return op.Call("bmm", {op.at(0), Value(Transposed(op, op.tensor(1)))}); }
Tensor BmmBackwardSecond(const Ops& op) { return op.Call("bmm", {Value(Transposed(op, op.tensor(0))), op.at(1)}); }

// ---- softmax ----

// (grad, result, dim)
Tensor SoftmaxBackward(const Ops& op) {
  const Tensor result = op.tensor(1), weighted = op.Mul(op.tensor(0), result);
  if (result.sizes().size() == 0) return op.ZerosLike(weighted);
  return op.Sub(weighted, op.Mul(result, op.Sum(weighted, {op.integer(2)}, true)));
}
Tensor LogSoftmaxBackward(const Ops& op) {
  const Tensor grad = op.tensor(0), result = op.tensor(1);
  if (result.sizes().size() == 0) return op.ZerosLike(grad);
  return op.Sub(grad, op.Mul(op.Unary("exp", result), op.Sum(grad, {op.integer(2)}, true)));
}

// ---- indexing and joining ----

// (like, sizes): of the dtype and on the device of `like`
Tensor ZerosOf(const Ops& op) { return op.Zeros(op.ints(1), op.tensor(0)); }

// (grad, indices, sizes, padding_idx): to the rows that were looked up
Tensor EmbeddingBackward(const Ops& op) {
  const Tensor grad = op.tensor(0), indices = op.tensor(1);
  const Ints sizes = op.ints(2);
  const std::int64_t padding = op.integer(3), count = indices.numel();
  const Tensor flat = op.Reshape(indices, {count});
  Tensor rows = op.Reshape(grad, {count, sizes[1]});
  if (padding >= 0) {
    rows = op.ZeroWhere(op.Unsqueeze(op.Compare("eq.Scalar", flat, Value(padding)), 1), rows);
  }
  return op.Call("index_add", {Value(op.Zeros(sizes, grad)), Value(0), Value(flat), Value(rows), Value(1)});
}

// (grad, self.sizes, repeats): summed over the copies
Tensor RepeatBackward(const Ops& op) {
  const Ints sizes = op.ints(1), repeats = op.ints(2);
  Ints split, summed;
  const std::size_t front = repeats.size() - sizes.size();
  for (std::size_t d = 0; d < repeats.size(); ++d) {
    summed.push_back(static_cast<std::int64_t>(split.size()));
    split.push_back(repeats[d]);
    if (d >= front) split.push_back(sizes[d - front]);
  }
  if (summed.empty()) return op.tensor(0);
  return op.Sum(op.Reshape(op.tensor(0), split), summed, false);
}

// (grad, pad): what was padded goes again
Tensor PadBackward(const Ops& op) {
  Ints pad = op.ints(1);
  for (std::int64_t& one : pad) one = -one;
  return op.Call("constant_pad_nd", {op.at(0), Value::Ints(pad), Value(0)});
}

// ---- views ----

// (grad, dims): the other way round
Tensor PermuteBackward(const Ops& op) {
  const Ints dims = op.ints(1);
  Ints back(dims.size());
  for (std::size_t d = 0; d < dims.size(); ++d) {
    back[static_cast<std::size_t>(Ops::Wrap(dims[d], dims.size()))] = static_cast<std::int64_t>(d);
  }
  return op.Call("permute", {op.at(0), Value::Ints(back)});
}

// Zeros around it, in one dimension.
Tensor PadDim(const Ops& op, const Tensor& a, std::int64_t dim, std::int64_t before, std::int64_t after) {
  Ints pad(2 * (a.sizes().size() - static_cast<std::size_t>(dim)), 0);
  pad[pad.size() - 2] = before;
  pad[pad.size() - 1] = after;
  return op.Call("constant_pad_nd", {Value(a), Value::Ints(pad), Value(0)});
}

// (grad, self.sizes, dim, index)
Tensor SelectBackward(const Ops& op) {
  const Ints sizes = op.ints(1);
  const std::int64_t dim = Ops::Wrap(op.integer(2), sizes.size());
  const std::int64_t size = sizes[static_cast<std::size_t>(dim)];
  const std::int64_t index = op.integer(3) < 0 ? op.integer(3) + size : op.integer(3);
  return PadDim(op, op.Unsqueeze(op.tensor(0), dim), dim, index, size - index - 1);
}

// (grad, self.sizes, dim, start, end, step): with a step, each element is first made as long as the step
Tensor SliceBackward(const Ops& op) {
  const Ints sizes = op.ints(1);
  const std::int64_t dim = Ops::Wrap(op.integer(2), sizes.size());
  const std::int64_t size = sizes[static_cast<std::size_t>(dim)], step = op.integer(5);
  std::int64_t start = op.has(3) ? op.integer(3) : 0;
  if (start < 0) start += size;
  start = std::clamp<std::int64_t>(start, 0, size);
  Tensor grad = op.tensor(0);
  const std::int64_t count = grad.sizes()[static_cast<std::size_t>(dim)];
  if (count == 0) return op.Zeros(sizes, grad);
  if (step > 1) {
    Ints long_sizes = Ops::SizesOf(grad);
    long_sizes[static_cast<std::size_t>(dim)] = count * step;
    grad = op.Reshape(PadDim(op, op.Unsqueeze(grad, dim + 1), dim + 1, 0, step - 1), long_sizes);
  }
  // The last element's may reach beyond the end, or not reach it.
  return PadDim(op, grad, dim, start, size - start - count * step);
}

// (grad, self.sizes, offset, dim1, dim2): each row of the diagonal to its column, by a mask of the one that it is
Tensor DiagonalBackward(const Ops& op) {
  const Tensor grad = op.tensor(0);
  const Ints sizes = op.ints(1);
  const std::size_t rank = sizes.size();
  const std::int64_t offset = op.integer(2), dim1 = Ops::Wrap(op.integer(3), rank),
                     dim2 = Ops::Wrap(op.integer(4), rank);
  const std::int64_t rows = sizes[static_cast<std::size_t>(dim1)], columns = sizes[static_cast<std::size_t>(dim2)];
  const std::int64_t count = grad.sizes()[grad.sizes().size() - 1];
  if (count == 0) return op.Zeros(sizes, grad);
  // [..., count] on the diagonal of [..., count, count], then padded to its place.
  const auto last = static_cast<std::int64_t>(grad.sizes().size());
  const Tensor ones = op.Call("eye.m", {Value(count), Value(count), Value(static_cast<std::int64_t>(grad.dtype())),
                                        Value::None(), Value(grad.device().Spelling()), Value::None()});
  Tensor square = op.Mul(op.Unsqueeze(grad, last), ones);
  const std::int64_t above = std::max<std::int64_t>(-offset, 0), left = std::max<std::int64_t>(offset, 0);
  square = PadDim(op, square, last, left, columns - left - count);
  square = PadDim(op, square, last - 1, above, rows - above - count);
  // The last two dimensions to dim1 and dim2.
  Ints order;
  for (std::int64_t d = 0, next = 0; d < static_cast<std::int64_t>(rank); ++d) {
    order.push_back(d == dim1 ? last - 1 : d == dim2 ? last : next++);
  }
  return op.Call("permute", {Value(square), Value::Ints(order)});
}

// (grad, self.sizes, self.strides, self.offset, size, stride, storage_offset)
Tensor AsStridedBackward(const Ops& op) {
  const auto window = [&](std::size_t sizes, std::size_t strides, std::int64_t offset) {
    return reference::Window{IntSpan(op.ints(sizes)), IntSpan(op.ints(strides)), offset};
  };
  const reference::Window base = window(1, 2, op.integer(3));
  return reference::OperatorArithmetic(op.registry())
      .FromWindow(op.tensor(0), window(4, 5, op.has(6) ? op.integer(6) : base.offset), base);
}

template <Tensor (*kFunction)(const Ops& op)>
std::optional<Value> Run(const FunctionCall& call) {
  for (const std::optional<Value>& argument : call.arguments) {
    if (!argument) return std::nullopt;
  }
  return Value(kFunction(Ops(call.registry, call.arguments)));
}

constexpr NamedFunction kFunctions[] = {
    {"pow_backward", 3, &Run<&PowBackward>},
    {"pow_backward_self", 3, &Run<&PowBackwardSelf>},
    {"pow_backward_exponent", 4, &Run<&PowBackwardExponent>},
    {"greater_backward", 3, &Run<&GreaterBackward>},
    {"lesser_backward", 3, &Run<&LesserBackward>},
    {"clamp_backward", 4, &Run<&ClampBackward>},
    {"unless_rounded", 2, &Run<&UnlessRounded>},
    {"gelu_backward", 3, &Run<&GeluBackward>},
    {"sum_backward", 4, &Run<&SumBackward>},
    {"mean_backward", 4, &Run<&MeanBackward>},
    {"extreme_backward", 5, &Run<&ExtremeBackward>},
    {"selected_backward", 5, &Run<&SelectedBackward>},
    {"variance_backward", 5, &Run<&VarianceBackward>},
    {"root_backward", 2, &Run<&RootBackward>},
    {"norm_backward", 6, &Run<&NormBackward>},
    {"sums_from_end", 2, &Run<&SumsFromEnd>},
    {"bmm_backward_first", 2, &Run<&BmmBackwardFirst>},
    {"bmm_backward_second", 2, &Run<&BmmBackwardSecond>},
    {"softmax_backward", 3, &Run<&SoftmaxBackward>},
    {"log_softmax_backward", 3, &Run<&LogSoftmaxBackward>},
    {"zeros_of", 2, &Run<&ZerosOf>},
    {"embedding_backward", 4, &Run<&EmbeddingBackward>},
    {"repeat_backward", 3, &Run<&RepeatBackward>},
    {"pad_backward", 2, &Run<&PadBackward>},
    {"permute_backward", 2, &Run<&PermuteBackward>},
    {"select_backward", 4, &Run<&SelectBackward>},
    {"slice_backward", 6, &Run<&SliceBackward>},
    {"as_strided_backward", 7, &Run<&AsStridedBackward>},
    {"diagonal_backward", 5, &Run<&DiagonalBackward>},
};

}  // namespace

const NamedFunction* FindFunction(std::string_view name) {
  for (const NamedFunction& function : kFunctions) {
    if (function.name == name) return &function;
  }
  return nullptr;
}

}  // namespace plumbline::kernels
