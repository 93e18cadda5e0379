// What adapter.h makes of an ordinary class, seen from the host: every entry of the toy's table, and what it must not
// do.
#include "spec/abi/adapter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "spec/abi/host.h"
#include "spec/abi/testing/toy_backend.h"
#include "spec/abi/testing/toy_table.h"

namespace plumbline::abi {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::ToyTable;

// ---- a host ----

// A kernel of the host. `body` sees the frame; `destroyed` counts how often the context was destroyed.
struct Probe {
  std::function<pl_error*(pl_frame*)> body;
  int entered = 0;
  int destroyed = 0;

  pl_kernel Kernel(std::uint32_t form, std::uint32_t signature = 0) {
    return pl_kernel{sizeof(pl_kernel),
                     form,
                     signature,
                     PL_LIFETIME_RELEASABLE,
                     [](void* context, pl_frame* frame) -> pl_error* {
                       auto* self = static_cast<Probe*>(context);
                       ++self->entered;
                       return self->body ? self->body(frame) : nullptr;
                     },
                     this,
                     [](void* context) { ++static_cast<Probe*>(context)->destroyed; },
                     Borrow("probe.scn:1")};
  }
};

pl_value Int(std::int64_t integer) {
  pl_value value{};
  value.kind = PL_INT;
  value.as.integer = integer;
  return value;
}
pl_value Float(double real) {
  pl_value value{};
  value.kind = PL_FLOAT;
  value.as.real = real;
  return value;
}
pl_value Bool(std::int64_t boolean) {
  pl_value value{};
  value.kind = PL_BOOL;
  value.as.integer = boolean;
  return value;
}
pl_value String(std::string_view text) {
  pl_value value{};
  value.kind = PL_STRING;
  value.as.string = Borrow(text);
  return value;
}
pl_value TensorValue(pl_tensor* tensor) {
  pl_value value{};
  value.kind = PL_TENSOR;
  value.as.tensor = tensor;
  return value;
}
pl_value List(const std::vector<pl_value>& items) {
  pl_value value{};
  value.kind = PL_LIST;
  value.as.list = {items.data(), items.size()};
  return value;
}

// A value in words; a tensor by its keys.
std::string Words(pl_registry* registry, const pl_value& value) {
  switch (value.kind) {
    case PL_NONE:
      return "none";
    case PL_TENSOR: {
      std::string keys = "[";
      EXPECT_FALSE(PlError(ToyTable().tensor_keys(registry, value.as.tensor, &keys, [](void* context, pl_key key) {
        *static_cast<std::string*>(context) += std::to_string(key);
      })));
      return keys + "]";
    }
    case PL_INT:
      return std::to_string(value.as.integer);
    case PL_FLOAT:
      return std::to_string(value.as.real).substr(0, 3);
    case PL_BOOL:
      return value.as.integer == 1 ? "true" : "false";
    case PL_STRING:
      return '"' + std::string(View(value.as.string)) + '"';
    case PL_LIST: {
      std::string items = "{";
      for (std::uint64_t i = 0; i < value.as.list.size; ++i)
        items += (i == 0 ? "" : " ") + Words(registry, value.as.list.data[i]);
      return items + "}";
    }
    default:
      return "?";
  }
}

struct Lines {
  std::vector<std::string> lines;
  pl_string_sink Sink() {
    return {this, [](void* context, pl_string text) { static_cast<Lines*>(context)->lines.emplace_back(View(text)); }};
  }
};

class AdapterTest : public ::testing::Test {
 protected:
  AdapterTest() {
    pl_open_options options{sizeof options, PL_OPEN_FRESH, {nullptr, 0}, 0, 0, nullptr, 0, 0, 0};
    EXPECT_FALSE(PlError(table.open(&options, &registry)));
    low = Key("Low"), mid = Key("Mid"), high = Key("High");
    tensor = MakeTensor({low, mid});
  }
  ~AdapterTest() override {
    for (pl_tensor* made : tensors) table.tensor_release(made);
    for (pl_operator* op : operators) table.operator_release(op);
    for (auto registration = registrations.rbegin(); registration != registrations.rend(); ++registration)
      EXPECT_FALSE(PlError(table.release(*registration)));
    table.close(registry);
  }

  pl_key Key(std::string_view name) {
    pl_key key = PL_NO_KEY;
    EXPECT_FALSE(PlError(table.intern_key(registry, Borrow(name), &key))) << name;
    return key;
  }
  pl_tensor* MakeTensor(const std::vector<pl_key>& keys) {
    pl_tensor* made = nullptr;
    EXPECT_FALSE(PlError(table.tensor_make(registry, {keys.data(), keys.size()}, &made)));
    tensors.push_back(made);
    return made;
  }
  pl_operator* Define(std::string_view schema) {
    pl_registration* registration = nullptr;
    EXPECT_FALSE(PlError(table.define(registry, nullptr, Borrow(schema), Borrow("here"), &registration)));
    registrations.push_back(registration);
    pl_operator* op = nullptr;
    EXPECT_FALSE(PlError(table.find_operator(registry, Borrow(schema.substr(0, schema.find('('))), &op)));
    operators.push_back(op);
    return op;
  }
  pl_registration* Impl(std::string_view name, pl_key key, const pl_kernel& kernel, pl_library* library = nullptr) {
    pl_registration* registration = nullptr;
    EXPECT_FALSE(PlError(table.register_kernel(registry, library, Borrow(name), key, &kernel, &registration)));
    return registration;
  }
  // Results in words.
  PlError Call(pl_operator* op, const std::vector<pl_value>& arguments, std::vector<std::string>* results = nullptr,
               std::uint32_t form = PL_CALL_BOXED, std::uint32_t signature = 0) {
    std::pair<AdapterTest*, std::vector<std::string>*> context{this, results};
    const pl_value_sink sink{&context, [](void* to, const pl_value* value) -> pl_error* {
                               auto& [self, out] = *static_cast<decltype(context)*>(to);
                               if (out != nullptr) out->push_back(Words(self->registry, *value));
                               return nullptr;
                             }};
    const pl_call call{sizeof call, form, signature, 0, op, arguments.data(), arguments.size(), sink};
    return PlError(table.call(registry, &call));
  }

  // Lives until the registrations are gone.
  Probe& MakeProbe(std::function<pl_error*(pl_frame*)> body = nullptr) {
    return probes.emplace_back(Probe{.body = std::move(body)});
  }

  const pl_adapter& table = ToyTable();
  std::deque<Probe> probes;
  pl_registry* registry = nullptr;
  pl_key low = 0, mid = 0, high = 0;
  pl_tensor* tensor = nullptr;
  std::vector<pl_tensor*> tensors;
  std::vector<pl_operator*> operators;
  std::vector<pl_registration*> registrations;
};

// ---- what is claimed ----

TEST_F(AdapterTest, AClassWithEveryMemberClaimsEverything) {
  std::uint64_t all = 0;
#define PL_ALL(bit, NAME, spelling, meaning) all |= PL_CAPABILITY(NAME);
  PL_CAPABILITIES(PL_ALL)
  EXPECT_EQ(table.capabilities, all);
  EXPECT_THAT(CheckAdapter(&table).problems, IsEmpty());
}

struct Bare {
  struct Registration {};
  struct Operator {};
  struct Tensor {};
  static Description Describe() { return {.name = "bare", .version = "0", .release = "pytorch-1.13"}; }
  explicit Bare(const OpenOptions&) {}
};

TEST(BareAdapter, ClaimsNothingAndLeavesEntriesNull) {
  const pl_adapter& table = Table<Bare>();
  EXPECT_EQ(table.capabilities, 0u);
  EXPECT_THAT(CheckAdapter(&table).problems, IsEmpty());
  EXPECT_FALSE(PL_HAS(&table, define));
  EXPECT_FALSE(PL_HAS(&table, call));
  EXPECT_FALSE(PL_HAS(&table, tensor_make));
  EXPECT_FALSE(PL_HAS(&table, guard_enter));
}

struct Begun : Bare {
  explicit Begun(const OpenOptions& options) : Bare(options) {}
  pl_key InternKey(std::string_view) { return 0; }
  std::vector<pl_key> KeysOf(const Tensor&) { return {}; }
};

TEST(BareAdapter, EachMemberShowsBeforeItsClaimIsWhole) {
  EXPECT_THAT(EntriesThere(Table<Bare>()), ElementsAre("open", "close"));
  const pl_adapter& table = Table<Begun>();
  EXPECT_EQ(table.capabilities, 0u);
  EXPECT_THAT(EntriesThere(table), ElementsAre("open", "close", "intern_key", "tensor_keys"));
}

TEST(BareAdapter, RefusesAFreshRegistry) {
  const pl_adapter& table = Table<Bare>();
  pl_registry* registry = nullptr;
  pl_open_options options{sizeof options, PL_OPEN_FRESH, {nullptr, 0}, 0, 0, nullptr, 0, 0, 0};
  PlError error(table.open(&options, &registry));
  ASSERT_TRUE(error);
  EXPECT_EQ(error.error_class(), PL_ERROR_UNSUPPORTED + 0u);
  EXPECT_EQ(registry, nullptr);
  options.mode = PL_OPEN_PROCESS;
  EXPECT_FALSE(PlError(table.open(&options, &registry)));
  table.close(registry);
}

struct OnlyTyped : Bare {
  using Bare::Bare;
  using Values = std::vector<Value<Tensor>>;
  Registration Define(NoLibrary*, std::string_view, std::string_view) { return {}; }
  Registration RegisterKernel(NoLibrary*, std::string_view, std::optional<pl_key>, Kernel) { return {}; }
  Operator FindOperator(std::string_view) { return {}; }
  Values CallTyped(Operator&, std::uint32_t, std::span<const Value<Tensor>>) { return {}; }
};

TEST(PartialAdapter, FormsThatAreNotClaimedAreRefusedAndTheKernelIsDestroyed) {
  const pl_adapter& table = Table<OnlyTyped>();
  EXPECT_THAT(CapabilitySpellings(table.capabilities), ElementsAre("typed"));
  pl_registry* registry = nullptr;
  const pl_open_options options{sizeof options, PL_OPEN_PROCESS, {nullptr, 0}, 0, 0, nullptr, 0, 0, 0};
  ASSERT_FALSE(PlError(table.open(&options, &registry)));
  pl_registration* registration = nullptr;
  for (const std::uint32_t form : {PL_KERNEL_BOXED + 0u, PL_KERNEL_NOOP + 0u}) {
    Probe probe;
    const pl_kernel kernel = probe.Kernel(form);
    PlError error(table.register_kernel(registry, nullptr, Borrow("demo::f"), 0, &kernel, &registration));
    ASSERT_TRUE(error);
    EXPECT_EQ(error.error_class(), PL_ERROR_UNSUPPORTED + 0u);
    EXPECT_EQ(registration, nullptr);
    EXPECT_EQ(probe.destroyed, 1);
  }
  pl_operator* op = nullptr;
  ASSERT_FALSE(PlError(table.find_operator(registry, Borrow("demo::f"), &op)));
  pl_call call{sizeof call, PL_CALL_BOXED, 0, 0, op, nullptr, 0, {nullptr, nullptr}};
  PlError error(table.call(registry, &call));
  ASSERT_TRUE(error);
  EXPECT_EQ(error.error_class(), PL_ERROR_UNSUPPORTED + 0u);
  call.form = PL_CALL_TYPED;
  call.signature = 999;  // never reaches the backend
  error = PlError(table.call(registry, &call));
  ASSERT_TRUE(error);
  EXPECT_EQ(error.error_class(), PL_ERROR_INVALID_ARGUMENT + 0u);
  table.operator_release(op);
  table.close(registry);
}

// A member that cannot be called as adapter.h says stops the build (CheckMembers), so here only what that rests on.
struct WrongDrain : Bare {
  using Bare::Bare;
  void Drain(int);
};
static_assert(NamesDrain<WrongDrain> && !OffersDrain<WrongDrain>);
static_assert(!NamesDrain<Bare> && !OffersDrain<Bare>);

TEST(GetAdapter, ServesItsOwnMajorOnly) {
  EXPECT_EQ(GetAdapter<Bare>(PL_ABI_MAJOR), &Table<Bare>());
  EXPECT_EQ(GetAdapter<Bare>(PL_ABI_MAJOR + 1), nullptr);
}

// ---- describe, open, keys ----

struct Loading : Bare {
  explicit Loading(const OpenOptions& options) : Bare(options) {}
  static inline std::vector<BuiltinFallback> fallbacks;
  static Description Describe() {
    return {.name = "loading",
            .version = "0",
            .release = "pytorch-1.13",
            .own_starting_state = true,
            .fallbacks = fallbacks};
  }
  static void Load(std::string_view path) { fallbacks.push_back({std::string(path), false}); }
};

TEST(LoadingAdapter, DescribesWhatItLoaded) {
  const pl_adapter& table = Table<Loading>();
  pl_description before{}, after{};
  before.struct_size = after.struct_size = sizeof before;
  ASSERT_FALSE(PlError(table.describe(&before)));
  ASSERT_FALSE(PlError(table.load(Borrow("PrivateUse1"))));
  ASSERT_FALSE(PlError(table.describe(&after)));
  EXPECT_EQ(before.fallback_count, 0u);
  EXPECT_EQ(View(before.name), "loading") << "what was lent stays";
  ASSERT_EQ(after.fallback_count, 1u);
  EXPECT_EQ(View(after.fallbacks[0].key), "PrivateUse1");
}

TEST_F(AdapterTest, DescribesItself) {
  pl_description description{};
  description.struct_size = sizeof description;
  ASSERT_FALSE(PlError(table.describe(&description)));
  EXPECT_EQ(View(description.name), "toy");
  EXPECT_EQ(View(description.release), "pytorch-1.13");
  ASSERT_EQ(description.key_count, 1u);
  EXPECT_EQ(description.keys[0].kind, PL_DECLARE_MODE + 0u);
  EXPECT_EQ(View(description.keys[0].name), "Mid");
  EXPECT_EQ(View(description.keys[0].after), "Low");
  EXPECT_EQ(description.own_starting_state, 1u);
  ASSERT_EQ(description.fallback_count, 1u);
  EXPECT_EQ(View(description.fallbacks[0].key), "High");
  EXPECT_EQ(description.fallbacks[0].fallthrough, 1u);

  description.struct_size = 8;  // memory for less than version 1.0 has
  PlError error(table.describe(&description));
  ASSERT_TRUE(error);
  EXPECT_EQ(error.error_class(), PL_ERROR_INVALID_ARGUMENT + 0u);
}

TEST_F(AdapterTest, AReleaseThatTheBackendLacksIsItsError) {
  pl_registry* other = nullptr;
  const pl_open_options options{sizeof options, PL_OPEN_FRESH, Borrow("pytorch-9"), 0, 0, nullptr, 0, 0, 0};
  PlError error(table.open(&options, &other));
  ASSERT_TRUE(error);
  EXPECT_EQ(error.error_class(), PL_ERROR_NOT_FOUND + 0u);
  EXPECT_EQ(other, nullptr);
}

TEST_F(AdapterTest, HandsTheHostsKeysOver) {
  pl_key_declaration declared[2]{};
  for (pl_key_declaration& key : declared) key.struct_size = sizeof key;
  declared[0].name = Borrow("Own"), declared[0].after = Borrow("High");
  declared[1].name = Borrow("Next"), declared[1].after = Borrow("Own");
  pl_open_options options{};
  options.struct_size = sizeof options;
  options.mode = PL_OPEN_FRESH;
  options.keys = declared;
  options.key_count = 2;
  pl_registry* other = nullptr;
  ASSERT_FALSE(PlError(table.open(&options, &other)));
  pl_key key = PL_NO_KEY;
  EXPECT_FALSE(PlError(table.intern_key(other, Borrow("Next after Own"), &key)));
  EXPECT_EQ(key, 4u);
  table.close(other);
  EXPECT_TRUE(PlError(table.intern_key(registry, Borrow("Next after Own"), &key)));

  options.mode = PL_OPEN_PROCESS;  // whose keys are there already
  EXPECT_EQ(PlError(table.open(&options, &other)).error_class(), PL_ERROR_UNSUPPORTED + 0u);
}

// ---- errors ----

TEST_F(AdapterTest, EveryExceptionBecomesAnErrorObject) {
  const struct {
    const char* schema;
    std::uint32_t error_class;
    const char* message;
    const char* origin;
  } cases[] = {{"throw toy", PL_ERROR_INTERNAL, "the toy failed", "toy_backend.h"},
               {"throw other", PL_ERROR_UNCLASSIFIED, "something else failed", ""},
               {"throw int", PL_ERROR_UNCLASSIFIED, "not a std::exception", ""}};
  for (const auto& expected : cases) {
    pl_registration* registration = nullptr;
    PlError error(table.define(registry, nullptr, Borrow(expected.schema), {nullptr, 0}, &registration));
    ASSERT_TRUE(error) << expected.schema;
    EXPECT_EQ(error.error_class(), expected.error_class);
    EXPECT_THAT(std::string(error.message()), HasSubstr(expected.message));
    EXPECT_EQ(error.origin(), expected.origin);
    EXPECT_EQ(registration, nullptr);
  }
}

TEST_F(AdapterTest, NullArgumentsAreErrors) {
  pl_registration* registration = nullptr;
  PlError error(table.define(nullptr, nullptr, Borrow("a::b() -> ()"), {nullptr, 0}, &registration));
  EXPECT_EQ(error.error_class(), PL_ERROR_INVALID_HANDLE + 0u);
  error = PlError(table.define(registry, nullptr, Borrow("a::b() -> ()"), {nullptr, 0}, nullptr));
  EXPECT_EQ(error.error_class(), PL_ERROR_INVALID_ARGUMENT + 0u);
  error = PlError(table.release(nullptr));
  EXPECT_EQ(error.error_class(), PL_ERROR_INVALID_HANDLE + 0u);
  error = PlError(table.register_kernel(registry, nullptr, Borrow("a::b"), low, nullptr, &registration));
  EXPECT_EQ(error.error_class(), PL_ERROR_INVALID_ARGUMENT + 0u);
  error = PlError(table.call(registry, nullptr));
  EXPECT_EQ(error.error_class(), PL_ERROR_INVALID_ARGUMENT + 0u);
  error = Call(nullptr, {});
  EXPECT_EQ(error.error_class(), PL_ERROR_INVALID_HANDLE + 0u);
}

TEST_F(AdapterTest, ValuesAreChecked) {
  pl_operator* op = Define("demo::f(Tensor a) -> Tensor");
  pl_value unknown = Int(1);
  unknown.kind = 99;
  pl_value reserved = Int(1);
  reserved.reserved = 1;
  for (const pl_value& wrong : {unknown, reserved, Bool(2)}) {
    PlError error = Call(op, {wrong});
    ASSERT_TRUE(error);
    EXPECT_EQ(error.error_class(), PL_ERROR_INVALID_ARGUMENT + 0u);
  }
  EXPECT_EQ(Call(op, {TensorValue(nullptr)}).error_class(), PL_ERROR_INVALID_HANDLE + 0u);
  // As deep as lists may nest the value itself is right, whatever the operator says to it.
  std::vector<std::vector<pl_value>> keep;
  keep.reserve(PL_MAX_LIST_DEPTH + 1);
  pl_value deep = Int(1);
  for (int i = 0; i < PL_MAX_LIST_DEPTH; ++i) deep = List(keep.emplace_back(1, deep));
  const PlError fits = Call(op, {deep});
  EXPECT_TRUE(!fits || fits.message().find("nested deeper") == std::string_view::npos);
  const PlError error = Call(op, {List(keep.emplace_back(1, deep))});
  EXPECT_EQ(error.error_class(), PL_ERROR_INVALID_ARGUMENT + 0u);
  EXPECT_EQ(error.message(), "lists are nested deeper than 16");
}

TEST_F(AdapterTest, AHostKernelsErrorComesBackUnchanged) {
  pl_operator* op = Define("demo::f(Tensor a) -> Tensor");
  Probe& probe = MakeProbe([](pl_frame*) { return MakeError(PL_ERROR_KERNEL_RAISED, "boom", "demo.scn:9", 4711); });
  registrations.push_back(Impl("demo::f", low, probe.Kernel(PL_KERNEL_BOXED)));
  Probe& typed = MakeProbe(probe.body);
  registrations.push_back(Impl("demo::f", mid, typed.Kernel(PL_KERNEL_TYPED, PL_SIGNATURE_tensor)));
  for (pl_tensor* to : {MakeTensor({low}), MakeTensor({mid})}) {
    for (const std::uint32_t form : {PL_CALL_BOXED, PL_CALL_TYPED}) {
      const PlError error = Call(op, {TensorValue(to)}, nullptr, form, PL_SIGNATURE_tensor);
      ASSERT_TRUE(error);
      EXPECT_EQ(error.error_class(), PL_ERROR_KERNEL_RAISED + 0u);
      EXPECT_EQ(error.message(), "boom");
      EXPECT_EQ(error.origin(), "demo.scn:9");
      EXPECT_EQ(error.payload(), 4711u);
    }
  }
  EXPECT_EQ(probe.entered + typed.entered, 4);
}

TEST_F(AdapterTest, AnErrorOfTheHostsSinkComesBackUnchanged) {
  pl_operator* op = Define("demo::f(Tensor a) -> Tensor");
  Probe& probe =
      MakeProbe([](pl_frame* frame) { return frame->results.push(frame->results.context, frame->arguments); });
  registrations.push_back(Impl("demo::f", low, probe.Kernel(PL_KERNEL_BOXED)));
  const pl_value argument = TensorValue(MakeTensor({low}));
  const pl_value_sink sink{nullptr, [](void*, const pl_value*) { return MakeError(PL_ERROR_OVERFLOW, "full", "", 5); }};
  const pl_call call{sizeof call, PL_CALL_BOXED, 0, 0, op, &argument, 1, sink};
  const PlError error(table.call(registry, &call));
  ASSERT_TRUE(error);
  EXPECT_EQ(error.error_class(), PL_ERROR_OVERFLOW + 0u);
  EXPECT_EQ(error.payload(), 5u);
}

// ---- kernels and calls ----

TEST_F(AdapterTest, AKernelSeesItsCall) {
  pl_operator* op = Define("demo::f(Tensor a, int b) -> Tensor");
  Probe& probe = MakeProbe([this](pl_frame* frame) -> pl_error* {
    EXPECT_EQ(frame->struct_size, sizeof(pl_frame));
    EXPECT_EQ(frame->registry, registry);
    EXPECT_EQ(View(frame->operator_name), "demo::f");
    EXPECT_THAT(std::vector<pl_key>(frame->keys.data, frame->keys.data + frame->keys.size), ElementsAre(low, mid));
    EXPECT_EQ(frame->argument_count, 2u);
    EXPECT_EQ(table.tensor_identity(frame->arguments[0].as.tensor), table.tensor_identity(tensor));
    EXPECT_EQ(frame->arguments[1].as.integer, 3);
    return frame->results.push(frame->results.context, &frame->arguments[0]);
  });
  registrations.push_back(Impl("demo::f", mid, probe.Kernel(PL_KERNEL_BOXED)));
  std::vector<std::string> results;
  EXPECT_FALSE(Call(op, {TensorValue(tensor), Int(3)}, &results));
  EXPECT_THAT(results, ElementsAre("[01]"));
  EXPECT_EQ(probe.entered, 1);
}

TEST_F(AdapterTest, DestroysAKernelExactlyOnceOnRelease) {
  Define("demo::f(Tensor a) -> Tensor");
  Probe& probe = MakeProbe();
  pl_registration* registration = Impl("demo::f", low, probe.Kernel(PL_KERNEL_BOXED));
  EXPECT_EQ(probe.destroyed, 0);
  const int released = testing::Record().released;
  EXPECT_FALSE(PlError(table.release(registration)));
  EXPECT_EQ(probe.destroyed, 1);
  EXPECT_EQ(testing::Record().released, released + 1);
}

TEST_F(AdapterTest, AKernelReleasedByItselfDiesWithItsCall) {
  pl_operator* op = Define("demo::f(Tensor a) -> Tensor");
  pl_registration* registration = nullptr;
  int destroyed_inside = -1;
  Probe& probe = MakeProbe();
  probe.body = [&](pl_frame*) {
    EXPECT_FALSE(PlError(table.release(registration)));
    destroyed_inside = probe.destroyed;
    return nullptr;
  };
  registration = Impl("demo::f", low, probe.Kernel(PL_KERNEL_BOXED));
  EXPECT_FALSE(Call(op, {TensorValue(tensor)}));
  EXPECT_EQ(destroyed_inside, 0);
  EXPECT_EQ(probe.destroyed, 1);
}

TEST_F(AdapterTest, ARefusedKernelIsDestroyedExactlyOnce) {
  const auto refused = [&](std::string_view name, pl_kernel kernel, std::uint32_t error_class) {
    pl_registration* registration = nullptr;
    PlError error(table.register_kernel(registry, nullptr, Borrow(name), low, &kernel, &registration));
    ASSERT_TRUE(error);
    EXPECT_EQ(error.error_class(), error_class);
    EXPECT_EQ(registration, nullptr);
  };
  Probe& probe = MakeProbe();
  refused("refuse", probe.Kernel(PL_KERNEL_BOXED), PL_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(probe.destroyed, 1);
  refused("demo::f", probe.Kernel(42), PL_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(probe.destroyed, 2);
  refused("demo::f", probe.Kernel(PL_KERNEL_TYPED, 999), PL_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(probe.destroyed, 3);
  pl_kernel without_function = probe.Kernel(PL_KERNEL_BOXED);
  without_function.function = nullptr;
  refused("demo::f", without_function, PL_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(probe.destroyed, 4);
}

TEST_F(AdapterTest, ADestroyFunctionIsOptional) {
  Define("demo::f(Tensor a) -> Tensor");
  Probe& probe = MakeProbe();
  pl_kernel kernel = probe.Kernel(PL_KERNEL_BOXED);
  kernel.destroy = nullptr;
  EXPECT_FALSE(PlError(table.release(Impl("demo::f", low, kernel))));
}

TEST_F(AdapterTest, FallthroughNeedsNoFunction) {
  pl_operator* op = Define("demo::f(Tensor a) -> ()");
  Probe& probe = MakeProbe();
  registrations.push_back(Impl("demo::f", low, probe.Kernel(PL_KERNEL_BOXED)));
  const pl_kernel fallthrough{sizeof(pl_kernel), PL_KERNEL_FALLTHROUGH, 0, 0, nullptr, nullptr, nullptr, {nullptr, 0}};
  registrations.push_back(Impl("demo::f", mid, fallthrough));
  EXPECT_FALSE(Call(op, {TensorValue(tensor)}));
  EXPECT_EQ(probe.entered, 1);
}

TEST_F(AdapterTest, FailedCallsKeepTheirClass) {
  pl_operator* op = Define("demo::f(Tensor a) -> Tensor");
  EXPECT_EQ(Call(op, {TensorValue(tensor)}).error_class(), PL_ERROR_NO_KERNEL + 0u);
  EXPECT_EQ(Call(op, {Int(1)}).error_class(), PL_ERROR_NO_KEY + 0u);
  pl_operator* none = nullptr;
  PlError error(table.find_operator(registry, Borrow("demo::g"), &none));
  EXPECT_EQ(error.error_class(), PL_ERROR_NOT_FOUND + 0u);
  EXPECT_EQ(none, nullptr);
}

// Every schema kind, through a C++ signature and back, boxed and typed; what the host's kernel saw and what came out.
struct TypedCase {
  std::uint32_t signature;
  std::vector<pl_value> arguments, results;
  std::vector<std::string> seen, returned;
};

TEST_F(AdapterTest, TypedKernelsCarryEveryKind) {
  const pl_value none{};
  const pl_value t = TensorValue(tensor);
  pl_tensor* undefined = nullptr;
  ASSERT_FALSE(PlError(table.tensor_make_undefined(registry, &undefined)));
  tensors.push_back(undefined);
  const std::vector<pl_value> two_tensors{t, t}, tensor_and_none{t, none}, ints{Int(1), Int(-2)}, floats{Float(0.5)},
      bools{Bool(1), Bool(0)}, empty;
  const TypedCase cases[] = {
      {PL_SIGNATURE_tensor, {t}, {t}, {"[01]"}, {"[01]"}},
      {PL_SIGNATURE_tensor_tensor, {t, TensorValue(undefined)}, {t}, {"[01]", "[]"}, {"[01]"}},
      {PL_SIGNATURE_tensor4, {t, t, t, t}, {t}, {"[01]", "[01]", "[01]", "[01]"}, {"[01]"}},
      {PL_SIGNATURE_tensor_tensor_int, {t, t}, {Int(7)}, {"[01]", "[01]"}, {"7"}},
      {PL_SIGNATURE_tensor_optional, {t, none}, {t}, {"[01]", "none"}, {"[01]"}},
      {PL_SIGNATURE_tensor_list, {List(two_tensors)}, {t}, {"{[01] [01]}"}, {"[01]"}},
      {PL_SIGNATURE_tensor_optional_list, {t, List(tensor_and_none)}, {t}, {"[01]", "{[01] none}"}, {"[01]"}},
      {PL_SIGNATURE_tensor_int, {t, Int(-3)}, {t}, {"[01]", "-3"}, {"[01]"}},
      {PL_SIGNATURE_tensor_symint, {t, Int(5)}, {t}, {"[01]", "5"}, {"[01]"}},
      {PL_SIGNATURE_tensor_float, {t, Float(1.5)}, {Float(2.5)}, {"[01]", "1.5"}, {"2.5"}},
      {PL_SIGNATURE_tensor_bool, {t, Bool(1)}, {Bool(0)}, {"[01]", "true"}, {"false"}},
      {PL_SIGNATURE_tensor_str, {t, String("ä")}, {String("")}, {"[01]", "\"ä\""}, {"\"\""}},
      {PL_SIGNATURE_tensor_scalar, {t, Int(2)}, {t}, {"[01]", "2"}, {"[01]"}},
      {PL_SIGNATURE_tensor_scalar, {t, Float(2.5)}, {t}, {"[01]", "2.5"}, {"[01]"}},
      {PL_SIGNATURE_tensor_scalar, {t, Bool(1)}, {t}, {"[01]", "true"}, {"[01]"}},
      {PL_SIGNATURE_tensor_lists,
       {t, List(ints), List(floats), List(bools)},
       {t},
       {"[01]", "{1 -2}", "{0.5}", "{true false}"},
       {"[01]"}},
      {PL_SIGNATURE_tensor_lists,
       {t, List(empty), List(empty), List(empty)},
       {t},
       {"[01]", "{}", "{}", "{}"},
       {"[01]"}},
      {PL_SIGNATURE_tensor_optionals,
       {t, Int(1), Float(0.5), Bool(0), String("s"), Bool(1)},
       {t},
       {"[01]", "1", "0.5", "false", "\"s\"", "true"},
       {"[01]"}},
      {PL_SIGNATURE_tensor_optionals,
       {t, none, none, none, none, none},
       {t},
       {"[01]", "none", "none", "none", "none", "none"},
       {"[01]"}},
      {PL_SIGNATURE_tensor_int_two, {t, Int(1)}, {t, Int(9)}, {"[01]", "1"}, {"[01]", "9"}},
      {PL_SIGNATURE_tensor_nothing, {t}, {}, {"[01]"}, {}},
      {PL_SIGNATURE_inplace, {t, t}, {t}, {"[01]", "[01]"}, {"[01]"}},
      {PL_SIGNATURE_tensor_symint_list, {t, List(ints)}, {t}, {"[01]", "{1 -2}"}, {"[01]"}},
  };
  int index = 0;
  for (const TypedCase& typed : cases) {
    const std::string name = "demo::f" + std::to_string(index++);
    pl_operator* op = Define(name + "(...) -> ...");
    std::vector<std::string> seen;
    Probe& probe = MakeProbe([&](pl_frame* frame) -> pl_error* {
      for (std::uint64_t i = 0; i < frame->argument_count; ++i) seen.push_back(Words(registry, frame->arguments[i]));
      for (const pl_value& result : typed.results) {
        if (pl_error* error = frame->results.push(frame->results.context, &result)) return error;
      }
      return nullptr;
    });
    pl_registration* registration = Impl(name, mid, probe.Kernel(PL_KERNEL_TYPED, typed.signature));
    for (const std::uint32_t form : {PL_CALL_BOXED, PL_CALL_TYPED}) {
      seen.clear();
      std::vector<std::string> returned;
      const PlError error = Call(op, typed.arguments, &returned, form, typed.signature);
      EXPECT_FALSE(error) << name << ": " << error.message();
      EXPECT_EQ(seen, typed.seen) << "signature " << typed.signature;
      EXPECT_EQ(returned, typed.returned) << "signature " << typed.signature;
    }
    EXPECT_FALSE(PlError(table.release(registration)));
    EXPECT_EQ(probe.destroyed, 1);
  }
}

TEST_F(AdapterTest, TypedKernelsAndCallsRefuseWhatDoesNotFit) {
  pl_operator* op = Define("demo::f(Tensor a, int b) -> Tensor");
  Probe& probe =
      MakeProbe([](pl_frame* frame) { return frame->results.push(frame->results.context, &frame->arguments[1]); });
  registrations.push_back(Impl("demo::f", mid, probe.Kernel(PL_KERNEL_TYPED, PL_SIGNATURE_tensor_int)));
  const auto call = [&](std::vector<pl_value> arguments, std::uint32_t signature) {
    const PlError error = Call(op, arguments, nullptr, PL_CALL_TYPED, signature);
    return error ? error.error_class() : 0u;
  };
  const pl_value t = TensorValue(tensor);
  EXPECT_EQ(call({t}, PL_SIGNATURE_tensor_int), PL_ERROR_SCHEMA_MISMATCH + 0u);                  // too few
  EXPECT_EQ(call({t, Int(1), Int(2)}, PL_SIGNATURE_tensor_int), PL_ERROR_SCHEMA_MISMATCH + 0u);  // too many
  EXPECT_EQ(call({t, Float(1)}, PL_SIGNATURE_tensor_int), PL_ERROR_SCHEMA_MISMATCH + 0u);        // another kind
  EXPECT_EQ(call({t, Int(1)}, 999), PL_ERROR_INVALID_ARGUMENT + 0u);                             // no such signature
  EXPECT_EQ(probe.entered, 0);
  EXPECT_EQ(call({t, Int(1)}, PL_SIGNATURE_tensor_int), PL_ERROR_SCHEMA_MISMATCH + 0u);  // returns an int
  EXPECT_EQ(probe.entered, 1);
  probe.body = nullptr;
  EXPECT_EQ(call({t, Int(1)}, PL_SIGNATURE_tensor_int), PL_ERROR_SCHEMA_MISMATCH + 0u);  // returns nothing
}

TEST_F(AdapterTest, AnInPlaceKernelReturnsItsFirstArgument) {
  pl_operator* op = Define("demo::f_(Tensor(a!) a, Tensor b) -> Tensor(a!)");
  Probe& probe =
      MakeProbe([](pl_frame* frame) { return frame->results.push(frame->results.context, &frame->arguments[1]); });
  registrations.push_back(Impl("demo::f_", low, probe.Kernel(PL_KERNEL_TYPED, PL_SIGNATURE_inplace)));
  std::vector<std::string> results;
  EXPECT_FALSE(Call(op, {TensorValue(tensor), TensorValue(MakeTensor({low}))}, &results));
  EXPECT_THAT(results, ElementsAre("[01]"));
  probe.body = [](pl_frame* frame) {
    const pl_value no_tensor = Int(1);
    return frame->results.push(frame->results.context, &no_tensor);
  };
  EXPECT_EQ(Call(op, {TensorValue(tensor), TensorValue(tensor)}).error_class(), PL_ERROR_SCHEMA_MISMATCH + 0u);
}

// ---- tensors ----

TEST_F(AdapterTest, RetainedTensorsAreTheSameTensor) {
  pl_tensor* retained = table.tensor_retain(tensor);
  EXPECT_EQ(table.tensor_identity(retained), table.tensor_identity(tensor));
  EXPECT_NE(table.tensor_identity(MakeTensor({low, mid})), table.tensor_identity(tensor));
  table.tensor_release(tensor);
  tensors.erase(tensors.begin());
  EXPECT_EQ(Words(registry, TensorValue(retained)), "[01]");
  table.tensor_release(retained);
}

// ---- the rest, entry by entry ----

TEST_F(AdapterTest, Redispatches) {
  pl_operator* op = Define("demo::f(Tensor a) -> Tensor");
  Probe& below =
      MakeProbe([](pl_frame* frame) { return frame->results.push(frame->results.context, frame->arguments); });
  registrations.push_back(Impl("demo::f", low, below.Kernel(PL_KERNEL_BOXED)));
  bool typed = false;
  Probe& above = MakeProbe([&](pl_frame* frame) {
    const pl_key_list keys{&low, 1};
    if (typed) {
      return table.redispatch_typed(frame, PL_SIGNATURE_tensor, keys, frame->arguments, frame->argument_count,
                                    frame->results);
    }
    return table.redispatch(frame, keys, frame->arguments, frame->argument_count, frame->results);
  });
  registrations.push_back(Impl("demo::f", mid, above.Kernel(PL_KERNEL_BOXED)));
  for (const bool form : {false, true}) {
    typed = form;
    std::vector<std::string> results;
    EXPECT_FALSE(Call(op, {TensorValue(tensor)}, &results));
    EXPECT_THAT(results, ElementsAre("[01]"));
  }
  EXPECT_EQ(below.entered, 2);
  pl_frame foreign{};
  EXPECT_EQ(PlError(table.redispatch(&foreign, {nullptr, 0}, nullptr, 0, {nullptr, nullptr})).error_class(),
            PL_ERROR_UNSUPPORTED + 0u);
}

TEST_F(AdapterTest, ALibraryTakesItsRegistrationsAlong) {
  pl_library* library = nullptr;
  ASSERT_FALSE(
      PlError(table.library_open(registry, PL_LIBRARY_DEF, Borrow("demo"), PL_NO_KEY, Borrow("here"), &library)));
  pl_library* second = nullptr;
  EXPECT_EQ(PlError(table.library_open(registry, PL_LIBRARY_DEF, Borrow("demo"), PL_NO_KEY, Borrow("here"), &second))
                .error_class(),
            PL_ERROR_DUPLICATE + 0u);
  Probe& early = MakeProbe();
  Probe& kept = MakeProbe();
  pl_registration* released_before = Impl("demo::f", low, early.Kernel(PL_KERNEL_BOXED), library);
  pl_registration* released_after = Impl("demo::f", mid, kept.Kernel(PL_KERNEL_BOXED), library);
  EXPECT_FALSE(PlError(table.release(released_before)));
  EXPECT_EQ(early.destroyed, 1);
  EXPECT_EQ(kept.destroyed, 0);
  EXPECT_FALSE(PlError(table.library_close(library)));
  EXPECT_EQ(kept.destroyed, 1);
  EXPECT_FALSE(PlError(table.release(released_after)));  // empty by now
  EXPECT_EQ(kept.destroyed, 1);
  EXPECT_FALSE(
      PlError(table.library_open(registry, PL_LIBRARY_DEF, Borrow("demo"), PL_NO_KEY, Borrow("here"), &library)));
  EXPECT_FALSE(PlError(table.library_close(library)));
}

TEST_F(AdapterTest, FallbacksAndChains) {
  pl_operator* op = Define("demo::f(Tensor a) -> ()");
  Probe& fallback = MakeProbe();
  const pl_kernel kernel = fallback.Kernel(PL_KERNEL_BOXED);
  pl_registration* registration = nullptr;
  ASSERT_FALSE(PlError(table.register_fallback(registry, nullptr, low, &kernel, &registration)));
  uint32_t has = 9;
  EXPECT_FALSE(PlError(table.has_fallback(registry, low, &has)));
  EXPECT_EQ(has, 1u);
  pl_registration* chain = nullptr;
  EXPECT_EQ(PlError(table.chain_declare(registry, high, high, &chain)).error_class(), PL_ERROR_INVALID_ARGUMENT + 0u);
  EXPECT_EQ(chain, nullptr);
  ASSERT_FALSE(PlError(table.chain_declare(registry, high, low, &chain)));
  EXPECT_FALSE(Call(op, {TensorValue(MakeTensor({high}))}));
  EXPECT_EQ(fallback.entered, 1);
  EXPECT_FALSE(PlError(table.release(chain)));
  EXPECT_EQ(Call(op, {TensorValue(MakeTensor({high}))}).error_class(), PL_ERROR_NO_KERNEL + 0u);
  EXPECT_FALSE(PlError(table.release(registration)));
  EXPECT_EQ(fallback.destroyed, 1);
}

TEST_F(AdapterTest, ListenersHearAndAreDestroyedOnce) {
  struct Heard {
    std::vector<std::string> events;
    int destroyed = 0;
  } heard;
  const pl_listener listener{sizeof(pl_listener),
                             0,
                             &heard,
                             [](void* context, pl_string name) {
                               static_cast<Heard*>(context)->events.push_back("+" + std::string(View(name)));
                             },
                             [](void* context, pl_string name) {
                               static_cast<Heard*>(context)->events.push_back("-" + std::string(View(name)));
                             },
                             [](void* context) { ++static_cast<Heard*>(context)->destroyed; }};
  pl_registration* registration = nullptr;
  ASSERT_FALSE(PlError(table.listener_add(registry, &listener, &registration)));
  pl_registration* definition = nullptr;
  ASSERT_FALSE(PlError(table.define(registry, nullptr, Borrow("a::f() -> ()"), {nullptr, 0}, &definition)));
  EXPECT_FALSE(PlError(table.release(definition)));
  EXPECT_THAT(heard.events, ElementsAre("+a::f", "-a::f"));
  EXPECT_EQ(heard.destroyed, 0);
  EXPECT_FALSE(PlError(table.release(registration)));
  EXPECT_EQ(heard.destroyed, 1);

  pl_listener reserved = listener;  // refused, and destroyed all the same
  reserved.reserved = 1;
  EXPECT_EQ(PlError(table.listener_add(registry, &reserved, &registration)).error_class(),
            PL_ERROR_INVALID_ARGUMENT + 0u);
  EXPECT_EQ(heard.destroyed, 2);
}

TEST_F(AdapterTest, Warns) {
  Lines warnings;
  ASSERT_FALSE(PlError(table.warnings_to(registry, warnings.Sink())));
  Define("demo::f(Tensor a) -> ()");
  Probe& first = MakeProbe();
  Probe& second = MakeProbe();
  Probe& third = MakeProbe();
  registrations.push_back(Impl("demo::f", low, first.Kernel(PL_KERNEL_BOXED)));
  EXPECT_THAT(warnings.lines, IsEmpty());
  registrations.push_back(Impl("demo::f", low, second.Kernel(PL_KERNEL_BOXED)));
  EXPECT_THAT(warnings.lines, ElementsAre("kernel of demo::f overridden"));
  ASSERT_FALSE(PlError(table.warnings_to(registry, {nullptr, nullptr})));
  registrations.push_back(Impl("demo::f", low, third.Kernel(PL_KERNEL_BOXED)));
  EXPECT_EQ(warnings.lines.size(), 1u);
}

TEST_F(AdapterTest, GuardsBelongToTheirThread) {
  pl_operator* op = Define("demo::f(Tensor a) -> ()");
  Probe& of_low = MakeProbe();
  Probe& of_mid = MakeProbe();
  Probe& of_high = MakeProbe();
  registrations.push_back(Impl("demo::f", low, of_low.Kernel(PL_KERNEL_BOXED)));
  registrations.push_back(Impl("demo::f", mid, of_mid.Kernel(PL_KERNEL_BOXED)));
  registrations.push_back(Impl("demo::f", high, of_high.Kernel(PL_KERNEL_BOXED)));
  pl_guard *exclude = nullptr, *include = nullptr;
  ASSERT_FALSE(PlError(table.guard_enter(registry, PL_GUARD_EXCLUDE, {&mid, 1}, &exclude)));
  EXPECT_FALSE(Call(op, {TensorValue(tensor)}));
  EXPECT_EQ(of_low.entered, 1);
  ASSERT_FALSE(PlError(table.guard_enter(registry, PL_GUARD_INCLUDE, {&high, 1}, &include)));
  EXPECT_FALSE(Call(op, {TensorValue(tensor)}));
  EXPECT_EQ(of_high.entered, 1);
  std::thread([&] { EXPECT_FALSE(Call(op, {TensorValue(tensor)})); }).join();
  EXPECT_EQ(of_mid.entered, 1);
  table.guard_leave(include);
  table.guard_leave(exclude);
  EXPECT_FALSE(Call(op, {TensorValue(tensor)}));
  EXPECT_EQ(of_mid.entered, 2);
  EXPECT_EQ(PlError(table.guard_enter(registry, 7, {&mid, 1}, &exclude)).error_class(), PL_ERROR_INVALID_ARGUMENT + 0u);
}

TEST_F(AdapterTest, CountersFlushAndDrain) {
  pl_operator* op = Define("demo::f(Tensor a) -> ()");
  Call(op, {TensorValue(tensor)});
  EXPECT_FALSE(PlError(table.cache_flush(registry)));
  EXPECT_FALSE(PlError(table.drain(registry)));
  pl_cache_counters counters{};
  counters.struct_size = sizeof counters;
  ASSERT_FALSE(PlError(table.cache_counters(registry, op, &counters)));
  EXPECT_EQ(counters.hits, 0u);
  EXPECT_EQ(counters.misses, 1u);
  EXPECT_EQ(counters.invalidations, 1u);
}

TEST_F(AdapterTest, Introspects) {
  Define("demo::f(Tensor a) -> ()");
  Probe& probe = MakeProbe();
  registrations.push_back(Impl("demo::f", mid, probe.Kernel(PL_KERNEL_BOXED)));
  uint32_t has = 9;
  EXPECT_FALSE(PlError(table.has_kernel(registry, Borrow("demo::f"), mid, PL_QUERY_DIRECT, &has)));
  EXPECT_EQ(has, 1u);
  EXPECT_FALSE(PlError(table.has_kernel(registry, Borrow("demo::f"), low, PL_QUERY_COMPUTED, &has)));
  EXPECT_EQ(has, 0u);
  EXPECT_EQ(PlError(table.has_kernel(registry, Borrow("demo::f"), low, 9, &has)).error_class(),
            PL_ERROR_INVALID_ARGUMENT + 0u);
  Lines names, schema, dump;
  EXPECT_FALSE(PlError(table.list_operators(registry, PL_LIST_ALL, PL_NO_KEY, names.Sink())));
  EXPECT_THAT(names.lines, ElementsAre("demo::f"));
  EXPECT_FALSE(PlError(table.schema_of(registry, Borrow("demo::f"), schema.Sink())));
  EXPECT_THAT(schema.lines, ElementsAre("demo::f(Tensor a) -> ()"));
  EXPECT_FALSE(PlError(table.dump_registrations(registry, Borrow("demo::f"), dump.Sink())));
  EXPECT_THAT(dump.lines, ElementsAre("operator demo::f"));
  std::vector<std::string> rows;
  const pl_table_sink sink{&rows, [](void* context, const pl_table_row* row) {
                             EXPECT_EQ(row->struct_size, sizeof(pl_table_row));
                             EXPECT_EQ(row->rule, PL_RULE_KERNEL + 0u);
                             static_cast<std::vector<std::string>*>(context)->push_back(std::to_string(row->key) + " " +
                                                                                        std::string(View(row->place)));
                           }};
  EXPECT_FALSE(PlError(table.dump_table(registry, Borrow("demo::f"), sink)));
  EXPECT_THAT(rows, ElementsAre("1 probe.scn:1"));
}

TEST_F(AdapterTest, FaultsLoopsAndLoading) {
  Lines faults;
  EXPECT_FALSE(PlError(table.fault_list(faults.Sink())));
  EXPECT_THAT(faults.lines, ElementsAre("wrong_answer"));
  EXPECT_FALSE(PlError(table.fault_set(Borrow("wrong_answer"))));
  EXPECT_EQ(testing::Record().fault, "wrong_answer");
  EXPECT_FALSE(PlError(table.fault_set({nullptr, 0})));
  EXPECT_EQ(testing::Record().fault, "");
  EXPECT_FALSE(PlError(table.load(Borrow("libmine.so"))));
  EXPECT_EQ(testing::Record().loaded, "libmine.so");

  pl_operator* op = Define("demo::f(Tensor a) -> ()");
  Probe& probe = MakeProbe();
  registrations.push_back(Impl("demo::f", mid, probe.Kernel(PL_KERNEL_BOXED)));
  const pl_value argument = TensorValue(tensor);
  const pl_call call{sizeof call, PL_CALL_BOXED, 0, 0, op, &argument, 1, {nullptr, nullptr}};
  EXPECT_FALSE(PlError(table.call_many(registry, &call, 5)));
  EXPECT_EQ(probe.entered, 5);
  EXPECT_FALSE(PlError(table.find_many(registry, Borrow("demo::f"), 3)));
}

// A fallthrough has no function; a backend that calls it nevertheless is told so.
TEST(Invoke, AKernelWithoutAFunction) {
  testing::ToyBackend toy(OpenOptions{});
  try {
    Invoke<testing::ToyBackend>(HostKernel(),
                                {.backend = toy, .operator_name = "demo::f", .keys = {}, .arguments = {}});
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.error_class(), PL_ERROR_INTERNAL);
    EXPECT_THAT(error.what(), HasSubstr("no function, such as a fallthrough, for demo::f"));
  }
}

}  // namespace
}  // namespace plumbline::abi
