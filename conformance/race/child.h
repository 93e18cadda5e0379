// For tests of runs that do not end, or that must end the same way elsewhere: one test of this program, in a process of
// its own.
//
//   TEST(Child, DISABLED_Deadlock) { ... ChildSays("deadlock"); _exit(0); }
//   TEST(Deadlock, IsFound) { EXPECT_EQ(RunChild("Deadlock", "7"), "deadlock"); }   // ChildInput() is "7" there
#ifndef PLUMBLINE_CONFORMANCE_RACE_CHILD_H_
#define PLUMBLINE_CONFORMANCE_RACE_CHILD_H_

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/harness/sanitizers.h"
#include "conformance/race/scheduler.h"

namespace plumbline::race {

#ifdef PLUMBLINE_THREAD_SANITIZER
inline constexpr bool kThreadSanitizer = true;
#else
inline constexpr bool kThreadSanitizer = false;
#endif

inline constexpr std::string_view kChildPrefix = "child says: ";
inline constexpr std::string_view kSanitizerPrefix = "WARNING: ThreadSanitizer: ";

// What it says, and the kinds of what thread sanitizer reports; empty if it is killed before.
inline std::string RunChild(const std::string& test, const std::string& input = "") {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  const std::string command = "env -u GTEST_OUTPUT -u GTEST_TOTAL_SHARDS -u GTEST_SHARD_INDEX PLUMBLINE_CHILD_INPUT='" +
                              input + "' '" + program + "' --gtest_also_run_disabled_tests " +
                              "--gtest_filter=Child.DISABLED_" + test + " 2>&1";
  FILE* output = popen(command.c_str(), "r");
  if (output == nullptr) return "popen failed";
  std::string said;
  char* line = nullptr;
  size_t capacity = 0;
  while (getline(&line, &capacity, output) >= 0) {
    const std::string_view text(line);
    if (text.starts_with(kChildPrefix)) {
      said += text.substr(kChildPrefix.size(), text.find('\n') - kChildPrefix.size());
    } else if (text.starts_with(kSanitizerPrefix)) {
      said += std::string(text.substr(kSanitizerPrefix.size(), text.find(" (pid") - kSanitizerPrefix.size())) + " ";
    }
  }
  free(line);
  pclose(output);
  return said;
}

inline std::string ChildInput() {
  const char* input = getenv("PLUMBLINE_CHILD_INPUT");
  return input == nullptr ? "" : input;
}

inline void ChildSays(const std::string& words) {
  printf("%s%s\n", std::string(kChildPrefix).c_str(), words.c_str());
  fflush(stdout);
}

// "ending steps step:thread,step:thread"
inline std::string Words(const Run& run) {
  static constexpr const char* kEndings[] = {"done", "deadlock", "step-limit", "stuck", "running"};
  std::string words = kEndings[static_cast<int>(run.ending)] + (" " + std::to_string(run.steps)) + " ";
  for (std::size_t i = 0; i < run.switch_count; ++i) {
    words += (i > 0 ? "," : "") + std::to_string(run.switches[i].step) + ":" + std::to_string(run.switches[i].thread);
  }
  return words;
}

// The list at the end of such words.
inline std::vector<Switch> SwitchesOf(const std::string& words) {
  std::vector<Switch> switches;
  std::istringstream list(words.substr(words.rfind(' ') + 1));
  Switch one;
  for (char colon, comma; list >> one.step >> colon >> one.thread; list >> comma) switches.push_back(one);
  return switches;
}

inline Plan Again(const std::vector<Switch>& switches) {
  return {.strategy = Strategy::kSwitches, .switches = switches.data(), .switch_count = switches.size()};
}

// In a child: by the list that is its input, or else seed after seed until one does not end. `prepare` comes before
// each.
template <typename Body, typename Prepare>
void SayTheFirstThatDoesNotEnd(Plan plan, int threads, Body body, Prepare prepare) {
  const auto once = [&](const Plan& one) {
    prepare();
    return Schedule(
        one, threads, [](void* of, int thread) { (*static_cast<Body*>(of))(thread); }, &body);
  };
  const std::vector<Switch> list = SwitchesOf(ChildInput());
  Run run;
  if (ChildInput().empty()) {
    for (plan.seed = 1; plan.seed < 500; ++plan.seed) {
      run = once(plan);
      if (run.ending != Ending::kDone) break;
    }
  } else {
    plan.strategy = Strategy::kSwitches;
    plan.switches = list.data();
    plan.switch_count = list.size();
    run = once(plan);
  }
  ChildSays(Words(run));
  _exit(0);
}

template <typename Body>
void SayTheFirstThatDoesNotEnd(const Plan& plan, int threads, Body body) {
  SayTheFirstThatDoesNotEnd(plan, threads, body, [] {});
}

}  // namespace plumbline::race

#endif  // PLUMBLINE_CONFORMANCE_RACE_CHILD_H_
