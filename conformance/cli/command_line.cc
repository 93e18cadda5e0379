#include "conformance/cli/command_line.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <limits>
#include <utility>

#include "conformance/cli/paint.h"
#include "conformance/harness/backend_file.h"
#include "conformance/harness/case_runner.h"
#include "conformance/harness/nearest.h"
#include "reports/text/counted.h"

namespace plumbline::cli {
namespace {

// As a user writes it: "--seed", or "FILE" for what has no name on the command line.
std::string NameOf(const CLI::Option& option) {
  return option.get_positional() ? option.get_type_name() : option.get_name();
}

std::vector<std::string> NamesOfOptions(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

std::vector<std::string> NamesOfCommands(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

// The option that the library's message is about: it starts with the name, or holds it.
const CLI::Option* OptionIn(const CLI::App& app, const std::string& message) {
  const CLI::Option* found = nullptr;
  for (const CLI::Option* option : app.get_options()) {
    if (message.starts_with(option->get_name() + ":")) return option;
    if (message.find(" " + option->get_name() + " ") != std::string::npos) found = option;
  }
  return found;
}

std::string Description(const CLI::Option& option) {
  return option.get_description().empty() ? "" : ": " + option.get_description();
}

// What the command line lacks, has too much, or has wrong; `asked` is the command of `app` that was named, or `app`.
std::string WhatIsWrong(const CLI::App& app, const CLI::App& asked, const CLI::ParseError& error) {
  for (const std::string& word : app.remaining(true)) {
    if (word.size() > 1 && word.front() == '-') {
      const std::string name = word.substr(0, word.find('='));
      return fmt::format("there is no option '{}'{}", name, harness::DidYouMean(name, NamesOfOptions(asked)));
    }
    if (&asked == &app && !app.get_subcommands({}).empty()) {
      return fmt::format("the command {}", harness::OneOf(word, NamesOfCommands(app)));
    }
    return fmt::format("'{}' is one argument too many", word);
  }
  if (&asked == &app && !app.get_subcommands({}).empty() && app.get_subcommands().empty()) {
    std::string names;
    for (const std::string& name : NamesOfCommands(app)) names += (names.empty() ? "" : ", ") + name;
    return "a command is missing; there are " + names;
  }
  const std::string message = error.what();
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
    for (const CLI::Option* option : asked.get_options()) {
      if (option->get_required() && option->count() == 0) return NameOf(*option) + " is missing" + Description(*option);
    }
  }
  const CLI::Option* option = OptionIn(asked, message);
  if (option == nullptr) return message;
  if (dynamic_cast<const CLI::ValidationError*>(&error) != nullptr) {
    return message.starts_with(option->get_name()) ? NameOf(*option) + message.substr(option->get_name().size())
                                                   : message;
  }
  const std::size_t given = option->results().size();
  if (option->get_items_expected_max() == 0) return NameOf(*option) + " takes no value";
  if (static_cast<int>(given) > option->get_items_expected_max()) {
    return fmt::format("{} is given {}; give it once", NameOf(*option), reports::Counted(given, "time"));
  }
  return fmt::format("{} needs a value, {}{}", NameOf(*option), option->get_type_name(), Description(*option));
}

}  // namespace

std::optional<int> ParseCommandLine(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    app.exit(help);
    return kGood;
  } catch (const CLI::ParseError& error) {
    const auto named = app.get_subcommands();
    const CLI::App& asked = named.empty() ? app : *named.front();
    const std::string program = named.empty() ? app.get_name() : app.get_name() + " " + asked.get_name();
    return Complain(program, fmt::format("{}\nSee {} --help.", WhatIsWrong(app, asked, error), program));
  }
  return std::nullopt;
}

int Complain(const std::string& program, const std::string& message) {
  std::fflush(stdout);
  Print(stderr, "{}: {}\n", program, message);
  return kBadInput;
}

int Complain(const CLI::App& app, const std::string& message) { return Complain(app.get_name(), message); }

std::optional<std::uint64_t> ReadNumber(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

CLI::Validator Choice(std::vector<std::string> names) {
  return {[names = std::move(names)](std::string& text) {
            return std::find(names.begin(), names.end(), text) != names.end() ? "" : harness::OneOf(text, names);
          },
          ""};
}

CLI::Validator WholeNumber(std::uint64_t least, std::uint64_t most) {
  return {[least, most](std::string& text) -> std::string {
            const std::optional<std::uint64_t> number = ReadNumber(text);
            if (!number || *number < least || *number > most) {
              return fmt::format("'{}' is no whole number from {} to {}", text, least, most);
            }
            text = std::to_string(*number);  // the library would read 010 as 8
            return "";
          },
          ""};
}

CLI::Validator Seconds() {
  return {[](std::string& text) -> std::string {
            constexpr double kLeast = 0.001, kMost = 86400;
            double seconds = 0;
            const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
            // Written so that nan is refused too.
            const bool good =
                error == std::errc() && end == text.data() + text.size() && seconds >= kLeast && seconds <= kMost;
            return good ? "" : fmt::format("'{}' is no time from {} to {:.0f} seconds", text, kLeast, kMost);
          },
          ""};
}

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
  for (const std::string& file : load) text += " --load " + harness::ShellWord(file);
  if (!fault.empty()) text += " --fault " + harness::ShellWord(fault);
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
