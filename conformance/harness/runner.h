// Runs the suites on a backend: selects cases, spreads them over workers, and makes the run of it that reports are
// written from.
//
//   OrError<SuiteRun> done = RunSuite(options, std::move(cases));
//   if (!done.ok()) ...                       // bad input: an unusable backend, a filter that selects nothing
//   return ExitStatus(done->run);
//
// A worker is a process (isolation.h), so that even a case that breaks the harness costs only itself. The result does
// not depend on the number of workers. Call it before this process has other threads.
#ifndef PLUMBLINE_CONFORMANCE_HARNESS_RUNNER_H_
#define PLUMBLINE_CONFORMANCE_HARNESS_RUNNER_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "conformance/harness/case.h"
#include "conformance/harness/case_runner.h"
#include "conformance/harness/executor.h"
#include "conformance/harness/or_error.h"
#include "conformance/harness/waivers.h"
#include "reports/result/result.h"

namespace plumbline::harness {

struct SuiteOptions {
  ExecutorConfig executor;
  CaseRunnerOptions cases;  // seed, tier, and how to rerun
  std::vector<std::string>
      filters;  // any of them selects: a glob over ids (glob.h), a clause in any letter case, a chapter
  std::vector<std::string> ids;  // exact; selected whatever their tier
  int shard = 1, shards = 1;     // counted from 1
  int jobs = 2;
  std::size_t most_timeouts = 0;  // after so many cases that timed out the rest is not run; 0: it is
  Waivers waivers;
  std::vector<std::string> waiver_files;  // that these are from, by file name
  bool shipped_waivers = false;           // instead of them those that are shipped with the backend, if any are
  std::string suite;                      // whose shipped waivers: "race"; empty: the main suite's
  DeviationNames deviations = DeviationsOfModel();  // that these waivers may be about
  std::vector<reports::Clause> clauses;             // of the index; may be empty
  std::string today;                                // "2026-11-29", for waivers
  // Called when a case is done, from one thread at a time.
  std::function<void(std::size_t done, std::size_t total, const reports::CaseResult& result)> progress;
};

struct SuiteRun {
  BackendFacts facts;
  reports::Run run;
  reports::SideNotes notes;
};

OrError<SuiteRun> RunSuite(const SuiteOptions& options, std::vector<Case> cases);

// The cases that options select, in order. The error names what selects nothing.
OrError<std::vector<Case>> SelectCases(const SuiteOptions& options, const std::vector<Case>& cases);

// 0: all passed, were waived or are unsupported; 1: something failed; 2: something is wrong with suite or waivers.
int ExitStatus(const reports::Run& run);

const char* Spelling(Tier tier);

}  // namespace plumbline::harness

#endif  // PLUMBLINE_CONFORMANCE_HARNESS_RUNNER_H_
