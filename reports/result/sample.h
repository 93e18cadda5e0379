// A run with one of everything, for the tests of the reports.
#ifndef PLUMBLINE_REPORTS_RESULT_SAMPLE_H_
#define PLUMBLINE_REPORTS_RESULT_SAMPLE_H_

#include "reports/result/result.h"

namespace plumbline::reports {

inline Run SampleRun() {
  Run run;
  run.suite_version = "0.1.0";
  run.tier = "quick";
  run.seed = 18446744073709551615u;
  run.backend = {.name = "toy",
                 .version = "1.0",
                 .release = "pytorch-1.13",
                 .abi = "1.0",
                 .digest = "abc",
                 .capabilities = {"core"},
                 .loaded = {}};
  run.clauses = {{.id = "RES-001",
                  .title = "The newest kernel answers",
                  .strength = "MUST",
                  .profile = "core",
                  .chapter = "resolution",
                  .text = "Text with <angle> & \"quotes\".",
                  .needs = {},
                  .where = "spec/clauses/02-resolution.md:7",
                  .tests = {"spec/corpus/resolution/RES-001-newest.scn:3"},
                  .model = {"spec/model/resolve.cc:40"},
                  .faults = {"reference/faults/faults.h:9"}},
                 {.id = "RES-002",
                  .title = "Nobody tests this",
                  .strength = "SHOULD",
                  .profile = "core",
                  .chapter = "resolution",
                  .text = "",
                  .needs = {"RES-001"},
                  .where = "",
                  .tests = {},
                  .model = {},
                  .faults = {}}};
  const Finding finding{.summary = "step 3 differs",
                        .scenario = "scenario 1 pytorch-1.13\ncall a::f [CPU] => k2\n",
                        .line = 2,
                        .expected = "k2",
                        .got = "k1 & <nothing>",
                        .rule = "RES-001: the newest kernel answers",
                        .rerun = "plumbline check --backend toy --case resolution/b",
                        .clauses = {"RES-001"}};
  CaseResult pass{.id = "resolution/a", .chapter = "resolution", .clauses = {"RES-001"}};
  pass.verdict = Verdict::kPass;
  pass.scenarios = 10;
  pass.accepted_by_deviation = {{"stale", 2}};
  CaseResult fail = pass;
  fail.id = "resolution/b";
  fail.verdict = Verdict::kFail;
  fail.accepted_by_deviation.clear();
  fail.findings = {finding};
  CaseResult blocked = fail;
  blocked.id = "resolution/c";
  blocked.verdict = Verdict::kCrash;
  blocked.blocked_by = "resolution/b";
  CaseResult unsupported{.id = "chains/a", .chapter = "chains", .clauses = {"CHAIN-001"}};
  unsupported.verdict = Verdict::kUnsupported;
  unsupported.missing_capabilities = {"chains"};
  CaseResult waived = fail;
  waived.id = "tls/a";
  waived.chapter = "tls";
  waived.clauses = {"TLS-001"};
  waived.verdict = Verdict::kWaived;
  waived.waiver = "W1";
  waived.waived_clauses = {"TLS-001"};
  run.cases = {fail, pass, blocked, unsupported, waived};
  run.waivers = {{.id = "W1",
                  .clause = "TLS-001",
                  .cause = "bug",
                  .reference = "finds.md",
                  .expires = "2099-01-01",
                  .used = 1,
                  .problem = ""}};
  run.waiver_files = {"toy.waivers.toml"};
  return run;
}

}  // namespace plumbline::reports

#endif  // PLUMBLINE_REPORTS_RESULT_SAMPLE_H_
