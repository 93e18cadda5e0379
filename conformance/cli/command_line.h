// What the programs share: how they read options, complain, and colour.
//
//   CLI::App app("...", "plumbline check");
//   BackendOptions backend; backend.AddTo(app);
//   if (auto status = ParseCommandLine(app, argc, argv)) return *status;
//   OrError<ExecutorConfig> config = backend.Config();
//
// Exit statuses: 0 good, 1 something failed, 2 bad input or a fault of the suite. For one thread.
#ifndef PLUMBLINE_CONFORMANCE_CLI_COMMAND_LINE_H_
#define PLUMBLINE_CONFORMANCE_CLI_COMMAND_LINE_H_

#include <CLI/CLI.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/harness/executor.h"
#include "conformance/harness/or_error.h"

namespace plumbline::cli {

inline constexpr int kGood = 0, kFailed = 1, kBadInput = 2;

// The status to leave with, if it is not to go on: after --help, or with 2 for what the options do not allow.
std::optional<int> ParseCommandLine(CLI::App& app, int argc, char** argv);

// Says on standard error what is wrong with the input; 2.
int Complain(const std::string& program, const std::string& message);
int Complain(const CLI::App& app, const std::string& message);

// ---- values of options, each refused with the values that there are ----

CLI::Validator Choice(std::vector<std::string> names);
CLI::Validator WholeNumber(std::uint64_t least, std::uint64_t most);
CLI::Validator Seconds();

// Digits only, and nothing beside them.
std::optional<std::uint64_t> ReadNumber(std::string_view text);

// Options that several programs have.
void AddSeed(CLI::App& app, std::uint64_t& seed);
void AddJobs(CLI::App& app, int& jobs);
void AddTimeout(CLI::App& app, double& seconds);
void AddNoColor(CLI::App& app, bool& no_color);

// --shard I/N: one part of a run that several machines share. `joins`: what joins the parts.
struct Shard {
  int number = 1, count = 1;
};
void AddShard(CLI::App& app, std::string& shard, const std::string& joins);
// All of the run, of an empty text.
harness::OrError<Shard> ReadShard(const std::string& text);

std::string Today();  // "2026-11-29", in UTC: what waivers expire by

// --show: how many root failures a summary shows in full.
void AddShow(CLI::App& app, std::size_t& shown);

// --backend, --release, --load, --fault and --timeout.
struct BackendOptions {
  std::string backend, release, fault;
  std::vector<std::string> load;
  double timeout_s = 10;

  void AddTo(CLI::App& app, bool required = true);
  harness::OrError<harness::ExecutorConfig> Config() const;
  std::string MoreArguments() const;  // " --release R --load L", as a shell takes them
};

// Starts the backend and says on standard error what a user should know of it, such as a library that registers
// nothing.
harness::OrError<std::unique_ptr<harness::Executor>> StartBackend(const CLI::App& app,
                                                                  const harness::ExecutorConfig& config);
void PrintNotes(const CLI::App& app, const harness::BackendFacts& facts);

// True if colours are wanted there: a terminal, and neither NO_COLOR nor --no-color.
bool Colours(int file_descriptor, bool no_color);

}  // namespace plumbline::cli

#endif  // PLUMBLINE_CONFORMANCE_CLI_COMMAND_LINE_H_
