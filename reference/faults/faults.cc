#include "reference/faults/faults.h"

namespace plumbline::reference {
namespace {

constexpr FaultDescription kFaults[] = {
#define PLUMBLINE_FAULT_ROW(name, clause, what) {#name, clause, what},
    PLUMBLINE_FAULTS(PLUMBLINE_FAULT_ROW)
#undef PLUMBLINE_FAULT_ROW
};

}  // namespace

#ifdef PLUMBLINE_WITH_FAULTS
constinit std::atomic<int> active_fault{0};
#endif

std::span<const FaultDescription> Faults() { return kFaults; }

bool SetFault([[maybe_unused]] std::string_view name) {
#ifdef PLUMBLINE_WITH_FAULTS
  if (name.empty()) {
    active_fault.store(0, std::memory_order_relaxed);
    return true;
  }
  int number = 0;
  for (const FaultDescription& fault : kFaults) {
    ++number;
    if (fault.name != name) continue;
    active_fault.store(number, std::memory_order_relaxed);
    return true;
  }
  return false;
#else
  return name.empty();
#endif
}

}  // namespace plumbline::reference
