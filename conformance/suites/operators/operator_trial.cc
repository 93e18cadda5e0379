#include "conformance/suites/operators/operator_trial.h"

#include <algorithm>
#include <utility>

#include "conformance/harness/glob.h"
#include "conformance/suites/operators/judge_changes.h"
#include "conformance/suites/operators/shrink_call.h"
#include "spec/abi/error.h"

namespace plumbline::suites {
namespace {

constexpr std::size_t kBatch = 32;

}  // namespace

std::vector<std::string> TriedOperators(const std::vector<std::string>& patterns) {
  const auto wanted = [&](const std::string& name) {
    return patterns.empty() || std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
             return harness::MatchesGlob(pattern, name);
           });
  };
  std::vector<std::string> names = OracleNames();
  std::erase_if(names, [&](const std::string& name) { return CallDrawerFor(name) == nullptr || !wanted(name); });
  return names;
}

OperatorTrial::OperatorTrial(OperatorBackend& backend, const std::string& name, const std::string& device,
                             std::uint64_t seed)
    : backend_(backend),
      op_("aten::" + name),
      meta_(device == kMeta),
      oracle_(*OracleFor(name)),
      drawer_(*CallDrawerFor(name)),
      draw_(seed) {}

OperatorTrial::Tally OperatorTrial::Try(std::uint32_t dtype, int calls) {
  Tally tally;
  for (int made = 0; made < calls;) {
    std::vector<OperatorCall> batch;
    for (; made < calls && batch.size() < kBatch; ++made) batch.push_back(drawer_(op_, dtype, draw_));
    const std::vector<OperatorBackend::Answer> answers = backend_.Ask(batch);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const Judged judged = Judge(batch[i], answers[i]);
      if (judged.absent) continue;
      ++tally.judged;
      if (judged.deviation != nullptr) ++tally.accepted[std::string(judged.deviation->name)];
      if (!judged.wrong) continue;
      tally.wrong = Smallest(batch[i], judged);
      return tally;
    }
  }
  return tally;
}

OperatorTrial::Judged OperatorTrial::Judge(const OperatorCall& call, const OperatorBackend::Answer& answer) const {
  Expected expected = oracle_(call);
  const auto explained_by = [&]() -> const OperatorDeviation* {
    for (const OperatorDeviation* deviation : deviations_) {
      if (deviation->explains({call, expected, answer.outcome, answer.died.has_value()})) return deviation;
    }
    return nullptr;
  };
  if (answer.died) {
    if (const OperatorDeviation* deviation = explained_by()) return {.deviation = deviation};
    return {.wrong = answer.died->what, .verdict = answer.died->verdict};
  }
  // What only elements tell a meta tensor may be refused for or not.
  if (meta_ && expected.by_elements) expected.errors.push_back(PL_ERROR_NONE);
  const OperatorOutcome& outcome = answer.outcome;
  if (IsAbsent(expected, outcome)) return {.absent = true};
  Judged judged{.wrong = Compare(expected, outcome)};
  if (!judged.wrong) judged.wrong = WrongChange(expected, call, outcome);
  if (!judged.wrong) return judged;
  if (const OperatorDeviation* deviation = explained_by()) return {.deviation = deviation};
  return judged;
}

OperatorTrial::Wrong OperatorTrial::Smallest(const OperatorCall& call, const Judged& judged) {
  const auto judge = [&](const OperatorCall& one) {
    return Judge(one, backend_.Ask(std::vector<OperatorCall>{one}).front());
  };
  OperatorCall smallest = Shrink(call, [&](const OperatorCall& smaller) {
    const Judged again = judge(smaller);
    return again.wrong.has_value() && again.verdict == judged.verdict;
  });
  const Judged last = judge(smallest);
  return {std::move(smallest), last.wrong.value_or(*judged.wrong), judged.verdict};
}

}  // namespace plumbline::suites
