// Built against ABI 1.1, whose table ended before `memory_figures`. The table has exactly the memory that it says, so
// that a host that reads on is caught by the address sanitizer.
#include <cstring>

#include "spec/abi/skew/skew.h"

extern "C" const pl_adapter* plumbline_get_adapter(uint32_t, uint32_t) {
  static constexpr std::size_t kSize = offsetof(pl_adapter, memory_figures);
  alignas(pl_adapter) static unsigned char memory[kSize];
  static const bool filled = [] {
    pl_adapter table = plumbline::abi::testing::ToyTable();
    table.struct_size = kSize;
    table.abi_minor = 1;
    table.capabilities &= ~(PL_CAPABILITY(MEMORY) | PL_CAPABILITY(DLPACK));
    std::memcpy(memory, &table, kSize);
    return true;
  }();
  return filled ? reinterpret_cast<const pl_adapter*>(memory) : nullptr;
}
