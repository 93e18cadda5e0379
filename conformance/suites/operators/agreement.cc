#include "conformance/suites/operators/agreement.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>

#include "conformance/harness/case_runner.h"
#include "conformance/suites/operators/draw.h"
#include "conformance/suites/operators/draw_calls.h"
#include "conformance/suites/operators/judge_changes.h"
#include "conformance/suites/operators/oracle_elements.h"
#include "conformance/suites/operators/shrink_call.h"
#include "spec/abi/error.h"

namespace plumbline::suites {
namespace {

constexpr int kBatch = 32;

std::string_view ClassOf(const OperatorOutcome& outcome) {
  return outcome.error_class == PL_ERROR_NONE ? "no error" : abi::ErrorClassSpelling(outcome.error_class);
}

// Within both bounds, and the rounding of both.
bool AreNear(const ExpectedTensor& due, std::size_t at, long double a, long double b) {
  if (at < due.any_of.size() && !due.any_of[at].empty()) return true;  // right as one of several
  const long double bound = due.bounds.empty() ? 0 : due.bounds[at];
  if (std::isinf(bound) || a == b || (std::isnan(a) && std::isnan(b))) return true;
  if (std::isnan(a) || std::isnan(b)) return false;
  const long double ulp = IsFloating(due.dtype) && bound != 0 ? UlpOf(due.dtype, due.values[at]) : 0;
  if (!std::isinf(a) && !std::isinf(b)) return std::fabs(a - b) <= 2 * bound + ulp;
  const long double finite = std::isinf(a) ? b : a, infinite = std::isinf(a) ? a : b;
  return !std::isinf(finite) && std::signbit(finite) == std::signbit(infinite) &&
         std::fabs(finite) + 2 * bound + ulp > Greatest(due.dtype);
}

std::optional<std::string> ValuesApart(const ExpectedTensor& due, const HostTensor& a, const HostTensor& b) {
  for (std::int64_t i = 0; i < a.numel(); ++i) {
    const long double first = a.Get(i), second = b.Get(i);
    if (AreNear(due, static_cast<std::size_t>(i), first, second)) continue;
    return fmt::format("element {} is {} and {}", i, Number(first), Number(second));
  }
  return std::nullopt;
}

bool StridesAreSaid(const OperatorCall& call) {
  static constexpr std::string_view kOpen[] = {
      "conv",     "_adaptive", "adaptive",     "avg_pool",  "max_pool",       "native_batch", "batch_norm",
      "nonzero",  "sort",      "index",        "dropout",   "native_dropout", "constant_pad", "masked_fill",
      "mse_loss", "smooth_l1", "binary_cross", "clone.out", "flip.out",       "relu.out"};
  const std::string_view name = std::string_view(call.op).substr(call.op.find("::") + 2);
  const std::vector<const Argument*> tensors = TensorsOf(call);
  return std::none_of(std::begin(kOpen), std::end(kOpen),
                      [&](std::string_view open) { return name.starts_with(open); }) &&
         std::all_of(tensors.begin(), tensors.end(), [](const Argument* one) { return IsDense(one->tensor); });
}

}  // namespace

std::optional<Disagreement> CompareOutcomes(const Expected& expected, const OperatorOutcome& first,
                                            const OperatorOutcome& second, bool strides) {
  if (first.error_class != second.error_class) {
    // Where several reasons refuse a call, which one is told is left open.
    const auto is_due = [&](const OperatorOutcome& outcome) {
      return std::find(expected.errors.begin(), expected.errors.end(), outcome.error_class) != expected.errors.end();
    };
    if (is_due(first) && is_due(second)) return std::nullopt;
    return Disagreement{"error", fmt::format("{} and {}: {}", ClassOf(first), ClassOf(second),
                                             first.message.empty() ? second.message : first.message)};
  }
  if (first.error_class != PL_ERROR_NONE) return std::nullopt;
  if (first.tensors.size() != second.tensors.size()) {
    return Disagreement{"sizes", fmt::format("{} and {} results", first.tensors.size(), second.tensors.size())};
  }
  for (std::size_t i = 0; i < first.tensors.size(); ++i) {
    const ReturnedTensor &a = first.tensors[i], &b = second.tensors[i];
    if (a.tensor.dtype != b.tensor.dtype) {
      return Disagreement{"dtype",
                          fmt::format("{} and {}", DtypeSpelling(a.tensor.dtype), DtypeSpelling(b.tensor.dtype))};
    }
    if (a.tensor.sizes != b.tensor.sizes) {
      return Disagreement{
          "sizes", fmt::format("[{}] and [{}]", fmt::join(a.tensor.sizes, ", "), fmt::join(b.tensor.sizes, ", "))};
    }
    for (std::size_t d = 0; strides && a.tensor.numel() > 0 && d < a.strides.size(); ++d) {
      if (a.tensor.sizes[d] > 1 && a.strides[d] != b.strides[d]) {
        return Disagreement{"strides",
                            fmt::format("[{}] and [{}]", fmt::join(a.strides, ", "), fmt::join(b.strides, ", "))};
      }
    }
    if (a.same_as != b.same_as || (a.tensor.numel() > 0 && a.shares_with != b.shares_with)) {
      const auto of = [](const ReturnedTensor& tensor) {
        if (tensor.same_as >= 0) return fmt::format("argument {} itself", tensor.same_as);
        if (tensor.shares_with >= 0) return fmt::format("the memory of argument {}", tensor.shares_with);
        return std::string("memory of its own");
      };
      return Disagreement{"sharing", of(a) + " and " + of(b)};
    }
    if (i >= expected.tensors.size() || a.tensor.device == kMeta) continue;
    if (auto apart = ValuesApart(expected.tensors[i], a.tensor, b.tensor)) return Disagreement{"values", *apart};
  }
  for (std::size_t i = 0; i < first.results.size() && i < second.results.size(); ++i) {
    const std::uint32_t kind = first.results[i].kind;
    const bool compared = kind == PL_TENSOR || kind == PL_LIST;  // the tensors of lists are among the others
    const bool same =
        kind == second.results[i].kind && (compared || Describe(first.results[i]) == Describe(second.results[i]));
    if (!same) {
      return Disagreement{"values", fmt::format("{} and {}", Describe(first.results[i]), Describe(second.results[i]))};
    }
  }
  return std::nullopt;
}

Agreement::Verdict Agreement::Judge(const OperatorCall& call, const Expected& expected, const Answers& answers) const {
  for (const OperatorBackend::Answer& answer : answers) {
    if (!answer.died && IsAbsent(expected, answer.outcome)) return {};
  }
  Verdict verdict{.counts = true};
  if (answers[0].died || answers[1].died) {
    verdict.disagreement = Disagreement{"death", (answers[0].died ? "the first: " : "the second: ") +
                                                     (answers[0].died ? answers[0] : answers[1]).died->what};
  } else {
    verdict.disagreement = CompareOutcomes(expected, answers[0].outcome, answers[1].outcome, StridesAreSaid(call));
  }
  if (!verdict.disagreement) return verdict;
  for (const OperatorBackend::Answer& answer : answers) {
    // What is right needs no explanation: then the difference is one of its own.
    const bool is_wrong =
        answer.died || Compare(expected, answer.outcome) || WrongChange(expected, call, answer.outcome);
    for (const OperatorDeviation* deviation : options_.accepted) {
      if (is_wrong && deviation->explains({call, expected, answer.outcome, answer.died.has_value()})) {
        return {.counts = true, .deviation = deviation};
      }
    }
  }
  return verdict;
}

Agreement::Verdict Agreement::Ask(const OperatorCall& call) {
  const std::vector<OperatorCall> one{call};
  const Answers answers{backends_[0]->Ask(one).front(), backends_[1]->Ask(one).front()};
  return Judge(call, (*OracleFor(call.op.substr(call.op.find("::") + 2)))(call), answers);
}

void Agreement::Note(const std::string& name, const OperatorCall& call, const Disagreement& disagreement) {
  const auto [found, is_new] = differences_.try_emplace({name, disagreement.kind});
  Difference& difference = found->second;
  ++difference.calls;
  if (!is_new) return;
  difference.what = disagreement.what;
  difference.smallest = Shrink(call, [&](const OperatorCall& smaller) {
    const Verdict verdict = Ask(smaller);
    if (!verdict.disagreement || verdict.disagreement->kind != disagreement.kind) return false;
    difference.what = verdict.disagreement->what;
    return true;
  });
}

void Agreement::Try(const std::string& name, std::uint32_t dtype, int calls) {
  const Oracle& oracle = *OracleFor(name);
  const CallDrawer& drawer = *CallDrawerFor(name);
  Draw draw(harness::HashOf(fmt::format("{} {}", name, dtype), options_.seed));
  for (int made = 0; made < calls;) {
    std::vector<OperatorCall> batch;
    for (; made < calls && batch.size() < kBatch; ++made) batch.push_back(drawer("aten::" + name, dtype, draw));
    const std::vector<OperatorBackend::Answer> first = backends_[0]->Ask(batch), second = backends_[1]->Ask(batch);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const Verdict verdict = Judge(batch[i], oracle(batch[i]), {first[i], second[i]});
      compared_ += verdict.counts ? 1 : 0;
      if (verdict.deviation != nullptr) ++accepted_[std::string(verdict.deviation->name)];
      if (verdict.disagreement) Note(name, batch[i], *verdict.disagreement);
    }
  }
}

}  // namespace plumbline::suites
