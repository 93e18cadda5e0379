// Elements as the bits that they are, whatever they mean; ITEM is an unsigned type of their size.

__kernel void move(const Layout layout, __global uchar* out, __global const uchar* a) {
  const long i = get_global_id(0);
  if (i >= layout.count) return;
  long at[2] = {layout.offsets[0], layout.offsets[1]};
  long rest = i;
  for (int d = layout.dims - 1; d >= 0; --d) {
    const long index = rest % layout.sizes[d];
    rest /= layout.sizes[d];
    at[0] += index * layout.strides[0][d];
    at[1] += index * layout.strides[1][d];
  }
  ((__global ITEM*)out)[at[0]] = layout.types[1] == TYPE_IMMEDIATE ? (ITEM)layout.integers[1]
                                                                   : ((__global const ITEM*)a)[at[1]];
}
