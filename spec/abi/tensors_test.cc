// What adapter.h makes of a class with tensors that hold data and with operators, and of hosts from before there were
// any.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "spec/abi/adapter.h"
#include "spec/abi/host.h"

namespace plumbline::abi {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Keeps what it was given.
struct Made {
  TensorLayout layout;
  std::vector<std::byte> storage;
};

class WithTensors {
 public:
  using Registration = int;
  using Operator = int;
  using Tensor = std::shared_ptr<Made>;
  static constexpr bool kOperators = true;

  static Description Describe() { return {.name = "with-tensors", .version = "1", .release = "pytorch-1.13"}; }
  explicit WithTensors(const OpenOptions& options) : operators(options.operators) {}

  pl_key InternKey(std::string_view) { return 1; }
  Tensor MakeTensor(std::span<const pl_key>) { return nullptr; }
  Tensor TensorFromHost(const TensorLayout& layout, std::span<const std::byte> storage) {
    return std::make_shared<Made>(Made{layout, {storage.begin(), storage.end()}});
  }
  TensorInfo InfoOf(const Tensor& tensor) { return {tensor->layout, tensor->storage.size(), 77, operators ? 1u : 0u}; }
  void TensorToHost(const Tensor& tensor, std::span<std::byte> elements) {
    if (elements.size() > tensor->storage.size()) throw Error(PL_ERROR_INVALID_ARGUMENT, "not that many");
    std::memcpy(elements.data(), tensor->storage.data(), elements.size());
  }
  void StorageToHost(const Tensor& tensor, std::span<std::byte> storage) { TensorToHost(tensor, storage); }

  bool operators;
};

class WithoutTensors {
 public:
  using Registration = int;
  using Operator = int;
  using Tensor = int;
  static Description Describe() { return {.name = "without", .version = "1", .release = "pytorch-1.13"}; }
  explicit WithoutTensors(const OpenOptions&) {}
};

class TensorsTest : public ::testing::Test {
 protected:
  TensorsTest() {
    pl_open_options options{};
    options.struct_size = sizeof options;
    options.operators = 1;
    EXPECT_FALSE(PlError(table.open(&options, &registry)));
    layout.struct_size = sizeof layout;
    layout.dtype = PL_DTYPE_INT16;
    layout.sizes = sizes.data();
    layout.strides = strides.data();
    layout.dim = 2;
    layout.offset = 1;
    layout.device = Borrow("cpu:3");
  }
  ~TensorsTest() override { table.close(registry); }

  const pl_adapter& table = Table<WithTensors>();
  pl_registry* registry = nullptr;
  std::array<std::int64_t, 2> sizes{2, 3}, strides{1, 2};
  std::array<std::int16_t, 4> storage{5, 6, 7, 8};
  pl_tensor_layout layout{};
};

TEST_F(TensorsTest, ClaimsWhatTheClassHas) {
  const AdapterCheck check = CheckAdapter(&table);
  EXPECT_TRUE(check.Has(PL_CAPABILITY(TENSORS)));
  const AdapterCheck without = CheckAdapter(&Table<WithoutTensors>());
  EXPECT_FALSE(without.Has(PL_CAPABILITY(TENSORS)));
  EXPECT_FALSE(without.Has(PL_CAPABILITY(OPERATORS)));
}

TEST_F(TensorsTest, HandsLayoutAndBytesOverAndBack) {
  pl_tensor* tensor = nullptr;
  ASSERT_FALSE(PlError(table.tensor_from_host(registry, &layout, storage.data(), sizeof storage, &tensor)));
  struct Seen {
    std::vector<std::int64_t> sizes, strides;
    pl_tensor_info info{};
    std::string device;
    int pushed = 0;
  } seen;
  ASSERT_FALSE(PlError(table.tensor_info(registry, tensor, &seen, [](void* context, const pl_tensor_info* info) {
    auto& into = *static_cast<Seen*>(context);
    into.info = *info;
    into.sizes.assign(info->layout.sizes, info->layout.sizes + info->layout.dim);
    into.strides.assign(info->layout.strides, info->layout.strides + info->layout.dim);
    into.device = View(info->layout.device);
    ++into.pushed;
  })));
  EXPECT_EQ(seen.pushed, 1);
  EXPECT_THAT(seen.sizes, ElementsAre(2, 3));
  EXPECT_THAT(seen.strides, ElementsAre(1, 2));
  EXPECT_EQ(seen.device, "cpu:3");
  EXPECT_EQ(seen.info.layout.dtype, PL_DTYPE_INT16 + 0u);
  EXPECT_EQ(seen.info.layout.offset, 1);
  EXPECT_EQ(seen.info.storage_bytes, 8u);
  EXPECT_EQ(seen.info.storage, 77u);
  EXPECT_EQ(seen.info.version, 1u) << "the operators that were asked for";
  std::array<std::int16_t, 4> back{};
  ASSERT_FALSE(PlError(table.storage_to_host(registry, tensor, back.data(), sizeof back)));
  EXPECT_EQ(back, storage);
  const PlError refused(table.tensor_to_host(registry, tensor, back.data(), 9));
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused.error_class(), PL_ERROR_INVALID_ARGUMENT + 0u);
  table.tensor_release(tensor);
}

TEST_F(TensorsTest, RefusesWhatIsNullOrTooSmall) {
  pl_tensor* tensor = nullptr;
  const auto refused = [&](const pl_tensor_layout* given, const void* bytes, const char* what) {
    const PlError error(table.tensor_from_host(registry, given, bytes, sizeof storage, &tensor));
    ASSERT_TRUE(error) << what;
    EXPECT_EQ(error.error_class(), PL_ERROR_INVALID_ARGUMENT + 0u);
    EXPECT_THAT(std::string(error.message()), HasSubstr(what));
    EXPECT_EQ(tensor, nullptr);
  };
  refused(nullptr, storage.data(), "layout is null");
  refused(&layout, nullptr, "storage is null");
  pl_tensor_layout other = layout;
  other.strides = nullptr;
  refused(&other, storage.data(), "strides is null");
  other = layout;
  other.struct_size = 8;
  refused(&other, storage.data(), "pl_tensor_layout of 8 bytes");
  const PlError handle(table.tensor_to_host(registry, nullptr, storage.data(), 2));
  ASSERT_TRUE(handle);
  EXPECT_EQ(handle.error_class(), PL_ERROR_INVALID_HANDLE + 0u);
}

TEST_F(TensorsTest, DimensionsThatWereNeverSetAreNotRead) {
  pl_tensor* tensor = nullptr;
  layout.dim = std::uint64_t{1} << 40;
  const PlError error(table.tensor_from_host(registry, &layout, storage.data(), sizeof storage, &tensor));
  ASSERT_TRUE(error);
  EXPECT_EQ(error.error_class(), PL_ERROR_OVERFLOW + 0u);
  EXPECT_THAT(std::string(error.message()), HasSubstr("pl_tensor_layout.dim is 1099511627776"));
}

TEST_F(TensorsTest, TextsAndListsThatAreNullAreEmpty) {
  pl_key key;
  const PlError text(table.intern_key(registry, pl_string{nullptr, 3}, &key));
  ASSERT_TRUE(text);
  EXPECT_EQ(text.error_class(), PL_ERROR_INVALID_ARGUMENT + 0u);
  EXPECT_THAT(std::string(text.message()), HasSubstr("a text of 3 bytes is null"));
  pl_value value{};
  value.kind = PL_STRING;
  value.as.string = {nullptr, 3};
  EXPECT_THROW(FromC<int>(value), Error);
  value.kind = PL_LIST;
  value.as.list = {nullptr, 3};
  EXPECT_THROW(FromC<int>(value), Error);
  value.as.list.size = 0;
  EXPECT_TRUE(FromC<int>(value).list().empty());
}

TEST_F(TensorsTest, SomebodyHasToTakeTheInformation) {
  pl_tensor* tensor = nullptr;
  ASSERT_FALSE(PlError(table.tensor_from_host(registry, &layout, storage.data(), sizeof storage, &tensor)));
  const PlError error(table.tensor_info(registry, tensor, nullptr, nullptr));
  ASSERT_TRUE(error);
  EXPECT_EQ(error.error_class(), PL_ERROR_INVALID_ARGUMENT + 0u);
  EXPECT_THAT(std::string(error.message()), HasSubstr("push is null"));
  table.tensor_release(tensor);
}

TEST_F(TensorsTest, OptionsHoldWhatTheyMay) {
  const auto refused = [&](std::uint32_t operators, std::uint32_t reserved, const char* what) {
    pl_open_options options{};
    options.struct_size = sizeof options;
    options.operators = operators;
    options.reserved_2 = reserved;
    pl_registry* none = nullptr;
    const PlError error(table.open(&options, &none));
    ASSERT_TRUE(error) << what;
    EXPECT_EQ(error.error_class(), PL_ERROR_INVALID_ARGUMENT + 0u);
    EXPECT_THAT(std::string(error.message()), HasSubstr(what));
  };
  refused(2, 0, "operators is 0 or 1, not 2");
  refused(1, 1, "reserved_2 is not zero");
}

TEST_F(TensorsTest, AHostOfTheFirstMinorHasNoOperators) {
  pl_open_options options{};
  options.struct_size = offsetof(pl_open_options, operators);
  options.operators = 1;  // beyond what it says it has
  pl_registry* old = nullptr;
  ASSERT_FALSE(PlError(table.open(&options, &old)));
  EXPECT_FALSE(reinterpret_cast<WithTensors*>(old)->operators);
  table.close(old);
}

TEST_F(TensorsTest, OperatorsThatAreNotClaimedAreRefused) {
  pl_open_options options{};
  options.struct_size = sizeof options;
  options.operators = 1;
  pl_registry* none = nullptr;
  const PlError error(Table<WithoutTensors>().open(&options, &none));
  ASSERT_TRUE(error);
  EXPECT_EQ(error.error_class(), PL_ERROR_UNSUPPORTED + 0u);
}

}  // namespace
}  // namespace plumbline::abi
