// The backend that claims nothing is a sound table: no problem, no claim, no entry that could crash.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "spec/abi/host.h"

namespace plumbline::abi {
namespace {

const pl_adapter* Load() {
  const char* build = std::getenv("PLUMBLINE_BUILD");
  const std::string path = std::string(build != nullptr ? build : ".") + "/lib/plumbline/backends/template.so";
  void* object = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  EXPECT_NE(object, nullptr) << dlerror();
  if (object == nullptr) return nullptr;
  const auto get = reinterpret_cast<pl_get_adapter_function>(dlsym(object, PL_GET_ADAPTER_SYMBOL));
  EXPECT_NE(get, nullptr);
  return get != nullptr ? get(PL_ABI_MAJOR, PL_ABI_MINOR) : nullptr;
}

TEST(Template, ClaimsNothing) {
  const pl_adapter* table = Load();
  const AdapterCheck check = CheckAdapter(table);
  ASSERT_THAT(check.problems, ::testing::IsEmpty());
  EXPECT_EQ(check.capabilities, 0u);
  EXPECT_EQ(table->capabilities, 0u);
  EXPECT_FALSE(PL_HAS(table, define));
  EXPECT_FALSE(PL_HAS(table, call));
}

TEST(Template, HasANameAndOpens) {
  const pl_adapter* table = Load();
  ASSERT_NE(table, nullptr);
  pl_description description{};
  description.struct_size = sizeof description;
  ASSERT_FALSE(PlError(table->describe(&description)));
  EXPECT_EQ(View(description.name), "template");
  pl_registry* registry = nullptr;
  pl_open_options options{};
  options.struct_size = sizeof options;
  ASSERT_FALSE(PlError(table->open(&options, &registry)));
  table->close(registry);
  options.mode = PL_OPEN_FRESH;
  EXPECT_EQ(PlError(table->open(&options, &registry)).error_class(), PL_ERROR_UNSUPPORTED + 0u);
}

}  // namespace
}  // namespace plumbline::abi
