// Processes that end: with everything registered, while what runs at the end releases, inside of a kernel.
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <utility>
#include <vector>

#include "conformance/suites/lifecycle_plugin.h"
#include "conformance/suites/lifecycle_stage.h"

namespace plumbline::suites {
namespace {

using harness::Tier;

// What the program has for the end of its process; newest first, as atexit does.
std::vector<std::function<void()>>& AtEnd() {
  static auto& all = *new std::vector<std::function<void()>>;
  return all;
}
void RunAtEnd() {
  const std::function<void()> last = std::move(AtEnd().back());
  AtEnd().pop_back();
  last();
}
void AtExit(std::function<void()> run) {
  AtEnd().push_back(std::move(run));
  std::atexit(&RunAtEnd);
}

// Of everything that a host can hold, some.
struct Handles {
  pl_registration *definition = nullptr, *kernel = nullptr;
  pl_operator* op = nullptr;

  explicit Handles(Stage& stage) {
    definition = stage.Define("life::f");
    kernel = stage.Impl("life::f", stage.NewKernel(1));
    op = stage.Find("life::f");
    stage.ExpectCall("life::f", 1, "before the end");
  }
  void Release(Stage& stage) {
    stage.Release(std::exchange(kernel, nullptr));
    stage.Release(std::exchange(definition, nullptr));
    stage.GiveBack(std::exchange(op, nullptr));
  }
};

// Kept, as a global that is never destroyed keeps it.
Handles& Leak(Stage& stage) {
  static Handles* kept = nullptr;
  kept = new Handles(stage);
  return *kept;
}

PL_CASE("lifecycle", "exit-with-all-registered", Tier::kQuick, PL_CLAUSES("CONC-024"), kLifecycle) {
  RunProgram(ctx, [](Stage& stage) { Leak(stage); });
}

PL_CASE("lifecycle", "exit-status-is-kept", Tier::kQuick, PL_CLAUSES("CONC-024"), kLifecycle) {
  RunProgram(
      ctx, [](Stage& stage) { Leak(stage); }, 7);
}

PL_CASE("lifecycle", "exit-after-all-is-given-back", Tier::kQuick, PL_CLAUSES("CONC-024"), kLifecycle) {
  RunProgram(ctx, [](Stage& stage) {
    Handles(stage).Release(stage);
    stage.Close();
  });
}

PL_CASE("lifecycle", "exit-under-a-guard", Tier::kQuick, PL_CLAUSES("CONC-024"), kLifecycle | PL_CAPABILITY(GUARDS)) {
  RunProgram(ctx, [](Stage& stage) {
    Leak(stage);
    pl_guard** const kept = new pl_guard*(stage.Exclude("CPU"));
    AtExit([&stage, kept] { stage.Expect(!stage.Call("life::f").Is(1), "an excluded key answers at the end"); });
  });
}

PL_CASE("lifecycle", "exit-releases-last", Tier::kQuick, PL_CLAUSES("CONC-024"), kLifecycle) {
  RunProgram(ctx, [](Stage& stage) {
    static Handles* handles = nullptr;
    AtExit([&stage] { handles->Release(stage); });
    handles = &Leak(stage);
  });
}

// What runs at the end came before the backend, and so runs after the backend's own statics are destroyed.
PL_CASE("lifecycle", "exit-releases-after-the-backends-statics", Tier::kQuick, PL_CLAUSES("CONC-024"), kLifecycle) {
  RunProgram(ctx, [](Stage& stage) {
    Handles& handles = Leak(stage);
    stage.AtVeryEnd([&] { handles.Release(stage); });
  });
}

PL_CASE("lifecycle", "exit-calls-last", Tier::kQuick, PL_CLAUSES("CONC-024"), kLifecycle) {
  RunProgram(ctx, [](Stage& stage) {
    AtExit([&stage] { stage.ExpectCall("life::f", 1, "at the end of the process"); });
    Leak(stage);
  });
}

PL_CASE("lifecycle", "exit-releases-first-and-closes", Tier::kQuick, PL_CLAUSES("CONC-024"), kLifecycle) {
  RunProgram(ctx, [](Stage& stage) {
    Handles& handles = Leak(stage);
    AtExit([&stage] { stage.Close(); });
    AtExit([&] { handles.Release(stage); });
  });
}

PL_CASE("lifecycle", "exit-releases-on-another-thread", Tier::kQuick, PL_CLAUSES("CONC-024"), kLifecycle) {
  RunProgram(ctx, [](Stage& stage) {
    Handles& handles = Leak(stage);
    AtExit([&] {
      std::thread([&] {
        stage.ExpectCall("life::f", 1, "on a thread at the end of the process");
        handles.Release(stage);
      }).join();
    });
  });
}

PL_CASE("lifecycle", "exit-by-thread-local-of-main", Tier::kQuick, PL_CLAUSES("CONC-024", "CONC-030"), kLifecycle) {
  RunProgram(ctx, [](Stage& stage) {
    struct Local {
      Stage* stage = nullptr;
      Handles* handles = nullptr;
      ~Local() {
        if (handles == nullptr) return;
        stage->ExpectCall("life::f", 1, "in a destructor of main's thread-locals");
        handles->Release(*stage);
      }
    };
    static thread_local Local local;
    local.stage = &stage;
    local.handles = &Leak(stage);
  });
}

// Threads that nobody joins call and register while the process ends.
PL_SAMPLED_CASE("lifecycle", "exit-beside-threads-that-call", Tier::kQuick, PL_CLAUSES("CONC-024"), kLifecycle) {
  RunProgram(ctx, [](Stage& stage) {
    Leak(stage);
    static std::atomic<int> calls{0};
    for (int i = 0; i < 2; ++i) {
      std::thread([&stage] {
        for (;;) {
          stage.Call("life::f");
          ++calls;
        }
      }).detach();
    }
    while (calls < 100) usleep(100);
  });
}

PL_SAMPLED_CASE("lifecycle", "exit-beside-threads-that-register", Tier::kQuick, PL_CLAUSES("CONC-024"), kLifecycle) {
  RunProgram(ctx, [](Stage& stage) {
    Leak(stage);
    static std::atomic<int> registered{0};
    static StageKernel& over = stage.NewKernel(2);
    for (int i = 0; i < 2; ++i) {
      std::thread([&stage] {
        for (;;) {
          stage.TryOverride("life::f", over);
          ++registered;
        }
      }).detach();
    }
    while (registered < 100) usleep(100);
  });
}

// The first thread ends before the others; the process ends with the last of them.
PL_CASE("lifecycle", "exit-after-main-ended", Tier::kQuick, PL_CLAUSES("CONC-024", "CONC-030"), kLifecycle) {
  RunProgram(ctx, [](Stage& stage) {
    static Handles& handles = Leak(stage);
    static const pthread_t first = pthread_self();
    std::thread([&stage] {
      stage.Expect(pthread_join(first, nullptr) == 0, "the first thread cannot be joined");
      stage.ExpectCall("life::f", 1, "after the first thread ended");
      handles.Release(stage);
      std::exit(0);
    }).detach();
    syscall(SYS_exit, 0);  // not pthread_exit, which unwinds the frames that called this program
  });
}

// ---- inside of a kernel ----

void CallOneThatEnds(Stage& stage, std::function<void()> end) {
  Leak(stage);
  stage.Define("life::end");
  stage.Impl("life::end", stage.NewKernel(2, std::move(end)));
  stage.Call("life::end");
  stage.Expect(false, "a call returned whose kernel ended the process");
}

PL_CASE("lifecycle", "exit-in-a-kernel", Tier::kQuick, PL_CLAUSES("CONC-025"), kLifecycle) {
  RunProgram(ctx, [](Stage& stage) { CallOneThatEnds(stage, [] { std::exit(0); }); });
}

PL_CASE("lifecycle", "exit-in-a-kernel-with-status", Tier::kQuick, PL_CLAUSES("CONC-025"), kLifecycle) {
  RunProgram(
      ctx, [](Stage& stage) { CallOneThatEnds(stage, [] { std::exit(7); }); }, 7);
}

PL_CASE("lifecycle", "exit-at-once-in-a-kernel", Tier::kQuick, PL_CLAUSES("CONC-025"), kLifecycle) {
  RunProgram(ctx, [](Stage& stage) { CallOneThatEnds(stage, [] { _exit(0); }); });
  RunProgram(ctx, [](Stage& stage) { CallOneThatEnds(stage, [] { std::quick_exit(0); }); });
}

PL_CASE("lifecycle", "exit-in-a-kernel-that-is-released", Tier::kQuick, PL_CLAUSES("CONC-025"), kLifecycle) {
  RunProgram(ctx, [](Stage& stage) {
    Handles& handles = Leak(stage);
    static pl_registration* kernel = nullptr;
    kernel = stage.Impl("life::f", stage.NewKernel(2, [&] {
      stage.Release(kernel);
      handles.Release(stage);
      std::exit(0);
    }));
    stage.Call("life::f");
  });
}

PL_CASE("lifecycle", "exit-in-a-kernel-releases-at-the-end", Tier::kQuick, PL_CLAUSES("CONC-024", "CONC-025"),
        kLifecycle) {
  RunProgram(ctx, [](Stage& stage) {
    static pl_registration* kernel = nullptr;
    AtExit([&] {
      stage.Release(kernel);
      stage.ExpectCall("life::f", 1, "at the end of the process, inside of a kernel");
    });
    Leak(stage);
    kernel = stage.Impl("life::f", stage.NewKernel(2, [] { std::exit(0); }));
    stage.Call("life::f");
  });
}

PL_CASE("lifecycle", "exit-in-a-kernel-on-another-thread", Tier::kQuick, PL_CLAUSES("CONC-025"), kLifecycle) {
  RunProgram(ctx, [](Stage& stage) {
    std::thread([&] { CallOneThatEnds(stage, [] { std::exit(0); }); }).detach();
    for (;;) usleep(1000);
  });
}

// Others are inside of kernels, one of which never returns, or register.
PL_SAMPLED_CASE("lifecycle", "exit-in-a-kernel-beside-others", Tier::kQuick, PL_CLAUSES("CONC-025"), kLifecycle) {
  RunProgram(ctx, [](Stage& stage) {
    stage.Define("life::g");
    static std::atomic<int> inside{0}, registered{0};
    static StageKernel& over = stage.NewKernel(3);
    stage.Impl("life::g", stage.NewKernel(2, [] {
      ++inside;
      for (;;) usleep(1000);
    }));
    std::thread([&stage] { stage.Call("life::g"); }).detach();
    while (inside < 1) usleep(100);  // before another kernel takes over
    std::thread([&stage] {
      for (;; ++registered) stage.TryOverride("life::g", over);
    }).detach();
    while (registered < 100) usleep(100);
    CallOneThatEnds(stage, [] { std::exit(0); });
  });
}

PL_CASE("lifecycle", "exit-in-a-listener", Tier::kQuick, PL_CLAUSES("CONC-025"),
        kLifecycle | PL_CAPABILITY(LISTENERS)) {
  RunProgram(ctx, [](Stage& stage) {
    static pl_registration* listening = nullptr;
    pl_listener listener{};
    listener.struct_size = sizeof(listener);
    listener.defined = [](void*, pl_string name) {
      if (std::string_view(name.data, name.size) == "life::f") std::exit(0);
    };
    listener.removed = [](void*, pl_string) {};
    stage.Expect(stage.adapter().listener_add(stage.registry(), &listener, &listening) == nullptr,
                 "listener_add failed");
    stage.Define("life::f");
    stage.Expect(false, "a definition returned whose listener ended the process");
  });
}

PL_CASE("lifecycle", "exit-in-a-destructor", Tier::kQuick, PL_CLAUSES("CONC-025"), kLifecycle) {
  RunProgram(ctx, [](Stage& stage) {
    Leak(stage);
    StageKernel& kernel = stage.NewKernel(2);
    kernel.at_destroy = [] { std::exit(0); };
    stage.Release(stage.Impl("life::f", kernel));
    stage.Expect(false, "a release returned that destroyed a context whose destructor ended the process");
  });
}

// ---- with plug-ins ----

PL_CASE("lifecycle", "exit-with-a-plug-in", Tier::kQuick, PL_CLAUSES("CONC-024"), kLifecycle) {
  RunProgram(ctx, [](Stage& stage) {
    void* const library = stage.Load(0);
    stage.Symbol<PluginRegister>(library, kPluginRegister)(&stage.NewPlugin("life::p", 3));
    stage.ExpectCall("life::p", 3, "a plug-in's");
  });
}

PL_CASE("lifecycle", "exit-with-a-plug-in-that-keeps-all", Tier::kQuick, PL_CLAUSES("CONC-024"), kLifecycle) {
  RunProgram(ctx, [](Stage& stage) {
    void* const library = stage.Load(0);
    PluginHost& host = stage.NewPlugin("life::p", 3);
    host.keep = true;
    stage.Symbol<PluginRegister>(library, kPluginRegister)(&host);
    stage.ExpectCall("life::p", 3, "a plug-in's");
  });
}

PL_CASE("lifecycle", "exit-in-a-plug-ins-kernel", Tier::kQuick, PL_CLAUSES("CONC-024", "CONC-025"), kLifecycle) {
  RunProgram(ctx, [](Stage& stage) {
    void* const library = stage.Load(0);
    PluginHost& host = stage.NewPlugin("life::p", 3);
    host.hold = true;
    stage.Symbol<PluginRegister>(library, kPluginRegister)(&host);
    std::thread([&stage] { stage.Call("life::p"); }).detach();
    while (host.running == 0) usleep(100);
    CallOneThatEnds(stage, [] { std::exit(0); });
  });
}

PL_CASE("lifecycle", "exit-after-a-plug-in-went", Tier::kQuick, PL_CLAUSES("CONC-024", "CONC-026"), kLifecycle) {
  RunProgram(ctx, [](Stage& stage) {
    void* const library = stage.Load(0);
    PluginHost& host = stage.NewPlugin("life::p", 3);
    stage.Symbol<PluginRegister>(library, kPluginRegister)(&host);
    stage.ExpectCall("life::p", 3, "a plug-in's");
    stage.Unload(library, 0);
    stage.Expect(host.errors == 0 && host.destroyed == 1,
                 "a plug-in was unloaded and its kernel's context not destroyed");
  });
}

}  // namespace
}  // namespace plumbline::suites
