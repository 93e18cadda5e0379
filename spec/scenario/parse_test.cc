#include "spec/scenario/parse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <string>

#include "spec/scenario/print.h"

namespace plumbline::scenario {
namespace {

using ::testing::ElementsAre;

Scenario MustParse(const std::string& text) {
  ParseResult result = Parse(text);
  EXPECT_TRUE(result.scenario.has_value()) << (result.error ? result.error->message : "");
  return result.scenario.value_or(Scenario{});
}

template <class T>
const T& As(const Scenario& scenario, std::size_t step) {
  return std::get<T>(scenario.steps.at(step).action);
}

TEST(Parse, ReadsTheExampleOfTheGrammar) {
  Scenario s = MustParse(R"(scenario 1 pytorch-1.13
title    fallthrough is skipped, then the newest CPU kernel answers
clauses  RES-001 REG-014
open     fresh

kernel   k0 { guard exclude [AutogradCPU AutogradOther]; redispatch below AutogradOther; return inner }

define   demo::f(Tensor a, Tensor b) -> Tensor
impl     demo::f  AutogradCPU  fallthrough
impl     demo::f  CPU  k1  as r1
call     demo::f  [CPU AutogradCPU] [CPU]        => k1
impl     demo::f  CPU  k2 typed tensor_tensor  as r2  => ok warned
call     demo::f  [CPU] [CPU]                    => k2 with [CPU]
release  r2
call     demo::f  [CUDA] [CUDA]                  => error no-kernel
)");
  EXPECT_EQ(s.release, "pytorch-1.13");
  EXPECT_EQ(s.title, "fallthrough is skipped, then the newest CPU kernel answers");
  EXPECT_THAT(s.clauses, ElementsAre("RES-001", "REG-014"));
  EXPECT_EQ(s.open, OpenMode::kFresh);
  ASSERT_EQ(s.kernels.size(), 1u);
  ASSERT_EQ(s.kernels[0].body.size(), 3u);
  EXPECT_EQ(std::get<BodyRedispatch>(s.kernels[0].body[1]).below, "AutogradOther");
  ASSERT_EQ(s.steps.size(), 8u);
  EXPECT_EQ(As<Define>(s, 0).schema, "demo::f(Tensor a, Tensor b) -> Tensor");
  EXPECT_TRUE(As<Impl>(s, 1).kernel.fallthrough);
  EXPECT_EQ(As<Impl>(s, 2).name, "r1");
  EXPECT_EQ(As<Impl>(s, 4).kernel.signature, "tensor_tensor");
  EXPECT_EQ(s.steps[4].expected->warned, true);
  EXPECT_THAT(*s.steps[5].expected->with, ElementsAre("CPU"));
  EXPECT_EQ(s.steps[7].expected->error, "no-kernel");
  EXPECT_EQ(s.steps[0].line, 8);
  EXPECT_EQ(s.steps[7].line, 15);
}

TEST(Parse, EveryVerb) {
  Scenario s = MustParse(R"(scenario 1 pytorch-2.x
open process
declare component Npu after MTIA autograd own
declare backend Toy after MkldnnCPU autograd AutogradOther
declare mode Log after Tracer
chain AutogradCUDA served by AutogradCPU as c1
library l1 impl _ CPU
library l2 def demo
close l1
define f(Tensor a) -> (Tensor, int) in l2 as d1
impl f k1 in l2
fallback CPU k2 typed tensor in l1 as f1
listen as heard1
drain
find demo::f as h1
on t2 call @h1 [] undefined none -3 1.5 inf -inf nan true "a \"b\"\n\x07" {[CPU] none {1 2}} {}
call typed tensor_int demo::f.out [CPU] 4
guard include [CPU AutogradCPU] as g1
leave g1
flush
query has-kernel demo::f CPU => true
query computed demo::f CPU => false
query has-fallback CPU
query operators => names demo::f demo::g
query dangling => names
query at-key CPU
query schema demo::f => schema "demo::f(Tensor a) -> Tensor"
query table demo::f => { kernel r1: CPU CUDA; ambiguous: AutogradOther; fallback builtin fallthrough : BackendSelect }
query counters demo::f => hits 1 misses 2 invalidations 3
query destroyed k1 => count 1
query heard heard1 => heard +demo::f -demo::f
)");
  ASSERT_EQ(s.declared_keys.size(), 3u);
  EXPECT_EQ(s.declared_keys[0].autograd, "own");
  EXPECT_EQ(s.declared_keys[2].after, "Tracer");
  EXPECT_EQ(As<Chain>(s, 0).served_by, "AutogradCPU");
  EXPECT_EQ(As<LibraryOpen>(s, 1).key, "CPU");
  EXPECT_EQ(As<LibraryOpen>(s, 1).name_space, "_");
  EXPECT_FALSE(As<LibraryOpen>(s, 2).key.has_value());
  EXPECT_EQ(As<Define>(s, 4).library, "l2");
  EXPECT_EQ(As<Define>(s, 4).schema, "f(Tensor a) -> (Tensor, int)");
  EXPECT_FALSE(As<Impl>(s, 5).key.has_value());
  EXPECT_EQ(As<Fallback>(s, 6).kernel.signature, "tensor");
  const Call& call = As<Call>(s, 10);
  EXPECT_EQ(s.steps[10].thread, "t2");
  EXPECT_EQ(call.handle, "h1");
  ASSERT_EQ(call.arguments.size(), 12u);
  EXPECT_EQ(call.arguments[0], Value::Tensor({}));
  EXPECT_EQ(call.arguments[1], Value::Undefined());
  EXPECT_EQ(call.arguments[3], Value::Int(-3));
  EXPECT_EQ(call.arguments[6], Value::Float(-std::numeric_limits<double>::infinity()));
  EXPECT_TRUE(std::isnan(call.arguments[7].real));
  EXPECT_EQ(call.arguments[9], Value::String("a \"b\"\n\a"));
  EXPECT_EQ(call.arguments[10],
            Value::List({Value::Tensor({"CPU"}), Value::None(), Value::List({Value::Int(1), Value::Int(2)})}));
  EXPECT_EQ(As<Call>(s, 11).form, CallForm::kTyped);
  EXPECT_EQ(As<Query>(s, 16).kind, QueryKind::kHasComputed);
  const auto& table = *s.steps[22].expected->table;
  ASSERT_EQ(table.size(), 4u);
  EXPECT_EQ(table[1], (TableRow{"CUDA", "kernel", false, "r1"}));
  EXPECT_EQ(table[2], (TableRow{"AutogradOther", "ambiguous", false, ""}));
  EXPECT_EQ(table[3], (TableRow{"BackendSelect", "fallback", true, "builtin"}));
  EXPECT_EQ(s.steps[23].expected->counters, (CacheCounters{1, 2, 3}));
  EXPECT_EQ(s.steps[24].expected->count, 1);
  EXPECT_THAT(*s.steps[25].expected->names, ElementsAre("+demo::f", "-demo::f"));
}

TEST(Parse, EveryItemOfABody) {
  Scenario s = MustParse(R"(scenario 1 pytorch-1.13
kernel k {
  guard include [CPU];            # comments may stand here
  redispatch to [CPU AutogradCPU];
  redispatch typed below AutogradCPU;
  call demo::g; call demo::g (); try call typed tensor demo::g ([CPU]);
  define demo::h(Tensor a) -> Tensor as d; impl demo::h CPU k2 as r; fallback CPU fallthrough; release r;
  throw "no";
  return 1 arg 2 inner {1 2};
}
)");
  ASSERT_EQ(s.kernels.size(), 1u);
  const auto& body = s.kernels[0].body;
  ASSERT_EQ(body.size(), 12u);
  EXPECT_TRUE(std::get<BodyGuard>(body[0]).include);
  EXPECT_THAT(*std::get<BodyRedispatch>(body[1]).keys, ElementsAre("CPU", "AutogradCPU"));
  EXPECT_EQ(std::get<BodyRedispatch>(body[2]).form, CallForm::kTyped);
  EXPECT_FALSE(std::get<BodyCall>(body[3]).arguments.has_value());
  EXPECT_TRUE(std::get<BodyCall>(body[4]).arguments.has_value());
  EXPECT_TRUE(std::get<BodyCall>(body[5]).caught);
  EXPECT_EQ(std::get<Define>(std::get<BodyStep>(body[6]).step[0].action).schema, "demo::h(Tensor a) -> Tensor");
  EXPECT_EQ(std::get<BodyThrow>(body[10]).message, "no");
  const auto& values = std::get<BodyReturn>(body[11]).values;
  ASSERT_EQ(values.size(), 4u);
  EXPECT_EQ(std::get<BodyReturn::Argument>(values[1]).index, 2);
}

Expectation Expected(const std::string& text) {
  Scenario s = MustParse("scenario 1 x\ncall f => " + text + "\n");
  return s.steps.empty() ? Expectation{} : s.steps[0].expected.value_or(Expectation{});
}

TEST(Parse, Outcomes) {
  EXPECT_TRUE(Expected("ok").ok);
  EXPECT_EQ(Expected("ok unwarned").warned, false);
  EXPECT_EQ(Expected("error any").error, "any");
  EXPECT_EQ(Expected("error no-kernel says \"CPU\"").says, "CPU");
  EXPECT_THAT(*Expected("k1 > k.2 > k2").chain, ElementsAre("k1", "k.2", "k2"));
  Expectation failed = Expected("k1 > error kernel-raised");
  EXPECT_THAT(*failed.chain, ElementsAre("k1"));
  EXPECT_EQ(failed.error, "kernel-raised");
  failed = Expected("k1 with [CPU] > error no-key says \"x\"");
  EXPECT_THAT(*failed.with, ElementsAre("CPU"));
  EXPECT_EQ(failed.error, "no-key");
  Expectation full = Expected("k1 with [] sees [CPU] 3 returns arg 0 4");
  EXPECT_TRUE(full.with->empty());
  EXPECT_THAT(*full.sees, ElementsAre(Value::Tensor({"CPU"}), Value::Int(3)));
  EXPECT_THAT(*full.returns, ElementsAre(Value::ArgumentOf(0), Value::Int(4)));
  EXPECT_TRUE(Expected("k1 sees returns").returns->empty());
}

TEST(Parse, KeepsComments) {
  std::string text =
      "scenario 1 x\n# in the head\nopen fresh\n\n# before the first\n\nflush # dropped\n\n\ndrain\n# at the end\n\n";
  Scenario s = MustParse(text);
  EXPECT_EQ(s.comments.size(), 4u);
  EXPECT_EQ(s.comments[-1], "# in the head");
  EXPECT_EQ(s.comments[0], "# before the first\n");
  EXPECT_EQ(s.comments[1], "\n");
  EXPECT_EQ(s.comments[2], "# at the end");
  EXPECT_EQ(Print(s),
            "scenario 1 x\n# in the head\nopen     fresh\n\n# before the first\n\nflush\n\n\ndrain\n# at the end\n");
}

TEST(Parse, TakesLineEndsOfBothKindsAndNoneAtTheEnd) {
  EXPECT_EQ(MustParse("scenario 1 x\r\ndrain\r\nflush"), MustParse("scenario 1 x\ndrain\nflush\n"));
}

TEST(Parse, Fragments) {
  ParseResult result = ParseFragment("kernel k { return 1 }\n\ndrain => ok\n", "pytorch-2.x");
  ASSERT_TRUE(result.scenario.has_value());
  EXPECT_EQ(result.scenario->release, "pytorch-2.x");
  EXPECT_EQ(result.scenario->kernels.size(), 1u);
  EXPECT_EQ(result.scenario->steps.size(), 1u);
  result = ParseFragment("scenario 1 x\n", "pytorch-2.x");
  ASSERT_TRUE(result.error.has_value());
  EXPECT_EQ(result.error->message, "'scenario' is the first line only");
}

struct Bad {
  const char* text;  // after "scenario 1 x\n", unless it starts with a '!'
  int line, column;
  const char* message;
};

TEST(Parse, ErrorsSayWhereAndWhat) {
  for (const Bad& bad : {
           Bad{"!", 1, 1, "expected 'scenario VERSION RELEASE' on the first line"},
           Bad{"!call f\n", 1, 1, "expected 'scenario VERSION RELEASE' on the first line"},
           Bad{"!scenario\n", 1, 9, "expected the version of the language, a number, found the end of the line"},
           Bad{"!scenario 1\n", 1, 11, "expected a release, such as pytorch-1.13, found the end of the line"},
           Bad{"!scenario 2 x\n", 1, 10, "version 2 of the language is not known here; 1 is"},
           Bad{"!scenario 99999999999 x", 1, 10, "'99999999999' does not fit"},
           Bad{"!scenario 1 x y", 1, 14, "expected the end of the line, found 'y'"},
           Bad{"scenario 1 x", 2, 1, "'scenario' is the first line only"},
           Bad{"title", 2, 6, "expected the title, found the end of the text"},
           Bad{"title a\ntitle b", 3, 1, "there is a title already"},
           Bad{"open\n", 2, 5, "expected a registry (fresh, process), found the end of the line"},
           Bad{"open fresh\nopen process", 3, 1, "it is said already how to open"},
           Bad{"drain\ntitle late", 3, 1, "'title' belongs to the head, before the first step"},
           Bad{"  frobnicate x", 2, 3, "unknown verb 'frobnicate'"},
           Bad{"on t1\n", 2, 6, "expected a verb, found the end of the line"},
           Bad{"on in call f", 2, 4, "expected the name of a thread, found 'in'"},
           Bad{"[CPU]", 2, 1, "expected a verb, found '['"},
           Bad{"declare mode M", 2, 15, "expected 'after', found the end of the text"},
           Bad{"declare backend M after Tracer", 2, 31, "expected 'autograd', found the end of the text"},
           Bad{"kernel k\n", 2, 9, "expected '{', found the end of the line"},
           Bad{"kernel k { return 1\n\n", 4, 1,
               "expected a value, 'arg N', 'inner', ';' or '}', found the end of the text"},
           Bad{"kernel k { drain }", 2, 12,
               "expected an item of a kernel's body (guard, redispatch, call, try call, throw, return, define, impl, "
               "fallback, release), found 'drain'"},
           Bad{"kernel k { call f\n guard }", 3, 2, "expected ';' or '}', found 'guard'"},
           Bad{"kernel k { redispatch CPU }", 2, 23, "expected 'below KEY' or 'to [KEYS]', found 'CPU'"},
           Bad{"kernel k { throw no }", 2, 18, "expected the message, a string, found 'no'"},
           Bad{"kernel k { return arg x }", 2, 23, "expected the position of an argument, found 'x'"},
           Bad{"kernel k { return arg -1 }", 2, 23, "positions of arguments start at 0"},
           Bad{"kernel k { }\nkernel k { }", 3, 8, "there is a kernel 'k' already"},
           Bad{"kernel ok { }", 2, 8, "expected the name of a kernel, found 'ok'"},
           Bad{"define   \n", 2, 10, "expected a schema, found the end of the line"},
           Bad{"define f() -> () in\n", 2, 20, "expected the name of a library, found the end of the line"},
           Bad{"impl f\n", 2, 7, "expected a key, a kernel or 'fallthrough', found the end of the line"},
           Bad{"impl f CPU k typed tensr", 2, 20, "expected a signature of the catalogue (tensor, tensor_tensor, "},
           Bad{"impl f CPU k as r extra", 2, 19, "expected '=>' or the end of the line, found 'extra'"},
           Bad{"impl f CPU \"k\"", 2, 12, "expected the name of a kernel, found the string \"k\""},
           Bad{"listen l", 2, 8, "expected 'as', found 'l'"},
           Bad{"release\n", 2, 8, "expected the name of a registration, found the end of the line"},
           Bad{"call\n", 2, 5, "expected an operator or @HANDLE, found the end of the line"},
           Bad{"call @ [CPU]", 2, 6, "expected the name of a handle after '@', found '@'"},
           Bad{"call f [CPU", 2, 12, "expected a key or ']', found the end of the text"},
           Bad{"call f [CPU,CUDA]", 2, 9, "expected a key or ']', found 'CPU,CUDA'"},
           Bad{"call f {1", 2, 10, "expected a value or '}', found the end of the text"},
           Bad{"call f CPU", 2, 8,
               "expected an argument ([KEY ...], undefined, none, a number, true, false, a string, {VALUE ...}), '=>' "
               "or the end of the line, found 'CPU'"},
           Bad{"call f 3x", 2, 8, "expected an integer, found '3x'"},
           Bad{"call f 1.5.2", 2, 8, "expected a number, found '1.5.2'"},
           Bad{"call f 9223372036854775808", 2, 8, "'9223372036854775808' does not fit"},
           Bad{"call f nan:7", 2, 8, "expected the 64 bits of a NaN in hexadecimal after 'nan:', found 'nan:7'"},
           Bad{"call f \"abc", 2, 8, "this string has no closing '\"' on its line"},
           Bad{"call f \"a\\qb\"", 2, 10, "expected one of \\\" \\\\ \\n \\t \\r \\xHH after a backslash"},
           Bad{"call f \"\\x1\"", 2, 9, "expected two hexadecimal digits after \\x"},
           Bad{"guard exclude [CPU]", 2, 20, "expected 'as', found the end of the text"},
           Bad{"guard CPU", 2, 7, "expected a side (include, exclude), found 'CPU'"},
           Bad{"query what f", 2, 7, "expected a question (has-kernel, computed, "},
           Bad{"query computed f", 2, 17, "expected a key, found the end of the text"},
           Bad{"drain =>", 2, 9,
               "expected an outcome (ok, error CLASS, kernels, true, false, names, heard, schema, hits, count or a "
               "table), found the end of the text"},
           Bad{"drain => error nokernel", 2, 16, "expected 'any' or an error class (not-found, duplicate, "},
           Bad{"drain => k1 >", 2, 14, "expected a kernel or 'error', found the end of the text"},
           Bad{"drain => error any says x", 2, 25, "expected a string, found 'x'"},
           Bad{"drain => ok extra)", 2, 18, "expected more of the outcome or the end of the line, found ')'"},
           Bad{"drain => hits 1", 2, 16, "expected 'misses', found the end of the text"},
           Bad{"drain => { kernl r1: CPU }", 2, 12, "expected a rule (kernel, nonfunctional, "},
           Bad{"drain => { kernel r1 CPU }", 2, 22, "expected 'fallthrough' or ':', found 'CPU'"},
           Bad{"drain => { kernel r1: }", 2, 23, "expected a key, found '}'"},
           Bad{"drain => { kernel r1: CPU\n", 3, 1, "expected a key, ';' or '}', found the end of the text"},
           Bad{"drain => heard demo::f", 2, 16, "expected +OPERATOR or -OPERATOR, found 'demo::f'"},
           Bad{"call \"\xc3\xa9\" 3x", 2, 10, "expected an integer, found '3x'"},
       }) {
    std::string text = bad.text[0] == '!' ? bad.text + 1 : std::string("scenario 1 x\n") + bad.text;
    ParseResult result = Parse(text);
    ASSERT_TRUE(result.error.has_value()) << text;
    EXPECT_FALSE(result.scenario.has_value()) << text;
    EXPECT_THAT(result.error->message, ::testing::StartsWith(bad.message)) << text;
    EXPECT_EQ(result.error->line, bad.line) << text;
    EXPECT_EQ(result.error->column, bad.column) << text;
  }
}

std::string Times(std::size_t count, std::string_view text) {
  std::string all;
  for (std::size_t i = 0; i < count; ++i) all += text;
  return all;
}

TEST(Parse, RefusesWhatIsTooLargeWhereItGoesBeyond) {
  struct Limit {
    std::string fits, beyond;
    int line, column;
    const char* message;
  };
  const std::string head = "scenario 1 x\n";
  const auto list = [](std::size_t depth) { return "call f " + Times(depth, "{") + Times(depth, "}") + "\n"; };
  const auto values = [](std::size_t count) { return "drain\ncall f {[CPU]} " + Times(count - 3, "1 ") + "\n"; };
  const auto keys = [](std::size_t count) { return "guard include [" + Times(count, "A ") + "] as g\n"; };
  const auto items = [](std::size_t count) { return "kernel k {\n" + Times(count, "call f;") + "\n}\n"; };
  const auto returns = [](std::size_t count) { return "kernel k { return " + Times(count, "1 ") + "}\n"; };
  const auto bytes = [&](std::size_t count) { return "drain\n#" + Times(count - head.size() - 7, "x"); };
  const auto steps = [](std::size_t count) { return Times(count, "drain\n"); };
  const auto threads = [](std::size_t count) {
    std::string all;
    for (std::size_t i = 0; i < count; ++i) all += "on t" + std::to_string(i) + " drain\n";
    return all + "on t0 drain\n";
  };
  for (const Limit& limit : {
           Limit{steps(10000), steps(10001), 10002, 1,
                 "a scenario has at most 10000 steps; put this one and those after it into another file"},
           Limit{threads(64), threads(65), 66, 4,
                 "a scenario has at most 64 threads, and 't64' is one more; let this step run on one of those above"},
           Limit{list(16), list(17), 2, 24, "lists nest at most 16 deep"},
           Limit{list(16), list(100000), 2, 24, "lists nest at most 16 deep"},
           Limit{values(10000), values(10001), 3, 20010,
                 "a step or a kernel's body holds at most 10000 values and keys; items of lists count"},
           Limit{keys(10000), keys(10001), 2, 20016,
                 "a step or a kernel's body holds at most 10000 values and keys; items of lists count"},
           Limit{returns(10000), returns(10001), 2, 20019,
                 "a step or a kernel's body holds at most 10000 values and keys; items of lists count"},
           Limit{items(1000), items(1001), 3, 7001, "a kernel's body has at most 1000 items"},
           Limit{bytes(1 << 20), bytes((1 << 20) + 1), 3, (1 << 20) - 18,
                 "a scenario has at most 1048576 bytes, and the text goes on here"},
       }) {
    EXPECT_TRUE(Parse(head + limit.fits).scenario.has_value()) << limit.message;
    const ParseResult result = Parse(head + limit.beyond);
    ASSERT_TRUE(result.error.has_value()) << limit.message;
    EXPECT_EQ(result.error->message, limit.message);
    EXPECT_EQ(result.error->line, limit.line) << limit.message;
    EXPECT_EQ(result.error->column, limit.column) << limit.message;
  }
  EXPECT_TRUE(ParsePrinted(head + bytes((1 << 20) + 1)).scenario.has_value());
  // Each step counts for itself.
  EXPECT_TRUE(Parse(head + values(10000) + values(10000)).scenario.has_value());
}

TEST(Parse, ReadsTheLargestTextSoon) {
  const auto begin = std::chrono::steady_clock::now();
  const ParseResult result = Parse("scenario 1 x\n" + Times(10000, "drain" + Times(95, "\n")));
  ASSERT_TRUE(result.scenario.has_value());
  EXPECT_EQ(result.scenario->steps.back().line, 2 + 9999 * 95);
  const std::string kernels = "scenario 1 x\n" + [] {
    std::string all;
    for (int i = 0; i < 50000; ++i) all += "kernel k" + std::to_string(i) + " {}\n";
    return all;
  }();
  EXPECT_TRUE(Parse(kernels).scenario.has_value());
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20)) << "some of it is quadratic";
}

TEST(Parse, TellsWhatALaterVersionMayKnow) {
  auto unsupported = [](const char* text) { return Parse(text).error.value_or(ParseError{}).unsupported; };
  EXPECT_TRUE(unsupported("scenario 2 x\n"));
  EXPECT_TRUE(unsupported("scenario 1 x\nbackward [CPU]\n"));
  EXPECT_TRUE(unsupported("scenario 1 x\nkernel k { save arg 0 }\n"));
  EXPECT_FALSE(unsupported("scenario 0 x\n"));
  EXPECT_FALSE(unsupported("scenario 1 x\ncall\n"));
  EXPECT_FALSE(unsupported("scenario 1 x\nkernel k { drain }\n"));
}

}  // namespace
}  // namespace plumbline::scenario
