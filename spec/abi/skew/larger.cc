// Built against a newer minor: more entries, a capability and extensions that this host does not know. It works.
#include "spec/abi/skew/skew.h"

namespace {

struct Newer {
  pl_adapter known;
  pl_error* (*unknown_entry)(pl_registry* registry);
  void (*another)(void);
};

}  // namespace

extern "C" const pl_adapter* plumbline_get_adapter(uint32_t, uint32_t) {
  static const Newer table = [] {
    static const int extension = 0;
    Newer newer{plumbline::abi::testing::ToyTable(), [](pl_registry*) -> pl_error* { return nullptr; }, [] {}};
    newer.known.struct_size = sizeof newer;
    newer.known.abi_minor = PL_ABI_MINOR + 7;
    newer.known.capabilities |= UINT64_C(1) << 60;
    newer.known.extensions = &extension;
    return newer;
  }();
  return &table.known;
}
