// The torch backend through its C table: each capability does what libtorch does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "conformance/adapters/torch/test_host.h"

namespace plumbline::torch_backend {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

class TorchAdapterTest : public ::testing::Test {
 protected:
  std::vector<std::string> List(std::uint32_t which, std::string_view key = "") {
    std::vector<std::string> names;
    abi::ThrowIfError(host_.table().list_operators(host_.registry(), which, key.empty() ? PL_NO_KEY : host_.Key(key),
                                                   {&names, [](void* context, pl_string text) {
                                                      static_cast<std::vector<std::string>*>(context)->emplace_back(
                                                          abi::View(text));
                                                    }}));
    return names;
  }
  // Key -> "rule place".
  std::map<pl_key, std::string> Table(std::string_view op) {
    std::map<pl_key, std::string> rows;
    abi::ThrowIfError(host_.table().dump_table(host_.registry(), abi::Borrow(op),
                                               {&rows, [](void* context, const pl_table_row* row) {
                                                  (*static_cast<std::map<pl_key, std::string>*>(context))[row->key] =
                                                      std::to_string(row->rule) +
                                                      (row->fallthrough ? " fallthrough " : " ") +
                                                      std::string(abi::View(row->place));
                                                }}));
    return rows;
  }

  Host host_;
};

TEST_F(TorchAdapterTest, ClaimsWhatLibtorchHas) {
  const std::uint64_t claimed = host_.table().capabilities;
  for (const auto bit :
       {PL_CAPABILITY(CORE), PL_CAPABILITY(LIBRARIES), PL_CAPABILITY(LISTENERS), PL_CAPABILITY(WARNINGS),
        PL_CAPABILITY(GUARDS), PL_CAPABILITY(FALLBACKS), PL_CAPABILITY(REDISPATCH), PL_CAPABILITY(TYPED),
        PL_CAPABILITY(BOXED), PL_CAPABILITY(INTROSPECTION), PL_CAPABILITY(CALL_MANY), PL_CAPABILITY(LOAD),
        PL_CAPABILITY(SIGNATURE_CHECK)})
    EXPECT_TRUE(claimed & bit) << bit;
  for (const auto bit : {PL_CAPABILITY(FRESH_REGISTRY), PL_CAPABILITY(CHAINS), PL_CAPABILITY(DRAIN),
                         PL_CAPABILITY(CACHE_COUNTERS), PL_CAPABILITY(CACHE_FLUSH), PL_CAPABILITY(FAULTS)})
    EXPECT_FALSE(claimed & bit) << bit;
}

TEST_F(TorchAdapterTest, KeysAreTheNamesOfLibtorch) {
  EXPECT_NE(host_.Key("CPU"), host_.Key("AutogradCPU"));
  EXPECT_EQ(host_.Key("CatchAll"), host_.Key("Undefined"));
  EXPECT_EQ(host_.Key("DefaultBackend"), host_.Key("CompositeExplicitAutograd"));
  EXPECT_EQ(host_.Key("Autocast"), host_.Key("AutocastCUDA"));
  EXPECT_EQ(host_.Key("PrivateUse1_PreAutograd"), host_.Key("AutogradPrivateUse1"));
  for (const char* name : {"Dense", "AutogradFunctionality", "NestedTensor", "nonsense", ""}) {
    pl_key key = 0;
    const abi::PlError error(host_.table().intern_key(host_.registry(), abi::Borrow(name), &key));
    ASSERT_TRUE(error) << name;
    EXPECT_EQ(error.error_class(), static_cast<std::uint32_t>(PL_ERROR_NOT_FOUND)) << name;
  }
}

TEST_F(TorchAdapterTest, TensorsHaveExactlyTheGivenKeys) {
  std::vector<pl_key> keys;
  const auto push = [](void* context, pl_key key) { static_cast<std::vector<pl_key>*>(context)->push_back(key); };
  abi::ThrowIfError(
      host_.table().tensor_keys(host_.registry(), host_.Tensor({"AutogradCPU", "CPU"}).tensor.get(), &keys, push));
  EXPECT_THAT(keys, ElementsAre(host_.Key("CPU"), host_.Key("AutogradCPU")));
  keys.clear();
  abi::ThrowIfError(host_.table().tensor_keys(host_.registry(), host_.Tensor({}).tensor.get(), &keys, push));
  EXPECT_THAT(keys, IsEmpty());
}

TEST_F(TorchAdapterTest, NewestKernelRunsAndReleaseBringsTheOlderBack) {
  const auto def = host_.Define("ta1::f(Tensor a, Tensor b) -> Tensor");
  const auto k1 = host_.Impl("ta1::f", "CPU", host_.Boxed("k1"));
  auto k2 = host_.Impl("ta1::f", "CPU", host_.Boxed("k2"));
  const Item a = host_.Tensor({"CPU", "AutogradCPU"}), b = host_.Tensor({"CPU"});
  const Answer answer = host_.Call("ta1::f", {a, b});
  ASSERT_EQ(answer.error, "") << answer.message;
  EXPECT_EQ(host_.Show(answer.results), host_.Show({a}));
  EXPECT_THAT(host_.seen(), ElementsAre("k2 ta1::f [CPU] " + host_.Show({a, b})));
  EXPECT_EQ(host_.destroyed(), 0);
  k2.reset();
  EXPECT_EQ(host_.destroyed(), 1);
  host_.Forget();
  host_.Call("ta1::f", {b, a});
  EXPECT_THAT(host_.seen(), ElementsAre(StartsWith("k1 ta1::f [CPU]")));
}

TEST_F(TorchAdapterTest, RefusedKernelIsDestroyedOnce) {
  const auto def = host_.Define("ta2::f(Tensor a) -> Tensor");
  EXPECT_EQ(host_.Impl("ta2::f", "CPU", host_.Typed(PL_SIGNATURE_tensor_tensor, "k")), nullptr);
  EXPECT_THAT(host_.error(), StartsWith("schema-mismatch: "));
  EXPECT_EQ(host_.destroyed(), 1);
}

TEST_F(TorchAdapterTest, ErrorsOfCallsHaveTheirClass) {
  const auto def = host_.Define("ta3::f(Tensor[] a) -> Tensor");
  const auto cuda = host_.Impl("ta3::f", "CUDA", host_.Boxed("k"));
  EXPECT_EQ(host_.Call("ta3::f", {Item::List({host_.Tensor({"CPU"})})}).error, "no-kernel");
  EXPECT_EQ(host_.Call("ta3::f", {Item::List({})}).error, "no-key");
  EXPECT_EQ(host_.Call("ta3::g", {}).error, "not-found");
  const auto all = host_.Impl("ta3::f", "", host_.Boxed("all"));
  const auto fpga = host_.Impl("ta3::f", "FPGA", host_.Boxed("fpga"));
  EXPECT_EQ(host_.Call("ta3::f", {Item::List({host_.Tensor({"FPGA", "AutogradOther"})})}).error, "ambiguous");
  const auto g = host_.Define("ta3::g(Tensor a) -> Tensor");
  const auto through = host_.Impl("ta3::g", "", host_.Form(PL_KERNEL_FALLTHROUGH));
  EXPECT_EQ(host_.Call("ta3::g", {host_.Tensor({"CPU"})}).error, "fell-through");
}

TEST_F(TorchAdapterTest, WhatAKernelRaisesComesBackUnchanged) {
  const auto def = host_.Define("ta4::f(Tensor a) -> Tensor");
  const auto raise = [](pl_frame*) { return abi::MakeError(PL_ERROR_KERNEL_RAISED, "boom", "here:1", 77); };
  for (const bool typed : {false, true}) {
    const auto k =
        host_.Impl("ta4::f", "CPU", typed ? host_.Typed(PL_SIGNATURE_tensor, "k", raise) : host_.Boxed("k", raise));
    ASSERT_NE(k, nullptr) << host_.error();
    for (const bool call_typed : {false, true}) {
      const Answer answer = host_.CallAs(call_typed ? PL_CALL_TYPED : PL_CALL_BOXED, PL_SIGNATURE_tensor, "ta4::f",
                                         {host_.Tensor({"CPU"})});
      EXPECT_EQ(answer.error, "kernel-raised");
      EXPECT_EQ(answer.message, "boom");
      EXPECT_EQ(answer.payload, 77u);
    }
  }
}

TEST_F(TorchAdapterTest, GuardsMaskAndLeave) {
  const auto def = host_.Define("ta5::f(Tensor a) -> Tensor");
  const auto cpu = host_.Impl("ta5::f", "CPU", host_.Boxed("cpu"));
  const auto autograd = host_.Impl("ta5::f", "AutogradCPU", host_.Boxed("autograd"));
  const auto mode = host_.Impl("ta5::f", "TESTING_ONLY_GenericMode", host_.Boxed("mode"));
  const Item t = host_.Tensor({"CPU", "AutogradCPU"});
  host_.Call("ta5::f", {t});
  {
    const auto exclude = host_.Guard(PL_GUARD_EXCLUDE, {"AutogradOther", "AutogradCPU"});
    host_.Call("ta5::f", {t});
  }
  {
    const auto include = host_.Guard(PL_GUARD_INCLUDE, {"TESTING_ONLY_GenericMode"});
    host_.Call("ta5::f", {t});
  }
  host_.Call("ta5::f", {t});
  EXPECT_THAT(host_.seen(),
              ElementsAre(StartsWith("autograd"), StartsWith("cpu"), StartsWith("mode"), StartsWith("autograd")));
}

TEST_F(TorchAdapterTest, RedispatchGoesBelow) {
  const auto def = host_.Define("ta6::f(Tensor a) -> Tensor");
  const auto cpu = host_.Impl("ta6::f", "CPU", host_.Boxed("cpu"));
  const Host::Body below = [&](pl_frame* frame) -> pl_error* {
    const Answer answer = host_.Redispatch(frame, {"CPU"});
    if (!answer.error.empty()) return abi::MakeError(PL_ERROR_KERNEL_RAISED, answer.message);
    Host::Return(frame, answer.results);
    return nullptr;
  };
  auto autograd = host_.Impl("ta6::f", "AutogradCPU", host_.Boxed("boxed", below));
  const Item t = host_.Tensor({"CPU", "AutogradCPU"});
  EXPECT_EQ(host_.Show(host_.Call("ta6::f", {t}).results), host_.Show({t}));
  autograd = host_.Impl("ta6::f", "AutogradCPU", host_.Typed(PL_SIGNATURE_tensor, "typed", below));
  EXPECT_EQ(host_.Show(host_.CallTyped(PL_SIGNATURE_tensor, "ta6::f", {t}).results), host_.Show({t}));
  EXPECT_THAT(host_.seen(), ElementsAre(StartsWith("boxed ta6::f [CPU AutogradCPU]"), StartsWith("cpu ta6::f [CPU]"),
                                        StartsWith("typed ta6::f [CPU AutogradCPU]"), StartsWith("cpu ta6::f [CPU]")));
}

TEST_F(TorchAdapterTest, LibrariesHoldTheirNamespaceAndTheirRegistrations) {
  auto first = host_.Library(PL_LIBRARY_DEF, "ta7");
  ASSERT_NE(first, nullptr) << host_.error();
  EXPECT_EQ(host_.Library(PL_LIBRARY_DEF, "ta7"), nullptr);
  EXPECT_THAT(host_.error(), StartsWith("duplicate: "));
  const auto def = host_.Define("f(Tensor a) -> Tensor", first.get());
  ASSERT_NE(def, nullptr) << host_.error();
  EXPECT_EQ(host_.Define("other::f(Tensor a) -> Tensor", first.get()), nullptr);
  EXPECT_THAT(host_.error(), StartsWith("invalid-argument: "));
  {
    const auto impl = host_.Library(PL_LIBRARY_IMPL, "ta7", "CPU");
    const auto k = host_.Impl("f", "", host_.Boxed("k"), impl.get());
    ASSERT_NE(k, nullptr) << host_.error();
    EXPECT_EQ(host_.Define("g(Tensor a) -> Tensor", impl.get()), nullptr);
    EXPECT_EQ(host_.Impl("f", "CUDA", host_.Boxed("k"), impl.get()), nullptr);
    EXPECT_EQ(host_.Fallback("", host_.Boxed("k"), impl.get()), nullptr);
    EXPECT_EQ(host_.Call("ta7::f", {host_.Tensor({"CPU"})}).error, "");
  }
  EXPECT_EQ(host_.Call("ta7::f", {host_.Tensor({"CPU"})}).error, "no-kernel");
  EXPECT_EQ(host_.destroyed(), 3);
  first.reset();
  EXPECT_EQ(host_.Call("ta7::f", {host_.Tensor({"CPU"})}).error, "not-found");
  EXPECT_NE(host_.Library(PL_LIBRARY_DEF, "ta7"), nullptr) << host_.error();
}

TEST_F(TorchAdapterTest, FallbacksServeEveryOperatorAndLearnItsName) {
  const auto f = host_.Define("ta8::f(Tensor a) -> Tensor");
  const auto g = host_.Define("ta8::g(Tensor a) -> Tensor");
  auto wildcard = host_.Library(PL_LIBRARY_IMPL, "_", "PrivateUse1");
  const auto in_library = host_.Fallback("", host_.Boxed("fallback"), wildcard.get());
  ASSERT_NE(in_library, nullptr) << host_.error();
  EXPECT_EQ(host_.Fallback("PrivateUse1", host_.Boxed("second")), nullptr);
  EXPECT_THAT(host_.error(), StartsWith("duplicate: "));
  host_.Call("ta8::f", {host_.Tensor({"PrivateUse1"})});
  host_.Call("ta8::g", {host_.Tensor({"PrivateUse1"})});
  EXPECT_THAT(host_.seen(),
              ElementsAre(StartsWith("fallback ta8::f [PrivateUse1]"), StartsWith("fallback ta8::g [PrivateUse1]")));
  std::uint32_t has = 0;
  abi::ThrowIfError(host_.table().has_fallback(host_.registry(), host_.Key("PrivateUse1"), &has));
  EXPECT_EQ(has, 1u);
  wildcard.reset();
  abi::ThrowIfError(host_.table().has_fallback(host_.registry(), host_.Key("PrivateUse1"), &has));
  EXPECT_EQ(has, 0u);
}

TEST_F(TorchAdapterTest, ListenersHearDefinitions) {
  struct Heard {
    std::vector<std::string> names;
    int destroyed = 0;
    void Note(const char* sign, pl_string name) {
      if (abi::View(name).starts_with("ta9::")) names.push_back(sign + std::string(abi::View(name)));
    }
  } heard;
  const pl_listener listener{sizeof listener,
                             0,
                             &heard,
                             [](void* context, pl_string name) { static_cast<Heard*>(context)->Note("+", name); },
                             [](void* context, pl_string name) { static_cast<Heard*>(context)->Note("-", name); },
                             [](void* context) { ++static_cast<Heard*>(context)->destroyed; }};
  auto before = host_.Define("ta9::before(Tensor a) -> Tensor");
  pl_registration* raw = nullptr;
  abi::ThrowIfError(host_.table().listener_add(host_.registry(), &listener, &raw));
  auto after = host_.Define("ta9::after.o(Tensor a) -> Tensor");
  after.reset();
  abi::ThrowIfError(host_.table().release(raw));
  before.reset();
  EXPECT_THAT(heard.names, ElementsAre("+ta9::before", "+ta9::after.o", "-ta9::after.o"));
  EXPECT_EQ(heard.destroyed, 1);
}

TEST_F(TorchAdapterTest, OverridesWarnEachTime) {
  std::vector<std::string> warnings;
  abi::ThrowIfError(host_.table().warnings_to(
      host_.registry(), {&warnings, [](void* context, pl_string text) {
                           static_cast<std::vector<std::string>*>(context)->emplace_back(abi::View(text));
                         }}));
  const auto def = host_.Define("ta10::f(Tensor a) -> Tensor");
  const auto k1 = host_.Impl("ta10::f", "CPU", host_.Boxed("k1"));
  EXPECT_THAT(warnings, IsEmpty());
  const auto k2 = host_.Impl("ta10::f", "CPU", host_.Boxed("k2"));
  const auto k3 = host_.Impl("ta10::f", "CPU", host_.Boxed("k3"));
  EXPECT_THAT(warnings, ElementsAre(AllOf(HasSubstr("ta10::f"), HasSubstr("k2.scn:1")), HasSubstr("k3.scn:1")));
  abi::ThrowIfError(host_.table().warnings_to(host_.registry(), {nullptr, nullptr}));
}

TEST_F(TorchAdapterTest, TablesNameRuleAndPlace) {
  const auto def = host_.Define("ta11::f(Tensor a) -> Tensor");
  const auto cpu = host_.Impl("ta11::f", "CPU", host_.Boxed("cpu"));
  const auto cia = host_.Impl("ta11::f", "", host_.Typed(PL_SIGNATURE_tensor, "cia"));
  const auto nf = host_.Impl("ta11::f", "CompositeExplicitAutogradNonFunctional", host_.Boxed("nf"));
  const auto through = host_.Impl("ta11::f", "Tracer", host_.Form(PL_KERNEL_FALLTHROUGH));
  const auto rows = Table("ta11::f");
  const auto row = [&](const char* key) { return rows.count(host_.Key(key)) ? rows.at(host_.Key(key)) : "missing"; };
  EXPECT_EQ(row("CPU"), std::to_string(PL_RULE_KERNEL) + " cpu.scn:1");
  EXPECT_EQ(row("CUDA"), std::to_string(PL_RULE_NONFUNCTIONAL) + " nf.scn:1");
  EXPECT_EQ(row("Undefined"), std::to_string(PL_RULE_NONFUNCTIONAL) + " nf.scn:1");
  EXPECT_EQ(row("XLA"), std::to_string(PL_RULE_IMPLICIT) + " cia.scn:1");
  EXPECT_EQ(row("AutogradCUDA"), std::to_string(PL_RULE_IMPLICIT) + " cia.scn:1");
  EXPECT_EQ(row("Tracer"), std::to_string(PL_RULE_KERNEL) + " fallthrough builtin.scn:1");
  EXPECT_EQ(row("BackendSelect"), std::to_string(PL_RULE_FALLBACK) + " fallthrough ");
  EXPECT_EQ(row("TESTING_ONLY_GenericMode"), "missing");
}

TEST_F(TorchAdapterTest, QueriesAndLists) {
  const auto dangling = host_.Impl("ta12::f.o", "CPU", host_.Boxed("k"));
  EXPECT_THAT(List(PL_LIST_ALL), Contains("ta12::f.o"));
  EXPECT_THAT(List(PL_LIST_DANGLING), ElementsAre("ta12::f.o"));
  EXPECT_EQ(host_.Find("ta12::f.o"), nullptr);
  EXPECT_THAT(host_.error(), AllOf(StartsWith("not-found: "), HasSubstr("did you forget to def()")));
  const auto def = host_.Define("ta12::f.o(Tensor a) -> Tensor");
  EXPECT_THAT(List(PL_LIST_DANGLING), IsEmpty());
  EXPECT_THAT(List(PL_LIST_AT_KEY, "CPU"), Contains("ta12::f.o"));
  EXPECT_THAT(List(PL_LIST_AT_KEY, "CUDA"), Not(Contains("ta12::f.o")));
  const auto has = [&](const char* key, std::uint32_t query) {
    std::uint32_t out = 2;
    const abi::PlError error(
        host_.table().has_kernel(host_.registry(), abi::Borrow("ta12::f.o"), host_.Key(key), query, &out));
    return error ? std::string(abi::ErrorClassSpelling(error.error_class())) : std::to_string(out);
  };
  EXPECT_EQ(has("CPU", PL_QUERY_DIRECT), "1");
  EXPECT_EQ(has("AutogradCPU", PL_QUERY_DIRECT), "0");
  EXPECT_EQ(has("AutogradCPU", PL_QUERY_COMPUTED), "1");
  EXPECT_EQ(has("CUDA", PL_QUERY_COMPUTED), "0");
  EXPECT_EQ(has("Autograd", PL_QUERY_COMPUTED), "invalid-argument");
}

// Every kind of value, boxed and typed, as call and as kernel.
TEST_F(TorchAdapterTest, EverySignatureRoundTripsInBothForms) {
  const Item t = host_.Tensor({"CPU"}), u = host_.Tensor({"CPU"}), undefined = host_.Undefined(), none{};
  const std::vector<Item> lists = {t, Item::List({Item::Int(3), Item::Int(-1)}), Item::List({Item::Float(1.5)}),
                                   Item::List({Item::Bool(true), Item::Bool(false)})};
  struct Case {
    std::uint32_t signature;
    std::string schema;
    std::vector<Item> arguments, results;
  };
  const std::vector<Case> cases = {
      {PL_SIGNATURE_tensor, "(Tensor a) -> Tensor", {t}, {t}},
      {PL_SIGNATURE_tensor_tensor, "(Tensor a, Tensor b) -> Tensor", {t, u}, {u}},
      {PL_SIGNATURE_tensor4, "(Tensor a, Tensor b, Tensor c, Tensor d) -> Tensor", {t, u, t, u}, {t}},
      {PL_SIGNATURE_tensor8,
       "(Tensor a, Tensor b, Tensor c, Tensor d, Tensor e, Tensor f, Tensor g, Tensor h) -> Tensor",
       {t, u, t, u, u, u, t, t},
       {t}},
      {PL_SIGNATURE_tensor_tensor_int, "(Tensor a, Tensor b) -> int", {t, u}, {Item::Int(-7)}},
      {PL_SIGNATURE_tensor_optional, "(Tensor a, Tensor? b) -> Tensor", {t, none}, {t}},
      {PL_SIGNATURE_tensor_optional, "(Tensor a, Tensor? b) -> Tensor", {t, undefined}, {undefined}},
      {PL_SIGNATURE_tensor_list, "(Tensor[] a) -> Tensor", {Item::List({t, u})}, {t}},
      {PL_SIGNATURE_tensor_optional_list, "(Tensor a, Tensor?[] b) -> Tensor", {t, Item::List({none, u, none})}, {u}},
      {PL_SIGNATURE_int_to_int, "(int a) -> int", {Item::Int(INT64_MIN)}, {Item::Int(INT64_MAX)}},
      {PL_SIGNATURE_tensor_int, "(Tensor a, int b) -> Tensor", {t, Item::Int(3)}, {t}},
      {PL_SIGNATURE_tensor_symint, "(Tensor a, SymInt b) -> Tensor", {t, Item::Int(-3)}, {t}},
      {PL_SIGNATURE_tensor_float, "(Tensor a, float b) -> float", {t, Item::Float(1.5)}, {Item::Float(-2.25)}},
      {PL_SIGNATURE_tensor_bool, "(Tensor a, bool b) -> bool", {t, Item::Bool(true)}, {Item::Bool(false)}},
      {PL_SIGNATURE_tensor_str, "(Tensor a, str b) -> str", {t, Item::Str("x\"y")}, {Item::Str("")}},
      {PL_SIGNATURE_tensor_scalar, "(Tensor a, Scalar b) -> Tensor", {t, Item::Int(2)}, {t}},
      {PL_SIGNATURE_tensor_scalar, "(Tensor a, Scalar b) -> Tensor", {t, Item::Float(2)}, {t}},
      {PL_SIGNATURE_tensor_scalar, "(Tensor a, Scalar b) -> Tensor", {t, Item::Bool(true)}, {t}},
      {PL_SIGNATURE_tensor_lists, "(Tensor a, int[] b, float[] c, bool[] d) -> Tensor", lists, {t}},
      {PL_SIGNATURE_tensor_lists,
       "(Tensor a, int[] b, float[] c, bool[] d) -> Tensor",
       {t, Item::List({}), Item::List({}), Item::List({})},
       {t}},
      {PL_SIGNATURE_tensor_optionals,
       "(Tensor a, int? b, float? c, bool? d, str? e, Scalar? f) -> Tensor",
       {t, Item::Int(1), Item::Float(2), Item::Bool(false), Item::Str("s"), Item::Int(4)},
       {t}},
      {PL_SIGNATURE_tensor_optionals,
       "(Tensor a, int? b, float? c, bool? d, str? e, Scalar? f) -> Tensor",
       {t, none, none, none, none, none},
       {t}},
      {PL_SIGNATURE_tensor_int_two, "(Tensor a, int b) -> (Tensor, int)", {t, Item::Int(3)}, {t, Item::Int(9)}},
      {PL_SIGNATURE_tensor_nothing, "(Tensor a) -> ()", {t}, {}},
      {PL_SIGNATURE_inplace, "(Tensor(a!) a, Tensor b) -> Tensor(a!)", {t, u}, {t}},
      {PL_SIGNATURE_tensor_symint_list,
       "(Tensor a, SymInt[] b) -> Tensor",
       {t, Item::List({Item::Int(5), Item::Int(6)})},
       {t}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.schema);
    const Host::Body body = [&](pl_frame* frame) -> pl_error* {
      Host::Return(frame, c.results);
      return nullptr;
    };
    for (const bool kernel_typed : {false, true}) {
      const auto def = host_.Define("ta13::f" + c.schema);
      const std::string key = c.signature == PL_SIGNATURE_int_to_int ? "CompositeExplicitAutograd" : "CPU";
      const auto k =
          host_.Impl("ta13::f", key, kernel_typed ? host_.Typed(c.signature, "k", body) : host_.Boxed("k", body));
      ASSERT_NE(k, nullptr) << host_.error();
      for (const bool call_typed : {false, true}) {
        host_.Forget();
        const Answer answer =
            host_.CallAs(call_typed ? PL_CALL_TYPED : PL_CALL_BOXED, c.signature, "ta13::f", c.arguments);
        EXPECT_EQ(answer.error, "") << answer.message;
        ASSERT_THAT(host_.seen(), SizeIs(1));
        EXPECT_THAT(host_.seen()[0], HasSubstr("] " + host_.Show(c.arguments)));
        EXPECT_EQ(host_.Show(answer.results), host_.Show(c.results));
      }
    }
  }
}

TEST_F(TorchAdapterTest, TypedKernelsMustAgree) {
  const auto def = host_.Define("ta14::f(Tensor a, int b) -> Tensor");
  const auto k = host_.Impl("ta14::f", "CPU", host_.Typed(PL_SIGNATURE_tensor_int, "k"));
  EXPECT_EQ(host_.CallTyped(PL_SIGNATURE_tensor, "ta14::f", {host_.Tensor({"CPU"})}).error, "schema-mismatch");
  EXPECT_EQ(host_.Call("ta14::f", {Item::Int(3), Item::Int(4)}).error, "no-key");
  EXPECT_EQ(host_.Call("ta14::f", {host_.Tensor({"CPU"}), Item::Float(4)}).error, "schema-mismatch");
}

TEST_F(TorchAdapterTest, NoopKernelsAndLoops) {
  const auto def = host_.Define("ta15::f(Tensor a, Tensor b) -> Tensor");
  const Item t = host_.Tensor({"CPU", "AutogradCPU"});
  const auto cpu = host_.Impl("ta15::f", "CPU", host_.Form(PL_KERNEL_NOOP, PL_SIGNATURE_tensor_tensor));
  const auto autograd =
      host_.Impl("ta15::f", "Autograd", host_.Form(PL_KERNEL_NOOP_REDISPATCH, PL_SIGNATURE_tensor_tensor));
  ASSERT_NE(autograd, nullptr) << host_.error();
  EXPECT_EQ(host_.Show(host_.CallTyped(PL_SIGNATURE_tensor_tensor, "ta15::f", {t, t}).results), host_.Show({t}));
  const auto op = host_.Find("ta15::f");
  pl_value value{PL_TENSOR, 0, {.tensor = t.tensor.get()}};
  const pl_value arguments[] = {value, value};
  for (const std::uint32_t form : {PL_CALL_BOXED, PL_CALL_TYPED}) {
    const pl_call call{sizeof call, form, PL_SIGNATURE_tensor_tensor, 0, op.get(), arguments, 2, {nullptr, nullptr}};
    abi::ThrowIfError(host_.table().call_many(host_.registry(), &call, 1000));
  }
  abi::ThrowIfError(host_.table().find_many(host_.registry(), abi::Borrow("ta15::f"), 1000));
  const auto boxed = host_.Impl("ta15::f", "CPU", host_.Form(PL_KERNEL_NOOP_BOXED));
  EXPECT_EQ(host_.Show(host_.Call("ta15::f", {t, t}).results), host_.Show({t}));
}

}  // namespace
}  // namespace plumbline::torch_backend
