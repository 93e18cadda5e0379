// Every usual cause has a scenario in spec/corpus/explain with the diagnosis written above the call: `plumbline
// explain` gives it there, and does not give that cause for the calls of the other scenarios.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "conformance/selftest/run_tool.h"

namespace plumbline::selftest {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view kMarker = "# diagnosis: ";

// The causes that explain printed, without the clause, by the line of the call.
using Causes = std::map<int, std::vector<std::string>>;

Causes CausesIn(const std::string& printed) {
  Causes causes;
  std::istringstream lines(printed);
  std::string line;
  int call = 0;
  while (std::getline(lines, line)) {
    if (line.starts_with("line ")) {
      call = std::stoi(line.substr(5));
      causes[call];
    }
    const std::size_t start = line.find_first_not_of(' ');
    if (start == std::string::npos || line.compare(start, 3, "why") != 0) continue;
    const std::size_t colon = line.find(": ", start);
    causes[call].push_back(line.substr(colon + 2));
  }
  return causes;
}

struct File {
  std::string name;
  std::map<int, std::vector<std::string>> wanted;  // by the line of the call: "shadowed: kother was ..."
  Causes given;
};

std::string KindOf(const std::string& diagnosis) {
  // "a stale answer if kimp runs: ..."
  const std::string kind = diagnosis.substr(0, diagnosis.find(':'));
  return kind.substr(0, kind.find(" if "));
}

const std::vector<File>& Files() {
  static const std::vector<File> files = [] {
    std::vector<File> all;
    for (const auto& entry : fs::directory_iterator("spec/corpus/explain")) {
      File file{.name = fs::absolute(entry.path()).string(), .wanted = {}, .given = {}};
      std::ifstream in(entry.path());
      std::string line;
      std::vector<std::string> diagnoses;
      for (int number = 1; std::getline(in, line); ++number) {
        if (line.starts_with(kMarker)) {
          diagnoses.push_back(line.substr(kMarker.size()));
        } else if (!diagnoses.empty()) {
          file.wanted[number] = std::exchange(diagnoses, {});
        }
      }
      const Ran ran = RunTool("explain " + file.name);
      EXPECT_EQ(ran.status, 0) << file.name << "\n" << ran.err;
      file.given = CausesIn(ran.out);
      all.push_back(std::move(file));
    }
    std::sort(all.begin(), all.end(), [](const File& a, const File& b) { return a.name < b.name; });
    return all;
  }();
  return files;
}

bool Has(const std::vector<std::string>& causes, const std::string& kind) {
  return std::any_of(causes.begin(), causes.end(), [&](const std::string& cause) { return KindOf(cause) == kind; });
}

TEST(CliExplainTest, GivesEachDiagnosis) {
  std::set<std::string> kinds;
  for (const File& file : Files()) {
    EXPECT_FALSE(file.wanted.empty()) << file.name << " has no line '" << kMarker << "...'";
    for (const auto& [line, diagnoses] : file.wanted) {
      ASSERT_TRUE(file.given.contains(line)) << file.name << ":" << line << " is not explained";
      for (const std::string& diagnosis : diagnoses) {
        kinds.insert(KindOf(diagnosis));
        EXPECT_THAT(file.given.at(line), ::testing::Contains(::testing::StartsWith(diagnosis)))
            << file.name << ":" << line;
      }
    }
  }
  // The eight usual causes; some have more than one form.
  for (const char* kind : {"key differs", "a higher key answers first", "misspelt operator", "misspelt namespace",
                           "registered after the call", "never registered", "shadowed", "inner operator lacks a kernel",
                           "calls without end", "a stale answer", "a higher key has no kernel"}) {
    EXPECT_TRUE(kinds.contains(kind)) << "no scenario shows the cause: " << kind;
  }
}

// "key differs" is said of every kernel whose key no argument carries, so it is no surprise elsewhere.
TEST(CliExplainTest, GivesNoCauseWhereItDoesNotHold) {
  std::set<std::string> kinds;
  for (const File& file : Files()) {
    for (const auto& [line, diagnoses] : file.wanted) {
      for (const std::string& diagnosis : diagnoses) kinds.insert(KindOf(diagnosis));
    }
  }
  kinds.erase("key differs");
  for (const File& file : Files()) {
    for (const auto& [line, causes] : file.given) {
      for (const std::string& kind : kinds) {
        const auto wanted = file.wanted.find(line);
        if (wanted != file.wanted.end() && Has(wanted->second, kind)) continue;
        EXPECT_FALSE(Has(causes, kind)) << file.name << ":" << line << " says: " << ::testing::PrintToString(causes);
      }
    }
  }
}

TEST(CliExplainTest, MisspeltKeysAreNamedWithTheirLines) {
  const Folder folder;
  const std::string head = "scenario 1 pytorch-1.13\ndefine demo::f(Tensor a) -> Tensor\nimpl demo::f CPU k0\n";
  const auto explain = [&](const std::string& steps) {
    return RunTool("explain " + folder.Write("s.scn", head + steps)).out;
  };
  const std::string call = "\ncall demo::f [CPU AutogradCPU]\n";
  EXPECT_THAT(explain("impl demo::f AutogradCpu k1" + call),
              HasSubstr("why: registration refused: k1, line 4: there is no key AutogradCpu; did you mean AutogradCPU"))
      << "though another kernel answers";
  EXPECT_THAT(explain("impl demo::f AutogradCpu fallthrough" + call),
              HasSubstr("why: registration refused: the fallthrough, line 4: there is no key AutogradCpu"));
  EXPECT_THAT(explain("fallback AutogradCpu k1" + call),
              HasSubstr("why: registration refused: k1, line 4: there is no key AutogradCpu"));
  EXPECT_THAT(
      explain("impl demo::f AutogradCpu" + call),
      HasSubstr("why: no key is given: AutogradCpu, line 4 is taken for the kernel; for the key AutogradCPU write "
                "`impl demo::f AutogradCPU KERNEL`"));
  EXPECT_THAT(explain("call demo::f [CPU AutogradCpu]\n"),
              HasSubstr("refused: not-found: there is no dispatch key 'AutogradCpu'; near: AutogradCPU"));
  EXPECT_THAT(explain("impl demo::f kernel" + call), Not(HasSubstr("no key is given")));
}

// All that a replay judges, not only which kernel ran.
TEST(CliExplainTest, TellsWhereABackendDoesOtherwise) {
  const Folder folder;
  const std::string file = folder.Write("s.scn",
                                        "scenario 1 pytorch-1.13\n"
                                        "define demo::f(Tensor a, int b, int c) -> Tensor\n"
                                        "impl   demo::f CPU k\n"
                                        "call   demo::f [CPU] 1 2\n");
  const Ran right = RunTool("explain --no-color --backend " + Backend("broken") + " " + file);
  EXPECT_EQ(right.status, 0) << right.out << right.err;
  EXPECT_THAT(right.out, HasSubstr("(as the spec says)"));
  const Ran wrong =
      RunTool("explain --no-color --backend " + Backend("broken") + " --fault arguments_change_places " + file);
  EXPECT_EQ(wrong.status, 1) << wrong.out << wrong.err;
  EXPECT_THAT(wrong.out, HasSubstr("(NOT as the spec says: what a kernel received; expected k"));
  EXPECT_THAT(wrong.out, Not(HasSubstr("(as the spec says)")));
  // What is no call is judged too.
  const Ran other =
      RunTool("explain --no-color --backend " + Backend("broken") + " --fault second_definition_is_dropped " +
              folder.Write("t.scn",
                           "scenario 1 pytorch-1.13\n"
                           "define demo::f(Tensor a) -> Tensor\n"
                           "define demo::f(Tensor a) -> Tensor => error duplicate\n"
                           "impl   demo::f CPU k\n"
                           "call   demo::f [CPU]\n"));
  EXPECT_EQ(other.status, 1) << other.out << other.err;
  EXPECT_THAT(other.out, HasSubstr("did not do all of it as the spec says; `plumbline replay` of the same file"));
}

TEST(CliExplainTest, AKernelThatRunsNeedsNoCause) {
  const Folder folder;
  const std::string file = folder.Write("good.scn",
                                        "scenario 1 pytorch-1.13\n"
                                        "define demo::f(Tensor a) -> Tensor\n"
                                        "impl demo::f CPU k1\n"
                                        "call demo::f [CPU]\n"
                                        "call demo::f [CPU]\n");
  const Ran ran = RunTool("explain " + file);
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, Not(HasSubstr("why")));
  EXPECT_THAT(ran.out, HasSubstr("cache miss"));
  EXPECT_THAT(ran.out, HasSubstr("cache hit"));
  EXPECT_THAT(ran.out, HasSubstr("RES-"));
  EXPECT_THAT(ran.out, Not(HasSubstr("\x1b["))) << "colours in a pipe";
  EXPECT_THAT(RunTool("explain --line 5 " + file).out, Not(HasSubstr("cache miss")));
}

}  // namespace
}  // namespace plumbline::selftest
