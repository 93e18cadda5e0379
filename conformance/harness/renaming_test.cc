#include "conformance/harness/renaming.h"

#include <gtest/gtest.h>

#include "spec/scenario/parse.h"

namespace plumbline::harness {
namespace {

scenario::Scenario Sample() {
  const scenario::ParseResult parsed = scenario::Parse(
      "scenario 1 pytorch-1.13\n"
      "kernel k { call inner::g }\n"
      "define demo::f(str a=\"x::y\") -> ()\n"
      "library l def other\n");
  return parsed.scenario.value();
}

TEST(RenamingTest, RenamesOnlyTheNamespace) {
  const Renaming renaming(Sample(), "_pl7x");
  EXPECT_EQ(renaming.In("demo::f.out"), "demo_pl7x::f.out");
  EXPECT_EQ(renaming.In("demo::f(str a=\"x::y\") -> ()"), "demo_pl7x::f(str a=\"x::y\") -> ()");
  EXPECT_EQ(renaming.In("f(str a=\"x::y\") -> ()"), "f(str a=\"x::y\") -> ()");
  EXPECT_EQ(renaming.In("::f"), "::f");
  EXPECT_EQ(renaming.Namespace("_"), "_");
}

TEST(RenamingTest, TakesTheSuffixOutOfAnyText) {
  const Renaming renaming(Sample(), "_pl7x");
  EXPECT_EQ(renaming.Out("demo_pl7x::f calls demo_pl7x::g, not demo_pl71x::g"),
            "demo::f calls demo::g, not demo_pl71x::g");
}

TEST(RenamingTest, KnowsTheScenariosNamespaces) {
  const Renaming renaming(Sample(), "_pl7x");
  EXPECT_TRUE(renaming.Owns("demo_pl7x::h"));
  EXPECT_TRUE(renaming.Owns("other_pl7x::h"));
  EXPECT_TRUE(renaming.Owns("inner_pl7x::g"));
  EXPECT_FALSE(renaming.Owns("demo::f"));
  EXPECT_FALSE(renaming.Owns("aten::add"));
}

TEST(RenamingTest, WithoutASuffixNothingChanges) {
  const Renaming renaming(Sample(), "");
  EXPECT_EQ(renaming.In("demo::f"), "demo::f");
  EXPECT_EQ(renaming.Out("demo::f"), "demo::f");
  EXPECT_TRUE(renaming.Owns("demo::f"));
}

}  // namespace
}  // namespace plumbline::harness
