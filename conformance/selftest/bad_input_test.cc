// What a user can get wrong: each gives a clear message and exit status 2.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "conformance/selftest/sample_suite.h"

namespace plumbline::selftest {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class BadInputTest : public ::testing::Test {
 protected:
  void Expect(const Ran& ran, const std::vector<std::string>& words) {
    EXPECT_EQ(ran.status, 2) << ran.out << ran.err;
    for (const std::string& word : words) EXPECT_THAT(ran.err, HasSubstr(word));
    EXPECT_EQ(ran.out, "");
  }
  Ran Tool(const std::string& arguments) { return RunTool(arguments, suite_.Environment("")); }
  Ran CheckBackend(const std::string& path) { return Tool("check --filter demo --backend " + path); }
  Ran CheckWaivers(const std::string& toml) {
    const std::string file = suite_.folder().Write("waivers.toml", toml);
    return suite_.Check("", "--waivers " + file);
  }

  SampleSuite suite_;
};

// ---- commands and options ----

TEST_F(BadInputTest, Commands) {
  Expect(RunTool("chekc"), {"there is no command 'chekc'", "did you mean 'check'?", "--help"});
  EXPECT_EQ(RunTool("").status, 2);
  EXPECT_EQ(RunTool("--help").status, 0);
}

TEST_F(BadInputTest, Options) {
  Expect(Tool("check"), {"--backend", "--help"});
  Expect(Tool("check --backend x --colour"), {"--colour"});
  Expect(suite_.Check("", "--tier huge"), {"huge"});
  Expect(suite_.Check("", "--jobs 0"), {"--jobs"});
  Expect(suite_.Check("", "--seed x"), {"--seed x"});
  Expect(suite_.Check("", "--timeout -1"), {"--timeout"});
  for (const char* shard : {"0/2", "3/2", "x/2", "2", "1/"}) {
    Expect(suite_.Check("", std::string("--shard ") + shard), {"--shard", "give I/N"});
  }
  Expect(suite_.Check("", "--release pytorch-9"), {"pytorch-9"});
  Expect(suite_.Check("", "--fault x"), {"does not claim faults"});
  Expect(Tool("list"), {"say what to list"});
  Expect(Tool("list --clause DEMO-0O1"), {"there is no clause 'DEMO-0O1'", "did you mean 'DEMO-001'?"});
}

TEST_F(BadInputTest, FiltersThatSelectNothing) {
  Expect(suite_.Check("", "--filter nothing"), {"the filter 'nothing' selects nothing"});
  Expect(suite_.Check("", "--filter DEMO-01"), {"selects nothing", "did you mean 'DEMO-001'?"});
  Expect(suite_.Check("", "--case demo/DEMO-001-god"), {"there is no case", "did you mean 'demo/DEMO-001-good'?"});
}

TEST_F(BadInputTest, ACorpusThatIsNotThere) {
  const Ran ran = RunTool("check --backend " + Misbehaving(), {{"PLUMBLINE_DATA", "/nonexistent"}});
  Expect(ran, {"/nonexistent"});
}

// ---- shared objects ----

TEST_F(BadInputTest, Backends) {
  Expect(CheckBackend("nosuch"), {"there is no backend called 'nosuch'", "Searched:"});
  Expect(CheckBackend("/nonexistent/lib.so"), {"/nonexistent/lib.so", "no such file"});
  Expect(CheckBackend("/tmp/"), {"this is a folder"});
  Expect(CheckBackend(suite_.folder().Write("empty.so", "")), {"empty.so", "is empty"});
  Expect(CheckBackend(suite_.folder().Write("text.so", "#!/bin/sh\n")),
         {"text.so", "not a shared object", "23 21 2f 62"});
  Expect(CheckBackend(suite_.folder().Write("short.so", std::string("\x7f"
                                                                    "ELF\2\1\1",
                                                                    7))),
         {"short.so"});
  Expect(CheckBackend("/proc/self/exe"), {"/proc/self/exe"});
}

TEST_F(BadInputTest, ABackendForAnotherMachine) {
  std::string bytes;
  {
    std::ifstream in(Misbehaving(), std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  ASSERT_GT(bytes.size(), 64u);
  bytes[18] = static_cast<char>(243);  // e_machine: RISC-V
  bytes[19] = 0;
  Expect(CheckBackend(suite_.folder().Write("riscv.so", bytes)),
         {"riscv.so", "built for RISC-V", "Build it for this machine"});
  bytes[4] = 1;  // 32 bits
  Expect(CheckBackend(suite_.folder().Write("small.so", bytes)), {"small.so", "32-bit"});
}

TEST_F(BadInputTest, TablesThatDoNotFit) {
  const std::string skew = BuildFolder() + "/lib/plumbline/skew/";
  Expect(CheckBackend(skew + "no_symbol.so"), {"no_symbol.so", "plumbline_get_adapter"});
  Expect(CheckBackend(skew + "wrong_major.so"), {"wrong_major.so", "ABI"});
  Expect(CheckBackend(skew + "wrong_size.so"), {"wrong_size.so", "struct_size"});
  Expect(CheckBackend(skew + "null_entries.so"), {"null_entries.so", "lacks"});
  Expect(CheckBackend(skew + "refuses.so"), {"refuses.so", "no table"});
}

// ---- scenarios ----

TEST_F(BadInputTest, Scenarios) {
  const auto replay = [&](const std::string& text) {
    return Tool("replay --backend " + Misbehaving() + " " + suite_.folder().Write("s.scn", text));
  };
  Expect(Tool("replay --backend " + Misbehaving() + " /nonexistent.scn"), {"/nonexistent.scn", "no such file"});
  Expect(replay("scenario 1 pytorch-1.13\nimpl demo::f\n"), {"s.scn:2:"});
  Expect(replay("scenario 1 pytorch-7\n"), {"pytorch-7"});
  Expect(replay("scenario 1 pytorch-1.13\ncall f" + std::string(2000000, ' ')), {"s.scn:2:", "at most 1048576 bytes"});
  Expect(replay("scenario 1 pytorch-1.13\ncall f {{{{{{{{{{{{{{{{{}}}}}}}}}}}}}}}}}\n"),
         {"s.scn:2:24", "at most 16 deep"});
  Expect(replay("scenario 1 pytorch-1.13\ndefine demo::f(Tensor a) -> Tensor\ncall demo::f [CPU] => k9\n"),
         {"s.scn:3:", "the model disagrees with what is written"});
}

TEST_F(BadInputTest, ACaseThatIsWrongIsAHarnessError) {
  suite_.folder().Write("corpus/demo/DEMO-001-wrong.scn",
                        "scenario 1 pytorch-1.13\nclauses DEMO-001\ndefine demo::f(Tensor a) -> Tensor\n"
                        "call demo::f [CPU] => k9\n");
  Ran ran = suite_.Check("");
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.out, AllOf(HasSubstr("harness-error"), HasSubstr("DEMO-001-wrong.scn:4")));
  suite_.folder().Write("corpus/demo/DEMO-001-wrong.scn", "scenario 1 pytorch-1.13\nclauses DEMO-001\nimpl demo::f\n");
  ran = suite_.Check("");
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.out, AllOf(HasSubstr("harness-error"), HasSubstr("DEMO-001-wrong.scn:3:")));
}

// ---- waivers ----

constexpr char kWaiver[] =
    "[[waiver]]\n"
    "id = \"w\"\n"
    "clause = \"DEMO-003\"\n"
    "cause = \"bug\"\n"
    "reference = \"here\"\n"
    "owner = \"me\"\n"
    "expires = \"2999-01-01\"\n"
    "cases = [\"demo/DEMO-003-newest\"]\n"
    "outcome = \"k1\"\n";

std::string With(const std::string& from, const std::string& to) {
  std::string text = kWaiver;
  return text.replace(text.find(from), from.size(), to);
}

TEST_F(BadInputTest, WaiverFiles) {
  Expect(suite_.Check("", "--waivers /nonexistent.toml"), {"/nonexistent.toml", "no such waiver file"});
  Expect(CheckWaivers("[[waiver]\n"), {"waivers.toml:1:"});
  Expect(CheckWaivers("[waiver]\n"), {"expected [[waiver]]"});
  Expect(CheckWaivers("[[waiver]]\nid = \"w\"\n"), {"waivers.toml:1:", "'clause' is missing"});
  Expect(CheckWaivers(With("\"bug\"", "\"laziness\"")), {"waivers.toml:4:", "laziness", "bug, limit, dispute"});
  Expect(CheckWaivers(With("\"2999-01-01\"", "\"soon\"")), {"waivers.toml:7:", "'soon'"});
  Expect(CheckWaivers(With("owner", "ovner")), {"no field 'ovner'"});
  Expect(CheckWaivers(With("outcome = \"k1\"", "deviation = \"nope\"")), {"no deviation 'nope'"});
  Expect(CheckWaivers(With("outcome = \"k1\"", "")), {"exactly one of deviation, outcome and unstable"});
  Expect(CheckWaivers(With("outcome = \"k1\"", "unstable = true")), {"'admits'"});
  Expect(CheckWaivers(With("outcome = \"k1\"", "outcome = \"fail\"")), {"say what the backend does instead"});
  Expect(CheckWaivers(With("cases = [\"demo/DEMO-003-newest\"]\n", "")), {"lists its cases"});
  Expect(CheckWaivers(std::string(kWaiver) + kWaiver), {"'w'", "already"});
}

}  // namespace
}  // namespace plumbline::selftest
