#include "conformance/suites/operators/operator_cases.h"

#include <string>
#include <utility>

#include "conformance/harness/data_folder.h"
#include "conformance/suites/operators/clauses_of_operator.h"
#include "conformance/suites/operators/operator_trial.h"
#include "conformance/suites/operators/program_cases.h"
#include "conformance/suites/operators/tensor_program.h"

namespace plumbline::suites {
namespace {

using harness::CaseContext;
using harness::Tier;

void RunCase(CaseContext& ctx, const std::string& name, const OperatorOptions& options) {
  OperatorBackend backend(ctx.executor(), options.device);
  if (!backend.broken().empty()) return ctx.Broken(backend.broken());
  const int runs = ctx.tier() == Tier::kQuick ? 24 : ctx.tier() == Tier::kStandard ? 240 : 2400;
  OperatorTrial trial(backend, name, options.device, ctx.seed());
  for (const OperatorDeviation& deviation : OperatorDeviations()) {
    if (ctx.Accepts(deviation.name)) trial.Accept(deviation);
  }
  std::uint64_t tried = 0;
  for (const std::uint32_t dtype : kDtypes) {
    const OperatorTrial::Tally tally = trial.Try(dtype, runs);
    tried += tally.judged;
    for (const auto& [deviation, calls] : tally.accepted) ctx.Accepted(deviation, calls);
    if (!tally.wrong) continue;
    reports::Finding finding;
    finding.summary = tally.wrong->what;
    finding.expected = "what the operator's clauses say";
    finding.got = tally.wrong->what;
    finding.scenario = PrintTensorProgram(ProgramOf(tally.wrong->smallest, tally.wrong->smallest.op));
    finding.rerun = ReplayLine(ctx, finding.scenario, options.device);
    ctx.Tried(tried);
    return ctx.Fail(std::move(finding), tally.wrong->verdict);
  }
  ctx.Tried(tried);
  if (tried == 0) ctx.Unsupported(name);
}

}  // namespace

std::vector<harness::Case> OperatorCases(const OperatorOptions& options) {
  std::vector<harness::Case> cases = ProgramCases(harness::CorpusFolder(), options.device);
  for (const std::string& name : TriedOperators()) {
    cases.push_back({.id = "operators/" + name,
                     .chapter = kOperatorsChapter,
                     .clauses = ClausesOfOperator(name),
                     .tier = Tier::kQuick,
                     .needs = kWithOperators,
                     .sampled = false,
                     .where = __FILE__,
                     .run = [name, options](CaseContext& ctx) { RunCase(ctx, name, options); }});
  }
  for (const harness::Case& one : harness::RegisteredCases()) {
    if (one.chapter == kOperatorsChapter) cases.push_back(one);
  }
  return cases;
}

}  // namespace plumbline::suites
