#include "kernels/derivatives/formula.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "kernels/testing/operator_test.h"

namespace plumbline::kernels {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class FormulaTest : public OperatorTest {
 protected:
  FormulaTest()
      : schema_(ParseSchema("demo::f(Tensor self, Tensor other, *, Scalar alpha=1) -> (Tensor, Tensor)")),
        reader_(registry_, schema_) {}

  std::string ErrorOf(const std::string& formula) {
    try {
      reader_.Read(formula);
    } catch (const DispatchError& error) {
      EXPECT_EQ(error.error_class(), ErrorClass::kInvalidArgument);
      return error.what();
    }
    return "it is right";
  }

  const Schema schema_;
  FormulaReader reader_;
};

TEST_F(FormulaTest, CallsOperatorsWithTheirDefaults) {
  const Term term = reader_.Read("mul.Tensor(add.Tensor(grad1, self), sum.dim_IntList(other, [0], keepdim=true))");
  ASSERT_EQ(reader_.inputs().size(), 3u);
  EXPECT_EQ(reader_.inputs()[0], (FormulaInput{.of = FormulaInput::Of::kGradient, .number = 1}));
  EXPECT_EQ(reader_.inputs()[2], (FormulaInput{.of = FormulaInput::Of::kArgument, .number = 1}));
  EXPECT_EQ(InputsOf(term), 0b111u);
  const std::optional<Value> given[] = {Value(Floats({2}, {1, 2})), Value(Floats({2}, {10, 20})),
                                        Value(Floats({2}, {3, 4}))};
  EXPECT_THAT(List(Evaluate(registry_, term, given)->ToTensor()), ElementsAre(77, 154));
}

TEST_F(FormulaTest, NothingGoesOn) {
  const Term term = reader_.Read("add.Tensor(grad, mul.Tensor(self, grad1))");
  const std::optional<Value> given[] = {Value(Floats({1}, {1})), Value(Floats({1}, {1})), std::nullopt};
  EXPECT_FALSE(Evaluate(registry_, term, given).has_value());
  const Term function = reader_.Read("sum_backward(grad1, self.sizes, [], false)");
  const std::optional<Value> all[] = {given[0], given[1], std::nullopt, Value(std::vector<Value>{Value(1)})};
  EXPECT_FALSE(Evaluate(registry_, function, all).has_value());
}

TEST_F(FormulaTest, AnInputIsAskedForOnce) {
  const Term first = reader_.Read("mul.Tensor(self, self)"), second = reader_.Read("sub.Tensor(grad, self)");
  EXPECT_EQ(reader_.inputs().size(), 2u);
  EXPECT_EQ(InputsOf(first), 0b01u);
  EXPECT_EQ(InputsOf(second), 0b11u);
  reader_.Read("view(grad, self.sizes)");
  ASSERT_EQ(reader_.inputs().size(), 3u);
  EXPECT_EQ(reader_.inputs()[2].what, FormulaInput::What::kSizes);
}

TEST_F(FormulaTest, ErrorsSayWhereAndWhat) {
  EXPECT_EQ(ErrorOf("mul.Tensor(grad"), "the formula 'mul.Tensor(grad', at character 16: expected ')'");
  EXPECT_THAT(ErrorOf("mull(grad)"), HasSubstr("at character 6: there is no operator and no function 'mull'"));
  EXPECT_THAT(ErrorOf("mul.Tensor(grad)"), HasSubstr("mul.Tensor needs the argument 'other'"));
  EXPECT_THAT(ErrorOf("neg(grad, grad)"), HasSubstr("neg has 1 arguments"));
  EXPECT_THAT(ErrorOf("mul.Tensor(grad, self=grad)"), HasSubstr("the argument 'self' is there twice"));
  EXPECT_THAT(ErrorOf("neg(out=grad)"), HasSubstr("neg has no argument 'out'"));
  EXPECT_THAT(ErrorOf("sum_backward(grad)"), HasSubstr("sum_backward takes 4 arguments, not 1"));
  EXPECT_THAT(ErrorOf("neg(input)"), HasSubstr("there is no 'input': it is neither an argument of demo::f, nor grad"));
  EXPECT_THAT(ErrorOf("neg(grad2)"), HasSubstr("demo::f has 2 results"));
  EXPECT_THAT(ErrorOf("view(grad, self.size)"),
              HasSubstr("of a tensor there are sizes, strides, offset and dtype, no 'size'"));
  EXPECT_THAT(ErrorOf("neg(grad) self"), HasSubstr("expected the end"));
  EXPECT_THAT(ErrorOf("neg()"), HasSubstr("neg needs the argument 'self'"));
  EXPECT_THAT(ErrorOf(""), HasSubstr("expected a name, a number or a list"));
}

}  // namespace
}  // namespace plumbline::kernels
