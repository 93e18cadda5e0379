// replay, run as a user runs it: what it points out, and what comes through from the backend.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "conformance/selftest/run_tool.h"

namespace plumbline::selftest {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string Backend(const std::string& name) { return BuildFolder() + "/lib/plumbline/backends/" + name + ".so"; }

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
  EXPECT_THAT(bad.err, HasSubstr("b.hist: line 4: '5..x' is not a time"));
  EXPECT_EQ(RunTool("replay " + folder_.Write("s.scn", kUntidy)).status, 2) << "a scenario needs a backend";
}

}  // namespace
}  // namespace plumbline::selftest
