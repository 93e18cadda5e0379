#include "perf/bench/contended_bench.h"

#include <benchmark/benchmark.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>

namespace plumbline::perf {
namespace {

constexpr int kBatch = 256;

// Changes what is registered until it is destroyed.
class Writer {
 public:
  Writer(Bench& bench, Bench::Target target)
      : thread_([this, &bench, target] {
          while (!over_.load(std::memory_order_relaxed)) {
            if (bench.Change(target)) return;
            changes_ += 2;
          }
        }) {}
  // How many there were.
  std::int64_t Stop() {
    over_ = true;
    thread_.join();
    return changes_;
  }

 private:
  std::atomic<bool> over_{false};
  std::int64_t changes_ = 0;
  std::thread thread_;
};

const Workload& Called() { return Workloads()[1]; }

// One of them runs at a time; thread 0 sets it up, and the library lets no thread begin before all are there.
void Measure(benchmark::State& state, Bench& bench, std::optional<Bench::Target> target) {
  static std::optional<Writer> writer;
  if (state.thread_index() == 0) {
    bench.Prepare(Called());
    if (target) writer.emplace(bench, *target);
  }
  while (state.KeepRunningBatch(kBatch)) bench.Run(kBatch);
  state.SetItemsProcessed(state.iterations());
  if (state.thread_index() != 0 || !writer) return;
  state.counters["changes"] = benchmark::Counter(static_cast<double>(writer->Stop()), benchmark::Counter::kIsRate);
  writer.reset();
}

}  // namespace

void RegisterContended(Bench& bench) {
  // Tried once, so that a backend which cannot do it is not measured.
  std::optional<std::string> wrong = bench.Prepare(Called());
  if (!wrong) wrong = bench.Change(Bench::Target::kSame);
  bench.Finish();
  const auto add = [&](const char* name, std::optional<Bench::Target> target) {
    const std::string full = bench.name() + "/contended/writer_" + name;
    if (wrong) {
      benchmark::RegisterBenchmark(full.c_str(),
                                   [wrong](benchmark::State& state) { state.SkipWithError(wrong->c_str()); });
      return;
    }
    benchmark::RegisterBenchmark(full.c_str(),
                                 [&bench, target](benchmark::State& state) { Measure(state, bench, target); })
        ->Threads(1)
        ->Threads(2)
        ->UseRealTime();
  };
  add("none", std::nullopt);
  add("of_another_operator", Bench::Target::kOther);
  add("of_the_same_operator", Bench::Target::kSame);
}

}  // namespace plumbline::perf
