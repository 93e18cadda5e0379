// What adapter.h makes of a class that tells of its memory and passes tensors through DLPack.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "spec/abi/adapter.h"
#include "spec/abi/host.h"

// As <dlpack/dlpack.h> has it in name alone: the layer never looks inside.
struct DLManagedTensor {
  int number;
};

namespace plumbline::abi {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class WithMemory {
 public:
  using Registration = int;
  using Operator = int;
  using Tensor = int;

  static Description Describe() { return {.name = "with-memory", .version = "1", .release = "pytorch-1.13"}; }
  explicit WithMemory(const OpenOptions&) {}

  Tensor MakeTensor(std::span<const pl_key>) { return 7; }
  MemoryFigures MemoryOf(std::string_view device) { return {device.size(), 20, 30, 4}; }
  void ResetPeak(std::string_view device) { asked.emplace_back("reset " + std::string(device)); }
  void EmptyCache(std::string_view device) { asked.emplace_back("empty " + std::string(device)); }
  void RecordTensors(bool on) { asked.emplace_back(on ? "on" : "off"); }
  std::vector<MemoryHolder> MemoryHolders(std::string_view) {
    return {{.storage = 5, .bytes = 24, .tensors = {{PL_DTYPE_INT16, {3, 4}, "weight"}, {PL_DTYPE_INT16, {12}}}},
            {.foreign = true, .storage = 6, .bytes = 2}};
  }
  DLManagedTensor* ToDlpack(const Tensor& tensor) {
    handed_out.number = tensor;
    return &handed_out;
  }
  Tensor FromDlpack(DLManagedTensor* managed) {
    if (managed->number < 0) throw Error(PL_ERROR_UNSUPPORTED, "no such thing");
    return managed->number;
  }

  std::vector<std::string> asked;
  DLManagedTensor handed_out{};
};

// Figures, but no list.
class WithFigures {
 public:
  using Registration = int;
  using Operator = int;
  using Tensor = int;
  static Description Describe() { return {.name = "with-figures", .version = "1", .release = "pytorch-1.13"}; }
  explicit WithFigures(const OpenOptions&) {}
  MemoryFigures MemoryOf(std::string_view) { return {}; }
  void ResetPeak(std::string_view) {}
  void EmptyCache(std::string_view) {}
  DLManagedTensor* ToDlpack(const Tensor&) { return nullptr; }
};

class MemoryTest : public ::testing::Test {
 protected:
  MemoryTest() {
    pl_open_options options{};
    options.struct_size = sizeof options;
    EXPECT_FALSE(PlError(table.open(&options, &registry)));
  }
  ~MemoryTest() override { table.close(registry); }
  WithMemory& backend() { return *reinterpret_cast<WithMemory*>(registry); }
  void ExpectRefused(pl_error* error, std::uint32_t error_class, const char* says) {
    const PlError refused(error);
    ASSERT_TRUE(refused) << says;
    EXPECT_EQ(refused.error_class(), error_class);
    EXPECT_THAT(std::string(refused.message()), HasSubstr(says));
  }

  const pl_adapter& table = Table<WithMemory>();
  pl_registry* registry = nullptr;
};

TEST_F(MemoryTest, ClaimsWhatTheClassHas) {
  const AdapterCheck check = CheckAdapter(&table);
  EXPECT_TRUE(check.Has(PL_CAPABILITY(MEMORY) | PL_CAPABILITY(DLPACK)));
  const AdapterCheck figures = CheckAdapter(&Table<WithFigures>());
  EXPECT_TRUE(figures.Has(PL_CAPABILITY(MEMORY))) << "who holds it need not be told";
  EXPECT_FALSE(PL_HAS(&Table<WithFigures>(), memory_holders));
  EXPECT_FALSE(figures.Has(PL_CAPABILITY(DLPACK))) << "there and back, or not at all";
}

TEST_F(MemoryTest, HandsOverFiguresAndWhatIsAsked) {
  pl_memory_figures now{};
  now.struct_size = sizeof now;
  ASSERT_FALSE(PlError(table.memory_figures(registry, Borrow("cuda:1"), &now)));
  EXPECT_EQ(now.live_bytes, 6u) << "of the device that was asked for";
  EXPECT_EQ(now.peak_bytes, 20u);
  EXPECT_EQ(now.kept_bytes, 30u);
  EXPECT_EQ(now.live_blocks, 4u);
  ASSERT_FALSE(PlError(table.memory_reset_peak(registry, Borrow("cpu"))));
  ASSERT_FALSE(PlError(table.memory_empty_cache(registry, {})));
  ASSERT_FALSE(PlError(table.memory_record(registry, 1)));
  ASSERT_FALSE(PlError(table.memory_record(registry, 0)));
  EXPECT_THAT(backend().asked, ElementsAre("reset cpu", "empty ", "on", "off"));
}

TEST_F(MemoryTest, PushesEachHolderOnce) {
  std::vector<std::string> seen;
  ASSERT_FALSE(
      PlError(table.memory_holders(registry, Borrow("cpu"), &seen, [](void* context, const pl_memory_holder* holder) {
        std::string text = std::to_string(holder->storage) + " " + std::to_string(holder->bytes);
        if (holder->foreign != 0) text += " foreign";
        for (std::uint64_t i = 0; i < holder->tensor_count; ++i) {
          const pl_held_tensor& tensor = holder->tensors[i];
          text += " " + std::to_string(tensor.dtype) + ":" + std::to_string(tensor.dim) + ":" +
                  std::to_string(tensor.sizes[0]) + ":" + std::string(View(tensor.name));
        }
        static_cast<std::vector<std::string>*>(context)->push_back(text);
      })));
  EXPECT_THAT(seen, ElementsAre("5 24 2:2:3:weight 2:1:12:", "6 2 foreign"));
}

TEST_F(MemoryTest, PassesTensorsThroughDlpack) {
  pl_tensor* tensor = nullptr;
  ASSERT_FALSE(PlError(table.tensor_make(registry, {nullptr, 0}, &tensor)));
  DLManagedTensor* managed = nullptr;
  ASSERT_FALSE(PlError(table.tensor_to_dlpack(registry, tensor, &managed)));
  ASSERT_NE(managed, nullptr);
  EXPECT_EQ(managed->number, 7);
  pl_tensor* taken = nullptr;
  ASSERT_FALSE(PlError(table.tensor_from_dlpack(registry, managed, &taken)));
  ASSERT_NE(taken, nullptr);
  table.tensor_release(taken);
  table.tensor_release(tensor);
  taken = nullptr;
  DLManagedTensor refused{-1};
  ExpectRefused(table.tensor_from_dlpack(registry, &refused, &taken), PL_ERROR_UNSUPPORTED, "no such thing");
  EXPECT_EQ(taken, nullptr);
}

TEST_F(MemoryTest, RefusesWhatIsNullOrTooSmall) {
  ExpectRefused(table.memory_figures(registry, {}, nullptr), PL_ERROR_INVALID_ARGUMENT, "out is null");
  pl_memory_figures small{};
  small.struct_size = sizeof small - 8;
  ExpectRefused(table.memory_figures(registry, {}, &small), PL_ERROR_INVALID_ARGUMENT,
                "pl_memory_figures of 32 bytes; at least 40");
  pl_memory_figures now{};
  now.struct_size = sizeof now;
  ExpectRefused(table.memory_figures(registry, {nullptr, 3}, &now), PL_ERROR_INVALID_ARGUMENT,
                "a text of 3 bytes is null");
  ExpectRefused(table.memory_figures(nullptr, {}, &now), PL_ERROR_INVALID_HANDLE, "registry is null");
  ExpectRefused(table.memory_record(registry, 2), PL_ERROR_INVALID_ARGUMENT, "recording is 0 or 1, not 2");
  ExpectRefused(table.memory_holders(registry, {}, nullptr, nullptr), PL_ERROR_INVALID_ARGUMENT, "push is null");
  DLManagedTensor* managed = nullptr;
  ExpectRefused(table.tensor_to_dlpack(registry, nullptr, &managed), PL_ERROR_INVALID_HANDLE, "tensor is null");
  pl_tensor* tensor = nullptr;
  ExpectRefused(table.tensor_from_dlpack(registry, nullptr, &tensor), PL_ERROR_INVALID_ARGUMENT, "managed is null");
  DLManagedTensor one{1};
  ExpectRefused(table.tensor_from_dlpack(registry, &one, nullptr), PL_ERROR_INVALID_ARGUMENT, "out is null");
  ASSERT_FALSE(PlError(table.tensor_make(registry, {nullptr, 0}, &tensor)));
  ExpectRefused(table.tensor_to_dlpack(registry, tensor, nullptr), PL_ERROR_INVALID_ARGUMENT, "out is null");
  table.tensor_release(tensor);
}

}  // namespace
}  // namespace plumbline::abi
