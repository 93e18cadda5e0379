/* The C table that a backend gives to Plumbline.
 *
 * Purpose: everything the suites do to a backend goes through this header, and nothing else. A backend
 * is a shared object that exports one symbol:
 *
 *   const pl_adapter* plumbline_get_adapter(uint32_t host_major, uint32_t host_minor);
 *
 * It returns a table that lives as long as the shared object, or NULL if it cannot serve that host
 * (another major). Most authors write an ordinary C++ class and let adapter.h derive the table.
 *
 * Growth: fields are never moved, removed or re-typed within a major; new ones go last. An entry exists
 * if `struct_size >= offset + size` and it is not NULL; sizes are never compared for equality. The same
 * rule holds for every struct that starts with `struct_size`; whoever provides the memory sets it, also where
 * the other side fills the struct. Structs that cross in arrays do not grow. Reserved fields are zero.
 *
 * Ownership: strings and arrays are borrowed for the duration of the call. Whoever makes an object frees
 * it, through the entry named beside it. No exception crosses this line.
 *
 * Errors: an entry returns NULL for success, else an error object that the receiver releases once. A
 * failed entry leaves no trace and sets no out-parameter.
 *
 * Threads: "any" = from any thread at any time; "registry" = from any thread, the host does not overlap
 * it with `close`; "own" = only on the thread that got the object.
 *
 * Valid C11 and C++20.
 */
#ifndef PLUMBLINE_SPEC_ABI_ABI_H_
#define PLUMBLINE_SPEC_ABI_ABI_H_

#include <stddef.h>
#include <stdint.h>

#include "spec/tables/capabilities.h"
#include "spec/tables/dtypes.h"
#include "spec/tables/error_classes.h"
#include "spec/tables/limits.h"
#include "spec/tables/signatures.h"

#ifdef __cplusplus
extern "C" {
#endif

/* clang-format off */
#define PL_ABI_MAJOR 1u
#define PL_ABI_MINOR 2u

#define PL_ERROR_ENUM(number, NAME, spelling, meaning) PL_ERROR_##NAME = number,
enum { PL_ERROR_CLASSES(PL_ERROR_ENUM) PL_ERROR_NONE = 0 };
#undef PL_ERROR_ENUM

#define PL_CAPABILITY_ENUM(bit, NAME, spelling, meaning) PL_CAPABILITY_BIT_##NAME = bit,
enum { PL_CAPABILITIES(PL_CAPABILITY_ENUM) PL_CAPABILITY_BIT_END };
#undef PL_CAPABILITY_ENUM
#define PL_CAPABILITY(NAME) (UINT64_C(1) << PL_CAPABILITY_BIT_##NAME)

#define PL_SIGNATURE_ENUM(id, name, arguments, returns) PL_SIGNATURE_##name = id,
enum { PL_SIGNATURES(PL_SIGNATURE_ENUM) PL_SIGNATURE_none = 0 };
#undef PL_SIGNATURE_ENUM

#define PL_DTYPE_ENUM(number, NAME, spelling, bytes) PL_DTYPE_##NAME = number,
enum { PL_DTYPES(PL_DTYPE_ENUM) PL_DTYPE_NONE = 255 };
#undef PL_DTYPE_ENUM

/* UTF-8, not terminated. */
typedef struct pl_string {
  const char* data;
  uint64_t size;
} pl_string;

/* A dispatch key or alias key, interned by `intern_key`; meaningful for that registry only. */
typedef uint32_t pl_key;
#define PL_NO_KEY UINT32_MAX

typedef struct pl_key_list {
  const pl_key* data;
  uint64_t size;
} pl_key_list;

typedef struct pl_registry pl_registry;
typedef struct pl_registration pl_registration;
typedef struct pl_library pl_library;
typedef struct pl_operator pl_operator;
typedef struct pl_guard pl_guard;
typedef struct pl_tensor pl_tensor;
struct DLManagedTensor; /* DLPack 0.6's, of <dlpack/dlpack.h> */

typedef struct pl_error {
  uint32_t struct_size;
  uint32_t error_class; /* PL_ERROR_* */
  pl_string message;
  pl_string origin; /* where it was found ("file:line"), or empty */
  uint64_t payload; /* PL_ERROR_KERNEL_RAISED: what the host's kernel put there, unchanged */
  void (*release)(struct pl_error* self);
} pl_error;

/* One argument or result. SymInt positions carry PL_INT; Scalar positions PL_INT, PL_FLOAT or PL_BOOL; ScalarType,
 * Layout and MemoryFormat positions PL_INT (PL_DTYPE_*, and PyTorch's numbers), Device positions PL_STRING ("cuda:0").
 * An absent optional is PL_NONE; an undefined tensor is a PL_TENSOR made by `tensor_make_undefined`. Lists nest at most
 * PL_MAX_LIST_DEPTH deep. */
enum { PL_NONE = 0, PL_TENSOR = 1, PL_INT = 2, PL_FLOAT = 3, PL_BOOL = 4, PL_STRING = 5, PL_LIST = 6 };

struct pl_value;
typedef struct pl_value_list {
  const struct pl_value* data;
  uint64_t size;
} pl_value_list;

typedef struct pl_value {
  uint32_t kind;
  uint32_t reserved;
  union {
    int64_t integer; /* PL_INT; PL_BOOL as 0 or 1 */
    double real;
    pl_string string;
    pl_tensor* tensor;
    pl_value_list list;
  } as;
} pl_value;

/* Receives values one by one; each is borrowed for the push. A receiver that keeps a tensor retains it. */
typedef struct pl_value_sink {
  void* context;
  pl_error* (*push)(void* context, const pl_value* value);
} pl_value_sink;

/* Receives strings one by one. */
typedef struct pl_string_sink {
  void* context;
  void (*push)(void* context, pl_string text);
} pl_string_sink;

/* What a host kernel is given; valid until it returns. */
typedef struct pl_frame {
  uint32_t struct_size;
  uint32_t reserved;
  pl_registry* registry;
  pl_string operator_name; /* "ns::name" or "ns::name.overload"; a fallback learns whom it serves */
  pl_key_list keys;        /* the received key set, lowest priority first */
  const pl_value* arguments;
  uint64_t argument_count;
  pl_value_sink results; /* the kernel pushes its results in order */
  void* backend;         /* the adapter's own */
} pl_frame;

/* Fails by returning an error of class PL_ERROR_KERNEL_RAISED; never throws. */
typedef pl_error* (*pl_kernel_function)(void* context, pl_frame* frame);

enum {
  PL_KERNEL_BOXED = 0,       /* called with values */
  PL_KERNEL_TYPED = 1,       /* the adapter instantiates a C++ kernel of `signature` around `function` */
  PL_KERNEL_FALLTHROUGH = 2, /* no function */
  PL_KERNEL_NOOP = 3,        /* perf: the backend's own typed kernel that does nothing; returns zeros,
                                or its first tensor where a tensor is due */
  PL_KERNEL_NOOP_REDISPATCH = 4, /* perf: the backend's own typed kernel that redispatches below its key */
  PL_KERNEL_NOOP_BOXED = 5       /* perf: the backend's own boxed kernel that leaves zeros */
};

enum {
  PL_LIFETIME_RELEASABLE = 0,
  PL_LIFETIME_PERMANENT = 1 /* a hint: may be kept until close, `release` then only removes it */
};

/* The host owns function and context; `destroy` is called exactly once, when no call can reach the kernel
 * any more (also when the registration is refused). It may be NULL. */
typedef struct pl_kernel {
  uint32_t struct_size;
  uint32_t form;
  uint32_t signature; /* PL_SIGNATURE_* with TYPED, NOOP, NOOP_REDISPATCH */
  uint32_t lifetime;
  pl_kernel_function function;
  void* context;
  void (*destroy)(void* context);
  pl_string place; /* shown in errors and dumps, such as "demo.scn:4" */
} pl_kernel;

enum { PL_CALL_BOXED = 0, PL_CALL_TYPED = 1 };

typedef struct pl_call {
  uint32_t struct_size;
  uint32_t form;
  uint32_t signature; /* with PL_CALL_TYPED */
  uint32_t reserved;
  pl_operator* op;
  const pl_value* arguments;
  uint64_t argument_count;
  pl_value_sink results;
} pl_call;

enum { PL_LIBRARY_DEF = 0, PL_LIBRARY_FRAGMENT = 1, PL_LIBRARY_IMPL = 2 };
enum { PL_GUARD_INCLUDE = 0, PL_GUARD_EXCLUDE = 1 };
enum { PL_OPEN_PROCESS = 0, PL_OPEN_FRESH = 1 };

/* A key beyond those of the release: the backend's own (`describe`), or the host's (`open`). A *component* adds a
 * backend with all per-backend keys; a *backend* key or a *mode* key is one functionality. */
enum { PL_DECLARE_COMPONENT = 0, PL_DECLARE_BACKEND = 1, PL_DECLARE_MODE = 2 };
typedef struct pl_key_declaration {
  uint32_t struct_size;
  uint32_t kind;
  pl_string name;
  pl_string after;    /* the component or functionality just below it in priority */
  pl_string autograd; /* its autograd key: "own" (component only: Autograd<name>) or "AutogradOther"; empty for a mode */
} pl_key_declaration;

typedef struct pl_open_options {
  uint32_t struct_size;
  uint32_t mode;
  pl_string release;   /* "pytorch-1.13"; empty = the backend's own */
  uint32_t count_hits; /* 1: the host will ask for cache counters; else hits need not be counted, nor calls slowed */
  uint32_t reserved;
  const struct pl_key_declaration* keys; /* added to the release's, with DECLARED_KEYS and PL_OPEN_FRESH */
  uint64_t key_count;
  /* since 1.1 */
  uint32_t operators; /* 1: with the ATen operators that the backend has, where it claims OPERATORS */
  uint32_t reserved_2;
} pl_open_options;

typedef struct pl_builtin_fallback {
  uint32_t struct_size;
  uint32_t fallthrough; /* 1: falls through; 0: a boxed kernel of the backend's own */
  pl_string key;
} pl_builtin_fallback;

/* A tensor's elements as they lie in memory: element (i, j, ...) is at offset + i * strides[0] + j * strides[1] + ...,
 * counted in elements from the start of the storage. Strides are not negative, and may be 0. */
typedef struct pl_tensor_layout {
  uint32_t struct_size;
  uint32_t dtype; /* PL_DTYPE_* */
  const int64_t* sizes;
  const int64_t* strides;
  uint64_t dim;
  int64_t offset;
  pl_string device; /* "cpu", "cuda:0"; where it is given, empty means the backend's default one */
} pl_tensor_layout;

/* What a tensor is; lent for the push. A tensor that was made from a key set has no dtype: PL_ERROR_INVALID_ARGUMENT. */
typedef struct pl_tensor_info {
  uint32_t struct_size;
  uint32_t reserved;
  pl_tensor_layout layout;
  uint64_t storage_bytes;
  uint64_t storage; /* equal iff the two share memory, as views do */
  uint64_t version; /* of that memory's contents: each in-place change raises it */
} pl_tensor_info;

/* What a device's memory is in use for. A block counts with the bytes that were asked for, or with its own if that is
 * less than twice as many. */
typedef struct pl_memory_figures {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t live_bytes;  /* of storages that some tensor holds */
  uint64_t peak_bytes;  /* the most that were live at one time since the last `memory_reset_peak` */
  uint64_t kept_bytes;  /* of no storage: kept for later */
  uint64_t live_blocks; /* how many blocks the live bytes are in */
} pl_memory_figures;

/* A tensor that holds a storage; in an array of pl_memory_holder. */
typedef struct pl_held_tensor {
  uint32_t dtype; /* PL_DTYPE_* */
  uint32_t reserved;
  const int64_t* sizes;
  uint64_t dim;
  pl_string name; /* that its maker gave it, or empty */
} pl_held_tensor;

/* A storage and the tensors that hold it; lent for the push. */
typedef struct pl_memory_holder {
  uint32_t struct_size;
  uint32_t foreign; /* 1: memory from outside, which is not among the live bytes */
  uint64_t storage; /* as in pl_tensor_info */
  uint64_t bytes;
  const pl_held_tensor* tensors;
  uint64_t tensor_count;
} pl_memory_holder;

/* Filled by `describe`; everything borrowed from the shared object, for good. After `load` it may be another. */
typedef struct pl_description {
  uint32_t struct_size;
  uint32_t own_starting_state; /* 1: the two fields below replace the release's built-in fallbacks */
  pl_string name;              /* "torch" */
  pl_string version;           /* "1.13.1" */
  pl_string release;           /* the table of spec/tables that holds by default */
  const pl_key_declaration* keys;
  uint64_t key_count;
  const pl_builtin_fallback* fallbacks;
  uint64_t fallback_count;
} pl_description;

typedef struct pl_listener {
  uint32_t struct_size;
  uint32_t reserved;
  void* context;
  void (*defined)(void* context, pl_string operator_name);
  void (*removed)(void* context, pl_string operator_name);
  void (*destroy)(void* context);
} pl_listener;

/* One slot of an operator's computed table. */
enum {
  PL_RULE_KERNEL = 1,        /* registered at that very key */
  PL_RULE_NONFUNCTIONAL = 2, /* CompositeExplicitAutogradNonFunctional */
  PL_RULE_EXPLICIT = 3,      /* CompositeExplicitAutograd */
  PL_RULE_NESTED = 4,        /* CompositeImplicitAutogradNestedTensor */
  PL_RULE_IMPLICIT = 5,      /* CompositeImplicitAutograd */
  PL_RULE_AMBIGUOUS = 6,     /* AutogradOther with two claims */
  PL_RULE_AUTOGRAD = 7,      /* the Autograd alias */
  PL_RULE_BATCHED = 8,       /* FuncTorchBatchedDecomposition */
  PL_RULE_FALLBACK = 9,      /* a backend fallback, the host's or built in */
  PL_RULE_CHAIN = 10         /* a declared fallback chain */
};
typedef struct pl_table_row {
  uint32_t struct_size;
  uint32_t rule;
  uint32_t fallthrough; /* 1: the winner falls through */
  pl_key key;           /* Undefined is a key too */
  pl_string place;      /* the winner's place, as given in pl_kernel; empty for built-in ones */
} pl_table_row;
typedef struct pl_table_sink {
  void* context;
  void (*push)(void* context, const pl_table_row* row); /* missing slots are not pushed */
} pl_table_sink;

enum {
  PL_QUERY_DIRECT = 0,  /* a kernel or fallthrough registered at exactly that key, alias keys included */
  PL_QUERY_COMPUTED = 1 /* the slot has a kernel of any origin; an alias key is PL_ERROR_INVALID_ARGUMENT */
};
enum {
  PL_LIST_ALL = 0,      /* every operator name known, defined or not */
  PL_LIST_DANGLING = 1, /* implemented but not defined */
  PL_LIST_AT_KEY = 2    /* with a direct kernel at the key */
};

typedef struct pl_cache_counters {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t hits;
  uint64_t misses;
  uint64_t invalidations;
} pl_cache_counters;

typedef struct pl_adapter {
  uint32_t struct_size;
  uint32_t abi_major;
  uint32_t abi_minor;
  uint32_t reserved;
  const void* extensions; /* NULL in 1.0 */
  uint64_t capabilities;  /* PL_CAPABILITY(...) */

  /* core */
  pl_error* (*describe)(pl_description* out);                                         /* any */
  pl_error* (*open)(const pl_open_options* options, pl_registry** out);               /* any */
  void (*close)(pl_registry* registry);                                               /* frees `open` */
  pl_error* (*intern_key)(pl_registry* registry, pl_string name, pl_key* out);        /* registry */
  pl_error* (*define)(pl_registry* registry, pl_library* library, pl_string schema,   /* registry */
                      pl_string place, pl_registration** out);                        /* library may be NULL */
  pl_error* (*register_kernel)(pl_registry* registry, pl_library* library,            /* registry */
                               pl_string operator_name, pl_key key, const pl_kernel* kernel,
                               pl_registration** out); /* PL_NO_KEY: the library's key, else CompositeImplicitAutograd */
  pl_error* (*release)(pl_registration* registration);          /* registry; frees; never waits */
  pl_error* (*find_operator)(pl_registry* registry, pl_string operator_name, pl_operator** out);
  void (*operator_release)(pl_operator* op);                    /* frees `find_operator` */
  pl_error* (*call)(pl_registry* registry, const pl_call* call); /* any */
  pl_error* (*tensor_make)(pl_registry* registry, pl_key_list keys, pl_tensor** out); /* exactly this set */
  pl_error* (*tensor_make_undefined)(pl_registry* registry, pl_tensor** out);
  pl_error* (*tensor_keys)(pl_registry* registry, pl_tensor* tensor, void* context,
                           void (*push)(void* context, pl_key key)); /* lowest first */
  uint64_t (*tensor_identity)(pl_tensor* tensor); /* equal while alive iff the same tensor object; all undefined
                                                     ones are the same, and none else is */
  pl_tensor* (*tensor_retain)(pl_tensor* tensor);
  void (*tensor_release)(pl_tensor* tensor); /* frees make and retain */

  /* fallbacks */
  pl_error* (*register_fallback)(pl_registry* registry, pl_library* library, pl_key key,
                                 const pl_kernel* kernel, pl_registration** out); /* registry */
  /* libraries */
  pl_error* (*library_open)(pl_registry* registry, uint32_t kind, pl_string name_space, pl_key key,
                            pl_string place, pl_library** out); /* "_" is the wildcard namespace */
  pl_error* (*library_close)(pl_library* library); /* frees; drops the registrations made in it, whose handles
                                                     are still released once each (then a no-op) */
  /* listeners, warnings */
  pl_error* (*listener_add)(pl_registry* registry, const pl_listener* listener, pl_registration** out);
  pl_error* (*warnings_to)(pl_registry* registry, pl_string_sink sink); /* sink.push NULL: stop */
  /* guards */
  pl_error* (*guard_enter)(pl_registry* registry, uint32_t side, pl_key_list keys, pl_guard** out); /* own */
  void (*guard_leave)(pl_guard* guard);                                                             /* own; frees */
  /* chains */
  pl_error* (*chain_declare)(pl_registry* registry, pl_key key, pl_key served_by, pl_registration** out);
  /* redispatch */
  pl_error* (*redispatch)(pl_frame* frame, pl_key_list keys, const pl_value* arguments,
                          uint64_t argument_count, pl_value_sink results); /* inside that kernel only */
  /* drain */
  pl_error* (*drain)(pl_registry* registry); /* waits until no call runs a released kernel;
                                                INVALID_ARGUMENT from inside a kernel */
  /* cache */
  pl_error* (*cache_counters)(pl_registry* registry, pl_operator* op, pl_cache_counters* out);
  pl_error* (*cache_flush)(pl_registry* registry);
  /* introspection */
  pl_error* (*has_kernel)(pl_registry* registry, pl_string operator_name, pl_key key, uint32_t query,
                          uint32_t* out);
  pl_error* (*has_fallback)(pl_registry* registry, pl_key key, uint32_t* out);
  pl_error* (*list_operators)(pl_registry* registry, uint32_t which, pl_key key, pl_string_sink sink);
  pl_error* (*schema_of)(pl_registry* registry, pl_string operator_name, pl_string_sink sink);
  pl_error* (*dump_table)(pl_registry* registry, pl_string operator_name, pl_table_sink sink);
  pl_error* (*dump_registrations)(pl_registry* registry, pl_string operator_name, pl_string_sink sink); /* text lines */
  /* faults */
  pl_error* (*fault_list)(pl_string_sink sink); /* each as: name, tab, clause it violates, tab, what goes wrong */
  pl_error* (*fault_set)(pl_string name); /* empty: none; before `open` */
  /* perf */
  pl_error* (*call_many)(pl_registry* registry, const pl_call* call, uint64_t times);
  pl_error* (*find_many)(pl_registry* registry, pl_string operator_name, uint64_t times);
  /* load */
  pl_error* (*load)(pl_string path); /* before `open`: a user library that registers itself */
  /* redispatch and typed */
  pl_error* (*redispatch_typed)(pl_frame* frame, uint32_t signature, pl_key_list keys, const pl_value* arguments,
                                uint64_t argument_count, pl_value_sink results); /* as redispatch; may be NULL though
                                both are claimed: typed redispatch is then unsupported */
  /* tensors, since 1.1 */
  pl_error* (*tensor_from_host)(pl_registry* registry, const pl_tensor_layout* layout, const void* storage,
                                uint64_t storage_bytes, pl_tensor** out); /* copies; PL_ERROR_OVERFLOW, and
                                PL_ERROR_INVALID_ARGUMENT where an element would lie outside */
  pl_error* (*tensor_info)(pl_registry* registry, pl_tensor* tensor, void* context,
                           void (*push)(void* context, const pl_tensor_info* info)); /* once */
  pl_error* (*tensor_to_host)(pl_registry* registry, pl_tensor* tensor, void* elements, uint64_t bytes); /* in row-major
                                order; waits for what was queued before; `bytes` must be theirs */
  pl_error* (*storage_to_host)(pl_registry* registry, pl_tensor* tensor, void* storage, uint64_t bytes); /* all of it */
  /* memory, since 1.2; `device` as in pl_tensor_layout; of the process, not of the registry alone */
  pl_error* (*memory_figures)(pl_registry* registry, pl_string device, pl_memory_figures* out);
  pl_error* (*memory_reset_peak)(pl_registry* registry, pl_string device); /* to what is live */
  pl_error* (*memory_empty_cache)(pl_registry* registry, pl_string device); /* gives back what is kept */
  pl_error* (*memory_record)(pl_registry* registry, uint32_t on); /* 1: keep a list of the tensors that are made from
                                now on, for the next; 0: no longer. Both may be NULL though MEMORY is claimed */
  pl_error* (*memory_holders)(pl_registry* registry, pl_string device, void* context,
                              void (*push)(void* context, const pl_memory_holder* holder)); /* once each */
  /* dlpack, since 1.2 */
  pl_error* (*tensor_to_dlpack)(pl_registry* registry, pl_tensor* tensor, struct DLManagedTensor** out); /* whoever has
                                it calls its deleter, once */
  pl_error* (*tensor_from_dlpack)(pl_registry* registry, struct DLManagedTensor* managed, pl_tensor** out); /* takes it
                                over, and calls the deleter with the last tensor on it; what is refused stays the host's */
} pl_adapter;

typedef const pl_adapter* (*pl_get_adapter_function)(uint32_t host_major, uint32_t host_minor);
#define PL_GET_ADAPTER_SYMBOL "plumbline_get_adapter"

/* True if `entry` lies inside the table that `adapter` was built with, and is set. */
#define PL_HAS(adapter, entry)                                                                       \
  ((adapter)->struct_size >= offsetof(pl_adapter, entry) + sizeof((adapter)->entry) && (adapter)->entry != NULL)
/* clang-format on */

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* PLUMBLINE_SPEC_ABI_ABI_H_ */
