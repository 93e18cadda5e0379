// plumbline-instructions: runs every workload twice, N and 2N times, between callgrind's dumps. Meant to be started by
// perf/bench/instructions.py, which reads the dumps; without valgrind it only runs the workloads.
//
//   valgrind --tool=callgrind --instr-atstart=no plumbline-instructions --backend reference

#include <valgrind/callgrind.h>

#include <iostream>
#include <string>

#include "conformance/harness/run_main.h"
#include "perf/bench/workload.h"
#include "reports/text/shown.h"

namespace plumbline::perf {
namespace {

constexpr char kHelp[] =
    "Runs each operation of a backend N and then 2N times, for callgrind to count its instructions between.\n"
    "Of use to perf/bench/instructions.py, which starts it and reads the counts; `./dev bench` runs both.\n"
    "\n"
    "usage: valgrind --tool=callgrind --instr-atstart=no plumbline-instructions [--backend NAME|FILE] [--only TEXT]\n"
    "\n"
    "  --backend NAME|FILE  a backend's name (`plumbline list backends`) or the path of its shared object;\n"
    "                       reference if left out\n"
    "  --only TEXT          only operations whose name holds this text\n"
    "\n"
    "Exit status: 0 run, 2 bad input.\n";

int Main(int argc, char** argv) {
  std::string backend = "reference", only;
  for (int i = 1; i < argc; i += 2) {
    const std::string option = argv[i];
    if (option == "--help" || option == "-h") {
      std::cout << kHelp;
      return 0;
    }
    if (option != "--backend" && option != "--only") {
      std::cerr << "plumbline instructions: there is no option '" << reports::Shown(option)
                << "'\nSee plumbline instructions --help.\n";
      return 2;
    }
    if (i + 1 == argc) {
      std::cerr << "plumbline instructions: " << option << " needs a value\nSee plumbline instructions --help.\n";
      return 2;
    }
    (option == "--backend" ? backend : only) = argv[i + 1];
  }
  auto bench = Bench::Open(backend);
  if (!bench.ok()) {
    std::cerr << "plumbline instructions: " << reports::Shown(bench.error()) << "\n";
    return 2;
  }
  std::string names;
  bool any = false;
  for (const Workload& workload : Workloads()) {
    names += (names.empty() ? "" : ", ") + workload.name;
    if (!only.empty() && workload.name.find(only) == std::string::npos) continue;
    any = true;
    if (const auto wrong = (*bench)->Prepare(workload)) {
      std::cout << "cannot\t" << workload.name << "\t" << reports::Shown(*wrong) << std::endl;
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
  if (any) return 0;
  std::cerr << "plumbline instructions: --only " << reports::Shown(only)
            << ": no operation's name holds this text; there are " << names << "\n";
  return 2;
}

}  // namespace
}  // namespace plumbline::perf

int main(int argc, char** argv) { return plumbline::harness::RunMain(&plumbline::perf::Main, argc, argv); }
