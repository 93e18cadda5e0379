// Every formula of the table, against differences of the operator itself, and its own gradient against differences of
// it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "kernels/derivatives/register.h"
#include "kernels/testing/operator_test.h"
#include "reference/autograd/arithmetic.h"
#include "reference/autograd/engine.h"
#include "reference/autograd/grad_mode.h"
#include "reference/autograd/node.h"
#include "reference/autograd/variable.h"
#include "reference/autograd/view.h"
#include "spec/tables/operators.h"

namespace plumbline::kernels {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class DerivativesTest : public OperatorTest {
 protected:
  DerivativesTest() : derivatives_(RegisterDerivatives(registry_)), arithmetic_(registry_) {}

  Tensor Doubles(const std::vector<std::int64_t>& sizes, const std::vector<double>& values) {
    return Make<double>(IntSpan(sizes), values);
  }
  static Tensor Required(const Tensor& tensor) {
    SetRequiresGrad(tensor, true);
    return tensor;
  }
  Tensor Sum(const Tensor& a) { return Call("sum", {Value(a), Value::None()}); }
  Tensor Mul(const Tensor& a, const Tensor& b) { return Call("mul.Tensor", {Value(a), Value(b)}); }

  const std::vector<Registration> derivatives_;
  const OperatorArithmetic arithmetic_;
};

// ---- each formula ----

// An argument of a call: a tensor that is drawn from a range, one that is given, or anything else.
struct Drawn {
  std::vector<std::int64_t> sizes;
  double from = 0.4, to = 1.4;
};
struct Given {
  Value value;
};
using Part = std::variant<Drawn, Given, std::vector<Drawn>>;

struct Sample {
  const char* op;
  std::vector<Part> parts;
  bool twice = true;  // its gradient has one too
};

Part D(std::vector<std::int64_t> sizes, double from = 0.4, double to = 1.4) {
  return Drawn{std::move(sizes), from, to};
}
Part N() { return Given{Value::None()}; }
template <class T>
Part V(T value) {
  return Given{Value(value)};
}
Part L(std::vector<std::int64_t> items) {
  std::vector<Value> list;
  for (const std::int64_t item : items) list.emplace_back(item);
  return Given{Value(std::move(list))};
}

class FormulasTest : public DerivativesTest {
 protected:
  Part Indices(std::vector<std::int64_t> sizes, std::vector<std::int64_t> values) {
    return Given{Value(Make<std::int64_t>(IntSpan(sizes), std::move(values)))};
  }
  Part Mask(std::vector<std::int64_t> sizes, const std::vector<bool>& values) {
    const Tensor mask = Tensor::Empty(IntSpan(sizes), DType::kBool, DeviceType::kCpu, keys());
    std::copy(values.begin(), values.end(), mask.data<bool>());
    return Given{Value(mask)};
  }

  std::vector<Sample> Samples() {
    std::vector<Sample> samples;
    for (const char* name :
         {"neg",  "silu",  "sqrt",    "rsqrt", "reciprocal", "square", "exp",  "exp2",  "expm1", "log",
          "log2", "log10", "log1p",   "sin",   "cos",        "tan",    "atan", "sinh",  "cosh",  "tanh",
          "erf",  "erfc",  "sigmoid", "abs",   "sign",       "floor",  "ceil", "trunc", "round", "relu"}) {
      samples.push_back({name, {D({2, 3}, 0.55, 0.95)}});
    }
    for (const char* name : {"asin", "acos"}) samples.push_back({name, {D({3}, -0.8, 0.8)}});
    for (const char* name : {"abs", "relu", "tanh"}) samples.push_back({name, {D({3}, -1.4, -0.4)}});
    samples.insert(samples.end(),
                   {{"leaky_relu", {D({4}, -1, 1), V(0.1)}},
                    {"gelu", {D({4}, -2, 2), V("none")}},
                    {"gelu", {D({4}, -2, 2), V("tanh")}},
                    {"add.Tensor", {D({2, 3}), D({3}), V(2)}},
                    {"add.Tensor", {D({}), D({2, 1}), V(0.5)}},
                    {"add.Scalar", {D({2}), V(3), V(2)}},
                    {"sub.Tensor", {D({2, 1}), D({1, 3}), V(2)}},
                    {"sub.Scalar", {D({2}), V(3), V(2)}},
                    {"rsub.Scalar", {D({2}), V(3), V(2)}},
                    {"mul.Tensor", {D({2, 3}), D({2, 1})}},
                    {"mul.Scalar", {D({2}), V(3)}},
                    {"div.Tensor", {D({2, 3}), D({3})}},
                    {"div.Scalar", {D({2}), V(3)}},
                    {"div.Tensor_mode", {D({3}), D({3}), N()}},
                    {"div.Tensor_mode", {D({3}, 2.1, 2.9), D({3}, 0.99, 1.0), V("floor")}},
                    {"remainder.Tensor", {D({3}, 2.1, 2.9), D({3}, 0.99, 1.0)}},
                    {"fmod.Tensor", {D({3}, 2.1, 2.9), D({3}, 0.99, 1.0)}},
                    {"pow.Tensor_Tensor", {D({2, 3}), D({3}, -1.5, 1.5)}},
                    {"pow.Tensor_Scalar", {D({3}), V(3)}},
                    {"pow.Tensor_Scalar", {D({3}), V(-0.5)}},
                    {"pow.Tensor_Scalar", {D({3}), V(0)}},
                    {"maximum", {D({4}, -1, 1), D({4}, -1, 1)}},
                    {"minimum", {D({4}, -1, 1), D({2, 4}, -1, 1)}},
                    {"clamp", {D({6}, -1, 1), V(-0.5), V(0.5)}},
                    {"clamp", {D({6}, -1, 1), N(), V(0.5)}},
                    {"atan2", {D({3}), D({3}, -1, 1)}},
                    {"addcmul", {D({2, 3}), D({3}), D({2, 1}), V(2)}},
                    {"addcdiv", {D({2, 3}), D({3}), D({2, 1}), V(2)}},
                    {"sum", {D({2, 3}), N()}},
                    {"sum.dim_IntList", {D({2, 3, 2}), L({0, -1}), V(false), N()}},
                    {"sum.dim_IntList", {D({2, 3}), L({1}), V(true), N()}},
                    {"sum.dim_IntList", {D({}), L({0}), V(false), N()}},
                    {"mean", {D({2, 3}), N()}},
                    {"mean.dim", {D({2, 3}), L({0}), V(false), N()}},
                    {"amax", {D({2, 3}, -1, 1), L({1}), V(false)}},
                    {"amin", {D({2, 3}, -1, 1), L({}), V(true)}},
                    {"max", {D({2, 3}, -1, 1)}},
                    {"min", {D({4}, -1, 1)}},
                    {"max.dim", {D({2, 3}, -1, 1), V(-1), V(false)}},
                    {"min.dim", {D({2, 3}, -1, 1), V(0), V(true)}},
                    {"var.correction", {D({2, 3}), L({1}), V(1), V(false)}},
                    {"var.correction", {D({2, 3}), N(), V(0), V(true)}},
                    {"std.correction", {D({2, 3}), L({0, 1}), N(), V(false)}},
                    {"norm.ScalarOpt_dim", {D({2, 3}, -1, 1), N(), L({1}), V(false)}},
                    {"norm.ScalarOpt_dim", {D({2, 3}, -1, 1), V(1), L({0}), V(true)}},
                    {"norm.ScalarOpt_dim", {D({2, 3}, -1, 1), V(3), L({}), V(false)}},
                    {"norm.ScalarOpt_dim", {D({2, 3}, -1, 1), V(HUGE_VAL), L({1}), V(false)}},
                    {"logsumexp", {D({2, 3}), L({1}), V(false)}},
                    {"cumsum", {D({2, 3}), V(1), N()}},
                    {"mm", {D({2, 3}), D({3, 4})}},
                    {"bmm", {D({2, 2, 3}), D({2, 3, 2})}},
                    {"mv", {D({2, 3}), D({3})}},
                    {"dot", {D({3}), D({3})}},
                    {"addmm", {D({4}), D({2, 3}), D({3, 4}), V(2), V(0.5)}},
                    {"baddbmm", {D({2, 2, 2}), D({2, 2, 3}), D({2, 3, 2}), V(2), V(0.5)}},
                    {"_softmax", {D({2, 3}), V(1), V(false)}},
                    {"_log_softmax", {D({2, 3}), V(0), V(false)}},
                    {"index.Tensor",
                     {D({3, 2}), Given{Value(std::vector<Value>{std::get<Given>(Indices({4}, {2, 0, 2, 1})).value})}}},
                    {"index_select", {D({3, 2}), V(0), Indices({4}, {2, 0, 2, 1})}},
                    {"gather", {D({3, 2}), V(1), Indices({2, 2}, {1, 0, 1, 1}), V(false)}},
                    {"scatter.src", {D({3, 2}), V(0), Indices({2, 2}, {2, 0, 0, 1}), D({2, 2})}},
                    {"scatter.value", {D({3, 2}), V(0), Indices({2, 2}, {2, 0, 0, 1}), V(7)}},
                    {"scatter_add", {D({3, 2}), V(0), Indices({2, 2}, {2, 0, 2, 1}), D({2, 2})}},
                    {"index_add", {D({3, 2}), V(0), Indices({4}, {2, 0, 2, 1}), D({4, 2}), V(2)}},
                    {"masked_fill.Scalar", {D({2, 2}), Mask({2}, {true, false}), V(7)}},
                    {"where.self", {Mask({2, 1}, {true, false}), D({2}), D({2, 2})}},
                    {"embedding", {D({3, 2}), Indices({2, 2}, {2, 0, 2, 1}), V(-1), V(false), V(false)}},
                    {"tril", {D({3, 3}), V(0)}},
                    {"triu", {D({2, 3}), V(1)}},
                    {"sort.stable", {D({2, 3}), V(true), V(1), V(true)}},
                    {"topk", {D({2, 4}), V(2), V(-1), V(true), V(true)}},
                    {"repeat", {D({2, 1}), L({3, 1, 2})}},
                    {"flip", {D({2, 3}), L({0, -1})}},
                    {"constant_pad_nd", {D({2, 3}), L({1, 0, -1, 2}), V(5)}},
                    {"view", {D({2, 3}), L({3, -1})}},
                    {"expand", {D({2, 1}), L({3, 2, 4}), V(false)}},
                    {"permute", {D({2, 3, 4}), L({-1, 0, 1})}},
                    {"transpose.int", {D({2, 3}), V(0), V(-1)}},
                    {"t", {D({2, 3})}},
                    {"select.int", {D({2, 3}), V(1), V(-1)}},
                    {"slice.Tensor", {D({5, 2}), V(0), V(1), V(5), V(2)}},
                    {"slice.Tensor", {D({2, 5}), V(-1), V(-4), N(), V(3)}},
                    {"slice.Tensor", {D({2, 5}), V(1), N(), V(2), V(1)}},
                    {"squeeze", {D({2, 1, 3, 1})}},
                    {"squeeze.dim", {D({2, 1}), V(1)}},
                    {"unsqueeze", {D({2}), V(0)}},
                    {"diagonal", {D({3, 4}), V(1), V(0), V(1)}},
                    {"diagonal", {D({2, 3, 2}), V(-1), V(1), V(2)}},
                    {"diagonal", {D({3, 2, 4}), V(0), V(2), V(0)}},
                    {"as_strided", {D({3, 4}), L({2, 3}), L({1, 2}), V(1)}},
                    {"as_strided", {D({2, 3}), L({2, 2}), L({1, 1}), N()}},  // its elements meet
                    {"alias", {D({2})}},
                    {"clone", {D({2, 3}), N()}},
                    {"_to_copy", {D({2}), N(), N(), N(), N(), V(false), N()}}});
    return samples;
  }

  // ---- what is differentiated: sum over all results of floating numbers of result * weight ----

  struct Trial {
    std::string op;
    std::vector<Value> arguments;
    std::vector<Tensor> variables;  // of the arguments, those that are drawn
    std::vector<Tensor> weights;
  };

  Trial TrialOf(const Sample& sample) {
    Trial trial{sample.op, {}, {}, {}};
    for (const Part& part : sample.parts) {
      if (const auto* given = std::get_if<Given>(&part)) {
        trial.arguments.push_back(given->value);
        continue;
      }
      const Drawn& drawn = std::get<Drawn>(part);
      trial.variables.push_back(Random(drawn));
      trial.arguments.emplace_back(trial.variables.back());
    }
    for (const Value& result : CallAll(sample.op, trial.arguments)) {
      if (!IsFloating(result.AsTensor()->dtype())) continue;
      const IntSpan sizes = result.AsTensor()->sizes();
      trial.weights.push_back(Random({{sizes.begin(), sizes.end()}, 0.5, 1.5}));
    }
    return trial;
  }

  Tensor Random(const Drawn& drawn) {
    const Tensor made = Tensor::Empty(IntSpan(drawn.sizes), DType::kFloat64, DeviceType::kCpu, keys());
    std::uniform_real_distribution<double> distribution(drawn.from, drawn.to);
    for (std::int64_t i = 0; i < made.numel(); ++i) made.data<double>()[i] = distribution(random_);
    return made;
  }

  Tensor Total(const Trial& trial) {
    Tensor total = Doubles({}, {0});
    std::size_t next = 0;
    for (const Value& result : CallAll(trial.op.c_str(), trial.arguments)) {
      if (!IsFloating(result.AsTensor()->dtype())) continue;
      total = Call("add.Tensor", {Value(total), Value(Sum(Mul(*result.AsTensor(), trial.weights[next++]))), Value(1)});
    }
    return total;
  }

  std::vector<Tensor> FirstGradients(const Trial& trial, bool create_graph) {
    const Root roots[] = {{Total(trial)}};
    std::vector<Tensor> gradients;
    const std::vector<Gradient> found =
        GradientsOf(arithmetic_, roots, trial.variables, {.create_graph = create_graph}, true);
    for (std::size_t i = 0; i < found.size(); ++i) {
      gradients.push_back(found[i].defined()
                              ? found[i].tensor()
                              : Call("zeros_like", {Value(trial.variables[i]), Value::None(), Value::None(),
                                                    Value::None(), Value::None(), Value::None()}));
    }
    return gradients;
  }

  // The slope of `of` with respect to one element.
  double Slope(const Tensor& variable, std::int64_t i, const std::function<double()>& of) {
    double& element = variable.data<double>()[i];
    const double before = element, step = 1e-5;
    element = before + step;
    const double above = of();
    element = before - step;
    const double below = of();
    element = before;
    return (above - below) / (2 * step);
  }

  void ExpectSlopes(const std::vector<Tensor>& variables, const std::vector<Tensor>& gradients,
                    const std::function<double()>& of, const std::string& what) {
    ASSERT_EQ(gradients.size(), variables.size());
    for (std::size_t v = 0; v < variables.size(); ++v) {
      const std::vector<double> got = List(gradients[v]);
      ASSERT_EQ(got.size(), static_cast<std::size_t>(variables[v].numel())) << what;
      for (std::int64_t i = 0; i < variables[v].numel(); ++i) {
        const double slope = Slope(variables[v], i, of);
        ASSERT_NEAR(got[static_cast<std::size_t>(i)], slope, 1e-7 + 1e-6 * std::fabs(slope))
            << what << ", variable " << v << ", element " << i;
      }
    }
  }

  std::mt19937_64 random_{7};
};

TEST_F(FormulasTest, AreTheSlopesOfTheirOperators) {
  for (const Sample& sample : Samples()) {
    Trial trial = TrialOf(sample);
    for (const Tensor& variable : trial.variables) SetRequiresGrad(variable, true);
    const std::vector<Tensor> gradients = FirstGradients(trial, false);
    ExpectSlopes(
        trial.variables, gradients,
        [&] {
          const GradMode off(false);
          return List(Total(trial))[0];
        },
        sample.op);
  }
}

// The gradients, each times a weight, are differentiated again, with respect to the variables and to the weights that
// went into them.
TEST_F(FormulasTest, HaveGradientsInTheirTurn) {
  for (const Sample& sample : Samples()) {
    Trial trial = TrialOf(sample);
    std::vector<Tensor> all = trial.variables;
    all.insert(all.end(), trial.weights.begin(), trial.weights.end());
    for (const Tensor& one : all) SetRequiresGrad(one, true);
    std::vector<Tensor> directions;
    for (const Tensor& variable : trial.variables) {
      const IntSpan sizes = variable.sizes();
      directions.push_back(Random({{sizes.begin(), sizes.end()}, 0.5, 1.5}));
    }
    const auto along = [&](bool create_graph) {
      const std::vector<Tensor> gradients = FirstGradients(trial, create_graph);
      Tensor total = Doubles({}, {0});
      for (std::size_t i = 0; i < gradients.size(); ++i) {
        total = Call("add.Tensor", {Value(total), Value(Sum(Mul(gradients[i], directions[i]))), Value(1)});
      }
      return total;
    };
    const Tensor total = along(true);
    if (!RequiresGrad(total)) continue;  // a gradient that is the same everywhere
    const Root roots[] = {{total}};
    std::vector<Tensor> second;
    const std::vector<Gradient> found = GradientsOf(arithmetic_, roots, all, {}, true);
    for (std::size_t i = 0; i < found.size(); ++i) {
      second.push_back(found[i].defined() ? found[i].tensor()
                                          : Call("zeros_like", {Value(all[i]), Value::None(), Value::None(),
                                                                Value::None(), Value::None(), Value::None()}));
    }
    ExpectSlopes(
        all, second, [&] { return List(along(false))[0]; }, std::string(sample.op) + ", the second time");
  }
}

TEST_F(FormulasTest, AllAreTried) {
  std::set<std::string> tried;
  for (const Sample& sample : Samples()) tried.insert(std::string("aten::") + sample.op);
  for (const tables::OperatorData& op : tables::kOperators) {
    if (op.derivatives.empty() || op.variant != tables::Variant::kFunctional) continue;
    EXPECT_TRUE(tried.contains(std::string(op.name))) << op.name;
  }
}

// ---- how calls are recorded ----

TEST_F(DerivativesTest, ANodeHasAnEdgeForEachArgumentThatAFormulaIsFor) {
  const Tensor x = Required(Doubles({2}, {1, 2})), y = Doubles({2}, {3, 4});
  const Tensor product = Mul(x, y);
  const NodeRef node = GradFn(product);
  ASSERT_TRUE(node);
  EXPECT_EQ(node->name(), "MulBackward");
  ASSERT_EQ(node->edges().size(), 2u);
  EXPECT_EQ(node->edges()[0].node->name(), "AccumulateGrad");
  EXPECT_FALSE(node->edges()[1]);
  EXPECT_FALSE(RequiresGrad(Mul(y, y)));
  const GradMode off(false);
  EXPECT_FALSE(RequiresGrad(Mul(x, y)));
}

// The classic: a = [1, 2], b = 2 a, its sum.
TEST_F(DerivativesTest, ASumOfAProduct) {
  const Tensor a = Required(Doubles({2}, {1, 2}));
  const Tensor b = Sum(Call("mul.Scalar", {Value(a), Value(2)}));
  EXPECT_EQ(GradFn(b)->name(), "SumBackward");
  EXPECT_EQ(GradFn(b)->edges()[0].node->name(), "MulBackward");
  const Root roots[] = {{b}};
  Backward(arithmetic_, roots);
  EXPECT_THAT(List(Grad(a).tensor()), ElementsAre(2, 2));
}

TEST_F(DerivativesTest, OnlyWhatTheEdgesNeedIsKept) {
  const Tensor x = Required(Doubles({2}, {1, 2})), y = Doubles({2}, {3, 4});
  const std::int64_t before = x.use_count();
  const Tensor product = Mul(x, y);
  EXPECT_EQ(x.use_count(), before + 1) << "its accumulator has it, the product does not: y needs no gradient";
}

// The classics of in place: y = x + 2, y += 1, z = 3 y; and z = y y, y += 1.
TEST_F(DerivativesTest, InPlaceGoesOnFromWhatWasThere) {
  const Tensor x = Required(Doubles({2}, {1, 2}));
  const Tensor y = Call("add.Scalar", {Value(x), Value(2), Value(1)});
  EXPECT_TRUE(Call("add_.Scalar", {Value(y), Value(1), Value(1)}).is_same(y));
  const Tensor z = Call("mul.Scalar", {Value(y), Value(3)});
  const Root vector[] = {{z}};
  EXPECT_THROW(Backward(arithmetic_, vector), DispatchError) << "it has two elements";
  const Root roots[] = {{Sum(z)}};
  Backward(arithmetic_, roots);
  EXPECT_THAT(List(Grad(x).tensor()), ElementsAre(3, 3));
}

TEST_F(DerivativesTest, WhatIsKeptMustNotBeWritten) {
  const Tensor x = Required(Doubles({2}, {1, 2}));
  const Tensor y = Call("add.Scalar", {Value(x), Value(2), Value(1)});
  const Tensor z = Mul(y, y);
  Call("add_.Scalar", {Value(y), Value(1), Value(1)});
  const Root roots[] = {{Sum(z)}};
  try {
    Backward(arithmetic_, roots);
    ADD_FAILURE() << "it is done";
  } catch (const DispatchError& error) {
    EXPECT_EQ(error.error_class(), ErrorClass::kVersionChanged);
    EXPECT_THAT(error.what(), HasSubstr("modified by an inplace operation"));
  }
}

TEST_F(DerivativesTest, InPlaceKeepsSelfAsItWas) {
  const Tensor x = Required(Doubles({2}, {2, 3}));
  const Tensor y = Call("mul.Scalar", {Value(x), Value(1)});
  Call("square_", {Value(y)});  // 2 y, of y as it was
  const Root roots[] = {{Sum(y)}};
  Backward(arithmetic_, roots);
  EXPECT_THAT(List(Grad(x).tensor()), ElementsAre(4, 6));
}

TEST_F(DerivativesTest, ALeafIsNotWritten) {
  const Tensor x = Required(Doubles({2}, {1, 2}));
  EXPECT_THAT(ErrorOf("add_.Scalar", {Value(x), Value(1), Value(1)}, ErrorClass::kInvalidArgument),
              HasSubstr("a leaf that requires a gradient is written in place"));
  EXPECT_THAT(List(x), ElementsAre(1, 2));
  {
    const GradMode off(false);
    Call("add_.Scalar", {Value(x), Value(1), Value(1)});
  }
  EXPECT_THAT(List(x), ElementsAre(2, 3));
}

TEST_F(DerivativesTest, ATensorBecomesAResultByWhatIsWritten) {
  const Tensor x = Required(Doubles({2}, {1, 2})), n = Doubles({2}, {1, 1});
  Call("add_.Tensor", {Value(n), Value(x), Value(1)});
  EXPECT_TRUE(RequiresGrad(n));
  EXPECT_FALSE(IsLeaf(n));
  const Root roots[] = {{Sum(n)}};
  Backward(arithmetic_, roots);
  EXPECT_THAT(List(Grad(x).tensor()), ElementsAre(1, 1));
}

TEST_F(DerivativesTest, IntegersHaveNoHistory) {
  const Tensor x = Required(Doubles({2, 2}, {1, 4, 3, 2}));
  const std::vector<Value> both = CallAll("max.dim", {Value(x), Value(1), Value(false)});
  EXPECT_TRUE(RequiresGrad(both[0].ToTensor()));
  EXPECT_FALSE(RequiresGrad(both[1].ToTensor()));
  EXPECT_EQ(GradFn(both[0].ToTensor())->inputs().size(), 2u);
}

TEST_F(DerivativesTest, CompositesAreRecordedByWhatTheyCall) {
  const Tensor x = Required(Doubles({1, 2}, {1, 2})), w = Required(Doubles({2, 2}, {1, 2, 3, 4}));
  const Tensor y = Call("linear", {Value(x), Value(w), Value::None()});
  const Root roots[] = {{Sum(y)}};
  Backward(arithmetic_, roots);
  EXPECT_THAT(List(Grad(x).tensor()), ElementsAre(4, 6));
  EXPECT_THAT(List(Grad(w).tensor()), ElementsAre(1, 2, 1, 2));
}

// ---- views ----

// base = 2 x; a part of it is written; base and views go on from there.
class ViewsTest : public DerivativesTest {
 protected:
  Tensor Scaled(const Tensor& a, double by) { return Call("mul.Scalar", {Value(a), Value(by)}); }
  Tensor ScaledInPlace(const Tensor& a, double by) { return Call("mul_.Scalar", {Value(a), Value(by)}); }
  Tensor At(const Tensor& a, int index) { return Call("select.int", {Value(a), Value(0), Value(index)}); }
  Tensor Slice(const Tensor& a, int from, int to) {
    return Call("slice.Tensor", {Value(a), Value(0), Value(from), Value(to), Value(1)});
  }
  std::vector<double> Back(const Tensor& of, const Tensor& leaf, bool keep = false) {
    SetGrad(leaf, Gradient());
    const Root roots[] = {{of}};
    Backward(arithmetic_, roots, {.keep_graph = keep});
    const Gradient gradient = Grad(leaf);
    return gradient.defined() ? List(gradient.tensor()) : std::vector<double>();
  }
  static std::string NameOf(const Tensor& tensor) { return std::string(GradFn(tensor)->name()); }
};

TEST_F(ViewsTest, AWriteThroughAViewIsOneOfItsBase) {
  const Tensor x = Required(Doubles({2}, {1, 1}));
  const Tensor base = Scaled(x, 2), first = At(base, 0), other = At(base, 1);
  EXPECT_EQ(NameOf(first), "SelectBackward");
  ScaledInPlace(first, 5);
  EXPECT_EQ(NameOf(base), "CopySlices");
  EXPECT_EQ(NameOf(first), "AsStridedBackward");
  EXPECT_EQ(NameOf(other), "AsStridedBackward") << "another view of the base";
  EXPECT_TRUE(BaseOf(first).is_same(base));
  EXPECT_THAT(Back(Sum(base), x, true), ElementsAre(10, 2));
  EXPECT_THAT(Back(first, x, true), ElementsAre(10, 0));
  EXPECT_THAT(Back(other, x, true), ElementsAre(0, 2));
}

TEST_F(ViewsTest, AViewOfAViewIsOneOfTheRoot) {
  const Tensor x = Required(Doubles({2, 3}, {1, 2, 3, 4, 5, 6}));
  const Tensor base = Scaled(x, 2);
  const Tensor rows = Call("t", {Value(base)}), inner = At(rows, 1);
  EXPECT_TRUE(BaseOf(inner).is_same(base));
  Call("square_", {Value(inner)});  // (2 x)^2: 8 x
  EXPECT_THAT(Back(Sum(base), x), ElementsAre(2, 16, 2, 2, 40, 2));
}

TEST_F(ViewsTest, ABaseThatNeededNothingNeedsIt) {
  const Tensor w = Required(Doubles({2}, {1, 2})), base = Doubles({4}, {0, 0, 0, 0});
  const Tensor part = Slice(base, 1, 3);
  EXPECT_FALSE(RequiresGrad(base));
  Call("copy_", {Value(part), Value(w), Value(false)});
  EXPECT_TRUE(RequiresGrad(base));
  EXPECT_FALSE(IsLeaf(base));
  EXPECT_THAT(Back(Sum(Scaled(base, 3)), w), ElementsAre(3, 3));
}

TEST_F(ViewsTest, WhatIsWrittenOverGetsNothing) {
  const Tensor x = Required(Doubles({3}, {1, 2, 3}));
  const Tensor base = Scaled(x, 2);
  Call("zero_", {Value(Slice(base, 0, 2))});
  EXPECT_THAT(Back(Sum(base), x), ElementsAre(0, 0, 2));
}

TEST_F(ViewsTest, TwoWritesInTheirOrder) {
  const Tensor x = Required(Doubles({3}, {1, 2, 3})), y = Required(Doubles({2}, {5, 7}));
  const Tensor base = Scaled(x, 1), left = Slice(base, 0, 2), right = Slice(base, 1, 3);
  Call("mul_.Tensor", {Value(left), Value(y)});   // 5 x0, 7 x1, x2
  Call("mul_.Tensor", {Value(right), Value(y)});  // 5 x0, 35 x1, 7 x2
  EXPECT_THAT(List(base), ElementsAre(5, 70, 21));
  EXPECT_THAT(Back(Sum(base), x, true), ElementsAre(5, 35, 7));
  EXPECT_THAT(Back(Sum(base), y), ElementsAre(1 + 7 * 2, 5 * 2 + 3));
}

TEST_F(ViewsTest, AResultThatIsWrittenIntoAViewIsKeptWithoutACycle) {
  const std::int64_t before = Node::Alive();
  {
    const Tensor x = Required(Doubles({2}, {0.5, 1}));
    const Tensor base = Scaled(x, 1), part = At(base, 0);
    Call("exp_", {Value(part)});
    const Root roots[] = {{Sum(base)}};
    const Tensor inputs[] = {x};
    const std::vector<Gradient> first = GradientsOf(arithmetic_, roots, inputs, {.create_graph = true});
    EXPECT_THAT(List(first[0].tensor()), ElementsAre(std::exp(0.5), 1));
    const Root again[] = {{Sum(first[0].tensor())}};
    EXPECT_THAT(List(GradientsOf(arithmetic_, again, inputs)[0].tensor()), ElementsAre(std::exp(0.5), 0));
  }
  EXPECT_EQ(Node::Alive(), before);
}

// z = y y keeps y, and y += z leads to z.
TEST_F(ViewsTest, WhatIsKeptAndWrittenLaterIsNoCycle) {
  const std::int64_t before = Node::Alive();
  for (const bool through_view : {false, true}) {
    const Tensor x = Required(Doubles({2}, {0.5, 1}));
    const Tensor base = Scaled(x, 1), y = through_view ? Slice(base, 0, 2) : base;
    Call("add_.Tensor", {Value(y), Value(Mul(y, y)), Value(1)});
    EXPECT_GT(Node::Alive(), before);
  }
  EXPECT_EQ(Node::Alive(), before);
}

TEST_F(ViewsTest, ASecondPassFindsWhatIsFreed) {
  const Tensor x = Required(Doubles({2}, {1, 2}));
  const Tensor base = Scaled(x, 2);
  ScaledInPlace(At(base, 0), 2);
  const Tensor sum = Sum(base);
  Back(sum, x);
  const Root roots[] = {{sum}};
  try {
    Backward(arithmetic_, roots);
    ADD_FAILURE() << "it is done";
  } catch (const DispatchError& error) {
    EXPECT_EQ(error.error_class(), ErrorClass::kGraphFreed) << error.what();
  }
}

TEST_F(ViewsTest, AViewOfALeafIsNotWritten) {
  const Tensor x = Required(Doubles({2}, {1, 2}));
  const Tensor view = At(x, 0);
  EXPECT_THAT(ErrorOf("mul_.Scalar", {Value(view), Value(2)}, ErrorClass::kInvalidArgument),
              HasSubstr("a view of a leaf that requires a gradient is written in place"));
  EXPECT_THAT(List(x), ElementsAre(1, 2));
  const GradMode off(false);
  ScaledInPlace(view, 2);
  EXPECT_THAT(List(x), ElementsAre(2, 2));
}

TEST_F(ViewsTest, AViewOfNoGradIsNotWrittenWithARecord) {
  const Tensor x = Required(Doubles({2}, {1, 2})), base = Scaled(x, 2);
  const Tensor view = [&] {
    const GradMode off(false);
    return At(base, 0);
  }();
  EXPECT_TRUE(RequiresGrad(view)) << "its base does";
  EXPECT_TRUE(IsLeaf(view));
  EXPECT_THAT(ErrorOf("mul_.Scalar", {Value(view), Value(2)}, ErrorClass::kInvalidArgument),
              HasSubstr("Operator 'aten::mul_.Scalar': the view was made with grad mode off"));
  const Tensor inner = Call("unsqueeze", {Value(view), Value(0)});
  EXPECT_THAT(ErrorOf("mul_.Scalar", {Value(inner), Value(2)}, ErrorClass::kInvalidArgument),
              HasSubstr("made with grad mode off"));
  ScaledInPlace(base, 2);
  EXPECT_THROW(GradFn(view), DispatchError) << "its base was written";
}

TEST_F(ViewsTest, WithoutARecordAllMayBeWritten) {
  const Tensor plain = Doubles({2}, {1, 2});
  const Tensor view = [&] {
    const GradMode off(false);
    return At(plain, 0);
  }();
  ScaledInPlace(view, 2);
  EXPECT_THAT(List(plain), ElementsAre(2, 2));
  const Tensor w = Required(Doubles({}, {1}));
  EXPECT_THAT(ErrorOf("copy_", {Value(view), Value(w), Value(false)}, ErrorClass::kInvalidArgument),
              HasSubstr("made with grad mode off"));
}

TEST_F(ViewsTest, ARetainedGradientGoesWithTheTensor) {
  const Tensor x = Required(Doubles({2}, {1, 2}));
  const Tensor y = Scaled(x, 2);
  RetainGrad(y);
  std::vector<double> seen;
  AddTensorHook(y, [&](const Gradient& gradient) {
    seen = List(gradient.tensor());
    return Gradient();
  });
  ScaledInPlace(y, 3);
  Back(Sum(y), x);
  EXPECT_THAT(List(Grad(y).tensor()), ElementsAre(1, 1)) << "of what it is now";
  EXPECT_THAT(seen, ElementsAre(3, 3)) << "a hook stays with what it was";
}

TEST_F(DerivativesTest, ARowForPaddingHasNoGradient) {
  const Tensor weight = Required(Doubles({3, 1}, {1, 2, 3}));
  const Tensor at = Make<std::int64_t>({4}, {2, 0, 2, 1});
  const Tensor rows = Call("embedding", {Value(weight), Value(at), Value(2), Value(false), Value(false)});
  const Root roots[] = {{Sum(rows)}};
  Backward(arithmetic_, roots);
  EXPECT_THAT(List(Grad(weight).tensor()), ElementsAre(1, 1, 0));
}

TEST_F(DerivativesTest, NothingIsLeft) {
  const std::int64_t before = Node::Alive();
  {
    const Tensor x = Required(Doubles({2}, {1, 2}));
    Tensor y = x;
    for (int i = 0; i < 100; ++i) y = Call("tanh", {Value(Mul(y, x))});
    EXPECT_EQ(Node::Alive(), before + 201);
  }
  EXPECT_EQ(Node::Alive(), before);
}

}  // namespace
}  // namespace plumbline::kernels
