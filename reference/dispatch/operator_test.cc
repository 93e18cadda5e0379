#include "reference/dispatch/operator.h"

#include <gmock/gmock.h>

#include <atomic>
#include <thread>

#include "reference/registry/registry.h"

namespace plumbline::reference {
namespace {

using testing::HasSubstr;
using Binary = std::int64_t(const Tensor&, const Tensor&);

class OperatorTest : public testing::Test {
 protected:
  template <class F>
  ErrorClass Refused(F f) {
    try {
      f();
    } catch (const DispatchError& error) {
      message_ = error.what();
      return error.error_class();
    }
    return ErrorClass{0};
  }
  const KeyTable& keys() const { return registry_.keys(); }
  Tensor Make(std::initializer_list<std::string_view> names) { return Tensor::Make(keys().SetOfNames(names)); }
  Operator Find(const char* name) { return Operator::Find(registry_, name); }

  Registry registry_{KeyTable::ForRelease("pytorch-1.13")};
  std::string message_;
};

TEST_F(OperatorTest, TypedCallReachesTheHighestKeyOfAllArguments) {
  const auto d = registry_.Define("demo::f(Tensor a, Tensor b) -> int");
  const auto cpu = registry_.Impl(
      "demo::f", "CPU", Kernel::From([](const Tensor&, const Tensor&) -> std::int64_t { return 1; }).Permanent());
  const auto cuda =
      registry_.Impl("demo::f", "CUDA", Kernel::From([](const Tensor&, const Tensor&) -> std::int64_t { return 2; }));
  const auto f = Find("demo::f").typed<Binary>();
  const Tensor a = Make({"CPU", "AutogradCPU"}), b = Make({"CUDA"});
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(f.call(a, a), 1);
    EXPECT_EQ(f.call(a, b), 2);
    EXPECT_EQ(f.call(b, a), 2);
  }
}

TEST_F(OperatorTest, EveryFormOfCallAndKernelAgrees) {
  const auto d =
      registry_.Define("demo::f(Tensor a, int b, float? c, str d, Tensor?[] e, bool[] g) -> (Tensor, int, str)");
  using F = std::tuple<Tensor, std::int64_t, std::string>(const Tensor&, std::int64_t, std::optional<double>,
                                                          std::string_view, OptionalTensorList, std::span<const bool>);
  const auto body = [](const Tensor& a, std::int64_t b, std::optional<double> c, std::string_view text,
                       OptionalTensorList e, std::span<const bool> g) {
    std::int64_t sum = b + (c ? static_cast<std::int64_t>(*c) : 100);
    for (const auto& tensor : e) sum += tensor ? 1000 : 10000;
    for (bool bit : g) sum += bit ? 100000 : 0;
    return std::tuple<Tensor, std::int64_t, std::string>(a, sum, std::string(text) + "!");
  };
  const auto typed = registry_.Impl("demo::f", "CPU", Kernel::From(body));
  const auto boxed = registry_.Impl(
      "demo::f", "CUDA", Kernel::FromBoxed([body](BoxedCall& call) {
        const std::span<Value> v = call.stack.Top(6);
        std::vector<std::optional<Tensor>> e;
        for (const Value& item : v[4].ToList()) {
          e.push_back(item.is_none() ? std::nullopt : std::optional(item.ToTensor()));
        }
        const bool g[] = {v[5].ToList()[0].ToBool(), v[5].ToList()[1].ToBool()};
        auto [t, n, s] = body(v[0].ToTensor(), v[1].ToInt(),
                              v[2].is_none() ? std::nullopt : std::optional(v[2].ToFloat()), v[3].ToString(), e, g);
        call.stack.Drop(6);
        call.stack.Push(Value(t));
        call.stack.Push(Value(n));
        call.stack.Push(Value(s));
      }));
  const auto f = Find("demo::f").typed<F>();
  for (const char* backend : {"CPU", "CUDA"}) {
    for (std::optional<double> c : {std::optional<double>(2.0), std::optional<double>()}) {
      const Tensor a = Make({backend});
      const std::vector<std::optional<Tensor>> list = {a, std::nullopt};
      const bool bits[] = {true, false};
      const auto [t, n, s] = f.call(a, 3, c, "text", list, bits);
      EXPECT_TRUE(t.is_same(a));
      EXPECT_EQ(n, (c ? 5 : 103) + 111000);
      EXPECT_EQ(s, "text!");
      Stack stack;
      stack.Push(Value("below"));
      stack.Push(Value(a));
      stack.Push(Value(3));
      stack.Push(c ? Value(*c) : Value::None());
      stack.Push(Value("text"));
      stack.Push(Value(std::vector<Value>{Value(a), Value::None()}));
      stack.Push(Value(std::vector<Value>{Value(true), Value(false)}));
      Find("demo::f").CallBoxed(stack, 6);
      ASSERT_EQ(stack.size(), 4u);
      EXPECT_EQ(stack.Pop().ToString(), s);
      EXPECT_EQ(stack.Pop().ToInt(), n);
      EXPECT_TRUE(stack.Pop().ToTensor().is_same(a));
      EXPECT_EQ(stack.Pop().ToString(), "below");
      EXPECT_EQ(a.use_count(), 2 + 1) << "a, the list, and t: nothing else was kept";
    }
  }
}

TEST_F(OperatorTest, InPlaceReturnsTheArgumentItself) {
  const auto d = registry_.Define("demo::f_(Tensor(a!) a, Tensor b) -> Tensor(a!)");
  using F = Tensor&(Tensor&, const Tensor&);
  const auto typed =
      registry_.Impl("demo::f_", "CPU", Kernel::From([](Tensor& a, const Tensor&) -> Tensor& { return a; }));
  const auto boxed = registry_.Impl("demo::f_", "CUDA", Kernel::FromBoxed([](BoxedCall& call) {
                                      Value other = call.stack.Pop();
                                      call.stack.Drop(1);
                                      call.stack.Push(std::move(other));
                                    }));
  const auto f = Find("demo::f_").typed<F>();
  Tensor a = Make({"CPU"}), c = Make({"CUDA"});
  const Tensor b = Make({"CPU"});
  EXPECT_EQ(&f.call(a, b), &a);
  EXPECT_EQ(&f.call(c, b), &c);
}

TEST_F(OperatorTest, RedispatchTakesItsSetAsGiven) {
  const auto d = registry_.Define("demo::f(Tensor a, Tensor b) -> int");
  const auto cpu =
      registry_.Impl("demo::f", "CPU", Kernel::From([&](KeySet received, const Tensor&, const Tensor&) -> std::int64_t {
                       return keys().Print(received) == "[CPU]" ? 1 : -1;
                     }));
  const auto autograd =
      registry_.Impl("demo::f", "Autograd", Kernel::From([](const TypedCall& call, const Tensor& a, const Tensor& b) {
                       const auto f = Operator(call.op()).typed<Binary>();
                       return 10 + f.redispatch(call.keys & f.keys().Below(f.keys().Get("AutogradOther")), a, b);
                     }));
  const auto tracer = registry_.Impl("demo::f", "Tracer", Kernel::FromBoxed([](BoxedCall& call) {
                                       Operator(call.op).RedispatchBoxed(
                                           call.keys & call.op.keys().Below(call.op.keys().Get("Tracer")), call.stack);
                                       call.stack.Push(Value(100 + call.stack.Pop().ToInt()));
                                     }));
  const Tensor a = Make({"CPU", "AutogradCPU", "Tracer"});
  const auto f = Find("demo::f").typed<Binary>();
  EXPECT_EQ(f.call(a, a), 111);
  EXPECT_EQ(f.call(a, a), 111);
  const ExcludeGuard guard(keys(), keys().SetOfNames({"AutogradCPU"}));
  EXPECT_EQ(f.call(a, a), 101);
  EXPECT_EQ(f.redispatch(keys().SetOfNames({"CPU", "AutogradCPU"}), a, a), 11);
  EXPECT_EQ(Refused([&] { f.redispatch(KeySet(), a, a); }), ErrorClass::kNoKey);
  EXPECT_EQ(Refused([&] {
              f.redispatch(keys().SetOfNames({"CPU", "ADInplaceOrView"}), a, a);
            }),
            ErrorClass::kFellThrough);
}

TEST_F(OperatorTest, WrongArgumentsAreRefusedBeforeAnythingRuns) {
  int ran = 0;
  const auto d = registry_.Define("demo::f(Tensor a, float b) -> ()");
  const auto k = registry_.Impl("demo::f", "CPU", Kernel::FromBoxed([&](BoxedCall& call) {
                                  ++ran;
                                  call.stack.Drop(2);
                                }));
  const auto call = [&](std::vector<Value> values) {
    return Refused([&] {
      Stack stack;
      for (Value& value : values) stack.Push(std::move(value));
      Find("demo::f").CallBoxed(stack, values.size());
    });
  };
  const Value a(Make({"CPU"}));
  EXPECT_EQ(call({a, Value(1.0)}), ErrorClass{0});
  EXPECT_EQ(call({a, Value(1)}), ErrorClass::kSchemaMismatch);
  EXPECT_THAT(message_, HasSubstr("argument 2 ('b') is int, the schema says float"));
  EXPECT_EQ(call({a}), ErrorClass::kSchemaMismatch);
  EXPECT_THAT(message_, HasSubstr("has 2 arguments; the call gave 1"));
  EXPECT_EQ(call({a, a, Value(1.0)}), ErrorClass::kSchemaMismatch);
  EXPECT_EQ(ran, 1);
  EXPECT_EQ(Refused([&] { Find("demo::f").typed<void(const Tensor&)>(); }), ErrorClass::kSchemaMismatch);
}

TEST_F(OperatorTest, ABoxedKernelMustLeaveItsResults) {
  const auto d = registry_.Define("demo::f(Tensor a) -> int");
  const auto none = registry_.Impl("demo::f", "CPU", Kernel::FromBoxed([](BoxedCall& call) { call.stack.Drop(1); }));
  const auto wrong = registry_.Impl("demo::f", "CUDA", Kernel::FromBoxed([](BoxedCall&) {}));
  const auto f = Find("demo::f").typed<std::int64_t(const Tensor&)>();
  EXPECT_EQ(Refused([&] { f.call(Make({"CPU"})); }), ErrorClass::kSchemaMismatch);
  EXPECT_THAT(message_, HasSubstr("its kernel left 0"));
  EXPECT_EQ(Refused([&] { f.call(Make({"CUDA"})); }), ErrorClass::kSchemaMismatch);
  EXPECT_THAT(message_, HasSubstr("result 1 is Tensor, the schema says int"));
}

TEST_F(OperatorTest, HandlesSurviveTheirOperator) {
  auto d = registry_.Define("demo::f(Tensor a, Tensor b) -> int");
  auto k = registry_.Impl("demo::f", "CPU",
                          Kernel::From([](const Tensor&, const Tensor&) -> std::int64_t { return 1; }).Permanent());
  const Operator op = Find("demo::f");
  const auto f = op.typed<Binary>();
  const Tensor a = Make({"CPU"});
  EXPECT_EQ(f.call(a, a), 1);
  d.Release();
  EXPECT_EQ(Refused([&] { f.call(a, a); }), ErrorClass::kNotFound) << "implemented, not defined";
  auto again = registry_.Define("demo::f(Tensor a, Tensor b) -> int");
  EXPECT_EQ(f.call(a, a), 1);
  again.Release();
  k.Release();
  EXPECT_EQ(Refused([&] { f.call(a, a); }), ErrorClass::kInvalidHandle);
  EXPECT_THAT(message_, HasSubstr("demo::f"));
  const auto other = registry_.Define("demo::f(Tensor a, Tensor b) -> int");
  EXPECT_EQ(Refused([&] { f.call(a, a); }), ErrorClass::kInvalidHandle) << "another operator of that name";
  Stack stack;
  EXPECT_EQ(Refused([&] { op.CallBoxed(stack); }), ErrorClass::kInvalidHandle);
}

TEST_F(OperatorTest, AnOldTypedHandleNeverReachesAKernelOfAnotherSignature) {
  const auto d = registry_.Define("demo::f_(Tensor(a!) a) -> Tensor(a!)");
  auto one = registry_.Impl("demo::f_", "CPU", Kernel::From([](Tensor& a) -> Tensor& { return a; }).Permanent());
  const auto f = Find("demo::f_").typed<Tensor&(Tensor&)>();
  Tensor a = Make({"CPU"});
  f.call(a);
  one.Release();
  const auto two = registry_.Impl("demo::f_", "CPU", Kernel::From([](const Tensor& t) { return t; }).Permanent());
  EXPECT_EQ(Refused([&] { f.call(a); }), ErrorClass::kSchemaMismatch);
}

TEST_F(OperatorTest, SymIntCallsServeBothFamilies) {
  const auto d = registry_.Define("demo::f(Tensor a, SymInt b) -> int");
  const auto plain =
      registry_.Impl("demo::f", "CPU", Kernel::From([](const Tensor&, std::int64_t b) { return b + 1; }));
  const auto symbolic =
      registry_.Impl("demo::f", "CUDA", Kernel::From([](const Tensor&, SymInt b) { return b.value() + 2; }));
  const auto by_int = Find("demo::f").typed<std::int64_t(const Tensor&, std::int64_t)>();
  const auto by_symint = Find("demo::f").typed<std::int64_t(const Tensor&, SymInt)>();
  EXPECT_EQ(by_int.call(Make({"CPU"}), 1), 2);
  EXPECT_EQ(by_int.call(Make({"CUDA"}), 1), 3);
  EXPECT_EQ(by_symint.call(Make({"CPU"}), 1), 2);
  EXPECT_EQ(by_symint.call(Make({"CUDA"}), 1), 3);
}

TEST_F(OperatorTest, ExceptionsPassThroughAndLeaveNothing) {
  const auto d = registry_.Define("demo::f(Tensor a) -> ()");
  struct Mine {};
  auto k = registry_.Impl("demo::f", "CPU", Kernel::From([&](const Tensor&) { throw Mine(); }));
  const auto f = Find("demo::f").typed<void(const Tensor&)>();
  EXPECT_THROW(f.call(Make({"CPU"})), Mine);
  EXPECT_THROW(f.call(Make({"CPU"})), Mine);
  k.Release();
  registry_.Drain();
}

TEST_F(OperatorTest, UndefinedTensorsBringTheirKeys) {
  const auto d = registry_.Define("demo::f(Tensor a) -> int");
  const auto cpu = registry_.Impl("demo::f", "CPU", Kernel::From([](const Tensor&) -> std::int64_t { return 1; }));
  const auto f = Find("demo::f").typed<std::int64_t(const Tensor&)>();
  EXPECT_EQ(Refused([&] { f.call(Tensor()); }), ErrorClass::kNoKey);
  const auto autograd = registry_.Impl(
      "demo::f", "Autograd", Kernel::From([](const Tensor& a) -> std::int64_t { return a.defined() ? 2 : 3; }));
  EXPECT_EQ(f.call(Tensor()), 3);
  EXPECT_TRUE(Tensor().is_same(Tensor::Undefined(keys())));
}

TEST_F(OperatorTest, AKernelLivesUntilItsLastCallEnds) {
  struct Probe {
    std::shared_ptr<int> alive;
    std::function<void()> inside;
    std::int64_t operator()(const Tensor&) const {
      inside();
      return alive.use_count();
    }
  };
  const auto d = registry_.Define("demo::f(Tensor a) -> int");
  auto alive = std::make_shared<int>(0);
  Registration k;
  k = registry_.Impl("demo::f", "CPU",
                     Kernel::From(Probe{alive, [&] {
                                          k.Release();
                                          EXPECT_GT(alive.use_count(), 1);
                                          EXPECT_EQ(Refused([&] { registry_.Drain(); }), ErrorClass::kInvalidArgument);
                                          const auto nested = registry_.Define("demo::inside(Tensor a) -> int");
                                        }}));
  const auto f = Find("demo::f").typed<std::int64_t(const Tensor&)>();
  EXPECT_GT(f.call(Make({"CPU"})), 1);
  EXPECT_EQ(alive.use_count(), 1);
  EXPECT_EQ(Refused([&] { f.call(Make({"CPU"})); }), ErrorClass::kNoKernel);
  registry_.Drain();
}

TEST_F(OperatorTest, RegistriesOfDifferentReleasesLiveSideBySide) {
  Registry newer(KeyTable::ForRelease("pytorch-2.x"));
  const auto d1 = registry_.Define("demo::f(Tensor a) -> int"), d2 = newer.Define("demo::f(Tensor a) -> int");
  const auto answer = [](const Tensor&) -> std::int64_t { return 1; };
  const auto k1 = registry_.Impl("demo::f", "Meta", Kernel::From(answer).Permanent());
  const auto k2 = newer.Impl("demo::f", "Meta", Kernel::From(answer).Permanent());
  const auto f1 = Find("demo::f").typed<std::int64_t(const Tensor&)>();
  const auto f2 = Operator::Find(newer, "demo::f").typed<std::int64_t(const Tensor&)>();
  const Tensor t1 = Make({"Meta", "ADInplaceOrView"}),
               t2 = Tensor::Make(newer.keys().SetOfNames({"Meta", "ADInplaceOrView"}));
  const IncludeGuard guard(newer.keys(), newer.keys().SetOfNames({"Fake"}));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(f1.call(t1), 1);
    EXPECT_EQ(Refused([&] { f2.call(t2); }), ErrorClass::kNoKernel);
    EXPECT_THAT(message_, HasSubstr("at key Fake"));
  }
}

// Calls go on while kernels come and go; each sees one that was in force, and none that was destroyed.
TEST_F(OperatorTest, CallsWhileKernelsComeAndGo) {
  struct Kernel1 {
    std::shared_ptr<std::atomic<int>> alive;
    std::int64_t operator()(const Tensor&, const Tensor&) const { return alive->load(); }
  };
  const auto d = registry_.Define("demo::f(Tensor a, Tensor b) -> int");
  const auto base = registry_.Impl(
      "demo::f", "CPU", Kernel::From([](const Tensor&, const Tensor&) -> std::int64_t { return 1; }).Permanent());
  std::atomic<bool> stop{false};
  std::atomic<long> calls{0}, wrong{0};
  std::vector<std::thread> callers;
  for (int i = 0; i < 2; ++i) {
    callers.emplace_back([&] {
      const auto f = Find("demo::f").typed<Binary>();
      const Tensor a = Make({"CPU"});
      while (!stop.load(std::memory_order_relaxed)) {
        if (f.call(a, a) != 1) ++wrong;
        Stack stack;
        stack.Push(Value(a));
        stack.Push(Value(a));
        Find("demo::f").CallBoxed(stack);
        if (stack.Pop().ToInt() != 1) ++wrong;
        ++calls;
      }
    });
  }
  for (int i = 0; i < 300 || calls.load() < 100; ++i) {
    auto alive = std::make_shared<std::atomic<int>>(1);
    auto k = registry_.Impl("demo::f", "CPU", Kernel::From(Kernel1{alive}));
    auto other = registry_.Define("demo::other" + std::to_string(i % 7) + "(Tensor a) -> int");
    k.Release();
    registry_.Drain();
    EXPECT_EQ(alive.use_count(), 1);
    alive->store(0);
  }
  stop = true;
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong.load(), 0);
  EXPECT_GT(calls.load(), 0);
}

}  // namespace
}  // namespace plumbline::reference
