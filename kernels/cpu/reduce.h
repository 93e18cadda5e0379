// Reductions along any dimensions, with results that do not depend on the number of threads.
//
//   Reduce(ReduceKind::kSum, {sizes, strides, Type::kF32, data}, reduced, {out, Type::kF32});
//
// The results are written side by side, in row-major order of the kept dimensions. Floats are added in blocks whose
// sums are kept in double; integers in int64, which wraps. Any thread; runs on the pool.
#ifndef PLUMBLINE_KERNELS_CPU_REDUCE_H_
#define PLUMBLINE_KERNELS_CPU_REDUCE_H_

#include <cmath>
#include <cstdint>
#include <span>

#include "kernels/cpu/rows.h"

namespace plumbline::kernels::cpu {

enum class ReduceKind : std::uint8_t {
  kSum,
  kProd,
  kMean,
  kMin,
  kMax,
  kAny,
  kAll,
  kCountNonZero,
  kNorm,
  kVar,
  kStd,
  kLogSumExp,
  kArgMin,
  kArgMax,
};

struct PackedOutput {
  void* data;
  Type type;
};

struct ReduceOptions {
  double order = 2;       // kNorm: 0, 1, 2, infinity, minus infinity or another p
  double correction = 1;  // kVar, kStd
};

void Reduce(ReduceKind kind, const StridedInput& in, std::span<const bool> reduced, const PackedOutput& out,
            const ReduceOptions& options = {});

// Running results along one dimension; the output is packed, of the input's sizes. Sums and products.
void Accumulate(ReduceOp op, const StridedInput& in, std::size_t dim, const PackedOutput& out);

// A sum of doubles that carries the error of each addition along (Neumaier): as good as one that is rounded once, also
// where equal terms make errors that do not cancel.
class CompensatedSum {
 public:
  void Add(double x) {
    const double sum = sum_ + x;
    lost_ += std::fabs(sum_) >= std::fabs(x) ? (sum_ - sum) + x : (x - sum) + sum_;
    sum_ = sum;
  }
  double Get() const { return std::isfinite(sum_) ? sum_ + lost_ : sum_; }

 private:
  double sum_ = 0, lost_ = 0;
};

// Puts a double or an integer into place `index` of a packed output.
void Store(const PackedOutput& out, std::int64_t index, double value);
void Store(const PackedOutput& out, std::int64_t index, std::int64_t value);

// Of elements of F32, F64 or I64 that lie side by side.
Partial ReduceRow(ReduceOp op, Type type, const void* row, std::int64_t n);

}  // namespace plumbline::kernels::cpu

#endif  // PLUMBLINE_KERNELS_CPU_REDUCE_H_
