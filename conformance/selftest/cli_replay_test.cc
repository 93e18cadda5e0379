// replay, run as a user runs it: what it points out, and what comes through from the backend.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "conformance/selftest/run_tool.h"

namespace plumbline::selftest {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// Written as no printer would, so that its lines are not those of the printed text.
constexpr char kUntidy[] =
    "scenario 1 pytorch-1.13\n"
    "title t\n"
    "\n"
    "\n"
    "define demo::f(Tensor a) -> Tensor\n"
    "\n"
    "# a comment\n"
    "impl demo::f CPU k1\n"
    "call demo::f [CPU]\n";

class CliReplayTest : public ::testing::Test {
 protected:
  Ran Replay(const std::string& text, const std::string& backend,
             const std::map<std::string, std::string>& environment = {}) {
    return RunTool("replay " + folder_.Write("s.scn", text) + " --backend " + backend, environment);
  }
  Folder folder_;
};

TEST_F(CliReplayTest, PointsOutAnErrorThatNobodyExpected) {
  const std::string head = "scenario 1 pytorch-1.13\n";
  const Ran slip = Replay(head + "define demo::f(Tensr a) -> Tensor\n", Backend("reference"));
  EXPECT_EQ(slip.status, 0) << slip.out << slip.err;
  EXPECT_THAT(slip.out, HasSubstr("s.scn:2: note: this step ends in an error that the file does not expect: error "));
  const Ran meant =
      Replay(head + "define demo::f(Tensr a) -> Tensor => error invalid-argument\n", Backend("reference"));
  EXPECT_EQ(meant.status, 0) << meant.out << meant.err;
  EXPECT_THAT(meant.out, Not(HasSubstr("note:")));
}

TEST_F(CliReplayTest, NamesOfNothingAreBadInput) {
  const std::string head = "scenario 1 pytorch-1.13\n";
  const std::string define = "define demo::f(Tensor a) -> Tensor as d1\n";
  const Ran clause = Replay(head + "title t\nclauses  RES-001  RES-0004\n" + define, Backend("reference"));
  EXPECT_EQ(clause.status, 2) << clause.out;
  EXPECT_THAT(clause.err,
              HasSubstr("s.scn:3: there is no clause 'RES-0004'; did you mean 'RES-004'?\n`plumbline list "));
  EXPECT_EQ(Replay(head + "clauses RES-001 OPER-122\n" + define, Backend("reference")).status, 0) << "a draft is there";

  const Ran name = Replay(head + define + "release d\n", Backend("reference"));
  EXPECT_EQ(name.status, 2) << name.out;
  EXPECT_THAT(name.err, HasSubstr("s.scn:3: no step gives a registration the name 'd'; did you mean 'd1'?\n"));
  EXPECT_THAT(Replay(head + define + "call @h [CPU]\n", Backend("reference")).err,
              HasSubstr("s.scn:3: no step gives a handle the name 'h'\n"));
  const Ran meant = Replay(head + define + "release d => error not-found\n", Backend("reference"));
  EXPECT_EQ(meant.status, 0) << meant.out << meant.err;
}

TEST_F(CliReplayTest, SaysThatNothingWasRun) {
  const Ran ran = Replay(kUntidy, Backend("template"));
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("s.scn: unsupported, nothing was run: the backend lacks core"));
}

TEST_F(CliReplayTest, TracesComeThroughWithTheLinesOfTheFile) {
  const Ran ran = Replay(kUntidy, Backend("reference"),
                         {{"PLUMBLINE_DISPATCH_TRACE", "stderr"}, {"PLUMBLINE_REGISTRATION_LOG", "stderr"}});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.err,
              AllOf(HasSubstr("[boxed call] demo::f keys=[CPU] key=CPU rule=kernel kernel=scenario:8 miss\n"),
                    HasSubstr("define demo::f at scenario:5 "), HasSubstr("impl demo::f key=CPU at scenario:8 ")));
  EXPECT_THAT(ran.out, Not(HasSubstr("[boxed call]")));
  EXPECT_EQ(Replay(kUntidy, Backend("reference")).err, "");
}

TEST_F(CliReplayTest, ATraceThatCannotBeWrittenIsBadInput) {
  for (const char* variable : {"PLUMBLINE_DISPATCH_TRACE", "PLUMBLINE_REGISTRATION_LOG"}) {
    const Ran ran = Replay(kUntidy, Backend("reference"), {{variable, "/nonexistent/trace"}});
    EXPECT_EQ(ran.status, 2) << ran.out;
    EXPECT_THAT(ran.err, HasSubstr(std::string(variable) + ": cannot open '/nonexistent/trace': No such file"));
  }
}

TEST_F(CliReplayTest, ALibraryThatRegistersNothingIsPointedOut) {
  const std::string useless = " --load " + Misbehaving();
  const std::string useful = " --load " + BuildFolder() + "/lib/plumbline/selftest/extension.so";
  const Ran ran = Replay(kUntidy, Backend("reference") + useful + useless);
  EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.err, AllOf(HasSubstr("note: --load " + Misbehaving() + " registered nothing new"),
                             Not(HasSubstr("extension.so registered"))));
}

TEST_F(CliReplayTest, JudgesAHistoryWithoutABackend) {
  const std::string head =
      "history 1 pytorch-1.13\nmain 1..2 define t::f as d => ok\nmain 3..4 impl t::f CPU as r => ok\n";
  const Ran right = RunTool("replay " + folder_.Write("r.hist", head + "a 5..6 call t::f [CPU] => r\n"));
  EXPECT_EQ(right.status, 0) << right.err;
  EXPECT_THAT(right.out, HasSubstr("r.hist: some order of its events explains every answer"));
  const Ran wrong = RunTool("replay " + folder_.Write("w.hist", head + "a 5..6 release r => ok\n"
                                                                       "b 7..8 call t::f [CPU] => r\n"));
  EXPECT_EQ(wrong.status, 1) << wrong.err;
  EXPECT_THAT(wrong.out, HasSubstr("r ran in a call that began at 7, after its release had returned at 6."));
  const Ran bad = RunTool("replay " + folder_.Write("b.hist", head + "a 5..x call t::f [CPU] => r\n"));
  EXPECT_EQ(bad.status, 2);
  EXPECT_THAT(bad.err, HasSubstr("b.hist: line 4, column 3: '5..x' is not a time"));
  EXPECT_EQ(RunTool("replay " + folder_.Write("s.scn", kUntidy)).status, 2) << "a scenario needs a backend";
}

TEST_F(CliReplayTest, ReadsStandardInput) {
  const std::string backend = " --backend " + Backend("reference");
  const std::string scenario = folder_.Write("s.scn", kUntidy);
  const Ran ran = RunLine("cat " + scenario + " | plumbline replay -" + backend);
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("standard input: as the model predicts"));
  const Ran bad = RunLine("echo scenario 1 pytorch-1.13 oops | plumbline replay -" + backend);
  EXPECT_EQ(bad.status, 2);
  EXPECT_THAT(bad.err, HasSubstr("standard input:1:25: expected the end of the line"));
  const std::string history =
      folder_.Write("h", "# told by hand\nhistory 1 pytorch-1.13\nmain 1..2 define t::f as d => ok\n");
  const Ran judged = RunLine("cat " + history + " | plumbline replay -");
  EXPECT_EQ(judged.status, 0) << judged.err;
  EXPECT_THAT(judged.out, HasSubstr("standard input: some order of its events explains every answer"));
  EXPECT_THAT(RunTool("replay -" + backend).err, HasSubstr("standard input: it is empty"));
}

TEST_F(CliReplayTest, AByteOrderMarkDoesNotMatter) {
  EXPECT_EQ(Replay("\xef\xbb\xbf" + std::string(kUntidy), Backend("reference")).status, 0);
  const Ran ran = RunTool("replay " + folder_.Write("r.hist",
                                                    "\xef\xbb\xbfhistory 1 pytorch-1.13\n"
                                                    "main 1..2 define t::f as d => ok\n"));
  EXPECT_EQ(ran.status, 0) << ran.err;
}

TEST_F(CliReplayTest, ADeclarationThatMakesNoSenseIsBadInput) {
  for (const std::string& backend : {Backend("reference"), Backend("template")}) {
    const Ran ran = Replay("scenario 1 pytorch-1.13\n\ndeclare mode X after Tracr\ndrain\n", backend);
    EXPECT_EQ(ran.status, 2) << ran.out;
    EXPECT_THAT(ran.err, HasSubstr("s.scn:3: cannot declare key 'X': there is no functionality 'Tracr' for it to come "
                                   "after; near: Tracer"));
  }
  EXPECT_THAT(RunTool("explain " + folder_.Write("s.scn",
                                                 "scenario 1 pytorch-1.13\ndeclare mode CPU after Tracer\n"
                                                 "call demo::f [CPU]\n"))
                  .err,
              HasSubstr("s.scn:2: cannot declare key 'CPU': the name is taken"));
}

TEST_F(CliReplayTest, WhatABackendHasNoRoomForIsUnsupported) {
  std::string text = "scenario 1 pytorch-1.13\n";
  for (int i = 0; i < 40; ++i) text += "declare mode X" + std::to_string(i) + " after Tracer\n";
  const Ran ran = Replay(text + "drain\n", Backend("reference"));
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out,
              HasSubstr("unsupported, nothing was run: the backend opens no registry for it: There is room for "
                        "47 functionalities and 16 components"));
}

TEST_F(CliReplayTest, SaysWhatIsLikelyWrongWithAFile) {
  const Ran refused = Replay(
      "scenario 1 pytorch-1.13\n"
      "define demo::f(Tensor a) -> Tensr\n"
      "impl   demo::f CPU k1\n"
      "call   demo::f [CPU] => k1\n",
      Backend("reference"));
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr(":4: the model disagrees with what is written"));
  EXPECT_THAT(refused.err, ::testing::ContainsRegex(":2: note: this step is refused: .*Tensr"));
  const Ran verb = Replay("scenario 1 pytorch-1.13\ndefin demo::f(Tensor a) -> Tensor\n", Backend("reference"));
  EXPECT_THAT(verb.err, HasSubstr("unknown verb 'defin'; a step begins with one of chain, library, close, define"));
  const Ran program =
      RunTool("replay --backend " + Backend("reference") + " " + folder_.Write("p.prog", "a = float32 [1] {1}\n"));
  EXPECT_EQ(program.status, 2);
  EXPECT_THAT(program.err, HasSubstr("p.prog:1:1: expected 'program 1' on the first line of a tensor program"));
  const Ran history = RunTool("replay " + folder_.Write("h.hist",
                                                        "history 1 pytorch-1.13\nclauses NOPE-001\n"
                                                        "main 1..2 define t::f as d => ok\n"));
  EXPECT_EQ(history.status, 2);
  EXPECT_THAT(history.err, HasSubstr("there is no clause 'NOPE-001'"));
}

TEST_F(CliReplayTest, AnErrorIsToldInTheBackendsWords) {
  const Ran ran = Replay(
      "scenario 1 pytorch-1.13\n"
      "define demo::f(Tensor a) -> Tensor\n"
      "define demo::f(Tensor a) -> Tensor => error duplicate\n",
      Backend("reference"));
  EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out,
              HasSubstr("= error duplicate (\"Operator demo::f is defined already: demo::f(Tensor a) -> Tensor..."));
}

TEST_F(CliReplayTest, NothingSteersTheTerminal) {
  const Ran ran = Replay(
      "scenario 1 pytorch-1.13\n"
      "kernel k { throw \"\\x1b[2J\\x07\\xff\" }\n"
      "define demo::f(Tensor a) -> Tensor\n"
      "impl demo::f CPU k\n"
      "call demo::f [CPU]\n"
      "call \"demo::\\x1b[31mg\" [CPU]\n",
      Backend("reference"));
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("\\x1b[2J\\x07\\xff"));
  EXPECT_THAT(ran.out, HasSubstr("\\x1b[31mg"));
  EXPECT_EQ(ran.out.find_first_of("\x1b\a\xff"), std::string::npos);
  const Ran bad = Replay("scenario 1 pytorch-1.13\ncall demo::f \x1b[2J\n", Backend("reference"));
  EXPECT_EQ(bad.status, 2);
  EXPECT_THAT(bad.err, HasSubstr("found '\\x1b'"));
  EXPECT_EQ(bad.err.find('\x1b'), std::string::npos);
}

TEST_F(CliReplayTest, LongLinesAreCut) {
  const std::string text =
      "scenario 1 pytorch-1.13\n"
      "kernel a_kernel_with_a_long_name { try call demo::f; try call demo::f }\n"
      "define demo::f(Tensor a) -> Tensor\n"
      "impl demo::f CPU a_kernel_with_a_long_name\n"
      "call demo::f [CPU]\n";
  const std::string file = folder_.Write("s.scn", text);
  const std::string backend = " --backend " + Backend("reference");
  for (const Ran& ran : {RunTool("replay " + file + backend, {{"PLUMBLINE_DISPATCH_TRACE", "stderr"}}),
                         RunTool("explain " + file + backend)}) {
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_THAT(ran.out, HasSubstr(" more bytes)"));
    for (const std::string* written : {&ran.out, &ran.err}) {
      std::istringstream lines(*written);
      for (std::string line; std::getline(lines, line);) EXPECT_LT(line.size(), 4100u);
    }
  }
}

}  // namespace
}  // namespace plumbline::selftest
