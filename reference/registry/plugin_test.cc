#include "reference/registry/plugin.h"

#include <gmock/gmock.h>

#include <thread>

#include "reference/keys/error.h"

namespace plumbline::reference {
namespace {

Tensor Same(const Tensor& a) { return a; }

TEST(PluginTest, RegistersForAsLongAsItLives) {
  {
    const Plugin plugin([](Registry& registry) {
      std::vector<Registration> made;
      made.push_back(registry.Define("plugin_test::f(Tensor a) -> Tensor"));
      made.push_back(registry.Impl("plugin_test::f", "PrivateUse1", Kernel::FromFunction<&Same>()));
      return made;
    });
    EXPECT_EQ(TakeLoadFailure(), "");
    EXPECT_TRUE(Registry::Default().HasKernel("plugin_test::f", Registry::Default().keys().Get("PrivateUse1")));
  }
  EXPECT_FALSE(Registry::Default().Find("plugin_test::f"));
}

TEST(PluginTest, WhatGoesWrongIsKeptForWhoeverLoads) {
  const Plugin plugin([](Registry& registry) {
    std::vector<Registration> made;
    made.push_back(registry.Define("plugin_test::g(Tensor a) -> Tensor"));
    Throw(ErrorClass::kUnsupported, "there is no such device");
    return made;
  });
  EXPECT_FALSE(Registry::Default().Find("plugin_test::g")) << "half of it stayed";
  std::thread([] { EXPECT_EQ(TakeLoadFailure(), "") << "another thread's"; }).join();
  EXPECT_EQ(TakeLoadFailure(), "there is no such device");
  EXPECT_EQ(TakeLoadFailure(), "");
  const Plugin other([](Registry&) -> std::vector<Registration> { throw 7; });
  EXPECT_THAT(TakeLoadFailure(), testing::HasSubstr("std::exception"));
}

}  // namespace
}  // namespace plumbline::reference
