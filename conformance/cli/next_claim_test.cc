#include "conformance/cli/next_claim.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace plumbline::cli {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(NextClaimTest, ABackendOfNothingIsToldWhereToBegin) {
  const std::string text = NextClaim({}, {"open", "close"});
  EXPECT_THAT(text, StartsWith("next: claim core: give the adapter's class InternKey, MakeTensor, "));
  EXPECT_THAT(text, HasSubstr("spec/abi/adapter.h"));
}

TEST(NextClaimTest, EachMemberShows) {
  EXPECT_THAT(NextClaim({}, {"open", "close", "intern_key"}),
              StartsWith("next: claim core: 1 of its 9 members are there; missing: MakeTensor, MakeUndefinedTensor, "));
  EXPECT_THAT(NextClaim({}, {"intern_key", "tensor_make", "tensor_make_undefined", "tensor_keys", "tensor_identity",
                             "define", "register_kernel", "find_operator"}),
              StartsWith("next: claim core: 8 of its 9 members are there; missing: CallBoxed.\n"));
}

TEST(NextClaimTest, ATableThatForgotToClaim) {
  EXPECT_THAT(NextClaim({}, {"intern_key", "tensor_make", "tensor_make_undefined", "tensor_keys", "tensor_identity",
                             "define", "register_kernel", "find_operator", "call"}),
              HasSubstr("9 of its 9 members are there; only the claim itself is missing"));
}

TEST(NextClaimTest, OfOperatorsWhatTheyNeedComesFirst) {
  EXPECT_THAT(NextClaim({"core", "boxed", "guards"}, {}, true), StartsWith("next: claim tensors: "));
  EXPECT_THAT(NextClaim({"core", "boxed", "tensors"}, {}, true), StartsWith("next: claim operators: "));
  EXPECT_THAT(NextClaim({}, {}, true), StartsWith("next: claim core: "));
}

TEST(NextClaimTest, WhatIsBegunBesideTheStepsShowsToo) {
  const std::string text = NextClaim({"core"}, {"has_kernel", "schema_of"});
  EXPECT_THAT(text, StartsWith("next: claim boxed: give the adapter's class CallBoxed"));
  EXPECT_THAT(text,
              HasSubstr("begun: introspection: 2 of its 5 members are there; missing: HasFallback, ListOperators, "
                        "DumpTable.\n"));
  EXPECT_THAT(text, Not(HasSubstr("faults")));
  const std::vector<std::string> past = {"core", "boxed", "fallbacks", "redispatch", "guards"};
  EXPECT_THAT(NextClaim(past, {"fault_set"}),
              StartsWith("begun: faults: 1 of its 2 members are there; missing: Faults.\n"));
  EXPECT_EQ(NextClaim(past, {"open"}), "");
}

}  // namespace
}  // namespace plumbline::cli
