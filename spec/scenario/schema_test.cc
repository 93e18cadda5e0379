#include "spec/scenario/schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace plumbline::scenario {
namespace {

using Base = SchemaType::Base;

Schema MustParse(const std::string& text) {
  SchemaResult result = ParseSchema(text);
  EXPECT_TRUE(result.schema.has_value()) << text << ": " << (result.error ? result.error->message : "");
  return result.schema.value_or(Schema{});
}

TEST(Schema, ReadsNamesTypesAndDefaults) {
  Schema schema = MustParse(
      "demo::f.out(Tensor(a!) self, Tensor?[] t, int[2] size=[1, 2], float? x=None, *, str s='a,b)', bool b=False) -> "
      "(Tensor(a!), int count)");
  EXPECT_EQ(schema.FullName(), "demo::f.out");
  ASSERT_EQ(schema.arguments.size(), 6u);
  EXPECT_EQ(schema.arguments[0].type.alias, "a");
  EXPECT_TRUE(schema.arguments[0].type.writes);
  EXPECT_TRUE(schema.arguments[1].type.list);
  EXPECT_TRUE(schema.arguments[1].type.optional_items);
  EXPECT_FALSE(schema.arguments[1].type.optional);
  EXPECT_EQ(schema.arguments[2].type.size, 2);
  EXPECT_EQ(schema.arguments[2].default_value, "[1, 2]");
  EXPECT_EQ(schema.arguments[3].type.base, Base::kFloat);
  EXPECT_TRUE(schema.arguments[3].type.optional);
  EXPECT_FALSE(schema.arguments[3].keyword_only);
  EXPECT_EQ(schema.arguments[4].default_value, "'a,b)'");
  EXPECT_TRUE(schema.arguments[4].keyword_only);
  ASSERT_EQ(schema.returns.size(), 2u);
  EXPECT_EQ(schema.returns[0].name, "");
  EXPECT_EQ(schema.returns[1].name, "count");
}

TEST(Schema, ReadsWhatIsLegal) {
  for (const char* text : {
           "f() -> ()",
           "f(Tensor a) -> Tensor",
           "f(Tensor a)->Tensor",
           " demo::f ( Tensor a ) -> ( ) ",
           "demo::f(*, Tensor a, int b=3, Tensor c) -> Tensor",
           "demo::f(int a=-9223372036854775808) -> int",
           "demo::f(float a=1, float b=1.5e-3, float c=-2.) -> float",
           "demo::f(Scalar a=1, Scalar b=True) -> ()",
           "demo::f(int[3] a=0, int[] b=[], int[]? c=None, int?[] d=[None, 1]) -> ()",
           "demo::f(str a=\"x\\\"y\", str? b=None) -> str",
           "demo::f(Tensor( a ! ) a) -> Tensor(a!)",
           "demo::f(SymInt a, SymInt[] b, SymInt? c, bool[3] d, Tensor[]? e) -> Tensor[]",
           "demo::f(ScalarType a, MemoryFormat b, Layout c, Device d, Generator e) -> (ScalarType, Device)",
           "demo::f(ScalarType? a=None, Layout? b=None, Device? c=None, Generator? d=None) -> ()",
           "demo::f(ScalarType a=float, ScalarType? b=long, ScalarType c=6, Layout d=strided, int e=Mean) -> ()",
           "demo::f(MemoryFormat a=contiguous_format, MemoryFormat? b=0, Device c='cpu') -> ()",
           "demo::f(Device[] a, ScalarType[] b=[6, long], Generator?[] c=[None]) -> ()",
           "demo::f(Tensor(a->*) a, Tensor( b ! -> * )[] b) -> Tensor(a)[]",
       }) {
    EXPECT_TRUE(ParseSchema(text).schema.has_value()) << text << ": " << ParseSchema(text).error->message;
  }
}

struct Bad {
  const char* text;
  const char* message;
};

TEST(Schema, ErrorsSayWhereAndWhat) {
  for (const Bad& bad : {
           Bad{"", "column 1: expected an operator name, found the end"},
           Bad{"demo::", "column 7: expected an operator name after '::', found the end"},
           Bad{"demo::f", "column 8: expected '(', found the end"},
           Bad{"demo::f(Tensor a", "column 17: expected ',' or ')', found the end"},
           Bad{"demo::f(Tensor a -> Tensor", "column 18: expected ',' or ')', found '-'"},
           Bad{"demo::f(Tensor a)", "column 18: expected '->', found the end"},
           Bad{"demo::f(Tensor a) -> ", "column 22: expected a type, found the end"},
           Bad{"demo::f(Tensor a) -> Tensor b", "column 29: expected the end of the schema, found 'b'"},
           Bad{"demo::f(Foo x) -> Tensor",
               "column 9: expected a type (Tensor, int, SymInt, float, bool, str, Scalar, ScalarType, MemoryFormat, "
               "Layout, Device, Generator), found 'Foo'"},
           Bad{"demo::f(Dimname x) -> Tensor",
               "column 9: expected a type (Tensor, int, SymInt, float, bool, str, Scalar, ScalarType, MemoryFormat, "
               "Layout, Device, Generator), found 'Dimname'"},
           Bad{"demo::f(Tensor x, Tensor x) -> Tensor", "column 26: the argument name 'x' is here twice"},
           Bad{"demo::f(Tensor) -> Tensor", "column 15: expected an argument name, found ')'"},
           Bad{"demo::f(int a=1, Tensor b) -> Tensor",
               "column 18: the positional argument 'b' has no default but follows one that has"},
           Bad{"demo::f(int a=1, int[] b) -> Tensor",
               "column 18: the positional argument 'b' has no default but follows one that has"},
           Bad{"demo::f.default(Tensor a) -> Tensor",
               "column 9: 'default' is not allowed as an overload name: the default overload has none"},
           Bad{"demo::f.__x(Tensor a) -> Tensor",
               "column 9: '__x' is not allowed as an overload name: it starts with two underscores"},
           Bad{"demo::f.(Tensor a) -> Tensor", "column 9: expected an overload name after '.', found '('"},
           Bad{"a::b::f(Tensor a) -> Tensor", "column 5: expected '(', found ':'"},
           Bad{"demo::f(Tensor a, *, *, int b) -> ()", "column 22: '*' is here twice"},
           Bad{"demo::f(Tensor a, *) -> ()", "column 20: expected an argument after '*', found ')'"},
           Bad{"demo::f(Tensor a,) -> ()", "column 18: expected a type, found ')'"},
           Bad{"demo::f(int(a) x) -> ()", "column 12: expected no alias mark on int, found '('"},
           Bad{"demo::f(int a=1.5) -> ()", "column 15: expected a default of type int, found '1'"},
           Bad{"demo::f(int a=9223372036854775808) -> ()",
               "column 15: expected a default of type int, found '9223372036854775808'"},
           Bad{"demo::f(int a=None) -> ()", "column 15: expected a default of type int, found 'None'"},
           Bad{"demo::f(bool a=1) -> ()", "column 16: expected a default of type bool, found '1'"},
           Bad{"demo::f(str a=x) -> ()", "column 15: expected a default of type str, found 'x'"},
           Bad{"demo::f(Tensor a=1) -> ()", "column 18: expected a default of type Tensor, found '1'"},
           Bad{"demo::f(ScalarType a=double) -> ()",
               "column 22: expected a default of type ScalarType, found 'double'"},
           Bad{"demo::f(ScalarType a=floats) -> ()",
               "column 22: expected a default of type ScalarType, found 'floats'"},
           Bad{"demo::f(ScalarType a=None) -> ()", "column 22: expected a default of type ScalarType, found 'None'"},
           Bad{"demo::f(ScalarType a=1.5) -> ()", "column 22: expected a default of type ScalarType, found '1'"},
           Bad{"demo::f(Layout a=float) -> ()", "column 18: expected a default of type Layout, found 'float'"},
           Bad{"demo::f(MemoryFormat a=channels_last) -> ()",
               "column 24: expected a default of type MemoryFormat, found 'channels_last'"},
           Bad{"demo::f(Device a=cpu) -> ()", "column 18: expected a default of type Device, found 'cpu'"},
           Bad{"demo::f(Generator? a=0) -> ()", "column 22: expected a default of type Generator?, found '0'"},
           Bad{"demo::f(int a=Sum) -> ()", "column 15: expected a default of type int, found 'Sum'"},
           Bad{"demo::f(SymInt a=Mean) -> ()", "column 18: expected a default of type SymInt, found 'Mean'"},
           Bad{"demo::f(Device(a) a) -> ()", "column 15: expected no alias mark on Device, found '('"},
           Bad{"demo::f(Tensor(a -> b) a) -> ()", "column 21: expected '*' after '->' in the alias mark, found 'b'"},
           Bad{"demo::f(Tensor(a | b) a) -> ()", "column 18: expected ')' after the alias mark, found '|'"},
           Bad{"demo::f(int[] a=1) -> ()", "column 17: expected a list as the default of int[], found '1'"},
           Bad{"demo::f(int[] a=[1, None]) -> ()", "column 21: expected a list item of type int, found 'None'"},
           Bad{"demo::f(int[0] a) -> ()", "column 13: expected a list size from 1 to 2147483647, found '0'"},
           Bad{"demo::f(int[2 a) -> ()", "column 14: expected ']', found ' '"},
           Bad{"demo::f(int[][] a) -> ()", "column 14: expected an argument name, found '['"},
           Bad{"d\xc3\xa9mo::f() -> ()", "column 2: expected '(', found '\xc3\xa9'"},
       }) {
    SchemaResult result = ParseSchema(bad.text);
    ASSERT_FALSE(result.schema.has_value()) << bad.text;
    ASSERT_TRUE(result.error.has_value()) << bad.text;
    EXPECT_EQ(result.error->message, bad.message) << bad.text;
    EXPECT_EQ("column " + std::to_string(result.error->column),
              result.error->message.substr(0, result.error->message.find(':')));
  }
}

TEST(Schema, AtMost64Arguments) {
  std::string arguments = "int a0";
  for (int i = 1; i < 64; ++i) arguments += ", int a" + std::to_string(i);
  EXPECT_TRUE(ParseSchema("demo::f(" + arguments + ") -> ()").schema.has_value());
  SchemaResult result = ParseSchema("demo::f(" + arguments + ", int a64) -> ()");
  ASSERT_TRUE(result.error.has_value());
  EXPECT_THAT(result.error->message, ::testing::HasSubstr("more than 64 arguments"));
}

TEST(Schema, PrintsWhatItReads) {
  for (const char* text : {
           "demo::f(Tensor a, Tensor b) -> Tensor",
           "demo::f.out(Tensor(a!) self, int[2] size=[1, 2], *, Tensor? x=None) -> Tensor(a!)",
           "f() -> ()",
           "demo::f(*, Tensor?[] a, int[]? b=None) -> (Tensor(a) x)",
           "demo::f(str s=\"a b\") -> (Tensor, int n)",
           "demo::f(Tensor(a -> *) a, Tensor(b! -> *)[] b) -> Tensor(a)[]",
           "demo::f(*, ScalarType? dtype=None, MemoryFormat m=contiguous_format, Generator? g=None) -> (Layout x, "
           "Device)",
       }) {
    Schema schema = MustParse(text);
    EXPECT_EQ(PrintSchema(schema), text);
    EXPECT_EQ(MustParse(PrintSchema(schema)), schema);
  }
  EXPECT_EQ(PrintSchema(MustParse("demo::f( Tensor  a )->( Tensor )")), "demo::f(Tensor a) -> Tensor");
}

TEST(Schema, WhatBringsKeys) {
  Schema schema = MustParse("f(Tensor a, Tensor? b, Tensor[] c, Tensor?[] d, Tensor[]? e, int f) -> ()");
  std::vector<bool> brings;
  for (const auto& argument : schema.arguments) brings.push_back(argument.type.BringsKeys());
  EXPECT_THAT(brings, ::testing::ElementsAre(true, true, true, true, false, false));
}

TEST(OperatorNames, AreReadWhole) {
  auto name = ParseOperatorName("demo::f.int");
  ASSERT_TRUE(name.has_value());
  EXPECT_EQ(name->name_space, "demo");
  EXPECT_EQ(name->name, "f");
  EXPECT_EQ(name->overload, "int");
  EXPECT_TRUE(ParseOperatorName("f").has_value());
  for (const char* bad : {"", " f", "f ", "demo::", "::f", "a::b::c", "f.", "f.default", "f.__x", "f(", "1f"}) {
    EXPECT_FALSE(ParseOperatorName(bad).has_value()) << bad;
  }
}

}  // namespace
}  // namespace plumbline::scenario
