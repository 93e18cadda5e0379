// Registries, handles, plug-ins and processes that end in every order. Each order is a process of its own, and what
// counts is that it leaves with status 0, after all that runs at its end has run.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "reference/dispatch/operator.h"
#include "reference/keys/thread_state.h"

namespace plumbline::reference {
namespace {

std::int64_t Answer(const Tensor&) { return 1; }

using Typed = TypedOperator<std::int64_t(const Tensor&)>;

Registry& Default() { return Registry::Default(); }
Tensor Cpu() { return Tensor::Make(Default().keys().SetOfNames({"CPU"})); }

void Check(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", what);
  _exit(9);
}

void CheckGone(const Operator& op) {
  try {
    op.typed<std::int64_t(const Tensor&)>().call(Cpu());
  } catch (const DispatchError& error) {
    const bool named = std::string(error.what()).find(op.name()) != std::string::npos;
    return Check(error.error_class() == ErrorClass::kInvalidHandle && named, error.what());
  }
  Check(false, "an operator that is gone was called");
}

// All that can be held of a registry.
struct Everything {
  std::optional<Registration> definition, kernel, fallback, listener;
  std::optional<Library> library;
  std::optional<Operator> op;
  std::optional<Typed> typed;

  explicit Everything(Registry& registry) {
    definition = registry.Define("demo::f(Tensor a) -> int");
    kernel = registry.Impl("demo::f", "CPU", Kernel::FromFunction<&Answer>());
    fallback = registry.Fallback("Metal", Kernel::Fallthrough());
    listener = registry.Listen({[](std::string_view) {}, [](std::string_view) {}});
    library.emplace(registry, LibraryKind::kDef, "lib");
    library->Def("g(Tensor a) -> int", Kernel::FromFunction<&Answer>());
    op = Operator::Find(registry, "demo::f");
    typed = op->typed<std::int64_t(const Tensor&)>();
    Check(typed->call(Cpu()) == 1, "a kernel does not answer");
  }
};

class TeardownTest : public testing::Test {
 protected:
  TeardownTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

std::string PluginPath(const char* name) {
  const char* const build = std::getenv("PLUMBLINE_BUILD");
  return std::string(build == nullptr ? "." : build) + "/lib/plumbline/selftest/teardown_" + name + ".so";
}
void* Load(const char* name) {
  void* const library = dlopen(PluginPath(name).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) Check(false, dlerror());
  return library;
}
void Unload(void* library, const char* name) {
  dlclose(library);
  Check(dlopen(PluginPath(name).c_str(), RTLD_NOW | RTLD_NOLOAD) == nullptr, "a plug-in is still there after dlclose");
}
std::int64_t CallPlugins(const char* name) {
  return Operator::Find(Default(), name).typed<std::int64_t(const Tensor&)>().call(Cpu());
}

#define EXPECT_GOOD_END(...) \
  EXPECT_EXIT(               \
      {                      \
        __VA_ARGS__;         \
        std::exit(0);        \
      },                     \
      testing::ExitedWithCode(0), "")

// ---- a registry of one's own ----

TEST_F(TeardownTest, RegistryBeforeItsHandles) {
  EXPECT_GOOD_END({
    auto registry = std::make_unique<Registry>(KeyTable::ForRelease("pytorch-1.13"));
    Everything all(*registry);
    registry.reset();
    CheckGone(*all.op);
    Check(!all.definition->in_force() && !all.kernel->in_force(), "a registration outlives its registry");
    all.kernel->Release();
    all.library->Close();
  });
}

TEST_F(TeardownTest, HandlesBeforeTheirRegistry) {
  EXPECT_GOOD_END({
    auto registry = std::make_unique<Registry>(KeyTable::ForRelease("pytorch-1.13"));
    { Everything all(*registry); }
    Check(registry->Operators().empty(), "an operator outlives its registrations");
    registry.reset();
  });
}

TEST_F(TeardownTest, OneByOneAcrossTheEndOfTheRegistry) {
  for (int before = 0; before < 128; ++before) {
    auto registry = std::make_unique<Registry>(KeyTable::ForRelease("pytorch-1.13"));
    Everything all(*registry);
    const auto drop = [&](bool now) {
      const auto when = [&](int bit, auto& held) {
        if (((before >> bit & 1) != 0) == now) held.reset();
      };
      when(0, all.definition), when(1, all.kernel), when(2, all.fallback), when(3, all.listener);
      when(4, all.library), when(5, all.op), when(6, all.typed);
    };
    drop(true);
    registry.reset();
    drop(false);
  }
}

TEST_F(TeardownTest, StaticRegistryBeforeItsStaticHandles) {
  EXPECT_GOOD_END({
    static std::optional<Everything> all;  // destroyed after the registry, which is made later
    static Registry registry(KeyTable::ForRelease("pytorch-1.13"));
    all.emplace(registry);
  });
}

TEST_F(TeardownTest, StaticHandlesBeforeTheirStaticRegistry) {
  EXPECT_GOOD_END({
    static Registry registry(KeyTable::ForRelease("pytorch-1.13"));
    static Everything all(registry);
  });
}

TEST_F(TeardownTest, RegistryGoesInADestructorThatItRuns) {
  EXPECT_GOOD_END({
    struct Last {
      std::shared_ptr<Registry> registry;
      std::int64_t operator()(const Tensor&) const { return 1; }
    };
    auto registry = std::make_shared<Registry>(KeyTable::ForRelease("pytorch-1.13"));
    Registration kernel = registry->Impl("demo::f", "CPU", Kernel::From(Last{registry}));
    registry.reset();
    kernel.Release();  // the kernel's callable is the last to hold the registry
  });
}

// ---- the registry of the process ----

TEST_F(TeardownTest, AllLeftInTheDefaultRegistry) {
  EXPECT_GOOD_END({
    static Everything* const leaked = new Everything(Default());
    Check(leaked != nullptr, "");
  });
}

TEST_F(TeardownTest, StaticsReleaseInTheDefaultRegistry) {
  EXPECT_GOOD_END({ static Everything all(Default()); });
}

TEST_F(TeardownTest, ReleasedOnAThreadAtTheEnd) {
  EXPECT_GOOD_END({
    static Everything* const all = new Everything(Default());
    std::atexit([] { std::thread([] { delete all; }).join(); });
  });
}

TEST_F(TeardownTest, ReleasedByAThreadLocalOfMain) {
  EXPECT_GOOD_END({
    static thread_local std::unique_ptr<Everything> all;
    all = std::make_unique<Everything>(Default());
  });
}

TEST_F(TeardownTest, GuardIsLeftAtTheEnd) {
  EXPECT_GOOD_END({
    static Everything all(Default());
    static const ExcludeGuard guard(Default().keys(), Default().keys().SetOfNames({"CPU"}));
  });
}

TEST_F(TeardownTest, ExitInAKernel) {
  EXPECT_EXIT(
      {
        static Everything all(Default());
        static const Registration over =
            Default().Impl("demo::f", "CPU", Kernel::From([](const Tensor&) -> std::int64_t { std::exit(0); }));
        all.typed->call(Cpu());
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(TeardownTest, ExitInAKernelOnAnotherThreadBesideCallers) {
  EXPECT_EXIT(
      {
        static Everything all(Default());
        static const Registration end =
            Default().Impl("demo::f", "CUDA", Kernel::From([](const Tensor&) -> std::int64_t { std::exit(0); }));
        static Everything* const own = &all;
        static const Typed& typed = *new Typed(*own->typed);  // not one of the statics that go
        for (int i = 0; i < 2; ++i) {
          std::thread([] {
            try {
              for (;;) typed.call(Cpu());
            } catch (const DispatchError&) {  // its registrations went with the statics
              for (;;) usleep(1000);
            }
          }).detach();
        }
        std::thread([] { typed.call(Tensor::Make(Default().keys().SetOfNames({"CUDA"}))); }).join();
      },
      testing::ExitedWithCode(0), "");
}

// ---- plug-ins ----

TEST_F(TeardownTest, PluginIsThereAtTheEnd) {
  EXPECT_GOOD_END({
    static const Registration f = Default().Define("plugin::f(Tensor a) -> int");
    Load("a");
    Check(CallPlugins("plugin::f") == 2 && CallPlugins("plugin_a::own") == 2, "a plug-in's kernel does not answer");
  });
}

TEST_F(TeardownTest, PluginGoesAndComesBack) {
  EXPECT_GOOD_END({
    const Registration f = Default().Define("plugin::f(Tensor a) -> int");
    std::optional<Operator> kept;
    for (int round = 0; round < 50; ++round) {
      void* const library = Load("a");
      if (kept) CheckGone(*kept);
      kept = Operator::Find(Default(), "plugin_a::own");
      Check(CallPlugins("plugin::f") == 2 && CallPlugins("plugin_a::own") == 2, "a plug-in's kernel does not answer");
      Unload(library, "a");
      CheckGone(*kept);
      Check(!Default().Find("plugin_a::own"), "an operator of an unloaded plug-in is found");
    }
  });
}

// The plug-in's own copy of a signature is unloaded with it.
TEST_F(TeardownTest, PluginCalledByASignature) {
  EXPECT_GOOD_END({
    const Registration f = Default().Define("plugin::f(Tensor a) -> int");
    for (int round = 0; round < 3; ++round) {
      void* const library = Load("a");
      auto* const call = reinterpret_cast<std::int64_t (*)(KeySet)>(dlsym(library, "plumbline_plugin_call"));
      Check(call(Default().keys().SetOfNames({"CPU"})) == 2, "a plug-in's kernel does not answer a call from it");
      Unload(library, "a");
      const Registration own = Default().Impl("plugin::f", "CPU", Kernel::FromFunction<&Answer>());
      Check(CallPlugins("plugin::f") == 1, "the host's kernel does not answer after a plug-in went");
    }
  });
}

TEST_F(TeardownTest, TwoPluginsGoInEitherOrder) {
  for (const bool first_goes_first : {true, false}) {
    EXPECT_GOOD_END({
      const Registration f = Default().Define("plugin::f(Tensor a) -> int");
      void* const a = Load("a");
      void* const b = Load("b");
      Check(CallPlugins("plugin::f") == 3, "the newest plug-in's kernel does not answer");
      Unload(first_goes_first ? a : b, first_goes_first ? "a" : "b");
      Check(CallPlugins("plugin::f") == (first_goes_first ? 3 : 2), "the other plug-in's kernel does not answer");
      Unload(first_goes_first ? b : a, first_goes_first ? "b" : "a");
      Check(Default().OperatorsAt(Default().keys().Get("CPU")).empty(), "a kernel of an unloaded plug-in is left");
    });
  }
}

TEST_F(TeardownTest, PluginsGlobalsAreLeaked) {
  EXPECT_GOOD_END({
    static const Registration f = Default().Define("plugin::f(Tensor a) -> int");
    void* const library = Load("a");
    reinterpret_cast<void (*)()>(dlsym(library, "plumbline_plugin_leak"))();
    Check(CallPlugins("plugin_a::own") == 2, "a plug-in's kernel does not answer");
  });
}

TEST_F(TeardownTest, PluginGoesOnAThreadAtTheEnd) {
  EXPECT_GOOD_END({
    static const Registration f = Default().Define("plugin::f(Tensor a) -> int");
    static void* const library = Load("a");
    Check(CallPlugins("plugin::f") == 2, "a plug-in's kernel does not answer");
    std::atexit([] { std::thread([] { Unload(library, "a"); }).join(); });
  });
}

// ---- threads ----

TEST_F(TeardownTest, ThreadLocalsCallAfterTheThreadsStateIsGone) {
  const Registration f = Default().Define("demo::late(Tensor a) -> int");
  const Registration k = Default().Impl("demo::late", "CPU", Kernel::FromFunction<&Answer>());
  for (int round = 0; round < 100; ++round) {
    std::thread([] {
      struct Last {
        bool armed = false;
        ~Last() {
          if (armed) Check(CallPlugins("demo::late") == 1, "a kernel does not answer in a last destructor");
        }
      };
      static thread_local Last last;
      last.armed = true;
      EXPECT_EQ(CallPlugins("demo::late"), 1);
    }).join();
    int states = 0;
    static int* counted = nullptr;
    counted = &states;
    VisitThreads([](ThreadState&) { ++*counted; });
    ASSERT_LE(states, 2) << "threads that have ended are still known";
  }
}

}  // namespace
}  // namespace plumbline::reference
