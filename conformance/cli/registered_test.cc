#include "conformance/cli/registered.h"

#include <gtest/gtest.h>

namespace plumbline::cli {
namespace {

TEST(NoSuchOperatorTest, OffersOverloadsThenWhatIsNear) {
  const std::vector<std::string> known = {"aten::add.Scalar", "aten::add.Tensor", "aten::addr", "aten::mul"};
  EXPECT_EQ(NoSuchOperator("aten::add", known),
            "the operator 'aten::add' has no overload without a name; give one of\n"
            "  aten::add.Scalar\n"
            "  aten::add.Tensor");
  EXPECT_EQ(NoSuchOperator("aten::adr", known), "there is no operator 'aten::adr'; near: aten::addr, aten::mul");
  EXPECT_EQ(NoSuchOperator("mine::f", known),
            "there is no operator 'mine::f' among the 4 that are registered; is the library that defines it loaded "
            "(--load)?");
}

}  // namespace
}  // namespace plumbline::cli
