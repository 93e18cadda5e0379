// Cannot serve this host, and says so.
#include "spec/abi/skew/skew.h"

extern "C" const pl_adapter* plumbline_get_adapter(uint32_t, uint32_t) { return nullptr; }
