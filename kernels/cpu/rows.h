// The elements of a strided operand as rows along some of its dimensions: each row side by side, in the compute type.
//
//   const Rows rows({sizes, strides, Type::kF16, data}, reduced);      // reduced: one bool for each dimension
//   rows.ForEach([&](const void* row, std::int64_t index) { ... });    // row: rows.length() floats
//
// `index` counts the kept dimensions in row-major order; each row runs through the reduced ones in row-major order.
// Rows that lie so already are handed out in place, others are gathered, some at a time. Rows come from many threads.
// A long row is not gathered whole, which would take as much memory as the operand or more, but in pieces:
//
//   std::vector<char> buffer;
//   for (std::int64_t p = 0; p < rows.pieces(); ++p) { const Rows::Piece piece = rows.PieceOf(index, p, buffer); ... }
#ifndef PLUMBLINE_KERNELS_CPU_ROWS_H_
#define PLUMBLINE_KERNELS_CPU_ROWS_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/thread_pool.h"

namespace plumbline::kernels::cpu {

struct StridedInput {
  std::span<const std::int64_t> sizes;
  std::span<const std::int64_t> strides;  // bytes
  Type type;
  const void* data;
};

class Rows {
 public:
  // In `wanted`, which is the type itself or one that it is converted to.
  Rows(const StridedInput& in, std::span<const bool> reduced, Type wanted);

  std::int64_t count() const { return count_; }
  std::int64_t length() const { return length_; }
  Type type() const { return wanted_; }
  bool direct() const { return direct_; }
  const char* RowAt(std::int64_t index) const;  // where its first element is in memory

  struct Step {
    std::int64_t size, stride;
  };
  // Outermost first, joined where they can be.
  std::span<const Step> kept() const { return kept_; }
  std::span<const Step> reduced() const { return reduced_; }

  template <class F>
  void ForEach(F visit) const {
    const std::int64_t inner = kept_.empty() ? 1 : kept_.back().size;
    const std::int64_t grain = std::max<std::int64_t>(1, kGrain / std::max<std::int64_t>(1, length_));
    ParallelFor(
        count_, grain,
        [&](std::int64_t begin, std::int64_t end) {
          if (direct_) {
            for (std::int64_t index = begin; index < end; ++index) visit(RowAt(index), index);
            return;
          }
          const auto bytes = static_cast<std::int64_t>(SizeOf(wanted_)) * length_;
          const std::int64_t most = std::clamp<std::int64_t>(65536 / std::max<std::int64_t>(1, length_), 1, 256);
          const auto buffer = std::make_unique_for_overwrite<char[]>(
              static_cast<std::size_t>(std::max<std::int64_t>(1, bytes * std::min(most, end - begin))));
          for (std::int64_t index = begin; index < end;) {
            const std::int64_t n = std::min({most, end - index, inner - index % inner});
            Gather(buffer.get(), index, n);
            for (std::int64_t k = 0; k < n; ++k) visit(buffer.get() + k * bytes, index + k);
            index += n;
          }
        },
        std::max<std::int64_t>(1, length_));
  }

  // Of each row, in row-major order; which they are depends on sizes and strides alone.
  std::int64_t pieces() const { return outer_ * cuts_; }
  struct Piece {
    const void* elements;  // in the buffer, or in place
    std::int64_t n, first;
  };
  Piece PieceOf(std::int64_t index, std::int64_t piece, std::vector<char>& buffer) const;

  // `n` rows from `index` on, which differ in the innermost kept dimension only.
  void Gather(void* to, std::int64_t index, std::int64_t n) const;

 private:
  const char* data_;
  Type type_, wanted_;
  std::int64_t count_ = 1, length_ = 1;
  std::vector<Step> kept_, reduced_;
  bool direct_;
  // A piece is `run_` indices of the reduced dimension `cut_`, each with the block of elements inside of it.
  std::size_t cut_ = 0;
  std::int64_t run_ = 1, block_ = 1, cuts_ = 1, outer_ = 1;
};

}  // namespace plumbline::kernels::cpu

#endif  // PLUMBLINE_KERNELS_CPU_ROWS_H_
