// One fuzz target while it runs under libFuzzer, in a process of its own.
//
//   TargetRun run(target, {.seconds = 60, .corpus = "kept/schema_text", .failures = "plumbline-failures"});
//   if (auto wrong = run.Start()) return Complain(*wrong);
//   while (!run.done()) { poll(run.descriptor()); run.Pump(); }
//   for (const std::string& file : run.output().findings) ...
//
// Owns the process and the pipe of what it says; ends it when destroyed. For one thread.
#ifndef PLUMBLINE_FUZZ_CLI_TARGET_RUN_H_
#define PLUMBLINE_FUZZ_CLI_TARGET_RUN_H_

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "fuzz/cli/engine_output.h"
#include "fuzz/cli/targets.h"

namespace plumbline::fuzz {

struct TargetRunOptions {
  int seconds = 60;
  std::string corpus;    // new inputs are kept here, and those that are there are begun with
  std::string failures;  // the folder of inputs that break the property
};

class TargetRun {
 public:
  TargetRun(Target target, TargetRunOptions options) : target_(std::move(target)), options_(std::move(options)) {}
  ~TargetRun();
  TargetRun(const TargetRun&) = delete;
  TargetRun& operator=(const TargetRun&) = delete;

  std::optional<std::string> Start();  // why it cannot
  void Pump();                         // reads what there is to read; does not wait
  void Stop();                         // asks it to end

  bool done() const { return done_; }
  int descriptor() const { return pipe_; }
  const Target& target() const { return target_; }
  const EngineOutput& output() const { return output_; }
  double seconds() const;  // that it has run
  double SecondsLeft() const { return options_.seconds > seconds() ? options_.seconds - seconds() : 0; }
  double ExecutionsPerSecond() const;
  std::uint64_t new_inputs() const { return new_inputs_; }
  // It ended by itself without a finding, and not well.
  bool failed() const { return done_ && !stopped_ && exit_status_ != 0 && output_.findings.empty(); }
  std::string LastLines() const;  // of what it said

 private:
  void Finish();
  void TakeLine(const std::string& line);

  Target target_;
  TargetRunOptions options_;
  pid_t process_ = -1;
  int pipe_ = -1;
  int exit_status_ = 0;
  bool done_ = false, stopped_ = false;
  std::chrono::steady_clock::time_point began_, ended_, last_progress_;
  std::string partial_;
  std::deque<std::string> last_lines_;
  EngineOutput output_;
  std::uint64_t inputs_before_ = 0, new_inputs_ = 0;
};

}  // namespace plumbline::fuzz

#endif  // PLUMBLINE_FUZZ_CLI_TARGET_RUN_H_
