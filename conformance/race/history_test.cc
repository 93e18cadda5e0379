#include "conformance/race/history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace plumbline::race {
namespace {

using ::testing::HasSubstr;

constexpr const char* kEvery = R"(history 1 pytorch-1.13
title    one of each
clauses  CACHE-001 CACHE-002
main  1..2  define t::f as d  => ok
main  3..4  impl t::f CPU as r in L  => ok
main  5..6  fallback CUDA fallthrough as fb  => error duplicate
a  7..8  find t::f as h  => ok
a  9..10  call @h [CPU AutogradCPU] include [CUDA] exclude [AutogradCPU]  => r
b  7..9  redispatch t::f [CPU]  => error no-kernel
b  10..11  has-kernel t::f CPU  => true
b  12..13  table t::f  => { AutogradCPU: a, CPU: r }
b  14..15  operators  => names t::f t::g
b  16..17  operators  => names
c  7..8  release fb  => ok
c  9..10  close L  => ok
c  11..  call t::f []
)";

TEST(History, PrintsWhatItReads) {
  const harness::OrError<History> history = ParseHistory(kEvery);
  ASSERT_TRUE(history.ok()) << history.error();
  EXPECT_EQ(PrintHistory(*history), kEvery);
  EXPECT_EQ(history->events.size(), 13u);
  EXPECT_EQ(history->events[2].error, "duplicate");
  EXPECT_TRUE(history->events[2].fallthrough);
  EXPECT_EQ(history->events.back().end, kNever);
}

struct Wrong {
  const char* text;
  const char* says;
};

class Malformed : public ::testing::TestWithParam<Wrong> {};

TEST_P(Malformed, IsRefusedWithItsLine) {
  const std::string head = "history 1 pytorch-1.13\nmain  1..2  define t::f as d => ok\n";
  const harness::OrError<History> history = ParseHistory(head + GetParam().text);
  ASSERT_FALSE(history.ok());
  EXPECT_THAT(history.error(), HasSubstr(GetParam().says));
}

INSTANTIATE_TEST_SUITE_P(
    Lines, Malformed,
    ::testing::Values(
        Wrong{"a", "line 3, column 2: expected when it was asked for and answered"},
        Wrong{"a x", "line 3, column 3: 'x' is not a time"},
        Wrong{"a 3..3 operators => names", "the event ends at 3, which is not after 3"},
        Wrong{"a 99999999999999999999.. operators", "is not a time"},
        Wrong{"a 3..4 jump", "'jump' is not something an event can do; it can define, impl"},
        Wrong{"a 3..4 call t::f CPU => r", "line 3, column 18: expected '[' and dispatch keys, not 'CPU'"},
        Wrong{"a 3..4 call @ [CPU] => r", "line 3, column 13: '@' needs the name of a handle"},
        Wrong{"a 3..4 call t::f [CPU => r", "expected dispatch keys or ']', not '=>'"},
        Wrong{"a 3..4 call t::f [CPU]", "expected '=>' and what was answered, but the line ends"},
        Wrong{"a 3.. call t::f [CPU] => r", "an event without an end has no answer"},
        Wrong{"a 3..4 call t::f [CPU] => ok", "answered by the registration whose kernel ran, not by 'ok'"},
        Wrong{"a 3..4 release d => fine", "expected 'ok', or 'error' and a class, not 'fine'"},
        Wrong{"a 3..4 release d => ok then", "expected the end of the line, not 'then'"},
        Wrong{"a 3..4 define t::g as d => ok", "line 3: 'd' is made a second time"},
        Wrong{"a 3..4 call t::f [CPU] => error no-kernal",
              "line 3, column 33: there is no error class 'no-kernal'; did you mean 'no-kernel'?"},
        Wrong{"a 3..4 table t::f => { CPU: : }", "line 3, column 29: ':' is no name"},
        Wrong{"a 3..4 define t::g(Tensor a) -> Tensor as e => ok",
              "line 3, column 15: a history names operators without their"},
        Wrong{"a 3..4 release e => ok", "line 3: nothing is made as 'e'"},
        Wrong{"a 3..4 call @h [CPU] => error no-kernel", "line 3: nothing is made as 'h'"},
        Wrong{"a 3..4 close lib => ok", "line 3: nothing is made in a library 'lib'"},
        Wrong{"main 1..4 operators => names", "line 3: thread 'main' begins this at 1, before line 2 has ended"},
        Wrong{"a 3..4 call t::f [CPU CPV] => r", "line 3, column 23: the release has no key 'CPV' (nearest: "},
        Wrong{"a 3..4 call t::f [] include [CPV] => r", "line 3, column 30: the release has no key 'CPV'"},
        Wrong{"a 3..4 redispatch t::f [CPV] => r", "line 3, column 25: the release has no key 'CPV'"},
        Wrong{"a 3..4 impl t::f CPV as r => ok", "line 3, column 18: the release has no key 'CPV'"},
        Wrong{"a 3..4 fallback CPV as r => ok", "line 3, column 17: the release has no key 'CPV'"},
        Wrong{"a 3..4 has-kernel t::f CPV => true", "line 3, column 24: the release has no key 'CPV'"},
        Wrong{"a 3..4 table t::f => { CPU: r, CPV: r }", "line 3, column 32: the release has no key 'CPV'"},
        Wrong{"a 3..4 impl t::f CPU \x01\x02 r => ok", "expected 'as' and the name of the registration, not '?\?'"}));

TEST(History, IsRefusedWithoutItsHead) {
  EXPECT_THAT(ParseHistory("").error(), HasSubstr("the history is empty"));
  EXPECT_THAT(ParseHistory("scenario 1 x\n").error(), HasSubstr("line 1, column 1: expected 'history 1 RELEASE'"));
  EXPECT_THAT(ParseHistory("\n history 1 pytorch-9\n").error(),
              HasSubstr("line 2, column 12: there is no release 'pytorch-9'; there are: pytorch-1.13, "));
  EXPECT_THAT(ParseHistory("history 2 x\n").error(), HasSubstr("expected version 1"));
  EXPECT_THAT(ParseHistory("history 1 pytorch-1.13\ntitle nothing\n").error(), HasSubstr("has no events"));
}

}  // namespace
}  // namespace plumbline::race
