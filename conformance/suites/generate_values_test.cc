#include "conformance/suites/generate_values.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "spec/model/signature.h"
#include "spec/scenario/print.h"
#include "spec/scenario/schema.h"

namespace plumbline::suites {
namespace {

TEST(CatalogueTest, EverySchemaFitsItsSignatureAndItsValues) {
  Draw draw(rc::Random(7), 100);
  for (const CatalogueEntry& entry : Catalogue()) {
    SCOPED_TRACE(entry.name);
    const scenario::SchemaResult parsed = scenario::ParseSchema(SchemaOf(entry, "demo::f"));
    ASSERT_TRUE(parsed.schema) << parsed.error->message;
    const model::Types types = model::TypesOf(*parsed.schema);
    const model::Signature* signature = model::FindSignature(entry.name);
    ASSERT_NE(signature, nullptr);
    EXPECT_EQ(model::Difference(types, *signature), "");
    std::set<std::string> different;
    for (int i = 0; i < 50; ++i) {
      const auto values =
          AnyValuesOf(entry, draw, [&draw] { return std::vector<std::string>{draw.Coin() ? "CPU" : "XLA"}; });
      EXPECT_EQ(model::Misfit(types.arguments, values, "argument"), "") << scenario::PrintValues(values);
      different.insert(scenario::PrintValues(values));
    }
    EXPECT_GT(different.size(), 2u);
  }
}

TEST(CatalogueTest, UnknownSignatureIsAnError) { EXPECT_THROW(CatalogueEntryOf("nothing"), std::invalid_argument); }

}  // namespace
}  // namespace plumbline::suites
