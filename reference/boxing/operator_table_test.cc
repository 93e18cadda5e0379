// The generated operator table, read by the reference's parser.
#include <gtest/gtest.h>

#include "reference/boxing/schema.h"
#include "spec/tables/operators.h"

namespace plumbline::reference {
namespace {

TEST(OperatorTableTest, SchemasParseAndPrintAlike) {
  for (const tables::OperatorData& op : tables::kOperators) {
    const Schema schema = ParseSchema(op.schema);
    EXPECT_EQ(Print(schema), op.schema);
    EXPECT_EQ(schema.full_name(), op.name);
    if (!op.schema_2.empty()) EXPECT_EQ(ParseSchema(op.schema_2).full_name(), op.name);
  }
}

}  // namespace
}  // namespace plumbline::reference
