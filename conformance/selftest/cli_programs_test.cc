// keys, dump, explain and new-adapter, run as a user runs them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "conformance/selftest/run_tool.h"

namespace plumbline::selftest {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

void ExpectBadInput(const Ran& ran, const std::vector<std::string>& words) {
  EXPECT_EQ(ran.status, 2) << ran.out << ran.err;
  for (const std::string& word : words) EXPECT_THAT(ran.err, HasSubstr(word));
}

std::string Extension() { return BuildFolder() + "/lib/plumbline/selftest/extension.so"; }

// ---- keys ----

TEST(CliKeysTest, PrintsAReleaseInOrder) {
  const Ran ran = RunTool("keys");
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("pytorch-1.13"));
  std::size_t at = 0;
  for (const char* key : {" Undefined ", " CPU ", " PrivateUse1 ", " SparseCPU ", " BackendSelect ", " AutogradOther ",
                          " AutogradCPU ", " AutocastCPU ", " PythonDispatcher "}) {
    const std::size_t next = ran.out.find(key, at);
    ASSERT_NE(next, std::string::npos) << key << " is missing or out of order";
    at = next;
  }
  EXPECT_THAT(ran.out, HasSubstr("AutogradPrivateUse1"));
  EXPECT_THAT(ran.out, HasSubstr("falls through, included")) << "BackendSelect";
  EXPECT_THAT(ran.out, AllOf(HasSubstr("CompositeExplicitAutogradNonFunctional"), HasSubstr("Dense* (but XLA, Lazy)")));
  EXPECT_THAT(ran.out, AllOf(HasSubstr("includes  BackendSelect ADInplaceOrView"), HasSubstr("excludes  AutocastCPU")));
  EXPECT_THAT(ran.out, Not(HasSubstr("\x1b[")));
}

TEST(CliKeysTest, KnowsReleasesAndBackends) {
  EXPECT_THAT(RunTool("keys --release pytorch-2.x").out, HasSubstr("pytorch-2.x"));
  EXPECT_THAT(RunTool("keys --backend " + Backend("reference")).out, HasSubstr("reference"));
  ExpectBadInput(RunTool("keys --release pytorch-9"), {"'pytorch-9'", "pytorch-1.13, pytorch-2.x, pytorch-2.15"});
  ExpectBadInput(RunTool("keys --backend nonesuch"), {"nonesuch"});
  ExpectBadInput(RunTool("keys --load x.so"), {"--backend"});
  EXPECT_THAT(RunTool("keys --help").out, HasSubstr("alias keys"));
}

TEST(CliKeysTest, ABackendThatKnowsOnlyAFew) {
  const std::map<std::string, std::string> few = {{"PLUMBLINE_MISBEHAVE", "few-keys"}};
  const Ran ran = RunTool("keys --backend " + Misbehaving(), few);
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, ::testing::ContainsRegex("misbehaving 1 .pytorch-1.13.: it knows 2 of [0-9]+ keys, lowest"));
  EXPECT_THAT(ran.out, AllOf(HasSubstr(" that it does not know are left out; --all shows them"), HasSubstr(" CPU "),
                             HasSubstr("Autograd  AutogradCPU\n"), HasSubstr("includes  nothing")));
  for (const char* other : {"CUDA", "AutogradOther", "Composite", "ADInplaceOrView"}) {
    EXPECT_THAT(ran.out, Not(HasSubstr(other)));
  }
  const Ran all = RunTool("keys --all --backend " + Misbehaving(), few);
  EXPECT_THAT(all.out,
              AllOf(HasSubstr("are marked"), ::testing::ContainsRegex("AutogradCUDA +unknown to the backend\n"),
                    HasSubstr("CPU          AutogradCPU\n"), HasSubstr("Composite")));
  EXPECT_THAT(RunTool("keys --backend " + Backend("reference")).out, Not(HasSubstr("it knows")));
  const Ran bare = RunTool("keys --backend " + Backend("template"));
  EXPECT_EQ(bare.status, 0) << bare.err;
  EXPECT_THAT(bare.out, HasSubstr("which does not tell what it knows (no InternKey); its release has: "));
  ExpectBadInput(RunTool("keys --backend " + Misbehaving(), {{"PLUMBLINE_MISBEHAVE", "crash-at-keys"}}),
                 {"signal 11", "when it was asked which keys it knows"});
}

// ---- dump ----

TEST(CliDumpTest, SaysWhatItCannotDo) {
  ExpectBadInput(RunTool("dump demo::f"), {"--backend"});
  ExpectBadInput(RunTool("dump demo::f --backend " + Backend("template")), {"does not claim introspection"});
  ExpectBadInput(RunTool("dump demo::f --backend " + Backend("reference")), {"there is no operator 'demo::f'"});
}

TEST(CliDumpTest, ShowsALoadedLibrary) {
  const std::string with = " --backend " + Backend("reference") + " --load " + Extension();
  const Ran names = RunTool("dump" + with);
  EXPECT_EQ(names.status, 0) << names.err;
  EXPECT_THAT(names.out, AllOf(HasSubstr("  mine::pick\n"), HasSubstr("mine::undefined  (implemented, not defined)"),
                               HasSubstr("PrivateUse1 (1)\n    mine::pick"), HasSubstr("Autograd (1)")));

  const Ran one = RunTool("dump mine::pick" + with);
  EXPECT_EQ(one.status, 0) << one.err;
  EXPECT_THAT(one.out, AllOf(HasSubstr("schema: mine::pick(Tensor a, Tensor b) -> Tensor"), HasSubstr("mine.cc:2"),
                             HasSubstr("mine.cc:3")));
  EXPECT_THAT(one.out, ::testing::ContainsRegex("  CPU  +kernel  +mine.cc:3\n"));
  EXPECT_THAT(one.out,
              ::testing::ContainsRegex("  AutogradOther Autograd\\*.*  +autograd  +falls through, mine.cc:4\n"));
  EXPECT_THAT(one.out, ::testing::ContainsRegex("  BackendSelect ADIn.*  +fallback  +falls through, built in\n"));
  const Ran each = RunTool("dump mine::pick --each-key" + with);
  EXPECT_THAT(each.out, ::testing::ContainsRegex("  AutogradCPU  +autograd  +falls through, mine.cc:4\n"));
  EXPECT_THAT(one.out, AllOf(HasSubstr("missing at"), HasSubstr("Sparse*"), Not(HasSubstr("SparseCPU"))));

  EXPECT_THAT(RunTool("dump mine::undefined" + with).out, HasSubstr("implemented and not defined"));
  ExpectBadInput(RunTool("dump mine::pikc" + with), {"there is no operator 'mine::pikc'", "near: mine::pick"});
  ExpectBadInput(RunTool("dump mine::pick --backend " + Backend("reference") + " --load /nonexistent.so"),
                 {"--load", "/nonexistent.so"});
}

TEST(CliDumpTest, ALibraryThatCrashesIsNamed) {
  const std::string library = BuildFolder() + "/lib/plumbline/selftest/crashing_extension.so";
  ExpectBadInput(RunTool("dump --backend " + Backend("reference") + " --load " + library),
                 {"--load " + library, "while this library was loaded"});
}

TEST(CliDumpTest, ShowsFallbacksThatALibraryAdds) {
  const Ran ran = RunTool("dump --backend " + Backend("reference") + " --load " + Extension());
  EXPECT_THAT(ran.out, HasSubstr("fallbacks that it adds\n"));
}

TEST(CliDumpTest, ShowsTheOperatorsThatABackendBrings) {
  EXPECT_THAT(RunTool("dump --backend " + Backend("reference")).out, HasSubstr("\naten::add.Tensor\n"));
  const Ran add = RunTool("dump aten::add.Tensor --backend " + Backend("reference"));
  EXPECT_EQ(add.status, 0) << add.err;
  EXPECT_THAT(add.out, AllOf(HasSubstr("schema: aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1)"),
                             ::testing::ContainsRegex("\n  CPU Meta +kernel +kernels\n")));
  const Ran wrong = RunTool("dump aten::ad.Tensor --backend " + Backend("reference"));
  EXPECT_EQ(wrong.status, 2);
  EXPECT_THAT(wrong.err, HasSubstr("there is no operator 'aten::ad.Tensor'; near: aten::add.Tensor"));
}

// ---- list ----

TEST(CliListTest, AClauseInAnyLetterCaseWithPlacesThatCanBeOpened) {
  const Ran ran = RunTool("list --clause res-030");
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("RES-030 "));
  std::istringstream lines(ran.out);
  int places = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.find(".scn:") == std::string::npos && line.find(".md:") == std::string::npos &&
        line.find(".cc:") == std::string::npos) {
      continue;
    }
    ++places;
    EXPECT_TRUE(std::filesystem::exists(line.substr(2, line.find(':') - 2))) << line;
  }
  EXPECT_GE(places, 3);
}

TEST(CliListTest, AProfileIsAPartOfAll) {
  for (const char* what : {"cases", "clauses", "faults"}) {
    const std::string list = std::string("list ") + what;
    const auto lines = [](const Ran& ran) { return std::count(ran.out.begin(), ran.out.end(), '\n'); };
    const Ran dispatcher = RunTool(list + " --profile dispatcher"), operators = RunTool(list + " --profile operators");
    EXPECT_THAT(dispatcher.out, Not(HasSubstr("OPER-010"))) << what;
    EXPECT_THAT(operators.out, Not(HasSubstr("RES-001"))) << what;
    EXPECT_GT(lines(dispatcher), 100) << what;
    EXPECT_GT(lines(operators), 100) << what;
    EXPECT_EQ(lines(dispatcher) + lines(operators), lines(RunTool(list))) << what;
  }
}

TEST(CliListTest, AClauseWithAllThatBelongsToIt) {
  const Ran ran = RunTool("list --clause RES-004");
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, ::testing::ContainsRegex("\nexample:\n  .*\n(.*\n)*\nPyTorch:\n  .*\n"));
  for (const char* part :
       {"call", "\ntext:\n", "\nscenarios:\n", "\nproperties:\n", "\nmodel:\n", "\nfaults (`plumbline "}) {
    EXPECT_THAT(ran.out, HasSubstr(part));
  }
}

TEST(CliListTest, AClauseOfADraftIsToldWithItsFile) {
  const Ran ran = RunTool("list --clause oper-124");
  ExpectBadInput(ran, {"OPER-124, '", "', is a clause of a draft, which binds nobody", "14-operators-in-work.md:"});
  const std::size_t at = ran.err.find("Its text is at ") + std::string("Its text is at ").size();
  EXPECT_TRUE(std::filesystem::exists(ran.err.substr(at, ran.err.find(':', at) - at))) << ran.err;
  ExpectBadInput(RunTool("list --clause OPER-05O"), {"there is no clause 'OPER-05O'; did you mean 'OPER-05"});
  EXPECT_THAT(RunTool("list clauses").out, Not(HasSubstr("OPER-124")));
}

TEST(CliListTest, CapabilitiesOfTheProfileOfOperators) {
  const Ran ran = RunTool("list capabilities");
  EXPECT_EQ(ran.status, 0) << ran.err;
  std::istringstream lines(ran.out);
  for (std::string line; std::getline(lines, line);) {
    const bool of_operators = line.starts_with("tensors ") || line.starts_with("operators ") ||
                              line.starts_with("memory ") || line.starts_with("dlpack ");
    EXPECT_EQ(line.ends_with(" (for `plumbline check --profile operators`)"), of_operators) << line;
  }
}

TEST(CliListTest, FaultsWithTheirClauses) {
  const Ran ran = RunTool("list faults");
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, ::testing::ContainsRegex("\noldest_kernel_answers  +RES-[0-9]+ +[a-z]"));
  EXPECT_GT(std::count(ran.out.begin(), ran.out.end(), '\n'), 200);
}

TEST(CliListTest, AFaultThatThereIsNotHasNearNames) {
  const std::string broken = " --backend " + Backend("broken");
  for (const std::string command : {"check", "prove", "explain demo::f --keys CPU"}) {
    ExpectBadInput(RunTool(command + broken + " --fault oldest_kernel_anwsers"),
                   {"there is no fault 'oldest_kernel_anwsers'; did you mean 'oldest_kernel_answers'?",
                    "`plumbline list faults`"});
  }
  ExpectBadInput(RunTool("check" + broken + " --fault nonsense"), {"there is no fault 'nonsense'\n"});
}

// ---- explain ----

TEST(CliExplainOperatorTest, ReadsALoadedLibrary) {
  const std::string with = " --backend " + Backend("reference") + " --load " + Extension();
  const Ran cpu = RunTool("explain mine::pick --keys CPU,AutogradCPU" + with);
  EXPECT_EQ(cpu.status, 0) << cpu.out << cpu.err;
  EXPECT_THAT(cpu.out, AllOf(HasSubstr("answer: kernel 'mine.cc:3', registered at CPU"),
                             HasSubstr("own table at CPU: kernel, mine.cc:3  (as the spec says)"),
                             HasSubstr("why not mine.cc:5 (PrivateUse1): key differs")));
  EXPECT_LT(cpu.out.find("answer: kernel"), cpu.out.find("CPU (inactive): mine.cc:2")) << "the answer comes first";
  const Ran device = RunTool("explain mine::pick --keys XLA" + with);
  EXPECT_THAT(device.out, HasSubstr("nothing answers"));
  ExpectBadInput(RunTool("explain mine::pikc --keys CPU" + with), {"near: mine::pick"});
}

TEST(CliExplainOperatorTest, SupposesKernels) {
  const Ran ran = RunTool("explain demo::f --keys CPU,AutogradCPU --impl CPU --impl Autograd");
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("kernel 'kAutograd', registered at Autograd"));
  EXPECT_THAT(ran.out, HasSubstr("why not kCPU (CPU): a higher key answers first: AutogradCPU"));
  const Ran excluded =
      RunTool("explain demo::f --keys CPU,AutogradCPU --impl CPU --impl Autograd --exclude AutogradCPU");
  EXPECT_THAT(excluded.out, HasSubstr("why not kAutograd (Autograd): excluded by a guard"));
  const Ran through = RunTool("explain demo::f --keys CPU,AutogradCPU --impl CPU --impl Autograd=fallthrough");
  EXPECT_THAT(through.out, HasSubstr("answer: kernel 'kCPU'"));
  EXPECT_THAT(ran.out, AllOf(HasSubstr("No backend was asked"), HasSubstr("its kernels: CPU, Autograd\n")));
  const Ran nothing = RunTool("explain demo::f --keys CPU");
  EXPECT_THAT(nothing.out, AllOf(HasSubstr("never registered"), HasSubstr("its kernels (--impl): none"),
                                 HasSubstr("its schema (--schema): demo::f(Tensor a0) -> Tensor")));
  ExpectBadInput(RunTool("explain demo::f --keys CPU --backend " + Backend("template")),
                 {"does not claim introspection", "Leave --backend out"});
}

TEST(CliExplainOperatorTest, TakesKeysBetweenCommasOrInBrackets) {
  for (const char* keys : {"CPU,AutogradCPU", "'CPU, AutogradCPU'", "'[CPU AutogradCPU]'", "'CPU AutogradCPU'"}) {
    EXPECT_THAT(RunTool("explain demo::f --impl CPU --keys " + std::string(keys)).out,
                HasSubstr("argument 1 brings [CPU AutogradCPU]"))
        << keys;
  }
  EXPECT_THAT(RunTool("explain demo::f --impl CPU --keys []").out, HasSubstr("argument 1 brings no key"));
}

// Of kernels that nobody described only what the dispatcher does with them is known.
TEST(CliExplainOperatorTest, SaysNothingOfWhatKernelsDo) {
  for (const std::string& line :
       {"explain mine::pick --keys CPU --load " + Extension() + " --backend " + Backend("reference"),
        std::string("explain demo::f --keys CPU --impl CPU")}) {
    const Ran ran = RunTool(line);
    EXPECT_THAT(ran.out, AllOf(HasSubstr(" runs; what it does then is not told here"), Not(HasSubstr("returns"))))
        << ran.err;
  }
}

TEST(CliExplainOperatorTest, GoesOnFromAScenario) {
  const Folder folder;
  const std::string file = folder.Write("start.scn",
                                        "scenario 1 pytorch-1.13\n"
                                        "define demo::f(Tensor a, Tensor b) -> Tensor\n"
                                        "impl demo::f CPU k1\n"
                                        "call demo::f [CPU] [CPU]\n"
                                        "impl demo::f CUDA k2\n");
  const std::string line = "explain demo::f --keys CPU --keys CUDA --scenario " + file;
  const Ran ran = RunTool(line);
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("argument 1 brings [CPU]"), HasSubstr("argument 2 brings [CUDA]"),
                             HasSubstr("answer: kernel 'k2'"), Not(HasSubstr("answer: kernel 'k1'"))));
  const Ran beside = RunTool(line + " --backend " + Backend("reference"));
  EXPECT_EQ(beside.status, 0) << beside.out << beside.err;
  EXPECT_THAT(beside.out, HasSubstr("(as the spec says)"));
}

TEST(CliExplainOperatorTest, ComparesAScenarioWithABackend) {
  const std::string file = std::filesystem::absolute("spec/corpus/explain/RES-016-higher-key.scn").string();
  const Ran good = RunTool("explain " + file + " --backend " + Backend("reference"));
  EXPECT_EQ(good.status, 0) << good.out << good.err;
  EXPECT_THAT(good.out, HasSubstr("did: kauto"));
  const Ran piped = RunLine("cat " + file + " | plumbline explain - --backend " + Backend("reference"));
  EXPECT_EQ(piped.out, good.out) << piped.err;
  const Ran bare = RunTool("explain " + file + " --backend " + Backend("template"));
  EXPECT_EQ(bare.status, 0) << bare.err;
  EXPECT_THAT(bare.out, HasSubstr("unsupported"));
}

TEST(CliExplainOperatorTest, SurvivesABackendThatCrashes) {
  const Folder folder;
  const std::string file = folder.Write("bad.scn",
                                        "scenario 1 pytorch-1.13\n"
                                        "define demo::bad(Tensor a) -> Tensor\n"
                                        "impl demo::bad CPU k1\n"
                                        "call demo::bad [CPU]\n");
  const std::map<std::string, std::string> segfault = {{"PLUMBLINE_MISBEHAVE", "segfault"}};
  const Ran ran = RunTool("explain " + file + " --backend " + Misbehaving(), segfault);
  EXPECT_EQ(ran.status, 1) << ran.out << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("answer: kernel 'k1'"), HasSubstr("ended here: "), HasSubstr("signal 11")));
  const std::map<std::string, std::string> at_once = {{"PLUMBLINE_MISBEHAVE", "segfault-at-once"}};
  ExpectBadInput(RunTool("dump demo::f --backend " + Misbehaving(), at_once), {"signal 11"});
}

TEST(CliExplainOperatorTest, BadInput) {
  ExpectBadInput(RunTool("explain"), {"--help"});
  ExpectBadInput(RunTool("explain nonesuch.scn"),
                 {"nonesuch.scn: there is no such file; give a scenario file (.scn) or an operator (ns::name)"});
  ExpectBadInput(RunTool("explain demo::f"), {"--keys"});
  ExpectBadInput(RunTool("explain demo::f --keys CPV"), {"there is no dispatch key 'CPV'", "CPU"});
  ExpectBadInput(RunTool("explain demo::f --keys Autograd"), {"alias key"});
  ExpectBadInput(RunTool("explain demo::f --keys CPU,,CUDA"), {"--keys: in 'CPU,,CUDA' nothing stands beside a comma"});
  ExpectBadInput(RunTool("explain demo::f --keys CPU,"), {"--keys: in 'CPU,' nothing stands beside a comma"});
  ExpectBadInput(RunTool("explain demo::f --keys CPU,CPU"), {"--keys: 'CPU,CPU' names CPU twice"});
  ExpectBadInput(RunTool("explain demo::f --keys '[CPU'"), {"--keys: '[CPU' has one bracket of two"});
  for (const char* option : {"--keys", "--include", "--exclude"}) {
    ExpectBadInput(RunTool("explain demo::f --keys CPU " + std::string(option) + " ' '"),
                   {std::string(option) + ": no key is named; give keys, such as CPU,AutogradCPU, or [] for none"});
  }
  ExpectBadInput(RunTool("explain demo::f --keys ''"),
                 {"--keys is given '', which says nothing; give KEYS", "or [] for none"});
  ExpectBadInput(RunTool("explain ''"), {"'' is no FILE|OPERATOR: a scenario file (.scn"});
  ExpectBadInput(RunTool("explain demo::f --keys CPU --line 3"), {"--line picks a call of a scenario file"});
  ExpectBadInput(RunTool("explain demo::f --keys CPU --keys CPU --schema 'demo::f(Tensor a) -> Tensor'"), {"1 tensor"});
  ExpectBadInput(RunTool("explain demo::f --keys CPU --schema 'demo::f(Tensr a) -> Tensor'"), {"--schema", "column"});
  ExpectBadInput(RunTool("explain demo::f --keys CPU --impl CPU=k1"), {"fallthrough"});
  const Folder folder;
  const std::string file = folder.Write("bad.scn", "scenario 1 pytorch-1.13\ncall demo::f [CPU\n");
  ExpectBadInput(RunTool("explain " + file), {"bad.scn:2:"});
  const std::string empty = folder.Write("empty.scn", "scenario 1 pytorch-1.13\n");
  ExpectBadInput(RunTool("explain " + empty), {empty + ": it calls nothing", "`call demo::f [CPU]`",
                                               "plumbline replay --backend reference " + empty});
  const std::string calls = folder.Write("calls.scn",
                                         "scenario 1 pytorch-1.13\n"
                                         "define demo::f(Tensor a) -> Tensor\n"
                                         "call demo::f [CPU]\n"
                                         "call demo::f []\n");
  ExpectBadInput(RunTool("explain --line 2 " + calls),
                 {calls + ": there is no call in line 2; there are calls in lines 3, 4\n"});
  ExpectBadInput(RunTool("explain --keys CPU " + empty), {"go with an operator"});
}

// ---- new-adapter ----

TEST(CliNewAdapterTest, WritesAndRefuses) {
  const Folder folder;
  const std::string target = folder.path() + "/my-device";
  const Ran ran = RunTool("new-adapter " + target);
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("my-device/adapter.cc"), HasSubstr("cmake --build"),
                             HasSubstr("plumbline check --backend"), HasSubstr("my_device.so")));
  const std::string source = folder.Read("my-device/adapter.cc");
  EXPECT_THAT(source, AllOf(HasSubstr("class MyDevice"), HasSubstr("\"my_device\""), Not(HasSubstr("@NAME@"))));
  const std::string project = folder.Read("my-device/CMakeLists.txt");
  EXPECT_THAT(project, AllOf(HasSubstr("find_package(Plumbline"), Not(HasSubstr("@"))));
  // It may be moved, and this tree too.
  for (const std::string& place : {BuildFolder(), std::filesystem::current_path().string(), folder.path()}) {
    EXPECT_THAT(project, Not(HasSubstr(place)));
  }
  EXPECT_THAT(ran.out, HasSubstr("-DCMAKE_PREFIX_PATH="));

  folder.Write("my-device/adapter.cc", "mine");
  ExpectBadInput(RunTool("new-adapter " + target), {"already", "another folder"});
  EXPECT_EQ(folder.Read("my-device/adapter.cc"), "mine");
  ExpectBadInput(RunTool("new-adapter " + folder.path() + "/other --name 9lives"), {"--name 9lives"});
  ExpectBadInput(RunTool("new-adapter " + folder.path() + "/all"), {"'all'", "CMake has a target", "--name"});
  ExpectBadInput(RunTool("new-adapter " + folder.path() + "/other --name " + std::string(65, 'x')),
                 {"it has 65 characters, and 64 are the most"});
  EXPECT_FALSE(std::filesystem::exists(folder.path() + "/other"));
  ExpectBadInput(RunTool("new-adapter " + folder.path() + "/my-device/adapter.cc/x"), {"cannot make this folder"});
  ExpectBadInput(RunTool("new-adapter"), {"--help"});
}

}  // namespace
}  // namespace plumbline::selftest
