// Runs one case on one backend and says what came of it.
//
//   CaseRunner runner(*executor, waivers, {.seed = 7, .tier = Tier::kStandard, .backend_argument = "reference"});
//   reports::CaseResult result = runner.Run(a_case);
//
// Each case starts in a fresh executor, with a seed made of the run's seed and its id. The smallest scenario of every
// failure is saved under `out`, and the finding holds the line that reruns it. Borrows executor and waivers; belongs to
// one thread.
#ifndef PLUMBLINE_CONFORMANCE_HARNESS_CASE_RUNNER_H_
#define PLUMBLINE_CONFORMANCE_HARNESS_CASE_RUNNER_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "conformance/harness/case.h"
#include "conformance/harness/executor.h"
#include "conformance/harness/waivers.h"
#include "reports/result/result.h"

namespace plumbline::harness {

struct CaseRunnerOptions {
  std::uint64_t seed = 1;
  Tier tier = Tier::kStandard;
  std::string command = "check";   // whose case it is, for the line that reruns
  std::string backend_argument{};  // what --backend was given, for the line that reruns
  std::string more_arguments{};    // " --release ... --load ...", likewise
  std::string case_arguments{};    // " --profile ...": what selects the cases, for lines that rerun a whole one
  std::string out{};               // where failing scenarios are saved; empty: they are not
  bool shrink = true;              // false: a failure is reported as it was found, for those who only count
};

class CaseRunner {
 public:
  CaseRunner(Executor& executor, const Waivers& waivers, CaseRunnerOptions options)
      : executor_(executor), waivers_(waivers), options_(std::move(options)) {}

  reports::CaseResult Run(const Case& one);

 private:
  Executor& executor_;
  const Waivers& waivers_;
  const CaseRunnerOptions options_;
};

// The line that reruns a whole case.
std::string RerunLine(const CaseRunnerOptions& options, const Case& one);

// A number that depends on all of the text and on nothing else: seeds, shards.
std::uint64_t HashOf(std::string_view text, std::uint64_t seed);

// Whether what is named so belongs to this shard, counted from 1: by its own name, so that it is in the same shard
// whatever else there is.
bool InShard(std::string_view name, int shard, int shards);

// A word as a shell takes it.
std::string ShellWord(const std::string& word);

// A path as a shell takes it and no program takes for an option: ./-o/a.scn for -o/a.scn.
std::string ShellPath(const std::string& path);

}  // namespace plumbline::harness

#endif  // PLUMBLINE_CONFORMANCE_HARNESS_CASE_RUNNER_H_
