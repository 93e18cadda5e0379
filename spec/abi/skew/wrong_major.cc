// Gives a table of the next major to a host that did not ask for it.
#include "spec/abi/skew/skew.h"

extern "C" const pl_adapter* plumbline_get_adapter(uint32_t, uint32_t) {
  static const pl_adapter table = [] {
    pl_adapter changed = plumbline::abi::testing::ToyTable();
    changed.abi_major = PL_ABI_MAJOR + 1;
    return changed;
  }();
  return &table;
}
