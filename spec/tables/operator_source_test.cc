#include "spec/tables/operator_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace plumbline::tables {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kSmall = R"toml(family = "binary"
dtypes = ["integral", "float32"]
registered = "backend"
clauses = ["OPER-020"]
[[operator]]
schema = "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"
inplace = "add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)"
out = { schema = "add.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)", registered = "explicit" }
result = "promote"
shape = "broadcast"
bound = { ulp = 2 }
special = ["one \"word\""]
clauses = ["OPER-010"]
gradient = { self = "grad", other = "mul.Scalar(grad, alpha)" }
[[operator]]
schema = "max.dim(Tensor self, int dim) -> (Tensor values, Tensor indices)"
schema_2 = "max.dim(Tensor self, SymInt dim) -> (Tensor values, Tensor indices)"
dtypes = ["all"]
result = ["same", "int64"]
shape = "reduce"
bound = "exact"
backend_select = true
deterministic = false
)toml";

std::string Replaced(const std::string& from, const std::string& to) {
  std::string text = kSmall;
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string ErrorOf(const std::string& text) {
  try {
    ReadOperators(text, "small.toml");
  } catch (const SourceError& error) {
    return error.what();
  }
  return "no error";
}

TEST(OperatorSource, ReadsEveryField) {
  const OperatorFamily family = ReadOperators(kSmall, "small.toml");
  EXPECT_EQ(family.family, Family::kBinary);
  ASSERT_EQ(family.operators.size(), 4u);
  const OperatorSource& add = family.operators[0];
  EXPECT_EQ(add.name, "aten::add.Tensor");
  EXPECT_EQ(add.schema, "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor");
  EXPECT_EQ(add.schema_2, "");
  EXPECT_EQ(add.variant, Variant::kFunctional);
  EXPECT_EQ(add.dtypes, 0b1011111u);  // uint8 to int64, and float32
  EXPECT_THAT(add.results, ElementsAre(ResultRule::kPromote));
  EXPECT_EQ(add.shape, ShapeRule::kBroadcast);
  EXPECT_EQ(add.bound.rule, BoundRule::kUlp);
  EXPECT_EQ(add.bound.c, 2);
  EXPECT_EQ(add.registered, Registered::kBackend);
  EXPECT_FALSE(add.backend_select);
  EXPECT_TRUE(add.deterministic);
  EXPECT_THAT(add.special, ElementsAre("one \"word\""));
  EXPECT_THAT(add.clauses, ElementsAre("OPER-020", "OPER-010"));
  ASSERT_EQ(add.derivatives.size(), 2u);
  EXPECT_EQ(add.derivatives[0].argument + ": " + add.derivatives[0].formula, "other: mul.Scalar(grad, alpha)");
  EXPECT_EQ(family.operators[1].derivatives.size(), 2u) << "in place it is the same";
  EXPECT_THAT(family.operators[2].derivatives, IsEmpty()) << "out= has none";
  const OperatorSource& max = family.operators[3];
  EXPECT_EQ(max.schema_2, "aten::max.dim(Tensor self, SymInt dim) -> (Tensor values, Tensor indices)");
  EXPECT_EQ(max.dtypes, 0b1000100011111111u);
  EXPECT_THAT(max.results, ElementsAre(ResultRule::kSame, ResultRule::kInt64));
  EXPECT_EQ(max.bound.rule, BoundRule::kExact);
  EXPECT_TRUE(max.backend_select);
  EXPECT_FALSE(max.deterministic);
  EXPECT_THAT(max.clauses, ElementsAre("OPER-020"));
}

TEST(OperatorSource, VariantsHaveWhatDiffers) {
  const OperatorFamily family = ReadOperators(kSmall, "small.toml");
  const OperatorSource& inplace = family.operators[1];
  EXPECT_EQ(inplace.name, "aten::add_.Tensor");
  EXPECT_EQ(inplace.of, "aten::add.Tensor");
  EXPECT_EQ(inplace.variant, Variant::kInPlace);
  EXPECT_THAT(inplace.results, ElementsAre(ResultRule::kSame));
  EXPECT_EQ(inplace.shape, ShapeRule::kBroadcastToSelf);
  EXPECT_EQ(inplace.registered, Registered::kBackend);
  const OperatorSource& out = family.operators[2];
  EXPECT_EQ(out.of, "aten::add.Tensor");
  EXPECT_EQ(out.variant, Variant::kOut);
  EXPECT_THAT(out.results, ElementsAre(ResultRule::kPromote));
  EXPECT_EQ(out.shape, ShapeRule::kBroadcast);
  EXPECT_EQ(out.registered, Registered::kExplicit);
}

TEST(OperatorSource, AnOperatorMayWriteByItself) {
  const OperatorFamily family = ReadOperators(R"toml(family = "copy"
dtypes = ["bool"]
bound = "exact"
registered = "backend"
[[operator]]
schema = "copy_(Tensor(a!) self, Tensor src) -> Tensor(a!)"
result = "same"
shape = "broadcast-to-self"
[[operator]]
schema = "item(Tensor self) -> Scalar"
result = "none"
shape = "none"
)toml",
                                              "copy.toml");
  EXPECT_EQ(family.operators[0].variant, Variant::kInPlace);
  EXPECT_EQ(family.operators[0].of, "");
  EXPECT_THAT(family.operators[1].results, IsEmpty());
}

TEST(OperatorSource, ErrorsSayWhereAndWhatWasExpected) {
  EXPECT_THAT(ErrorOf("family = "), HasSubstr("small.toml:1:"));
  EXPECT_THAT(ErrorOf(Replaced("\"binary\"", "\"binaries\"")),
              HasSubstr("small.toml:1:10: 'family' is one of unary, binary, comparison, "));
  EXPECT_THAT(ErrorOf(Replaced("\"binary\"", "\"binaries\"")), HasSubstr("; this is 'binaries'"));
  EXPECT_THAT(ErrorOf(Replaced("shape = \"broadcast\"", "shape = \"brodcast\"")),
              HasSubstr("small.toml:10:9: 'shape' is one of same, broadcast, "));
  EXPECT_EQ(ErrorOf(Replaced("\"integral\"", "\"integer\"")),
            "small.toml:2:11: a dtype, or one of all, integral, floating, is expected; this is 'integer'");
  EXPECT_EQ(ErrorOf(Replaced("\"float32\"", "\"int8\"")), "small.toml:2:23: 'int8' is here twice");
  EXPECT_EQ(ErrorOf(Replaced("other = \"mul", "alpha = \"mul")),
            "small.toml:14:12: 'aten::add.Tensor' has no tensor argument 'alpha'");
  EXPECT_EQ(ErrorOf(Replaced("{ self = \"grad\", other = \"mul.Scalar(grad, alpha)\" }", "\"grad\"")),
            "small.toml:14:12: 'gradient' must be a table of arguments, each with its formula");
  EXPECT_EQ(ErrorOf(Replaced("[\"all\"]", "[]")), "small.toml:18:10: 'dtypes' must name one");
  EXPECT_EQ(ErrorOf(Replaced("[\"all\"]", "\"all\"")), "small.toml:18:10: 'dtypes' must be a list");
  EXPECT_EQ(ErrorOf(Replaced("[\"same\", \"int64\"]", "[\"same\"]")),
            "small.toml:19:10: the schema returns 2 tensors, 'result' says 1");
  EXPECT_EQ(ErrorOf(Replaced("{ ulp = 2 }", "\"ulp\"")),
            "small.toml:11:9: the bound 'ulp' needs its number, as in { ulp = 2 }");
  EXPECT_THAT(ErrorOf(Replaced("{ ulp = 2 }", "{ exact = 2 }")),
              HasSubstr("small.toml:11:19: a bound with a number is "));
  EXPECT_EQ(ErrorOf(Replaced("{ ulp = 2 }", "{ ulp = 0 }")), "small.toml:11:17: the number of a bound must be above 0");
  EXPECT_EQ(ErrorOf(Replaced("{ ulp = 2 }", "{ ulp = \"2\" }")),
            "small.toml:11:17: the number of a bound must be above 0");
  EXPECT_EQ(ErrorOf(Replaced("{ ulp = 2 }", "{ ulp = 2, sum = 1 }")),
            "small.toml:11:9: a bound is one rule with its number, as in { ulp = 2 }");
  EXPECT_EQ(ErrorOf(Replaced("bound = \"exact\"\n", "")), "small.toml:15:1: the field 'bound' is missing");
  EXPECT_EQ(ErrorOf(Replaced("deterministic = false", "deterministic = 0")),
            "small.toml:23:17: 'deterministic' must be true or false");
  EXPECT_EQ(ErrorOf(Replaced("backend_select", "backendselect")), "small.toml:22:1: unknown field 'backendselect'");
  EXPECT_EQ(ErrorOf(Replaced("clauses = [\"OPER-010\"]", "clauses = [\"OPER-020\"]")),
            "small.toml:13:11: 'OPER-020' is a clause of the whole file already");
  EXPECT_EQ(ErrorOf(Replaced("[\"OPER-010\"]", "[\"A-1\", \"A-1\"]")), "small.toml:13:19: 'A-1' is here twice");
}

TEST(OperatorSource, SchemasAreHeldAgainstTheirFields) {
  EXPECT_EQ(ErrorOf(Replaced("\"add.Tensor(", "\"aten::add.Tensor(")),
            "small.toml:6:10: a schema is written without its namespace, which is aten");
  EXPECT_EQ(ErrorOf(Replaced("\"max.dim(Tensor self, int dim) -> (Tensor values, Tensor indices)\"", "\"max.dim\"")),
            "small.toml:16:10: a schema, as 'name.overload(Tensor self) -> Tensor', is expected; this is 'max.dim'");
  EXPECT_EQ(ErrorOf(Replaced("\"add_.", "\"add__.")),
            "small.toml:7:11: the name of an in-place variant ends with one _");
  EXPECT_EQ(ErrorOf(Replaced("\"add_.", "\"add.")), "small.toml:7:11: the name of an in-place variant ends with one _");
  EXPECT_EQ(ErrorOf(Replaced(", Tensor(a!) out)", ")")),
            "small.toml:8:18: an out= variant has an argument as 'Tensor(a!) out', and no name that ends with _");
  EXPECT_EQ(ErrorOf(Replaced("SymInt dim", "int dim")),
            "small.toml:17:12: 'schema_2' is the same as 'schema'; leave it out");
  EXPECT_EQ(ErrorOf(Replaced("schema_2 = \"max.", "schema_2 = \"min.")),
            "small.toml:17:12: 'schema_2' is of another operator than 'schema'");
  EXPECT_EQ(ErrorOf(Replaced("schema = \"add.Tensor(Tensor self", "schema = \"add__.Tensor(Tensor(a!) self")),
            "small.toml:7:11: only a functional operator has variants");
}

TEST(OperatorSource, NoOperatorIsThereTwice) {
  const OperatorFamily family = ReadOperators(kSmall, "small.toml");
  for (auto* write : {&WriteOperators, &WriteOperatorList}) {
    try {
      (*write)({family, family});
      ADD_FAILURE();
    } catch (const SourceError& error) {
      EXPECT_STREQ(error.what(), "small.toml:5:1: 'aten::add.Tensor' is at small.toml:5:1 already");
    }
  }
}

TEST(OperatorSource, WritesAHeaderAndAList) {
  const OperatorFamily family = ReadOperators(kSmall, "small.toml");
  const std::string header = WriteOperators({family});
  EXPECT_THAT(header, HasSubstr("{\"aten::max.dim\", \"aten::max.dim(Tensor self, int dim) -> "));
  EXPECT_THAT(header, HasSubstr("{\"one \\\"word\\\"\"}"));
  EXPECT_THAT(header, HasSubstr("{ResultRule::kSame, ResultRule::kInt64}"));
  EXPECT_THAT(header, HasSubstr("{BoundRule::kUlp, 2}, Registered::kExplicit, false, true"));
  const std::string list = WriteOperatorList({family});
  EXPECT_THAT(list, HasSubstr("2 operators and 2 variants"));
  EXPECT_THAT(list, HasSubstr("- `aten::max.dim(Tensor self, int dim) -> (Tensor values, Tensor indices)`\n"));
  EXPECT_THAT(list, HasSubstr("  dtypes integral, float32; result promote; shape broadcast; bound ulp 2; backend\n"
                              "  one \"word\".\n"
                              "  gradient of `other`: `mul.Scalar(grad, alpha)`.\n"
                              "  gradient of `self`: `grad`.\n"
                              "  - `aten::add_.Tensor("));
  EXPECT_THAT(list, HasSubstr("- `int64`: int64\n"));
}

}  // namespace
}  // namespace plumbline::tables
