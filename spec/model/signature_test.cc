#include "spec/model/signature.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace plumbline::model {
namespace {

using scenario::Value;
using ::testing::HasSubstr;

Types Of(const std::string& arguments_and_returns) {
  const scenario::SchemaResult parsed = scenario::ParseSchema("demo::f" + arguments_and_returns);
  EXPECT_TRUE(parsed.schema) << parsed.error->message;
  return TypesOf(*parsed.schema);
}

TEST(SignatureTest, ReadsTheCatalogue) {
  EXPECT_EQ(FindSignature("nothing"), nullptr);
  ASSERT_NE(FindSignature("tensor_optionals"), nullptr);
  const Types& types = FindSignature("tensor_optionals")->types;
  ASSERT_EQ(types.arguments.size(), 6u);
  EXPECT_EQ(PrintType(types.arguments[5]), "Scalar?");
  EXPECT_EQ(PrintType(FindSignature("tensor_optional_list")->types.arguments[1]), "Tensor?[]");
  EXPECT_EQ(FindSignature("tensor_nothing")->types.returns.size(), 0u);
  EXPECT_TRUE(FindSignature("tensor_symint_list")->symbolic);
  EXPECT_FALSE(FindSignature("tensor_int")->symbolic);
  EXPECT_TRUE(ReturnsFirstArgument(*FindSignature("inplace")));
  EXPECT_FALSE(ReturnsFirstArgument(*FindSignature("tensor_tensor")));
}

struct Fit {
  const char *schema, *signature, *difference;  // "" : fits
};
class DifferenceTest : public ::testing::TestWithParam<Fit> {};

TEST_P(DifferenceTest, IsTheFirst) {
  const std::string difference = Difference(Of(GetParam().schema), *FindSignature(GetParam().signature));
  if (*GetParam().difference == 0) {
    EXPECT_EQ(difference, "");
  } else {
    EXPECT_THAT(difference, HasSubstr(GetParam().difference));
  }
}

INSTANTIATE_TEST_SUITE_P(All, DifferenceTest,
                         ::testing::Values(Fit{"(Tensor a) -> Tensor", "tensor", ""},
                                           Fit{"(Tensor a, int b=3, *, int c=1) -> Tensor", "tensor_int", "arguments"},
                                           Fit{"(Tensor a, *, int b=3) -> Tensor", "tensor_int", ""},
                                           Fit{"(Tensor a, float b) -> Tensor", "tensor_int", "argument 2"},
                                           Fit{"(Tensor a, Tensor? b) -> Tensor", "tensor_tensor", "argument 2"},
                                           Fit{"(Tensor a, Tensor b) -> Tensor", "tensor_optional", "argument 2"},
                                           Fit{"(Tensor[] a) -> Tensor", "tensor", "argument 1"},
                                           Fit{"(Tensor a, SymInt b) -> Tensor", "tensor_int", ""},
                                           Fit{"(Tensor a, SymInt b) -> Tensor", "tensor_symint", ""},
                                           Fit{"(Tensor a, int b) -> Tensor", "tensor_symint", "argument 2"},
                                           Fit{"(Tensor a, ScalarType b) -> Tensor", "tensor_int", "argument 2"},
                                           Fit{"(Tensor a, MemoryFormat b) -> Tensor", "tensor_int", "argument 2"},
                                           Fit{"(Tensor a, Layout b) -> Tensor", "tensor_int", "argument 2"},
                                           Fit{"(Tensor a, ScalarType? b) -> Tensor", "tensor_int", "argument 2"},
                                           Fit{"(Tensor a, Layout b) -> Tensor", "tensor_symint", "argument 2"},
                                           Fit{"(Tensor a, Device b) -> Tensor", "tensor_str", "argument 2"},
                                           Fit{"(Tensor a, Device b) -> Tensor", "tensor_int", "argument 2"},
                                           Fit{"(Tensor a, Tensor b) -> Tensor", "tensor_tensor_int", "return 1"},
                                           Fit{"(Tensor a, int b) -> (Tensor, int)", "tensor_int", "returns"},
                                           Fit{"(Tensor(a!) a, Tensor b) -> Tensor(a!)", "tensor_tensor", ""},
                                           Fit{"(Tensor a, Tensor b) -> Tensor", "inplace", ""},
                                           Fit{"(Tensor a, int[2] b, float[] c, bool[] d) -> Tensor", "tensor_lists",
                                               ""}));

struct Fits {
  const char* type;
  Value value;
  bool fits;
};
class MisfitTest : public ::testing::TestWithParam<Fits> {};

TEST_P(MisfitTest, IsTold) {
  const Types types = Of(std::string("(") + GetParam().type + " a) -> Tensor");
  EXPECT_EQ(Misfit(types.arguments, {GetParam().value}, "argument").empty(), GetParam().fits) << GetParam().type;
}

INSTANTIATE_TEST_SUITE_P(
    All, MisfitTest,
    ::testing::Values(Fits{"Tensor", Value::Tensor({"CPU"}), true}, Fits{"Tensor", Value::Undefined(), true},
                      Fits{"Tensor", Value::None(), false}, Fits{"Tensor?", Value::None(), true},
                      Fits{"ScalarType", Value::Int(6), true}, Fits{"ScalarType", Value::String("float"), false},
                      Fits{"MemoryFormat?", Value::None(), true}, Fits{"Layout[]", Value::List({Value::Int(0)}), true},
                      Fits{"Device", Value::String("cpu"), true}, Fits{"Device", Value::Int(0), false},
                      Fits{"Generator?", Value::None(), true}, Fits{"Generator", Value::None(), false},
                      Fits{"Generator?", Value::String("cpu"), false}, Fits{"Tensor?", Value::Undefined(), true},
                      Fits{"int", Value::Int(1), true}, Fits{"int", Value::Float(1), false},
                      Fits{"int", Value::Bool(true), false}, Fits{"float", Value::Int(1), false},
                      Fits{"float", Value::Float(1), true}, Fits{"SymInt", Value::Int(1), true},
                      Fits{"bool", Value::Int(1), false}, Fits{"str", Value::String("x"), true},
                      Fits{"Scalar", Value::Bool(true), true}, Fits{"Scalar", Value::Float(2), true},
                      Fits{"Scalar", Value::String("2"), false}, Fits{"int[]", Value::List({}), true},
                      Fits{"int[]", Value::List({Value::Float(1)}), false}, Fits{"int[]", Value::Int(1), false},
                      Fits{"Tensor[]", Value::List({Value::None()}), false},
                      Fits{"Tensor?[]", Value::List({Value::None(), Value::Tensor({"CPU"})}), true},
                      Fits{"int[]?", Value::None(), true}));

TEST(ZeroTest, IsOfEachType) {
  const std::vector<Value> arguments = {Value::Int(7), Value::Tensor({"CPU"}), Value::Tensor({"CUDA"})};
  const auto zero = [&](const char* type) {
    return ZeroOf(Of(std::string("(Tensor a) -> ") + type).returns.at(0), arguments);
  };
  EXPECT_EQ(zero("Tensor"), Value::Tensor({"CPU"}));
  EXPECT_EQ(zero("int"), Value::Int(0));
  EXPECT_EQ(zero("float"), Value::Float(0));
  EXPECT_EQ(zero("bool"), Value::Bool(false));
  EXPECT_EQ(zero("str"), Value::String(""));
  EXPECT_EQ(zero("int[]"), Value::List({}));
  EXPECT_EQ(zero("Tensor?"), Value::None());
  EXPECT_EQ(ZeroOf(Of("(int a) -> Tensor").returns.at(0), {Value::Int(1)}), Value::Undefined());
}

}  // namespace
}  // namespace plumbline::model
