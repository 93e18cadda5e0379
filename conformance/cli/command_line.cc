#include "conformance/cli/command_line.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <limits>
#include <utility>

#include "conformance/cli/paint.h"
#include "conformance/harness/backend_file.h"
#include "conformance/harness/case_runner.h"

namespace plumbline::cli {

CLI::Validator Seconds() { return harness::Duration(0.001, 86400, "seconds"); }

void AddSeed(CLI::App& app, std::uint64_t& seed) {
  app.add_option("--seed", seed, "where all randomness comes from")
      ->transform(WholeNumber(0, std::numeric_limits<std::uint64_t>::max()))
      ->type_name("N")
      ->capture_default_str();
}

void AddJobs(CLI::App& app, int& jobs) {
  app.add_option("-j,--jobs", jobs, "workers at a time")
      ->transform(WholeNumber(1, 1024))
      ->type_name("N")
      ->capture_default_str();
}

void AddShard(CLI::App& app, std::string& shard, const std::string& joins) {
  app.add_option("--shard", shard, "run part I of N, counted from 1; " + joins)->type_name("I/N");
}

void AddFilter(CLI::App& app, std::vector<std::string>& filters, const std::string& what) {
  app.add_option("-f,--filter", filters, what)->type_name("WORD")->allow_extra_args(false);
}

void AddCase(CLI::App& app, std::vector<std::string>& cases, const std::string& what) {
  app.add_option("--case", cases, what)->type_name("ID")->allow_extra_args(false);
}

std::optional<int> RefuseFilterBesideCase(const CLI::App& app) {
  if (app.count("--filter") == 0 || app.count("--case") == 0) return std::nullopt;
  return Complain(app,
                  fmt::format("--case names each case that runs, so --filter beside it picks none; give one of the "
                              "two\nSee {} --help.",
                              app.get_name()));
}

harness::OrError<Shard> ReadShard(const std::string& text) {
  constexpr std::uint64_t kMost = 1'000'000;
  if (text.empty()) return Shard{};
  const std::size_t slash = std::min(text.find('/'), text.size());
  const auto shard = ReadNumber(text.substr(0, slash));
  const auto shards = ReadNumber(slash < text.size() ? text.substr(slash + 1) : "");
  if (!shard || !shards || *shards > kMost || *shard < 1 || *shard > *shards) {
    return harness::InputError{fmt::format("--shard {}: give I/N with I from 1 to N, such as 1/4", text)};
  }
  return Shard{.number = static_cast<int>(*shard), .count = static_cast<int>(*shards)};
}

std::string Today() {
  const std::time_t now = std::time(nullptr);
  char text[16];
  std::strftime(text, sizeof(text), "%Y-%m-%d", std::gmtime(&now));
  return text;
}

void AddTimeout(CLI::App& app, double& seconds) {
  app.add_option("--timeout", seconds,
                 "seconds that one scenario may take; to load the backend, 12 times as many, and 10 at least")
      ->check(Seconds())
      ->type_name("SECONDS")
      ->capture_default_str();
}

void AddNoColor(CLI::App& app, bool& no_color) {
  app.add_flag("--no-color", no_color, "no colours, even on a terminal");
}

void AddShow(CLI::App& app, std::size_t& shown) {
  const auto read = [](std::string& text) -> std::string {
    if (text == "all") text = std::to_string(std::numeric_limits<std::size_t>::max());
    const std::optional<std::uint64_t> number = ReadNumber(text);
    if (!number) return fmt::format("'{}' is neither a number nor all", text);
    text = std::to_string(*number);
    return "";
  };
  app.add_option("--show", shown, "how many root failures are shown in full; the others are named")
      ->transform(CLI::Validator(read, ""))
      ->type_name("N|all")
      ->capture_default_str();
}

void BackendOptions::AddTo(CLI::App& app, bool required) {
  app.add_option("-b,--backend", backend,
                 "a backend's name (`plumbline list backends` shows them) or the path of its shared object")
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
  AddTimeout(app, timeout_s);
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
  for (const std::string& file : load) text += " --load " + harness::ShellPath(file);
  if (!fault.empty()) text += " --fault " + harness::ShellWord(fault);
  if (timeout_s != BackendOptions().timeout_s) text += fmt::format(" --timeout {}", timeout_s);
  return text;
}

harness::OrError<std::unique_ptr<harness::Executor>> StartBackend(const CLI::App& app,
                                                                  const harness::ExecutorConfig& config) {
  auto executor = harness::Executor::Start(config);
  if (executor.ok()) PrintNotes(app, (*executor)->facts());
  return executor;
}

void PrintNotes(const CLI::App& app, const harness::BackendFacts& facts) {
  for (const std::string& path : facts.loaded_for_nothing) {
    Print(stderr,
          "{}: note: --load {} registered nothing new: no operator, no fallback, and no kernel at a key where the "
          "operator had none. Is it the right library?\n",
          app.get_name(), path);
  }
}

bool Colours(int file_descriptor, bool no_color) {
  return !no_color && std::getenv("NO_COLOR") == nullptr && isatty(file_descriptor) == 1;
}

}  // namespace plumbline::cli
