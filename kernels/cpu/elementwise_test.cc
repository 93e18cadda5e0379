#include "kernels/cpu/elementwise.h"

#include <gmock/gmock.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "kernels/cpu/thread_pool.h"

namespace plumbline::kernels::cpu {
namespace {

using Sizes = std::vector<std::int64_t>;

std::int64_t Numel(const Sizes& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1}, std::multiplies<>());
}

std::uint64_t Next(std::uint64_t& state) {
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return state >> 8;
}

// An operand of I32 or F64 with random strides: permuted, with gaps, broadcast.
struct Made {
  std::vector<std::int64_t> memory;  // F64 bits or int32 in the low half
  Sizes strides;                     // bytes
  Type type;

  Made(const Sizes& sizes, std::uint64_t& seed, bool output) : type(Next(seed) % 3 == 0 ? Type::kF64 : Type::kI32) {
    Sizes order(sizes.size());
    std::iota(order.begin(), order.end(), 0);
    const std::uint64_t kind = Next(seed) % 4;
    if (kind > 1) {
      for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[Next(seed) % i]);
    }
    strides.assign(sizes.size(), 0);
    const auto item = static_cast<std::int64_t>(SizeOf(type));
    std::int64_t step = kind == 3 ? 2 * item : item;
    for (std::size_t i = order.size(); i-- > 0;) {
      const auto d = static_cast<std::size_t>(order[i]);
      if (!output && Next(seed) % 5 == 0) continue;  // broadcast
      strides[d] = step;
      step *= std::max<std::int64_t>(1, sizes[d]);
    }
    memory.assign(static_cast<std::size_t>(step / 8 + 2), 0);
  }
  char* At(const Sizes& sizes, std::int64_t linear) {
    std::int64_t offset = 0;
    for (std::size_t d = sizes.size(); d-- > 0;) {
      offset += linear % sizes[d] * strides[d];
      linear /= sizes[d];
    }
    return reinterpret_cast<char*>(memory.data()) + offset;
  }
  double Get(const Sizes& sizes, std::int64_t linear) {
    const char* at = At(sizes, linear);
    return type == Type::kF64 ? *reinterpret_cast<const double*>(at) : *reinterpret_cast<const std::int32_t*>(at);
  }
  void Set(const Sizes& sizes, std::int64_t linear, double value) {
    char* at = At(sizes, linear);
    if (type == Type::kF64) {
      *reinterpret_cast<double*>(at) = value;
    } else {
      *reinterpret_cast<std::int32_t*>(at) = static_cast<std::int32_t>(value);
    }
  }
};

TEST(ElementwiseTest, AnyStridesAndTypesGiveWhatAPlainLoopGives) {
  std::uint64_t seed = 88172645463325252u;
  for (int round = 0; round < 1500; ++round) {
    const std::uint64_t dims = Next(seed) % 5;
    Sizes sizes;
    for (std::uint64_t d = 0; d < dims; ++d) {
      const std::int64_t kinds[] = {1, 2, 3, 33, 140, 0, 5};
      sizes.push_back(kinds[Next(seed) % (Numel(sizes) > 3000 ? 3 : round % 50 == 0 ? 7 : 5)]);
    }
    if (round % 100 == 7) sizes = {500, 400};
    if (round % 100 == 8) sizes = {70000, 3};
    Made out(sizes, seed, true), a(sizes, seed, false), b(sizes, seed, false);
    const std::int64_t n = Numel(sizes);
    for (std::int64_t i = 0; i < n; ++i) {
      a.Set(sizes, i, static_cast<double>(Next(seed) % 1000));
      b.Set(sizes, i, static_cast<double>(Next(seed) % 1000));
    }
    const Type compute = Next(seed) % 2 == 0 ? Type::kF64 : Type::kI32;
    const Operand operands[] = {{out.memory.data(), out.strides.data(), out.type, compute},
                                {a.memory.data(), a.strides.data(), a.type, compute},
                                {b.memory.data(), b.strides.data(), b.type, compute}};
    Parameters parameters;
    parameters.real[0] = 3;
    parameters.integer[0] = 3;
    RunElementwise({sizes, operands, Level().binary[Index(BinaryOp::kSub)][Index(compute)], parameters});
    for (std::int64_t i = 0; i < n; ++i) {
      ASSERT_EQ(out.Get(sizes, i), a.Get(sizes, i) - 3 * b.Get(sizes, i))
          << "round " << round << ", element " << i << " of " << testing::PrintToString(sizes);
    }
  }
}

TEST(ElementwiseTest, TransposedOperandsOfEachSize) {
  const Sizes sizes = {3, 37, 150};
  const std::int64_t n = Numel(sizes);
  for (const Type type : {Type::kU8, Type::kI16, Type::kF32, Type::kF64}) {
    const auto item = static_cast<std::int64_t>(SizeOf(type));
    std::vector<std::int64_t> in_memory(static_cast<std::size_t>(n + 1)), out_memory(in_memory.size());
    auto* const in = reinterpret_cast<unsigned char*>(in_memory.data());
    for (std::int64_t i = 0; i < n * item; ++i) in[i] = static_cast<unsigned char>(i * 7 % 61);
    const Sizes out_strides = {37 * 150 * item, 150 * item, item}, in_strides = {37 * 150 * item, item, 37 * item};
    Copy(sizes, {out_memory.data(), out_strides.data(), type, type}, {in, in_strides.data(), type, type});
    const auto* const out = reinterpret_cast<const unsigned char*>(out_memory.data());
    for (std::int64_t z = 0; z < 3; ++z) {
      for (std::int64_t y = 0; y < 37; ++y) {
        for (std::int64_t x = 0; x < 150; ++x) {
          ASSERT_EQ(0, std::memcmp(out + ((z * 37 + y) * 150 + x) * item, in + (z * 37 * 150 + x * 37 + y) * item,
                                   static_cast<std::size_t>(item)))
              << z << " " << y << " " << x << " of " << item << " bytes";
        }
      }
    }
  }
}

TEST(ElementwiseTest, LargeOutputsThatPassTheCachesBy) {
  const std::int64_t n = (std::int64_t{17} << 20) / 4 + 13;
  std::vector<float> a(static_cast<std::size_t>(n)), out(a.size() + 1, -1.0f);
  std::iota(a.begin(), a.end(), 0.0f);
  for (const int shift : {0, 1}) {
    void* const data[] = {out.data() + shift, a.data(), a.data()};
    const std::size_t items[] = {4, 4, 4};
    Parameters parameters;
    parameters.real[0] = 1;
    RunContiguous(data, items, 3, n, Level().binary[Index(BinaryOp::kAdd)][Index(Type::kF32)], parameters);
    for (std::int64_t i = 0; i < n; ++i) {
      ASSERT_EQ(out[static_cast<std::size_t>(i + shift)], 2 * a[static_cast<std::size_t>(i)]) << i;
    }
  }
}

TEST(ElementwiseTest, FillsEachSize) {
  const Sizes sizes = {3, 5};
  std::vector<std::int32_t> out(30, 0);
  const Sizes strides = {40, 8};
  const std::int32_t value = -7;
  Fill(sizes, out.data(), strides.data(), 4, &value);
  for (std::size_t i = 0; i < 30; ++i) EXPECT_EQ(out[i], i % 2 == 0 ? -7 : 0) << i;
}

TEST(ElementwiseTest, WideNumbersAreRoundedTo16BitsOnce) {
  // Each is a hair from the middle of two of the 16-bit numbers, and in the middle as a float.
  const double down = 1 + std::ldexp(1.0, -8) - std::ldexp(1.0, -40),
               up = 1 + std::ldexp(3.0, -8) + std::ldexp(1.0, -40);
  const std::int64_t large = (std::int64_t{1} << 62) + (std::int64_t{1} << 54) - 1,
                     small = -((1 << 30) + (1 << 22) - 1);
  const double subnormal = std::ldexp(1.0, -134) - std::ldexp(1.0, -160);
  for (const LevelTable* level : {BaseLevel(), V3Level()}) {
    if (level == nullptr) continue;
    const auto rounded = [&](Type from, Type to, const void* value) {
      std::uint16_t item;
      double back;
      void* const narrow[] = {&item, const_cast<void*>(value)};
      void* const widen[] = {&back, &item};
      level->cast[Index(from)][Index(to)](narrow, 1, Parameters());
      level->cast[Index(to)][Index(Type::kF64)](widen, 1, Parameters());
      return back;
    };
    EXPECT_EQ(rounded(Type::kF64, Type::kBF16, &down), 1);
    EXPECT_EQ(rounded(Type::kF64, Type::kBF16, &up), 1 + std::ldexp(2.0, -7));
    EXPECT_EQ(rounded(Type::kF64, Type::kBF16, &subnormal), 0);
    EXPECT_EQ(rounded(Type::kI64, Type::kBF16, &large), std::ldexp(1.0, 62));
    EXPECT_EQ(rounded(Type::kI32, Type::kBF16, &small), -std::ldexp(1.0, 30));
    for (const double x : {65519.999999, 65520.0, HUGE_VAL, -HUGE_VAL, 0.1, -0.0, 1e300}) {
      EXPECT_EQ(rounded(Type::kF64, Type::kF16, &x), x < 0               ? x
                                                     : x > 65519.9999999 ? HUGE_VAL
                                                     : x > 1             ? 65504
                                                     : x > 0             ? 0.0999755859375
                                                                         : 0);
    }
    const double nan = NAN;
    EXPECT_TRUE(std::isnan(rounded(Type::kF64, Type::kF16, &nan)));
  }
}

TEST(ElementwiseTest, IntegersAreDividedWithoutATrap) {
  for (const BinaryOp op : {BinaryOp::kDivTrunc, BinaryOp::kDivFloor, BinaryOp::kFmod, BinaryOp::kRemainder}) {
    std::int32_t a[] = {7, -7, INT32_MIN}, b[] = {2, 2, -1}, out[3];
    void* const data[] = {out, a, b};
    Level().binary[Index(op)][Index(Type::kI32)](data, 3, Parameters());
    const std::vector<std::int32_t> results(out, out + 3);
    if (op == BinaryOp::kDivTrunc) {
      EXPECT_EQ(results, (std::vector<std::int32_t>{3, -3, INT32_MIN}));
    }
    if (op == BinaryOp::kDivFloor) {
      EXPECT_EQ(results, (std::vector<std::int32_t>{3, -4, INT32_MIN}));
    }
    if (op == BinaryOp::kFmod) {
      EXPECT_EQ(results, (std::vector<std::int32_t>{1, -1, 0}));
    }
    if (op == BinaryOp::kRemainder) {
      EXPECT_EQ(results, (std::vector<std::int32_t>{1, 1, 0}));
    }
    b[1] = 0;
    Level().binary[Index(op)][Index(Type::kI32)](data, 3, Parameters());
    EXPECT_EQ(out[0], results[0]);
    EXPECT_EQ(out[2], results[2]);
  }
}

// All values of the 16-bit floats, there and back, and ties and limits on the way from F32.
TEST(CastTest, SixteenBitFloatsOfBothLevels) {
  for (const LevelTable* level : {BaseLevel(), V3Level()}) {
    if (level == nullptr) continue;
    for (const Type type : {Type::kF16, Type::kBF16}) {
      std::vector<std::uint16_t> all(65536), back(65536);
      std::iota(all.begin(), all.end(), 0);
      std::vector<float> wide(65536);
      void* const there[] = {wide.data(), all.data()};
      level->cast[Index(type)][Index(Type::kF32)](there, 65536, Parameters());
      void* const again[] = {back.data(), wide.data()};
      level->cast[Index(Type::kF32)][Index(type)](again, 65536, Parameters());
      for (std::size_t i = 0; i < 65536; ++i) {
        if (wide[i] != wide[i]) {
          EXPECT_EQ(back[i] & 0x7fff, (all[i] & 0x7fff) | (type == Type::kF16 ? 0x200 : 0x40));
        } else {
          ASSERT_EQ(back[i], all[i]) << level->name;
          // Half way to the next is rounded to the even one, a bit beyond to the next.
          const float next = wide[(i + 1) & 65535];
          if ((i & 0x7fff) < (type == Type::kF16 ? 0x7bffu : 0x7f7fu) && next == next) {
            float in[] = {wide[i] / 2 + next / 2, 0};
            in[1] = std::nextafter(in[0], next);
            std::uint16_t out[2];
            void* const data[] = {out, in};
            level->cast[Index(Type::kF32)][Index(type)](data, 2, Parameters());
            ASSERT_EQ(out[0], i % 2 == 0 ? i : i + 1) << level->name;
            ASSERT_EQ(out[1], i + 1) << level->name;
          }
        }
      }
    }
  }
}

TEST(ThreadPoolTest, EachElementOnceAndTheFirstExceptionLeaves) {
  const int before = Threads();
  SetThreads(3);
  std::vector<int> seen(1000000, 0);
  ParallelFor(1000000, kGrain, [&](std::int64_t begin, std::int64_t end) {
    EXPECT_EQ(begin % kGrain, 0);
    for (std::int64_t i = begin; i < end; ++i) ++seen[static_cast<std::size_t>(i)];
    ParallelFor(200000, kGrain, [](std::int64_t, std::int64_t) {});  // inside of a piece
  });
  EXPECT_THAT(seen, testing::Each(1));
  std::atomic<int> pieces{0};
  EXPECT_THROW(ParallelFor(1000000, kGrain,
                           [&](std::int64_t begin, std::int64_t) {
                             ++pieces;
                             if (begin == 5 * kGrain) throw std::runtime_error("piece");
                           }),
               std::runtime_error);
  EXPECT_EQ(pieces, 31);
  SetThreads(before);
}

}  // namespace
}  // namespace plumbline::kernels::cpu
