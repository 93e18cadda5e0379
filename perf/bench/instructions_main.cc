// plumbline-instructions: runs every workload twice, N and 2N times, between callgrind's dumps. Meant to be started by
// perf/bench/instructions.py, which reads the dumps; without valgrind it only runs the workloads.
//
//   valgrind --tool=callgrind --instr-atstart=no plumbline-instructions --backend reference

#include <valgrind/callgrind.h>

#include <iostream>
#include <string>

#include "perf/bench/workload.h"

namespace plumbline::perf {
namespace {

int Main(int argc, char** argv) {
  std::string backend = "reference", only;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string option = argv[i];
    if (option == "--backend") {
      backend = argv[i + 1];
    } else if (option == "--only") {
      only = argv[i + 1];
    } else {
      std::cerr << "plumbline-instructions: unknown option " << option << "; it takes --backend and --only\n";
      return 2;
    }
  }
  auto bench = Bench::Open(backend);
  if (!bench.ok()) {
    std::cerr << "plumbline-instructions: " << bench.error() << "\n";
    return 2;
  }
  for (const Workload& workload : Workloads()) {
    if (!only.empty() && workload.name.find(only) == std::string::npos) continue;
    if (const auto wrong = (*bench)->Prepare(workload)) {
      std::cout << "cannot\t" << workload.name << "\t" << *wrong << std::endl;
      continue;
    }
    const std::string first = workload.name + " 1", second = workload.name + " 2";
    const int times = workload.kind == Kind::kCall || workload.kind == Kind::kFind ? 1000 : 20;
    (*bench)->Run(times);  // caches, lazy binding, first use
    CALLGRIND_START_INSTRUMENTATION;
    CALLGRIND_ZERO_STATS;
    (*bench)->Run(times);
    CALLGRIND_DUMP_STATS_AT(first.c_str());
    (*bench)->Run(2 * times);
    CALLGRIND_DUMP_STATS_AT(second.c_str());
    CALLGRIND_STOP_INSTRUMENTATION;
    std::cout << "times\t" << workload.name << "\t" << times << std::endl;
    (*bench)->Finish();
  }
  return 0;
}

}  // namespace
}  // namespace plumbline::perf

int main(int argc, char** argv) { return plumbline::perf::Main(argc, argv); }
