// Rows that are too long to be gathered are reduced in pieces: their results are those of the elements in order.
#include "kernels/cpu/reduce.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

namespace plumbline::kernels::cpu {
namespace {

// A [3, 700, 2, 333] tensor whose second and last dimension are reduced: each of 6 rows has 233,100 elements, in runs
// of 333 that are apart, in a type that has to be converted.
struct Long {
  static constexpr std::int64_t kSizes[] = {3, 700, 2, 333};
  static constexpr std::int64_t kCount = 3 * 2, kLength = 700 * 333;
  std::vector<std::int8_t> data = std::vector<std::int8_t>(3 * 700 * 2 * 333);
  std::int64_t strides[4] = {700 * 2 * 333, 2 * 333, 333, 1};
  bool reduced[4] = {false, true, false, true};

  Long() {
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::int8_t>((i * 2654435761u >> 13) % 100);
  }
  StridedInput input() const { return {kSizes, strides, Type::kI8, data.data()}; }
  std::int8_t& At(std::int64_t row, std::int64_t k) {
    return data[static_cast<std::size_t>(row / 2 * strides[0] + k / 333 * strides[1] + row % 2 * strides[2] + k % 333)];
  }
};

TEST(ReduceTest, LongRowsThatAreConverted) {
  Long rows;
  rows.At(4, 200'000) = 127;
  rows.At(4, 230'000) = 127;
  rows.At(5, Long::kLength - 1) = -128;
  std::int64_t sums[Long::kCount], greatest[Long::kCount], least_at[Long::kCount], greatest_at[Long::kCount];
  Reduce(ReduceKind::kSum, rows.input(), rows.reduced, {sums, Type::kI64});
  Reduce(ReduceKind::kMax, rows.input(), rows.reduced, {greatest, Type::kI64});
  Reduce(ReduceKind::kArgMax, rows.input(), rows.reduced, {greatest_at, Type::kI64});
  Reduce(ReduceKind::kArgMin, rows.input(), rows.reduced, {least_at, Type::kI64});
  for (std::int64_t row = 0; row < Long::kCount; ++row) {
    std::int64_t sum = 0, first_greatest = 0, first_least = 0;
    for (std::int64_t k = 0; k < Long::kLength; ++k) {
      sum += rows.At(row, k);
      if (rows.At(row, k) > rows.At(row, first_greatest)) first_greatest = k;
      if (rows.At(row, k) < rows.At(row, first_least)) first_least = k;
    }
    EXPECT_EQ(sums[row], sum) << row;
    EXPECT_EQ(greatest[row], rows.At(row, first_greatest)) << row;
    EXPECT_EQ(greatest_at[row], first_greatest) << row;
    EXPECT_EQ(least_at[row], first_least) << row;
  }
  EXPECT_EQ(greatest_at[4], 200'000);
  EXPECT_EQ(least_at[5], Long::kLength - 1);
}

// The innermost run alone is longer than a piece.
TEST(ReduceTest, LongRowsOfLongRuns) {
  constexpr std::int64_t kRun = 100'000;
  const std::int64_t sizes[] = {3, 2, kRun}, strides[] = {2 * kRun, kRun, 1};
  const bool reduced[] = {true, false, true};
  std::vector<std::int8_t> data(6 * kRun, 1);
  data[4 * kRun + 99'999] = 9;  // row 0, run 2
  data[3 * kRun + 70'000] = 7;  // row 1, run 1
  std::int64_t sums[2], at[2];
  const StridedInput in{sizes, strides, Type::kI8, data.data()};
  Reduce(ReduceKind::kSum, in, reduced, {sums, Type::kI64});
  Reduce(ReduceKind::kArgMax, in, reduced, {at, Type::kI64});
  EXPECT_EQ(sums[0], 3 * kRun + 8);
  EXPECT_EQ(sums[1], 3 * kRun + 6);
  EXPECT_EQ(at[0], 2 * kRun + 99'999);
  EXPECT_EQ(at[1], kRun + 70'000);
}

TEST(ReduceTest, LongRowsOfFloats) {
  constexpr std::int64_t kN = 400'003;
  const std::int64_t sizes[] = {kN}, strides[] = {8};
  const bool reduced[] = {true};
  std::vector<float> data(2 * kN, -1e30F);  // every second one is an element
  double sum = 0, squares = 0, powers = 0, cubes = 0;
  for (std::int64_t i = 0; i < kN; ++i) {
    const float x = static_cast<float>((i * 7919) % 1000) / 500 - 1;
    data[static_cast<std::size_t>(2 * i)] = x;
    sum += x;
    squares += static_cast<double>(x) * x;
    powers += std::exp(static_cast<double>(x));
    cubes += std::pow(std::fabs(static_cast<double>(x)), 3);
  }
  const StridedInput in{sizes, strides, Type::kF32, data.data()};
  const auto of = [&](ReduceKind kind, ReduceOptions options = {}) {
    double result = 0;
    Reduce(kind, in, reduced, {&result, Type::kF64}, options);
    return result;
  };
  const double n = kN, mean = sum / n;
  EXPECT_NEAR(of(ReduceKind::kSum), sum, 1e-8 * n);
  EXPECT_NEAR(of(ReduceKind::kVar), (squares - n * mean * mean) / (n - 1), 1e-7);
  EXPECT_NEAR(of(ReduceKind::kNorm), std::sqrt(squares), 1e-6);
  EXPECT_NEAR(of(ReduceKind::kNorm, {.order = 3}), std::cbrt(cubes), 1e-6);
  EXPECT_EQ(of(ReduceKind::kNorm, {.order = std::numeric_limits<double>::infinity()}), 1);
  EXPECT_EQ(of(ReduceKind::kNorm, {.order = -std::numeric_limits<double>::infinity()}), 0);
  EXPECT_NEAR(of(ReduceKind::kLogSumExp), std::log(powers), 1e-7);
  data[2 * 300'000] = std::numeric_limits<float>::quiet_NaN();
  std::int64_t at = 0;
  Reduce(ReduceKind::kArgMin, in, reduced, {&at, Type::kI64});
  EXPECT_EQ(at, 300'000) << "NaN is below all";
  EXPECT_TRUE(std::isnan(of(ReduceKind::kNorm, {.order = -std::numeric_limits<double>::infinity()})));
}

}  // namespace
}  // namespace plumbline::kernels::cpu
