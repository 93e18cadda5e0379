#include "conformance/suites/operators/operator_cases.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "conformance/harness/data_folder.h"
#include "conformance/suites/operators/draw_calls.h"
#include "conformance/suites/operators/judge_changes.h"
#include "conformance/suites/operators/operator_backend.h"
#include "conformance/suites/operators/oracle.h"
#include "conformance/suites/operators/program_cases.h"
#include "conformance/suites/operators/shrink_call.h"
#include "conformance/suites/operators/tensor_program.h"
#include "spec/abi/error.h"

namespace plumbline::suites {
namespace {

using harness::CaseContext;
using harness::Tier;

constexpr std::size_t kBatch = 32;

// What is wrong with a call, in words; empty: nothing.
struct Judged {
  std::optional<std::string> wrong;
  reports::Verdict verdict = reports::Verdict::kFail;
  bool unsupported = false;
};
Judged Judge(const Oracle& oracle, const OperatorCall& call, const OperatorBackend::Answer& answer) {
  Judged judged;
  if (answer.died) {
    judged.wrong = answer.died->what;
    judged.verdict = answer.died->verdict;
    return judged;
  }
  const Expected expected = oracle(call);
  const OperatorOutcome& outcome = answer.outcome;
  const bool absent = outcome.error_class == PL_ERROR_NO_KERNEL || outcome.error_class == PL_ERROR_NOT_FOUND ||
                      outcome.error_class == PL_ERROR_UNSUPPORTED;
  // A backend may lack any dtype, also where the call has another fault.
  const bool no_dtype =
      outcome.error_class == PL_ERROR_NO_DTYPE &&
      std::find(expected.errors.begin(), expected.errors.end(), PL_ERROR_NO_DTYPE) == expected.errors.end();
  if (absent || no_dtype) {
    judged.unsupported = true;
    return judged;
  }
  judged.wrong = Compare(expected, outcome);
  if (judged.wrong) return judged;
  judged.wrong = WrongChange(expected, call, answer.outcome);
  return judged;
}

void RunCase(CaseContext& ctx, const std::string& name, const Oracle& oracle, const CallDrawer& drawer,
             const OperatorOptions& options) {
  OperatorBackend backend(ctx.executor(), options.device);
  if (!backend.broken().empty()) return ctx.Broken(backend.broken());
  const int runs = ctx.tier() == Tier::kQuick ? 24 : ctx.tier() == Tier::kStandard ? 240 : 2400;
  // What only elements tell a meta tensor may be refused for or not.
  const Oracle asked = [&](const OperatorCall& call) {
    Expected expected = oracle(call);
    if (options.device == kMeta && expected.by_elements) expected.errors.push_back(PL_ERROR_NONE);
    return expected;
  };
  Draw draw(ctx.seed());
  std::uint64_t tried = 0;
  for (const std::uint32_t dtype : kDtypes) {
    std::uint64_t done = 0;
    for (int run = 0; run < runs;) {
      std::vector<OperatorCall> calls;
      for (; run < runs && calls.size() < kBatch; ++run) calls.push_back(drawer("aten::" + name, dtype, draw));
      const std::vector<OperatorBackend::Answer> answers = backend.Ask(calls);
      for (std::size_t i = 0; i < calls.size(); ++i) {
        const Judged judged = Judge(asked, calls[i], answers[i]);
        if (judged.unsupported) continue;
        ++done;
        if (!judged.wrong) continue;
        const OperatorCall smallest = Shrink(calls[i], [&](const OperatorCall& smaller) {
          const Judged again = Judge(asked, smaller, backend.Ask({smaller}).front());
          return again.wrong.has_value() && again.verdict == judged.verdict;
        });
        const Judged last = Judge(asked, smallest, backend.Ask({smallest}).front());
        reports::Finding finding;
        finding.summary = last.wrong.value_or(*judged.wrong);
        finding.expected = "what the operator's clauses say";
        finding.got = last.wrong.value_or(*judged.wrong);
        finding.scenario = PrintTensorProgram(ProgramOf(smallest, smallest.op));
        finding.rerun = ReplayLine(ctx, finding.scenario, options.device);
        ctx.Tried(tried + done);
        return ctx.Fail(std::move(finding), judged.verdict);
      }
    }
    tried += done;
  }
  ctx.Tried(tried);
  if (tried == 0) ctx.Unsupported(name);
}

}  // namespace

std::vector<harness::Case> OperatorCases(const OperatorOptions& options) {
  std::vector<harness::Case> cases = ProgramCases(harness::CorpusFolder(), options.device);
  for (const std::string& name : OracleNames()) {
    const Oracle* const oracle = OracleFor(name);
    const CallDrawer* const drawer = CallDrawerFor(name);
    if (drawer == nullptr) continue;
    cases.push_back(
        {.id = "operators/" + name,
         .chapter = "operators",
         .clauses = {},
         .tier = Tier::kQuick,
         .needs = kWithOperators,
         .sampled = false,
         .where = __FILE__,
         .run = [name, oracle, drawer, options](CaseContext& ctx) { RunCase(ctx, name, *oracle, *drawer, options); }});
  }
  return cases;
}

}  // namespace plumbline::suites
