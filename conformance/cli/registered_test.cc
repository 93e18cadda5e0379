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
  EXPECT_EQ(NoSuchOperator("aten::adr", known),
            "there is no operator 'aten::adr'; near: aten::addr, aten::add.Scalar, aten::add.Tensor");
  EXPECT_EQ(NoSuchOperator("mine::f", known),
            "there is no operator 'mine::f' among the 4 that are registered; is the library that defines it loaded "
            "(--load)?");
}

TEST(FoldRegistrationsTest, SaysOnceWhatHoldsForSeveralKeys) {
  const std::vector<std::string> lines = {"name: aten::add",
                                          "alias analysis kind: FROM_SCHEMA",
                                          "CPU: registered at a.cpp:1 [ boxed ]",
                                          "AutogradOther: registered at v.cpp:2",
                                          "AutogradCPU: registered at v.cpp:2",
                                          "CPU (inactive): registered at a.cpp:1",
                                          "CPU (inactive): registered at a.cpp:1",
                                          "a line without a key"};
  EXPECT_EQ(FoldRegistrations(lines),
            (std::vector<std::string>{"name: aten::add", "alias analysis kind: FROM_SCHEMA",
                                      "CPU: registered at a.cpp:1 [ boxed ]",
                                      "AutogradOther, AutogradCPU: registered at v.cpp:2",
                                      "CPU (inactive) (2 times): registered at a.cpp:1", "a line without a key"}));
}

}  // namespace
}  // namespace plumbline::cli
