// What a user can get wrong: each gives a clear message and exit status 2.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "conformance/selftest/sample_suite.h"

namespace plumbline::selftest {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class BadInputTest : public ::testing::Test {
 protected:
  void Expect(const Ran& ran, const std::vector<std::string>& words) {
    EXPECT_EQ(ran.status, 2) << ran.out << ran.err;
    for (const std::string& word : words) EXPECT_THAT(ran.err, HasSubstr(word));
    EXPECT_EQ(ran.out, "");
    // The libraries' own texts say nothing to a user.
    for (const char* raw :
         {"json.exception", "parse_error", "FAILED", "Could not convert", "required TEXT", "terminate"}) {
      EXPECT_THAT(ran.err, Not(HasSubstr(raw)));
    }
  }
  Ran Tool(const std::string& arguments) { return RunTool(arguments, suite_.Environment("")); }
  Ran CheckBackend(const std::string& path) { return Tool("check --filter demo --backend " + path); }
  Ran CheckWaivers(const std::string& toml) {
    const std::string file = suite_.folder().Write("waivers.toml", toml);
    return suite_.Check("", "--waivers " + file);
  }

  // Nobody ever writes into it.
  std::string Pipe(const std::string& name) {
    const std::string path = suite_.folder().path() + "/" + name;
    EXPECT_EQ(mkfifo(path.c_str(), 0600), 0);
    return path;
  }
  // A gigabyte that takes no place on the disk.
  std::string Large(const std::string& name) {
    const std::string path = suite_.folder().Write(name, "x");
    std::filesystem::resize_file(path, std::uintmax_t{1} << 30);
    return path;
  }

  SampleSuite suite_;
};

// ---- commands and options ----

TEST_F(BadInputTest, Commands) {
  Expect(RunTool("chekc"), {"there is no command 'chekc'", "did you mean 'check'?", "--help"});
  Expect(RunTool("quux"), {"there is no command 'quux'\n", "The commands are check, list, race, replay"});
  EXPECT_EQ(RunTool("").status, 2);
  EXPECT_EQ(RunTool("--help").status, 0);
}

// A command without a word about it in the list is one that nobody will try.
TEST_F(BadInputTest, HelpSaysWhatEachCommandDoes) {
  std::istringstream help(RunTool("--help").out);
  int commands = 0;
  for (std::string line; std::getline(help, line);) {
    if (!line.starts_with("  ") || line.starts_with("  plumbline")) continue;
    ++commands;
    EXPECT_GT(line.size(), 25u) << line;
  }
  EXPECT_GE(commands, 5);
}

TEST_F(BadInputTest, Options) {
  Expect(Tool("check"), {"--backend is missing: a backend's name", "See plumbline check --help."});
  Expect(Tool("check --backend"), {"--backend needs a value, NAME|FILE"});
  Expect(Tool("check --backend x --backend y"), {"--backend is given 2 times; give it once"});
  Expect(Tool("check --backend x --colour"), {"there is no option '--colour'\n"});
  Expect(Tool("check --bakend=x"), {"there is no option '--bakend'; did you mean '--backend'?"});
  Expect(Tool("check --backend x --list=maybe"), {"--list takes no value"});
  Expect(Tool("list cases more"), {"'more' is one argument too many"});
  Expect(Tool("list clausse"),
         {"'clausse' is none of cases, clauses, faults, capabilities, backends; did you mean 'clauses'?"});
  Expect(suite_.Check("", "--tier huge"), {"--tier: 'huge' is none of quick, standard, full\n"});
  Expect(suite_.Check("", "--tier qick"), {"did you mean 'quick'?"});
  for (const char* jobs : {"0", "-1", "1025", "x", "2x"}) {
    Expect(suite_.Check("", std::string("--jobs ") + jobs), {"--jobs: '", "' is no whole number from 1 to 1024"});
  }
  for (const char* seed : {"x", "-1", "1.5", "18446744073709551616", "0x10", "' 1'"}) {
    Expect(suite_.Check("", std::string("--seed ") + seed), {"--seed: '", "from 0 to 18446744073709551615"});
  }
  for (const char* timeout : {"-1", "0", "nan", "inf", "1e300", "x", "5s"}) {
    Expect(suite_.Check("", std::string("--timeout ") + timeout), {"--timeout: '", "no time from 0.001 to 86400"});
  }
  Expect(suite_.Check("", "--show some"), {"--show: 'some' is neither a number nor all"});
  for (const char* shard : {"0/2", "3/2", "x/2", "2", "1/", "-1/2", "1/99999999999"}) {
    Expect(suite_.Check("", std::string("--shard ") + shard), {"--shard", "give I/N"});
  }
  Expect(suite_.Check("", "--release pytorch-9"), {"'pytorch-9'; there are: pytorch-1.13, pytorch-2.x"});
  Expect(suite_.Check("", "--fault x"), {"does not claim faults"});
  Expect(Tool("list"), {"say what to list"});
  Expect(Tool("list --clause DEMO-0O1"), {"there is no clause 'DEMO-0O1'", "did you mean 'DEMO-001'?"});
  Expect(Tool("list --clause X"), {"there is no clause 'X'\n`plumbline list clauses` shows them all."});
}

// What would have no effect is refused, whatever else is wrong: none of these files and backends is there.
TEST_F(BadInputTest, OptionsThatWouldBeIgnored) {
  const std::pair<const char*, const char*> lines[] = {
      {"race --backend x s.scn --shard 1/2",
       "--shard has no effect beside FILE, which is hunted in alone; leave it out"},
      {"race --backend x s.scn --case a --filter b --jobs 3",
       "--filter, --case and --jobs have no effect beside FILE, which is hunted in alone; leave them out"},
      {"race --backend x s.scn --list", "--list has no effect beside FILE"},
      {"race --backend x s.scn --report r --show 1", "--report and --show have no effect beside FILE"},
      {"race --backend x s.scn --waivers none --calibrate y -v",
       "--calibrate, --waivers and --verbose have no effect beside FILE"},
      {"race --backend x s.scn --seconds 1 --tier quick", "--tier has no effect beside FILE and --seconds"},
      {"race --backend x s.scn --schedule - --free",
       "--free has no effect beside --schedule, which is all that is run"},
      {"race --backend x s.scn --schedule - --seconds 1 --seed 2 --tier full --out o",
       "--seed, --seconds, --tier and --out have no effect beside --schedule"},
      {"race --backend x --schedule -", "--schedule has no effect without the FILE of a scenario; leave it out"},
      {"race --backend x --fault f --calibrate y", "--calibrate has no effect beside --fault"},
      {"race --backend x --list --report r", "--report has no effect beside --list, which runs nothing"},
      {"check --backend x --list --report r --show 3 -v",
       "--report, --show and --verbose have no effect beside --list, which runs nothing"},
      {"prove --merge m.json --shard 1/2", "--shard has no effect beside --merge, which runs nothing"},
      {"prove --merge m.json --backend x --fault f --full --jobs 2 --seed 1 --timeout 3",
       "--backend, --fault, --full, --jobs, --seed and --timeout have no effect beside --merge"},
      {"explain demo::f --keys CPU --load l.so --fault f --timeout 3",
       "--load, --fault and --timeout have no effect without --backend"},
      {"explain demo::f --keys CPU --scenario s.scn --impl CPU --schema s",
       "--impl and --schema have no effect beside --scenario, whose steps say what is registered"},
      {"dump demo::f --backend x --all", "--all has no effect beside OPERATOR"},
      {"dump --backend x --each-key", "--each-key has no effect without OPERATOR"},
      {"keys --load l.so --fault f --timeout 3", "--load, --fault and --timeout have no effect without --backend"},
      {"list cases --clause RES-001", "WHAT has no effect beside --clause, which shows one rule"},
      {"list cases --all", "--all has no effect without --clause"},
      {"list backends --profile operators", "--profile has no effect but with cases, clauses and faults"},
  };
  for (const auto& [line, says] : lines) Expect(Tool(line), {says, " --help."});
  const std::string history =
      suite_.folder().Write("h.hist", "history 1 pytorch-1.13\nmain 1..2 define t::f as d => ok\n");
  Expect(Tool("replay --backend x --release pytorch-1.13 --load l --fault f --timeout 3 " + history),
         {"--backend, --release, --load, --fault and --timeout have no effect where all that is given is a history"});
}

TEST_F(BadInputTest, ACaseBesideAFilter) {
  for (const std::string command : {"check", "race"}) {
    Expect(Tool(command + " --backend x --case a --filter b"),
           {"plumbline " + command + ": --case names each case that runs, so --filter beside it picks none",
            "give one of the two\nSee plumbline " + command + " --help."});
  }
}

// What a script's variable holds that was never set.
TEST_F(BadInputTest, OptionsOfNoText) {
  for (const char* line : {"race --backend x s.scn --schedule",
                           "race --backend x --shard",
                           "race --backend x --case",
                           "check --backend x --report",
                           "check --backend x --out",
                           "check --backend x --waivers",
                           "check --backend x --filter",
                           "check --backend x --release",
                           "check --backend x --load",
                           "check --backend x --fault",
                           "check --backend",
                           "prove --report",
                           "prove --fault",
                           "prove --merge",
                           "keys --backend",
                           "dump --backend x --release",
                           "explain demo::f --keys CPU --include",
                           "list --clause",
                           "new-adapter x --name",
                           "report merge x --output",
                           "report html x --output"}) {
    const std::string words = line;
    Expect(Tool(words + " ''"),
           {words.substr(words.rfind(' ') + 1) + " is given '', which says nothing; give ", " --help."});
  }
  for (const char* line : {"replay", "report show", "report diff x", "explain", "dump --backend x", "new-adapter"}) {
    Expect(Tool(std::string(line) + " ''"), {"'' is no ", " --help."});
  }
  for (const char* line : {"check --backend x --tier", "check --backend x --seed", "check --backend x --timeout",
                           "check --backend x --show", "race --backend x --seconds", "list"}) {
    Expect(Tool(std::string(line) + " ''"), {"'' is "});
  }
}

TEST_F(BadInputTest, Numbers) {
  for (const char* time :
       {"nan", "NAN", "inf", "-inf", "-1", "0", "1e300", "1e-300", "1e999", "0x10", "5s", "' 5'", "+5"}) {
    const std::vector<std::string> words = {"' is no time from 0.001 to 86400 seconds"};
    Expect(Tool(std::string("race --backend x --seconds ") + time), words);
    for (const char* line : {"check --backend x", "race --backend x", "prove", "replay --backend x s",
                             "explain s --backend x", "dump --backend x", "keys --backend x"}) {
      Expect(Tool(std::string(line) + " --timeout " + time), words);
    }
  }
  for (const char* number : {"nan", "inf", "-1", "1.5", "1e3", "99999999999999999999", "0x10", "010x", "' 1'", "+1"}) {
    for (const char* line :
         {"check --backend x --seed", "check --backend x --jobs", "check --backend x --most-timeouts",
          "race --backend x --seed", "race --backend x --jobs", "prove --seed", "prove --jobs", "explain s --line"}) {
      Expect(Tool(std::string(line) + " " + number), {"' is no whole number from "});
    }
    for (const char* line : {"check --backend x --show", "race --backend x --show", "report show x --show"}) {
      Expect(Tool(std::string(line) + " " + number), {"' is neither a number nor all"});
    }
    for (const char* line : {"check --backend x --shard", "race --backend x --shard", "prove --shard"}) {
      Expect(Tool(std::string(line) + " " + number + "/4"), {"give I/N with I from 1 to N"});
    }
  }
}

TEST_F(BadInputTest, ReportCommands) {
  Expect(Tool("report"), {"a command is missing; there are show, merge, html, junit, diff", "plumbline report --help"});
  Expect(Tool("report shwo x"), {"'shwo' is none of show, merge, html, junit, diff; did you mean 'show'?"});
  Expect(Tool("report show"), {"plumbline report show: REPORT is missing", "plumbline report show --help"});
  Expect(Tool("report diff x"), {"AFTER is missing"});
  Expect(Tool("report junit --outptu y x"), {"there is no option '--outptu'; did you mean '--output'?"});
}

// ---- files ----

// Whatever reads a file says the same of what cannot be read.
TEST_F(BadInputTest, FilesThatCannotBeRead) {
  using namespace std::string_literals;
  const Folder& folder = suite_.folder();
  const std::pair<std::string, std::string> files[] = {
      {folder.path() + "/none", "there is no such file"},
      {folder.path(), "this"},  // "this is a folder", "this folder holds no report.json"
      {folder.Write("empty", ""), "it is empty"},
      {folder.Write("binary",
                    "\x7f"
                    "ELF\2\1\1\0\0\xff"s),
       "it is not UTF-8 text: line 1 has the byte 00"},
      {"/proc/self/mem", "it cannot be read"},
      {"/dev/zero", "this is a device"},
      {Pipe("pipe"), "this is a pipe"},
      {Large("large"), "it holds more than "},
  };
  const std::string backend = " --backend " + Misbehaving();
  for (const auto& [file, what] : files) {
    const std::vector<std::string> words = {file + ": " + what, "; give "};
    Expect(suite_.Check("", "--waivers " + file), words);
    Expect(Tool("replay " + file + backend), words);
    Expect(Tool("explain " + file), words);
    Expect(Tool("explain demo::f --keys CPU --scenario " + file), words);
    Expect(Tool("report show " + file), words);
    Expect(Tool("report merge " + file), words);
    Expect(Tool("report html " + file), words);
    Expect(Tool("report junit " + file), words);
    Expect(Tool("report diff " + file + " " + file), words);
  }
}

TEST_F(BadInputTest, FilesOfAnotherKind) {
  const std::string scenario = suite_.folder().path() + "/corpus/demo/DEMO-001-good.scn";
  Expect(Tool("report show " + scenario),
         {scenario + ": not a Plumbline report: it is not JSON from line 1 on; give "});
  Expect(Tool("report show " + suite_.folder().Write("list.json", "[]")),
         {"list.json: not a Plumbline report", "; give "});
  Expect(Tool("report show " + suite_.folder().path() + "/clauses.json"), {"'suite_version' is missing"});
  Expect(suite_.Check("", "--waivers " + scenario), {scenario + ":1:", "this is not TOML"});
  const Folder other;
  other.Write("clauses.json", "{}");
  Expect(RunTool("list clauses", {{"PLUMBLINE_DATA", other.path()}}),
         {other.path() + "/clauses.json: this is no clause index of this version; give "});
}

TEST_F(BadInputTest, KillMatricesOfAnotherKind) {
  const auto merge = [&](const std::string& text) {
    return Tool("prove --merge " + suite_.folder().Write("m.json", text));
  };
  const std::string wanted = "; give a kill matrix that `plumbline prove --report` wrote";
  Expect(merge("{\n,"), {"m.json: this is no kill matrix: it is not JSON from line 2 on" + wanted});
  Expect(merge("[]"), {"m.json: this is no kill matrix: it should be an object" + wanted});
  Expect(merge("{}"), {"m.json: this is no kill matrix: 'format' is missing" + wanted});
  Expect(merge("{\"format\": 1e999}"), {"m.json: this is no kill matrix: a number in it is larger than any"});
  Expect(merge("{\"format\": 1, \"null\": 3}"),
         {"m.json: this is no kill matrix: 'null' should be an object" + wanted});
}

// What is written after a run is tried before it.
TEST_F(BadInputTest, PlacesThatCannotBeWritten) {
  const std::string file = suite_.folder().Write("file", "x");
  Expect(suite_.Check("", "--report " + file), {"--report " + file, "is a file, not a folder"});
  Expect(suite_.Check("", "--report " + file + "/deep"), {"--report ", file + " is a file, not a folder"});
  Expect(Tool("check --backend " + Misbehaving() + " --filter demo --out " + file), {"--out " + file, "not a folder"});
  Expect(Tool("report html x -o " + suite_.folder().path()), {"--output ", "this is a folder"});
  Expect(Tool("report merge x -o /nonexistent/x.json"), {"--output ", "there is no folder /nonexistent"});
  // What only trying tells.
  Expect(suite_.Check("", "--report /proc/x"), {"--report /proc/x: nothing can be written into /proc ("});
  Expect(Tool("check --backend " + Misbehaving() + " --filter demo --out /proc/x"), {"--out /proc/x: nothing"});
  Expect(Tool("prove --backend " + Misbehaving() + " --report /dev/full"),
         {"--report /dev/full: it cannot be written (No space left on device)"});
  Expect(Tool("report merge x -o /proc/x"), {"--output /proc/x: nothing can be written into /proc ("});
  Expect(Tool("report junit x -o /dev/full"), {"--output /dev/full: it cannot be written ("});
  std::filesystem::create_directories(suite_.folder().path() + "/taken/report.json");
  Expect(suite_.Check("", "--report " + suite_.folder().path() + "/taken"),
         {"--report ", "taken/report.json: this is a folder"});
}

// A status of 0 says that what was printed arrived.
TEST_F(BadInputTest, OutputThatDoesNotArrive) {
  const std::string check = "check --filter demo --backend " + Misbehaving();
  for (const std::string& command : {std::string("--help"), std::string("list cases"), check}) {
    const Ran ran = RunLine("plumbline " + command + " >/dev/full", suite_.Environment(""));
    EXPECT_EQ(ran.status, 2) << command;
    EXPECT_THAT(ran.err, HasSubstr("the output cannot be written (")) << command;
  }
}

TEST_F(BadInputTest, FiltersThatSelectNothing) {
  Expect(suite_.Check("", "--filter nothing"), {"the filter 'nothing' selects nothing"});
  Expect(suite_.Check("", "--filter DEMO-01"), {"selects nothing", "did you mean 'DEMO-001'?"});
  Expect(suite_.Check("", "--filter 'demmo*'"), {"selects nothing", "did you mean 'demo'?", "The chapters are "});
  Expect(Tool("check --backend " + Misbehaving() + " --case demo/DEMO-001-god"),
         {"--case demo/DEMO-001-god: there is no such case", "did you mean 'demo/DEMO-001-good'?"});
}

TEST_F(BadInputTest, ACorpusThatIsNotThere) {
  const Ran ran = RunTool("check --backend " + Misbehaving(), {{"PLUMBLINE_DATA", "/nonexistent"}});
  Expect(ran, {"/nonexistent"});
}

// ---- shared objects ----

TEST_F(BadInputTest, Backends) {
  Expect(CheckBackend("nosuch"), {"there is no backend called 'nosuch'", "Searched:"});
  Expect(CheckBackend("templat"), {"did you mean 'template'?"});
  Expect(CheckBackend("/nonexistent/lib.so"), {"/nonexistent/lib.so", "no such file"});
  Expect(CheckBackend("/tmp/"), {"this is a folder"});
  Expect(CheckBackend("/dev/zero"), {"backend /dev/zero: this is a device"});
  Expect(CheckBackend(Pipe("pipe.so")), {"pipe.so: this is a pipe"});
  Expect(CheckBackend(suite_.folder().Write("empty.so", "")), {"empty.so", "is empty"});
  Expect(CheckBackend(suite_.folder().Write("text.so", "#!/bin/sh\n")),
         {"text.so", "not a shared object", "23 21 2f 62"});
  Expect(CheckBackend(suite_.folder().Write("short.so", std::string("\x7f"
                                                                    "ELF\2\1\1",
                                                                    7))),
         {"short.so: the file is cut short after 7 bytes"});
  Expect(CheckBackend(suite_.folder().Write("four.so",
                                            "\x7f"
                                            "ELF")),
         {"four.so: the file is cut short after 4 bytes", "Build or copy it again"});
  Expect(Tool("check --backend " + Misbehaving() + " --load /nonexistent.so"),
         {"plumbline check: --load /nonexistent.so: there is no such file"});
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
  Expect(suite_.Check("", "--waivers /nonexistent.toml"), {"/nonexistent.toml", "no such file"});
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
