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
  EXPECT_EQ(EditDistance("abcd", "acbd"), 1) << "two that changed places";
  EXPECT_EQ(EditDistance("ab", "ba"), 1);
}

TEST(NamesTest, NearestFirstAndNotItself) {
  const std::vector<std::string> known = {"demo::linear", "demo::linea", "other::thing", "demo::lin"};
  EXPECT_THAT(Nearest("demo::linaer", known), ElementsAre("demo::linear", "demo::linea"));
  EXPECT_THAT(Nearest("zzz", known), IsEmpty());
  EXPECT_THAT(Nearest("demo::lin", std::vector<std::string>{"demo::lin"}), IsEmpty());
}

// One slip in each part, among the names that would drown the right one if the whole were compared letter by letter.
TEST(NamesTest, FindsASlipInEachPart) {
  const std::vector<std::string> known = {
      "aten::abs",        "aten::add.Scalar", "aten::add.Tensor", "aten::add.out",    "aten::all",
      "aten::and.Tensor", "aten::batch_norm", "aten::div.Tensor", "aten::mul.Scalar", "aten::mul.Tensor",
      "aten::sub.Tensor", "prims::add",       "prims::view_of"};
  const auto nearest = [&](std::string_view name) {
    const std::vector<std::string> near = Nearest(name, known);
    return near.empty() ? std::string() : near.front();
  };
  for (const char* name :
       {"atne::mul.Tensor", "ate::mul.Tensor", "aten::mlu.Tensor", "aten::mull.Tensor", "aten::mu.Tensor",
        "aten::mul.Tenosr", "aten::mul.Tensr", "aten::mul.tensor", "ATEN::MUL.TENSOR", "aten:mul.Tensor", "mul.Tensor",
        "aten.mul.Tensor", "tean::mul.Tensor", "torch::mul.Tensor"}) {
    EXPECT_EQ(nearest(name), "aten::mul.Tensor") << name;
  }
  EXPECT_EQ(nearest("aten::batchnorm"), "aten::batch_norm");
  EXPECT_EQ(nearest("prim::veiw_of"), "prims::view_of");
  EXPECT_THAT(Nearest("aten::softmx", std::vector<std::string>{"aten::_softmax", "aten::softmax.int"}),
              ElementsAre("aten::softmax.int", "aten::_softmax"));
  EXPECT_THAT(Nearest("aten::add.Complex", known), ElementsAre("aten::add.Scalar", "aten::add.Tensor", "aten::add.out"))
      << "the overloads that there are";
  EXPECT_THAT(Nearest("aten::ad", known), ElementsAre("aten::add.Scalar", "aten::add.Tensor", "aten::add.out"));
  EXPECT_THAT(Nearest("aten::softplus", known), IsEmpty());
  EXPECT_THAT(Nearest("mine::f", known), IsEmpty());
  EXPECT_THAT(Nearest("aten::f", std::vector<std::string>{"aten::g", "aten::h"}), IsEmpty()) << "nothing is alike";
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
