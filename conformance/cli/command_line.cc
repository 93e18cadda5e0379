#include "conformance/cli/command_line.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "conformance/harness/backend_file.h"
#include "conformance/harness/case_runner.h"

namespace plumbline::cli {

std::optional<int> ParseCommandLine(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    app.exit(help);
    return kGood;
  } catch (const CLI::ParseError& error) {
    return Complain(app, fmt::format("{}\nSee {} --help.", error.what(), app.get_name()));
  }
  return std::nullopt;
}

int Complain(const CLI::App& app, const std::string& message) {
  fmt::print(stderr, "{}: {}\n", app.get_name(), message);
  return kBadInput;
}

void BackendOptions::AddTo(CLI::App& app, bool required) {
  app.add_option("-b,--backend", backend,
                 "the backend: a name (`plumbline list backends` shows them) or the path of a shared object")
      ->required(required)
      ->type_name("NAME|FILE");
  app.add_option("--release", release,
                 "the PyTorch release whose rules hold, such as pytorch-1.13; else the backend's own")
      ->type_name("NAME");
  app.add_option("--load", load,
                 "a library of your own that the backend loads first, such as a PyTorch extension; repeatable")
      ->type_name("FILE")
      ->allow_extra_args(false);
  app.add_option("--fault", fault, "switch on a planted fault, where the backend has any")->type_name("NAME");
  app.add_option("--timeout", timeout_s, "seconds that one scenario may take")
      ->type_name("SECONDS")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
}

harness::OrError<harness::ExecutorConfig> BackendOptions::Config() const {
  harness::OrError<std::string> path = harness::FindBackend(backend);
  if (!path.ok()) return harness::InputError{path.error()};
  harness::ExecutorConfig config{.path = *path,
                                 .release = release,
                                 .load = {},
                                 .fault = fault,
                                 .limit = std::chrono::milliseconds(std::llround(timeout_s * 1000))};
  for (const std::string& file : load) {
    std::error_code failed;
    config.load.push_back(std::filesystem::absolute(file, failed).lexically_normal().string());
  }
  return config;
}

std::string BackendOptions::MoreArguments() const {
  std::string text;
  if (!release.empty()) text += " --release " + harness::ShellWord(release);
  for (const std::string& file : load) text += " --load " + harness::ShellWord(file);
  if (!fault.empty()) text += " --fault " + harness::ShellWord(fault);
  return text;
}

bool Colours(int file_descriptor, bool no_color) {
  return !no_color && std::getenv("NO_COLOR") == nullptr && isatty(file_descriptor) == 1;
}

}  // namespace plumbline::cli
