// plumbline-bench: time per operation, by Google Benchmark, for any number of backends in one process run each.
//
//   plumbline-bench --backend reference [--benchmark_filter=typed_call ...]

#include <benchmark/benchmark.h>

#include <iostream>
#include <string>
#include <vector>

#include "perf/bench/workload.h"

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

int Main(int argc, char** argv) {
  std::string backend = "reference";
  std::vector<char*> rest = {argv[0]};
  for (int i = 1; i < argc; ++i) {
    if (std::string(argv[i]) == "--backend" && i + 1 < argc) {
      backend = argv[++i];
    } else {
      rest.push_back(argv[i]);
    }
  }
  auto bench = Bench::Open(backend);
  if (!bench.ok()) {
    std::cerr << "plumbline-bench: " << bench.error() << "\n";
    return 2;
  }
  for (const Workload& workload : Workloads()) {
    benchmark::RegisterBenchmark((backend + "/" + workload.name).c_str(),
                                 [&bench, &workload](benchmark::State& state) { Measure(state, **bench, workload); });
  }
  int count = static_cast<int>(rest.size());
  benchmark::Initialize(&count, rest.data());
  if (benchmark::ReportUnrecognizedArguments(count, rest.data())) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

}  // namespace
}  // namespace plumbline::perf

int main(int argc, char** argv) { return plumbline::perf::Main(argc, argv); }
