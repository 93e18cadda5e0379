// The oracle against values computed by hand, and the comparison against results that are wrong on purpose.
#include "conformance/suites/operators/oracle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "conformance/suites/operators/draw_calls.h"
#include "conformance/suites/operators/judge_changes.h"
#include "conformance/suites/operators/variants.h"

namespace plumbline::suites {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr long double kNan = std::numeric_limits<long double>::quiet_NaN();
constexpr long double kInf = std::numeric_limits<long double>::infinity();
constexpr std::uint32_t kF16 = PL_DTYPE_FLOAT16, kF32 = PL_DTYPE_FLOAT32, kI64 = PL_DTYPE_INT64, kU8 = PL_DTYPE_UINT8,
                        kBool = PL_DTYPE_BOOL;

HostTensor Tensor(std::uint32_t dtype, Sizes sizes, const std::vector<long double>& values) {
  HostTensor tensor = HostTensor::Contiguous(dtype, std::move(sizes));
  for (std::size_t i = 0; i < values.size(); ++i) tensor.Set(static_cast<std::int64_t>(i), values[i]);
  return tensor;
}
Argument T(std::uint32_t dtype, Sizes sizes, const std::vector<long double>& values) {
  return Argument::Of(Tensor(dtype, std::move(sizes), values));
}

Expected Ask(const std::string& name, std::vector<Argument> arguments) {
  const Oracle* oracle = OracleFor(name);
  EXPECT_NE(oracle, nullptr) << name;
  return (*oracle)({"aten::" + name, std::move(arguments)});
}
std::vector<long double> ValuesOf(const Expected& expected, std::size_t result = 0) {
  EXPECT_FALSE(expected.refused()) << expected.why;
  if (expected.tensors.size() <= result) return {};
  return expected.tensors[result].values;
}

TEST(Oracle, RemaindersAndQuotientsOfIntegersRound) {
  const std::vector<Argument> two{T(kI64, {4}, {7, -7, 7, -7}), T(kI64, {4}, {2, 2, -2, -2})};
  EXPECT_THAT(ValuesOf(Ask("floor_divide", two)), ElementsAre(3, -4, -4, 3));
  EXPECT_THAT(ValuesOf(Ask("remainder.Tensor", two)), ElementsAre(1, 1, -1, -1));
  EXPECT_THAT(ValuesOf(Ask("fmod.Tensor", two)), ElementsAre(1, -1, 1, -1));
  std::vector<Argument> trunc = two;
  trunc.push_back(Argument::Text("trunc"));
  EXPECT_THAT(ValuesOf(Ask("div.Tensor_mode", trunc)), ElementsAre(3, -3, -3, 3));
  EXPECT_TRUE(Ask("floor_divide", {T(kI64, {1}, {1}), T(kI64, {1}, {0})}).refused());
}

TEST(Oracle, TheRemainderOfAnInfinityIsNan) {
  EXPECT_TRUE(std::isnan(ValuesOf(Ask("remainder.Tensor", {T(kF32, {1}, {-kInf}), T(kF32, {1}, {-kInf})}))[0]));
  EXPECT_THAT(ValuesOf(Ask("remainder.Tensor", {T(kF32, {1}, {1}), T(kF32, {1}, {-kInf})})), ElementsAre(-kInf));
}

TEST(Oracle, FloatingQuotientsRoundDown) {
  const Expected expected = Ask("floor_divide", {T(kF32, {4}, {7.5L, -7.5L, -0.0L, 1}), T(kF32, {4}, {2, 2, 5, 0})});
  EXPECT_THAT(ValuesOf(expected), ElementsAre(3, -4, 0, kInf));
  EXPECT_TRUE(std::signbit(ValuesOf(expected)[2]));
}

TEST(Oracle, OfManyRandomIntegersItKnowsTheRange) {
  const auto expected = [](std::int64_t low, std::int64_t high) {
    return Ask("randint.low", {Argument::Int(low), Argument::Int(high), Argument::Ints({1}), Argument::None(),
                               Argument::None(), Argument::None(), Argument::None()})
        .tensors.at(0);
  };
  const ExpectedTensor many = expected(-10, 100000);
  EXPECT_EQ(CompareElements(many, Tensor(kI64, {1}, {-10})), std::nullopt);
  EXPECT_EQ(CompareElements(many, Tensor(kI64, {1}, {99999})), std::nullopt);
  EXPECT_NE(CompareElements(many, Tensor(kI64, {1}, {100000})), std::nullopt);
  EXPECT_NE(CompareElements(many, Tensor(kI64, {1}, {-11})), std::nullopt);
  const std::int64_t least = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(CompareElements(expected(least, -(least + 1)), Tensor(kI64, {1}, {0})), std::nullopt);
}

TEST(Oracle, PowersOfIntegersWrap) {
  EXPECT_THAT(ValuesOf(Ask("pow.Tensor_Tensor", {T(kU8, {3}, {2, 3, 16}), T(kU8, {3}, {7, 5, 2})})),
              ElementsAre(128, 243, 0));
  EXPECT_THAT(ValuesOf(Ask("pow.Tensor_Tensor", {T(kI64, {4}, {1, -1, 2, -1}), T(kI64, {4}, {-3, -3, -3, -4})})),
              ElementsAre(1, -1, 0, 1));
  EXPECT_TRUE(Ask("pow.Tensor_Scalar", {T(kI64, {1}, {2}), Argument::Int(-1)}).refused());
}

TEST(Oracle, ClampKeepsNanAndPrefersMax) {
  const auto values = ValuesOf(Ask("clamp", {T(kF32, {4}, {-3, 0.5L, 9, kNan}), Argument::Int(2), Argument::Int(1)}));
  EXPECT_THAT(std::vector(values.begin(), values.begin() + 3), ElementsAre(1, 1, 1));
  EXPECT_TRUE(std::isnan(values[3]));
}

TEST(Oracle, WhereDoesNotShowWhatIsNotChosen) {
  EXPECT_THAT(ValuesOf(Ask("where.self", {T(kBool, {2}, {1, 0}), T(kF32, {2}, {1, kNan}), T(kF32, {}, {5})})),
              ElementsAre(1, 5));
}

TEST(Oracle, Reductions) {
  const Argument x = T(kF32, {2, 2}, {1, 2, 3, 4});
  EXPECT_THAT(ValuesOf(Ask("sum.dim_IntList", {x, Argument::Ints({0}), Argument::Bool(false), Argument::None()})),
              ElementsAre(4, 6));
  EXPECT_THAT(ValuesOf(Ask("prod", {x, Argument::None()})), ElementsAre(24));
  EXPECT_THAT(ValuesOf(Ask("cumsum", {x, Argument::Int(1), Argument::None()})), ElementsAre(1, 3, 3, 7));
  EXPECT_THAT(ValuesOf(Ask("cumprod", {x, Argument::Int(0), Argument::None()})), ElementsAre(1, 2, 3, 8));
  EXPECT_THAT(ValuesOf(Ask("amax", {x, Argument::Ints({1}), Argument::Bool(false)})), ElementsAre(2, 4));
  EXPECT_THAT(ValuesOf(Ask("argmin", {x, Argument::None(), Argument::Bool(false)})), ElementsAre(0));
  EXPECT_THAT(ValuesOf(Ask("count_nonzero.dim_IntList", {T(kF32, {4}, {0, -0.0L, kNan, 3}), Argument::Ints({})})),
              ElementsAre(2));
  const Expected variance = Ask("var.correction", {x, Argument::None(), Argument::None(), Argument::Bool(false)});
  EXPECT_NEAR(static_cast<double>(ValuesOf(variance)[0]), 5.0 / 3, 1e-15);
  EXPECT_THAT(ValuesOf(Ask("norm.ScalarOpt_dim",
                           {T(kF32, {2}, {3, 4}), Argument::None(), Argument::Ints({0}), Argument::Bool(false)})),
              ElementsAre(5));
  const Expected lse = Ask("logsumexp", {T(kF32, {2}, {1000, 1000}), Argument::Ints({0}), Argument::Bool(false)});
  EXPECT_NEAR(static_cast<double>(ValuesOf(lse)[0]), 1000.6931471805599, 1e-10);
}

TEST(Oracle, ProductsOfIntegersWrapBeyondTheDigitsOfALongDouble) {
  const std::vector<long double> nine(11, 65);
  EXPECT_THAT(ValuesOf(Ask("prod", {T(PL_DTYPE_INT8, {11}, nine), Argument::None()})),
              ElementsAre(-4725888628459867455));
  EXPECT_THAT(ValuesOf(Ask("cumprod", {T(kI64, {2}, {-5401208502934601728, 4165246883969970175}), Argument::Int(0),
                                       Argument::None()})),
              ElementsAre(-5401208502934601728, -5542544303211118592));
  EXPECT_THAT(ValuesOf(Ask("prod", {T(kF32, {2}, {0.5L, 256}), Argument::Int(kBool)})), ElementsAre(1));
}

TEST(Oracle, SumsOfWhatNoIntegerHoldsMayBeAnything) {
  const Argument large = T(kF32, {1}, {53139025920});
  EXPECT_THAT(Ask("sum", {large, Argument::Int(PL_DTYPE_INT32)}).tensors[0].bounds, ElementsAre(kInf));
  EXPECT_THAT(Ask("sum", {large, Argument::Int(kI64)}).tensors[0].bounds, ElementsAre(0));
  // Half of it passes the greatest number before it meets infinity.
  const long double greatest = std::numeric_limits<double>::max();
  const Argument both = T(PL_DTYPE_FLOAT64, {3}, {-greatest, -greatest, kInf});
  EXPECT_THAT(Ask("sum", {both, Argument::None()}).tensors[0].bounds, ElementsAre(kInf));
  EXPECT_THAT(Ask("sum", {T(kF32, {2}, {1, kInf}), Argument::None()}).tensors[0].bounds, ElementsAre(0));
}

TEST(Oracle, LogicAsksInTheDtypeThatOperandsPromoteTo) {
  EXPECT_THAT(ValuesOf(Ask("logical_xor", {T(PL_DTYPE_FLOAT64, {}, {1e-135L}), T(kF16, {1}, {0})})), ElementsAre(0));
  EXPECT_THAT(ValuesOf(Ask("logical_xor", {T(PL_DTYPE_FLOAT64, {1}, {1e-135L}), T(kF16, {1}, {0})})), ElementsAre(1));
}

TEST(Oracle, AScalarOf16BitsIsComputedInFloat32) {
  const Expected sum =
      Ask("addcmul", {T(kF16, {1}, {6}), T(kF16, {1}, {-7}), T(kF16, {1}, {1}), Argument::Float(1.75310306218L)});
  EXPECT_NEAR(static_cast<double>(ValuesOf(sum)[0]), 6 - 7 * 1.75310306218, 1e-6);
}

TEST(Oracle, WhatElementsSayIsMarked) {
  const Argument a = T(kI64, {1}, {1}), zero = T(kI64, {1}, {0}), beyond = T(kI64, {1}, {1});
  EXPECT_TRUE(Ask("remainder.Tensor", {a, zero}).by_elements);
  EXPECT_TRUE(Ask("index_select", {a, Argument::Int(0), beyond}).by_elements);
  EXPECT_TRUE(Ask("index.Tensor", {a, Argument::List({beyond})}).by_elements);
  EXPECT_FALSE(Ask("index_select", {a, Argument::Int(1), beyond}).by_elements);
  HostTensor all = HostTensor::Strided(kI64, {2}, {0}, 0, 1);
  EXPECT_FALSE(Ask("remainder_.Tensor", {Argument::Of(all), zero}).by_elements) << "it overlaps itself too";
}

TEST(Oracle, TheExtremeOfEqualElementsMayBeAny) {
  const Expected expected = Ask("max.dim", {T(kI64, {4}, {1, 5, 5, 2}), Argument::Int(0), Argument::Bool(false)});
  ASSERT_EQ(expected.tensors.size(), 2u);
  EXPECT_THAT(expected.tensors[1].any_of[0], ElementsAre(1, 2));
  EXPECT_TRUE(Ask("max", {T(kI64, {0}, {})}).refused());
}

TEST(Oracle, Products) {
  const Argument a = T(kI64, {2, 2}, {1, 2, 3, 4}), b = T(kI64, {2, 2}, {5, 6, 7, 8});
  EXPECT_THAT(ValuesOf(Ask("mm", {a, b})), ElementsAre(19, 22, 43, 50));
  EXPECT_THAT(ValuesOf(Ask("addmm", {T(kI64, {2}, {1, 1}), a, b, Argument::Int(2), Argument::Int(-1)})),
              ElementsAre(-17, -20, -41, -48));
  EXPECT_THAT(ValuesOf(Ask("linear", {a, b, T(kI64, {2}, {100, 200})})), ElementsAre(117, 223, 139, 253));
  EXPECT_THAT(ValuesOf(Ask("matmul", {T(kI64, {2}, {1, 2}), b})), ElementsAre(19, 22));
  EXPECT_THAT(ValuesOf(Ask("dot", {T(kI64, {2}, {1, 2}), T(kI64, {2}, {3, 4})})), ElementsAre(11));
  EXPECT_THAT(ValuesOf(Ask("addmm", {T(kF32, {1}, {kNan}), T(kF32, {1, 1}, {2}), T(kF32, {1, 1}, {3}), Argument::Int(0),
                                     Argument::Int(1)})),
              ElementsAre(6));
}

TEST(Oracle, SoftmaxAndNormalisation) {
  EXPECT_THAT(ValuesOf(Ask("softmax.int", {T(kF32, {2}, {3, 3}), Argument::Int(0), Argument::None()})),
              ElementsAre(0.5L, 0.5L));
  EXPECT_TRUE(std::isnan(ValuesOf(Ask("softmax.int", {T(kF32, {1}, {-kInf}), Argument::Int(0), Argument::None()}))[0]));
  const Expected norm = Ask("layer_norm", {T(kF32, {2}, {1, 3}), Argument::Ints({2}), Argument::None(),
                                           Argument::None(), Argument::Float(0), Argument::Bool(true)});
  EXPECT_THAT(ValuesOf(norm), ElementsAre(-1, 1));
  const Expected batch =
      Ask("native_batch_norm", {T(kF32, {2, 1}, {1, 3}), Argument::None(), Argument::None(), T(kF32, {1}, {0}),
                                T(kF32, {1}, {1}), Argument::Bool(true), Argument::Float(0.5), Argument::Float(0)});
  EXPECT_THAT(ValuesOf(batch), ElementsAre(-1, 1));
  EXPECT_THAT(batch.changed.at(1).values, ElementsAre(1));     // half of 0, half of 2
  EXPECT_THAT(batch.changed.at(2).values, ElementsAre(1.5L));  // half of 1, half of 2
}

TEST(Oracle, ViewsShowTheSameMemory) {
  const Argument x = T(kI64, {2, 3}, {0, 1, 2, 3, 4, 5});
  const Expected turned = Ask("transpose.int", {x, Argument::Int(0), Argument::Int(1)});
  EXPECT_THAT(ValuesOf(turned), ElementsAre(0, 3, 1, 4, 2, 5));
  EXPECT_EQ(turned.tensors[0].shares_with, 0);
  EXPECT_EQ(turned.tensors[0].strides, (Sizes{1, 3}));
  HostTensor columns = HostTensor::Strided(kI64, {3, 2}, {1, 3}, 0, 6);
  EXPECT_TRUE(Ask("view", {Argument::Of(columns), Argument::Ints({6})}).refused());
  EXPECT_EQ(Ask("reshape", {Argument::Of(columns), Argument::Ints({6})}).tensors[0].shares_with, -1);
  EXPECT_EQ(Ask("view", {x, Argument::Ints({3, -1})}).tensors[0].strides, (Sizes{2, 1}));
  EXPECT_THAT(
      ValuesOf(Ask("slice.Tensor", {x, Argument::Int(1), Argument::Int(-2), Argument::None(), Argument::Int(1)})),
      ElementsAre(1, 2, 4, 5));
  EXPECT_THAT(ValuesOf(Ask("diagonal", {x, Argument::Int(1), Argument::Int(0), Argument::Int(1)})), ElementsAre(1, 5));
  EXPECT_TRUE(Ask("as_strided", {x, Argument::Ints({7}), Argument::Ints({1}), Argument::None()}).refused());
}

TEST(Oracle, CopiesConvert) {
  EXPECT_THAT(ValuesOf(Ask("to.dtype", {T(kF32, {3}, {2.7L, -2.7L, 0.5L}), Argument::Int(kI64), Argument::Bool(false),
                                        Argument::Bool(false), Argument::None()})),
              ElementsAre(2, -2, 0));
  EXPECT_THAT(ValuesOf(Ask("to.dtype", {T(kI64, {2}, {257, -1}), Argument::Int(kU8), Argument::Bool(false),
                                        Argument::Bool(false), Argument::None()})),
              ElementsAre(1, 255));
  EXPECT_EQ(Ask("to.dtype", {T(kF32, {1}, {1}), Argument::Int(kF32), Argument::Bool(false), Argument::Bool(false),
                             Argument::None()})
                .tensors[0]
                .same_as,
            0);
}

TEST(Oracle, JoiningAndIndexing) {
  const Argument x = T(kI64, {2, 2}, {1, 2, 3, 4});
  EXPECT_THAT(ValuesOf(Ask("cat", {Argument::List({x, T(kF32, {2, 1}, {9, 8})}), Argument::Int(-1)})),
              ElementsAre(1, 2, 9, 3, 4, 8));
  EXPECT_THAT(ValuesOf(Ask("stack", {Argument::List({x, x}), Argument::Int(2)})), ElementsAre(1, 1, 2, 2, 3, 3, 4, 4));
  EXPECT_EQ(Ask("split.Tensor", {T(kI64, {5}, {1, 2, 3, 4, 5}), Argument::Int(2), Argument::Int(0)}).tensors.size(),
            3u);
  EXPECT_THAT(ValuesOf(Ask("gather", {x, Argument::Int(1), T(kI64, {2, 1}, {1, 0}), Argument::Bool(false)})),
              ElementsAre(2, 3));
  EXPECT_THAT(ValuesOf(Ask("scatter_add",
                           {x, Argument::Int(0), T(kI64, {2, 2}, {0, 0, 0, 1}), T(kI64, {2, 2}, {10, 20, 30, 40})})),
              ElementsAre(41, 22, 3, 44));
  EXPECT_THAT(ValuesOf(Ask("index.Tensor", {x, Argument::List({Argument::None(), T(kI64, {3}, {-1, 0, 1})})})),
              ElementsAre(2, 1, 2, 4, 3, 4));
  EXPECT_THAT(ValuesOf(Ask("index.Tensor", {x, Argument::List({T(kBool, {2, 2}, {0, 1, 1, 0})})})), ElementsAre(2, 3));
  EXPECT_TRUE(Ask("index_select", {x, Argument::Int(0), T(kI64, {1}, {2})}).refused());
  EXPECT_THAT(ValuesOf(Ask("nonzero", {T(kI64, {2, 2}, {0, 1, 1, 0})})), ElementsAre(0, 1, 1, 0));
  EXPECT_THAT(ValuesOf(Ask("triu", {x, Argument::Int(0)})), ElementsAre(1, 2, 0, 4));
  EXPECT_THAT(ValuesOf(Ask("sort.stable",
                           {T(kI64, {3}, {2, 1, 2}), Argument::Bool(true), Argument::Int(0), Argument::Bool(true)}),
                       1),
              ElementsAre(0, 2, 1));
}

TEST(Oracle, IndicesThatAreApartComeFirst) {
  const Argument x = T(kI64, {2, 3, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  const Argument at = T(kI64, {1}, {1});
  EXPECT_EQ(Ask("index.Tensor", {x, Argument::List({at, Argument::None(), at})}).tensors[0].sizes, (Sizes{1, 3}));
  EXPECT_EQ(Ask("index.Tensor", {x, Argument::List({Argument::None(), at, at})}).tensors[0].sizes, (Sizes{2, 1}));
}

TEST(Oracle, Factories) {
  const Argument none = Argument::None();
  EXPECT_THAT(ValuesOf(Ask("arange.start_step",
                           {Argument::Int(5), Argument::Int(0), Argument::Int(-2), none, none, none, none})),
              ElementsAre(5, 3, 1));
  EXPECT_THAT(ValuesOf(Ask("linspace", {Argument::Int(0), Argument::Int(1), Argument::Int(5), none, none, none, none})),
              ElementsAre(0, 0.25L, 0.5L, 0.75L, 1));
  EXPECT_THAT(ValuesOf(Ask("eye.m", {Argument::Int(2), Argument::Int(3), none, none, none, none})),
              ElementsAre(1, 0, 0, 0, 1, 0));
  EXPECT_EQ(Ask("full", {Argument::Ints({1}), Argument::Bool(true), none, none, none, none}).tensors[0].dtype, kBool);
}

TEST(Oracle, ConvolutionAndPooling) {
  const Argument image = T(kF32, {1, 1, 2, 3}, {1, 2, 3, 4, 5, 6}), kernel = T(kF32, {1, 1, 2, 2}, {1, 0, 0, 10});
  const Argument one = Argument::Ints({1, 1}), zero = Argument::Ints({0, 0});
  EXPECT_THAT(ValuesOf(Ask("conv2d", {image, kernel, T(kF32, {1}, {100}), one, zero, one, Argument::Int(1)})),
              ElementsAre(151, 162));
  EXPECT_THAT(ValuesOf(Ask("convolution", {T(kF32, {1, 1, 1, 2}, {1, 2}), kernel, Argument::None(), one, zero, one,
                                           Argument::Bool(true), zero, Argument::Int(1)})),
              ElementsAre(1, 2, 0, 0, 10, 20));
  const Expected pooled = Ask("max_pool2d_with_indices", {image, Argument::Ints({2, 2}), Argument::Ints({1, 1}), zero,
                                                          one, Argument::Bool(false)});
  EXPECT_THAT(ValuesOf(pooled), ElementsAre(5, 6));
  EXPECT_THAT(ValuesOf(pooled, 1), ElementsAre(4, 5));
  EXPECT_THAT(ValuesOf(Ask("avg_pool2d", {image, Argument::Ints({2, 3}), Argument::Ints({}), zero,
                                          Argument::Bool(false), Argument::Bool(true), Argument::None()})),
              ElementsAre(3.5L));
  EXPECT_THAT(ValuesOf(Ask("adaptive_avg_pool2d", {image, Argument::Ints({1, 2})})), ElementsAre(3, 4));
}

TEST(Oracle, Losses) {
  const Argument x = T(kF32, {2}, {1, 3}), y = T(kF32, {2}, {0, 0});
  EXPECT_THAT(ValuesOf(Ask("mse_loss", {x, y, Argument::Int(1)})), ElementsAre(5));
  EXPECT_THAT(ValuesOf(Ask("smooth_l1_loss", {x, y, Argument::Int(0), Argument::Float(2)})), ElementsAre(0.25L, 2));
  const Expected nll = Ask("nll_loss_forward", {T(kF32, {2, 2}, {-1, -2, -3, -4}), T(kI64, {2}, {1, 0}),
                                                T(kF32, {2}, {1, 3}), Argument::Int(1), Argument::Int(-100)});
  EXPECT_THAT(ValuesOf(nll), ElementsAre(2.25L));
  EXPECT_THAT(ValuesOf(nll, 1), ElementsAre(4));
  const Expected cross = Ask("cross_entropy_loss", {T(kF32, {1, 2}, {0, 0}), T(kI64, {1}, {1}), Argument::None(),
                                                    Argument::Int(1), Argument::Int(-100), Argument::Float(0)});
  EXPECT_NEAR(static_cast<double>(ValuesOf(cross)[0]), 0.69314718055994531, 1e-15);
}

TEST(Oracle, VariantsWriteIntoTheirArgument) {
  const Argument a = T(kF16, {2}, {1, 2}), b = T(kF32, {2}, {0.5L, 1});
  const Expected in_place = Ask("add_.Tensor", {a, b, Argument::Int(1)});
  EXPECT_EQ(in_place.tensors[0].dtype, kF16);
  EXPECT_EQ(in_place.tensors[0].same_as, 0);
  EXPECT_TRUE(Ask("add_.Tensor", {T(kI64, {1}, {1}), b, Argument::Int(1)}).refused());
  EXPECT_TRUE(Ask("add_.Tensor", {T(kF32, {1}, {1}), b, Argument::Int(1)}).refused());  // it does not grow
  const Expected out = Ask("add.out", {b, b, Argument::Int(1), T(kF32, {0}, {})});
  EXPECT_EQ(out.tensors[0].same_as, 2);
  EXPECT_THAT(ValuesOf(out), ElementsAre(1, 2));
  HostTensor shifted = HostTensor::Strided(kF32, {2}, {1}, 1, 3);
  HostTensor whole = HostTensor::Strided(kF32, {2}, {1}, 0, 3);
  EXPECT_TRUE(Ask("abs.out", {Argument::Of(whole), Argument::ViewOf(0, shifted)}).refused());
  EXPECT_FALSE(Ask("abs.out", {Argument::Of(whole), Argument::ViewOf(0, whole)}).refused());
  EXPECT_TRUE(Ask("copy_", {Argument::Of(whole), Argument::ViewOf(0, shifted), Argument::Bool(false)}).refused());
  EXPECT_FALSE(Ask("copy_", {Argument::Of(whole), Argument::ViewOf(0, whole), Argument::Bool(false)}).refused());
  EXPECT_TRUE(Ask("index_add_", {Argument::Of(whole), Argument::Int(0), T(kI64, {2}, {0, 1}),
                                 Argument::ViewOf(0, shifted), Argument::Int(1)})
                  .refused());
  EXPECT_TRUE(Ask("abs_", {Argument::Of(HostTensor::Strided(kF32, {2}, {0}, 0, 1))}).refused());
  EXPECT_FALSE(Ask("zero_", {Argument::Of(HostTensor::Strided(kF32, {2}, {0}, 0, 1))}).refused());
  EXPECT_FALSE(Ask("cumsum_", {T(kBool, {1}, {1}), Argument::Int(0), Argument::None()}).refused());
}

TEST(Oracle, AResultIsRoundedToItsDtypeBeforeItIsConverted) {
  const Argument wide = T(PL_DTYPE_FLOAT64, {1}, {0});
  const Expected power = Ask("exp.out", {T(PL_DTYPE_INT8, {1}, {127}), wide});
  EXPECT_THAT(ValuesOf(power), ElementsAre(kInf));
  EXPECT_THAT(power.tensors[0].bounds, ElementsAre(0));
  EXPECT_THAT(
      ValuesOf(Ask("add.out", {T(kF16, {1}, {1.908203125L}), T(kF16, {1}, {2.09375L}), Argument::Int(1), wide})),
      ElementsAre(4));
}

TEST(Oracle, WhatGivesBackItsArgumentDoesNotWriteIt) {
  const Argument a = T(kF32, {2}, {1, 2});
  for (const Expected& expected :
       {Ask("contiguous", {a, Argument::Int(0)}), Ask("resize_", {a, Argument::Ints({2}), Argument::None()}),
        Ask("dropout", {a, Argument::Float(0), Argument::Bool(true)}),
        Ask("to.dtype", {a, Argument::Int(kF32), Argument::Bool(false), Argument::Bool(false), Argument::None()})}) {
    EXPECT_EQ(expected.tensors[0].same_as, 0);
    EXPECT_FALSE(expected.tensors[0].written);
  }
}

TEST(Oracle, EveryOperatorHasCallsAndMostAreRight) {
  for (const std::string& name : OracleNames()) {
    const CallDrawer* drawer = CallDrawerFor(name);
    ASSERT_NE(drawer, nullptr) << name;
    Draw draw(7);
    int right = 0;
    for (int i = 0; i < 60; ++i) right += (*OracleFor(name))((*drawer)("aten::" + name, kF32, draw)).refused() ? 0 : 1;
    if (name.find("bitwise") == std::string::npos) {
      EXPECT_GE(right, 20) << name;
    }
  }
}

// ---- results that are wrong on purpose ----

OperatorOutcome Right(const Expected& expected) {
  OperatorOutcome outcome;
  for (const ExpectedTensor& due : expected.tensors) {
    ReturnedTensor got{Tensor(due.dtype, due.sizes, {}), {}, due.same_as, due.shares_with};
    got.strides = due.strides.value_or(ContiguousStrides(due.sizes));
    for (std::size_t i = 0; i < due.values.size(); ++i) {
      const bool choice = i < due.any_of.size() && !due.any_of[i].empty();
      got.tensor.Set(static_cast<std::int64_t>(i), choice ? due.any_of[i].front() : due.values[i]);
    }
    outcome.tensors.push_back(std::move(got));
  }
  return outcome;
}

HostTensor Random(Sizes sizes, std::uint64_t seed) {
  Draw draw(seed);
  return draw.Contiguous(kF32, sizes, Values::kUsual);
}
Argument R(Sizes sizes, std::uint64_t seed) { return Argument::Of(Random(std::move(sizes), seed)); }

// Of each rule of bounds one operator, of a size at which the bound is wide.
std::vector<OperatorCall> Samples() {
  const Argument none = Argument::None(), no = Argument::Bool(false);
  const Argument one = Argument::Ints({1, 1}), zero = Argument::Ints({0, 0});
  return {
      {"exp", {R({64}, 1)}},
      {"tanh", {R({64}, 2)}},
      {"sub.Tensor", {R({64}, 3), R({64}, 4), Argument::Int(1)}},
      {"div.Tensor", {R({64}, 5), R({64}, 6)}},
      {"addcmul", {R({64}, 7), R({64}, 8), R({64}, 9), Argument::Int(1)}},
      {"gelu", {R({64}, 10), Argument::Text("none")}},
      {"sum.dim_IntList", {R({8, 1024}, 11), Argument::Ints({1}), no, none}},
      {"mean.dim", {R({8, 1024}, 12), Argument::Ints({1}), no, none}},
      {"cumsum", {R({512}, 13), Argument::Int(0), none}},
      {"var.correction", {R({8, 512}, 14), Argument::Ints({1}), none, no}},
      {"norm.ScalarOpt_dim", {R({8, 512}, 15), none, Argument::Ints({1}), no}},
      {"logsumexp", {R({8, 512}, 16), Argument::Ints({1}), no}},
      {"mm", {R({16, 16}, 17), R({16, 16}, 18)}},
      {"mm", {R({4, 1024}, 19), R({1024, 4}, 20)}},
      {"softmax.int", {R({8, 64}, 21), Argument::Int(1), none}},
      {"log_softmax.int", {R({8, 64}, 22), Argument::Int(1), none}},
      {"layer_norm", {R({8, 64}, 23), Argument::Ints({64}), none, none, Argument::Float(1e-5), no}},
      {"conv2d", {R({1, 3, 8, 8}, 24), R({2, 3, 3, 3}, 25), none, one, zero, one, Argument::Int(1)}},
      {"avg_pool2d", {R({1, 2, 8, 8}, 26), Argument::Ints({2, 2}), Argument::Ints({}), zero, no, no, none}},
      {"mse_loss", {R({512}, 27), R({512}, 28), Argument::Int(1)}},
      {"index_select", {R({8, 8}, 29), Argument::Int(0), T(kI64, {3}, {7, 0, 3})}},
      {"cat", {Argument::List({R({3}, 30), R({4}, 31)}), Argument::Int(0)}},
      {"permute", {R({3, 4}, 32), Argument::Ints({1, 0})}},
  };
}

Expected Due(const OperatorCall& call) { return (*OracleFor(call.op))(call); }

TEST(Compare, TakesTheRightResult) {
  for (const OperatorCall& call : Samples()) EXPECT_EQ(Compare(Due(call), Right(Due(call))), std::nullopt) << call.op;
}

TEST(Compare, RejectsEachElementThatIsOffByTwoBounds) {
  for (const OperatorCall& call : Samples()) {
    const Expected due = Due(call);
    const OperatorOutcome right = Right(due);
    const ExpectedTensor& tensor = due.tensors[0];
    for (std::size_t i = 0; i < tensor.values.size(); ++i) {
      const long double bound = tensor.bounds.empty() ? 0 : tensor.bounds[i];
      const long double off = 2 * std::max(bound, UlpOf(kF32, tensor.values[i]));
      for (const long double sign : {-1.0L, 1.0L}) {
        OperatorOutcome wrong = right;
        wrong.tensors[0].tensor.Set(static_cast<std::int64_t>(i), tensor.values[i] + sign * off);
        EXPECT_NE(Compare(due, wrong), std::nullopt) << call.op << " element " << i;
      }
    }
  }
}

TEST(Compare, RejectsEachElementThatIsLeftNan) {
  for (const OperatorCall& call : Samples()) {
    const Expected due = Due(call);
    for (std::int64_t i = 0; i < NumelOf(due.tensors[0].sizes); ++i) {
      OperatorOutcome wrong = Right(due);
      wrong.tensors[0].tensor.Set(i, kNan);
      EXPECT_NE(Compare(due, wrong), std::nullopt) << call.op << " element " << i;
    }
  }
}

TEST(Compare, RejectsRoundingToBfloat16) {
  for (const OperatorCall& call : Samples()) {
    const Expected due = Due(call);
    OperatorOutcome wrong = Right(due);
    HostTensor& tensor = wrong.tensors[0].tensor;
    for (std::int64_t i = 0; i < tensor.numel(); ++i) tensor.Set(i, RoundTo(PL_DTYPE_BFLOAT16, tensor.Get(i)));
    EXPECT_NE(Compare(due, wrong), std::nullopt) << call.op;
  }
}

// What the operator gives for other arguments is wrong for these.
void ExpectRejected(const OperatorCall& call, const OperatorCall& mutated, const char* how) {
  EXPECT_NE(Compare(Due(call), Right(Due(mutated))), std::nullopt) << call.op << ": " << how;
}

TEST(Compare, RejectsBfloat16Inputs) {
  for (const OperatorCall& call : Samples()) {
    OperatorCall mutated = call;
    std::vector<Argument>& tensors = call.arguments[0].kind == PL_LIST ? mutated.arguments[0].items : mutated.arguments;
    for (Argument& argument : tensors) {
      if (argument.kind != PL_TENSOR || argument.tensor.dtype != kF32) continue;
      for (std::int64_t i = 0; i < argument.tensor.numel(); ++i)
        argument.tensor.Set(i, RoundTo(PL_DTYPE_BFLOAT16, argument.tensor.Get(i)));
    }
    ExpectRejected(call, mutated, "inputs rounded to bfloat16");
  }
}

TEST(Compare, RejectsADroppedElement) {
  for (const OperatorCall& call : Samples()) {
    OperatorCall mutated = call;
    Argument& first = call.arguments[0].kind == PL_LIST ? mutated.arguments[0].items[0] : mutated.arguments[0];
    // The last that is not near 0: index_select of rows 7, 0 and 3 takes the last row too.
    std::int64_t last = first.tensor.numel() - 1;
    while (std::fabs(first.tensor.Get(last)) < 0.25L) --last;
    // Of these only the greatest count.
    for (std::int64_t i = 0; call.op == "logsumexp" && i < first.tensor.numel(); ++i) {
      if (first.tensor.Get(i) > first.tensor.Get(last)) last = i;
    }
    first.tensor.Set(last, 0);
    ExpectRejected(call, mutated, "an element dropped");
  }
}

TEST(Compare, RejectsSwappedOperands) {
  for (const OperatorCall& call : Samples()) {
    if (call.op != "sub.Tensor" && call.op != "div.Tensor" &&
        !(call.op == "mm" && call.arguments[0].tensor.sizes[0] == 16))
      continue;
    OperatorCall mutated = call;
    std::swap(mutated.arguments[0], mutated.arguments[1]);
    ExpectRejected(call, mutated, "operands swapped");
  }
}

TEST(Compare, RejectsAStrideThatIsOffByOne) {
  for (const OperatorCall& call : Samples()) {
    OperatorCall mutated = call;
    Argument& first = call.arguments[0].kind == PL_LIST ? mutated.arguments[0].items[0] : mutated.arguments[0];
    HostTensor shifted = first.tensor;
    for (std::int64_t i = 0; i < shifted.numel(); ++i) shifted.Set(i, first.tensor.Get((i + 1) % shifted.numel()));
    // A sum over all does not depend on the order; these keep some of it.
    first.tensor = std::move(shifted);
    if (call.op == "mse_loss" || call.op == "norm.ScalarOpt_dim" || call.op == "logsumexp") continue;
    ExpectRejected(call, mutated, "read one element further");
  }
}

TEST(Compare, RejectsWhatIsNoView) {
  const OperatorCall call{"permute", {R({3, 4}, 32), Argument::Ints({1, 0})}};
  OperatorOutcome copy = Right(Due(call));
  copy.tensors[0].shares_with = -1;
  EXPECT_THAT(Compare(Due(call), copy).value_or(""), HasSubstr("does not share"));
  OperatorOutcome strides = Right(Due(call));
  strides.tensors[0].strides = {3, 1};
  EXPECT_THAT(Compare(Due(call), strides).value_or(""), HasSubstr("strides"));
}

// ---- what a call may change ----

struct InPlace {
  OperatorCall call{"add_.Tensor",
                    {Argument::Of(HostTensor::Strided(kF32, {2}, {2}, 1, 5)), R({2}, 40), Argument::Int(1)}};
  Expected due = Due(call);
  OperatorOutcome outcome = Right(due);

  InPlace() {
    HostTensor self = call.arguments[0].tensor;
    for (std::int64_t i = 0; i < 2; ++i) self.Set(i, due.tensors[0].values[static_cast<std::size_t>(i)]);
    outcome.arguments_after = {self, call.arguments[1].tensor};
    outcome.raised = {true, false};
  }
  std::string Wrong() const { return WrongChange(due, call, outcome).value_or(""); }
};

TEST(WrongChange, TakesTheRightOne) { EXPECT_THAT(InPlace().Wrong(), IsEmpty()); }

TEST(WrongChange, RejectsAnElementBeside) {
  InPlace call;
  call.outcome.arguments_after[0].SetAt(2, 7);  // between its elements
  EXPECT_THAT(call.Wrong(), HasSubstr("none of its elements"));
}

TEST(WrongChange, RejectsAChangedOperand) {
  InPlace call;
  call.outcome.arguments_after[1].Set(0, 7);
  EXPECT_THAT(call.Wrong(), HasSubstr("it changed its tensor argument 1"));
}

TEST(WrongChange, RejectsAVersionThatStays) {
  InPlace call;
  call.outcome.raised[0] = false;
  EXPECT_THAT(call.Wrong(), HasSubstr("version"));
}

TEST(WrongChange, AsksNoVersionOfWhatIsOnlyGivenBack) {
  InPlace call;
  call.outcome.arguments_after[0] = call.call.arguments[0].tensor;
  call.due.tensors[0].written = false;
  EXPECT_THAT(call.Wrong(), HasSubstr("only reads"));
  call.outcome.raised[0] = false;
  EXPECT_THAT(call.Wrong(), IsEmpty());
  call.outcome.arguments_after[0].Set(0, 7);
  EXPECT_THAT(call.Wrong(), HasSubstr("it changed its tensor argument 0"));
}

TEST(WrongChange, RejectsAVersionThatGoesUpForNothing) {
  InPlace call;
  call.outcome.raised[1] = true;
  EXPECT_THAT(call.Wrong(), HasSubstr("only reads"));
}

}  // namespace
}  // namespace plumbline::suites
