// One work item for each result, which is packed.

__kernel void sum(const Layout layout, __global uchar* out, __global const uchar* a) {
  const long i = get_global_id(0);
  if (i >= layout.count) return;
  long at[2];
  places(&layout, 2, i, at);
  Sum total;
  sum_begin(&total);
  for (long term = 0; term < layout.reduced; ++term) {
    long rest = term, place = at[1];
    for (int d = layout.reduced_dims - 1; d >= 0; --d) {
      place += rest % layout.strides[3][d] * layout.strides[2][d];
      rest /= layout.strides[3][d];
    }
    sum_add(&total, load(a, layout.types[1], place));
  }
  store(out, layout.types[0], at[0], sum_end(&total));
}
