// The generated operator table, read by this side's parser.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "spec/scenario/schema.h"
#include "spec/tables/operators.h"

namespace plumbline::scenario {
namespace {

using tables::BoundRule;
using tables::kOperators;
using tables::OperatorData;
using tables::Registered;
using tables::ShapeRule;
using tables::Variant;
using Base = SchemaType::Base;

Schema Parsed(const OperatorData& op) {
  const SchemaResult result = ParseSchema(op.schema);
  EXPECT_TRUE(result.schema.has_value()) << op.schema << ": " << (result.error ? result.error->message : "");
  return result.schema.value_or(Schema{});
}

bool IsWritten(const SchemaArgument& argument) { return argument.type.writes; }

TEST(OperatorTable, SchemasParseAndAreCanonical) {
  for (const OperatorData& op : kOperators) {
    const Schema schema = Parsed(op);
    EXPECT_EQ(PrintSchema(schema), op.schema);
    EXPECT_EQ(schema.FullName(), op.name);
    EXPECT_EQ(schema.name_space, "aten");
    if (op.schema_2.empty()) continue;
    const SchemaResult newer = ParseSchema(op.schema_2);
    ASSERT_TRUE(newer.schema.has_value()) << op.schema_2 << ": " << newer.error->message;
    EXPECT_EQ(newer.schema->FullName(), op.name);
  }
}

TEST(OperatorTable, ResultsAreOneForEachTensor) {
  for (const OperatorData& op : kOperators) {
    const Schema schema = Parsed(op);
    const auto tensors = std::count_if(schema.returns.begin(), schema.returns.end(),
                                       [](const SchemaArgument& r) { return r.type.base == Base::kTensor; });
    EXPECT_EQ(op.results.size(), static_cast<std::size_t>(tensors)) << op.name;
  }
}

TEST(OperatorTable, VariantsSayWhatTheyWrite) {
  for (const OperatorData& op : kOperators) {
    const Schema schema = Parsed(op);
    const auto written = std::count_if(schema.arguments.begin(), schema.arguments.end(), IsWritten);
    switch (op.variant) {
      case Variant::kFunctional:
        EXPECT_EQ(written, 0) << op.name;
        break;
      case Variant::kInPlace:
        EXPECT_TRUE(schema.arguments.at(0).type.writes) << op.name;
        ASSERT_EQ(schema.returns.size(), 1u) << op.name;
        EXPECT_EQ(schema.returns[0].type, schema.arguments[0].type) << op.name;
        break;
      case Variant::kOut:
        EXPECT_EQ(static_cast<std::size_t>(written), op.results.size()) << op.name;
        EXPECT_EQ(op.results.size(), schema.returns.size()) << op.name;
        for (const SchemaArgument& result : schema.returns) EXPECT_TRUE(result.type.writes) << op.name;
        for (const SchemaArgument& a : schema.arguments) EXPECT_EQ(a.type.writes, a.type.writes && a.keyword_only);
        break;
    }
  }
}

TEST(OperatorTable, VariantsFollowTheOperatorThatTheyAreOf) {
  const OperatorData* last = nullptr;
  for (const OperatorData& op : kOperators) {
    if (op.of.empty()) {
      last = &op;
      continue;
    }
    ASSERT_NE(last, nullptr);
    EXPECT_EQ(op.of, last->name);
    EXPECT_EQ(op.family, last->family);
    EXPECT_EQ(op.dtypes, last->dtypes);
    EXPECT_EQ(op.bound.rule, last->bound.rule);
    EXPECT_EQ(op.clauses.data(), last->clauses.data());
  }
}

TEST(OperatorTable, NamesAreThereOnce) {
  std::set<std::string_view> names;
  for (const OperatorData& op : kOperators) {
    EXPECT_TRUE(names.insert(op.name).second) << op.name;
    EXPECT_EQ(tables::FindOperator(op.name), &op);
  }
  EXPECT_EQ(tables::FindOperator("aten::nothing"), nullptr);
}

TEST(OperatorTable, BackendSelectIsForWhatNoTensorChooses) {
  for (const OperatorData& op : kOperators) {
    const Schema schema = Parsed(op);
    const bool by_tensor = std::any_of(schema.arguments.begin(), schema.arguments.end(),
                                       [](const SchemaArgument& argument) { return argument.type.BringsKeys(); });
    // _to_copy chooses by its device too.
    EXPECT_EQ(op.backend_select, !by_tensor || op.name == "aten::_to_copy") << op.name;
  }
}

TEST(OperatorTable, CoversWhatANetworkNeeds) {
  std::set<tables::Family> families;
  std::size_t operators = 0;
  for (const OperatorData& op : kOperators) {
    families.insert(op.family);
    operators += op.of.empty() ? 1 : 0;
    EXPECT_NE(op.dtypes, 0u) << op.name;
    EXPECT_FALSE(op.clauses.empty()) << op.name;
  }
  EXPECT_EQ(families.size(), static_cast<std::size_t>(tables::Family::kLoss) + 1);
  EXPECT_GE(operators, 120u);
}

TEST(OperatorTable, ReadsAsItsSourcesDo) {
  const OperatorData* add = tables::FindOperator("aten::add_.Tensor");
  ASSERT_NE(add, nullptr);
  EXPECT_EQ(add->of, "aten::add.Tensor");
  EXPECT_EQ(add->shape, ShapeRule::kBroadcastToSelf);
  EXPECT_EQ(add->bound.rule, BoundRule::kMultiplyAdd);
  EXPECT_TRUE(add->Takes(11));
  const OperatorData* empty = tables::FindOperator("aten::empty.memory_format");
  ASSERT_NE(empty, nullptr);
  EXPECT_TRUE(empty->backend_select);
  EXPECT_EQ(empty->registered, Registered::kBackend);
  const OperatorData* softmax = tables::FindOperator("aten::_softmax");
  ASSERT_NE(softmax, nullptr);
  EXPECT_TRUE(softmax->Takes(5) && softmax->Takes(15));
  EXPECT_FALSE(softmax->Takes(4) || softmax->Takes(8));
}

}  // namespace
}  // namespace plumbline::scenario
