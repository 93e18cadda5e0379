#include "reference/tensor/geometry.h"

#include <gmock/gmock.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "reference/keys/error.h"
#include "reference/tensor/tensor.h"
#include "reference/tensor/testing/error_of.h"

namespace plumbline::reference {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kBig = std::int64_t{1} << 62;

TEST(Geometry, Counts) {
  EXPECT_EQ(CheckedNumel({2, 3, 4}), 24);
  EXPECT_EQ(CheckedNumel({}), 1);
  EXPECT_EQ(CheckedBytes({3}, DType::kBFloat16), 6);
  EXPECT_EQ(CheckedExtent({2, 3}, {10, 2}, 5, DType::kInt32), 4 * (5 + 10 + 4 + 1));
  EXPECT_EQ(CheckedExtent({2, 0}, {kBig, kBig}, kBig, DType::kInt32), 0);
}

TEST(Geometry, CountsThatDoNotFitAreErrors) {
  const std::int64_t b32 = std::int64_t{1} << 32, b40 = std::int64_t{1} << 40;
  EXPECT_THAT(ErrorOf([&] { CheckedNumel({b32, b32}); }), Is(ErrorClass::kOverflow, "[4294967296, 4294967296]"));
  EXPECT_THAT(ErrorOf([&] { CheckedNumel({kBig, 2}); }), Is(ErrorClass::kOverflow, "elements"));
  EXPECT_EQ(CheckedNumel({0, b40, b40}), 0);
  EXPECT_EQ(CheckedNumel({b40, b40, 0}), 0);
  EXPECT_THAT(ErrorOf([&] { CheckedBytes({kBig}, DType::kFloat64); }), Is(ErrorClass::kOverflow, "bytes"));
  EXPECT_THAT(ErrorOf([&] { CheckedBytes({kBig}, DType::kFloat64); }), Is(ErrorClass::kOverflow, "float64"));
  EXPECT_EQ(CheckedBytes({std::int64_t{1} << 31}, DType::kFloat64), std::int64_t{1} << 34);
  EXPECT_THAT(ErrorOf([&] {
                CheckedExtent({2, 2}, {kBig, kBig}, 0, DType::kUint8);
              }),
              Is(ErrorClass::kOverflow, "strides [4611686018427387904, 4611686018427387904]"));
  // A stride of 0 needs no storage, yet whoever reads the elements counts their bytes.
  EXPECT_THAT(ErrorOf([&] { CheckedExtent({kBig}, {0}, 0, DType::kInt32); }), Is(ErrorClass::kOverflow, "bytes"));
  EXPECT_EQ(CheckedExtent({b40}, {0}, 0, DType::kInt32), 4);
  EXPECT_THAT(ErrorOf([&] { CheckedExtent({2}, {1}, INT64_MAX, DType::kUint8); }), Is(ErrorClass::kOverflow, "offset"));
  EXPECT_THAT(ErrorOf([&] { CheckedNumel({2, -1}); }), Is(ErrorClass::kInvalidArgument, "negative -1"));
  EXPECT_THAT(ErrorOf([&] { CheckedExtent({2}, {-1}, 0, DType::kUint8); }),
              Is(ErrorClass::kInvalidArgument, "negative -1"));
  EXPECT_THAT(ErrorOf([&] {
                CheckedExtent({2}, {1, 1}, 0, DType::kUint8);
              }),
              Is(ErrorClass::kInvalidArgument, "dimensions"));
  EXPECT_THAT(ErrorOf([&] { CheckedExtent({2}, {1}, -1, DType::kUint8); }), Is(ErrorClass::kInvalidArgument, "offset"));
}

TEST(Geometry, RowMajorStrides) {
  EXPECT_EQ(ContiguousStrides({2, 3, 4}), (DimVector{12, 4, 1}));
  EXPECT_EQ(ContiguousStrides({0, 3}), (DimVector{3, 1}));
  EXPECT_EQ(ContiguousStrides({2, 0, 3}), (DimVector{3, 3, 1}));
  EXPECT_EQ(ContiguousStrides({}), DimVector());
  const std::int64_t b40 = std::int64_t{1} << 40;
  EXPECT_EQ(ContiguousStrides({0, b40, b40}), (DimVector{INT64_MAX, b40, 1}));
  EXPECT_TRUE(ContiguousIn({1, 4}, {7, 1}));
  EXPECT_FALSE(ContiguousIn({2, 4}, {7, 1}));
  EXPECT_TRUE(ContiguousIn({0, 4}, {7, 9}));
  EXPECT_TRUE(ContiguousIn({}, {}));
}

TEST(Geometry, ChannelsLast) {
  EXPECT_EQ(StridesFor({2, 3, 4, 5}, MemoryFormat::kChannelsLast), (DimVector{60, 1, 15, 3}));
  EXPECT_EQ(StridesFor({2, 3, 4, 5, 6}, MemoryFormat::kChannelsLast3d), (DimVector{360, 1, 90, 18, 3}));
  EXPECT_THAT(ErrorOf([] {
                StridesFor({2, 3}, MemoryFormat::kChannelsLast);
              }),
              Is(ErrorClass::kInvalidArgument, "'channels_last' is for 4 dimensions"));
  EXPECT_TRUE(ContiguousIn({2, 3, 4, 5}, {60, 1, 15, 3}, MemoryFormat::kChannelsLast));
  EXPECT_FALSE(ContiguousIn({2, 3, 4, 5}, {60, 20, 5, 1}, MemoryFormat::kChannelsLast));
  EXPECT_TRUE(ContiguousIn({2, 1, 4, 5}, {20, 20, 5, 1}, MemoryFormat::kChannelsLast));  // both at once
  EXPECT_FALSE(ContiguousIn({2, 3}, {3, 1}, MemoryFormat::kChannelsLast));
  EXPECT_EQ(StridesFor({2, 3, 0, 5}, MemoryFormat::kChannelsLast), (DimVector{0, 1, 15, 3}));  // as PyTorch has it
  EXPECT_TRUE(ContiguousIn({2, 3, 0, 5}, {0, 1, 15, 3}, MemoryFormat::kChannelsLast));
  EXPECT_FALSE(ContiguousIn({2, 3, 0, 5}, {15, 5, 5, 1}, MemoryFormat::kChannelsLast));
}

TEST(Geometry, Density) {
  EXPECT_TRUE(NonOverlappingAndDense({3, 2}, {1, 3}));
  EXPECT_TRUE(NonOverlappingAndDense({3, 1, 2}, {1, 99, 3}));
  EXPECT_FALSE(NonOverlappingAndDense({3, 2}, {1, 4}));
  EXPECT_FALSE(NonOverlappingAndDense({3, 2}, {0, 1}));
  EXPECT_EQ(StridesLike({3, 2}, {1, 3}), (DimVector{1, 3}));
  EXPECT_EQ(StridesLike({3, 2}, {2, 7}), (DimVector{1, 3}));           // transposed, with gaps
  EXPECT_EQ(StridesLike({3, 2}, {0, 1}), (DimVector{2, 1}));           // expanded
  EXPECT_EQ(StridesLike({2, 3, 4}, {1, 0, 3}), (DimVector{1, 2, 6}));  // 0 does not hold back the others
}

TEST(Geometry, Broadcasting) {
  EXPECT_EQ(BroadcastSizes({3, 1, 4}, {5, 4}), (DimVector{3, 5, 4}));
  EXPECT_EQ(BroadcastSizes({0}, {1}), DimVector{0});
  EXPECT_EQ(BroadcastSizes({}, {2}), DimVector{2});
  EXPECT_THAT(ErrorOf([] {
                BroadcastSizes({2, 3}, {2, 4});
              }),
              Is(ErrorClass::kInvalidArgument,
                 "The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1"));
  EXPECT_EQ(ExpandStrides({1, 3}, {3, 1}, {2, 3}), (DimVector{0, 1}));
  EXPECT_EQ(ExpandStrides({3}, {1}, {2, 1, 3}), (DimVector{0, 3, 1}));
  EXPECT_EQ(ExpandStrides({}, {}, {2, 1}), (DimVector{0, 0}));
  EXPECT_EQ(ExpandSizes({1, 3}, {4, -1, 3}), (DimVector{4, 1, 3}));
  EXPECT_THAT(ErrorOf([] { ExpandSizes({3}, {4}); }),
              Is(ErrorClass::kInvalidArgument, "(4) must match the existing size (3) at non-singleton dimension 0"));
  EXPECT_THAT(ErrorOf([] { ExpandSizes({3}, {-1, 3}); }), Is(ErrorClass::kInvalidArgument, "-1 at dimension 0"));
  EXPECT_THAT(ErrorOf([] { ExpandSizes({3, 3}, {3}); }), Is(ErrorClass::kInvalidArgument, "fewer dimensions"));
}

TEST(Geometry, InferredSizes) {
  EXPECT_EQ(InferSizes({2, -1}, 6), (DimVector{2, 3}));
  EXPECT_EQ(InferSizes({6}, 6), DimVector{6});
  EXPECT_THAT(ErrorOf([] {
                InferSizes({4, -1}, 6);
              }),
              Is(ErrorClass::kInvalidArgument, "[4, -1] is invalid for input of size 6"));
  EXPECT_THAT(ErrorOf([] { InferSizes({4}, 6); }), Is(ErrorClass::kInvalidArgument, "[4] is invalid"));
  EXPECT_THAT(ErrorOf([] { InferSizes({-1, -1}, 6); }), Is(ErrorClass::kInvalidArgument, "only one"));
  EXPECT_THAT(ErrorOf([] { InferSizes({0, -1}, 0); }), Is(ErrorClass::kInvalidArgument, "any other"));
  EXPECT_THAT(ErrorOf([] {
                InferSizes({std::int64_t{1} << 40, std::int64_t{1} << 40}, 6);
              }),
              Is(ErrorClass::kOverflow, ""));
}

// The offsets of the elements in row-major order.
std::vector<std::int64_t> Offsets(IntSpan sizes, IntSpan strides) {
  std::vector<std::int64_t> offsets = {0};
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    std::vector<std::int64_t> next;
    for (const std::int64_t offset : offsets) {
      for (std::int64_t k = 0; k < sizes[i]; ++k) next.push_back(offset + k * strides[i]);
    }
    offsets = next;
  }
  return offsets;
}

// Sizes and strides of up to three dimensions, each from a few values.
template <class F>
void ForSmallGeometries(F f) {
  const std::int64_t kSizes[] = {1, 2, 3}, kStrides[] = {0, 1, 2, 3, 4, 6};
  for (int dims = 0; dims <= 3; ++dims) {
    const int combinations = dims == 0 ? 1 : dims == 1 ? 18 : dims == 2 ? 18 * 18 : 18 * 18 * 18;
    for (int n = 0; n < combinations; ++n) {
      DimVector sizes, strides;
      for (int i = 0, rest = n; i < dims; ++i, rest /= 18) {
        sizes.push_back(kSizes[rest % 3]);
        strides.push_back(kStrides[rest % 18 / 3]);
      }
      f(sizes, strides);
    }
  }
}

TEST(Geometry, ViewsAreThoseThatKeepEveryElementInPlace) {
  EXPECT_EQ(ViewStrides({2, 3, 4}, {12, 4, 1}, {6, 4}), (DimVector{4, 1}));
  EXPECT_EQ(ViewStrides({4, 3, 2}, {1, 4, 12}, {24}), std::nullopt);
  EXPECT_EQ(ViewStrides({0, 3}, {3, 1}, {3, 0}), (DimVector{1, 1}));
  int possible = 0, impossible = 0;
  ForSmallGeometries([&](const DimVector& sizes, const DimVector& strides) {
    const std::int64_t numel = CheckedNumel(sizes);
    std::vector<DimVector> targets = {{numel}, {numel, 1}, {1, numel}};
    for (std::int64_t a = 2; a <= numel; ++a) {
      if (numel % a != 0) continue;
      targets.push_back({a, numel / a});
      for (std::int64_t b = 2; b <= numel / a; ++b) {
        if (numel / a % b == 0) targets.push_back({a, b, numel / a / b});
      }
    }
    const auto offsets = Offsets(sizes, strides);
    for (const DimVector& target : targets) {
      const auto view = ViewStrides(sizes, strides, target);
      if (view) {
        ++possible;
        ASSERT_EQ(Offsets(target, *view), offsets) << Print(sizes) << Print(strides) << Print(target);
        continue;
      }
      ++impossible;
      // The only candidate: the stride of a dimension is where its second element lies.
      DimVector only(target.size());
      std::int64_t inner = numel;
      for (std::size_t i = 0; i < target.size(); ++i) {
        inner /= target[i];
        only[i] = target[i] == 1 ? 0 : offsets[inner] - offsets[0];
      }
      ASSERT_NE(Offsets(target, only), offsets) << Print(sizes) << Print(strides) << Print(target);
    }
  });
  EXPECT_GT(possible, 1000);
  EXPECT_GT(impossible, 1000);
}

TEST(Geometry, InternalOverlapAndDensityAreWhatTheElementsSay) {
  ForSmallGeometries([](const DimVector& sizes, const DimVector& strides) {
    const auto offsets = Offsets(sizes, strides);
    const std::set<std::int64_t> places(offsets.begin(), offsets.end());
    const bool twice = places.size() != offsets.size();
    ASSERT_EQ(HasInternalOverlap(sizes, strides), twice ? InternalOverlap::kYes : InternalOverlap::kNo)
        << Print(sizes) << Print(strides);
    const bool dense = !twice && *places.rbegin() + 1 == static_cast<std::int64_t>(places.size());
    ASSERT_EQ(NonOverlappingAndDense(sizes, strides), dense) << Print(sizes) << Print(strides);
  });
  EXPECT_EQ(HasInternalOverlap({1000, 1000}, {1, 1}), InternalOverlap::kTooHard);
  EXPECT_EQ(HasInternalOverlap({1000, 1000}, {1, 1000}), InternalOverlap::kNo);
  EXPECT_EQ(HasInternalOverlap({1000, 1000}, {0, 1}), InternalOverlap::kYes);
}

TEST(Geometry, OverlapIsWhatTheElementsSay) {
  const KeyTable& table = *KeyTable::ForRelease("pytorch-1.13");
  const Tensor base = Tensor::Empty({64}, DType::kInt16, DeviceType::kCpu, table);
  const Tensor meta = Tensor::Empty({64}, DType::kInt16, DeviceType::kMeta, table);
  std::vector<std::pair<DimVector, DimVector>> shapes;
  int n = 0;
  ForSmallGeometries([&](const DimVector& sizes, const DimVector& strides) {
    if (++n % 37 == 0) shapes.emplace_back(sizes, strides);
  });
  int kinds[4] = {};
  for (const auto& [sizes_a, strides_a] : shapes) {
    for (const auto& [sizes_b, strides_b] : shapes) {
      for (const std::int64_t offset : {0, 1, 4}) {
        const Tensor a = base.View(sizes_a, strides_a, 2), b = base.View(sizes_b, strides_b, 2 + offset);
        const auto places = Offsets(sizes_a, strides_a);
        bool common = false;
        for (const std::int64_t place : Offsets(sizes_b, strides_b)) {
          common = common || std::find(places.begin(), places.end(), place + offset) != places.end();
        }
        bool same = offset == 0 && sizes_a == sizes_b;
        for (std::size_t i = 0; same && i < sizes_a.size(); ++i) same = sizes_a[i] == 1 || strides_a[i] == strides_b[i];
        const OverlapKind expected = same ? OverlapKind::kFull : common ? OverlapKind::kPartial : OverlapKind::kNo;
        ++kinds[static_cast<int>(expected)];
        ASSERT_EQ(Overlap(a, b), expected)
            << Print(sizes_a) << Print(strides_a) << Print(sizes_b) << Print(strides_b) << offset;
        ASSERT_EQ(Overlap(meta.View(sizes_a, strides_a, 2), meta.View(sizes_b, strides_b, 2 + offset)), expected);
      }
    }
  }
  for (const int kind : {0, 1, 2}) EXPECT_GT(kinds[kind], 100);
  EXPECT_EQ(Overlap(base, Tensor::Empty({64}, DType::kInt16, DeviceType::kCpu, table)), OverlapKind::kNo);
  EXPECT_EQ(Overlap(meta, Tensor::Empty({64}, DType::kInt16, DeviceType::kMeta, table)), OverlapKind::kNo);
  // Too many elements to try all: interleaved rows are told apart by their step, others are not.
  const Tensor large = Tensor::Empty({1000, 1000}, DType::kUint8, DeviceType::kMeta, table);
  EXPECT_EQ(Overlap(large.View({1000, 500}, {1000, 2}, 0), large.View({1000, 500}, {1000, 2}, 1)), OverlapKind::kNo);
  EXPECT_EQ(Overlap(large.View({1000, 500}, {1000, 1}, 0), large.View({1000, 500}, {1000, 1}, 500)),
            OverlapKind::kTooHard);
  EXPECT_EQ(Overlap(large.View({500, 1000}, {1000, 1}, 0), large.View({500, 1000}, {1000, 1}, 1000)),
            OverlapKind::kPartial);
  // Elements of other widths: eight bytes lie across what is stepped by four.
  const Storage bytes = Storage::Allocate(64, DeviceType::kCpu);
  const Tensor wide = Tensor::FromStorage(bytes, {8}, {1}, 0, DType::kFloat64, KeySet());
  EXPECT_EQ(Overlap(Tensor::FromStorage(bytes, {15}, {4}, 1, DType::kUint8, KeySet()), wide), OverlapKind::kPartial);
  EXPECT_EQ(Overlap(wide, Tensor::FromStorage(bytes, {15}, {4}, 1, DType::kUint8, KeySet())), OverlapKind::kPartial);
  // Two blocks from outside over one piece of memory.
  std::int16_t memory[8];
  const Tensor x = Tensor::FromBlob(memory, {6}, {1}, DType::kInt16, DeviceType::kCpu, {}, table);
  const Tensor y = Tensor::FromBlob(memory + 2, {6}, {1}, DType::kInt16, DeviceType::kCpu, {}, table);
  EXPECT_EQ(Overlap(x, y), OverlapKind::kPartial);
  EXPECT_EQ(Overlap(x.View({2}, {1}, 0), y), OverlapKind::kNo);
}

TEST(Geometry, DimsAreWrappedWithinTheirRange) {
  EXPECT_EQ(WrapDim(-1, 3), 2);
  EXPECT_EQ(WrapDim(-1, 0), 0);
  EXPECT_THAT(
      ErrorOf([] { WrapDim(3, 3); }),
      Is(ErrorClass::kInvalidArgument, "Dimension out of range (expected to be in range of [-3, 2], but got 3)"));
}

TEST(Geometry, DimVectorsGrowAndMove) {
  DimVector dims;
  for (std::int64_t i = 0; i < 12; ++i) dims.push_back(i);
  DimVector copy = dims, moved = std::move(dims);
  EXPECT_EQ(copy, moved);
  EXPECT_TRUE(dims.empty());  // NOLINT(bugprone-use-after-move): moved from is empty
  copy.erase(3);
  copy.insert(3, 3);
  EXPECT_EQ(copy, moved);
  copy.resize(2);
  EXPECT_EQ(copy, (DimVector{0, 1}));
  copy = DimVector{7};
  moved = std::move(copy);
  EXPECT_EQ(moved, DimVector{7});
}

}  // namespace
}  // namespace plumbline::reference
