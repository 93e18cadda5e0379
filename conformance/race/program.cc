#include "conformance/race/program.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <type_traits>
#include <utility>
#include <variant>

#include "conformance/harness/stray_names.h"
#include "conformance/race/scheduler.h"

namespace plumbline::race {
namespace {

using harness::InputError;
using harness::OrError;
using scenario::QueryKind;
using scenario::Step;

bool Answers(QueryKind kind) {
  return kind == QueryKind::kHasKernel || kind == QueryKind::kOperators || kind == QueryKind::kTable;
}

const std::string* LibraryUsedBy(const Step& step) {
  if (const auto* define = std::get_if<scenario::Define>(&step.action)) return &define->library;
  if (const auto* impl = std::get_if<scenario::Impl>(&step.action)) return &impl->library;
  if (const auto* fallback = std::get_if<scenario::Fallback>(&step.action)) return &fallback->library;
  return nullptr;
}

// A name whose steps must stay on one thread while threads run.
struct Owner {
  std::string thread;
  bool several = false;
  void UsedOn(const std::string& by) {
    if (thread.empty()) thread = by;
    several = several || thread != by;
  }
};

std::optional<std::string> WhyNot(const Program& program) {
  // It would be left out of every run.
  if (const std::vector<harness::StrayName> strays = harness::StrayNames(program.scenario); !strays.empty()) {
    return fmt::format("line {}: nothing is made under the name {}", strays.front().line, strays.front().name);
  }
  if (const auto& declared = program.scenario.declared_keys; !declared.empty()) {
    return fmt::format(
        "line {}: a history knows the keys of its release only; let threads race with one of these in "
        "place of {}",
        declared.front().line, declared.front().name);
  }
  std::map<std::string, Owner> libraries, guards;
  std::map<std::string, int> closed;
  for (const Program::Thread& thread : program.threads) {
    for (const std::size_t index : thread.steps) {
      const Step& step = program.scenario.steps[index];
      if (const std::string* library = LibraryUsedBy(step); library != nullptr && !library->empty()) {
        libraries[*library].UsedOn(thread.name);
      } else if (const auto* open = std::get_if<scenario::LibraryOpen>(&step.action)) {
        libraries[open->name].UsedOn(thread.name);
      } else if (const auto* close = std::get_if<scenario::LibraryClose>(&step.action)) {
        libraries[close->name].UsedOn(thread.name);
        closed.emplace(close->name, step.line);
      } else if (const auto* enter = std::get_if<scenario::GuardEnter>(&step.action)) {
        guards[enter->name].UsedOn(thread.name);
      } else if (const auto* leave = std::get_if<scenario::GuardLeave>(&step.action)) {
        guards[leave->name].UsedOn(thread.name);
        if (guards[leave->name].several) {
          return fmt::format("line {}: the guard {} is entered and left on two threads; a guard belongs to one",
                             step.line, leave->name);
        }
      }
    }
  }
  for (const auto& [name, line] : closed) {
    if (!libraries[name].several) continue;
    return fmt::format(
        "line {}: the library {} is closed while another thread uses it, and closing frees it; let one thread do both",
        line, name);
  }
  return std::nullopt;
}

}  // namespace

OrError<Program> MakeProgram(scenario::Scenario scenario) {
  Program program;
  program.scenario = std::move(scenario);
  std::size_t last_on_threads = 0;
  const std::vector<Step>& steps = program.scenario.steps;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (!steps[i].thread.empty()) last_on_threads = i;
  }
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Step& step = steps[i];
    if (const auto* query = std::get_if<scenario::Query>(&step.action); query != nullptr && !Answers(query->kind)) {
      // Those that only make sense in one order stay with main, where they are not looked at.
      if (!step.thread.empty()) {
        return InputError{
            fmt::format("line {}: threads at once may ask has-kernel, operators and table; ask the rest "
                        "on main, after them",
                        step.line)};
      }
    }
    if (step.thread.empty()) {
      if (program.threads.empty()) {
        program.before.push_back(i);
      } else if (i > last_on_threads) {
        program.after.push_back(i);
      } else {
        return InputError{fmt::format(
            "line {}: main has a step between those of the threads; put it before their first or after their last",
            step.line)};
      }
      continue;
    }
    auto at = std::find_if(program.threads.begin(), program.threads.end(),
                           [&](const Program::Thread& thread) { return thread.name == step.thread; });
    if (at == program.threads.end()) {
      if (program.threads.size() == static_cast<std::size_t>(kMaxThreads)) {
        return InputError{fmt::format("line {}: a race has at most {} threads", step.line, kMaxThreads)};
      }
      at = program.threads.insert(at, {.name = step.thread, .steps = {}});
    }
    at->steps.push_back(i);
  }
  if (program.threads.empty()) {
    return InputError{"the scenario has no threads of its own; say `on a` and `on b` before the steps that race"};
  }
  if (std::optional<std::string> why = WhyNot(program)) return InputError{*std::move(why)};
  return program;
}

}  // namespace plumbline::race
