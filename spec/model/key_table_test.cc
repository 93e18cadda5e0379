#include "spec/model/key_table.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace plumbline::model {
namespace {

using scenario::KeyDeclaration;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using Names = std::vector<std::string>;

class KeyTableTest : public ::testing::Test {
 protected:
  const KeyTable table_{*FindRelease("pytorch-1.13"), {}};

  KeySet Set(const Names& names) const {
    std::string unknown;
    const std::optional<KeySet> set = table_.SetOf(names, &unknown);
    EXPECT_TRUE(set) << unknown;
    return set.value_or(KeySet{});
  }
  Key At(const std::string& name) const { return *table_.Find(name); }
  Names All(const std::vector<Key>& keys) const {
    Names names;
    for (Key key : keys) names.push_back(table_.Name(key));
    return names;
  }
};

TEST_F(KeyTableTest, HasTheKeysOfTheRelease) {
  EXPECT_EQ(table_.slot_count(), 106);  // 41 functionalities, 5 of them for 14 backends
  EXPECT_EQ(table_.Name(kUndefined), "Undefined");
  EXPECT_EQ(table_.Name(1), "CPU");
  EXPECT_EQ(table_.Name(105), "PythonDispatcher");
  EXPECT_EQ(FindRelease("pytorch-0"), nullptr);
}

TEST_F(KeyTableTest, FindsByExactSpelling) {
  EXPECT_EQ(table_.Find("Cpu"), std::nullopt);
  EXPECT_EQ(table_.Find("Dense"), std::nullopt);
  EXPECT_EQ(table_.Find("AutogradFunctionality"), std::nullopt);
  EXPECT_EQ(At("CatchAll"), kUndefined);
  EXPECT_EQ(At("DefaultBackend"), At("CompositeExplicitAutograd"));
  EXPECT_THAT(table_.NearestNames("Autogradcuda"), Contains("AutogradCUDA"));
}

TEST_F(KeyTableTest, ASetIsACrossProduct) {
  EXPECT_EQ(Set({"CPU", "AutogradCUDA"}), Set({"CUDA", "AutogradCPU"}));
  EXPECT_THAT(table_.Names(Set({"AutogradCUDA", "CPU"})), ElementsAre("CPU", "CUDA", "AutogradCPU", "AutogradCUDA"));
  EXPECT_EQ(table_.Print(Set({"CPU", "FPGA", "Tracer"})), "[CPU FPGA Tracer]");
  EXPECT_EQ(table_.Print({}), "[]");
}

TEST_F(KeyTableTest, UndefinedAndAliasesAddNothing) {
  EXPECT_EQ(Set({"Undefined"}), KeySet{});
  EXPECT_EQ(Set({"Autograd", "CPU"}), Set({"CPU"}));
  std::string unknown;
  EXPECT_FALSE(table_.SetOf(Names{"CPU", "Bogus"}, &unknown));
  EXPECT_EQ(unknown, "Bogus");
}

TEST_F(KeyTableTest, Highest) {
  const auto highest = [&](const Names& names) { return table_.Name(table_.Highest(Set(names))); };
  EXPECT_EQ(highest({}), "Undefined");
  EXPECT_EQ(highest({"CPU", "Meta"}), "Meta");
  EXPECT_EQ(highest({"CPU", "SparseCUDA"}), "SparseCUDA");
  EXPECT_EQ(highest({"CUDA", "SparseCPU"}), "SparseCUDA");
  EXPECT_EQ(highest({"AutogradCPU", "AutogradOther"}), "AutogradCPU");
  EXPECT_EQ(table_.Highest(Without(Set({"CPU", "CUDA"}), Set({"CUDA"}))), kUndefined);
}

TEST_F(KeyTableTest, Below) {
  const KeySet set = Set({"CPU", "ADInplaceOrView", "AutogradOther", "AutogradCPU", "Tracer", "PythonDispatcher"});
  EXPECT_EQ(table_.Print(table_.Below(set, At("AutogradCPU"))), "[CPU ADInplaceOrView AutogradOther PythonDispatcher]");
  EXPECT_EQ(table_.Print(table_.Below(set, At("AutogradOther"))), "[CPU ADInplaceOrView PythonDispatcher]");
}

TEST_F(KeyTableTest, Aliases) {
  const Key cia = At("CompositeImplicitAutograd"), cea = At("CompositeExplicitAutograd"),
            ceanf = At("CompositeExplicitAutogradNonFunctional"), autograd = At("Autograd");
  EXPECT_TRUE(table_.IsAlias(cia));
  EXPECT_FALSE(table_.IsAlias(At("AutogradCPU")));
  EXPECT_EQ(table_.Members(autograd).size(), 16u);
  EXPECT_TRUE(table_.InAlias(At("NestedTensorCPU"), cia));
  EXPECT_FALSE(table_.InAlias(At("NestedTensorCPU"), cea));
  EXPECT_FALSE(table_.InAlias(At("Functionalize"), cia));
  EXPECT_FALSE(table_.InAlias(At("QuantizedLazy"), ceanf));
  EXPECT_FALSE(table_.InAlias(At("SparseCPU"), ceanf));
  EXPECT_TRUE(table_.InAlias(At("QuantizedCPU"), ceanf));
  EXPECT_FALSE(table_.InAlias(kUndefined, cia));
  EXPECT_EQ(table_.Alias("FuncTorchBatchedDecomposition"), std::nullopt);
  EXPECT_EQ(table_.Alias("CPU"), std::nullopt);
}

TEST_F(KeyTableTest, BackendsBehindAutogradKeys) {
  EXPECT_THAT(All(table_.Behind(At("AutogradCPU"))), ElementsAre("CPU"));
  EXPECT_THAT(table_.Behind(At("AutogradHIP")), IsEmpty());
  EXPECT_THAT(table_.Behind(At("CPU")), IsEmpty());
  const Names other = All(table_.Behind(At("AutogradOther")));
  EXPECT_EQ(other.size(), 8u + 2 * 14);
  EXPECT_THAT(other, Contains("SparseCPU"));
  EXPECT_THAT(other, Not(Contains("HIP")));
  EXPECT_EQ(table_.Behind(At("AutogradNestedTensor")).size(), 14u);
  EXPECT_EQ(table_.AutogradOf(table_.ComponentOf(At("SparseCUDA"))), At("AutogradCUDA"));
  EXPECT_EQ(table_.AutogradOf(table_.ComponentOf(At("HIP"))), At("AutogradOther"));
  EXPECT_EQ(table_.AutogradOf(std::nullopt), At("AutogradOther"));
}

TEST_F(KeyTableTest, ThreadDefaults) {
  EXPECT_EQ(table_.Print(table_.thread_include()), "[BackendSelect ADInplaceOrView]");
  EXPECT_EQ(table_.Print(table_.thread_exclude()), "[AutocastCPU AutocastXPU AutocastCUDA]");
  EXPECT_EQ(table_.Print(table_.undefined_tensor()), "[ADInplaceOrView AutogradOther]");
}

TEST(KeyTableOf2xTest, DiffersWhereTheReleaseDoes) {
  const KeyTable table(*FindRelease("pytorch-2.x"), {});
  EXPECT_TRUE(table.Find("SparseCsrCUDA"));
  EXPECT_TRUE(table.IsPerBackend(*table.Find("SparseCsrCUDA")));
  EXPECT_TRUE(table.Alias("FuncTorchBatchedDecomposition"));
  std::string unknown;
  EXPECT_EQ(table.Name(table.Highest(*table.SetOf(Names{"Meta", "PrivateUse1"}, &unknown))), "Meta");
}

KeyDeclaration Declaration(KeyDeclaration::Kind kind, const char* name, const char* after, const char* autograd) {
  KeyDeclaration declaration;
  declaration.kind = kind;
  declaration.name = name;
  declaration.after = after;
  declaration.autograd = autograd;
  return declaration;
}
using Kind = KeyDeclaration::Kind;

TEST(DeclaredKeysTest, AComponentBringsAllPerBackendKeys) {
  const std::vector<KeyDeclaration> declared = {Declaration(Kind::kComponent, "Tally", "CUDA", "own"),
                                                Declaration(Kind::kComponent, "Late", "Tally", "AutogradOther")};
  const KeyTable table(*FindRelease("pytorch-1.13"), declared);
  EXPECT_EQ(table.problem(), "");
  EXPECT_EQ(table.slot_count(), 106 + 2 * 5);
  EXPECT_EQ(*table.Find("Tally"), *table.Find("CUDA") + 1);
  EXPECT_EQ(*table.Find("Late"), *table.Find("HIP") - 1);
  EXPECT_EQ(table.Behind(*table.Find("AutogradTally")), std::vector<Key>{*table.Find("Tally")});
  EXPECT_TRUE(table.Behind(*table.Find("AutogradLate")).empty());
  EXPECT_TRUE(table.InAlias(*table.Find("SparseTally"), *table.Find("CompositeExplicitAutograd")));
}

TEST(DeclaredKeysTest, ABackendIsBehindAutogradOtherAndAModeInNoAlias) {
  const std::vector<KeyDeclaration> declared = {Declaration(Kind::kBackend, "Slate", "FPGA", "AutogradOther"),
                                                Declaration(Kind::kMode, "Audit", "Tracer", "")};
  const KeyTable table(*FindRelease("pytorch-1.13"), declared);
  EXPECT_EQ(table.problem(), "");
  const Key slate = *table.Find("Slate"), audit = *table.Find("Audit");
  EXPECT_EQ(slate, *table.Find("FPGA") + 1);
  EXPECT_EQ(audit, *table.Find("Tracer") + 1);
  EXPECT_THAT(table.Behind(*table.Find("AutogradOther")), Contains(slate));
  for (const char* alias :
       {"CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional", "CompositeImplicitAutograd"}) {
    EXPECT_TRUE(table.InAlias(slate, *table.Find(alias))) << alias;
    EXPECT_FALSE(table.InAlias(audit, *table.Find(alias))) << alias;
  }
  EXPECT_FALSE(table.InAlias(slate, *table.Find("Autograd")));
}

TEST(DeclaredKeysTest, SenselessOnesAreTold) {
  const auto problem = [](const KeyDeclaration& declaration) {
    return KeyTable(*FindRelease("pytorch-1.13"), std::vector<KeyDeclaration>{declaration}).problem();
  };
  EXPECT_THAT(problem(Declaration(Kind::kComponent, "CUDA", "CPU", "own")), HasSubstr("taken"));
  for (const char* name : {"Undefined", "AutogradCPU", "Autograd", "CatchAll", "Dense"}) {
    EXPECT_THAT(problem(Declaration(Kind::kMode, name, "Tracer", "")), HasSubstr("the name is taken")) << name;
  }
  EXPECT_THAT(problem(Declaration(Kind::kComponent, "Other", "CPU", "own")), HasSubstr("AutogradOther is taken"));
  EXPECT_THAT(problem(Declaration(Kind::kMode, "", "Tracer", "")), HasSubstr("give it a name"));
  EXPECT_THAT(problem(Declaration(Kind::kMode, "X", "Tracr", "")), HasSubstr("come after; near: Tracer"));
  EXPECT_THAT(problem(Declaration(Kind::kComponent, "X", "Nothing", "own")), HasSubstr("'Nothing'"));
  EXPECT_THAT(problem(Declaration(Kind::kComponent, "X", "CPU", "AutogradCPU")), HasSubstr("autograd"));
  EXPECT_THAT(problem(Declaration(Kind::kBackend, "X", "CPU", "AutogradOther")), HasSubstr("'CPU'"));
  EXPECT_THAT(problem(Declaration(Kind::kBackend, "X", "FPGA", "own")), HasSubstr("autograd"));
  EXPECT_THAT(problem(Declaration(Kind::kMode, "X", "Tracer", "AutogradOther")), HasSubstr("mode"));
}

TEST(DeclaredKeysTest, NoMoreThanThereIsRoomFor) {
  for (const Kind kind : {Kind::kMode, Kind::kBackend, Kind::kComponent}) {
    std::vector<KeyDeclaration> declared;
    for (int i = 0; i < 200; ++i) {
      declared.push_back(kind == Kind::kMode      ? Declaration(kind, "", "Python", "")
                         : kind == Kind::kBackend ? Declaration(kind, "", "FPGA", "AutogradOther")
                                                  : Declaration(kind, "", "CPU", "own"));
      declared.back().name = "K" + std::to_string(i);
    }
    EXPECT_THAT(KeyTable(*FindRelease("pytorch-1.13"), declared).problem(), HasSubstr("the model has room for"));
  }
}

}  // namespace
}  // namespace plumbline::model
