/* What ABI 1.1 added, frozen: the sizes of what grew or came, and the offsets of its fields; see layout_1_0.h.
 *
 *   X(struct, size)   X(struct, field, offset)
 */
#ifndef PLUMBLINE_SPEC_ABI_LAYOUT_1_1_H_
#define PLUMBLINE_SPEC_ABI_LAYOUT_1_1_H_

/* clang-format off */
#define PL_LAYOUT_1_1_SIZES(X) X(pl_open_options, 56) X(pl_tensor_layout, 56) X(pl_tensor_info, 88) X(pl_adapter, 384)

#define PL_LAYOUT_1_1_FIELDS(X)                                                                                   \
  X(pl_open_options, operators, 48) X(pl_open_options, reserved_2, 52) X(pl_tensor_layout, struct_size, 0)        \
  X(pl_tensor_layout, dtype, 4) X(pl_tensor_layout, sizes, 8) X(pl_tensor_layout, strides, 16)                    \
  X(pl_tensor_layout, dim, 24) X(pl_tensor_layout, offset, 32) X(pl_tensor_layout, device, 40)                    \
  X(pl_tensor_info, struct_size, 0) X(pl_tensor_info, reserved, 4) X(pl_tensor_info, layout, 8)                   \
  X(pl_tensor_info, storage_bytes, 64) X(pl_tensor_info, storage, 72) X(pl_tensor_info, version, 80)              \
  X(pl_adapter, tensor_from_host, 352) X(pl_adapter, tensor_info, 360) X(pl_adapter, tensor_to_host, 368)         \
  X(pl_adapter, storage_to_host, 376)
/* clang-format on */

#endif /* PLUMBLINE_SPEC_ABI_LAYOUT_1_1_H_ */
