#include "spec/abi/host.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "spec/abi/testing/toy_table.h"

namespace plumbline::abi {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::uint32_t kPrefix = offsetof(pl_adapter, describe);

pl_adapter Toy() { return testing::ToyTable(); }

TEST(CheckAdapter, AWholeTableHasNoProblem) {
  const pl_adapter table = Toy();
  const AdapterCheck check = CheckAdapter(&table);
  EXPECT_THAT(check.problems, IsEmpty());
  EXPECT_TRUE(check.readable);
  EXPECT_EQ(check.capabilities, table.capabilities);
  EXPECT_TRUE(check.Has(PL_CAPABILITY(CORE) | PL_CAPABILITY(GUARDS)));
}

TEST(CheckAdapter, ATableWithoutClaimsIsFine) {
  pl_adapter table{};
  table.struct_size = sizeof table;
  table.abi_major = PL_ABI_MAJOR;
  table.describe = Toy().describe;
  const AdapterCheck check = CheckAdapter(&table);
  EXPECT_THAT(check.problems, IsEmpty());
  EXPECT_EQ(check.capabilities, 0u);
  EXPECT_FALSE(check.Has(PL_CAPABILITY(CORE)));
}

TEST(CheckAdapter, NoTable) {
  const AdapterCheck check = CheckAdapter(nullptr);
  EXPECT_THAT(check.problems, ElementsAre(AllOf(HasSubstr("no table"), HasSubstr("ABI 1.2"))));
  EXPECT_FALSE(check.readable);
}

// With a size below the fixed fields not even the major may be read: it is garbage here, and not mentioned.
TEST(CheckAdapter, ASizeBelowTheFixedFields) {
  for (const std::uint32_t size : {0u, 4u, kPrefix - 1}) {
    pl_adapter table = Toy();
    table.struct_size = size;
    table.abi_major = 99;
    const AdapterCheck check = CheckAdapter(&table);
    EXPECT_THAT(check.problems, ElementsAre(AllOf(HasSubstr("struct_size is " + std::to_string(size)),
                                                  HasSubstr("sizeof(pl_adapter)"))));
    EXPECT_FALSE(check.readable);
    EXPECT_EQ(check.capabilities, 0u);
  }
}

TEST(CheckAdapter, ASizeThatEndsInsideAnEntry) {
  for (const std::uint32_t cut : {1u, 3u, 7u}) {
    pl_adapter table = Toy();
    table.struct_size -= cut;
    const AdapterCheck check = CheckAdapter(&table);
    EXPECT_THAT(check.problems, ElementsAre(HasSubstr("ends inside an entry")));
    EXPECT_FALSE(check.readable);
  }
}

TEST(CheckAdapter, AnotherMajorIsNotLookedInto) {
  pl_adapter table = Toy();
  table.abi_major = PL_ABI_MAJOR + 1;
  table.reserved = 1;
  const AdapterCheck check = CheckAdapter(&table);
  EXPECT_THAT(check.problems, ElementsAre(AllOf(HasSubstr("ABI 2.2"), HasSubstr("speaks 1.2"))));
  EXPECT_FALSE(check.readable);
  EXPECT_EQ(check.capabilities, 0u);
}

TEST(CheckAdapter, ReservedFieldsAreZero) {
  pl_adapter table = Toy();
  table.reserved = 1;
  EXPECT_THAT(CheckAdapter(&table).problems, ElementsAre(HasSubstr("reserved field")));

  const int extension = 0;
  table = Toy();
  table.extensions = &extension;
  EXPECT_THAT(CheckAdapter(&table).problems, ElementsAre(HasSubstr("extensions")));
}

TEST(CheckAdapter, AClaimNeedsItsEntries) {
  pl_adapter table = Toy();
  table.guard_leave = nullptr;
  table.tensor_keys = nullptr;
  table.dump_registrations = nullptr;  // no claim needs this one
  const AdapterCheck check = CheckAdapter(&table);
  EXPECT_THAT(check.problems, ElementsAre("the table claims core but lacks tensor_keys (in C++ the member KeysOf)",
                                          "the table claims guards but lacks guard_leave"));
  EXPECT_TRUE(check.readable);
  EXPECT_EQ(check.capabilities, Toy().capabilities & ~(PL_CAPABILITY(CORE) | PL_CAPABILITY(GUARDS)));
}

TEST(CheckAdapter, DescribeIsNeeded) {
  pl_adapter table = Toy();
  table.describe = nullptr;
  EXPECT_THAT(CheckAdapter(&table).problems, ElementsAre(HasSubstr("lacks describe")));
}

TEST(CheckAdapter, AnUnknownBitOfTheSameMinorIsAMistake) {
  pl_adapter table = Toy();
  table.capabilities |= UINT64_C(1) << 63;
  const AdapterCheck check = CheckAdapter(&table);
  EXPECT_THAT(check.problems, ElementsAre(HasSubstr("bit 63")));
  EXPECT_EQ(check.capabilities, Toy().capabilities);
}

TEST(CheckAdapter, MoreEntriesNeedANewerMinor) {
  struct {
    pl_adapter table;
    void (*more)(void);
  } newer{Toy(), nullptr};
  newer.table.struct_size = sizeof newer;
  EXPECT_THAT(CheckAdapter(&newer.table).problems, ElementsAre(HasSubstr("was abi_minor forgotten?")));
  newer.table.abi_minor = PL_ABI_MINOR + 1;
  EXPECT_THAT(CheckAdapter(&newer.table).problems, IsEmpty());
}

TEST(CapabilitySpellings, AreThoseOfTheTable) {
  EXPECT_THAT(CapabilitySpellings(0), IsEmpty());
  EXPECT_THAT(CapabilitySpellings(PL_CAPABILITY(CHAINS) | PL_CAPABILITY(CORE) | UINT64_C(1) << 63),
              ElementsAre("core", "chains"));
}

TEST(PlError, IsReleasedOnceByTheLastOwner) {
  static int released = 0;
  pl_error object{};
  object.struct_size = sizeof object;
  object.error_class = PL_ERROR_NOT_FOUND;
  object.release = [](pl_error*) { ++released; };
  {
    PlError first(&object);
    EXPECT_TRUE(first);
    PlError second = std::move(first);
    EXPECT_EQ(second.error_class(), PL_ERROR_NOT_FOUND + 0u);
    EXPECT_EQ(second.message(), "");
    EXPECT_EQ(released, 0);
  }
  EXPECT_EQ(released, 1);
  PlError given(&object);
  EXPECT_EQ(given.release(), &object);
  EXPECT_EQ(released, 1);
  EXPECT_FALSE(PlError(nullptr));
}

TEST(MakeError, KeepsWhatItIsGiven) {
  PlError error(MakeError(PL_ERROR_KERNEL_RAISED, "k1 failed", "demo.scn:4", 77));
  EXPECT_EQ(error.error_class(), PL_ERROR_KERNEL_RAISED + 0u);
  EXPECT_EQ(error.message(), "k1 failed");
  EXPECT_EQ(error.origin(), "demo.scn:4");
  EXPECT_EQ(error.payload(), 77u);
  EXPECT_EQ(ErrorClassSpelling(error.error_class()), "kernel-raised");
  EXPECT_EQ(ErrorClassSpelling(0), "unknown class");
}

}  // namespace
}  // namespace plumbline::abi
