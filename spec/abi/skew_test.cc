// Shared objects of skew/ under this host: an older and a newer table work, the others give a clear problem.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "spec/abi/host.h"

namespace plumbline::abi {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Loaded {
  std::unique_ptr<void, int (*)(void*)> object{nullptr, &dlclose};
  pl_get_adapter_function get_adapter = nullptr;
  const pl_adapter* table = nullptr;
};

Loaded Load(const std::string& name) {
  Loaded loaded;
  const char* build = std::getenv("PLUMBLINE_BUILD");
  const std::string path = std::string(build != nullptr ? build : ".") + "/lib/plumbline/skew/" + name + ".so";
  loaded.object.reset(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL));
  EXPECT_NE(loaded.object, nullptr) << dlerror();
  if (loaded.object == nullptr) return loaded;
  loaded.get_adapter = reinterpret_cast<pl_get_adapter_function>(dlsym(loaded.object.get(), PL_GET_ADAPTER_SYMBOL));
  if (loaded.get_adapter != nullptr) loaded.table = loaded.get_adapter(PL_ABI_MAJOR, PL_ABI_MINOR);
  return loaded;
}

// Opens a registry and defines an operator: the table works.
void ExpectWorks(const pl_adapter& table) {
  pl_open_options options{sizeof options, PL_OPEN_FRESH, {nullptr, 0}, 0, 0, nullptr, 0, 0, 0};
  pl_registry* registry = nullptr;
  ASSERT_FALSE(PlError(table.open(&options, &registry)));
  pl_registration* registration = nullptr;
  ASSERT_FALSE(
      PlError(table.define(registry, nullptr, Borrow("demo::f(Tensor a) -> Tensor"), Borrow("here"), &registration)));
  EXPECT_FALSE(PlError(table.release(registration)));
  table.close(registry);
}

TEST(Skew, AnOlderTableLacksTheNewEntriesAndWorks) {
  const Loaded loaded = Load("older");
  ASSERT_NE(loaded.table, nullptr);
  EXPECT_LT(loaded.table->struct_size, sizeof(pl_adapter));
  const AdapterCheck check = CheckAdapter(loaded.table);
  EXPECT_THAT(check.problems, IsEmpty());
  EXPECT_FALSE(PL_HAS(loaded.table, call_many));
  EXPECT_FALSE(PL_HAS(loaded.table, redispatch_typed));
  EXPECT_FALSE(check.Has(PL_CAPABILITY(CALL_MANY)));
  EXPECT_TRUE(check.Has(PL_CAPABILITY(FAULTS)));
  ExpectWorks(*loaded.table);
}

TEST(Skew, ATableOfTheMinorBeforeLacksMemoryAndWorks) {
  const Loaded loaded = Load("minor_1");
  ASSERT_NE(loaded.table, nullptr);
  EXPECT_EQ(loaded.table->struct_size, 384u);
  const AdapterCheck check = CheckAdapter(loaded.table);
  EXPECT_THAT(check.problems, IsEmpty());
  EXPECT_FALSE(PL_HAS(loaded.table, memory_figures));
  EXPECT_FALSE(PL_HAS(loaded.table, tensor_from_dlpack));
  EXPECT_FALSE(check.Has(PL_CAPABILITY(MEMORY)));
  EXPECT_TRUE(check.Has(PL_CAPABILITY(CALL_MANY)));
  ExpectWorks(*loaded.table);
}

TEST(Skew, ANewerTableWorksForWhatThisHostKnows) {
  const Loaded loaded = Load("larger");
  ASSERT_NE(loaded.table, nullptr);
  EXPECT_GT(loaded.table->struct_size, sizeof(pl_adapter));
  const AdapterCheck check = CheckAdapter(loaded.table);
  EXPECT_THAT(check.problems, IsEmpty());
  EXPECT_FALSE(check.Has(UINT64_C(1) << 60));
  EXPECT_TRUE(check.Has(PL_CAPABILITY(CALL_MANY)));
  ExpectWorks(*loaded.table);
}

TEST(Skew, AWrongSizeIsAProblem) {
  const AdapterCheck check = CheckAdapter(Load("wrong_size").table);
  EXPECT_THAT(check.problems, ElementsAre(HasSubstr("ends inside an entry")));
  EXPECT_FALSE(check.readable);
}

TEST(Skew, AClaimWithoutItsEntryIsAProblem) {
  const AdapterCheck check = CheckAdapter(Load("null_entries").table);
  EXPECT_THAT(check.problems, ElementsAre("the table claims guards but lacks guard_enter",
                                          "the table claims cache-flush but lacks cache_flush"));
  EXPECT_TRUE(check.readable);
}

TEST(Skew, AnotherMajorIsAProblem) {
  const AdapterCheck check = CheckAdapter(Load("wrong_major").table);
  EXPECT_THAT(check.problems, ElementsAre(HasSubstr("majors do not mix")));
  EXPECT_FALSE(check.readable);
}

TEST(Skew, ARefusalIsAProblem) {
  const Loaded loaded = Load("refuses");
  EXPECT_NE(loaded.get_adapter, nullptr);
  EXPECT_THAT(CheckAdapter(loaded.table).problems, ElementsAre(HasSubstr("cannot serve a host of ABI 1.2")));
}

TEST(Skew, ASharedObjectMayBeNoBackend) { EXPECT_EQ(Load("no_symbol").get_adapter, nullptr); }

}  // namespace
}  // namespace plumbline::abi
