// A struct_size that ends inside an entry.
#include "spec/abi/skew/skew.h"

extern "C" const pl_adapter* plumbline_get_adapter(uint32_t, uint32_t) {
  static const pl_adapter table = [] {
    pl_adapter changed = plumbline::abi::testing::ToyTable();
    changed.struct_size -= 3;
    return changed;
  }();
  return &table;
}
