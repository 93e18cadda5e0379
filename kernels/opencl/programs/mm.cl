// One work item for each element of a product of matrices; strides[1] and strides[2] are of the rows and columns of the
// factors.

__kernel void mm(const Layout layout, __global uchar* out, __global const uchar* a, __global const uchar* b) {
  const long i = get_global_id(0);
  if (i >= layout.count) return;
  const long row = i / layout.sizes[1], column = i % layout.sizes[1];
  const long left = layout.offsets[1] + row * layout.strides[1][0];
  const long right = layout.offsets[2] + column * layout.strides[2][1];
  Sum total;
  sum_begin(&total);
  for (long k = 0; k < layout.reduced; ++k) {
    sum_add(&total, multiplied(load(a, layout.types[1], left + k * layout.strides[1][1]),
                               load(b, layout.types[2], right + k * layout.strides[2][0])));
  }
  store(out, layout.types[0], layout.offsets[0] + i, sum_end(&total));
}
