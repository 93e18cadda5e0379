/* The closed, append-only list of error classes that cross the backend ABI.
 *
 * Data, not code: expand PL_ERROR_CLASSES with a macro X(number, NAME, "spelling", "meaning").
 * Valid C11 and C++20. Numbers are never reused and entries never move.
 *
 *   #define X(number, NAME, spelling, meaning) PL_ERROR_##NAME = number,
 */
#ifndef PLUMBLINE_SPEC_TABLES_ERROR_CLASSES_H_
#define PLUMBLINE_SPEC_TABLES_ERROR_CLASSES_H_

/* clang-format off */
#define PL_ERROR_CLASSES(X)                                                                              \
  X(1,  NOT_FOUND,        "not-found",        "no operator, key, library or name of that spelling")      \
  X(2,  DUPLICATE,        "duplicate",        "something of that name is already registered")            \
  X(3,  AMBIGUOUS,        "ambiguous",        "two registrations claim the slot and none is preferred")  \
  X(4,  NO_KERNEL,        "no-kernel",        "the chosen key has neither kernel nor fallback")          \
  X(5,  NO_KEY,           "no-key",           "no argument and no guard brought a key, and no composite kernel serves that case") \
  X(6,  FELL_THROUGH,     "fell-through",     "the chosen slot only falls through")                      \
  X(7,  SCHEMA_MISMATCH,  "schema-mismatch",  "kernel, call or definition disagree on the signature")    \
  X(8,  INVALID_ARGUMENT, "invalid-argument", "a value that the entry or the rule does not allow")       \
  X(9,  OVERFLOW,         "overflow",         "a size or count that does not fit")                       \
  X(10, VERSION_CHANGED,  "version-changed",  "a saved tensor was modified before it was needed")        \
  X(11, GRAPH_FREED,      "graph-freed",      "a graph was used after its buffers were freed")           \
  X(12, KERNEL_RAISED,    "kernel-raised",    "a host kernel failed; its payload is passed on unchanged") \
  X(13, UNSUPPORTED,      "unsupported",      "the backend does not claim this")                         \
  X(14, INVALID_HANDLE,   "invalid-handle",   "the handle's object was released")                        \
  X(15, INTERNAL,         "internal",         "the backend found its own state inconsistent")            \
  X(16, UNCLASSIFIED,     "unclassified",     "an error whose class the adapter cannot tell")        \
  X(17, NO_DTYPE,         "no-dtype",         "the kernel that was chosen has no instance for that element type")
/* clang-format on */

#endif /* PLUMBLINE_SPEC_TABLES_ERROR_CLASSES_H_ */
