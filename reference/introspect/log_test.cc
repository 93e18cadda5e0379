#include "reference/introspect/log.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <sstream>

#include "reference/faults/faults.h"
#include "reference/registry/registry.h"

namespace plumbline::reference {
namespace {

TEST(RegistrationLogTest, TellsWhatWhereAndWhatItShadows) {
  const std::string path = testing::TempDir() + "log_test." + std::to_string(getpid());
  RegistrationLog log(TextSink::Open(path, ""));
  Registry registry(KeyTable::ForRelease("pytorch-1.13"));
  registry.ObserveRegistrations(&log);
  {
    const auto d = registry.Define("demo::f(Tensor a) -> Tensor", "a.cc:1");
    const auto one = registry.Impl("demo::f", "CPU", Kernel::Fallthrough(), "a.cc:2");
    { const auto two = registry.Impl("demo::f", "CPU", Kernel::Fallthrough(), "a.cc:3"); }
    const auto fallback = registry.Fallback("HIP", Kernel::Fallthrough(), "a.cc:4");
    const auto chain = registry.DeclareChain(registry.keys().Get("VE"), registry.keys().Get("HIP"), "a.cc:5");
    EXPECT_THROW(static_cast<void>(registry.Define("demo::f(Tensor a) -> Tensor", "a.cc:6")), DispatchError);
  }
  registry.ObserveRegistrations(nullptr);
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(),
            "define demo::f at a.cc:1 on thread 1\n"
            "impl demo::f key=CPU at a.cc:2 on thread 1\n"
            "impl demo::f key=CPU at a.cc:3 on thread 1 shadows a.cc:2\n"
            "release impl demo::f key=CPU at a.cc:3 on thread 1 uncovers a.cc:2\n"
            "fallback key=HIP at a.cc:4 on thread 1\n"
            "chain VE served by HIP at a.cc:5 on thread 1\n"
            "release chain VE served by HIP at a.cc:5 on thread 1\n"
            "release fallback key=HIP at a.cc:4 on thread 1\n"
            "release impl demo::f key=CPU at a.cc:2 on thread 1\n"
            "release define demo::f at a.cc:1 on thread 1\n");
  std::remove(path.c_str());
}

TEST(FaultsTest, TheOrdinaryBuildHasNone) {
  EXPECT_TRUE(SetFault(""));
  EXPECT_FALSE(Faults().empty());
  EXPECT_FALSE(SetFault(Faults().front().name));
  EXPECT_FALSE(PLUMBLINE_FAULT(guard_keeps_component));
}

}  // namespace
}  // namespace plumbline::reference
