#include "spec/scenario/outcome.h"

#include <algorithm>
#include <tuple>

#include "spec/tables/error_classes.h"
#include "spec/tables/signatures.h"

namespace plumbline::scenario {
namespace {

std::vector<TableRow> Sorted(std::vector<TableRow> rows) {
  std::sort(rows.begin(), rows.end(), [](const TableRow& a, const TableRow& b) {
    return std::tie(a.key, a.rule, a.registration, a.fallthrough) <
           std::tie(b.key, b.rule, b.registration, b.fallthrough);
  });
  return rows;
}

bool SameTable(const std::optional<std::vector<TableRow>>& a, const std::optional<std::vector<TableRow>>& b) {
  if (!a || !b) return a.has_value() == b.has_value();
  return Sorted(*a) == Sorted(*b);
}

bool Contains(const std::vector<std::string>& list, std::string_view text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

}  // namespace

bool operator==(const Expectation& a, const Expectation& b) {
  return a.ok == b.ok && a.error == b.error && a.says == b.says && a.chain == b.chain && a.with == b.with &&
         a.sees == b.sees && a.returns == b.returns && a.warned == b.warned && a.truth == b.truth &&
         a.names == b.names && SameTable(a.table, b.table) && a.counters == b.counters && a.count == b.count;
}

const std::vector<std::string>& ErrorClasses() {
#define PL_SPELLING(number, NAME, spelling, meaning) spelling,
  static const std::vector<std::string> kClasses = {PL_ERROR_CLASSES(PL_SPELLING)};
#undef PL_SPELLING
  return kClasses;
}

const std::vector<std::string>& Rules() {
  static const std::vector<std::string> kRules = {"kernel",    "nonfunctional", "explicit", "nested",   "implicit",
                                                  "ambiguous", "autograd",      "batched",  "fallback", "chain"};
  return kRules;
}

const std::vector<std::string>& Signatures() {
#define PL_NAME(id, name, arguments, returns) #name,
  static const std::vector<std::string> kNames = {PL_SIGNATURES(PL_NAME)};
#undef PL_NAME
  return kNames;
}

bool IsErrorClass(std::string_view spelling) { return Contains(ErrorClasses(), spelling); }
bool IsRule(std::string_view spelling) { return Contains(Rules(), spelling); }

Expectation ExpectationOf(const Outcome& outcome) {
  Expectation expected;
  if (!outcome.error.empty()) expected.error = outcome.error;
  if (!outcome.runs.empty()) {
    expected.chain.emplace();
    for (const KernelRun& run : outcome.runs) expected.chain->push_back(run.kernel);
    expected.with = outcome.runs.back().keys;
    expected.sees = outcome.runs.back().arguments;
    if (outcome.error.empty()) {
      expected.returns.emplace();
      for (const Value& value : outcome.returns) {
        expected.returns->push_back(value.argument >= 0 ? Value::ArgumentOf(value.argument) : value);
      }
    }
  }
  if (outcome.warned && outcome.error.empty()) expected.warned = expected.ok = true;
  expected.truth = outcome.truth;
  expected.names = outcome.names;
  expected.table = outcome.table;
  expected.counters = outcome.counters;
  expected.count = outcome.count;
  if (expected == Expectation{}) expected.ok = true;
  return expected;
}

}  // namespace plumbline::scenario
