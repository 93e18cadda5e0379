#include "reference/registry/reclaim.h"

#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>

namespace plumbline::reference {
namespace {

long Membarrier(int command) { return syscall(__NR_membarrier, command, 0, 0); }

bool Register() {
  if (std::getenv("PLUMBLINE_NO_MEMBARRIER") != nullptr) return false;
  const long commands = Membarrier(MEMBARRIER_CMD_QUERY);
  if (commands < 0 || (commands & MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0) return false;
  if (Membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) != 0) return false;
  // A child process registers anew.
  pthread_atfork(nullptr, nullptr, [] { Membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED); });
  return true;
}

}  // namespace

const bool asymmetric = Register();

void Synchronize() {
  if (asymmetric) {
    Membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
  } else {
#ifndef __SANITIZE_THREAD__  // it knows no fences, and orders the marks and tables itself
    std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
  }
  VisitThreads([](ThreadState& state) {
    while (state.reading.load(std::memory_order_acquire) != 0) sched_yield();
  });
}

}  // namespace plumbline::reference
