// The recorded tables and calls of PyTorch 1.13.1 (spec/corpus/tables) against the model.
//
// The spec reproduces every table and every call, save the few calls that it rules to be PyTorch's own fault; with the
// deviations of the same names the model predicts those too, as well as the slots that PyTorch stores and should not.
// What PyTorch did differently stands in comments of the files:
//
//   call ... => r1  # at CPU                              the highest key of the set, or the one without a kernel
//   # PyTorch 1.13.1 calls r1 (at CUDA) ...               in place of the next step's outcome; or: fails as CLASS
//   # PyTorch 1.13.1 fails its own invariant check here   after the step above
//   # PyTorch 1.13.1 stores in these slots ...            and then "#   KEY(registration): KEYS"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "gtest/gtest.h"
#include "spec/model/machine.h"
#include "spec/model/registry.h"
#include "spec/scenario/matches.h"
#include "spec/scenario/parse.h"
#include "spec/scenario/print.h"

namespace plumbline::model {
namespace {

namespace fs = std::filesystem;
using scenario::Outcome;
using scenario::Scenario;
using scenario::Step;

struct Recorded {
  std::string name;
  Scenario scenario;
  std::map<int, std::string> at;  // line -> key
};

std::vector<Recorded> Load() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator("spec/corpus/tables")) {
    if (entry.path().extension() == ".scn") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<Recorded> all;
  for (const fs::path& file : files) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    scenario::ParseResult parsed = scenario::Parse(text.str());
    if (!parsed.scenario) {
      ADD_FAILURE() << file << ":" << parsed.error->line << ": " << parsed.error->message;
      continue;
    }
    Recorded recorded{file.stem().string(), std::move(*parsed.scenario), {}};
    std::istringstream lines(text.str());
    std::string line;
    for (int number = 1; std::getline(lines, line); ++number) {
      if (const std::size_t at = line.find("  # at "); at != std::string::npos)
        recorded.at[number] = line.substr(at + 7);
    }
    all.push_back(std::move(recorded));
  }
  return all;
}

std::string Comment(const Scenario& scenario, std::size_t step) {
  const auto it = scenario.comments.find(static_cast<int>(step));
  return it == scenario.comments.end() ? "" : it->second;
}

template <class Action>
bool Is(const Step& step) {
  return std::holds_alternative<Action>(step.action);
}
bool IsTable(const Step& step) {
  return Is<scenario::Query>(step) && std::get<scenario::Query>(step.action).kind == scenario::QueryKind::kTable;
}

// Where a call ended: the highest key of the set that its kernel received, or the key that has no kernel.
std::string EndedAt(const Outcome& outcome) {
  if (!outcome.runs.empty()) return outcome.runs[0].keys.empty() ? "Undefined" : outcome.runs[0].keys.back();
  const std::string marker = " for key ";
  const std::size_t at = outcome.message.find(marker);
  if (at == std::string::npos) return "";
  const std::size_t from = at + marker.size();
  return outcome.message.substr(from, outcome.message.find(' ', from) - from);
}

std::string Told(const Outcome& outcome) { return scenario::PrintOutcome(outcome) + "  " + outcome.message; }

TEST(TablesTest, TheSpecReproducesThem) {
  const std::vector<Recorded> all = Load();
  int tables = 0, good_tables = 0, calls = 0, good_calls = 0;
  std::vector<std::string> faults;
  for (const Recorded& recorded : all) {
    Machine machine(recorded.scenario, {});
    for (std::size_t i = 0; i < recorded.scenario.steps.size(); ++i) {
      const Step& step = recorded.scenario.steps[i];
      const Outcome outcome = machine.Run(step);
      std::optional<std::string> difference;
      if (step.expected) difference = scenario::Mismatch(*step.expected, outcome);
      if (const auto at = recorded.at.find(step.line); !difference && at != recorded.at.end()) {
        if (EndedAt(outcome) != at->second) difference = "ended at " + EndedAt(outcome) + ", not at " + at->second;
      }
      if (IsTable(step)) ++tables, good_tables += difference ? 0 : 1;
      if (Is<scenario::Call>(step)) {
        ++calls;
        const bool fault = Comment(recorded.scenario, i).find("RES-015") != std::string::npos;
        if (fault) faults.push_back(recorded.name + ": " + Comment(recorded.scenario, i));
        if (!difference && !fault) ++good_calls;
      }
      if (difference) {
        ADD_FAILURE() << recorded.name << ":" << step.line << ": " << *difference << "\n  the model: " << Told(outcome);
      }
    }
  }
  std::cout << "tables " << good_tables << "/" << tables << "\ncalls " << good_calls << "/" << calls
            << ", and these are PyTorch's own fault:\n";
  for (const std::string& fault : faults) std::cout << "  " << fault << "\n";
  EXPECT_EQ(tables, 293);
  EXPECT_EQ(calls, 2137);
  EXPECT_EQ(faults.size(), 4u);
  EXPECT_EQ(good_calls + static_cast<int>(faults.size()), calls);
}

// What the comment says that PyTorch did instead: "r1 CUDA", or an error class; empty: what the spec says.
std::string Instead(const std::string& comment) {
  std::smatch match;
  if (std::regex_search(comment, match, std::regex(R"(calls (\w+) \(at (\w+)\))")))
    return match.str(1) + " " + match.str(2);
  if (comment.find("internal error") != std::string::npos) return "internal";
  if (std::regex_search(comment, match, std::regex(R"(fails as ([a-z-]+))"))) return match.str(1);
  return "";
}

// "#   Autograd(r1): AutogradOther ..." for each slot: what is stored in it.
std::map<std::string, std::string> StoredInstead(const std::string& comment) {
  std::map<std::string, std::string> stored;
  const std::size_t list = comment.find("stores in these slots");
  if (list == std::string::npos) return stored;
  std::istringstream words(comment.substr(comment.find(':', list) + 1));
  std::string word, winner;
  while (words >> word) {
    if (word == "#") continue;
    if (word.ends_with(":")) {
      winner = word.substr(0, word.size() - 1);
    } else {
      stored[word] = winner;
    }
  }
  return stored;
}

std::string Winner(const Machine& machine, const Slot& slot) {
  if (slot.winner == nullptr) return Spelling(slot.rule);
  if (slot.fallthrough()) return "fallthrough";
  return machine.keys().Name(slot.winner->key) + "(" + slot.winner->handle + ")";
}

TEST(TablesTest, TheDeviationsPredictWhatPyTorchDidInstead) {
  Settings settings;
  settings.deviations = {Deviation::kMaskBeforeThreadState, Deviation::kStaleAutogradOther,
                         Deviation::kStaleAutogradNestedTensor, Deviation::kStaleAfterCompositeExplicit};
  int other_calls = 0, stale_tables = 0, stale_steps = 0;
  for (const Recorded& recorded : Load()) {
    Machine machine(recorded.scenario, settings);
    for (std::size_t i = 0; i < recorded.scenario.steps.size(); ++i) {
      const Step& step = recorded.scenario.steps[i];
      const std::string where = recorded.name + ":" + std::to_string(step.line);
      const std::string comment = Comment(recorded.scenario, i);
      const Outcome outcome = machine.Run(step);
      if (Is<scenario::Call>(step)) {
        const std::string instead = Instead(comment);
        if (instead.empty()) {
          EXPECT_EQ(scenario::Mismatch(*step.expected, outcome), std::nullopt) << where << ": " << Told(outcome);
        } else {
          ++other_calls;
          const std::string did =
              outcome.error.empty() ? outcome.runs.at(0).kernel + " " + EndedAt(outcome) : outcome.error;
          EXPECT_EQ(did, instead) << where;
        }
        continue;
      }
      const Operator* op = machine.registry().FindOperator("demo::f");
      if (IsTable(step)) {
        std::map<std::string, std::string> stored;
        for (Key key = 0; key < machine.keys().slot_count(); ++key) {
          const std::string used = Winner(machine, machine.registry().SlotOf(*op, key));
          if (used != Winner(machine, machine.registry().Computed(*op, key))) stored[machine.keys().Name(key)] = used;
        }
        if (!stored.empty()) ++stale_tables;
        EXPECT_EQ(stored, StoredInstead(comment)) << where;
      } else if (!Is<scenario::GuardEnter>(step) && !Is<scenario::GuardLeave>(step)) {
        const bool fails = Comment(recorded.scenario, i + 1).find("invariant check") != std::string::npos;
        if (fails) ++stale_steps;
        EXPECT_EQ(op != nullptr && machine.registry().FailsInvariantCheck(*op), fails) << where;
      }
    }
  }
  std::cout << other_calls << " calls, " << stale_tables << " tables and " << stale_steps
            << " steps where PyTorch 1.13.1 differs, predicted\n";
  EXPECT_EQ(stale_tables, 13);
  EXPECT_GT(other_calls, 4);
}

}  // namespace
}  // namespace plumbline::model
