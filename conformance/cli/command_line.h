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
#include <optional>
#include <string>
#include <vector>

#include "conformance/harness/executor.h"
#include "conformance/harness/or_error.h"

namespace plumbline::cli {

inline constexpr int kGood = 0, kFailed = 1, kBadInput = 2;

// The status to leave with, if it is not to go on: after --help, or with 2 for what the options do not allow.
std::optional<int> ParseCommandLine(CLI::App& app, int argc, char** argv);

// Says on standard error what is wrong with the input; 2.
int Complain(const CLI::App& app, const std::string& message);

// --backend, --release, --load, --fault and --timeout.
struct BackendOptions {
  std::string backend, release, fault;
  std::vector<std::string> load;
  double timeout_s = 10;

  void AddTo(CLI::App& app, bool required = true);
  harness::OrError<harness::ExecutorConfig> Config() const;
  std::string MoreArguments() const;  // " --release R --load L", as a shell takes them
};

// True if colours are wanted there: a terminal, and neither NO_COLOR nor --no-color.
bool Colours(int file_descriptor, bool no_color);

}  // namespace plumbline::cli

#endif  // PLUMBLINE_CONFORMANCE_CLI_COMMAND_LINE_H_
