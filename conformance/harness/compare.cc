#include "conformance/harness/compare.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "spec/abi/abi.h"
#include "spec/model/canonical.h"
#include "spec/scenario/matches.h"
#include "spec/scenario/print.h"

namespace plumbline::harness {
namespace {

using scenario::KernelRun;
using scenario::Outcome;
using scenario::Step;
using scenario::TableRow;
using scenario::Value;

bool IsBuiltin(const KernelRun& run) { return run.kernel.starts_with("builtin:"); }

std::string PrintRun(const KernelRun& run) {
  std::string text = fmt::format("{} for {} at depth {} with [{}] sees", run.kernel, run.operator_name, run.depth,
                                 fmt::join(run.keys, " "));
  for (const Value& value : run.arguments) text += " " + scenario::PrintValue(value);
  return text;
}

std::string PrintReturns(const std::vector<Value>& values) {
  std::string text = "returns";
  for (const Value& value : values) {
    text += " " + scenario::PrintValue(value);
    if (value.argument >= 0) text += fmt::format(" (arg {})", value.argument);
  }
  return text;
}

std::string Chain(const std::vector<KernelRun>& runs) {
  std::string text;
  for (const KernelRun& run : runs) text += (text.empty() ? "" : " > ") + run.kernel;
  return text.empty() ? "no kernel ran" : text;
}

// The first line of an error's message, and not all of a long one: some hold a whole table.
std::string Gist(const std::string& message) {
  constexpr std::size_t kMost = 240;
  const std::string line = message.substr(0, message.find('\n'));
  if (line.size() == message.size() && line.size() <= kMost) return message;
  return line.substr(0, kMost) + "...";
}

std::string PrintError(const Outcome& outcome) {
  if (outcome.error.empty()) return "ok";
  return outcome.message.empty() ? fmt::format("error {}", outcome.error)
                                 : fmt::format("error {} (\"{}\")", outcome.error, Gist(outcome.message));
}

std::string PrintRow(const TableRow& row) {
  return fmt::format("{}: {} {}{}", row.key, row.rule, row.registration, row.fallthrough ? " fallthrough" : "");
}

// A result that is told to be an argument must be that argument; one that is not told may be any tensor of those keys.
bool SameReturns(const std::vector<Value>& predicted, const std::vector<Value>& observed) {
  if (predicted.size() != observed.size()) return false;
  for (std::size_t i = 0; i < predicted.size(); ++i) {
    Value told = observed[i];
    if (predicted[i].argument < 0) told.argument = -1;
    if (!(predicted[i] == told)) return false;
  }
  return true;
}

struct Part {
  std::string what, expected, got;
  bool about_message = false;
};

// Rows that differ, so that a table of a hundred slots shows what matters.
Part CompareTables(const std::vector<TableRow>& predicted, const std::vector<TableRow>& observed) {
  Part part{.what = "the computed table", .expected = "", .got = ""};
  const auto list = [](const std::vector<TableRow>& rows, const std::vector<TableRow>& without) {
    std::string text;
    for (const TableRow& row : rows) {
      if (std::find(without.begin(), without.end(), row) != without.end()) continue;
      text += (text.empty() ? "" : "; ") + PrintRow(row);
    }
    return text.empty() ? std::string("no row there") : text;
  };
  part.expected = list(predicted, observed);
  part.got = list(observed, predicted);
  if (part.expected == part.got) part.what = "the order of the computed table";
  return part;
}

std::optional<Part> CompareRuns(const Outcome& predicted, const Outcome& observed, bool& blind) {
  // A built-in kernel cannot be seen running: what follows it is not compared.
  std::vector<KernelRun> expected = predicted.runs;
  const auto builtin = std::find_if(expected.begin(), expected.end(), IsBuiltin);
  blind = builtin != expected.end();
  expected.erase(builtin, expected.end());
  std::vector<KernelRun> got = observed.runs;
  if (blind && got.size() > expected.size()) got.resize(expected.size());
  const auto same_kernel = [](const KernelRun& a, const KernelRun& b) { return a.kernel == b.kernel; };
  if (!std::equal(expected.begin(), expected.end(), got.begin(), got.end(), same_kernel)) {
    Part part{"the kernels that ran", Chain(predicted.runs), Chain(observed.runs)};
    if (predicted.error != observed.error) {
      if (!predicted.error.empty()) part.expected += " > " + PrintError(predicted);
      if (!observed.error.empty()) part.got += " > " + PrintError(observed);
    }
    return part;
  }
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (expected[i] == got[i]) continue;
    return Part{"what a kernel received", PrintRun(expected[i]), PrintRun(got[i])};
  }
  return std::nullopt;
}

std::optional<Part> CompareStep(const Step& step, const Outcome& predicted, const Outcome& observed,
                                std::uint64_t capabilities) {
  bool blind = false;
  if (auto part = CompareRuns(predicted, observed, blind)) return part;
  if (blind) return std::nullopt;
  if (predicted.error != observed.error) {
    const bool class_written = step.expected && step.expected->error && *step.expected->error != "any";
    const bool vague = observed.error == "unclassified" && !predicted.error.empty() && !class_written;
    if (!vague) return Part{"the error", PrintError(predicted), PrintError(observed)};
  }
  if (predicted.error.empty() && !SameReturns(predicted.returns, observed.returns)) {
    return Part{"the results", PrintReturns(predicted.returns), PrintReturns(observed.returns)};
  }
  if ((capabilities & PL_CAPABILITY(WARNINGS)) != 0 && predicted.warned != observed.warned) {
    return Part{"the override warning", predicted.warned ? "ok warned" : "ok unwarned",
                observed.warned ? "ok warned" : "ok unwarned"};
  }
  if (predicted.table && observed.table && *predicted.table != *observed.table) {
    return CompareTables(*predicted.table, *observed.table);
  }
  if (predicted.truth != observed.truth || predicted.names != observed.names ||
      predicted.table.has_value() != observed.table.has_value() || predicted.counters != observed.counters ||
      predicted.count != observed.count) {
    return Part{"the answer", Describe(predicted), Describe(observed)};
  }
  if (step.expected && step.expected->says && !observed.error.empty() &&
      observed.message.find(*step.expected->says) == std::string::npos) {
    return Part{"the error's message", fmt::format("error {} says \"{}\"", observed.error, *step.expected->says),
                PrintError(observed), true};
  }
  return std::nullopt;
}

}  // namespace

std::string Describe(const Outcome& outcome) {
  std::string text = scenario::PrintOutcome(outcome);
  if (!outcome.message.empty()) text += fmt::format(" (\"{}\")", Gist(outcome.message));
  return text;
}

Comparison Compare(const scenario::Scenario& scenario, const std::vector<Outcome>& predicted,
                   const std::vector<Outcome>& observed, std::uint64_t capabilities) {
  for (std::size_t i = 0; i < scenario.steps.size(); ++i) {
    // Either cannot do the step: the backend, or the model, which does not know what a fallback of the release's own,
    // or of a user's library, does.
    if ((observed[i].error == "unsupported") != (predicted[i].error == "unsupported")) {
      Comparison refused{.result = Comparison::Result::kUnsupported, .step = static_cast<int>(i)};
      refused.got = PrintError(observed[i].error == "unsupported" ? observed[i] : predicted[i]);
      return refused;
    }
    if (auto part = CompareStep(scenario.steps[i], predicted[i], observed[i], capabilities)) {
      return {Comparison::Result::kDiffers, static_cast<int>(i), part->what, part->expected, part->got,
              part->about_message};
    }
  }
  return {};
}

Comparison CompareWritten(const scenario::Scenario& scenario, const std::vector<Outcome>& predicted,
                          const model::KeyTable& keys) {
  const scenario::Canonical canonical = model::CanonicalBy(keys);
  for (std::size_t i = 0; i < scenario.steps.size(); ++i) {
    if (!scenario.steps[i].expected) continue;
    scenario::Expectation written = *scenario.steps[i].expected;
    written.says.reset();  // the model's messages are its own
    if (auto mismatch = scenario::Mismatch(written, predicted[i], canonical)) {
      return {Comparison::Result::kDiffers,        static_cast<int>(i),    *mismatch,
              scenario::PrintExpectation(written), Describe(predicted[i]), false};
    }
  }
  return {};
}

}  // namespace plumbline::harness
