#include "reference/tensor/tensor.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <string>
#include <thread>

#include "reference/keys/error.h"
#include "reference/tensor/allocator.h"
#include "reference/tensor/device.h"
#include "reference/tensor/testing/error_of.h"

namespace plumbline::reference {
namespace {

const KeyTable& Table() { return *KeyTable::ForRelease("pytorch-1.13"); }

Tensor Floats(IntSpan sizes) { return Tensor::Empty(sizes, DType::kFloat32, DeviceType::kCpu, Table()); }

TEST(Tensor, IsMadeWithKeysSizesAndMemory) {
  const Tensor a = Floats({2, 3});
  EXPECT_EQ(a.keys(), Table().SetOfNames({"CPU", "AutogradCPU"}));
  EXPECT_EQ(a.dtype(), DType::kFloat32);
  EXPECT_EQ(a.device(), Device(DeviceType::kCpu));
  EXPECT_EQ(a.dim(), 2);
  EXPECT_EQ(a.numel(), 6);
  EXPECT_EQ(a.sizes(), IntSpan({2, 3}));
  EXPECT_EQ(a.strides(), IntSpan({3, 1}));
  EXPECT_EQ(a.storage().bytes(), 24u);
  EXPECT_TRUE(a.is_contiguous());
  EXPECT_EQ(a.size(-1), 3);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a.data()) % 64, 0u);
  a.data<float>()[5] = 1.5f;
  EXPECT_THAT(ErrorOf([&] { a.data<double>(); }), Is(ErrorClass::kInvalidArgument, "float32 and not float64"));
  const Tensor meta = Tensor::Empty({2}, DType::kInt64, DeviceType::kMeta, Table());
  EXPECT_EQ(meta.keys(), Table().SetOfNames({"Meta", "AutogradMeta"}));
  EXPECT_EQ(meta.data(), nullptr);
  EXPECT_EQ(meta.storage().bytes(), 16u);
}

TEST(Tensor, ObjectsHaveTheirOwnCacheLines) {
  for (int i = 0; i < 10; ++i) {
    const Tensor a = Tensor::Make(KeySet());
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&a.object()) % 64, 0u);
  }
}

TEST(Tensor, ManyDimensions) {
  const DimVector sizes(9, 2);
  const Tensor a = Floats(sizes);
  EXPECT_EQ(a.dim(), 9);
  EXPECT_EQ(a.stride(0), 256);
  const Tensor b = a.View({512}, {1}, 0);
  EXPECT_EQ(b.numel(), 512);
  b.Resize(sizes);
  EXPECT_EQ(b.strides(), a.strides());
  b.Resize({2});
  EXPECT_EQ(b.dim(), 1);
}

TEST(Tensor, BadSizesAreErrorsAndNeverSmallBuffers) {
  const std::int64_t b32 = std::int64_t{1} << 32, b40 = std::int64_t{1} << 40, b62 = std::int64_t{1} << 62;
  EXPECT_THAT(ErrorOf([&] { Floats({b32, b32}); }), Is(ErrorClass::kOverflow, "[4294967296, 4294967296]"));
  EXPECT_THAT(ErrorOf([&] { Floats({b62, 2}); }), Is(ErrorClass::kOverflow, ""));
  EXPECT_THAT(ErrorOf([&] { Floats({b62}); }), Is(ErrorClass::kOverflow, "bytes"));
  EXPECT_THAT(ErrorOf([&] { Floats({-1}); }), Is(ErrorClass::kInvalidArgument, "negative"));
  EXPECT_THAT(ErrorOf([&] { Floats({std::int64_t{1} << 56}); }), Is(ErrorClass::kOverflow, "No memory"));
  EXPECT_EQ(Floats({0, b40, b40}).numel(), 0);
  EXPECT_THAT(ErrorOf([&] {
                Tensor::EmptyStrided({2, 2}, {b62, b62}, DType::kUint8, DeviceType::kMeta, Table());
              }),
              Is(ErrorClass::kOverflow, "strides"));
  EXPECT_THAT(ErrorOf([&] { Floats({1}).View({b40, b40}, {0, 0}, 0); }), Is(ErrorClass::kOverflow, "elements"));
}

TEST(Tensor, ViewsShareStorageAndVersion) {
  const Tensor a = Floats({2, 3, 4});
  const Tensor b = a.View({2, 3, 2}, {12, 4, 2}, 1);
  EXPECT_TRUE(b.is_alias_of(a));
  EXPECT_FALSE(b.is_same(a));
  EXPECT_EQ(b.storage_offset(), 1);
  EXPECT_EQ(b.data<float>(), a.data<float>() + 1);
  EXPECT_FALSE(b.is_contiguous());
  EXPECT_EQ(b.keys(), a.keys());
  const auto before = a.version();
  b.BumpVersion();
  EXPECT_EQ(a.version(), before + 1);
  const Tensor own = a.WithOwnVersion(), view_of_own = own.View({24}, {1}, 0);
  EXPECT_EQ(own.version(), 0u);
  view_of_own.BumpVersion();
  EXPECT_EQ(own.version(), 1u);
  EXPECT_EQ(a.version(), before + 1);
  EXPECT_TRUE(view_of_own.is_alias_of(a));
}

TEST(Tensor, AViewNeverReachesBeyondTheStorage) {
  const Tensor a = Floats({2, 3});
  EXPECT_EQ(a.View({6}, {1}, 0).numel(), 6);
  EXPECT_THAT(ErrorOf([&] { a.View({6}, {1}, 1); }), Is(ErrorClass::kInvalidArgument, "28 bytes, but it has 24"));
  EXPECT_THAT(ErrorOf([&] { a.View({2}, {6}, 0); }), Is(ErrorClass::kInvalidArgument, "28 bytes"));
  EXPECT_THAT(ErrorOf([&] { a.View({2}, {-1}, 1); }), Is(ErrorClass::kInvalidArgument, "negative"));
  EXPECT_EQ(a.View({0}, {1}, 1000).numel(), 0);
}

TEST(Tensor, ThoseWithoutElementsSaySo) {
  const Tensor keys_alone = Tensor::Make(Table().SetOfNames({"CPU"})), undefined;
  EXPECT_FALSE(keys_alone.has_data());
  EXPECT_FALSE(undefined.has_data());
  EXPECT_THAT(ErrorOf([&] { keys_alone.sizes(); }),
              Is(ErrorClass::kInvalidArgument, "made of keys alone has no sizes"));
  EXPECT_THAT(ErrorOf([&] { undefined.sizes(); }), Is(ErrorClass::kInvalidArgument, "undefined tensor has no sizes"));
  EXPECT_THAT(ErrorOf([&] { undefined.dtype(); }), Is(ErrorClass::kInvalidArgument, "undefined tensor has no dtype"));
  EXPECT_THAT(ErrorOf([&] { undefined.version(); }), Is(ErrorClass::kInvalidArgument, "version"));
  EXPECT_THAT(ErrorOf([&] { undefined.View({}, {}, 0); }), Is(ErrorClass::kInvalidArgument, "storage"));
}

TEST(Tensor, MemoryFromOutsideIsGivenBackOnce) {
  float memory[4] = {1, 2, 3, 4};
  int freed = 0;
  {
    Tensor view;
    {
      const Tensor a = Tensor::FromBlob(
          memory, {2, 2}, {2, 1}, DType::kFloat32, DeviceType::kCpu,
          [&](void* data) { freed += data == memory ? 1 : 100; }, Table());
      view = a.View({2}, {2}, 1);
      EXPECT_THAT(ErrorOf([&] { a.Resize({5}); }), Is(ErrorClass::kInvalidArgument, "wraps memory"));
      EXPECT_EQ(a.sizes(), IntSpan({2, 2}));
    }
    EXPECT_EQ(view.data<float>()[2], 4.0f);
    EXPECT_EQ(freed, 0);
  }
  EXPECT_EQ(freed, 1);
  EXPECT_THAT(ErrorOf([] { Tensor::FromBlob(nullptr, {2}, {1}, DType::kFloat32, DeviceType::kCpu, {}, Table()); }),
              Is(ErrorClass::kInvalidArgument, "null"));
}

TEST(Tensor, ResizeKeepsWhatIsThere) {
  const Tensor a = Floats({2});
  a.data<float>()[1] = 7;
  a.Resize({100, 2});
  EXPECT_EQ(a.data<float>()[1], 7.0f);
  EXPECT_EQ(a.sizes(), IntSpan({100, 2}));
  a.Resize({1});
  EXPECT_EQ(a.storage().bytes(), 800u);
  EXPECT_THAT(ErrorOf([&] { a.Resize({std::int64_t{1} << 62, 2}); }), Is(ErrorClass::kOverflow, ""));
  EXPECT_EQ(a.sizes(), IntSpan({1}));
}

TEST(Tensor, ResultsAreGivenTheirLayout) {
  const Tensor a = Floats({2});
  const auto before = a.version();
  a.Resize({2, 3}, {1, 2});
  EXPECT_EQ(a.strides(), IntSpan({1, 2}));
  EXPECT_FALSE(a.is_contiguous());
  EXPECT_EQ(a.storage().bytes(), 24u);
  a.Restride({3}, {2}, 1);
  EXPECT_EQ(a.storage_offset(), 1);
  EXPECT_EQ(a.numel(), 3);
  EXPECT_THAT(ErrorOf([&] { a.Restride({3}, {3}, 1); }), Is(ErrorClass::kInvalidArgument, "32 bytes, but it has 24"));
  EXPECT_THAT(ErrorOf([&] { a.Resize({2}, {-1}); }), Is(ErrorClass::kInvalidArgument, "negative"));
  EXPECT_THAT(ErrorOf([&] { Tensor().Restride({}, {}, 0); }), Is(ErrorClass::kInvalidArgument, "undefined"));
  EXPECT_EQ(a.sizes(), IntSpan({3}));
  a.Restride(a.strides(), a.sizes(), 0);  // its own lists
  EXPECT_EQ(a.sizes(), IntSpan({2}));
  EXPECT_EQ(a.strides(), IntSpan({3}));
  EXPECT_EQ(a.version(), before);
}

TEST(Tensor, VersionsOfManyThreadsAddUp) {
  const Tensor a = Floats({1});
  const auto bump = [view = a.View({1}, {1}, 0)] {
    for (int i = 0; i < 1000; ++i) view.BumpVersion();
  };
  const auto before = a.version();
  std::thread one(bump), other(bump);
  one.join();
  other.join();
  EXPECT_EQ(a.version(), before + 2000);
}

TEST(Device, IsSpeltAndParsed) {
  EXPECT_EQ(Device::Parse("cpu"), Device(DeviceType::kCpu));
  EXPECT_EQ(Device::Parse("cuda:3").Spelling(), "cuda:3");
  EXPECT_EQ(Device::Parse("privateuseone").Spelling(), "privateuseone:0");
  EXPECT_EQ(Device(DeviceType::kMeta).Spelling(), "meta");
  for (const char* bad : {"", "gpu", "cuda:", "cuda:x", "cuda:-1", "cuda:99999999999", "cuda:64", "cpu:1", "cuda:1 "}) {
    EXPECT_THAT(ErrorOf([&] { Device::Parse(bad); }), Is(ErrorClass::kInvalidArgument, "evice")) << bad;
  }
  EXPECT_THAT(ErrorOf([] { AllocatorFor({DeviceType::kCuda, 1}); }), Is(ErrorClass::kUnsupported, "cuda:1"));
  EXPECT_THAT(ErrorOf([] { AllocatorFor({DeviceType::kCuda, 64}); }), Is(ErrorClass::kInvalidArgument, "cuda:64"));
}

// By definition: the multiple of the last place that is nearest, with the even one of two.
float NearestWith(int digits, int lowest_exponent, float largest, float value) {
  if (value == 0 || std::isinf(value)) return value;
  const int exponent = std::max(std::ilogb(value), lowest_exponent);
  const double unit = std::ldexp(1.0, exponent - digits + 1);
  const double rounded = std::nearbyint(static_cast<double>(value) / unit) * unit;
  return std::fabs(rounded) > largest ? std::copysign(std::numeric_limits<float>::infinity(), value)
                                      : std::copysign(static_cast<float>(rounded), value);
}

TEST(Float16, RoundsToNearestEven) {
  // Every 4099th float, and every boundary between two halves with its neighbours.
  const auto check = [](std::uint32_t word) {
    const float value = std::bit_cast<float>(word);
    const float half = Float16(value), brain = BFloat16(value);
    if (std::isnan(value)) {
      ASSERT_TRUE(std::isnan(half) && std::isnan(float{brain})) << std::hex << word;
      ASSERT_EQ(std::signbit(half), std::signbit(value));
      return;
    }
    ASSERT_EQ(std::bit_cast<std::uint32_t>(half), std::bit_cast<std::uint32_t>(NearestWith(11, -14, 65504.0f, value)))
        << std::hex << word;
    ASSERT_EQ(std::bit_cast<std::uint32_t>(brain),
              std::bit_cast<std::uint32_t>(NearestWith(8, -126, 0x1.FEp127f, value)))
        << std::hex << word;
  };
  for (std::uint64_t word = 0; word < (std::uint64_t{1} << 32); word += 4099) check(static_cast<std::uint32_t>(word));
  for (std::uint32_t bits = 0; bits < 0x7C00; ++bits) {
    const float below = Float16::FromBits(static_cast<std::uint16_t>(bits));
    const double above =
        bits == 0x7BFF
            ? 65536.0
            : static_cast<double>(static_cast<float>(Float16::FromBits(static_cast<std::uint16_t>(bits + 1))));
    const auto middle = std::bit_cast<std::uint32_t>(static_cast<float>((below + above) / 2));
    for (const std::uint32_t word : {middle - 1, middle, middle + 1}) check(word), check(word | 0x80000000u);
  }
}

TEST(Float16, EveryValueSurvivesTheWayThereAndBack) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = Float16::FromBits(static_cast<std::uint16_t>(bits));
    const auto brain = BFloat16::FromBits(static_cast<std::uint16_t>(bits));
    if (!std::isnan(float{half})) {
      ASSERT_EQ(Float16(half).bits, bits);
    }
    if (!std::isnan(float{brain})) {
      ASSERT_EQ(BFloat16(brain).bits, bits);
    }
  }
}

// Memory that the CPU must not read: it is all wrong bytes there.
class OtherMemory final : public Allocator {
 public:
  OtherMemory() : Allocator({DeviceType::kPrivateUse1, 40}) {}
  void CopyFromHost(void* to, const void* from, std::size_t bytes) override { Turn(to, from, bytes); }
  void CopyToHost(void* to, const void* from, std::size_t bytes) override { Turn(to, from, bytes); }

 private:
  static void Turn(void* to, const void* from, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i)
      static_cast<char*>(to)[i] = static_cast<char>(~static_cast<const char*>(from)[i]);
  }
  void* AllocateBlock(std::size_t bytes) override { return ::operator new(bytes); }
  void FreeBlock(void* block, std::size_t) override { ::operator delete(block); }
};
class MuteMemory final : public Allocator {
 public:
  MuteMemory() : Allocator({DeviceType::kPrivateUse1, 41}) {}

 private:
  void* AllocateBlock(std::size_t bytes) override { return ::operator new(bytes); }
  void FreeBlock(void* block, std::size_t) override { ::operator delete(block); }
};

TEST(Storage, IsReadThroughItsAllocator) {
  static OtherMemory other;
  static MuteMemory mute;
  SetAllocator(other.device(), &other);
  SetAllocator(mute.device(), &mute);
  const std::int32_t given[] = {1, 2, 3};
  std::int32_t read = 0;
  const Tensor a = Tensor::Empty({3}, DType::kInt32, other.device(), Table());
  other.CopyFromHost(a.data(), given, sizeof given);
  a.storage().CopyToHost(&read, 4, sizeof read);
  EXPECT_EQ(read, 2);
  const Tensor wrapped = Tensor::FromBlob(a.data(), {3}, {1}, DType::kInt32, other.device(), {}, Table());
  wrapped.storage().CopyToHost(&read, 8, sizeof read);
  EXPECT_EQ(read, 3) << "by the device's allocator, though it is not its block";
  const Tensor here = Floats({2});
  here.data<float>()[1] = 7;
  float element = 0;
  here.storage().CopyToHost(&element, 4, sizeof element);
  EXPECT_EQ(element, 7);
  const Tensor b = Tensor::Empty({3}, DType::kInt32, mute.device(), Table());
  EXPECT_THAT(ErrorOf([&] { b.storage().CopyToHost(&read, 0, sizeof read); }),
              Is(ErrorClass::kUnsupported, "privateuseone:41 and the host; its allocator has to override"));
  EXPECT_THAT(ErrorOf([&] {
                AllocatorFor({DeviceType::kPrivateUse1, 42});
              }),
              Is(ErrorClass::kInvalidArgument, "no device privateuseone:42; of its kind there is privateuseone:40"));
  SetAllocator(other.device(), nullptr);
  SetAllocator(mute.device(), nullptr);
  EXPECT_THAT(ErrorOf([&] {
                AllocatorFor({DeviceType::kPrivateUse1, 42});
              }),
              Is(ErrorClass::kUnsupported, "load the device's plug-in first"));
}

TEST(DType, NumbersSpellingsAndTypes) {
  EXPECT_EQ(DTypeOfNumber(11), DType::kBool);
  EXPECT_EQ(DTypeOfNumber(8), std::nullopt);
  for (const DType dtype : kAllDTypes) {
    EXPECT_EQ(DTypeOfSpelling(Spelling(dtype)), dtype);
    VisitDType(dtype, [&]<class T>(std::type_identity<T>) {
      EXPECT_EQ(DTypeOf<T>, dtype);
      EXPECT_EQ(sizeof(T), SizeOf(dtype));
      EXPECT_EQ(IsFloating(dtype), !std::is_integral_v<T>);
    });
  }
  EXPECT_TRUE(IsIntegral(DType::kBool, true));
  EXPECT_FALSE(IsIntegral(DType::kBool));
  EXPECT_EQ(Spelling(ErrorClass::kNoDtype), "no-dtype");
}

}  // namespace
}  // namespace plumbline::reference
