// What concerns operators and tensors, run as a user runs it: probe, tensor programs in replay, check --profile
// operators.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "conformance/selftest/run_tool.h"

namespace plumbline::selftest {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(CliOperatorsTest, ProbePrintsWhatThereIs) {
  const Ran ran = RunTool("probe --backend " + Backend("reference") + " -f mm -f neg --calls 4");
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("float32"), HasSubstr("\nmm "), HasSubstr("\nneg "), Not(HasSubstr("\nadd"))));
  EXPECT_THAT(ran.out, HasSubstr("2 operators: 2 right, 0 differ or die for some dtype, 0 not there"));
}

TEST(CliOperatorsTest, ProbeWritesWaiversToBeginWith) {
  const Folder folder;
  const Ran ran =
      RunTool("probe --backend " + Backend("broken") + " --fault write_does_not_count -f 'abs_' --calls 4 " +
              "--waivers-to " + folder.path() + "/mine.toml");
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("1 differ or die"), HasSubstr("does not go up")));
  EXPECT_THAT(folder.Read("mine.toml"),
              AllOf(HasSubstr("cases = [\"operators/abs_\"]"), HasSubstr("admits = [\"fail\"]")));
  const Ran waived = RunTool("check --profile operators --backend " + Backend("broken") +
                             " --fault write_does_not_count --case operators/abs_ --waivers " + folder.path() +
                             "/mine.toml --out " + folder.path());
  EXPECT_EQ(waived.status, 0) << waived.out << waived.err;
  EXPECT_THAT(waived.out, HasSubstr("1 waived"));
}

TEST(CliOperatorsTest, ProbeNeedsOperators) {
  const Ran lacks = RunTool("probe --backend " + Backend("template"));
  EXPECT_EQ(lacks.status, 2);
  EXPECT_THAT(lacks.err, HasSubstr("template has no operators to probe"));
  const Ran nothing = RunTool("probe --backend " + Backend("reference") + " -f nonesuch");
  EXPECT_EQ(nothing.status, 2);
  EXPECT_THAT(nothing.err, HasSubstr("--filter: no operator has such a name"));
}

TEST(CliOperatorsTest, AgreeTellsWhereTwoBackendsDiffer) {
  const Folder folder;
  const Ran same = RunTool("agree --backend " + Backend("reference") + " --with " + Backend("broken") +
                           " -f neg -f add.Tensor --calls 4");
  EXPECT_EQ(same.status, 0) << same.out << same.err;
  EXPECT_THAT(same.out, AllOf(HasSubstr("0 explained by known faults"), HasSubstr("0 kinds of difference")));
  const Ran apart = RunTool("agree --backend " + Backend("broken") + " --fault add_is_a_unit_off --with " +
                            Backend("reference") + " -f add.Tensor --calls 8 --out " + folder.path());
  EXPECT_EQ(apart.status, 1) << apart.out << apart.err;
  EXPECT_THAT(apart.out, AllOf(HasSubstr("add.Tensor values: element "), HasSubstr("1 kind of difference")));
  EXPECT_THAT(folder.Read("add.Tensor-values.prog"), HasSubstr("aten::add.Tensor("));
}

TEST(CliOperatorsTest, AgreeSaysWhatIsWrongWithItsInput) {
  EXPECT_EQ(RunTool("agree --backend " + Backend("reference")).status, 2);
  const Ran lacks = RunTool("agree --backend " + Backend("reference") + " --with " + Backend("template"));
  EXPECT_EQ(lacks.status, 2);
  EXPECT_THAT(lacks.err, HasSubstr("template has no operators"));
  const Ran none = RunTool("agree --backend " + Backend("reference") + " --with " + Backend("broken") + " -f nonesuch");
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(none.err, HasSubstr("--filter: no operator has such a name"));
}

TEST(CliOperatorsTest, AgreeTakesNoWaiverThatIsOutOfDate) {
  const Folder folder;
  const auto ran = [&](const std::string& clause, const std::string& expires, const std::string& more = "") {
    const std::string file =
        folder.Write("w.toml", "[[waiver]]\nid = \"w\"\nclause = \"" + clause +
                                   "\"\ncause = \"bug\"\nreference = \"r\"\nowner = \"o\"\n"
                                   "expires = \"" +
                                   expires + "\"\ndeviation = \"written-overlap-is-untold\"\n" + more);
    return RunTool("agree --backend " + Backend("reference") + " --with " + Backend("broken") +
                   " -f neg --calls 1 --waivers " + file);
  };
  EXPECT_EQ(ran("OPER-036", "2999-01-01").status, 0);
  const Ran expired = ran("OPER-036", "2020-01-01");
  EXPECT_EQ(expired.status, 2);
  EXPECT_THAT(expired.err, HasSubstr("w.toml:1: the waiver 'w' for reference: expired on 2020-01-01"));
  EXPECT_THAT(ran("OPER-036", "0.0.1").err, HasSubstr("expired with version 0.0.1 of the backend, which is "));
  EXPECT_THAT(ran("OPER-999", "2999-01-01").err, HasSubstr("there is no clause 'OPER-999'"));
  EXPECT_EQ(ran("OPER-036", "2020-01-01", "releases = [\"pytorch-2.15\"]\n").status, 0) << "it is of another release";
}

TEST(CliOperatorsTest, ADeviceThatIsNotThereIsToldAtOnce) {
  for (const std::string& line :
       {"check --profile operators --backend " + Backend("reference"), "probe --backend " + Backend("reference"),
        "agree --backend " + Backend("reference") + " --with " + Backend("broken")}) {
    const Ran ran = RunTool(line + " --device privateuseone -f '*abs'");
    EXPECT_EQ(ran.status, 2) << line << ran.out;
    EXPECT_THAT(ran.err, AllOf(HasSubstr("--device privateuseone: reference makes no tensor there: "),
                               HasSubstr("needs its --load")));
  }
}

TEST(CliOperatorsTest, ReplaySaysWhatAPassLeavesUnsaid) {
  const Folder folder;
  const Ran clause = RunTool("replay --backend " + Backend("reference") + " " +
                             folder.Write("c.prog", "program 1\nclauses OPER-999\na = float32 [1] {1}\n"));
  EXPECT_EQ(clause.status, 2);
  EXPECT_THAT(clause.err, HasSubstr("c.prog:2: there is no clause 'OPER-999'"));
  const Ran vast = RunTool("replay --backend " + Backend("reference") + " " +
                           folder.Write("v.prog", "program 1\na = zeros([9223372036854775807])\n"));
  EXPECT_EQ(vast.status, 0) << vast.err;
  EXPECT_THAT(vast.out, HasSubstr("v.prog:2: note: this call is refused"));
  const std::string refused =
      folder.Write("r.prog", "program 1\na = float32 [2] {1 2}\nb = float32 [3] {1 2 3}\nadd.Tensor(a, b)\n");
  const Ran ran = RunTool("replay --backend " + Backend("reference") + " " + refused);
  EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("r.prog:4: note: this call is refused, as the operator's clauses say, and the program "
                                 "does not expect it: invalid-argument: "));
  const std::string wrong = folder.Write("w.prog", "program 1\na = float32 [1] {1}\nexpect a {7}\n");
  const Ran meta = RunTool("replay --device meta --backend " + Backend("reference") + " " + wrong);
  EXPECT_THAT(meta.out, HasSubstr("w.prog:3: note: the elements are not looked at: a meta tensor has none"));
  EXPECT_EQ(RunTool("replay --backend " + Backend("reference") + " " + wrong).status, 1);
}

TEST(CliOperatorsTest, ExplainPointsProgramsElsewhere) {
  const Folder folder;
  const Ran ran = RunTool("explain " + folder.Write("a.prog", "program 1\na = float32 [1] {1}\n"));
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, AllOf(HasSubstr("a.prog: this is a tensor program"), HasSubstr("`plumbline replay` runs")));
}

TEST(CliOperatorsTest, ReplayRunsATensorProgram) {
  const Folder folder;
  const std::string program = "program 1\na = float32 [2, 2] {1 2 3 4}\nb = mm(a, a)\nexpect b {7 10 15 22}\n";
  const std::string good = folder.Write("good.prog", program);
  const Ran ran = RunTool("replay --backend " + Backend("reference") + " " + good);
  EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("good.prog: as it says"));
  const Ran meta = RunTool("replay --device meta --backend " + Backend("reference") + " " + good);
  EXPECT_EQ(meta.status, 0) << meta.out << meta.err;

  const std::string bad = folder.Write("bad.prog", program + "expect b {7 10 15 23}\n");
  const Ran wrong = RunTool("replay --backend " + Backend("reference") + " " + bad);
  EXPECT_EQ(wrong.status, 1) << wrong.out;
  EXPECT_THAT(wrong.out, AllOf(HasSubstr("expected elements {7 10 15 23}"), HasSubstr("got      elements {7 10 15 22}"),
                               HasSubstr("bad.prog:5: fail")));

  const std::string slip = folder.Write("slip.prog", "program 1\na = flaot32 [1] {1}\n");
  const Ran input = RunTool("replay --backend " + Backend("reference") + " " + slip);
  EXPECT_EQ(input.status, 2);
  EXPECT_THAT(input.err, AllOf(HasSubstr("slip.prog:2:5:"), HasSubstr("did you mean 'float32'?")));
}

TEST(CliOperatorsTest, AFailureIsAProgramThatReplays) {
  const Folder folder;
  const std::string out = folder.path() + "/out";
  const Ran ran = RunTool("check --profile operators --tier quick --case operators/abs_ --backend " +
                          Backend("broken") + " --fault write_does_not_count --out " + out);
  EXPECT_EQ(ran.status, 1) << ran.err;
  const std::size_t at = ran.out.find("rerun     ");
  ASSERT_NE(at, std::string::npos) << ran.out;
  const std::string line = ran.out.substr(at + 10, ran.out.find('\n', at) - at - 10);
  EXPECT_THAT(line, HasSubstr("plumbline replay"));
  const Ran again = RunLine(line);
  EXPECT_EQ(again.status, 1) << line << again.out << again.err;
  EXPECT_THAT(again.out, HasSubstr("does not go up"));
}

}  // namespace
}  // namespace plumbline::selftest
