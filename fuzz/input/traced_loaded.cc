#include <dlfcn.h>

#include "fuzz/input/traced_backend.h"
#include "fuzz/targets/property.h"

const pl_adapter& plumbline::fuzz::TracedBackend() {
  static const pl_adapter* const adapter = [] {
    void* const object = dlopen(PLUMBLINE_FUZZ_TRACED, RTLD_NOW | RTLD_LOCAL);
    if (object == nullptr) Broken("the traced reference cannot be loaded", dlerror());
    const auto get = reinterpret_cast<pl_get_adapter_function>(dlsym(object, PL_GET_ADAPTER_SYMBOL));
    return get(PL_ABI_MAJOR, PL_ABI_MINOR);
  }();
  return *adapter;
}
