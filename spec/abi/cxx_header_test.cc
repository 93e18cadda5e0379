// abi.h means the same in C++20 as in C11.
#include <gtest/gtest.h>

#include <type_traits>

#include "spec/abi/abi.h"
#include "spec/abi/layout_1_0.h"
#include "spec/abi/layout_1_1.h"
#include "spec/abi/layout_1_2.h"

namespace {

#if UINTPTR_MAX == UINT64_MAX
#define PL_CHECK_LEAST(type, size) static_assert(sizeof(type) >= size, #type " lost a field");
#define PL_CHECK_SIZE(type, size) static_assert(sizeof(type) == size, "sizeof " #type " is frozen");
#define PL_CHECK_FIELD(type, field, offset) \
  static_assert(offsetof(type, field) == offset, #type "." #field " is frozen");
PL_LAYOUT_1_0_SIZES(PL_CHECK_LEAST)
PL_LAYOUT_1_0_FIELDS(PL_CHECK_FIELD)
PL_LAYOUT_1_1_SIZES(PL_CHECK_LEAST)
PL_LAYOUT_1_1_FIELDS(PL_CHECK_FIELD)
PL_LAYOUT_1_2_SIZES(PL_CHECK_SIZE)
PL_LAYOUT_1_2_FIELDS(PL_CHECK_FIELD)
#endif

TEST(AbiHeader, StructsArePlainC) {
#define PL_CHECK_PLAIN(type, size)                       \
  EXPECT_TRUE(std::is_standard_layout_v<type>) << #type; \
  EXPECT_TRUE(std::is_trivial_v<type>) << #type;
  PL_LAYOUT_1_0_SIZES(PL_CHECK_PLAIN)
  PL_LAYOUT_1_1_SIZES(PL_CHECK_PLAIN)
  PL_LAYOUT_1_2_SIZES(PL_CHECK_PLAIN)
}

TEST(AbiHeader, AnEntryExistsOnlyInsideTheTableAndIfSet) {
  pl_adapter table{};
  table.struct_size = sizeof table;
  EXPECT_FALSE(PL_HAS(&table, close));
  table.close = [](pl_registry*) {};
  EXPECT_TRUE(PL_HAS(&table, close));
  table.struct_size = offsetof(pl_adapter, close) + sizeof table.close;
  EXPECT_TRUE(PL_HAS(&table, close));
  table.struct_size -= 1;
  EXPECT_FALSE(PL_HAS(&table, close));
}

}  // namespace
