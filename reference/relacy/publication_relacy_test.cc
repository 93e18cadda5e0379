// Runs registry/publication.h under relacy, with both kinds of fence: programs of two threads in all orders with up to
// two preemptions, and of three threads at random. Prints a line for each; exit status 1 with the first that fails.
//
//   publication_relacy_test [--quick]
//
// --quick leaves out three threads.

#include <cstring>

#include "reference/relacy/programs.h"

namespace plumbline::reference {
namespace {

template <int kThreads>
bool MustPass(Program program, rl::iteration_t executions) {
  const Outcome outcome = RunUnderRelacy<Publication<RelacyPolicy>, kThreads>(program, executions, nullptr);
  std::cout << (outcome.good ? "ok    " : "FAIL  ") << (settings.fence == Fence::kFences ? "fences, " : "membarrier, ")
            << Name(program) << ", " << kThreads << " threads: " << outcome.executions << " executions, "
            << (executions == kAllOrders ? "all with up to 2 preemptions" : "at random");
  if (!outcome.good) std::cout << ": " << outcome.what << " in the last";
  std::cout << std::endl;
  return outcome.good;
}

int Main(bool quick) {
  for (const Fence fence : {Fence::kMembarrier, Fence::kFences}) {
    settings = {.fence = fence};
    for (const Program program : kPrograms) {
      if (!MustPass<2>(program, kAllOrders)) return 1;
    }
    for (const Program program : {Program::kOverride, Program::kFill}) {
      if (!quick && !MustPass<3>(program, 300'000)) return 1;
    }
  }
  return 0;
}

}  // namespace
}  // namespace plumbline::reference

int main(int argc, char** argv) {
  const bool quick = argc == 2 && std::strcmp(argv[1], "--quick") == 0;
  if (argc > 1 && !quick) {
    std::cerr << "usage: publication_relacy_test [--quick]\n";
    return 2;
  }
  return plumbline::reference::Main(quick);
}
