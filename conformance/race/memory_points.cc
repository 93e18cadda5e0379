#include "conformance/race/memory_points.h"

#include <cstdint>

#include "conformance/race/scheduler.h"

namespace plumbline::race {
namespace {

bool traced = false;

void PointAt(const void* address) {
  if (!OnOwnStack(address)) Point();
}

}  // namespace

bool BackendIsTraced() { return __atomic_load_n(&traced, __ATOMIC_RELAXED); }

}  // namespace plumbline::race

#define PLUMBLINE_CALLBACK extern "C" __attribute__((visibility("default"))) void
#define PLUMBLINE_ACCESS(name) \
  PLUMBLINE_CALLBACK name(const void* address) { plumbline::race::PointAt(address); }

PLUMBLINE_ACCESS(__sanitizer_cov_load1)
PLUMBLINE_ACCESS(__sanitizer_cov_load2)
PLUMBLINE_ACCESS(__sanitizer_cov_load4)
PLUMBLINE_ACCESS(__sanitizer_cov_load8)
PLUMBLINE_ACCESS(__sanitizer_cov_load16)
PLUMBLINE_ACCESS(__sanitizer_cov_store1)
PLUMBLINE_ACCESS(__sanitizer_cov_store2)
PLUMBLINE_ACCESS(__sanitizer_cov_store4)
PLUMBLINE_ACCESS(__sanitizer_cov_store8)
PLUMBLINE_ACCESS(__sanitizer_cov_store16)

// Tracing loads and stores needs some mode of coverage under it; of that one only the start is of use.
PLUMBLINE_CALLBACK __sanitizer_cov_trace_pc_guard(std::uint32_t*) {}
PLUMBLINE_CALLBACK __sanitizer_cov_trace_pc_guard_init(std::uint32_t*, std::uint32_t*) {
  __atomic_store_n(&plumbline::race::traced, true, __ATOMIC_RELAXED);
}
