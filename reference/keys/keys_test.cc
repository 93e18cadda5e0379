#include <gmock/gmock.h>

#include <thread>

#include "reference/keys/carried_state.h"
#include "reference/keys/error.h"
#include "reference/keys/key_table.h"
#include "reference/keys/thread_state.h"

namespace plumbline::reference {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

KeyTableRef V1() { return KeyTable::ForRelease("pytorch-1.13"); }

template <class F>
ErrorClass ClassOf(F f, std::string* message = nullptr) {
  try {
    f();
  } catch (const DispatchError& error) {
    if (message != nullptr) *message = error.what();
    return error.error_class();
  }
  return ErrorClass{0};
}

TEST(KeySetTest, IsACrossProduct) {
  const KeySet set = V1()->SetOfNames({"CPU", "AutogradCUDA"});
  EXPECT_EQ(set, V1()->SetOfNames({"CUDA", "AutogradCPU"}));
  EXPECT_EQ(V1()->Print(set), "[CPU CUDA AutogradCPU AutogradCUDA]");
  EXPECT_EQ(V1()->Highest(set), V1()->Get("AutogradCUDA"));
  EXPECT_TRUE(V1()->Has(set, V1()->Get("CUDA")));
  EXPECT_FALSE(V1()->Has(set, V1()->Get("SparseCPU")));
}

TEST(KeySetTest, DifferenceKeepsComponents) {
  const KeySet cpu = V1()->SetOfNames({"CPU"});
  EXPECT_FALSE((cpu - cpu).empty());
  EXPECT_EQ(V1()->Print(cpu - cpu), "[]");
  EXPECT_EQ(V1()->Highest(cpu - cpu), kUndefined);
  EXPECT_EQ(V1()->SetOfNames({"CPU", "SparseCPU"}) - V1()->SetOfNames({"SparseCPU"}), cpu);
}

TEST(KeySetTest, UndefinedAndAliasesAreNotStored) {
  EXPECT_TRUE(V1()->SetOfNames({"Undefined", "Autograd"}).empty());
  EXPECT_EQ(V1()->Highest(KeySet()), kUndefined);
  EXPECT_EQ(V1()->SlotOf(KeySet()), 0);
}

TEST(KeyTableTest, EveryKeyIsHighestOfItsOwnSetAndPrintsAsItself) {
  for (const char* release : {"pytorch-1.13", "pytorch-2.x", "pytorch-2.15"}) {
    const KeyTable& table = *KeyTable::ForRelease(release);
    KeySet all;
    for (Key key : table.runtime_keys()) {
      EXPECT_EQ(table.Highest(table.SetOf(key)), key);
      EXPECT_EQ(table.SlotOf(table.SetOf(key)), static_cast<int>(key));
      EXPECT_EQ(table.Get(table.Name(key)), key);
      all = all | table.SetOf(key);
      if (!table.IsPerBackend(key)) {
        EXPECT_EQ(table.Highest(all), key) << table.Name(key);
      }
    }
    EXPECT_EQ(all, table.Full());
  }
  EXPECT_EQ(V1()->runtime_keys().size(), 105u);
}

TEST(KeyTableTest, BackendOrderIsTheReleases) {
  EXPECT_EQ(V1()->Name(V1()->Highest(V1()->SetOfNames({"Meta", "PrivateUse1"}))), "PrivateUse1");
  const KeyTable& v2 = *KeyTable::ForRelease("pytorch-2.x");
  EXPECT_EQ(v2.Name(v2.Highest(v2.SetOfNames({"Meta", "PrivateUse1"}))), "Meta");
}

TEST(KeyTableTest, BelowComparesFunctionalities) {
  const KeySet below_autograd_cpu = V1()->Below(V1()->Get("AutogradCPU"));
  EXPECT_TRUE(V1()->Has(below_autograd_cpu, V1()->Get("AutogradOther")));
  EXPECT_TRUE(V1()->Has(below_autograd_cpu, V1()->Get("PythonDispatcher")));
  EXPECT_FALSE(V1()->Has(below_autograd_cpu, V1()->Get("AutogradCUDA")));
  EXPECT_FALSE(V1()->Has(V1()->Below(V1()->Get("AutogradOther")), V1()->Get("AutogradOther")));
  EXPECT_EQ(V1()->Print(V1()->SetOfNames({"CPU", "Tracer"}) & V1()->Below(V1()->Get("Tracer"))), "[CPU]");
}

TEST(KeyTableTest, NamesThatAreNoKeys) {
  std::string message;
  EXPECT_EQ(ClassOf([] { V1()->Get("Dense"); }, &message), ErrorClass::kNotFound);
  EXPECT_THAT(message, HasSubstr("functionality"));
  EXPECT_EQ(ClassOf([] { V1()->Get("AutogradCPV"); }, &message), ErrorClass::kNotFound);
  EXPECT_THAT(message, HasSubstr("Near: AutogradCPU"));
  EXPECT_EQ(ClassOf([] { KeyTable::ForRelease("pytorch-9"); }, &message), ErrorClass::kNotFound);
  EXPECT_THAT(message, HasSubstr("pytorch-1.13"));
  EXPECT_EQ(V1()->Get("CatchAll"), kUndefined);
  EXPECT_EQ(V1()->Get("DefaultBackend"), V1()->Get("CompositeExplicitAutograd"));
}

TEST(KeyTableTest, DeclaredKeys) {
  const KeyDeclaration npu{KeyDeclaration::Kind::kComponent, "NPU", "CUDA", "own"};
  const KeyDeclaration tpu{KeyDeclaration::Kind::kBackend, "TPU", "FPGA", "AutogradOther"};
  const KeyDeclaration spy{KeyDeclaration::Kind::kMode, "Spy", "Tracer", ""};
  const std::vector<KeyDeclaration> declared = {npu, tpu, spy};
  const KeyTable& table = *KeyTable::ForRelease("pytorch-1.13", declared);
  EXPECT_EQ(table.Name(table.Highest(table.SetOfNames({"CUDA", "NPU", "CPU"}))), "NPU");
  EXPECT_EQ(table.Name(table.Highest(table.SetOfNames({"NPU", "HIP"}))), "HIP");
  EXPECT_TRUE(table.Behind(static_cast<int>(table.Get("AutogradNPU"))).test(static_cast<int>(table.Get("NPU"))));
  EXPECT_TRUE(table.Behind(table.autograd_other_slot()).test(static_cast<int>(table.Get("TPU"))));
  EXPECT_TRUE(table.Fills(AliasRole::kExplicit, static_cast<int>(table.Get("TPU"))));
  EXPECT_FALSE(table.Fills(AliasRole::kAutograd, static_cast<int>(table.Get("Spy"))));
  EXPECT_EQ(&table, KeyTable::ForRelease("pytorch-1.13", declared)) << "equal contents, one table";
  EXPECT_NE(table.number(), V1()->number());

  const auto refused = [](KeyDeclaration declaration) {
    return ClassOf([&] { KeyTable::ForRelease("pytorch-1.13", std::span(&declaration, 1)); });
  };
  EXPECT_EQ(refused({KeyDeclaration::Kind::kComponent, "CUDA", "CPU", "own"}), ErrorClass::kInvalidArgument);
  EXPECT_EQ(refused({KeyDeclaration::Kind::kComponent, "NPU", "Nowhere", "own"}), ErrorClass::kInvalidArgument);
  EXPECT_EQ(refused({KeyDeclaration::Kind::kMode, "Spy", "Tracer", "own"}), ErrorClass::kInvalidArgument);
  EXPECT_EQ(refused({KeyDeclaration::Kind::kBackend, "TPU", "FPGA", "own"}), ErrorClass::kInvalidArgument);
}

TEST(KeyTableTest, TooManyKeysAreAnOverflow) {
  std::vector<KeyDeclaration> many;
  for (int i = 0; i < 10; ++i) many.push_back({KeyDeclaration::Kind::kMode, "M" + std::to_string(i), "Tracer", ""});
  EXPECT_EQ(ClassOf([&] { KeyTable::ForRelease("pytorch-1.13", many); }), ErrorClass::kOverflow);
}

// ---- thread state ----

TEST(GuardTest, RestoresExactly) {
  const KeyTable& table = *V1();
  const KeySet include = ThreadInclude(table), exclude = ThreadExclude(table);
  EXPECT_EQ(table.Print(include), "[BackendSelect ADInplaceOrView]");
  EXPECT_EQ(table.Print(exclude), "[AutocastCPU AutocastXPU AutocastCUDA]");
  {
    const IncludeGuard outer(table, table.SetOfNames({"PrivateUse1"}));
    {
      const IncludeGuard same(table, table.SetOfNames({"PrivateUse1"}));
      const ExcludeGuard inner(table, table.SetOfNames({"AutogradCPU"}));
      EXPECT_TRUE(table.Has(ThreadInclude(table), table.Get("PrivateUse1")));
    }
    EXPECT_TRUE(table.Has(ThreadInclude(table), table.Get("PrivateUse1")));
  }
  EXPECT_EQ(ThreadInclude(table), include) << "no component bit is left";
  EXPECT_EQ(ThreadExclude(table), exclude);
  try {
    const ExcludeGuard guard(table, table.SetOfNames({"Tracer"}));
    throw 1;
  } catch (int) {
  }
  EXPECT_EQ(ThreadExclude(table), exclude);
}

TEST(GuardTest, EachKeyTableHasItsOwnWords) {
  const KeyTable& v1 = *V1();
  const KeyTable& v2 = *KeyTable::ForRelease("pytorch-2.x");
  const IncludeGuard guard(v1, v1.SetOfNames({"Tracer"}));
  EXPECT_EQ(ThreadInclude(v2), v2.thread_include());
  EXPECT_TRUE(v1.Has(ThreadInclude(v1), v1.Get("Tracer")));
}

TEST(GuardTest, ANewThreadStartsFromDefaults) {
  const KeyTable& table = *V1();
  const ExcludeGuard guard(table, table.SetOfNames({"Tracer"}));
  std::thread([&] { EXPECT_EQ(ThreadExclude(table), table.thread_exclude()); }).join();
}

TEST(CarriedStateTest, AWorkerHasTheCallersGuardsAndThenItsOwnAgain) {
  const KeyTable& table = *V1();
  const KeyTable& other = *KeyTable::ForRelease("pytorch-2.x");
  const KeySet tracer = table.SetOfNames({"Tracer"});
  const KeySet callers = [&] {
    const ExcludeGuard guard(table, tracer);
    return ThreadExclude(table);
  }();
  const IncludeGuard not_carried(other, other.SetOfNames({"Tracer"}));
  const ExcludeGuard guard(table, tracer);
  const CarriedState state;
  std::thread([&] {
    {
      const CarriedState::Use use(state);
      EXPECT_EQ(ThreadExclude(table), callers);
    }
    EXPECT_EQ(ThreadExclude(table), table.thread_exclude());
    const ExcludeGuard own(table, table.SetOfNames({"Python"}));
    const KeySet owns = ThreadExclude(table);
    EXPECT_EQ(ThreadInclude(other), other.thread_include());
    {
      const CarriedState::Use use(state);
      EXPECT_EQ(ThreadExclude(table), callers);
      EXPECT_EQ(ThreadInclude(other), other.thread_include());
    }
    EXPECT_EQ(ThreadExclude(table), owns);
  }).join();
  EXPECT_EQ(ThreadExclude(table), callers);
}

}  // namespace
}  // namespace plumbline::reference
