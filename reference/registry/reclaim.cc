#include "reference/registry/reclaim.h"

#include <linux/membarrier.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>

namespace plumbline::reference {
namespace {

long CallMembarrier(int command) { return syscall(__NR_membarrier, command, 0, 0); }

bool Register() {
  if (std::getenv("PLUMBLINE_NO_MEMBARRIER") != nullptr) return false;
  const long commands = CallMembarrier(MEMBARRIER_CMD_QUERY);
  if (commands < 0 || (commands & MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0) return false;
  if (CallMembarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) != 0) return false;
  // A child process registers anew.
  pthread_atfork(nullptr, nullptr, [] { CallMembarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED); });
  return true;
}

}  // namespace

const bool asymmetric = Register();

void Membarrier::WriterFence() { CallMembarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED); }

}  // namespace plumbline::reference
