#include "spec/model/names.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace plumbline::model {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(NamesTest, EditDistance) {
  EXPECT_EQ(EditDistance("", ""), 0);
  EXPECT_EQ(EditDistance("", "abc"), 3);
  EXPECT_EQ(EditDistance("abc", "abc"), 0);
  EXPECT_EQ(EditDistance("abc", "abd"), 1);
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3);
}

TEST(NamesTest, NearestFirstAndNotItself) {
  const std::vector<std::string> known = {"demo::linear", "demo::linea", "other::thing", "demo::lin"};
  EXPECT_THAT(Nearest("demo::linaer", known), ElementsAre("demo::linea", "demo::linear", "demo::lin"));
  EXPECT_THAT(Nearest("zzz", known), IsEmpty());
  EXPECT_THAT(Nearest("demo::lin", std::vector<std::string>{"demo::lin"}), IsEmpty());
}

TEST(NamesTest, CaseCountsLeast) {
  const std::vector<std::string> known = {"AutogradCUDA", "AutogradMeta", "AutogradCPU"};
  EXPECT_EQ(Nearest("Autogradcuda", known).front(), "AutogradCUDA");
}

TEST(NamesTest, Join) {
  EXPECT_EQ(Join({}, ", "), "");
  EXPECT_EQ(Join(std::vector<std::string>{"a", "b"}, ", "), "a, b");
}

}  // namespace
}  // namespace plumbline::model
