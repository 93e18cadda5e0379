// plumbline-bench: time per operation, by Google Benchmark, for any number of backends in one process run each.
//
//   plumbline-bench --backend reference [--benchmark_filter=typed_call ...]

#include <benchmark/benchmark.h>

#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/harness/case_runner.h"
#include "conformance/harness/run_main.h"
#include "perf/bench/contended_bench.h"
#include "perf/bench/workload.h"
#include "reports/text/shown.h"

namespace plumbline::perf {
namespace {

constexpr int kBatch = 256;

void Measure(benchmark::State& state, Bench& bench, const Workload& workload) {
  if (const auto wrong = bench.Prepare(workload)) {
    state.SkipWithError(wrong->c_str());
    return;
  }
  // A batch at a time, so that the loop of the benchmark library is not in the figure.
  while (state.KeepRunningBatch(kBatch)) bench.Run(kBatch);
  state.SetItemsProcessed(state.iterations());
  bench.Finish();
}

constexpr char kHelp[] =
    "Measures the time that each operation of a backend takes: calls, redispatch, registration, look-up; and calls of\n"
    "one and two threads while another thread changes what is registered (contended).\n"
    "\n"
    "usage: plumbline bench [--backend NAME|FILE] [--benchmark_OPTION=VALUE ...]\n"
    "\n"
    "  --backend NAME|FILE          a backend's name (`plumbline list backends`) or the path of its shared object;\n"
    "                               reference if left out\n"
    "  --benchmark_filter=PATTERN   only operations whose name matches this regular expression; one that matches\n"
    "                               none is bad input\n"
    "  --benchmark_list_tests=true  print their names, and measure none\n"
    "  --benchmark_min_time=N       seconds for each, 0.5 if left out\n"
    "  --benchmark_format=json      for programs; the other options of Google Benchmark hold too\n"
    "\n"
    "Times compare only within one run on one machine; `./dev bench` runs several backends side by side.\n"
    "Exit status: 0 measured, 2 bad input.\n";

int Main(int argc, char** argv) {
  std::string backend = "reference";
  std::vector<char*> rest = {argv[0]};
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--help" || argument == "-h") {
      std::cout << kHelp;
      return 0;
    }
    if (argument == "--backend" || argument == "-b") {
      if (i + 1 == argc) {
        std::cerr << "plumbline bench: --backend needs a value, NAME|FILE\n";
        return 2;
      }
      backend = argv[++i];
    } else if (argument.starts_with("--backend=")) {
      backend = argument.substr(std::string_view("--backend=").size());
    } else if (!argument.starts_with("--benchmark_")) {
      std::cerr << "plumbline bench: there is no option '" << reports::Shown(argument)
                << "'\nSee plumbline bench --help.\n";
      return 2;
    } else {
      rest.push_back(argv[i]);
    }
  }
  auto bench = Bench::Open(backend);
  if (!bench.ok()) {
    std::cerr << "plumbline bench: " << reports::Shown(bench.error()) << "\n";
    return 2;
  }
  for (const Workload& workload : Workloads()) {
    benchmark::RegisterBenchmark((backend + "/" + workload.name).c_str(),
                                 [&bench, &workload](benchmark::State& state) { Measure(state, **bench, workload); });
  }
  RegisterContended(**bench);
  int count = static_cast<int>(rest.size());
  benchmark::Initialize(&count, rest.data());
  if (benchmark::ReportUnrecognizedArguments(count, rest.data())) return 2;
  if (benchmark::RunSpecifiedBenchmarks() != 0) return 0;
  // The library has said on standard error what is wrong with a pattern that is no regular expression.
  std::cerr << "plumbline bench: --benchmark_filter=" << reports::Shown(benchmark::GetBenchmarkFilter())
            << " matches no operation, so nothing was measured\n`plumbline bench --backend "
            << reports::Shown(harness::ShellWord(backend)) << " --benchmark_list_tests=true` prints their names.\n";
  return 2;
}

}  // namespace
}  // namespace plumbline::perf

int main(int argc, char** argv) { return plumbline::harness::RunMain(&plumbline::perf::Main, argc, argv); }
