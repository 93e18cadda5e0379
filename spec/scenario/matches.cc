#include "spec/scenario/matches.h"

#include <algorithm>
#include <map>

#include "spec/scenario/print.h"

namespace plumbline::scenario {
namespace {

std::string Chain(const std::vector<std::string>& kernels) {
  std::string text;
  for (const auto& kernel : kernels) text += (text.empty() ? "" : " > ") + kernel;
  return text.empty() ? "no kernel" : text;
}

std::string ErrorText(const Outcome& outcome) {
  if (outcome.error.empty()) return "no error";
  return "error " + outcome.error + (outcome.message.empty() ? "" : " (" + outcome.message + ")");
}

std::string But(const std::string& expected, const std::string& got) { return "expected " + expected + ", but " + got; }

std::string Describe(const TableRow& row) {
  return row.rule + (row.registration.empty() ? "" : " " + row.registration) + (row.fallthrough ? " fallthrough" : "");
}

class Comparison {
 public:
  explicit Comparison(const Canonical& canonical) : canonical_(canonical) {}

  std::optional<std::string> Run(const Expectation& expected, const Outcome& outcome) const {
    if (auto text = Errors(expected, outcome)) return text;
    if (auto text = Kernels(expected, outcome)) return text;
    if (expected.warned && *expected.warned != outcome.warned) {
      return But(*expected.warned ? "a warning" : "no warning", outcome.warned ? "there was one" : "there was none");
    }
    if (expected.truth && expected.truth != outcome.truth) {
      return But(*expected.truth ? "true" : "false", !outcome.truth   ? "there was no answer"
                                                     : *outcome.truth ? "the answer is true"
                                                                      : "the answer is false");
    }
    if (expected.names && expected.names != outcome.names) {
      return But(Listed(expected.names), "got " + Listed(outcome.names));
    }
    if (expected.counters && expected.counters != outcome.counters) {
      return But(Counted(expected), "got " + (outcome.counters ? Counted(outcome) : "no counters"));
    }
    if (expected.count && expected.count != outcome.count) {
      return But("a count of " + std::to_string(*expected.count),
                 outcome.count ? "it is " + std::to_string(*outcome.count) : "there was none");
    }
    if (expected.table) return Tables(*expected.table, outcome);
    return std::nullopt;
  }

 private:
  static std::optional<std::string> Errors(const Expectation& expected, const Outcome& outcome) {
    if (!expected.error) {
      if (outcome.error.empty()) return std::nullopt;
      return But("no error", "got " + ErrorText(outcome));
    }
    if (outcome.error.empty() || (*expected.error != "any" && *expected.error != outcome.error)) {
      return But(*expected.error == "any" ? "an error" : "error " + *expected.error, "got " + ErrorText(outcome));
    }
    if (expected.says && outcome.message.find(*expected.says) == std::string::npos) {
      return But("a message that says \"" + *expected.says + "\"", "it says \"" + outcome.message + "\"");
    }
    return std::nullopt;
  }

  std::optional<std::string> Kernels(const Expectation& expected, const Outcome& outcome) const {
    if (expected.chain) {
      std::vector<std::string> ran;
      for (const KernelRun& run : outcome.runs) ran.push_back(run.kernel);
      if (ran != *expected.chain) return But(Chain(*expected.chain) + " to run", Chain(ran) + " ran");
    }
    if ((expected.with || expected.sees) && outcome.runs.empty()) return But("a kernel to run", "no kernel ran");
    if (expected.with) {
      const KernelRun& last = outcome.runs.back();
      if (Keys(*expected.with) != Keys(last.keys)) {
        return But(last.kernel + " to receive " + PrintKeys(*expected.with), "it received " + PrintKeys(last.keys));
      }
    }
    if (expected.sees) {
      const KernelRun& last = outcome.runs.back();
      if (!SameList(*expected.sees, last.arguments)) {
        return But(last.kernel + " to see " + Values(*expected.sees), "it saw " + Values(last.arguments));
      }
    }
    if (expected.returns && !SameList(*expected.returns, outcome.returns)) {
      return But("the call to return " + Values(*expected.returns), "it returned " + Values(outcome.returns));
    }
    return std::nullopt;
  }

  static std::optional<std::string> Tables(const std::vector<TableRow>& expected, const Outcome& outcome) {
    if (!outcome.table) return But("a table", "there was none");
    std::map<std::string, TableRow> got;
    for (const TableRow& row : *outcome.table) got[row.key] = row;
    for (const TableRow& row : expected) {
      auto found = got.find(row.key);
      if (found == got.end()) return But("the slot of " + row.key + " to hold " + Describe(row), "it is empty");
      if (found->second != row) {
        return But("the slot of " + row.key + " to hold " + Describe(row), "it holds " + Describe(found->second));
      }
      got.erase(found);
    }
    if (got.empty()) return std::nullopt;
    return But("the slot of " + got.begin()->first + " to be empty", "it holds " + Describe(got.begin()->second));
  }

  std::vector<std::string> Keys(const std::vector<std::string>& keys) const {
    std::vector<std::string> sorted = canonical_ ? canonical_(keys) : keys;
    std::sort(sorted.begin(), sorted.end());
    sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
    return sorted;
  }

  bool Same(const Value& expected, const Value& got) const {
    if (expected.argument >= 0) return expected.argument == got.argument;
    if (expected.kind != got.kind) return false;
    if (expected.kind == Value::Kind::kTensor) return Keys(expected.keys) == Keys(got.keys);
    if (expected.kind == Value::Kind::kList) return SameList(expected.items, got.items);
    Value plain = got;
    plain.argument = -1;
    return expected == plain;
  }

  bool SameList(const std::vector<Value>& expected, const std::vector<Value>& got) const {
    return std::equal(expected.begin(), expected.end(), got.begin(), got.end(),
                      [this](const Value& a, const Value& b) { return Same(a, b); });
  }

  static std::string Values(const std::vector<Value>& values) {
    return values.empty() ? "nothing" : PrintValues(values);
  }

  static std::string Listed(const std::optional<std::vector<std::string>>& names) {
    if (!names) return "no list";
    Expectation expected;
    expected.names = names;
    return PrintExpectation(expected);
  }

  static std::string Counted(const Expectation& expected) { return PrintExpectation(expected); }
  static std::string Counted(const Outcome& outcome) {
    Expectation expected;
    expected.counters = outcome.counters;
    return PrintExpectation(expected);
  }

  const Canonical& canonical_;
};

}  // namespace

std::optional<std::string> Mismatch(const Expectation& expected, const Outcome& outcome, const Canonical& canonical) {
  return Comparison(canonical).Run(expected, outcome);
}

}  // namespace plumbline::scenario
