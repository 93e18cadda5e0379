// Matrix products: C = alpha A B + beta C.
//
//   Gemm(Type::kF32, {m, n, k}, {a, lda_rows, lda_columns}, {b, ...}, c, 1, 0);
//
// A is m by k, B k by n, with any strides (elements); C is packed, row-major, of the same type. Where beta is 0, C is
// not read. F32 and F64 are OpenBLAS's, which is kept to one thread: the pool cuts the work. F16 and BF16 are computed
// in F32 and rounded once, integers wrap. Products of at most 8 rows and columns are our own. Any thread; runs on the
// pool.
#ifndef PLUMBLINE_KERNELS_CPU_GEMM_H_
#define PLUMBLINE_KERNELS_CPU_GEMM_H_

#include <cstdint>

#include "kernels/cpu/level.h"

namespace plumbline::kernels::cpu {

struct Matrix {
  const void* data;
  std::int64_t row_stride, column_stride;
};
struct GemmSizes {
  std::int64_t m, n, k;
};

// A factor of a product: `real` for floats, `integer` for integers.
struct Factor {
  double real;
  std::int64_t integer;
};

void Gemm(Type type, const GemmSizes& sizes, const Matrix& a, const Matrix& b, void* c, Factor alpha, Factor beta);

// `batch` products; strides between matrices in elements, of C it is m * n.
void BatchedGemm(Type type, std::int64_t batch, const GemmSizes& sizes, const Matrix& a, std::int64_t a_stride,
                 const Matrix& b, std::int64_t b_stride, void* c, Factor alpha, Factor beta);

}  // namespace plumbline::kernels::cpu

#endif  // PLUMBLINE_KERNELS_CPU_GEMM_H_
