/* Capabilities a backend may claim through the ABI.
 *
 * Data, not code: expand PL_CAPABILITIES with X(bit, NAME, "spelling", "what is claimed").
 * What is not claimed is reported as *unsupported*; a claim with a null entry is an adapter error.
 * Valid C11 and C++20. Bits are never reused.
 */
#ifndef PLUMBLINE_SPEC_TABLES_CAPABILITIES_H_
#define PLUMBLINE_SPEC_TABLES_CAPABILITIES_H_

/* clang-format off */
#define PL_CAPABILITIES(X)                                                                                  \
  X(0,  CORE,              "core",              "open, close, intern_key, define, register_kernel, release, find_operator, call and tensors made from key sets") \
  X(1,  FRESH_REGISTRY,    "fresh-registry",    "open gives a registry of its own, not the process-wide one") \
  X(2,  LIBRARIES,         "libraries",         "DEF, FRAGMENT and IMPL libraries per namespace")             \
  X(3,  LISTENERS,         "listeners",         "callbacks when operators are defined and removed")           \
  X(4,  WARNINGS,          "warnings",          "warnings are handed to the host")                            \
  X(5,  GUARDS,            "guards",            "thread-local include and exclude guards")                    \
  X(6,  FALLBACKS,         "fallbacks",         "backend fallbacks")                                          \
  X(7,  CHAINS,            "chains",            "declared fallback chains")                                   \
  X(8,  REDISPATCH,        "redispatch",        "a host kernel can redispatch through its frame")             \
  X(9,  TYPED,             "typed",             "kernels and calls typed by a signature of the catalogue")    \
  X(10, BOXED,             "boxed",             "boxed kernels and boxed calls")                              \
  X(11, DRAIN,             "drain",             "drain waits until no call runs a released kernel")           \
  X(12, CACHE_COUNTERS,    "cache-counters",    "misses, hits and invalidations are counted per operator")    \
  X(13, CACHE_FLUSH,       "cache-flush",       "resolved slots can be dropped on request")                   \
  X(14, INTROSPECTION,     "introspection",     "has-kernel queries, operator lists and the computed table")  \
  X(15, FAULTS,            "faults",            "named faults can be switched on")                            \
  X(16, CALL_MANY,         "call-many",         "native no-op kernels and loops inside the backend, for perf") \
  X(17, LOAD,              "load",              "user libraries may be loaded before open")                   \
  X(18, SIGNATURE_CHECK,   "signature-check",   "typed kernels of one operator must agree on the C++ signature") \
  X(19, DECLARED_KEYS,     "declared-keys",     "a fresh registry may be opened with keys of the host's own") \
  X(20, TENSORS,           "tensors",           "tensors are made from host memory, described and read back") \
  X(21, OPERATORS,         "operators",         "a registry can be opened with the ATen operators")           \
  X(22, MEMORY,            "memory",            "live, peak and kept bytes of a device are told, and the cache can be emptied") \
  X(23, DLPACK,            "dlpack",            "tensors are handed out and taken as DLPack 0.6 has it")
/* clang-format on */

#endif /* PLUMBLINE_SPEC_TABLES_CAPABILITIES_H_ */
