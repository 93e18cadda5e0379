// plumbline agree: whether two backends come to the same, operator by operator, on calls that are drawn.

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "conformance/cli/command_line.h"
#include "conformance/cli/paint.h"
#include "conformance/cli/progress.h"
#include "conformance/harness/data_folder.h"
#include "conformance/harness/executor.h"
#include "conformance/harness/run_main.h"
#include "conformance/harness/text_file.h"
#include "conformance/harness/waivers.h"
#include "conformance/suites/operators/agreement.h"
#include "conformance/suites/operators/operator_backend.h"
#include "conformance/suites/operators/operator_cases.h"
#include "conformance/suites/operators/operator_trial.h"
#include "conformance/suites/operators/program_cases.h"
#include "conformance/suites/operators/tensor_program.h"
#include "conformance/suites/service.h"
#include "reports/text/counted.h"

namespace plumbline::cli {
namespace {

using harness::OrError;
using suites::Agreement;
using suites::OperatorBackend;

struct Options {
  BackendOptions first;
  std::string second, device;
  std::vector<std::string> filters, waivers;
  std::uint64_t seed = 1;
  int calls = 60, jobs = 2;
  std::string out;
  bool no_color = false;
};

void AddTo(CLI::App& app, Options& options) {
  options.first.AddTo(app);
  app.add_option("--with", options.second, "the other backend, by name or as a shared object")
      ->required()
      ->type_name("NAME|FILE");
  app.add_option("--device", options.device, "where the tensors are, on both; else each backend's own default")
      ->type_name("DEVICE");
  app.add_option("-f,--filter", options.filters,
                 "only operators whose name matches this pattern, such as add*; repeatable")
      ->type_name("PATTERN")
      ->allow_extra_args(false);
  app.add_option("--calls", options.calls, "how many drawn calls of each operator and dtype")
      ->transform(WholeNumber(1, 100'000))
      ->type_name("N")
      ->capture_default_str();
  AddSeed(app, options.seed);
  AddJobs(app, options.jobs);
  app.add_option("--waivers", options.waivers,
                 "a file of known faults, repeatable: what they explain is no difference; else those that are shipped "
                 "with the two backends; none: without any")
      ->type_name("FILE|none")
      ->allow_extra_args(false);
  app.add_option("--out", options.out, "write a program for each difference into this folder")->type_name("DIR");
  AddNoColor(app, options.no_color);
  app.footer(
      "  plumbline agree --backend reference --with torch\n"
      "Exit status: 0 they agree, but for what waivers explain; 1 they differ; 2 bad input.");
}

// The deviations that waivers accept for one of the two. A waiver that is out of date is an error.
OrError<std::vector<const suites::OperatorDeviation*>> Accepted(const Options& options,
                                                                const std::vector<harness::BackendFacts>& both) {
  const harness::DeviationNames known = suites::OperatorDeviationNames();
  OrError<std::vector<reports::Clause>> clauses = harness::ReadClauseIndex();
  if (!clauses.ok()) return harness::InputError{clauses.error()};
  OrError<harness::GivenWaivers> given = harness::ReadGivenWaivers(options.waivers, known);
  if (!given.ok()) return harness::InputError{given.error()};
  std::set<std::string, std::less<>> accepted;
  for (const harness::BackendFacts& facts : both) {
    harness::Waivers waivers = given->waivers;
    const std::string file = harness::ShippedWaiverFile(facts, "operators");
    if (options.waivers.empty() && !file.empty()) {
      OrError<harness::Waivers> shipped = harness::ReadWaiverFile(file, known);
      if (!shipped.ok()) return harness::InputError{shipped.error()};
      waivers = std::move(*shipped);
    }
    harness::WaiverScope scope{.cases = {},
                               .clauses = {},
                               .release = facts.release,
                               .version = facts.version,
                               .today = Today(),
                               .whole = false};
    for (const reports::Clause& clause : *clauses) scope.clauses.insert(clause.id);
    for (const harness::Waiver& waiver : waivers.all) {
      if (waiver.deviation.empty() || !waiver.IsOf(facts.release)) continue;
      if (const std::string flaw = harness::Flaw(waiver, scope); !flaw.empty()) {
        return harness::InputError{
            fmt::format("{}: the waiver '{}' for {}: {}", waiver.where, waiver.id, facts.name, flaw)};
      }
      accepted.insert(waiver.deviation);
    }
  }
  std::vector<const suites::OperatorDeviation*> deviations;
  for (const suites::OperatorDeviation& deviation : suites::OperatorDeviations()) {
    if (accepted.contains(deviation.name)) deviations.push_back(&deviation);
  }
  return deviations;
}

// What one thread has compared.
struct Part {
  std::unique_ptr<harness::Executor> executors[2];
  std::unique_ptr<OperatorBackend> backends[2];
  std::unique_ptr<Agreement> agreement;
};

int Main(int argc, char** argv) {
  CLI::App app("Gives two backends with tensors the same calls, and says where they differ.", "plumbline agree");
  Options options;
  AddTo(app, options);
  if (auto status = ParseCommandLine(app, argc, argv)) return *status;
  const std::vector<std::string> names = suites::TriedOperators(options.filters);
  if (names.empty()) return Complain(app, "--filter: no operator has such a name; `plumbline probe` prints the names");
  if (!options.out.empty()) {
    if (auto wrong = harness::CannotWriteInto(options.out)) return Complain(app, "--out " + *wrong);
  }
  BackendOptions other = options.first;
  other.backend = options.second;
  other.fault.clear();

  // All executors are forked before there is a thread.
  std::vector<Part> parts(static_cast<std::size_t>(options.jobs));
  std::vector<harness::BackendFacts> facts;
  for (const BackendOptions* one : {&options.first, &other}) {
    OrError<harness::ExecutorConfig> config = one->Config();
    if (!config.ok()) return Complain(app, config.error());
    config->service = &suites::Serve;
    const std::size_t side = facts.size();
    for (Part& part : parts) {
      OrError<std::unique_ptr<harness::Executor>> executor = harness::Executor::Start(*config);
      if (!executor.ok()) return Complain(app, executor.error());
      part.executors[side] = std::move(*executor);
      part.backends[side] = std::make_unique<OperatorBackend>(*part.executors[side], options.device);
    }
    facts.push_back(parts.front().executors[side]->facts());
    if (!facts.back().Claims(suites::kWithOperators)) {
      return Complain(app, fmt::format("{} has no operators: it has to claim tensors and operators; see `plumbline "
                                       "list capabilities`",
                                       facts.back().name));
    }
  }
  for (const std::unique_ptr<OperatorBackend>& backend : parts.front().backends) {
    if (const auto why = backend->WhyNoDevice()) return Complain(app, *why);
  }
  OrError<std::vector<const suites::OperatorDeviation*>> accepted = Accepted(options, facts);
  if (!accepted.ok()) return Complain(app, accepted.error());

  Print("{} {} and {} {}{}, {} of each operator and dtype, seed {}\n", facts[0].name, facts[0].version, facts[1].name,
        facts[1].version, options.device.empty() ? "" : " on " + options.device,
        reports::Counted(options.calls, "call"), options.seed);
  std::fflush(stdout);
  std::atomic<std::size_t> next{0};
  std::mutex lock;  // of the progress
  std::size_t finished = 0;
  Progress progress;
  std::vector<std::thread> threads;
  for (Part& part : parts) {
    part.agreement = std::make_unique<Agreement>(*part.backends[0], *part.backends[1],
                                                 suites::AgreementOptions{.seed = options.seed, .accepted = *accepted});
    threads.emplace_back([&] {
      for (std::size_t at; (at = next++) < names.size();) {
        for (const std::uint32_t dtype : suites::kDtypes) part.agreement->Try(names[at], dtype, options.calls);
        const std::lock_guard held(lock);
        progress.Show(++finished, names.size(), names[at]);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  progress.Clear();

  std::uint64_t compared = 0, explained = 0;
  Agreement::Differences differences;
  std::map<std::string, std::uint64_t> by_deviation;
  for (const Part& part : parts) {
    compared += part.agreement->compared();
    differences.insert(part.agreement->differences().begin(), part.agreement->differences().end());
    for (const auto& [name, calls] : part.agreement->accepted()) by_deviation[name] += calls, explained += calls;
  }
  if (!options.out.empty() && !differences.empty()) {
    std::error_code failed;
    std::filesystem::create_directories(options.out, failed);
  }
  for (const auto& [key, difference] : differences) {
    Print("{} {}: {} ({})\n    {}\n", key.first, key.second, difference.what,
          reports::Counted(static_cast<int>(difference.calls), "call"), suites::Describe(difference.smallest));
    if (options.out.empty()) continue;
    const std::string path = fmt::format("{}/{}-{}.prog", options.out, key.first, key.second);
    const OrError<bool> written = harness::WriteTextFile(
        path, suites::PrintTensorProgram(suites::ProgramOf(difference.smallest, difference.smallest.op)));
    if (!written.ok()) return Complain(app, "--out " + written.error());
  }
  for (const auto& [name, calls] : by_deviation) Print("explained by {}: {} calls\n", name, calls);
  Print("{} calls compared, {} explained by known faults, {}\n", compared, explained,
        reports::Counted(differences.size(), "kind of difference", "kinds of difference"));
  if (compared == 0) return Complain(app, "nothing was compared: no call is done by both backends");
  return differences.empty() ? kGood : kFailed;
}

}  // namespace
}  // namespace plumbline::cli

int main(int argc, char** argv) { return plumbline::harness::RunMain(&plumbline::cli::Main, argc, argv); }
