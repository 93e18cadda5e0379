// Built when the table ended before `call_many`: what came later is absent, and the rest works. The table has exactly
// the memory that it says, so that a host that reads on is caught by the address sanitizer.
#include <cstring>

#include "spec/abi/skew/skew.h"

extern "C" const pl_adapter* plumbline_get_adapter(uint32_t, uint32_t) {
  static constexpr std::size_t kSize = offsetof(pl_adapter, call_many);
  alignas(pl_adapter) static unsigned char memory[kSize];
  static const bool filled = [] {
    pl_adapter table = plumbline::abi::testing::ToyTable();
    table.struct_size = kSize;
    table.abi_minor = 0;
    table.capabilities &=
        ~(PL_CAPABILITY(CALL_MANY) | PL_CAPABILITY(LOAD) | PL_CAPABILITY(SIGNATURE_CHECK) | PL_CAPABILITY(TENSORS) |
          PL_CAPABILITY(OPERATORS) | PL_CAPABILITY(MEMORY) | PL_CAPABILITY(DLPACK));
    std::memcpy(memory, &table, kSize);
    return true;
  }();
  return filled ? reinterpret_cast<const pl_adapter*>(memory) : nullptr;
}
