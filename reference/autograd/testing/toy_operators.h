// Operators of float64 tensors for tests of the engine: plain loops that record as an autograd kernel does.
//
//   Tensor x = Leaf({2}, {1, 2});
//   Tensor y = Sum(Mul(x, x));
//   Back(y);   ->   ValuesOf(Grad(x)) is {2, 4}
//
// Gradients are computed by the same operators, so that passes with create_graph record. One thread, but for what a
// test says.
#ifndef PLUMBLINE_REFERENCE_AUTOGRAD_TESTING_TOY_OPERATORS_H_
#define PLUMBLINE_REFERENCE_AUTOGRAD_TESTING_TOY_OPERATORS_H_

#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "reference/autograd/arithmetic.h"
#include "reference/autograd/engine.h"
#include "reference/autograd/grad_mode.h"
#include "reference/autograd/node.h"
#include "reference/autograd/saved_tensor.h"
#include "reference/autograd/variable.h"
#include "reference/tensor/testing/error_of.h"

namespace plumbline::reference::toy {

inline KeyTableRef Keys() {
  static const KeyTableRef keys = KeyTable::ForRelease("pytorch-1.13");
  return keys;
}

inline Tensor Make(IntSpan sizes, std::vector<double> values = {}) {
  const Tensor made = Tensor::Empty(sizes, DType::kFloat64, DeviceType::kCpu, *Keys());
  values.resize(static_cast<std::size_t>(made.numel()));
  std::copy(values.begin(), values.end(), made.data<double>());
  return made;
}
inline Tensor Leaf(IntSpan sizes, std::vector<double> values = {}) {
  Tensor made = Make(sizes, std::move(values));
  SetRequiresGrad(made, true);
  return made;
}
inline double At(const Tensor& t, std::int64_t linear) {
  std::int64_t offset = 0;
  for (std::size_t d = t.sizes().size(); d-- > 0; linear /= t.sizes()[d]) {
    offset += linear % t.sizes()[d] * t.strides()[d];
  }
  return t.data<double>()[offset];
}
inline std::vector<double> ValuesOf(const Tensor& t) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < t.numel(); ++i) values.push_back(At(t, i));
  return values;
}
inline std::vector<double> ValuesOf(const Gradient& g) {
  return g.defined() ? ValuesOf(g.tensor()) : std::vector<double>();
}

template <class F>
Tensor Map(const F& f, const Tensor& a) {
  const Tensor out = Make(a.sizes());
  for (std::int64_t i = 0; i < out.numel(); ++i) out.data<double>()[i] = f(At(a, i));
  return out;
}
template <class F>
Tensor Map(const F& f, const Tensor& a, const Tensor& b) {
  const Tensor out = Make(a.sizes());
  for (std::int64_t i = 0; i < out.numel(); ++i)
    out.data<double>()[i] = f(At(a, i), b.numel() == 1 ? At(b, 0) : At(b, i));
  return out;
}

// A node of a test's own.
class FunctionNode final : public Node {
 public:
  using Function = std::function<void(Node&, Gradients& in, Gradients& out)>;
  FunctionNode(std::string name, Function function) : name_(std::move(name)), function_(std::move(function)) {}
  std::string_view name() const override { return name_; }
  void Apply(Gradients& in, Gradients& out) override { function_(*this, in, out); }

 private:
  const std::string name_;
  const Function function_;
};

inline bool Records(std::initializer_list<Tensor> arguments) {
  if (!GradMode::IsOn()) return false;
  for (const Tensor& argument : arguments) {
    if (RequiresGrad(argument)) return true;
  }
  return false;
}

inline Tensor Add(const Tensor& a, const Tensor& b) {
  Tensor out = Map([](double x, double y) { return x + y; }, a, b);
  if (Records({a, b})) {
    NodeRef node = MakeNode<FunctionNode>("AddBackward", [](Node&, Gradients& in, Gradients& sums) {
      sums[0] = in[0];
      sums[1] = in[0];
    });
    node->AddEdge(EdgeOf(a));
    node->AddEdge(EdgeOf(b));
    SetHistory(out, node);
  }
  return out;
}

Tensor Mul(const Tensor& a, const Tensor& b);

class MulBackward final : public Node {
 public:
  MulBackward(const Tensor& a, const Tensor& b) : a_(a), b_(b) {}
  std::string_view name() const override { return "MulBackward"; }
  void Apply(Gradients& in, Gradients& out) override {
    const Gradient a = a_.Unpack(*this), b = b_.Unpack(*this);
    if (!in[0].defined()) return;
    if (edges()[0]) out[0] = Gradient(Mul(in[0].tensor(), b.tensor()));
    if (edges()[1]) out[1] = Gradient(Mul(in[0].tensor(), a.tensor()));
  }
  void ReleaseSaved() override {
    a_.Release();
    b_.Release();
  }

 private:
  SavedTensor a_, b_;
};

inline Tensor Mul(const Tensor& a, const Tensor& b) {
  Tensor out = Map([](double x, double y) { return x * y; }, a, b);
  if (Records({a, b})) {
    NodeRef node = MakeNode<MulBackward>(a, b);
    node->AddEdge(EdgeOf(a));
    node->AddEdge(EdgeOf(b));
    SetHistory(out, node);
  }
  return out;
}

class ExpBackward final : public Node {
 public:
  std::string_view name() const override { return "ExpBackward"; }
  void Apply(Gradients& in, Gradients& out) override {
    if (in[0].defined()) out[0] = Gradient(Mul(in[0].tensor(), result.Unpack(*this).tensor()));
  }
  void ReleaseSaved() override { result.Release(); }
  SavedTensor result;
};

inline Tensor Exp(const Tensor& a) {
  Tensor out = Map([](double x) { return std::exp(x); }, a);
  if (Records({a})) {
    NodeRef node = MakeNode<ExpBackward>();
    node->AddEdge(EdgeOf(a));
    SetHistory(out, node);
    static_cast<ExpBackward&>(*node).result = SavedTensor(out, node.get());
  }
  return out;
}

// A gradient of the sum is one number, repeated.
inline Tensor Expand(const Tensor& a, DimVector sizes);
inline Tensor Sum(const Tensor& a) {
  double sum = 0;
  for (std::int64_t i = 0; i < a.numel(); ++i) sum += At(a, i);
  Tensor out = Make({}, {sum});
  if (Records({a})) {
    NodeRef node =
        MakeNode<FunctionNode>("SumBackward", [sizes = DimVector(a.sizes())](Node&, Gradients& in, Gradients& g) {
          if (in[0].defined()) g[0] = Gradient(Expand(in[0].tensor(), sizes));
        });
    node->AddEdge(EdgeOf(a));
    SetHistory(out, node);
  }
  return out;
}
inline Tensor Expand(const Tensor& a, DimVector sizes) {
  Tensor out = Make(sizes);
  for (std::int64_t i = 0; i < out.numel(); ++i) out.data<double>()[i] = At(a, 0);
  if (Records({a})) {
    NodeRef node = MakeNode<FunctionNode>("ExpandBackward", [](Node&, Gradients& in, Gradients& g) {
      if (in[0].defined()) g[0] = Gradient(Sum(in[0].tensor()));
    });
    node->AddEdge(EdgeOf(a));
    SetHistory(out, node);
  }
  return out;
}

// What an in-place operator does to the elements, and to their version.
inline void Write(const Tensor& t, double value) {
  t.data<double>()[0] = value;
  t.BumpVersion();
}

class ToyArithmetic final : public Arithmetic {
 public:
  Tensor Add(const Tensor& a, const Tensor& b) const override { return toy::Add(a, b); }
  void AddTo(const Tensor& sum, const Tensor& b) const override {
    for (std::int64_t i = 0; i < sum.numel(); ++i) {
      std::int64_t rest = i, offset = 0;
      for (std::size_t d = sum.sizes().size(); d-- > 0; rest /= sum.sizes()[d]) {
        offset += rest % sum.sizes()[d] * sum.strides()[d];
      }
      sum.data<double>()[offset] += At(b, i);
    }
    sum.BumpVersion();
  }
  Tensor SumTo(const Tensor& a, IntSpan sizes) const override {  // over the first dimension, or over all
    if (CheckedNumel(sizes) == 1) return Make(sizes, ValuesOf(toy::Sum(a)));
    const Tensor out = Make(sizes);
    for (std::int64_t i = 0; i < a.numel(); ++i) out.data<double>()[i % out.numel()] += At(a, i);
    return out;
  }
  Tensor Cast(const Tensor& a, DType) const override {
    const Tensor out = Make(a.sizes());
    for (std::int64_t i = 0; i < a.numel(); ++i) out.data<double>()[i] = static_cast<double>(a.data<float>()[i]);
    return out;
  }
  Tensor Copy(const Tensor& a, IntSpan strides) const override {
    const Tensor out = Tensor::EmptyStrided(a.sizes(), strides, a.dtype(), a.device(), *Keys());
    for (std::int64_t i = 0; i < a.numel(); ++i) {
      std::int64_t rest = i, offset = 0;
      for (std::size_t d = a.sizes().size(); d-- > 0; rest /= a.sizes()[d]) offset += rest % a.sizes()[d] * strides[d];
      out.data<double>()[offset] = At(a, i);
    }
    return out;
  }
  Tensor Zeros(IntSpan sizes, DType, Device) const override { return Make(sizes); }
  // No toy is a view.
  void CopyInto(const Tensor&, const Tensor&) const override {}
  Tensor InWindow(const Tensor& a, IntSpan, IntSpan, std::int64_t) const override { return a; }
  Tensor FromWindow(const Tensor& gradient, const Window&, const Window&) const override { return gradient; }
  Tensor OnesLike(const Tensor& a) const override { return Make(a.sizes(), std::vector<double>(1, 1.0)); }
};

inline const Arithmetic& Toy() {
  static const ToyArithmetic toy;
  return toy;
}

inline void Back(const Tensor& root, const PassOptions& options = {}) {
  const Root roots[] = {{root}};
  Backward(Toy(), roots, options);
}

// What a statement's error says, which has to be of that class.
template <class F>
std::string MessageOf(ErrorClass expected, const F& f) {
  const auto [error_class, message] = ErrorOf(f);
  EXPECT_EQ(error_class, expected) << message;
  return message;
}

}  // namespace plumbline::reference::toy

#endif  // PLUMBLINE_REFERENCE_AUTOGRAD_TESTING_TOY_OPERATORS_H_
