// plumbline: runs plumbline-COMMAND, which stands beside it, as git does.

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "conformance/cli/paint.h"
#include "conformance/harness/backend_file.h"
#include "conformance/harness/nearest.h"
#include "conformance/harness/run_main.h"

namespace plumbline::cli {
namespace {

namespace fs = std::filesystem;

// In the order in which a newcomer meets them. Programs that are not built here are left out.
constexpr std::pair<const char*, const char*> kCommands[] = {
    {"check", "check a backend against the spec"},
    {"list", "list cases, clauses, faults, capabilities and backends"},
    {"race", "hunt for what breaks when threads register and call at once"},
    {"replay", "run scenario files and tensor programs on a backend, step by step"},
    {"explain", "say why a kernel did or did not run, rule by rule"},
    {"keys", "print a backend's dispatch keys in order"},
    {"probe", "print which operators a device computes, dtype by dtype"},
    {"agree", "say where two backends compute otherwise than each other"},
    {"dump", "print what is registered for an operator, and its table"},
    {"prove", "show that the suites catch every planted fault"},
    {"fuzz", "make up inputs for the readers, the reference and the schedules of threads (see ./dev fuzz)"},
    {"report", "show, merge and compare reports"},
    {"new-adapter", "write the start of a backend of your own"},
    {"bench", "measure the time that each operation of a backend takes"},
    {"instructions", "run the same operations for callgrind to count (see ./dev bench)"},
};

std::string Program(const std::string& command) { return harness::ProgramFolder() + "/plumbline-" + command; }

bool IsBuilt(const std::string& command) { return access(Program(command).c_str(), X_OK) == 0; }

// The known commands, then whatever else stands beside this program.
std::vector<std::pair<std::string, std::string>> Commands() {
  std::vector<std::pair<std::string, std::string>> commands;
  for (const auto& [name, purpose] : kCommands) {
    if (IsBuilt(name)) commands.emplace_back(name, purpose);
  }
  std::vector<std::pair<std::string, std::string>> others;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(harness::ProgramFolder(), failed)) {
    const std::string file = entry.path().filename().string();
    if (!file.starts_with("plumbline-") || access(entry.path().c_str(), X_OK) != 0) continue;
    const std::string name = file.substr(std::strlen("plumbline-"));
    const bool known =
        std::any_of(commands.begin(), commands.end(), [&](const auto& one) { return one.first == name; });
    if (!known) others.emplace_back(name, "");
  }
  std::sort(others.begin(), others.end());
  commands.insert(commands.end(), others.begin(), others.end());
  return commands;
}

void PrintHelp(std::FILE* to) {
  Print(to,
        "Plumbline checks tensor dispatchers and autograd runtimes against a written spec.\n"
        "\n"
        "usage: plumbline COMMAND [ARGUMENTS]\n"
        "\n");
  for (const auto& [name, purpose] : Commands()) Print(to, "  {:<13} {}\n", name, purpose);
  Print(to,
        "\n"
        "`plumbline COMMAND --help` says more. To begin with:\n"
        "\n"
        "  plumbline check --backend reference\n"
        "  plumbline check --backend ./libmine.so\n"
        "\n"
        "Exit status: 0 good, 1 something failed the check, 2 bad input or a fault of the suite.\n");
}

int Main(int argc, char** argv) {
  if (argc < 2) {
    PrintHelp(stderr);
    return 2;
  }
  const std::string command = argv[1];
  if (command == "--help" || command == "-h" || command == "help") {
    PrintHelp(stdout);
    return 0;
  }
  if (command == "--version") {
    Print("plumbline {}\n", PLUMBLINE_VERSION);
    return 0;
  }
  if (command.empty() || command.find('/') != std::string::npos || !IsBuilt(command)) {
    std::vector<std::string> names;
    std::string all;
    for (const auto& [name, purpose] : Commands()) {
      names.push_back(name);
      all += (all.empty() ? "" : ", ") + name;
    }
    const bool known =
        std::any_of(std::begin(kCommands), std::end(kCommands), [&](const auto& one) { return command == one.first; });
    if (known) {
      Print(stderr, "plumbline: '{}' is not built in {}; `{}` builds it\n", command, harness::ProgramFolder(),
            command == "fuzz" ? "./dev fuzz" : "./dev build");
      return 2;
    }
    Print(stderr, "plumbline: there is no command '{}'{}\nThe commands are {}; see plumbline --help.\n", command,
          harness::DidYouMean(command, names), all);
    return 2;
  }
  const std::string program = Program(command);
  argv[1] = const_cast<char*>(program.c_str());
  execv(program.c_str(), argv + 1);
  Print(stderr, "plumbline: cannot run {}: {}\n", program, std::strerror(errno));
  return 2;
}

}  // namespace
}  // namespace plumbline::cli

int main(int argc, char** argv) { return plumbline::harness::RunMain(&plumbline::cli::Main, argc, argv); }
