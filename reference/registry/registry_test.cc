#include "reference/registry/registry.h"

#include <gmock/gmock.h>

#include "reference/dispatch/operator.h"
#include "reference/introspect/dump.h"
#include "reference/registry/describe.h"

namespace plumbline::reference {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

template <int kAnswer>
std::int64_t Answer(const Tensor&) {
  return kAnswer;
}

class RegistryTest : public testing::Test {
 protected:
  template <class F>
  ErrorClass Refused(F f) {
    try {
      f();
    } catch (const DispatchError& error) {
      message_ = error.what();
      return error.error_class();
    }
    message_ = "";
    return ErrorClass{0};
  }
  Tensor Make(std::initializer_list<std::string_view> keys) { return Tensor::Make(registry_.keys().SetOfNames(keys)); }
  // What a boxed call of demo::f gives, 0 if it is an error, whose class is kept.
  std::int64_t Call(std::initializer_list<std::string_view> keys, const char* op = "demo::f") {
    std::int64_t result = 0;
    error_ = Refused([&] {
      Stack stack;
      stack.Push(Value(Make(keys)));
      Operator::Find(registry_, op).CallBoxed(stack);
      result = stack.Pop().ToInt();
    });
    return result;
  }
  Registration Define(const char* name = "demo::f") {
    return registry_.Define(std::string(name) + "(Tensor a) -> int", "define.cc:1");
  }
  template <int kAnswer>
  Registration Impl(const char* key, const char* place = "impl.cc:1") {
    return registry_.Impl("demo::f", key, Kernel::FromFunction<&Answer<kAnswer>>(), place);
  }
  Registration Through(const char* key) {
    return registry_.Impl("demo::f", key, Kernel::Fallthrough(), "through.cc:1");
  }

  Registry registry_{KeyTable::ForRelease("pytorch-1.13")};
  std::string message_;
  ErrorClass error_{0};
};

TEST_F(RegistryTest, NewestKernelAnswersAndReleaseInAnyOrder) {
  const Registration d = Define();
  Registration one = Impl<1>("CPU"), two = Impl<2>("CPU"), three = Impl<3>("CPU");
  EXPECT_EQ(Call({"CPU"}), 3);
  two.Release();
  EXPECT_EQ(Call({"CPU"}), 3);
  three.Release();
  EXPECT_EQ(Call({"CPU"}), 1);
  one.Release();
  EXPECT_EQ(Call({"CPU"}), 0);
  EXPECT_EQ(error_, ErrorClass::kNoKernel);
}

TEST_F(RegistryTest, AssigningToARegistrationReleasesWhatItHeld) {
  const Registration d = Define();
  const Registration under = Impl<1>("CPU");
  Registration handle = Impl<2>("CPU");
  handle = Impl<3>("CUDA");
  EXPECT_EQ(Call({"CPU"}), 1);
  EXPECT_EQ(Call({"CUDA"}), 3);
  EXPECT_TRUE(handle.in_force());
  handle.Release();
  EXPECT_FALSE(handle.in_force());
}

TEST_F(RegistryTest, CompositeAndAutogradRules) {
  const Registration d = Define();
  const Registration implicit = Impl<1>("CompositeImplicitAutograd");
  EXPECT_EQ(Call({"CPU", "AutogradCPU"}), 1);
  {
    const Registration cpu = Impl<2>("CPU");
    EXPECT_EQ(Call({"CPU", "AutogradCPU"}), 2) << "a backend kernel keeps the implicit one out of its autograd key";
    EXPECT_EQ(Call({"CUDA", "AutogradCUDA"}), 1);
    const Registration autograd = Impl<3>("Autograd");
    EXPECT_EQ(Call({"CPU", "AutogradCPU"}), 3);
    EXPECT_EQ(Call({"CUDA", "AutogradCUDA"}), 1) << "implicit beats Autograd";
  }
  {
    const Registration explicit_kernel = Impl<4>("CompositeExplicitAutograd");
    EXPECT_EQ(Call({"CPU", "AutogradCPU"}), 4);
    EXPECT_EQ(Call({}), 4) << "Undefined";
    EXPECT_EQ(Call({"NestedTensorCPU"}), 0) << "explicit keeps implicit out also where it does not serve";
  }
  EXPECT_EQ(Call({"CPU", "AutogradCPU"}), 1);
}

TEST_F(RegistryTest, AmbiguousAutogradOther) {
  const Registration d = Define();
  const Registration implicit = Impl<1>("CompositeImplicitAutograd", "a.cc:1");
  const Registration fpga = Impl<2>("FPGA", "b.cc:2");
  EXPECT_EQ(Call({"FPGA", "AutogradOther"}), 0);
  EXPECT_EQ(error_, ErrorClass::kAmbiguous);
  EXPECT_THAT(message_, testing::AllOf(HasSubstr("a.cc:1"), HasSubstr("b.cc:2")));
  const Registration other = Impl<3>("AutogradOther");
  EXPECT_EQ(Call({"FPGA", "AutogradOther"}), 3);
}

TEST_F(RegistryTest, FallthroughIsPerBackendAndChosenAfterThreadState) {
  const Registration d = Define();
  const Registration cpu = Impl<1>("CPU"), cuda = Impl<2>("CUDA"), autograd = Impl<3>("Autograd");
  const Registration through = Through("AutogradCPU");
  EXPECT_EQ(Call({"CPU", "AutogradCPU"}), 1);
  EXPECT_EQ(Call({"CUDA", "AutogradCUDA"}), 3);
  const IncludeGuard guard(registry_.keys(), registry_.keys().SetOfNames({"CUDA"}));
  EXPECT_EQ(Call({"CPU", "AutogradCPU"}), 3);
}

TEST_F(RegistryTest, OrderDoesNotMatter) {
  const char* const keys[] = {"CPU", "CompositeImplicitAutograd", "CompositeExplicitAutograd", "QuantizedCPU",
                              "Autograd"};
  std::vector<int> order = {0, 1, 2, 3, 4};
  std::vector<std::string> first;
  do {
    std::vector<Registration> held;
    held.push_back(Define());
    Call({"CPU", "AutogradCPU"});
    for (int i : order) {
      held.push_back(
          registry_.Impl("demo::f", keys[i], Kernel::FromFunction<&Answer<1>>(), std::string("at ") + keys[i]));
      Call({"CPU", "AutogradCPU"});
      Call({"AutogradOther"});
    }
    const std::vector<std::string> table = DumpTable(registry_, "demo::f");
    if (first.empty()) first = table;
    ASSERT_EQ(table, first);
    EXPECT_EQ(Call({"CPU", "AutogradCPU"}), 1);
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_F(RegistryTest, RefusalsLeaveNothing) {
  std::vector<std::string> warnings;
  registry_.WarnTo([&](std::string_view warning) { warnings.emplace_back(warning); });
  const Registration d = Define();
  EXPECT_EQ(Refused([&] { auto x = Define(); }), ErrorClass::kDuplicate);
  EXPECT_THAT(message_, HasSubstr("define.cc:1"));
  int destroyed = 0;
  struct Counter {
    explicit Counter(int* n) : count(n) {}
    Counter(Counter&& other) noexcept : count(std::exchange(other.count, nullptr)) {}
    ~Counter() {
      if (count != nullptr) ++*count;
    }
    double operator()(const Tensor&) const { return 1; }
    int* count;
  };
  EXPECT_EQ(Refused([&] { auto x = registry_.Impl("demo::f", "CPU", Kernel::From(Counter(&destroyed)), "bad.cc:7"); }),
            ErrorClass::kSchemaMismatch);
  EXPECT_EQ(destroyed, 1);
  EXPECT_THAT(message_, testing::AllOf(HasSubstr("return 1 is int in the schema and float in C++"),
                                       HasSubstr("bad.cc:7"), HasSubstr("define.cc:1")));
  const Registration good = Impl<1>("CPU");
  EXPECT_EQ(Call({"CPU"}), 1);
  EXPECT_THAT(warnings, IsEmpty());
  EXPECT_EQ(Refused([&] { auto x = registry_.Impl("demo::f", "Dense", Kernel::Fallthrough()); }),
            ErrorClass::kNotFound);
  EXPECT_EQ(Refused([&] { auto x = registry_.Impl("f", "CPU", Kernel::Fallthrough()); }), ErrorClass::kInvalidArgument);
  EXPECT_EQ(Refused([&] { auto x = registry_.Fallback("Autograd", Kernel::Fallthrough()); }),
            ErrorClass::kInvalidArgument);
  EXPECT_EQ(Refused([&] { auto x = registry_.Fallback("Undefined", Kernel::Fallthrough()); }),
            ErrorClass::kInvalidArgument);
  EXPECT_EQ(Refused([&] { auto x = registry_.Fallback("AutogradCPU", Kernel::Fallthrough()); }),
            ErrorClass::kDuplicate);
  EXPECT_EQ(Refused([&] { auto x = registry_.Fallback("CPU", Kernel::FromFunction<&Answer<1>>()); }),
            ErrorClass::kInvalidArgument);
  EXPECT_THAT(registry_.Operators(), ElementsAre("demo::f"));
}

TEST_F(RegistryTest, ASchemaIsCheckedAgainstLivingKernels) {
  Registration kernel = registry_.Impl("demo::g", "CPU", Kernel::FromFunction<&Answer<1>>(), "g.cc:1");
  EXPECT_THAT(registry_.Dangling(), ElementsAre("demo::g"));
  EXPECT_EQ(Refused([&] { auto x = registry_.Define("demo::g(Tensor a, Tensor b) -> int"); }),
            ErrorClass::kSchemaMismatch);
  EXPECT_EQ(Refused([&] { Operator::Find(registry_, "demo::g"); }), ErrorClass::kNotFound);
  EXPECT_THAT(message_, HasSubstr("no definition"));
  const Registration d = Define("demo::g");
  EXPECT_EQ(Call({"CPU"}, "demo::g"), 1);
}

TEST_F(RegistryTest, SignaturesAgreeAmongTheLiving) {
  const Registration d = registry_.Define("demo::s(Tensor(a!) a, SymInt b) -> Tensor(a!)");
  Registration one =
      registry_.Impl("demo::s", "CPU", Kernel::From([](Tensor& a, std::int64_t) -> Tensor& { return a; }));
  const auto by_value = [&] {
    return registry_.Impl("demo::s", "CUDA", Kernel::From([](const Tensor& a, std::int64_t) { return a; }));
  };
  EXPECT_EQ(Refused([&] { auto x = by_value(); }), ErrorClass::kSchemaMismatch);
  const Registration symbolic =
      registry_.Impl("demo::s", "CUDA", Kernel::From([](Tensor& a, SymInt) -> Tensor& { return a; }));
  one.Release();
  const Registration other = by_value();
}

TEST_F(RegistryTest, LibrariesGoTogether) {
  Library def(registry_, LibraryKind::kDef, "lib", std::nullopt, "lib.cc:1");
  EXPECT_EQ(Refused([&] { Library again(registry_, LibraryKind::kDef, "lib", std::nullopt, "lib.cc:2"); }),
            ErrorClass::kDuplicate);
  EXPECT_THAT(message_, testing::AllOf(HasSubstr("lib.cc:1"), HasSubstr("lib.cc:2")));
  def.Def("f(Tensor a) -> int");
  Library impl(registry_, LibraryKind::kImpl, "lib", registry_.keys().Get("CPU"));
  impl.Impl("f", Kernel::FromFunction<&Answer<5>>());
  EXPECT_EQ(Call({"CPU"}, "lib::f"), 5);
  EXPECT_EQ(Refused([&] { impl.Def("g(Tensor a) -> int"); }), ErrorClass::kInvalidArgument);
  EXPECT_EQ(Refused([&] { impl.Impl("f", "CUDA", Kernel::Fallthrough()); }), ErrorClass::kInvalidArgument);
  EXPECT_EQ(Refused([&] { impl.Impl("other::f", Kernel::Fallthrough()); }), ErrorClass::kInvalidArgument);
  EXPECT_EQ(Refused([&] { impl.Fallback(Kernel::Fallthrough()); }), ErrorClass::kInvalidArgument);
  EXPECT_EQ(Refused([&] { Library wild(registry_, LibraryKind::kDef, "_"); }), ErrorClass::kInvalidArgument);
  Registration held = registry_.Impl("f", std::nullopt, Kernel::FromFunction<&Answer<6>>(), "held.cc:1", &impl);
  EXPECT_EQ(Call({"CPU"}, "lib::f"), 6);
  impl.Close();
  EXPECT_FALSE(held.in_force());
  held.Release();
  EXPECT_EQ(Call({"CPU"}, "lib::f"), 0);
  EXPECT_EQ(Refused([&] { impl.Impl("f", Kernel::Fallthrough()); }), ErrorClass::kInvalidHandle);
  Library moved = std::move(def);
  moved.Close();
  EXPECT_THAT(registry_.Operators(), IsEmpty());
  Library again(registry_, LibraryKind::kDef, "lib");
}

TEST_F(RegistryTest, ChainsServeWhatNothingElseDoes) {
  const KeyTable& keys = registry_.keys();
  const Registration d = Define();
  const Registration cpu = Impl<1>("CPU");
  Registration chain = registry_.DeclareChain(keys.Get("PrivateUse1"), keys.Get("CUDA"), "chain.cc:1");
  EXPECT_EQ(Call({"PrivateUse1"}), 0);
  const Registration second = registry_.DeclareChain(keys.Get("CUDA"), keys.Get("CPU"), "chain.cc:2");
  EXPECT_EQ(Call({"PrivateUse1"}), 1);
  EXPECT_EQ(Refused([&] { auto x = registry_.DeclareChain(keys.Get("CPU"), keys.Get("PrivateUse1"), "chain.cc:3"); }),
            ErrorClass::kInvalidArgument);
  EXPECT_THAT(message_, HasSubstr("CPU -> PrivateUse1 -> CUDA -> CPU"));
  EXPECT_EQ(Refused([&] { auto x = registry_.DeclareChain(keys.Get("CUDA"), keys.Get("HIP")); }),
            ErrorClass::kDuplicate);
  EXPECT_EQ(Refused([&] { auto x = registry_.DeclareChain(keys.Get("Autograd"), keys.Get("HIP")); }),
            ErrorClass::kInvalidArgument);
  const Registration own = Impl<2>("CUDA");
  EXPECT_EQ(Call({"PrivateUse1"}), 2);
  chain.Release();
  EXPECT_EQ(Call({"PrivateUse1"}), 0);
}

TEST_F(RegistryTest, FallbacksServeEveryOperator) {
  const Registration d = Define();
  Registration fallback = registry_.Fallback("PrivateUse1", Kernel::FromBoxed([](BoxedCall& call) {
                                               call.stack.Drop(1);
                                               call.stack.Push(Value(static_cast<std::int64_t>(call.op.name().size())));
                                             }));
  EXPECT_EQ(Call({"PrivateUse1"}), 7);
  const Registration e = Define("demo::longer");
  EXPECT_EQ(Call({"PrivateUse1"}, "demo::longer"), 12);
  EXPECT_TRUE(registry_.HasFallback(registry_.keys().Get("PrivateUse1")));
  fallback.Release();
  EXPECT_EQ(Call({"PrivateUse1"}), 0);
  EXPECT_EQ(Call({"CPU", "Tracer"}), 0);
  EXPECT_EQ(error_, ErrorClass::kUnsupported) << "a built-in fallback";
}

TEST_F(RegistryTest, ListenersHearDefinitions) {
  std::vector<std::string> heard;
  const Registration before = Define("demo::before");
  {
    const Registration listener =
        registry_.Listen({[&](std::string_view name) {
                            heard.push_back("+" + std::string(name));
                            registry_.Operators();  // the lock is free
                          },
                          [&](std::string_view name) { heard.push_back("-" + std::string(name)); }});
    const Registration impl = registry_.Impl("demo::only", "CPU", Kernel::Fallthrough());
    { const Registration after = Define("demo::after"); }
  }
  const Registration unheard = Define("demo::unheard");
  EXPECT_THAT(heard, ElementsAre("+demo::before", "+demo::after", "-demo::after"));
}

TEST_F(RegistryTest, OverridesAreWarnedAboutWithBothPlaces) {
  std::vector<std::string> warnings;
  registry_.WarnTo([&](std::string_view warning) { warnings.emplace_back(warning); });
  const Registration d = Define();
  const Registration one = Impl<1>("CPU", "one.cc:1"), two = Impl<2>("CPU", "two.cc:2"),
                     three = Impl<3>("CPU", "three.cc:3");
  ASSERT_EQ(warnings.size(), 2u);
  EXPECT_FALSE(one.replaced_kernel());
  EXPECT_TRUE(three.replaced_kernel());
  EXPECT_THAT(warnings[1], testing::AllOf(HasSubstr("two.cc:2"), HasSubstr("three.cc:3")));
}

TEST_F(RegistryTest, MessagesAnswerTheQuestion) {
  const Registration d = Define();
  const Registration near = Define("demo::ff");
  const Registration cpu = Impl<1>("CPU", "cpu.cc:4");
  EXPECT_EQ(Call({"CUDA", "AutogradCUDA"}), 0);
  EXPECT_THAT(message_, testing::AllOf(HasSubstr("Could not find a kernel for operator demo::f at key CUDA"),
                                       HasSubstr("[CUDA]"), HasSubstr("CPU at cpu.cc:4"), HasSubstr("demo::ff"),
                                       HasSubstr("register a kernel at CUDA")));
  EXPECT_EQ(Call({}), 0);
  EXPECT_EQ(error_, ErrorClass::kNoKey);
  EXPECT_THAT(message_, HasSubstr("no argument"));
  EXPECT_EQ(Call({"CPU"}, "demo::g"), 0);
  EXPECT_EQ(error_, ErrorClass::kNotFound);
  EXPECT_THAT(message_, HasSubstr("Did you mean demo::f"));
  const Registration through = Through("Undefined");
}

TEST_F(RegistryTest, CountersFollowTheDefinition) {
  registry_.CountHits(true);
  const Registration d = Define();
  const Registration cpu = Impl<1>("CPU");
  const auto expect = [&](std::uint64_t hits, std::uint64_t misses, std::uint64_t invalidations) {
    const CacheCounters counters = registry_.Counters("demo::f");
    EXPECT_EQ(counters.hits, hits);
    EXPECT_EQ(counters.misses, misses);
    EXPECT_EQ(counters.invalidations, invalidations);
  };
  Call({"CPU"});
  Call({"CUDA"});
  expect(0, 2, 0);
  Call({"CPU"});
  Call({"CUDA"});
  expect(2, 2, 0);
  {
    const Registration autograd = Impl<2>("Autograd");
    expect(2, 2, 0);
    const Registration explicit_kernel = Impl<3>("CompositeExplicitAutograd");
    expect(2, 2, 2);
  }
  Call({"CPU"});
  expect(2, 3, 2);
  registry_.Flush();
  expect(2, 3, 2);
  Call({"CPU"});
  expect(2, 4, 2);
  registry_.HasComputed("demo::f", registry_.keys().Get("HIP"));
  expect(2, 4, 2);
}

TEST_F(RegistryTest, QuestionsTellDirectFromComputed) {
  const KeyTable& keys = registry_.keys();
  const Registration d = Define();
  const Registration autograd = Impl<1>("Autograd");
  EXPECT_TRUE(registry_.HasKernel("demo::f", keys.Get("Autograd")));
  EXPECT_FALSE(registry_.HasKernel("demo::f", keys.Get("AutogradHIP")));
  EXPECT_TRUE(registry_.HasComputed("demo::f", keys.Get("AutogradHIP")));
  EXPECT_FALSE(registry_.HasComputed("demo::f", keys.Get("CPU")));
  EXPECT_EQ(Refused([&] { registry_.HasComputed("demo::f", keys.Get("Autograd")); }), ErrorClass::kInvalidArgument);
  // What does not exist is said first, whatever the key.
  EXPECT_EQ(Refused([&] { registry_.HasComputed("demo::gone", keys.Get("Autograd")); }), ErrorClass::kNotFound);
  EXPECT_EQ(Refused([&] { registry_.HasFallback(keys.Get("Autograd")); }), ErrorClass::kInvalidArgument);
  EXPECT_EQ(Refused([&] { registry_.HasKernel("demo::none", keys.Get("CPU")); }), ErrorClass::kNotFound);
  EXPECT_THAT(registry_.OperatorsAt(keys.Get("Autograd")), ElementsAre("demo::f"));
  EXPECT_THAT(registry_.OperatorsAt(keys.Get("CPU")), IsEmpty());
}

TEST_F(RegistryTest, Dumps) {
  const Registration d = Define();
  const Registration one = Impl<1>("CPU", "one.cc:1"), two = Impl<2>("CPU", "two.cc:2");
  const Registration through = Through("Autograd");
  EXPECT_THAT(DumpRegistrations(registry_, "demo::f"),
              ElementsAre("name: demo::f", "schema: demo::f(Tensor a) -> int", "defined at: define.cc:1",
                          "CPU: two.cc:2, typed", "CPU (inactive): one.cc:1, typed",
                          "Autograd [alias]: through.cc:1, fallthrough"));
  EXPECT_THAT(DumpTable(registry_, "demo::f"),
              testing::IsSupersetOf({"CPU: two.cc:2 [kernel]", "AutogradCPU: fallthrough through.cc:1 [autograd]",
                                     "BackendSelect: fallthrough built in [fallback]"}));
  const Registration chain =
      registry_.DeclareChain(registry_.keys().Get("HIP"), registry_.keys().Get("CUDA"), "c.cc:1");
  EXPECT_THAT(DumpFallbacks(registry_), testing::Contains("HIP served by CUDA: c.cc:1"));
}

TEST_F(RegistryTest, ManyNames) {
  std::vector<Registration> held;
  for (int i = 0; i < 500; ++i) held.push_back(Define(("many::op" + std::to_string(i)).c_str()));
  for (int i = 0; i < 500; i += 2) held[i].Release();
  for (int i = 0; i < 500; ++i) {
    EXPECT_EQ(static_cast<bool>(registry_.Find("many::op" + std::to_string(i))), i % 2 == 1);
  }
  EXPECT_EQ(registry_.Operators().size(), 250u);
}

TEST(RegistryLifeTest, RegistrationsMayOutliveTheirRegistry) {
  Registration left;
  std::optional<Operator> op;
  {
    Registry registry(KeyTable::ForRelease("pytorch-1.13"));
    left = registry.Define("demo::f(Tensor a) -> int");
    op = Operator::Find(registry, "demo::f");
  }
  EXPECT_FALSE(left.in_force());
  left.Release();
  Stack stack;
  EXPECT_THROW(op->CallBoxed(stack), DispatchError);
}

}  // namespace
}  // namespace plumbline::reference
