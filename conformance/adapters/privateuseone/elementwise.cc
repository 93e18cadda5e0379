// Operators whose elements depend on one element of each argument.
//
// Of a structured operator there is one kernel to write, its .out form: PyTorch makes add, add_ and add.Scalar of
// add.out, for a device that has no such kernels of its own. Of another (abs, relu, where) each form is looked up.

#include <ATen/Dispatch.h>
#include <ATen/ExpandUtils.h>
#include <ATen/ScalarOps.h>
#include <ATen/core/Tensor.h>
#include <ATen/native/BinaryOps.h>
#include <ATen/native/TensorIterator.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/result_type.h>
#include <torch/library.h>

#include <cmath>
#include <type_traits>

#include "loops.h"

namespace fenced {
namespace {

#define FENCED_ALL_TYPES(dtype, name, ...) \
  AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND3(at::kBool, at::kHalf, at::kBFloat16, dtype, name, __VA_ARGS__)

// What a structured operator's own iterator is; PyTorch's ready-made one wants all dtypes alike.
at::TensorIterator UnaryIterator(const at::Tensor& out, const at::Tensor& self) {
  return at::TensorIteratorConfig()
      .cast_common_dtype_to_outputs(true)
      .enforce_safe_casting_to_output(true)
      .add_owned_output(out)
      .add_owned_input(self)
      .build();
}

at::Tensor& Add(const at::Tensor& self, const at::Tensor& other, const at::Scalar& alpha, at::Tensor& out) {
  // First what is refused, so that a call that is refused has not resized its out.
  at::native::alpha_check(at::result_type(self, other), alpha);
  at::TensorIterator iter = at::TensorIterator::borrowing_binary_op(out, self, other);
  FENCED_ALL_TYPES(iter.common_dtype(), "add", [&] {
    using Number = Arithmetic<scalar_t>;
    const auto factor = static_cast<Number>(alpha.to<scalar_t>());
    Elementwise<scalar_t, scalar_t, scalar_t>(iter, [&](scalar_t a, scalar_t b) {
      return static_cast<scalar_t>(static_cast<Number>(a) + factor * static_cast<Number>(b));
    });
  });
  return out;
}

at::Tensor& Subtract(const at::Tensor& self, const at::Tensor& other, const at::Scalar& alpha, at::Tensor& out) {
  at::native::sub_check(self, other);
  at::native::alpha_check(at::result_type(self, other), alpha);  // a bool cannot be negated
  return Add(self, other, -alpha, out);
}

at::Tensor& Multiply(const at::Tensor& self, const at::Tensor& other, at::Tensor& out) {
  at::TensorIterator iter = at::TensorIterator::borrowing_binary_op(out, self, other);
  FENCED_ALL_TYPES(iter.common_dtype(), "mul", [&] {
    using Number = Arithmetic<scalar_t>;
    Elementwise<scalar_t, scalar_t, scalar_t>(iter, [](scalar_t a, scalar_t b) {
      const Number product = static_cast<Number>(a) * static_cast<Number>(b);
      return static_cast<scalar_t>(product);
    });
  });
  return out;
}

at::Tensor& Negate(const at::Tensor& self, at::Tensor& out) {
  TORCH_CHECK(self.scalar_type() != at::kBool,
              "Negation, the `-` operator, on a bool tensor is not supported; use logical_not");
  at::TensorIterator iter = UnaryIterator(out, self);
  AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND2(at::kHalf, at::kBFloat16, iter.common_dtype(), "neg", [&] {
    using Number = Arithmetic<scalar_t>;
    Elementwise<scalar_t, scalar_t>(iter, [](scalar_t a) { return static_cast<scalar_t>(-static_cast<Number>(a)); });
  });
  return out;
}

template <class T>
T Absolute(T value) {
  if constexpr (std::is_unsigned_v<T>) {
    return value;
  } else if constexpr (std::is_integral_v<T>) {
    return value < 0 ? static_cast<T>(-static_cast<std::uint64_t>(value)) : value;
  } else {
    return static_cast<T>(std::abs(static_cast<at::opmath_type<T>>(value)));
  }
}

at::Tensor& Abs(const at::Tensor& self, at::Tensor& out) {
  if (!self.is_complex()) {
    at::TensorIterator iter = UnaryIterator(out, self);
    AT_DISPATCH_ALL_TYPES_AND2(at::kHalf, at::kBFloat16, iter.common_dtype(), "abs",
                               [&] { Elementwise<scalar_t, scalar_t>(iter, [](scalar_t a) { return Absolute(a); }); });
    return out;
  }
  const at::ScalarType real = c10::toRealValueType(self.scalar_type());
  TORCH_CHECK(at::canCast(real, out.scalar_type()), "result type ", real, " can't be cast to the desired output type ",
              out.scalar_type());
  at::TensorIterator iter =
      at::TensorIteratorConfig().check_all_same_dtype(false).add_output(out).add_input(self).build();
  AT_DISPATCH_COMPLEX_TYPES(self.scalar_type(), "abs", [&] {
    using Real = typename scalar_t::value_type;
    Elementwise<Real, scalar_t>(iter, [](scalar_t a) { return std::abs(a); });
  });
  return out;
}

at::Tensor ReluInto(at::Tensor out, const at::Tensor& self) {
  TORCH_CHECK(self.scalar_type() != at::kBool, "\"relu\" not implemented for '", self.scalar_type(), "'");
  at::TensorIterator iter = UnaryIterator(out, self);
  AT_DISPATCH_ALL_TYPES_AND2(at::kHalf, at::kBFloat16, iter.common_dtype(), "relu", [&] {
    // A NaN is not smaller.
    Elementwise<scalar_t, scalar_t>(iter, [](scalar_t a) { return a <= scalar_t(0) ? scalar_t(0) : a; });
  });
  return iter.output();
}

at::Tensor Relu(const at::Tensor& self) { return ReluInto(at::Tensor(), self); }

at::Tensor& ReluInPlace(at::Tensor& self) {
  ReluInto(self, self);
  return self;
}

at::Tensor& ReluOut(const at::Tensor& self, at::Tensor& out) {
  ReluInto(out, self);
  return out;
}

at::Tensor& Equal(const at::Tensor& self, const at::Tensor& other, at::Tensor& out) {
  at::TensorIterator iter = at::TensorIterator::comparison_op(out, self, other);
  FENCED_ALL_TYPES(iter.common_dtype(), "eq",
                   [&] { Elementwise<bool, scalar_t, scalar_t>(iter, [](scalar_t a, scalar_t b) { return a == b; }); });
  return out;
}

at::Tensor& EqualToScalar(const at::Tensor& self, const at::Scalar& other, at::Tensor& out) {
  return Equal(self, at::native::wrapped_scalar_tensor(other), out);
}

at::Tensor& WhereInto(const at::Tensor& condition, const at::Tensor& self, const at::Tensor& other, at::Tensor& out) {
  TORCH_CHECK(condition.scalar_type() == at::kBool || condition.scalar_type() == at::kByte,
              "where expected condition to be a boolean tensor, but got a tensor with dtype ", condition.scalar_type());
  const at::ScalarType dtype = at::result_type(self, other);
  TORCH_CHECK(at::canCast(dtype, out.scalar_type()), "result type ", dtype,
              " can't be cast to the desired output type ", out.scalar_type());
  at::TensorIterator iter = at::TensorIteratorConfig()
                                .check_all_same_dtype(false)
                                .allow_cpu_scalars(true)
                                .add_output(out)
                                .add_input(condition)
                                .add_input(self)
                                .add_input(other)
                                .build();
  FENCED_ALL_TYPES(dtype, "where", [&] {
    Elementwise<scalar_t, bool, scalar_t, scalar_t>(iter,
                                                    [](bool first, scalar_t a, scalar_t b) { return first ? a : b; });
  });
  return out;
}

at::Tensor Where(const at::Tensor& condition, const at::Tensor& self, const at::Tensor& other) {
  const at::Tensor& ours = self.device().type() == kType ? self : other.device().type() == kType ? other : condition;
  at::Tensor out = at::empty({0}, ours.options().dtype(at::result_type(self, other)));
  return WhereInto(condition, self, other, out);
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("add.out", &Add);
  m.impl("sub.out", &Subtract);
  m.impl("mul.out", &Multiply);
  m.impl("neg.out", &Negate);
  m.impl("abs.out", &Abs);
  m.impl("relu", &Relu);
  m.impl("relu_", &ReluInPlace);
  m.impl("relu.out", &ReluOut);
  m.impl("eq.Tensor_out", &Equal);
  m.impl("eq.Scalar_out", &EqualToScalar);
  m.impl("where.self", &Where);
  m.impl("where.self_out", &WhereInto);
}

}  // namespace
}  // namespace fenced
