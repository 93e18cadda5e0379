#include "kernels/cpu/normalize.h"

#include <cmath>

namespace plumbline::kernels::cpu {
namespace {

std::int64_t Inner(const StridedInput& in, std::size_t dim) {
  std::int64_t inner = 1;
  for (std::size_t d = dim + 1; d < in.sizes.size(); ++d) inner *= in.sizes[d];
  return inner;
}

// Rows of results, [count][length] in the compute type, into a packed output whose rows run along `dim`.
class RowsOut {
 public:
  RowsOut(const StridedInput& in, std::size_t dim, std::size_t dims, const Rows& rows, const PackedOutput& out)
      : rows_(rows), out_(out), item_(static_cast<std::int64_t>(SizeOf(out.type))) {
    for (std::size_t d = dim + dims; d < in.sizes.size(); ++d) inner_ *= in.sizes[d];
    direct_ = inner_ == 1 && out.type == rows.type();
  }
  bool direct() const { return direct_; }
  char* At(std::int64_t index) const {
    return static_cast<char*>(out_.data) + (index / inner_ * rows_.length() * inner_ + index % inner_) * item_;
  }
  void Put(std::int64_t index, void* row) const {
    const std::int64_t n = rows_.length(), stride = inner_ * item_,
                       packed = static_cast<std::int64_t>(SizeOf(rows_.type()));
    Copy({&n, 1}, {At(index), &stride, out_.type, out_.type}, {row, &packed, rows_.type(), rows_.type()});
  }

 private:
  const Rows& rows_;
  const PackedOutput& out_;
  std::int64_t item_, inner_ = 1;
  bool direct_;
};

void SoftmaxRow(bool log, Type type, const void* row, void* out, std::int64_t n) {
  const LevelTable& level = Level();
  const int width = type == Type::kF64;
  const double largest = ReduceRow(ReduceOp::kMax, type, row, n).real;
  if (log) {
    const double sum = level.sum_exp[width](row, n, largest);
    // Not less the sum of both, which has few digits left for the logarithm beside a large number.
    level.normalize[width](out, row, nullptr, nullptr, n, largest, std::log(sum), 1);
  } else {
    const double sum = level.exp_and_sum[width](out, row, n, largest);
    level.scale_shift[width](out, out, n, 1 / sum, 0);
  }
}

// Columns that lie side by side, each a row of the softmax: whole stripes of them at a time.
void SoftmaxColumns(bool log, const Rows& rows, Type type, char* out, std::int64_t inner) {
  constexpr std::int64_t kStripe = 512, kRowsATime = 256;
  const LevelTable& level = Level();
  const auto item = static_cast<std::int64_t>(SizeOf(type));
  const int at = Index(type);
  const Loop sub = level.binary[Index(BinaryOp::kSub)][at], mul = level.binary[Index(BinaryOp::kMul)][at],
             exp = level.unary[Index(UnaryOp::kExp)][at];
  const std::int64_t stripes = (inner + kStripe - 1) / kStripe, length = rows.length();
  const std::int64_t in_stride = rows.reduced().empty() ? 0 : rows.reduced().back().stride, out_stride = inner * item;
  Parameters one;
  one.real[0] = 1;
  ParallelFor(
      rows.count() / inner * stripes, 1,
      [&](std::int64_t begin, std::int64_t end) {
        alignas(64) char shift[kStripe * 8], sums[kStripe * 8], exps[kStripe * 8];
        std::vector<double> totals(kStripe);
        const auto get = [&](const char* row, std::int64_t i) {
          return type == Type::kF64 ? reinterpret_cast<const double*>(row)[i]
                                    : static_cast<double>(reinterpret_cast<const float*>(row)[i]);
        };
        for (std::int64_t s = begin; s < end; ++s) {
          const std::int64_t first = s / stripes * inner + s % stripes * kStripe;
          const std::int64_t n = std::min(kStripe, inner - s % stripes * kStripe);
          const char* const from = rows.RowAt(first);
          char* const to = out + (s / stripes * length * inner + s % stripes * kStripe) * item;
          for (std::int64_t i = 0; i < n; ++i) Store({shift, type}, i, -HUGE_VAL);
          level.reduce_rows[Index(ReduceOp::kMax)][at](shift, from, length, in_stride, n);
          std::fill(totals.begin(), totals.end(), 0.0);
          for (std::int64_t r = 0; r < length; r += kRowsATime) {
            std::fill_n(sums, n * item, 0);
            for (std::int64_t k = r; k < std::min(length, r + kRowsATime); ++k) {
              char* const row = to + k * out_stride;
              void* const difference[] = {row, const_cast<char*>(from + k * in_stride), shift};
              sub(difference, n, one);
              void* const power[] = {log ? exps : row, row};
              exp(power, n, one);
              level.reduce_rows[Index(ReduceOp::kSum)][at](sums, power[0], 1, 0, n);
            }
            for (std::int64_t i = 0; i < n; ++i) totals[static_cast<std::size_t>(i)] += get(sums, i);
          }
          for (std::int64_t i = 0; i < n; ++i) {
            const double total = totals[static_cast<std::size_t>(i)];
            Store({shift, type}, i, log ? std::log(total) : 1 / total);
          }
          for (std::int64_t k = 0; k < length; ++k) {
            void* const data[] = {to + k * out_stride, to + k * out_stride, shift};
            (log ? sub : mul)(data, n, one);
          }
        }
      },
      length * std::min(kStripe, inner));
}

}  // namespace

void Softmax(bool log, const StridedInput& in, std::size_t dim, const PackedOutput& out) {
  const auto reduced = std::make_unique<bool[]>(in.sizes.size() + 1);
  if (!in.sizes.empty()) reduced[dim] = true;
  const Type compute = ComputeType(out.type);
  const Rows rows(in, {reduced.get(), in.sizes.size()}, compute);
  const RowsOut results(in, dim, 1, rows, out);
  const std::int64_t n = rows.length();
  const auto item = static_cast<std::int64_t>(SizeOf(compute));
  if (!rows.direct() && in.type == compute && out.type == compute && !rows.kept().empty() &&
      rows.kept().back().stride == item && rows.kept().back().size >= 16 &&
      rows.kept().back().size % Inner(in, dim) == 0) {
    return SoftmaxColumns(log, rows, compute, static_cast<char*>(out.data), Inner(in, dim));
  }
  rows.ForEach([&](const void* row, std::int64_t index) {
    if (results.direct()) return SoftmaxRow(log, compute, row, results.At(index), n);
    if (!rows.direct()) {  // the gathered row is ours
      SoftmaxRow(log, compute, row, const_cast<void*>(row), n);
      return results.Put(index, const_cast<void*>(row));
    }
    std::vector<double> buffer(static_cast<std::size_t>(n));
    SoftmaxRow(log, compute, row, buffer.data(), n);
    results.Put(index, buffer.data());
  });
}

void LayerNorm(const StridedInput& in, std::size_t normalized, const void* weight, const void* bias, double epsilon,
               const PackedOutput& out, void* mean_out, void* deviation_out) {
  const auto reduced = std::make_unique<bool[]>(in.sizes.size() + 1);
  const std::size_t first = in.sizes.size() - normalized;
  std::fill(reduced.get() + first, reduced.get() + in.sizes.size(), true);
  const Type compute = ComputeType(out.type);
  const int width = compute == Type::kF64;
  const Rows rows(in, {reduced.get(), in.sizes.size()}, compute);
  const RowsOut results(in, first, normalized, rows, out);
  const std::int64_t n = rows.length();
  rows.ForEach([&](const void* row, std::int64_t index) {
    const double mean = ReduceRow(ReduceOp::kSum, compute, row, n).real / static_cast<double>(n);
    double squares = 0;
    for (std::int64_t i = 0; i < n; i += 4096) {
      squares += Level().sum_squared_distance[width](static_cast<const char*>(row) + i * (width ? 8 : 4),
                                                     std::min<std::int64_t>(4096, n - i), mean);
    }
    const double scale = 1 / std::sqrt(squares / static_cast<double>(n) + epsilon);
    if (mean_out != nullptr) Store({mean_out, compute}, index, mean);
    if (deviation_out != nullptr) Store({deviation_out, compute}, index, scale);
    if (results.direct()) return Level().normalize[width](results.At(index), row, weight, bias, n, mean, 0, scale);
    std::vector<double> buffer(static_cast<std::size_t>(n));
    Level().normalize[width](buffer.data(), row, weight, bias, n, mean, 0, scale);
    results.Put(index, buffer.data());
  });
}

}  // namespace plumbline::kernels::cpu
