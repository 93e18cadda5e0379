#include <cmath>
#include <cstddef>
#include <string>
#include <utility>

#include "conformance/suites/operators/broadcast.h"
#include "conformance/suites/operators/oracle_elements.h"
#include "conformance/suites/operators/oracle_families.h"
#include "conformance/suites/operators/promotion.h"

namespace plumbline::suites {
namespace {

// What is added to a product: beta * self + alpha * (A B); beta 0 means that self is not read.
struct Added {
  long double value = 0, beta = 0, alpha = 1;
};

// Rule 4: (2 sqrt(k) + 4) u (|A| |B|), u of what is added, and half an ulp of the result. `a` and `b` give factors.
template <class A, class B>
Element Dot(std::uint32_t dtype, std::int64_t k, const A& a, const B& b, const Added& added) {
  if (!IsFloating(dtype)) {
    Wide sum = 0;
    for (std::int64_t i = 0; i < k; ++i) sum = ToWide(Wrapped(PL_DTYPE_INT64, sum + ToWide(a(i)) * ToWide(b(i))));
    sum = sum * ToWide(added.alpha) + ToWide(added.value) * ToWide(added.beta);
    return {Wrapped(dtype, sum), 0};
  }
  long double sum = 0, magnitudes = 0;
  for (std::int64_t i = 0; i < k; ++i) {
    const long double product = a(i) * b(i);
    sum += product;
    magnitudes += std::fabs(product);
  }
  const long double alpha = RoundTo(dtype, added.alpha), beta = RoundTo(dtype, added.beta);
  const long double other = beta == 0 ? 0 : beta * added.value;
  const long double value = alpha * sum + other;
  const long double u = UnitOf(dtype);
  if (!std::isfinite(value) || !std::isfinite(magnitudes)) return {value, 0};
  return {value, (2 * std::sqrt(static_cast<long double>(k)) + 4) * u * std::fabs(alpha) * magnitudes +
                     2 * u * std::fabs(other) + LeastNormal(dtype)};
}

// A tensor as a stack of matrices, or one.
struct Matrices {
  const HostTensor& tensor;
  std::int64_t At(std::int64_t batch, std::int64_t row, std::int64_t column) const {
    const std::size_t dim = tensor.sizes.size();
    return tensor.offset + (dim == 3 ? batch * tensor.strides[0] : 0) + row * tensor.strides[dim - 2] +
           column * tensor.strides[dim - 1];
  }
  long double Get(std::int64_t batch, std::int64_t row, std::int64_t column) const {
    return tensor.GetAt(At(batch, row, column));
  }
};

Expected Product(const HostTensor& a, const HostTensor& b, std::size_t batch, const OperatorCall* adding = nullptr) {
  if (a.sizes.size() != batch + 2 || b.sizes.size() != batch + 2) {
    return Refused(batch == 0 ? "it multiplies matrices" : "it multiplies batches");
  }
  if (a.dtype != b.dtype) return Refused("the operands differ in dtype");
  if (a.sizes[batch + 1] != b.sizes[batch] || (batch == 1 && a.sizes[0] != b.sizes[0])) {
    return Refused("the shapes do not go together");
  }
  if (a.dtype == PL_DTYPE_BOOL) return NoDtype("there is no product of bools");
  const std::int64_t batches = batch == 0 ? 1 : a.sizes[0];
  const std::int64_t m = a.sizes[batch], k = a.sizes[batch + 1], n = b.sizes[batch + 1];
  ExpectedTensor out{.dtype = a.dtype, .sizes = {m, n}, .values = {}, .bounds = {}};
  if (batch == 1) out.sizes.insert(out.sizes.begin(), batches);
  Added added;
  const HostTensor* self = nullptr;
  if (adding != nullptr) {
    self = &adding->arguments[0].tensor;
    const Argument &beta = adding->arguments[3], &alpha = adding->arguments[4];
    if (self->dtype != a.dtype) return Refused("self differs in dtype");
    const auto sizes = CommonSizes({&out.sizes, &self->sizes});
    if (!sizes || *sizes != out.sizes) return Refused("self does not expand to the product");
    if (!IsFloating(a.dtype) && (beta.kind == PL_FLOAT || alpha.kind == PL_FLOAT)) {
      return Refused("a floating factor, and integers");
    }
    added.beta = NumberOf(beta);
    added.alpha = NumberOf(alpha);
  }
  const Matrices as{a}, bs{b};
  for (std::int64_t i = 0; i < batches * m * n; ++i) {
    const std::int64_t at = i / (m * n), row = i / n % m, column = i % n;
    if (self != nullptr) added.value = At(*self, out.sizes, i);
    const Element element = Dot(
        a.dtype, k, [&](std::int64_t x) { return as.Get(at, row, x); },
        [&](std::int64_t x) { return bs.Get(at, x, column); }, added);
    out.values.push_back(element.value);
    out.bounds.push_back(element.bound);
  }
  return Only(std::move(out));
}

// A view with a dimension of size 1 more.
HostTensor Unsqueezed(HostTensor tensor, std::size_t at) {
  tensor.sizes.insert(tensor.sizes.begin() + static_cast<std::ptrdiff_t>(at), 1);
  tensor.strides.insert(tensor.strides.begin() + static_cast<std::ptrdiff_t>(at), 0);
  return tensor;
}

Expected Reshaped(Expected expected, Sizes sizes) {
  if (!expected.refused()) expected.tensors[0].sizes = std::move(sizes);
  return expected;
}

Expected MatrixVector(const OperatorCall& call) {
  const HostTensor &a = call.arguments[0].tensor, &x = call.arguments[1].tensor;
  if (a.sizes.size() != 2 || x.sizes.size() != 1) return Refused("it multiplies a matrix and a vector");
  return Reshaped(Product(a, Unsqueezed(x, 1), 0), {a.sizes[0]});
}

Expected VectorVector(const OperatorCall& call) {
  const HostTensor &x = call.arguments[0].tensor, &y = call.arguments[1].tensor;
  if (x.sizes.size() != 1 || y.sizes.size() != 1) return Refused("it multiplies vectors");
  return Reshaped(Product(Unsqueezed(x, 0), Unsqueezed(y, 1), 0), {});
}

// Batches broadcast; a vector is a row on the left, a column on the right, and its dimension goes.
Expected Matmul(HostTensor a, HostTensor b) {
  if (a.sizes.empty() || b.sizes.empty()) return Refused("it multiplies no scalars");
  const bool row = a.sizes.size() == 1, column = b.sizes.size() == 1;
  if (row) a = Unsqueezed(std::move(a), 0);
  if (column) b = Unsqueezed(std::move(b), 1);
  const auto leading = [](const HostTensor& tensor) { return Sizes(tensor.sizes.begin(), tensor.sizes.end() - 2); };
  const Sizes a_leading = leading(a), b_leading = leading(b);
  const auto batch = CommonSizes({&a_leading, &b_leading});
  if (!batch) return Refused("the batches do not broadcast");
  const auto one = [&](const HostTensor& tensor, std::int64_t at) {
    HostTensor batches = tensor;
    batches.sizes.resize(tensor.sizes.size() - 2);
    HostTensor matrix = tensor;
    matrix.offset = PlaceIn(batches, *batch, at);
    matrix.sizes.assign(tensor.sizes.end() - 2, tensor.sizes.end());
    matrix.strides.assign(tensor.strides.end() - 2, tensor.strides.end());
    return matrix;
  };
  HostTensor last_a = a, last_b = b;
  for (HostTensor* last : {&last_a, &last_b}) {
    last->sizes.assign(last->sizes.end() - 2, last->sizes.end());
    last->strides.assign(last->strides.end() - 2, last->strides.end());
  }
  last_a.sizes[0] = 0;  // for what is refused, whatever the batches
  if (Expected none = Product(last_a, last_b, 0); none.refused()) return none;
  Sizes sizes = *batch;
  if (!row) sizes.push_back(a.sizes.end()[-2]);
  if (!column) sizes.push_back(b.sizes.back());
  ExpectedTensor out{.dtype = a.dtype, .sizes = sizes, .values = {}, .bounds = {}};
  for (std::int64_t at = 0; at < NumelOf(*batch); ++at) {
    const Expected product = Product(one(a, at), one(b, at), 0);
    const ExpectedTensor& part = product.tensors[0];
    out.values.insert(out.values.end(), part.values.begin(), part.values.end());
    out.bounds.insert(out.bounds.end(), part.bounds.begin(), part.bounds.end());
  }
  return Only(std::move(out));
}

Expected Linear(const OperatorCall& call) {
  const HostTensor &input = call.arguments[0].tensor, &weight = call.arguments[1].tensor;
  const Argument& bias = call.arguments[2];
  if (weight.sizes.size() != 2) return Refused("the weight is no matrix");
  HostTensor turned = weight;
  std::swap(turned.sizes[0], turned.sizes[1]);
  std::swap(turned.strides[0], turned.strides[1]);
  Expected expected = Matmul(input, turned);
  if (expected.refused() || bias.kind != PL_TENSOR) return expected;
  if (bias.tensor.dtype != input.dtype) return Refused("the bias differs in dtype");
  ExpectedTensor& out = expected.tensors[0];
  const auto sizes = CommonSizes({&out.sizes, &bias.tensor.sizes});
  if (!sizes || *sizes != out.sizes) return Refused("the bias does not expand to the product");
  for (std::size_t i = 0; i < out.values.size(); ++i) {
    const long double added = At(bias.tensor, out.sizes, static_cast<std::int64_t>(i));
    if (IsFloating(out.dtype)) {
      out.values[i] += added;
      if (!std::isfinite(out.values[i]))
        out.bounds[i] = 0;
      else
        out.bounds[i] += 2 * UnitOf(out.dtype) * std::fabs(added);
    } else {
      out.values[i] = Wrapped(out.dtype, ToWide(out.values[i]) + ToWide(added));
    }
  }
  return expected;
}

}  // namespace

void AddMatrix(Oracles& oracles) {
  oracles["mm"] = [](const OperatorCall& call) {
    return Product(call.arguments[0].tensor, call.arguments[1].tensor, 0);
  };
  oracles["bmm"] = [](const OperatorCall& call) {
    return Product(call.arguments[0].tensor, call.arguments[1].tensor, 1);
  };
  for (const std::size_t batch : {std::size_t{0}, std::size_t{1}}) {
    oracles[batch == 0 ? "addmm" : "baddbmm"] = [batch](const OperatorCall& call) {
      return Product(call.arguments[1].tensor, call.arguments[2].tensor, batch, &call);
    };
  }
  oracles["mv"] = &MatrixVector;
  oracles["dot"] = &VectorVector;
  oracles["matmul"] = [](const OperatorCall& call) {
    return Matmul(call.arguments[0].tensor, call.arguments[1].tensor);
  };
  oracles["linear"] = &Linear;
  oracles["outer"] = [multiply = oracles.at("mul.Tensor")](const OperatorCall& call) {
    OperatorCall product = call;
    if (call.arguments[0].tensor.sizes.size() != 1 || call.arguments[1].tensor.sizes.size() != 1) {
      return Refused("it multiplies vectors");
    }
    product.arguments[0].tensor = Unsqueezed(call.arguments[0].tensor, 1);
    return multiply(product);
  };
}

}  // namespace plumbline::suites
