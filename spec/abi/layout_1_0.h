/* The layout of ABI 1.0, frozen: sizes and offsets of every struct of abi.h on a machine with 64-bit pointers.
 *
 * Included by one C and one C++ file, which fail to compile when abi.h moves, removes or re-types a field. A newer
 * minor may append to a struct that starts with struct_size (its size grows, these offsets stay); then it gets a file
 * of its own beside this one, and the sizes below become lower bounds.
 *
 *   X(struct, size)   X(struct, field, offset)
 */
#ifndef PLUMBLINE_SPEC_ABI_LAYOUT_1_0_H_
#define PLUMBLINE_SPEC_ABI_LAYOUT_1_0_H_

/* clang-format off */
#define PL_LAYOUT_1_0_SIZES(X)                                                                                  \
  X(pl_string, 16) X(pl_key_list, 16) X(pl_error, 56) X(pl_value_list, 16) X(pl_value, 24) X(pl_value_sink, 16) \
  X(pl_string_sink, 16) X(pl_frame, 88) X(pl_kernel, 56) X(pl_call, 56) X(pl_open_options, 48)                  \
  X(pl_key_declaration, 56) X(pl_builtin_fallback, 24) X(pl_description, 88) X(pl_listener, 40)                 \
  X(pl_table_row, 32) X(pl_table_sink, 16) X(pl_cache_counters, 32) X(pl_adapter, 352)

#define PL_LAYOUT_1_0_FIELDS(X)                                                                                  \
  X(pl_string, data, 0) X(pl_string, size, 8) X(pl_key_list, data, 0) X(pl_key_list, size, 8)                    \
  X(pl_error, struct_size, 0) X(pl_error, error_class, 4) X(pl_error, message, 8) X(pl_error, origin, 24)        \
  X(pl_error, payload, 40) X(pl_error, release, 48) X(pl_value_list, data, 0) X(pl_value_list, size, 8)          \
  X(pl_value, kind, 0) X(pl_value, reserved, 4) X(pl_value, as, 8) X(pl_value_sink, context, 0)                  \
  X(pl_value_sink, push, 8) X(pl_string_sink, context, 0) X(pl_string_sink, push, 8) X(pl_frame, struct_size, 0) \
  X(pl_frame, reserved, 4) X(pl_frame, registry, 8) X(pl_frame, operator_name, 16) X(pl_frame, keys, 32)         \
  X(pl_frame, arguments, 48) X(pl_frame, argument_count, 56) X(pl_frame, results, 64) X(pl_frame, backend, 80)   \
  X(pl_kernel, struct_size, 0) X(pl_kernel, form, 4) X(pl_kernel, signature, 8) X(pl_kernel, lifetime, 12)       \
  X(pl_kernel, function, 16) X(pl_kernel, context, 24) X(pl_kernel, destroy, 32) X(pl_kernel, place, 40)         \
  X(pl_call, struct_size, 0) X(pl_call, form, 4) X(pl_call, signature, 8) X(pl_call, reserved, 12)               \
  X(pl_call, op, 16) X(pl_call, arguments, 24) X(pl_call, argument_count, 32) X(pl_call, results, 40)            \
  X(pl_open_options, struct_size, 0) X(pl_open_options, mode, 4) X(pl_open_options, release, 8)                  \
  X(pl_open_options, count_hits, 24) X(pl_open_options, reserved, 28) X(pl_open_options, keys, 32)               \
  X(pl_open_options, key_count, 40) X(pl_key_declaration, struct_size, 0)                                        \
  X(pl_key_declaration, kind, 4) X(pl_key_declaration, name, 8) X(pl_key_declaration, after, 24)                 \
  X(pl_key_declaration, autograd, 40) X(pl_builtin_fallback, struct_size, 0)                                     \
  X(pl_builtin_fallback, fallthrough, 4) X(pl_builtin_fallback, key, 8) X(pl_description, struct_size, 0)        \
  X(pl_description, own_starting_state, 4) X(pl_description, name, 8) X(pl_description, version, 24)             \
  X(pl_description, release, 40) X(pl_description, keys, 56) X(pl_description, key_count, 64)                    \
  X(pl_description, fallbacks, 72) X(pl_description, fallback_count, 80) X(pl_listener, struct_size, 0)          \
  X(pl_listener, reserved, 4) X(pl_listener, context, 8) X(pl_listener, defined, 16) X(pl_listener, removed, 24) \
  X(pl_listener, destroy, 32) X(pl_table_row, struct_size, 0) X(pl_table_row, rule, 4)                           \
  X(pl_table_row, fallthrough, 8) X(pl_table_row, key, 12) X(pl_table_row, place, 16)                            \
  X(pl_table_sink, context, 0) X(pl_table_sink, push, 8) X(pl_cache_counters, struct_size, 0)                    \
  X(pl_cache_counters, reserved, 4) X(pl_cache_counters, hits, 8) X(pl_cache_counters, misses, 16)               \
  X(pl_cache_counters, invalidations, 24) X(pl_adapter, struct_size, 0) X(pl_adapter, abi_major, 4)              \
  X(pl_adapter, abi_minor, 8) X(pl_adapter, reserved, 12) X(pl_adapter, extensions, 16)                          \
  X(pl_adapter, capabilities, 24) X(pl_adapter, describe, 32) X(pl_adapter, open, 40) X(pl_adapter, close, 48)   \
  X(pl_adapter, intern_key, 56) X(pl_adapter, define, 64) X(pl_adapter, register_kernel, 72)                     \
  X(pl_adapter, release, 80) X(pl_adapter, find_operator, 88) X(pl_adapter, operator_release, 96)                \
  X(pl_adapter, call, 104) X(pl_adapter, tensor_make, 112) X(pl_adapter, tensor_make_undefined, 120)             \
  X(pl_adapter, tensor_keys, 128) X(pl_adapter, tensor_identity, 136) X(pl_adapter, tensor_retain, 144)          \
  X(pl_adapter, tensor_release, 152) X(pl_adapter, register_fallback, 160) X(pl_adapter, library_open, 168)      \
  X(pl_adapter, library_close, 176) X(pl_adapter, listener_add, 184) X(pl_adapter, warnings_to, 192)             \
  X(pl_adapter, guard_enter, 200) X(pl_adapter, guard_leave, 208) X(pl_adapter, chain_declare, 216)              \
  X(pl_adapter, redispatch, 224) X(pl_adapter, drain, 232) X(pl_adapter, cache_counters, 240)                    \
  X(pl_adapter, cache_flush, 248) X(pl_adapter, has_kernel, 256) X(pl_adapter, has_fallback, 264)                \
  X(pl_adapter, list_operators, 272) X(pl_adapter, schema_of, 280) X(pl_adapter, dump_table, 288)                \
  X(pl_adapter, dump_registrations, 296) X(pl_adapter, fault_list, 304) X(pl_adapter, fault_set, 312)            \
  X(pl_adapter, call_many, 320) X(pl_adapter, find_many, 328) X(pl_adapter, load, 336)                           \
  X(pl_adapter, redispatch_typed, 344)
/* clang-format on */

#endif /* PLUMBLINE_SPEC_ABI_LAYOUT_1_0_H_ */
