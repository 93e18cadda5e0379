#include "spec/model/resolve.h"

#include <deque>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace plumbline::model {
namespace {

using ::testing::HasSubstr;

// Registrations of one operator, written as "CPU", "CPU!" (a fallthrough) or "fallback PrivateUse2".
class World {
 public:
  explicit World(const std::vector<std::string>& registrations, const char* release = "pytorch-1.13")
      : keys_(*FindRelease(release), {}) {
    for (std::string name : registrations) {
      Registration& registration = all_.emplace_back();
      registration.kernel = registration.handle = name;
      registration.fallthrough = name.ends_with("!");
      if (registration.fallthrough) name.pop_back();
      const bool fallback = name.starts_with("fallback ");
      if (fallback) name = name.substr(9);
      registration.key = *keys_.Find(name);
      if (fallback) {
        fallbacks_[registration.key] = &registration;
      } else {
        kernels_[registration.key].push_back(&registration);
      }
    }
  }

  void Chain(const char* key, const char* by) { chains_[*keys_.Find(key)] = *keys_.Find(by); }

  // "rule handle"
  std::string At(const char* key) const {
    const Slot slot = Resolve(keys_, live(), *keys_.Find(key));
    return std::string(Spelling(slot.rule)) + (slot.winner == nullptr ? "" : " " + slot.winner->handle);
  }
  std::vector<Trial> Trials(const char* key) const {
    std::vector<Trial> trials;
    Resolve(keys_, live(), *keys_.Find(key), &trials);
    return trials;
  }
  bool Reads(const char* slot, const char* key) const {
    return model::Reads(keys_, chains_, *keys_.Find(slot)).contains(*keys_.Find(key));
  }

 private:
  Live live() const { return {kernels_, fallbacks_, chains_}; }

  KeyTable keys_;
  std::deque<Registration> all_;
  Kernels kernels_;
  Fallbacks fallbacks_;
  Chains chains_;
};

struct Row {
  std::vector<std::string> registrations;
  const char *key, *slot;
};
class ResolveTest : public ::testing::TestWithParam<Row> {};

TEST_P(ResolveTest, TakesTheFirstRuleThatFits) {
  EXPECT_EQ(World(GetParam().registrations).At(GetParam().key), GetParam().slot)
      << GetParam().key << " with " << ::testing::PrintToString(GetParam().registrations);
}

const char kCia[] = "CompositeImplicitAutograd", kCea[] = "CompositeExplicitAutograd",
           kCeanf[] = "CompositeExplicitAutogradNonFunctional", kNested[] = "CompositeImplicitAutogradNestedTensor";

INSTANTIATE_TEST_SUITE_P(
    Rules, ResolveTest,
    ::testing::Values(Row{{}, "CPU", "missing"}, Row{{"CPU", kCia, "fallback CPU"}, "CPU", "kernel CPU"},
                      Row{{"CPU!", kCea}, "CPU", "kernel CPU!"},
                      Row{{kCeanf, kCea, kCia}, "CPU", "nonfunctional CompositeExplicitAutogradNonFunctional"},
                      Row{{kCeanf, kCea, kCia}, "XLA", "explicit CompositeExplicitAutograd"},
                      Row{{kCeanf, kCia}, "SparseCPU", "implicit CompositeImplicitAutograd"},
                      Row{{kCeanf, kCea, kCia}, "Undefined", "nonfunctional CompositeExplicitAutogradNonFunctional"},
                      Row{{kCea, kCia}, "Undefined", "explicit CompositeExplicitAutograd"},
                      Row{{kCia}, "Undefined", "implicit CompositeImplicitAutograd"},
                      Row{{kNested, "Autograd", "fallback CPU"}, "Undefined", "missing"},
                      Row{{kNested, kCia, kCea}, "NestedTensorCPU", "nested CompositeImplicitAutogradNestedTensor"},
                      Row{{kNested, kCia, "NestedTensorCUDA"},
                          "AutogradNestedTensor",
                          "nested CompositeImplicitAutogradNestedTensor"}));

INSTANTIATE_TEST_SUITE_P(
    ImplicitComposite, ResolveTest,
    ::testing::Values(Row{{kCia}, "AutogradCPU", "implicit CompositeImplicitAutograd"},
                      Row{{kCia, "CPU", "fallback AutogradCPU"}, "AutogradCPU", "fallback fallback AutogradCPU"},
                      Row{{kCia, "CPU!"}, "AutogradCPU", "missing"},
                      Row{{kCia, "CPU"}, "AutogradCUDA", "implicit CompositeImplicitAutograd"},
                      Row{{kCia, "SparseCPU"}, "AutogradCPU", "implicit CompositeImplicitAutograd"},
                      Row{{kCia, "HIP"}, "AutogradHIP", "implicit CompositeImplicitAutograd"},
                      Row{{kCia, "HIP"}, "AutogradOther", "implicit CompositeImplicitAutograd"},
                      Row{{kCia, kCea}, "NestedTensorCPU", "missing"},
                      Row{{kCia, kCea, "Autograd"}, "AutogradCUDA", "autograd Autograd"},
                      Row{{kCia, kCeanf, "Autograd"}, "AutogradCUDA", "implicit CompositeImplicitAutograd"},
                      Row{{kCia, "Autograd"}, "AutogradCPU", "implicit CompositeImplicitAutograd"},
                      Row{{kCia, "Autograd", "CPU"}, "AutogradCPU", "autograd Autograd"},
                      Row{{kCia, "NestedTensorCPU"}, "AutogradNestedTensor", "missing"},
                      Row{{kCia}, "Functionalize", "missing"}));

INSTANTIATE_TEST_SUITE_P(
    AutogradOther, ResolveTest,
    ::testing::Values(Row{{kCia, "FPGA"}, "AutogradOther", "ambiguous"},
                      Row{{kCia, "QuantizedXLA!"}, "AutogradOther", "ambiguous"},
                      Row{{kCia, "FPGA", "Autograd"}, "AutogradOther", "ambiguous"},
                      Row{{kCia, "FPGA", kCea}, "AutogradOther", "ambiguous"},
                      Row{{kCia, "FPGA", "AutogradOther"}, "AutogradOther", "kernel AutogradOther"},
                      Row{{"FPGA", "Autograd"}, "AutogradOther", "autograd Autograd"}));

INSTANTIATE_TEST_SUITE_P(Others, ResolveTest,
                         ::testing::Values(Row{{"Autograd", "AutogradCPU"}, "AutogradCPU", "kernel AutogradCPU"},
                                           Row{{"Autograd"}, "ADInplaceOrView", "missing"},
                                           Row{{kCia, "fallback Tracer"}, "Tracer", "fallback fallback Tracer"},
                                           Row{{"fallback CPU"}, "SparseCPU", "missing"},
                                           Row{{"CPU", "CPU!"}, "CPU", "kernel CPU!"}));

TEST(ResolveBatchedTest, RanksAboveTheFallback) {
  EXPECT_EQ(World({"FuncTorchBatchedDecomposition", "fallback FuncTorchBatched"}, "pytorch-2.x").At("FuncTorchBatched"),
            "batched FuncTorchBatchedDecomposition");
}

TEST(ResolveChainTest, FillsWhatAllElseLeaves) {
  World world({"CPU", "fallback PrivateUse1"});
  world.Chain("PrivateUse2", "CPU");
  world.Chain("PrivateUse3", "PrivateUse2");
  world.Chain("PrivateUse1", "CPU");
  EXPECT_EQ(world.At("PrivateUse2"), "chain CPU");
  EXPECT_EQ(world.At("PrivateUse3"), "chain CPU");
  EXPECT_EQ(world.At("PrivateUse1"), "fallback fallback PrivateUse1");
  EXPECT_TRUE(world.Reads("PrivateUse3", "CPU"));
  EXPECT_TRUE(world.Reads("PrivateUse3", "CompositeExplicitAutograd"));
  EXPECT_FALSE(world.Reads("CPU", "PrivateUse2"));
}

TEST(ResolveChainTest, ToNothingOrAnAmbiguousSlotLeavesItEmpty) {
  World world({kCia, "FPGA"});
  world.Chain("Tracer", "AutogradOther");
  world.Chain("Fake", "Named");
  EXPECT_EQ(world.At("Tracer"), "missing");
  EXPECT_EQ(world.At("Fake"), "missing");
}

TEST(ResolveTrialsTest, TellWhyEachRuleDidNotApply) {
  const std::vector<Trial> trials = World({kCia, "CPU", "Autograd"}).Trials("AutogradCPU");
  ASSERT_EQ(trials.size(), 6u);
  EXPECT_EQ(trials[0].rule, Rule::kKernel);
  EXPECT_THAT(trials[1].why, HasSubstr("AutogradCPU is not in CompositeExplicitAutogradNonFunctional"));
  EXPECT_THAT(trials[4].why, HasSubstr("held off by the kernel at CPU"));
  EXPECT_EQ(trials[4].clause, "RES-036");
  EXPECT_TRUE(trials[5].applies);
  EXPECT_EQ(trials[5].rule, Rule::kAutograd);
  const std::vector<Trial> none = World({}).Trials("CPU");
  EXPECT_EQ(none.back().rule, Rule::kMissing);
  EXPECT_TRUE(none.back().applies);
}

TEST(ReadsTest, AreTheKeysOfTheRules) {
  const World world({});
  EXPECT_TRUE(world.Reads("CPU", "CPU"));
  EXPECT_TRUE(world.Reads("CPU", kCia));
  EXPECT_TRUE(world.Reads("CPU", kCeanf));
  EXPECT_FALSE(world.Reads("XLA", kCeanf));
  EXPECT_FALSE(world.Reads("CPU", "Autograd"));
  EXPECT_FALSE(world.Reads("CPU", "CUDA"));
  EXPECT_TRUE(world.Reads("AutogradCPU", "CPU"));
  EXPECT_TRUE(world.Reads("AutogradCPU", kCea));
  EXPECT_TRUE(world.Reads("AutogradCPU", "Autograd"));
  EXPECT_FALSE(world.Reads("AutogradCPU", "SparseCPU"));
  EXPECT_TRUE(world.Reads("AutogradOther", "SparseCPU"));
  EXPECT_TRUE(world.Reads("AutogradNestedTensor", "NestedTensorXLA"));
  EXPECT_TRUE(world.Reads("NestedTensorCPU", kCea));
  EXPECT_TRUE(world.Reads("Undefined", kCea));
  EXPECT_FALSE(world.Reads("Undefined", kNested));
  EXPECT_FALSE(world.Reads("Undefined", "CPU"));
  EXPECT_FALSE(world.Reads("Tracer", kCia));
}

}  // namespace
}  // namespace plumbline::model
