#include "kernels/cpu/gemm.h"

#include <cblas.h>

#include <algorithm>
#include <climits>
#include <memory>
#include <type_traits>

#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/thread_pool.h"

namespace plumbline::kernels::cpu {
namespace {

void KeepBlasToOneThread() {
  static const bool done = [] {
    openblas_set_num_threads(1);
    return true;
  }();
  static_cast<void>(done);
}

std::int64_t ItemOf(Type type) { return static_cast<std::int64_t>(SizeOf(type)); }

// A packed, row-major copy in another type.
std::unique_ptr<char[]> Packed(Type from, Type to, const Matrix& in, std::int64_t rows, std::int64_t columns) {
  auto copy = std::make_unique_for_overwrite<char[]>(static_cast<std::size_t>(rows * columns * ItemOf(to) + 1));
  const std::int64_t sizes[] = {rows, columns}, to_strides[] = {columns * ItemOf(to), ItemOf(to)},
                     from_strides[] = {in.row_stride * ItemOf(from), in.column_stride * ItemOf(from)};
  Copy(sizes, {copy.get(), to_strides, to, to}, {const_cast<void*>(in.data), from_strides, from, from});
  return copy;
}

// Any strides, plain loops along rows of C.
template <class T>
void Plain(const GemmSizes& s, const Matrix& a, const Matrix& b, T* c, T alpha, T beta) {
  const T* const left = static_cast<const T*>(a.data);
  const T* const right = static_cast<const T*>(b.data);
  using Wide = std::conditional_t<std::is_floating_point_v<T>, T, std::uint64_t>;
  for (std::int64_t i = 0; i < s.m; ++i) {
    T* const row = c + i * s.n;
    for (std::int64_t j = 0; j < s.n; ++j) row[j] = beta == T(0) ? T(0) : static_cast<T>(Wide(beta) * Wide(row[j]));
    for (std::int64_t k = 0; k < s.k; ++k) {
      const Wide factor = Wide(alpha) * Wide(left[i * a.row_stride + k * a.column_stride]);
      const T* const other = right + k * b.row_stride;
      for (std::int64_t j = 0; j < s.n; ++j) {
        row[j] = static_cast<T>(Wide(row[j]) + factor * Wide(other[j * b.column_stride]));
      }
    }
  }
}

// Up to 8 by 8 results in registers, the sum over k in order.
template <class T>
void Small(const GemmSizes& s, const Matrix& a, const Matrix& b, T* c, T alpha, T beta) {
  const T* const left = static_cast<const T*>(a.data);
  const T* const right = static_cast<const T*>(b.data);
  for (std::int64_t i = 0; i < s.m; ++i) {
    T sums[8] = {};
    for (std::int64_t k = 0; k < s.k; ++k) {
      const T x = left[i * a.row_stride + k * a.column_stride];
      const T* const other = right + k * b.row_stride;
      for (std::int64_t j = 0; j < s.n; ++j) sums[j] += x * other[j * b.column_stride];
    }
    for (std::int64_t j = 0; j < s.n; ++j) {
      const T product = alpha == T(1) ? sums[j] : alpha * sums[j];
      c[i * s.n + j] = beta == T(0) ? product : product + beta * c[i * s.n + j];
    }
  }
}

// How BLAS reads a matrix: transposed or not, and its leading dimension. 0: it cannot.
struct Layout {
  CBLAS_TRANSPOSE transpose = CblasNoTrans;
  std::int64_t leading = 0;
};
Layout LayoutOf(const Matrix& m, std::int64_t rows, std::int64_t columns) {
  const auto fits = [](std::int64_t stride, std::int64_t length, std::int64_t count) {
    return (stride >= std::max<std::int64_t>(1, length) || count <= 1) && stride <= INT_MAX;
  };
  if ((m.column_stride == 1 || columns <= 1) && fits(m.row_stride, columns, rows)) {
    return {CblasNoTrans, std::max<std::int64_t>({1, columns, rows > 1 ? m.row_stride : 1})};
  }
  if ((m.row_stride == 1 || rows <= 1) && fits(m.column_stride, rows, columns)) {
    return {CblasTrans, std::max<std::int64_t>({1, rows, columns > 1 ? m.column_stride : 1})};
  }
  return {};
}

template <class T>
void BlasGemm(const GemmSizes& s, const Layout& la, const T* a, const Layout& lb, const T* b, T* c, T alpha, T beta) {
  const auto m = static_cast<int>(s.m), n = static_cast<int>(s.n), k = static_cast<int>(s.k);
  const auto lda = static_cast<int>(la.leading), ldb = static_cast<int>(lb.leading);
  if (beta == T(0) && (n == 1 || m == 1)) std::fill_n(c, s.m * s.n, T(0));
  if (n == 1 && (lb.transpose == CblasTrans || ldb == 1)) {
    const bool plain = la.transpose == CblasNoTrans;
    const auto call = [&](auto gemv) {
      gemv(CblasRowMajor, la.transpose, plain ? m : k, plain ? k : m, alpha, a, lda, b, 1, beta, c, 1);
    };
    if constexpr (sizeof(T) == 4) {
      return call(&cblas_sgemv);
    } else {
      return call(&cblas_dgemv);
    }
  }
  const auto call = [&](auto gemm) {
    gemm(CblasRowMajor, la.transpose, lb.transpose, m, n, k, alpha, a, lda, b, ldb, beta, c, n);
  };
  if constexpr (sizeof(T) == 4) {
    call(&cblas_sgemm);
  } else {
    call(&cblas_dgemm);
  }
}

template <class T>
void FloatGemm(Type type, const GemmSizes& s, Matrix a, Matrix b, T* c, T alpha, T beta) {
  if (s.m <= 8 && s.n <= 8 && s.k <= 64) return Small<T>(s, a, b, c, alpha, beta);
  // A BLAS need not scale C where there is nothing to add.
  if (s.k == 0 || std::max({s.m, s.n, s.k}) > INT_MAX) return Plain<T>(s, a, b, c, alpha, beta);
  KeepBlasToOneThread();
  std::unique_ptr<char[]> packed_a, packed_b;
  Layout la = LayoutOf(a, s.m, s.k), lb = LayoutOf(b, s.k, s.n);
  if (la.leading == 0) {
    packed_a = Packed(type, type, a, s.m, s.k);
    a = {packed_a.get(), s.k, 1};
    la = LayoutOf(a, s.m, s.k);
  }
  if (lb.leading == 0) {
    packed_b = Packed(type, type, b, s.k, s.n);
    b = {packed_b.get(), s.n, 1};
    lb = LayoutOf(b, s.k, s.n);
  }
  // Rows of C are cut between threads, each with enough work to be worth the packing of B.
  const std::int64_t rows = std::max<std::int64_t>(64, (s.m + Threads() - 1) / Threads());
  const std::int64_t step = la.transpose == CblasNoTrans ? la.leading : 1;
  ParallelFor(
      s.m, (rows + 15) / 16 * 16,
      [&](std::int64_t begin, std::int64_t end) {
        BlasGemm<T>({end - begin, s.n, s.k}, la, static_cast<const T*>(a.data) + begin * step, lb,
                    static_cast<const T*>(b.data), c + begin * s.n, alpha, beta);
      },
      std::max<std::int64_t>(1, s.n * s.k / 8));
}

}  // namespace

void Gemm(Type type, const GemmSizes& s, const Matrix& a, const Matrix& b, void* c, Factor alpha, Factor beta) {
  if (s.m == 0 || s.n == 0) return;
  if (type == Type::kF32) {
    return FloatGemm<float>(type, s, a, b, static_cast<float*>(c), static_cast<float>(alpha.real),
                            static_cast<float>(beta.real));
  }
  if (type == Type::kF64) return FloatGemm<double>(type, s, a, b, static_cast<double*>(c), alpha.real, beta.real);
  // Through a wider type.
  const Type wide = IsFloat(type) ? Type::kF32 : Type::kI64;
  const auto wide_a = Packed(type, wide, a, s.m, s.k), wide_b = Packed(type, wide, b, s.k, s.n);
  const auto wide_c = Packed(type, wide, {c, s.n, 1}, s.m, s.n);
  const Matrix left = {wide_a.get(), s.k, 1}, right = {wide_b.get(), s.n, 1};
  if (wide == Type::kF32) {
    Gemm(wide, s, left, right, wide_c.get(), alpha, beta);
  } else {
    auto* const results = reinterpret_cast<std::int64_t*>(wide_c.get());
    ParallelFor(
        s.m, std::max<std::int64_t>(1, kGrain / (s.n * std::max<std::int64_t>(1, s.k))),
        [&](std::int64_t begin, std::int64_t end) {
          Plain<std::int64_t>({end - begin, s.n, s.k},
                              {static_cast<const std::int64_t*>(left.data) + begin * s.k, s.k, 1}, right,
                              results + begin * s.n, alpha.integer, beta.integer);
        },
        s.n * std::max<std::int64_t>(1, s.k));
  }
  const std::int64_t n = s.m * s.n, wide_item = ItemOf(wide), item = ItemOf(type);
  Copy({&n, 1}, {c, &item, type, type}, {wide_c.get(), &wide_item, wide, wide});
}

void BatchedGemm(Type type, std::int64_t batch, const GemmSizes& sizes, const Matrix& a, std::int64_t a_stride,
                 const Matrix& b, std::int64_t b_stride, void* c, Factor alpha, Factor beta) {
  const std::int64_t work = std::max<std::int64_t>(1, sizes.m * sizes.n * std::max<std::int64_t>(1, sizes.k) / 8);
  const auto at = [&](const void* data, std::int64_t elements) {
    return static_cast<const char*>(data) + elements * ItemOf(type);
  };
  ParallelFor(
      batch, std::max<std::int64_t>(1, kGrain / work),
      [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
          Gemm(type, sizes, {at(a.data, i * a_stride), a.row_stride, a.column_stride},
               {at(b.data, i * b_stride), b.row_stride, b.column_stride},
               const_cast<char*>(at(c, i * sizes.m * sizes.n)), alpha, beta);
        }
      },
      work);
}

}  // namespace plumbline::kernels::cpu
