/* What ABI 1.2 added, frozen: the sizes of what grew or came, and the offsets of its fields; see layout_1_0.h.
 *
 *   X(struct, size)   X(struct, field, offset)
 */
#ifndef PLUMBLINE_SPEC_ABI_LAYOUT_1_2_H_
#define PLUMBLINE_SPEC_ABI_LAYOUT_1_2_H_

/* clang-format off */
#define PL_LAYOUT_1_2_SIZES(X) X(pl_memory_figures, 40) X(pl_held_tensor, 40) X(pl_memory_holder, 40) X(pl_adapter, 440)

#define PL_LAYOUT_1_2_FIELDS(X)                                                                                    \
  X(pl_memory_figures, struct_size, 0) X(pl_memory_figures, reserved, 4) X(pl_memory_figures, live_bytes, 8)       \
  X(pl_memory_figures, peak_bytes, 16) X(pl_memory_figures, kept_bytes, 24) X(pl_memory_figures, live_blocks, 32)  \
  X(pl_held_tensor, dtype, 0) X(pl_held_tensor, reserved, 4) X(pl_held_tensor, sizes, 8) X(pl_held_tensor, dim, 16) \
  X(pl_held_tensor, name, 24) X(pl_memory_holder, struct_size, 0) X(pl_memory_holder, foreign, 4)                  \
  X(pl_memory_holder, storage, 8) X(pl_memory_holder, bytes, 16) X(pl_memory_holder, tensors, 24)                  \
  X(pl_memory_holder, tensor_count, 32) X(pl_adapter, memory_figures, 384) X(pl_adapter, memory_reset_peak, 392)   \
  X(pl_adapter, memory_empty_cache, 400) X(pl_adapter, memory_record, 408) X(pl_adapter, memory_holders, 416)      \
  X(pl_adapter, tensor_to_dlpack, 424) X(pl_adapter, tensor_from_dlpack, 432)
/* clang-format on */

#endif /* PLUMBLINE_SPEC_ABI_LAYOUT_1_2_H_ */
