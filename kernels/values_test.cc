// Values and refusals that once were wrong, each with the operator that it was found in.
#include <gmock/gmock.h>

#include <cmath>
#include <vector>

#include "kernels/random.h"
#include "kernels/testing/operator_test.h"

namespace plumbline::kernels {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class ValuesTest : public OperatorTest {
 protected:
  Tensor In(DType dtype, IntSpan sizes, const std::vector<double>& values) {
    return Call("to.dtype", {Value(Make<double>(sizes, values)), Value(static_cast<int>(dtype)), Value(false),
                             Value(false), Value::None()});
  }
};

TEST_F(ValuesTest, LogSoftmaxKeepsTheLogarithmBesideALargeMaximum) {
  const Tensor x = Make<double>({2}, {2.6670307281974699, 24.554158044973889});
  const Tensor y = Call("_log_softmax", {Value(x), Value(0), Value(false)});
  EXPECT_NEAR(y.data<double>()[1], -std::log1p(std::exp(x.data<double>()[0] - x.data<double>()[1])), 4e-16);
}

TEST_F(ValuesTest, HalfToFloatIsForOtherDevices) {
  const Tensor half = In(DType::kFloat16, {1}, {0});
  for (const Tensor& t : {half, Meta(half)}) {
    EXPECT_THAT(ErrorOf("_softmax", {Value(t), Value(0), Value(true)}, ErrorClass::kInvalidArgument),
                HasSubstr("'half_to_float'"));
  }
}

TEST_F(ValuesTest, AFloorDivisionIsExactAsFarAsItsDtypeCounts) {
  const Tensor quotient = Call(
      "floor_divide", {Value(Floats({1}, {-0.65832388401031494F})), Value(Floats({1}, {7.8489051702490542e-08F}))});
  EXPECT_THAT(List(quotient), ElementsAre(-8387462));
  // 3 (2^50 + 1) - 1 is divided by 3; then 2^53 - 1 by 1 and by -1.
  const double large = 3 * (std::ldexp(1.0, 50) + 1) - 1, most = std::ldexp(1.0, 53) - 1;
  EXPECT_THAT(
      List(Call("floor_divide", {Value(Make<double>({3}, {large, most, most})), Value(Make<double>({3}, {3, 1, -1}))})),
      ElementsAre(std::ldexp(1.0, 50), most, -most));
  EXPECT_THAT(List(Call("floor_divide", {Value(Floats({4}, {1, -1, 7, -HUGE_VALF})),
                                         Value(Floats({4}, {HUGE_VALF, HUGE_VALF, 0, 0}))})),
              ElementsAre(0, -1, HUGE_VAL, -HUGE_VAL));
}

TEST_F(ValuesTest, BoundsOfAClampAreOfItsDtype) {
  const Tensor bytes = Make<std::uint8_t>({1}, {15});
  EXPECT_THAT(List(Call("clamp", {Value(bytes), Value(-3), Value::None()})), ElementsAre(253));
  EXPECT_THAT(ErrorOf("clamp", {Value(bytes), Value::None(), Value(300)}, ErrorClass::kInvalidArgument),
              testing::AllOf(HasSubstr("'max'"), HasSubstr("300"), HasSubstr("uint8")));
  EXPECT_THAT(
      ErrorOf("clamp", {Value(Make<std::int8_t>({1}, {15})), Value(-129), Value::None()}, ErrorClass::kInvalidArgument),
      HasSubstr("'min'"));
}

TEST_F(ValuesTest, BoolsAreAddedTimesAlpha) {
  const Tensor no = Make<bool>({1}, {false}), yes = Make<bool>({1}, {true});
  EXPECT_THAT(List(Call("add.Tensor", {Value(no), Value(yes), Value(false)})), ElementsAre(0));
  EXPECT_THAT(List(Call("add.Tensor", {Value(yes), Value(yes), Value(true)})), ElementsAre(1));
}

TEST_F(ValuesTest, ADimensionThatIsNamedTwice) {
  EXPECT_THAT(ErrorOf("amax", {Value(Floats({}, {1})), Ints({0, -1}), Value(false)}, ErrorClass::kInvalidArgument),
              HasSubstr("twice"));
}

TEST_F(ValuesTest, AWindowThatCeilModeMakesRoomFor) {
  const Tensor x = Floats({1, 1, 1}, {3});
  EXPECT_THAT(List(Call("avg_pool2d",
                        {Value(x), Ints({3, 3}), Ints({3, 2}), Ints({0, 1}), Value(true), Value(true), Value(6)})),
              ElementsAre(0.5));
  ErrorOf("avg_pool2d", {Value(x), Ints({3, 3}), Ints({3, 2}), Ints({0, 1}), Value(false), Value(true), Value::None()},
          ErrorClass::kInvalidArgument);
}

TEST_F(ValuesTest, CompositesOf16BitsRoundOnce) {
  const Tensor product = Call(
      "linear", {Value(In(DType::kFloat16, {1, 1, 1}, {-1.806640625})),
                 Value(In(DType::kFloat16, {1, 1}, {1.0966796875})), Value(In(DType::kFloat16, {1}, {-1.591796875}))});
  EXPECT_THAT(product.sizes(), ElementsAre(1, 1, 1));
  EXPECT_THAT(List(product), ElementsAre(-3.572265625));
  const Tensor empty = Call("linear", {Value(In(DType::kFloat16, {2, 0, 3}, {})),
                                       Value(In(DType::kFloat16, {4, 3}, std::vector<double>(12, 1))),
                                       Value(In(DType::kFloat16, {4}, {1, 1, 1, 1}))});
  EXPECT_THAT(empty.sizes(), ElementsAre(2, 0, 4));
  const Tensor row = In(DType::kBFloat16, {4}, {1, 0.1650390625, 0.1650390625, 0.1650390625});
  const Tensor other = In(DType::kBFloat16, {4}, std::vector<double>(4, 0.8359375));
  EXPECT_THAT(List(Call("l1_loss", {Value(row), Value(other), Value(2)})), ElementsAre(2.171875));
}

TEST_F(ValuesTest, LossesAndDropoutAreOfFloats) {
  const Tensor ints = Make<int>({1}, {1});
  ErrorOf("l1_loss", {Value(ints), Value(ints), Value(2)}, ErrorClass::kNoDtype);
  ErrorOf("dropout", {Value(ints), Value(0.0), Value(true)}, ErrorClass::kNoDtype);
}

TEST_F(ValuesTest, AProductOverNothingIsScaled) {
  const Tensor self = In(DType::kFloat32, {9, 1}, std::vector<double>(9, 1)), meant = Floats({9, 0}, {});
  EXPECT_THAT(List(Call("addmm", {Value(self), Value(meant), Value(Floats({0, 1}, {})), Value(-2), Value(1)})),
              testing::Each(-2));
}

TEST_F(ValuesTest, ErrorsOfEqualTermsDoNotAddUp) {
  const std::vector<double> terms(1000, 0.1);
  const Tensor x = Make<double>({1000}, terms), none = Make<double>({1000}, std::vector<double>(1000, 0));
  EXPECT_DOUBLE_EQ(List(Call("cumsum", {Value(x), Value(0), Value::None()})).back(), 100);
  EXPECT_NEAR(List(Call("mse_loss", {Value(x), Value(none), Value(2)}))[0], 10, 4e-15);
  const double factor = 1.0000000000000002;
  const Tensor factors = Make<double>({2, 1000}, std::vector<double>(2000, factor));
  const auto expected = static_cast<double>(std::pow(static_cast<long double>(factor), 1000));
  EXPECT_DOUBLE_EQ(List(Call("prod.dim_int", {Value(factors), Value(1), Value(false), Value::None()}))[0], expected);
}

TEST_F(ValuesTest, ANormOfNothingIsZero) {
  for (const double order : {2.0, 0.5, -1.0, HUGE_VAL, -HUGE_VAL}) {
    EXPECT_THAT(List(Call("norm.ScalarOpt_dim", {Value(Floats({1, 0}, {})), Value(order), Ints({1}), Value(false)})),
                ElementsAre(0));
  }
}

TEST_F(ValuesTest, UniformNumbersStayBelowTheEndWhenTheyAreRounded) {
  SetSeed(1);
  const Tensor t = In(DType::kBFloat16, {4096}, std::vector<double>(4096, 0));
  for (const double x : List(Call("uniform_", {Value(t), Value(0.5), Value(1.0), Value::None()}))) {
    ASSERT_GE(x, 0.5);
    ASSERT_LT(x, 1);
  }
}

TEST_F(ValuesTest, OfAScalarTheTopIsItself) {
  const std::vector<Value> top =
      CallAll("topk", {Value(Floats({}, {3})), Value(0), Value(0), Value(true), Value(true)});
  EXPECT_THAT(List(*top[0].AsTensor()), ElementsAre(3));
  EXPECT_THAT(List(*top[1].AsTensor()), ElementsAre(0));
}

TEST_F(ValuesTest, PartsThatNoMemoryHolds) {
  const std::int64_t many = std::int64_t{1} << 62;
  const Tensor t = Tensor::Empty({many, 0}, DType::kFloat32, DeviceType::kCpu, keys());
  const Value rows(0), columns(1), count(many);
  for (const std::string& text : {ErrorOf("chunk", {Value(t), count, columns}, ErrorClass::kOverflow),
                                  ErrorOf("chunk", {Value(t), count, rows}, ErrorClass::kOverflow),
                                  ErrorOf("split.Tensor", {Value(t), Value(1), rows}, ErrorClass::kOverflow),
                                  ErrorOf("unbind.int", {Value(t), rows}, ErrorClass::kOverflow)}) {
    EXPECT_THAT(text, HasSubstr("4611686018427387904 tensors"));
  }
  EXPECT_EQ(CallAll("chunk", {Value(t), Value(3), rows})[0].ToList().size(), 3u);
  EXPECT_EQ(CallAll("split.Tensor", {Value(t), Value(many), rows})[0].ToList().size(), 1u);
}

TEST_F(ValuesTest, WhatLiesSoAlreadyIsGivenBack) {
  const Tensor a = Floats({2}, {1, 2});
  const Value f32(static_cast<int>(DType::kFloat32)), no(false);
  EXPECT_TRUE(Call("to.dtype", {Value(a), f32, no, no, Value(static_cast<int>(MemoryFormat::kContiguous))}).is_same(a));
  EXPECT_FALSE(Call("to.dtype", {Value(a), f32, no, Value(true), Value::None()}).is_same(a));
}

}  // namespace
}  // namespace plumbline::kernels
