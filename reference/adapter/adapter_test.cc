// A handful of operations through the C table of reference.so, as a host sees it; the suites do the rest.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "spec/abi/host.h"

namespace plumbline::abi {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;

const pl_adapter* Load(const std::string& name) {
  const char* build = std::getenv("PLUMBLINE_BUILD");
  const std::string path = std::string(build != nullptr ? build : ".") + "/lib/plumbline/backends/" + name + ".so";
  void* object = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  EXPECT_NE(object, nullptr) << dlerror();
  if (object == nullptr) return nullptr;
  const auto get = reinterpret_cast<pl_get_adapter_function>(dlsym(object, PL_GET_ADAPTER_SYMBOL));
  EXPECT_NE(get, nullptr);
  return get != nullptr ? get(PL_ABI_MAJOR, PL_ABI_MINOR) : nullptr;
}

std::string Class(pl_error* error) {
  const PlError owned(error);
  return owned ? std::string(ErrorClassSpelling(owned.error_class())) : "ok";
}

// A host's kernel that notes its name; `then` is what it does next.
struct Probe {
  std::string name;
  std::vector<std::string>* ran;
  std::function<pl_error*(pl_frame*)> then;
  int destroyed = 0;
};

pl_value IntValue(std::int64_t integer) {
  pl_value value{};
  value.kind = PL_INT;
  value.as.integer = integer;
  return value;
}

class ReferenceAdapter : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(table, nullptr);
    Open(false);
  }
  void Open(bool count_hits) {
    if (registry != nullptr) table->close(registry);
    pl_open_options options{};
    options.struct_size = sizeof options;
    options.mode = PL_OPEN_FRESH;
    options.count_hits = count_hits ? 1 : 0;
    ASSERT_EQ(Class(table->open(&options, &registry)), "ok");
  }
  void TearDown() override {
    for (pl_tensor* tensor : tensors) table->tensor_release(tensor);
    for (pl_registration* registration : registrations) EXPECT_EQ(Class(table->release(registration)), "ok");
    if (registry != nullptr) table->close(registry);
    for (const Probe& probe : probes) EXPECT_EQ(probe.destroyed, 1) << probe.name;
  }

  pl_key Key(std::string_view name) {
    pl_key key = PL_NO_KEY;
    EXPECT_EQ(Class(table->intern_key(registry, Borrow(name), &key)), "ok") << name;
    return key;
  }
  std::vector<pl_key> Keys(const std::vector<std::string_view>& names) {
    std::vector<pl_key> keys;
    for (const std::string_view name : names) keys.push_back(Key(name));
    return keys;
  }
  pl_value Tensor(const std::vector<std::string_view>& names) {
    const std::vector<pl_key> keys = Keys(names);
    pl_value value{};
    value.kind = PL_TENSOR;
    EXPECT_EQ(Class(table->tensor_make(registry, {keys.data(), keys.size()}, &value.as.tensor)), "ok");
    tensors.push_back(value.as.tensor);
    return value;
  }
  std::string Define(std::string_view schema) {
    pl_registration* made = nullptr;
    const std::string error = Class(table->define(registry, nullptr, Borrow(schema), Borrow("t:1"), &made));
    if (made != nullptr) registrations.push_back(made);
    return error;
  }
  pl_kernel Kernel(const std::string& name, std::uint32_t form, std::uint32_t signature,
                   std::function<pl_error*(pl_frame*)> then = nullptr) {
    probes.push_back({name, &ran, std::move(then)});
    return {sizeof(pl_kernel),
            form,
            signature,
            PL_LIFETIME_RELEASABLE,
            [](void* context, pl_frame* frame) -> pl_error* {
              auto* probe = static_cast<Probe*>(context);
              probe->ran->push_back(probe->name);
              if (probe->then) return probe->then(frame);
              return frame->argument_count == 0 ? nullptr
                                                : frame->results.push(frame->results.context, frame->arguments);
            },
            &probes.back(),
            [](void* context) { ++static_cast<Probe*>(context)->destroyed; },
            Borrow(probes.back().name)};
  }
  pl_registration* Impl(std::string_view op, std::string_view key, const pl_kernel& kernel,
                        pl_library* library = nullptr) {
    pl_registration* made = nullptr;
    EXPECT_EQ(Class(table->register_kernel(registry, library, Borrow(op), key.empty() ? PL_NO_KEY : Key(key), &kernel,
                                           &made)),
              "ok");
    return made;
  }
  // "k1 k2" for the kernels that ran, then the error's class if there was one.
  std::string Call(std::string_view name, const std::vector<pl_value>& arguments, std::uint32_t form = PL_CALL_BOXED,
                   std::uint32_t signature = 0) {
    ran.clear();
    results.clear();
    pl_operator* op = nullptr;
    if (std::string error = Class(table->find_operator(registry, Borrow(name), &op)); error != "ok") return error;
    const pl_value_sink sink{this, [](void* context, const pl_value* value) -> pl_error* {
                               auto* self = static_cast<ReferenceAdapter*>(context);
                               self->results.push_back(value->kind == PL_TENSOR
                                                           ? self->table->tensor_identity(value->as.tensor)
                                                           : value->as.integer);
                               return nullptr;
                             }};
    const pl_call call{sizeof call, form, signature, 0, op, arguments.data(), arguments.size(), sink};
    const std::string error = Class(table->call(registry, &call));
    table->operator_release(op);
    std::string text;
    for (const std::string& kernel : ran) text += (text.empty() ? "" : " ") + kernel;
    return error == "ok" ? text : text + (text.empty() ? "" : " ") + error;
  }

  const pl_adapter* table = Load("reference");
  pl_registry* registry = nullptr;
  std::vector<pl_tensor*> tensors;
  std::vector<pl_registration*> registrations;
  std::deque<Probe> probes;
  std::vector<std::string> ran;
  std::vector<std::uint64_t> results;
};

TEST_F(ReferenceAdapter, ClaimsAllButFaults) {
  const AdapterCheck check = CheckAdapter(table);
  EXPECT_THAT(check.problems, IsEmpty());
  std::uint64_t all = 0;
#define PL_ALL(bit, NAME, spelling, meaning) all |= PL_CAPABILITY(NAME);
  PL_CAPABILITIES(PL_ALL)
  EXPECT_EQ(check.capabilities, all & ~PL_CAPABILITY(FAULTS));
  pl_description description{};
  description.struct_size = sizeof description;
  ASSERT_EQ(Class(table->describe(&description)), "ok");
  EXPECT_EQ(View(description.name), "reference");
  EXPECT_EQ(View(description.release), "pytorch-1.13");
}

TEST_F(ReferenceAdapter, NewestKernelAnswersUntilItIsReleased) {
  ASSERT_EQ(Define("demo::f(Tensor a, Tensor b) -> Tensor"), "ok");
  const pl_kernel fallthrough{sizeof(pl_kernel), PL_KERNEL_FALLTHROUGH, 0, 0, nullptr, nullptr, nullptr, {nullptr, 0}};
  registrations.push_back(Impl("demo::f", "AutogradCPU", fallthrough));
  registrations.push_back(Impl("demo::f", "CPU", Kernel("k1", PL_KERNEL_BOXED, 0)));
  const pl_value a = Tensor({"CPU", "AutogradCPU"}), b = Tensor({"CPU"}), cuda = Tensor({"CUDA"});
  EXPECT_EQ(Call("demo::f", {a, b}), "k1");
  EXPECT_THAT(results, ElementsAre(table->tensor_identity(a.as.tensor)));
  pl_registration* second = Impl("demo::f", "CPU", Kernel("k2", PL_KERNEL_BOXED, 0));
  EXPECT_EQ(Call("demo::f", {b, b}), "k2");
  EXPECT_EQ(Class(table->release(second)), "ok");
  EXPECT_EQ(probes.back().destroyed, 1);
  EXPECT_EQ(Call("demo::f", {b, b}), "k1");
  EXPECT_EQ(Call("demo::f", {cuda, cuda}), "no-kernel");
  EXPECT_EQ(Call("demo::f", {IntValue(1), b}), "schema-mismatch");
  EXPECT_EQ(Call("demo::g", {}), "not-found");
  EXPECT_EQ(Define("demo::f(Tensor a"), "invalid-argument");
}

TEST_F(ReferenceAdapter, TypedAndBoxedMeetInAllPairs) {
  ASSERT_EQ(Define("demo::f(Tensor a, int b) -> Tensor"), "ok");
  const pl_value a = Tensor({"CPU"}), c = Tensor({"CUDA"});
  registrations.push_back(Impl("demo::f", "CPU", Kernel("boxed", PL_KERNEL_BOXED, 0)));
  registrations.push_back(Impl("demo::f", "CUDA", Kernel("typed", PL_KERNEL_TYPED, PL_SIGNATURE_tensor_int)));
  for (const auto& [tensor, name] : {std::pair(a, "boxed"), std::pair(c, "typed")}) {
    EXPECT_EQ(Call("demo::f", {tensor, IntValue(3)}), name);
    EXPECT_EQ(Call("demo::f", {tensor, IntValue(3)}, PL_CALL_TYPED, PL_SIGNATURE_tensor_int), name);
    EXPECT_THAT(results, ElementsAre(table->tensor_identity(tensor.as.tensor)));
  }
  EXPECT_EQ(Call("demo::f", {a, IntValue(3)}, PL_CALL_TYPED, PL_SIGNATURE_tensor), "schema-mismatch");
}

TEST_F(ReferenceAdapter, AHostKernelsErrorComesBackWithItsPayload) {
  ASSERT_EQ(Define("demo::f(Tensor a) -> Tensor"), "ok");
  const auto raise = [](pl_frame*) { return MakeError(PL_ERROR_KERNEL_RAISED, "boom", "t:9", 99); };
  registrations.push_back(Impl("demo::f", "CPU", Kernel("boxed", PL_KERNEL_BOXED, 0, raise)));
  registrations.push_back(Impl("demo::f", "CUDA", Kernel("typed", PL_KERNEL_TYPED, PL_SIGNATURE_tensor, raise)));
  pl_operator* op = nullptr;
  ASSERT_EQ(Class(table->find_operator(registry, Borrow("demo::f"), &op)), "ok");
  for (const pl_value& argument : {Tensor({"CPU"}), Tensor({"CUDA"})}) {
    for (const std::uint32_t form : {PL_CALL_BOXED, PL_CALL_TYPED}) {
      const pl_call call{sizeof call, form, PL_SIGNATURE_tensor, 0, op, &argument, 1, {nullptr, nullptr}};
      const PlError error(table->call(registry, &call));
      ASSERT_TRUE(error);
      EXPECT_EQ(error.error_class(), PL_ERROR_KERNEL_RAISED + 0u);
      EXPECT_EQ(error.message(), "boom");
      EXPECT_EQ(error.payload(), 99u);
    }
  }
  table->operator_release(op);
}

TEST_F(ReferenceAdapter, RedispatchesInBothForms) {
  ASSERT_EQ(Define("demo::f(Tensor a) -> Tensor"), "ok");
  const std::vector<pl_key> below = Keys({"CPU"});
  bool typed = false;
  const auto redispatch = [&](pl_frame* frame) {
    const pl_key_list keys{below.data(), below.size()};
    if (typed) return table->redispatch_typed(frame, PL_SIGNATURE_tensor, keys, frame->arguments, 1, frame->results);
    return table->redispatch(frame, keys, frame->arguments, 1, frame->results);
  };
  registrations.push_back(Impl("demo::f", "CPU", Kernel("cpu", PL_KERNEL_BOXED, 0)));
  registrations.push_back(Impl("demo::f", "AutogradCPU", Kernel("autograd", PL_KERNEL_BOXED, 0, redispatch)));
  EXPECT_EQ(Call("demo::f", {Tensor({"CPU", "AutogradCPU"})}), "autograd cpu");
  typed = true;
  EXPECT_EQ(Call("demo::f", {Tensor({"CPU", "AutogradCPU"})}), "autograd cpu");
}

TEST_F(ReferenceAdapter, GuardsFallbacksAndChains) {
  ASSERT_EQ(Define("demo::f(Tensor a) -> Tensor"), "ok");
  registrations.push_back(Impl("demo::f", "CPU", Kernel("cpu", PL_KERNEL_BOXED, 0)));
  const pl_kernel fallback = Kernel("fallback", PL_KERNEL_BOXED, 0);
  pl_registration* made = nullptr;
  ASSERT_EQ(Class(table->register_fallback(registry, nullptr, Key("PrivateUse1"), &fallback, &made)), "ok");
  registrations.push_back(made);
  const pl_value a = Tensor({"CPU"});
  const pl_key private_use = Key("PrivateUse1");
  pl_guard* guard = nullptr;
  ASSERT_EQ(Class(table->guard_enter(registry, PL_GUARD_INCLUDE, {&private_use, 1}, &guard)), "ok");
  EXPECT_EQ(Call("demo::f", {a}), "fallback");
  table->guard_leave(guard);
  EXPECT_EQ(Call("demo::f", {a}), "cpu");

  EXPECT_EQ(Call("demo::f", {Tensor({"XLA"})}), "no-kernel");
  ASSERT_EQ(Class(table->chain_declare(registry, Key("XLA"), Key("CPU"), &made)), "ok");
  registrations.push_back(made);
  EXPECT_EQ(Call("demo::f", {Tensor({"XLA"})}), "cpu");
  EXPECT_EQ(Class(table->chain_declare(registry, Key("CPU"), Key("XLA"), &made)), "invalid-argument");
}

TEST_F(ReferenceAdapter, AClosedLibraryTakesItsRegistrationsAlong) {
  pl_library* library = nullptr;
  ASSERT_EQ(Class(table->library_open(registry, PL_LIBRARY_DEF, Borrow("demo"), PL_NO_KEY, Borrow("t:1"), &library)),
            "ok");
  pl_registration* definition = nullptr;
  ASSERT_EQ(Class(table->define(registry, library, Borrow("f(Tensor a) -> Tensor"), Borrow("t:2"), &definition)), "ok");
  registrations.push_back(definition);
  registrations.push_back(Impl("f", "CPU", Kernel("cpu", PL_KERNEL_BOXED, 0), library));
  EXPECT_EQ(Call("demo::f", {Tensor({"CPU"})}), "cpu");
  EXPECT_EQ(Class(table->library_close(library)), "ok");
  EXPECT_EQ(probes.back().destroyed, 1);
  EXPECT_EQ(Call("demo::f", {Tensor({"CPU"})}), "not-found");
}

TEST_F(ReferenceAdapter, HitsAreCountedWhenAskedFor) {
  for (const bool count : {false, true}) {
    Open(count);
    ASSERT_EQ(Define("demo::f(Tensor a) -> Tensor"), "ok");
    registrations.push_back(Impl("demo::f", "CPU", Kernel("cpu", PL_KERNEL_BOXED, 0)));
    const pl_value a = Tensor({"CPU"});
    for (int i = 0; i < 3; ++i) EXPECT_EQ(Call("demo::f", {a}), "cpu");
    pl_operator* op = nullptr;
    ASSERT_EQ(Class(table->find_operator(registry, Borrow("demo::f"), &op)), "ok");
    pl_cache_counters counters{};
    counters.struct_size = sizeof counters;
    EXPECT_EQ(Class(table->cache_counters(registry, op, &counters)), "ok");
    table->operator_release(op);
    EXPECT_EQ(counters.misses, 1u);
    if (count) {
      EXPECT_EQ(counters.hits, 2u);
    }
    for (pl_tensor* tensor : tensors) table->tensor_release(tensor);
    for (pl_registration* registration : registrations) EXPECT_EQ(Class(table->release(registration)), "ok");
    tensors.clear();
    registrations.clear();
  }
}

TEST_F(ReferenceAdapter, DumpsItsTable) {
  ASSERT_EQ(Define("demo::f(Tensor a) -> Tensor"), "ok");
  registrations.push_back(Impl("demo::f", "CPU", Kernel("here.scn:4", PL_KERNEL_BOXED, 0)));
  struct Seen {
    pl_key cpu;
    std::string rule_and_place;
  } seen{Key("CPU"), ""};
  const pl_table_sink sink{&seen, [](void* context, const pl_table_row* row) {
                             auto* own = static_cast<Seen*>(context);
                             if (row->key == own->cpu)
                               own->rule_and_place = std::to_string(row->rule) + " " + std::string(View(row->place));
                           }};
  EXPECT_EQ(Class(table->dump_table(registry, Borrow("demo::f"), sink)), "ok");
  EXPECT_EQ(seen.rule_and_place, std::to_string(PL_RULE_KERNEL) + " here.scn:4");
  std::string lines;
  const pl_string_sink text{&lines, [](void* context, pl_string line) {
                              *static_cast<std::string*>(context) += std::string(View(line)) + "\n";
                            }};
  EXPECT_EQ(Class(table->dump_registrations(registry, Borrow("demo::f"), text)), "ok");
  EXPECT_THAT(lines, HasSubstr("CPU"));
  EXPECT_THAT(lines, HasSubstr("here.scn:4"));
  EXPECT_EQ(Class(table->dump_table(registry, Borrow("demo::none"), sink)), "not-found");
}

TEST_F(ReferenceAdapter, LoopsOverNativeKernels) {
  ASSERT_EQ(Define("demo::f(Tensor a, Tensor b) -> int"), "ok");
  const auto noop = [&](std::string_view key, std::uint32_t form) {
    const pl_kernel kernel{
        sizeof kernel, form,          PL_SIGNATURE_tensor_tensor_int, PL_LIFETIME_PERMANENT, nullptr, nullptr,
        nullptr,       Borrow("noop")};
    registrations.push_back(Impl("demo::f", key, kernel));
  };
  noop("CPU", PL_KERNEL_NOOP);
  noop("AutogradCPU", PL_KERNEL_NOOP_REDISPATCH);
  noop("CUDA", PL_KERNEL_NOOP_BOXED);
  const pl_value cpu = Tensor({"CPU", "AutogradCPU"}), cuda = Tensor({"CUDA"});
  for (const std::uint32_t form : {PL_CALL_BOXED, PL_CALL_TYPED}) {
    for (const pl_value& argument : {cpu, cuda}) {
      EXPECT_EQ(Call("demo::f", {argument, argument}, form, PL_SIGNATURE_tensor_tensor_int), "");
      EXPECT_THAT(results, ElementsAre(0u));
      pl_operator* op = nullptr;
      ASSERT_EQ(Class(table->find_operator(registry, Borrow("demo::f"), &op)), "ok");
      const pl_value arguments[] = {argument, argument};
      const pl_call call{sizeof call, form, PL_SIGNATURE_tensor_tensor_int, 0, op, arguments, 2, {nullptr, nullptr}};
      EXPECT_EQ(Class(table->call_many(registry, &call, 1000)), "ok");
      table->operator_release(op);
    }
  }
  EXPECT_EQ(Class(table->find_many(registry, Borrow("demo::f"), 1000)), "ok");
  EXPECT_EQ(Class(table->find_many(registry, Borrow("demo::g"), 1)), "not-found");
}

TEST_F(ReferenceAdapter, KeysAreChecked) {
  pl_key key = PL_NO_KEY;
  EXPECT_EQ(Class(table->intern_key(registry, Borrow("CPUU"), &key)), "not-found");
  pl_tensor* tensor = nullptr;
  const pl_key unknown = 4000, alias = Key("Autograd");
  EXPECT_EQ(Class(table->tensor_make(registry, {&unknown, 1}, &tensor)), "invalid-argument");
  ASSERT_EQ(Class(table->tensor_make(registry, {&alias, 1}, &tensor)), "ok");
  tensors.push_back(tensor);
  const auto must_not_be = [](void*, pl_key) { ADD_FAILURE() << "an alias is in no set"; };
  EXPECT_EQ(Class(table->tensor_keys(registry, tensor, nullptr, must_not_be)), "ok");
}

TEST_F(ReferenceAdapter, TensorsFromTheHostAreWhatTheyClaim) {
  const std::int64_t sizes[] = {std::int64_t{1} << 62}, strides[] = {0};
  const unsigned char storage[] = {1, 0, 2, 1};
  pl_tensor_layout layout{sizeof layout, PL_DTYPE_INT32, sizes, strides, 1, 0, Borrow("cpu")};
  pl_tensor* tensor = nullptr;
  EXPECT_EQ(Class(table->tensor_from_host(registry, &layout, storage, sizeof storage, &tensor)), "overflow")
      << "its bytes do not fit into 64 bits";
  const std::int64_t four[] = {4}, one[] = {1};
  layout = {sizeof layout, PL_DTYPE_BOOL, four, one, 1, 0, Borrow("cpu")};
  const PlError error(table->tensor_from_host(registry, &layout, storage, sizeof storage, &tensor));
  ASSERT_TRUE(error);
  EXPECT_EQ(error.error_class(), PL_ERROR_INVALID_ARGUMENT + 0u);
  EXPECT_THAT(std::string(error.message()), testing::HasSubstr("byte 2 of the storage is 2"));
}

TEST(BrokenAdapter, HasFaults) {
  const pl_adapter* table = Load("broken");
  const AdapterCheck check = CheckAdapter(table);
  ASSERT_THAT(check.problems, IsEmpty());
  EXPECT_TRUE(check.Has(PL_CAPABILITY(FAULTS)));
  std::vector<std::string> names;
  const pl_string_sink sink{&names, [](void* context, pl_string name) {
                              static_cast<std::vector<std::string>*>(context)->emplace_back(View(name));
                            }};
  ASSERT_EQ(Class(table->fault_list(sink)), "ok");
  ASSERT_FALSE(names.empty());
  // Name, clause and what goes wrong, tabs between.
  EXPECT_THAT(names, Each(MatchesRegex("[a-z0-9_]+\t[A-Z]+-[0-9]+\t[^\t]+")));
  EXPECT_EQ(Class(table->fault_set(Borrow(names.front().substr(0, names.front().find('\t'))))), "ok");
  EXPECT_EQ(Class(table->fault_set(Borrow(""))), "ok");
  EXPECT_EQ(Class(table->fault_set(Borrow("no_such_fault"))), "not-found");
}

}  // namespace
}  // namespace plumbline::abi
