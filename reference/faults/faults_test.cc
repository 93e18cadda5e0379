// Linked with the library that has faults.
#include "reference/faults/faults.h"

#include <gmock/gmock.h>

#include <set>
#include <thread>

#include "reference/dispatch/operator.h"

namespace plumbline::reference {
namespace {

template <int kAnswer>
std::int64_t Answer(const Tensor&) {
  return kAnswer;
}

// One registry, one call through old and new kernels, a guard, and what comes of it.
std::string Behaviour() {
  Registry registry(KeyTable::ForRelease("pytorch-1.13"));
  const auto d = registry.Define("demo::f(Tensor a) -> int");
  const auto one = registry.Impl("demo::f", "CPU", Kernel::FromFunction<&Answer<1>>());
  const auto two = registry.Impl("demo::f", "CPU", Kernel::FromFunction<&Answer<2>>());
  const auto f = Operator::Find(registry, "demo::f").typed<std::int64_t(const Tensor&)>();
  const Tensor a = Tensor::Make(registry.keys().SetOfNames({"CPU"}));
  std::string text = std::to_string(f.call(a));
  { const IncludeGuard guard(registry.keys(), registry.keys().SetOfNames({"CUDA"})); }
  try {
    text += std::to_string(f.call(a));
  } catch (const DispatchError& error) {
    text += Spelling(error.error_class());
  }
  return text;
}

TEST(FaultsTest, AreChosenByName) {
  ASSERT_TRUE(SetFault(""));
  EXPECT_EQ(Behaviour(), "22");
  ASSERT_TRUE(SetFault("oldest_kernel_answers"));
  EXPECT_TRUE(FaultActive());
  EXPECT_EQ(Behaviour(), "11");
  ASSERT_TRUE(SetFault("guard_keeps_component"));
  std::thread([] { EXPECT_EQ(Behaviour(), "2no-kernel"); }).join();
  EXPECT_FALSE(SetFault("no_such_fault"));
  ASSERT_TRUE(SetFault(""));
  EXPECT_FALSE(FaultActive());
  EXPECT_EQ(Behaviour(), "22");
}

TEST(FaultsTest, AreDescribed) {
  std::set<std::string_view> names;
  for (const FaultDescription& fault : Faults()) {
    EXPECT_TRUE(names.insert(fault.name).second) << fault.name;
    EXPECT_THAT(std::string(fault.clause), testing::MatchesRegex("[A-Z]+-[0-9][0-9][0-9]"));
    EXPECT_FALSE(fault.what.empty());
    EXPECT_TRUE(SetFault(fault.name));
  }
  SetFault("");
}

}  // namespace
}  // namespace plumbline::reference
