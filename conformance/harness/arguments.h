// Command lines: read, and complained of as a user needs it.
//
//   CLI::App app("...", "plumbline check");
//   app.add_option("--seconds", seconds, "how long")->check(Duration(0.001, 86400, "seconds"))->type_name("SECONDS");
//   if (auto status = ParseCommandLine(app, argc, argv)) return *status;
//   if (list) {
//     if (auto status = RefuseIdle(app, {"--seconds"}, "beside --list, which runs nothing")) return *status;
//   }
//
// What is given has an effect or is refused; never is it ignored. Exit statuses: 0 good, 1 something failed, 2 bad
// input or a fault of the suite. For one thread.
#ifndef PLUMBLINE_CONFORMANCE_HARNESS_ARGUMENTS_H_
#define PLUMBLINE_CONFORMANCE_HARNESS_ARGUMENTS_H_

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace plumbline::harness {

inline constexpr int kGood = 0, kFailed = 1, kBadInput = 2;

// The status to leave with, if it is not to go on: after --help, or with 2 for what the options do not allow. No option
// may be given an empty text.
std::optional<int> ParseCommandLine(CLI::App& app, int argc, char** argv);

// 2, if one of these was given; `when` says why it would be ignored: "beside FILE, ..." or "without --backend".
std::optional<int> RefuseIdle(const CLI::App& app, const std::vector<std::string>& options, const std::string& when);

// Says on standard error what is wrong with the input; 2.
int Complain(const std::string& program, const std::string& message);
int Complain(const CLI::App& app, const std::string& message);

// ---- values of options, each refused with the values that there are ----

CLI::Validator Choice(std::vector<std::string> names);
CLI::Validator WholeNumber(std::uint64_t least, std::uint64_t most);
CLI::Validator Duration(double least, double most, std::string unit);

// Digits only, and nothing beside them.
std::optional<std::uint64_t> ReadNumber(std::string_view text);

}  // namespace plumbline::harness

#endif  // PLUMBLINE_CONFORMANCE_HARNESS_ARGUMENTS_H_
