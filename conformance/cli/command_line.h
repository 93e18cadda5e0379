// What the programs share beside harness/arguments.h: the options that several have, and colours.
//
//   CLI::App app("...", "plumbline check");
//   BackendOptions backend; backend.AddTo(app);
//   if (auto status = ParseCommandLine(app, argc, argv)) return *status;
//   OrError<ExecutorConfig> config = backend.Config();
//
// For one thread.
#ifndef PLUMBLINE_CONFORMANCE_CLI_COMMAND_LINE_H_
#define PLUMBLINE_CONFORMANCE_CLI_COMMAND_LINE_H_

#include <CLI/CLI.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "conformance/harness/arguments.h"
#include "conformance/harness/executor.h"
#include "conformance/harness/or_error.h"

namespace plumbline::cli {

using harness::Choice;
using harness::Complain;
using harness::kBadInput;
using harness::kFailed;
using harness::kGood;
using harness::ParseCommandLine;
using harness::ReadNumber;
using harness::RefuseIdle;
using harness::WholeNumber;

CLI::Validator Seconds();

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

// --filter and --case, of which one picks the cases: 2 if both were given.
void AddFilter(CLI::App& app, std::vector<std::string>& filters, const std::string& what);
void AddCase(CLI::App& app, std::vector<std::string>& cases, const std::string& what);
std::optional<int> RefuseFilterBesideCase(const CLI::App& app);

// What --profile takes.
inline constexpr const char *kDispatcher = "dispatcher", *kOperators = "operators";

std::string Today();  // "2026-11-29", in UTC: what waivers expire by

// What --list, which runs nothing, leaves without effect: options about results. Those about how to run stay, so that a
// command line can be tried with --list at its end.
inline const std::vector<std::string> kOfResults = {"--report", "--show", "--verbose"};
inline constexpr const char* kBesideList = "beside --list, which runs nothing";

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
