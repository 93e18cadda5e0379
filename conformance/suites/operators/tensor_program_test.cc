#include "conformance/suites/operators/tensor_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "conformance/suites/operators/judge_program.h"
#include "conformance/suites/operators/program_trace.h"
#include "spec/abi/abi.h"

namespace plumbline::suites {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr const char* kProgram = R"(# a comment
program  1
title    All that's there; and ( more
clauses  TENS-041 OPER-001
needs    elements

a = float32 [2, 3] {1 2 3 -0.5 nan -0}   # another
b = int64 [2] / [2] + 1 {0 7 0 8}
z = bool [] on meta {true}
v = view(a, [3, -1])
add_.Scalar(v, 1.0, alpha=2)
p, q = split.Tensor(b, 1)
n = item(b)
m = sum.dim_IntList(a, 1, dtype=float64)
u = gelu(a)
mm(a, b) => error invalid-argument says "mat2" "[2]"
float32 [-1] {} => error invalid-argument
float32 [-2] {} => error
w = float32 [1] bits {0100c07f}
x = int64 [2] {-9223372036854775808 9223372036854775807}
y = float64 [1] {-1.5e+300}
expect w bits {0100c07f}
expect a float32 [2, 3] / [3, 1] + 0 on cpu {1 2 3 -0.5 nan -0}
expect v shares a
expect p apart from a
expect v keys as a
expect v version +1
expect n 3
expect q is p
g = memory
h = memory on cpu
reset peak
reset peak on cpu
empty cache on meta
drop v
k = holders
expect g kept 0 peak as live
expect h live +4000 kept -8 blocks +0 since g
expect k lists a w
c = to_dlpack(a)
d = dlpack int8 [2] / [-1] + 1 {1 2} code 5 bits 8 lanes 4 device 2
e = dlpack float32 [2] {1 2}
f = from_dlpack(e)
from_dlpack(d) => error
j = from_dlpack(c)
expect e float32 [2] {1 2} deleted 0 aligned 4
drop e
)";

TensorProgram Parsed(const std::string& text) {
  auto program = ParseTensorProgram(text);
  EXPECT_TRUE(program.ok()) << program.error();
  return program.ok() ? *program : TensorProgram();
}

TEST(TensorProgram, ReadsWhatItPrints) {
  EXPECT_TRUE(IsTensorProgram(kProgram));
  EXPECT_FALSE(IsTensorProgram("scenario 1 pytorch-1.13\n"));
  const TensorProgram program = Parsed(kProgram);
  EXPECT_THAT(program.clauses, ElementsAre("TENS-041", "OPER-001"));
  EXPECT_THAT(program.names, ElementsAre("a", "b", "z", "v", "p", "q", "n", "m", "u", "w", "x", "y", "g", "h", "k", "c",
                                         "d", "e", "f", "j"));
  EXPECT_EQ(program.title, "All that's there; and ( more");
  EXPECT_TRUE(program.needs_elements);
  EXPECT_FALSE(Parsed("program 1\n").needs_elements);
  const std::string printed = PrintTensorProgram(program);
  EXPECT_EQ(PrintTensorProgram(Parsed(printed)), printed);
  EXPECT_THAT(printed, HasSubstr("a = float32 [2, 3] {1 2 3 -0.5 nan -0}\n"));
  EXPECT_THAT(printed, HasSubstr("x = int64 [2] {-9223372036854775808 9223372036854775807}\n"));
  EXPECT_THAT(printed, HasSubstr("w = float32 [1] bits {0100c07f}\n")) << "the payload would be lost";
  EXPECT_THAT(printed, HasSubstr("aten::add_.Scalar(v, 1.0, 2)\n"));
  EXPECT_THAT(printed, HasSubstr("m = aten::sum.dim_IntList(a, [1], false, 7)\n")) << "defaults and named arguments";
  EXPECT_THAT(printed, HasSubstr("u = aten::gelu(a, \"none\")\n"));
  EXPECT_THAT(printed, HasSubstr("=> error invalid-argument says \"mat2\" \"[2]\"\n"));
}

TEST(TensorProgram, PrintsMemoryAndCapsules) {
  const std::string printed = PrintTensorProgram(Parsed(kProgram));
  EXPECT_THAT(printed, HasSubstr("\nh = memory on cpu\nreset peak\nreset peak on cpu\nempty cache on meta\ndrop v\n"));
  EXPECT_THAT(printed, HasSubstr("\nexpect g kept 0 peak as live\nexpect h live +4000 kept -8 blocks +0 since g\n"));
  EXPECT_THAT(printed, HasSubstr("\nk = holders\n"));
  EXPECT_THAT(printed, HasSubstr("\nexpect k lists a w\nc = to_dlpack(a)\n"));
  EXPECT_THAT(printed, HasSubstr("\nd = dlpack int8 [2] / [-1] + 1 {1 2} code 5 bits 8 lanes 4 device 2\n"));
  EXPECT_THAT(printed, HasSubstr("\ne = dlpack float32 [2] {1 2}\nf = from_dlpack(e)\nfrom_dlpack(d) => error\n"));
  EXPECT_THAT(printed, HasSubstr("\nexpect e float32 [2] {1 2} deleted 0 aligned 4\ndrop e\n"));
  EXPECT_THAT(PrintTensorProgram(Parsed("program 1\nq = dlpack int8 [2] / [1] {1 2}\n")),
              HasSubstr("\nq = dlpack int8 [2] / [1] {1 2}\n"))
      << "strides that are told are not none";
}

TEST(TensorProgram, SaysWhereItIsWrong) {
  const auto error = [](const std::string& line) {
    const auto program = ParseTensorProgram("program 1\na = float32 [1] {1}\n" + line + "\n");
    return program.ok() ? "it is right" : program.error();
  };
  EXPECT_EQ(error("b = neg(c)"), "3:9: expected an argument, found 'c'; did you mean 'a'?");
  EXPECT_THAT(error("b = negg(a)"),
              StartsWith("3:5: there is no operator 'aten::negg' in the table of operators; did you mean"));
  EXPECT_THAT(error("b = cat([[[[[[[[[a]]]]]]]]])"), HasSubstr("lists nest at most 8 deep"));
  EXPECT_THAT(error("b = add(a, 1)"), HasSubstr("'aten::add' in the table of operators; its overloads are add."));
  EXPECT_EQ(error("b = float32 [1] {1\nc = neg(a)"), "4:1: expected an element, or } for the { of line 3, found 'c'");
  EXPECT_THAT(error("b = aten::ne(a)"), HasSubstr("its overloads are ne.Tensor"));
  EXPECT_THAT(error("b = flaot32 [1] {1}"), HasSubstr("did you mean 'float32'?"));
  EXPECT_EQ(error("a = neg(a)"), "3:1: 'a' is named already; a name is for one tensor");
  EXPECT_EQ(error("b = neg()"), "3:5: aten::neg needs the argument 'self'");
  EXPECT_EQ(error("b = neg(a, a)"), "3:12: aten::neg has 1 arguments");
  EXPECT_EQ(error("b = neg(input=a)"), "3:9: aten::neg has no argument 'input'");
  EXPECT_EQ(error("neg(a) => error bad"), "3:17: there is no class of errors 'bad'");
  EXPECT_EQ(error("b = neg(a) => error overflow"), "3:1: what is refused has no result to name");
  EXPECT_EQ(error("expect b [1]"), "3:8: nothing is named 'b'; did you mean 'a'?");
  EXPECT_THAT(error("expect a"), HasSubstr("expected what to look at, found the end of the line"));
  EXPECT_THAT(error("expect a lies"), HasSubstr("found 'lies'"));
  EXPECT_EQ(error("b = float32 [2] / [1, 1] {1}"), "3:5: expected as many strides as sizes");
  EXPECT_EQ(error("float32 [1] {1}"), "3:1: expected one name for the tensor, as in `a = float32 [2] {1 2}`");
  EXPECT_EQ(error("b = float32 [1] bits {01g0}"), "3:23: expected bytes in hexadecimal, found '01g0'");
  EXPECT_EQ(error("b = uint8 [2] {255 256}"), "3:20: expected an element that uint8 holds, found '256'");
  EXPECT_EQ(error("b = bool [2] {1 2}"), "3:17: expected an element that bool holds, found '2'");
  EXPECT_EQ(error("b = float16 [2] {inf 65520}"), "3:22: expected an element that float16 holds, found '65520'");
  EXPECT_EQ(error("expect a int8 {-129}"), "3:16: expected an element that int8 holds, found '-129'");
  for (const char* text : {"int64 [2] {-9223372036854775808 9223372036854775807}", "int32 [1] {-2147483648}",
                           "float16 [3] {nan 65519 0.1}", "uint8 [1] {0}", "bool [2] {0 1}"}) {
    EXPECT_EQ(error(std::string("b = ") + text), "it is right");
  }
  for (const char* text : {"int64 [1] {9223372036854775808}", "int32 [1] {1.5}", "int16 [1] {nan}", "int8 [1] {inf}",
                           "float32 [1] {1e39}", "uint8 [1] {-1}"}) {
    EXPECT_THAT(error(std::string("b = ") + text), HasSubstr("holds, found")) << text;
  }
  EXPECT_EQ(error("neg(a) \"x"), "3:8: a text without its closing \"");
  EXPECT_EQ(error("neg(a); neg(a)"), "3:7: the character ';' means nothing here");
  EXPECT_EQ(error("drop a\nb = neg(a)"), "4:9: 'a' is gone");
  EXPECT_EQ(error("drop a\na = float32 [1] {1}"), "4:1: 'a' is named already; a name is for one tensor");
  EXPECT_EQ(error("m = memory\ndrop m"), "4:6: what was read holds nothing to drop");
  EXPECT_EQ(error("memory"), "3:1: expected one name for what is read, as in `m = memory`");
  EXPECT_EQ(error("reset peek"), "3:7: expected 'peak', found 'peek'");
  EXPECT_EQ(error("m = memory\nb = neg(m)"), "4:9: 'm' is no tensor");
  EXPECT_EQ(error("m = memory\nexpect m held 3"), "4:10: expected one of live, peak, kept, blocks, found 'held'");
  EXPECT_EQ(error("m = memory\nexpect m live +3"), "4:17: expected 'since', found the end of the line");
  EXPECT_EQ(error("m = memory\nexpect m live +3 since a"), "4:24: 'a' is no reading of memory");
  EXPECT_EQ(error("h = holders\nexpect h lists h"), "4:16: 'h' is no tensor");
  EXPECT_EQ(error("h = holders\nexpect h holds a"), "4:10: expected 'lists', found 'holds'");
  EXPECT_EQ(error("b = from_dlpack(a)"), "3:17: 'a' is no capsule");
  EXPECT_EQ(error("to_dlpack(a)"), "3:1: expected one name for what to_dlpack gives, as in `b = to_dlpack(a)`");
  EXPECT_EQ(error("p = to_dlpack(a)\nb = from_dlpack(p)\nc = from_dlpack(p)"), "5:17: 'p' is gone");
  EXPECT_EQ(
      error("p = to_dlpack(a)\nexpect p version +1"),
      "4:10: expected what to look at: what a tensor looks like, deleted or aligned with a number; found 'version'");
  EXPECT_EQ(error("p = to_dlpack(a)\nexpect p aligned 0"), "4:10: expected a number above 0 that divides the address");
  EXPECT_EQ(error("q = dlpack int8 [1] {1} lane 4"),
            "3:25: expected code, bits, lanes or device, each with a number, found 'lane'");
  EXPECT_EQ(error("q = dlpack int8 [1] on cpu {1}"),
            "3:5: a capsule of the host's own lies in the host's memory, on no device");
  EXPECT_EQ(ParseTensorProgram("program 2\n").error(), "1:9: expected the version of the language, 1, found '2'");
  EXPECT_THAT(ParseTensorProgram("").error(), HasSubstr("expected 'program'"));
}

TEST(TensorProgram, ACallIsAProgramThatMakesIt) {
  HostTensor a = HostTensor::Contiguous(PL_DTYPE_INT16, {2});
  a.SetAt(1, 5);
  const HostTensor view = HostTensor::Strided(PL_DTYPE_INT16, {1}, {1}, 1, 0);
  const OperatorCall call{"aten::cat",
                          {Argument::List({Argument::Of(a), Argument::ViewOf(0, view)}), Argument::Int(0)}};
  const std::string text = PrintTensorProgram(ProgramOf(call, "why"));
  EXPECT_THAT(text,
              HasSubstr("t0 = int16 [2] {0 5}\nt1 = aten::as_strided(t0, [1], [1], 1)\naten::cat([t0, t1], 0)\n"));
  EXPECT_EQ(PrintTensorProgram(Parsed(text)), text);
}

// What would come of a program, as a backend that adds one to `a` would answer.
class JudgeTest : public ::testing::Test {
 protected:
  static TensorState State(std::vector<long double> elements, std::uint64_t version = 0) {
    TensorState state{
        HostTensor::Contiguous(PL_DTYPE_FLOAT32, {static_cast<std::int64_t>(elements.size())}), 7, 8, 9, version, {1}};
    state.layout.device = "cpu";
    for (std::size_t i = 0; i < elements.size(); ++i) state.layout.SetAt(static_cast<std::int64_t>(i), elements[i]);
    return state;
  }
  // `a` is {1 2}, then `after` by a call that gives it back, then `line`.
  static std::string Judge(const std::string& line, std::vector<long double> after = {2, 3}, std::uint64_t version = 1,
                           const std::string& call = "add_.Scalar(a, 1)") {
    const TensorProgram program = Parsed("program 1\na = float32 [2] {1 2}\n" + call + "\n" + line + "\n");
    ProgramTrace trace;
    Moment made;
    made.states.emplace(0, State({1, 2}));
    trace.moments.push_back(made);
    Moment called;
    called.states.emplace(0, State(after, version));
    called.results.push_back({.kind = PL_TENSOR, .integer = 0});
    called.returned.push_back(State(after, version));
    trace.moments.push_back(called);
    trace.moments.push_back(called);
    const auto fault = JudgeProgram(program, trace);
    return fault
               ? std::to_string(program.statements[fault->statement].line) + " " + fault->expected + " | " + fault->got
               : "";
  }
};

TEST_F(JudgeTest, TakesWhatIsSo) {
  EXPECT_THAT(Judge("expect a float32 [2] / [1] + 0 on cpu {2 3} is a version +1"), IsEmpty());
  EXPECT_THAT(Judge("expect a shares a"), IsEmpty());
  EXPECT_THAT(Judge("expect a is a", {2, 4}, 1, "add.out(a, a, out=a)"), IsEmpty()) << "known by its first place";
  EXPECT_THAT(Judge("expect a is a", {1, 2}, 0, "to.dtype(a, float32)"), IsEmpty()) << "given back, and not written";
  EXPECT_THAT(Judge("expect a is a", {1, 2}, 1, "to.dtype(a, float32)"), HasSubstr("which it only reads"));
}

TEST_F(JudgeTest, NamesWhatIsNot) {
  EXPECT_EQ(Judge("expect a float64"), "4 float64 | float32");
  EXPECT_EQ(Judge("expect a [3]"), "4 sizes [3] | sizes [2]");
  EXPECT_EQ(Judge("expect a / [2]"), "4 strides [2] | strides [1]");
  EXPECT_EQ(Judge("expect a + 1"), "4 the offset 1 | the offset 0");
  EXPECT_EQ(Judge("expect a on meta"), "4 on meta | on cpu");
  EXPECT_EQ(Judge("expect a {2 4}"), "4 elements {2 4} | elements {2 3}");
  EXPECT_EQ(Judge("expect a {2 -3}"), "4 elements {2 -3} | elements {2 3}");
  EXPECT_EQ(Judge("expect a bits {0000004000004041}"), "4 bits {0000004000004041} | bits {0000004000004040}");
  EXPECT_EQ(Judge("expect a version +2"), "4 the version has gone up by 2 | it went from 0 to 1");
  EXPECT_EQ(Judge("expect a apart from a"), "4 a shares no storage with a | it has the same one");
  EXPECT_EQ(Judge("expect a 3"), "4 3 | a is a tensor");
}

TEST_F(JudgeTest, WhatIsToBeRefusedHasToBe) {
  EXPECT_EQ(Judge("neg(a) => error"), "4 an error | it is done");
  EXPECT_EQ(Judge("neg(a) => error overflow"), "4 error overflow | it is done");
}

TEST_F(JudgeTest, TheOracleSpeaksWhereTheProgramDoesNot) {
  EXPECT_THAT(Judge("expect a {2 9}", {2, 9}), StartsWith("3 what the operator's clauses say | "));
  EXPECT_THAT(Judge("expect a {2 3}", {2, 3}, 0), HasSubstr("does not go up"));
}

}  // namespace
}  // namespace plumbline::suites
