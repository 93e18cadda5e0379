// plumbline probe: what a device computes, operator by operator and dtype by dtype.

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "conformance/cli/command_line.h"
#include "conformance/cli/paint.h"
#include "conformance/harness/executor.h"
#include "conformance/harness/run_main.h"
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
using reports::Verdict;
using suites::OperatorTrial;

// What was seen of an operator.
struct Row {
  std::string name;
  std::string marks;  // one for each dtype
  std::string wrong;  // the first that differs, in words
  bool Has(char mark) const { return marks.find(mark) != std::string::npos; }
};

constexpr char kRight = '+', kAbsent = '-', kDiffers = 'x', kDies = '!';
constexpr int kColumn = 9;

Row Probe(suites::OperatorBackend& backend, const std::string& name, const std::string& device, std::uint64_t seed,
          int calls) {
  Row row{.name = name, .marks = {}, .wrong = {}};
  OperatorTrial trial(backend, name, device, seed);
  for (const std::uint32_t dtype : suites::kDtypes) {
    const OperatorTrial::Tally tally = trial.Try(dtype, calls);
    if (!tally.wrong) {
      row.marks += tally.judged == 0 ? kAbsent : kRight;
      continue;
    }
    row.marks += tally.wrong->verdict == Verdict::kFail ? kDiffers : kDies;
    if (row.wrong.empty()) row.wrong = suites::Describe(tally.wrong->smallest) + ": " + tally.wrong->what;
  }
  return row;
}

// In one line that can be read; the program that `plumbline check` saves has all of it.
std::string Short(std::string text) {
  constexpr std::size_t kMost = 400;
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text.size() <= kMost ? text : text.substr(0, kMost) + " ...";
}

// A file to begin with: each entry is for its author to explain, or to mend.
std::string StartingWaivers(const std::vector<Row>& rows, const harness::BackendFacts& facts) {
  std::string text = fmt::format(
      "# What `plumbline probe` saw {} {} do otherwise. Each entry accepts any failure of a case until its cause is "
      "known:\n"
      "# say then what is done instead (outcome), put a reference in, or mend it and take it out. `plumbline check` "
      "reads\n"
      "# these in the place of the waivers that come with a backend; give `--waivers` twice for both.\n",
      facts.name, facts.version);
  const std::vector<harness::Case> cases = suites::OperatorCases({});
  const std::string today = Today();
  const std::string expires = fmt::format("{}{}", std::stoi(today.substr(0, 4)) + 1, today.substr(4, 3) + "-01");
  for (const Row& row : rows) {
    if (row.wrong.empty()) continue;
    const std::string id = "operators/" + row.name;
    const auto found = std::find_if(cases.begin(), cases.end(), [&](const harness::Case& one) { return one.id == id; });
    text += fmt::format(
        "\n# {}\n[[waiver]]\nid = \"{}\"\nclause = [\"{}\"]\ncause = \"limit\"\nreference = \"to be explained\"\n"
        "owner = \"to be named\"\nexpires = \"{}\"\ncases = [\"{}\"]\nunstable = true\nadmits = [{}]\n",
        Short(row.wrong), row.name, fmt::join(found->clauses, "\", \""), expires, id,
        row.Has(kDies) ? "\"fail\", \"crash\", \"timeout\"" : "\"fail\"");
  }
  return text;
}

int Main(int argc, char** argv) {
  CLI::App app(
      "Tries each operator with each dtype on a backend with tensors, and prints which are right, which differ and "
      "which "
      "there are not.",
      "plumbline probe");
  BackendOptions backend;
  std::string device, waivers;
  std::vector<std::string> filters;
  std::uint64_t seed = 1;
  int calls = 8;
  bool no_color = false;
  backend.AddTo(app);
  app.add_option("--device", device,
                 "where the tensors are, such as meta or privateuseone:0; else the backend's own default")
      ->type_name("DEVICE");
  app.add_option("-f,--filter", filters, "only operators whose name matches this pattern, such as add*; repeatable")
      ->type_name("PATTERN")
      ->allow_extra_args(false);
  app.add_option("--calls", calls, "how many drawn calls of each operator and dtype")
      ->transform(WholeNumber(1, 100'000))
      ->type_name("N")
      ->capture_default_str();
  AddSeed(app, seed);
  app.add_option("--waivers-to", waivers,
                 "write a waiver file with an entry for each operator that differs: a start for `plumbline check "
                 "--profile operators --waivers`")
      ->type_name("FILE");
  AddNoColor(app, no_color);
  app.footer(
      "  plumbline probe --backend torch --load libmine.so --device privateuseone:0\n"
      "Exit status: 0 probed, whatever was seen; 2 bad input.");
  if (auto status = ParseCommandLine(app, argc, argv)) return *status;

  std::error_code failed;
  if (!waivers.empty() && std::filesystem::exists(waivers, failed)) {
    return Complain(app,
                    fmt::format("--waivers-to {}: there is such a file already, and it is left as it is", waivers));
  }
  const std::vector<std::string> names = suites::TriedOperators(filters);
  if (names.empty()) {
    return Complain(app, "--filter: no operator has such a name; without --filter, the names are in the first column");
  }
  OrError<harness::ExecutorConfig> config = backend.Config();
  if (!config.ok()) return Complain(app, config.error());
  config->service = &suites::Serve;
  OrError<std::unique_ptr<harness::Executor>> executor = StartBackend(app, *config);
  if (!executor.ok()) return Complain(app, executor.error());
  const harness::BackendFacts facts = (*executor)->facts();
  if (!facts.Claims(suites::kWithOperators)) {
    return Complain(app, fmt::format("{} has no operators to probe: it has to claim tensors and operators; see "
                                     "`plumbline list capabilities`",
                                     facts.name));
  }
  suites::OperatorBackend with_operators(**executor, device);
  if (const auto why = with_operators.WhyNoDevice()) return Complain(app, *why);

  Print("{} {} ({}){}, {} of each operator and dtype, seed {}\n\n{:<34}", facts.name, facts.version, facts.release,
        device.empty() ? "" : " on " + device, reports::Counted(calls, "call"), seed, "");
  for (const std::uint32_t dtype : suites::kDtypes) {
    const bool last = dtype == *std::rbegin(suites::kDtypes);
    Print("{:<{}}", suites::DtypeSpelling(dtype), last ? 0 : kColumn);
  }
  Print("\n");
  std::vector<Row> rows;
  for (const std::string& name : names) {
    rows.push_back(Probe(with_operators, name, device, seed, calls));
    Print("{:<34}", name);
    Print("{}\n", fmt::join(rows.back().marks, std::string(kColumn - 1, ' ')));
    std::fflush(stdout);
  }
  const auto count = [&](const auto& holds) { return std::count_if(rows.begin(), rows.end(), holds); };
  Print(
      "\n{} nothing differs  {} no kernel for it, or no call of so few could be judged  {} differs from what its "
      "clauses "
      "say  {} dies\n",
      kRight, kAbsent, kDiffers, kDies);
  Print("{}: {} right, {} differ or die for some dtype, {} not there\n",
        reports::Counted(static_cast<int>(rows.size()), "operator"),
        count([](const Row& row) { return row.Has(kRight) && row.wrong.empty(); }),
        count([](const Row& row) { return !row.wrong.empty(); }),
        count([](const Row& row) { return row.marks.find_first_not_of(kAbsent) == std::string::npos; }));
  for (const Row& row : rows) {
    if (!row.wrong.empty()) Print("  {}\n", Short(row.wrong));
  }
  if (std::any_of(rows.begin(), rows.end(), [](const Row& row) { return !row.wrong.empty(); })) {
    Print(
        "`plumbline check --profile operators --case operators/NAME` with the same backend saves the call as a "
        "program.\n");
  }
  if (waivers.empty()) return kGood;
  std::ofstream out(waivers);
  out << StartingWaivers(rows, facts);
  if (!out.flush()) return Complain(app, fmt::format("--waivers-to {}: cannot be written", waivers));
  Print("waivers to begin with: {}\n", waivers);
  return kGood;
}

}  // namespace
}  // namespace plumbline::cli

int main(int argc, char** argv) { return plumbline::harness::RunMain(&plumbline::cli::Main, argc, argv); }
