// Plug-ins that are loaded, register, and are unloaded: at rest, beside calls, with calls in them, over and over.
#include <fmt/core.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string>

#include "conformance/suites/lifecycle_plugin.h"
#include "conformance/suites/lifecycle_stage.h"

namespace plumbline::suites {
namespace {

using harness::Tier;

// A handle that is kept from round to round, through all that can go from under it.
PL_CASE("lifecycle", "handle-outlives-its-operator", Tier::kQuick, PL_CLAUSES("CONC-026"), kLifecycle) {
  RunProgram(ctx, [](Stage& stage) {
    const bool typed = stage.Claims(PL_CAPABILITY(TYPED));
    for (int round = 0; round < stage.Rounds(2000) && !stage.Late(); ++round) {
      pl_registration* const definition = stage.Define("life::f");
      StageKernel& kernel = stage.NewKernel(round);
      pl_registration* const registration = stage.Impl("life::f", kernel);
      pl_operator* const op = stage.Find("life::f");
      const StageAnswer first = stage.Call(op, typed);
      stage.Expect(first.Is(round), "call: " + first.Words());
      stage.Release(registration);
      stage.Expect(kernel.destroyed == 1, "the kernel was released and its context not destroyed");
      const StageAnswer second = stage.Call(op, typed);
      stage.Expect(second.error_class == PL_ERROR_NO_KERNEL && second.message.find("life::f") != std::string::npos,
                   "call without a kernel: expected error no-kernel that names it, got " + second.Words());
      stage.Release(definition);
      stage.ExpectGone(op, "life::f", "after its last registration went");
      stage.Expect(stage.FindError("life::f") == PL_ERROR_NOT_FOUND, "an operator that is gone is found");
      stage.GiveBack(op);
    }
  });
}

// The same with all of it in a plug-in.
PL_CASE("lifecycle", "handle-outlives-its-plug-in", Tier::kQuick, PL_CLAUSES("CONC-026"), kLifecycle) {
  RunProgram(ctx, [](Stage& stage) {
    const bool typed = stage.Claims(PL_CAPABILITY(TYPED));
    for (int round = 0; round < stage.Rounds(500) && !stage.Late(); ++round) {
      void* const library = stage.Load(0);
      PluginHost& host = stage.NewPlugin("life::p", round);
      stage.Symbol<PluginRegister>(library, kPluginRegister)(&host);
      pl_operator* const op = stage.Find("life::p");
      const StageAnswer first = stage.Call(op, typed);
      stage.Expect(first.Is(round), "call: " + first.Words());
      if (round % 2 == 0) stage.Symbol<PluginRelease>(library, kPluginReleaseKernel)();
      if (round % 3 == 0) stage.Symbol<PluginRelease>(library, kPluginRelease)();
      stage.Unload(library, 0);
      stage.Expect(host.destroyed == 1, "a plug-in was unloaded and its kernel's context not destroyed");
      stage.Expect(host.errors == 0, "a release by a plug-in's destructor failed");
      stage.ExpectGone(op, "life::p", "after its plug-in was unloaded");
      stage.Expect(stage.FindError("life::p") == PL_ERROR_NOT_FOUND, "an operator of an unloaded plug-in is found");
      stage.GiveBack(op);
    }
  });
}

// One defines and registers, the other takes over; `first` of them goes first.
void ShareAnOperator(Stage& stage, int first) {
  for (int round = 0; round < stage.Rounds(200) && !stage.Late(); ++round) {
    void* libraries[] = {stage.Load(0), stage.Load(1)};
    PluginHost* hosts[] = {&stage.NewPlugin("life::p", 1), &stage.NewPlugin("life::p", 2)};
    hosts[1]->define = false;
    for (int i = 0; i < 2; ++i) stage.Symbol<PluginRegister>(libraries[i], kPluginRegister)(hosts[i]);
    stage.ExpectCall("life::p", 2, "which the second plug-in took over");
    stage.Unload(libraries[first], first);
    const StageAnswer answer = stage.Call("life::p");
    const bool right = first == 1 ? answer.Is(1) : answer.error_class == PL_ERROR_NOT_FOUND;
    stage.Expect(right, fmt::format("call after the plug-in of its {} was unloaded: expected {}, got {}",
                                    first == 1 ? "newest kernel" : "definition",
                                    first == 1 ? "kernel 1" : "error not-found", answer.Words()));
    stage.Unload(libraries[1 - first], 1 - first);
    stage.Expect(stage.FindError("life::p") == PL_ERROR_NOT_FOUND, "an operator of two unloaded plug-ins is found");
    for (const PluginHost* host : hosts) {
      stage.Expect(host->destroyed == 1 && host->errors == 0, "two plug-ins were unloaded and not all of theirs went");
    }
  }
}

PL_CASE("lifecycle", "plug-ins-go-newest-first", Tier::kQuick, PL_CLAUSES("CONC-026"), kLifecycle) {
  RunProgram(ctx, [](Stage& stage) { ShareAnOperator(stage, 1); });
}

PL_CASE("lifecycle", "plug-ins-go-oldest-first", Tier::kQuick, PL_CLAUSES("CONC-026"), kLifecycle) {
  RunProgram(ctx, [](Stage& stage) { ShareAnOperator(stage, 0); });
}

// What a plug-in took over from answers again.
PL_CASE("lifecycle", "plug-in-overrides", Tier::kQuick, PL_CLAUSES("CONC-026"), kLifecycle) {
  RunProgram(ctx, [](Stage& stage) {
    stage.Define("life::f");
    stage.Impl("life::f", stage.NewKernel(1));
    for (int round = 0; round < stage.Rounds(500) && !stage.Late(); ++round) {
      void* const library = stage.Load(round % 2);
      PluginHost& host = stage.NewPlugin("life::f", 2);
      host.define = false;
      stage.Symbol<PluginRegister>(library, kPluginRegister)(&host);
      stage.ExpectCall("life::f", 2, "which a plug-in took over");
      stage.Unload(library, round % 2);
      stage.ExpectCall("life::f", 1, "after the plug-in was unloaded");
    }
  });
}

PL_CASE("lifecycle", "plug-in-goes-in-a-child", Tier::kQuick, PL_CLAUSES("CONC-022", "CONC-026"), kLifecycle) {
  RunProgram(ctx, [](Stage& stage) {
    void* const library = stage.Load(0);
    PluginHost& host = stage.NewPlugin("life::p", 3);
    stage.Symbol<PluginRegister>(library, kPluginRegister)(&host);
    stage.Wait(stage.Fork([&] {
      stage.Unload(library, 0);
      stage.Expect(stage.FindError("life::p") == PL_ERROR_NOT_FOUND,
                   "an operator is found in a child that unloaded its plug-in");
    }),
               "a child that unloads a plug-in");
    stage.ExpectCall("life::p", 3, "after a child unloaded its plug-in");
  });
}

// ---- beside calls ----

PL_SAMPLED_CASE("lifecycle", "plug-in-goes-beside-calls", Tier::kQuick, PL_CLAUSES("CONC-027"),
                kLifecycle | PL_CAPABILITY(DRAIN)) {
  RunProgram(ctx, [](Stage& stage) {
    stage.Define("life::f");
    stage.Impl("life::f", stage.NewKernel(1));
    std::atomic<bool> stop{false};
    Threads callers;
    for (int i = 0; i < 3; ++i) {
      callers.Start([&] {
        while (!stop) {
          const StageAnswer answer = stage.Call("life::f");
          stage.Expect(answer.Is(1) || answer.Is(2), "call beside a plug-in that comes and goes: " + answer.Words());
        }
      });
    }
    for (int round = 0; round < stage.Rounds(2000) && !stage.Late(); ++round) {
      void* const library = stage.Load(0);
      PluginHost& host = stage.NewPlugin("life::f", 2);
      host.define = false;
      stage.Symbol<PluginRegister>(library, kPluginRegister)(&host);
      stage.Symbol<PluginRelease>(library, kPluginRelease)();
      stage.Drain();
      stage.Expect(host.destroyed == 1 && host.running == 0, "drain returned and a released kernel is still in use");
      stage.Unload(library, 0);
    }
    stop = true;
    callers.Join();
  });
}

// Two kernels of two plug-ins are held, and let go one after the other.
PL_SAMPLED_CASE("lifecycle", "plug-in-goes-with-calls-in-it", Tier::kQuick, PL_CLAUSES("CONC-027"),
                kLifecycle | PL_CAPABILITY(DRAIN)) {
  RunProgram(ctx, [](Stage& stage) {
    PluginHost* hosts[2];
    void* libraries[2];
    Threads callers;
    for (int i = 0; i < 2; ++i) {
      libraries[i] = stage.Load(i);
      hosts[i] = &stage.NewPlugin(i == 0 ? "life::p" : "life::q", i + 1);
      hosts[i]->hold = true;
      stage.Symbol<PluginRegister>(libraries[i], kPluginRegister)(hosts[i]);
      callers.Start([&stage, host = hosts[i]] {
        const StageAnswer answer = stage.Call(host->operator_name);
        stage.Expect(answer.Is(host->value),
                     "a call that ran a kernel which was released meanwhile: " + answer.Words());
      });
      while (hosts[i]->running == 0) usleep(100);
    }
    for (void* library : libraries) stage.Symbol<PluginRelease>(library, kPluginRelease)();
    stage.Expect(hosts[0]->destroyed == 0 && hosts[1]->destroyed == 0, "a context was destroyed while its kernel runs");
    std::thread lets_go([&] {
      for (PluginHost* host : hosts) {
        usleep(20'000);
        host->hold = false;
      }
    });
    stage.Drain();
    for (int i = 0; i < 2; ++i) {
      // [CONC-027]
      stage.Expect(hosts[i]->running == 0 && hosts[i]->destroyed == 1,
                   fmt::format("drain returned while a call runs a released kernel of {}", hosts[i]->operator_name));
      stage.Unload(libraries[i], i);
    }
    lets_go.join();
    callers.Join();
  });
}

// ---- initialisers ----

// Loads a plug-in whose initialiser registers; its destructor releases.
void* LoadThatRegisters(Stage& stage, int which, PluginHost& host) {
  setenv(kPluginHostVariable, fmt::format("{:x}", reinterpret_cast<std::uintptr_t>(&host)).c_str(), 1);
  void* const library = stage.Load(which);
  unsetenv(kPluginHostVariable);
  return library;
}

PL_CASE("lifecycle", "initialiser-registers", Tier::kQuick, PL_CLAUSES("CONC-026", "CONC-031"), kLifecycle) {
  RunProgram(ctx, [](Stage& stage) {
    for (int round = 0; round < stage.Rounds(200) && !stage.Late(); ++round) {
      PluginHost& host = stage.NewPlugin("life::p", round);
      void* const library = LoadThatRegisters(stage, 0, host);
      stage.ExpectCall("life::p", round, "which an initialiser registered");
      stage.Unload(library, 0);
      stage.Expect(host.errors == 0 && host.destroyed == 1,
                   "a plug-in was unloaded and its kernel's context not destroyed");
      stage.Expect(stage.FindError("life::p") == PL_ERROR_NOT_FOUND, "an operator of an unloaded plug-in is found");
    }
  });
}

// Beside threads that use the registry for the first time, register, and are refused.
PL_SAMPLED_CASE("lifecycle", "initialiser-registers-beside-others", Tier::kQuick, PL_CLAUSES("CONC-031"), kLifecycle) {
  RunProgram(ctx, [](Stage& stage) {
    for (int child = 0; child < stage.Rounds(50) && !stage.Late(); ++child) {
      stage.Wait(stage.Fork([&] {
        std::atomic<int> ready{0};
        std::atomic<bool> stop{false};
        Threads others;
        for (int i = 0; i < 2; ++i) {
          others.Start([&, i] {
            const std::string name = fmt::format("life::of{}", i);
            ++ready;
            do {
              pl_registration* const defined = stage.Define(name);
              stage.Expect(stage.DefineError(name) == PL_ERROR_DUPLICATE, "a second definition is not refused");
              stage.Release(stage.Impl(name, stage.NewKernel(1)));
              stage.Release(defined);
            } while (!stop);
          });
        }
        while (ready < 2) usleep(10);
        for (int round = 0; round < 20; ++round) {
          PluginHost& host = stage.NewPlugin("life::p", round);
          void* const library = LoadThatRegisters(stage, 0, host);
          stage.ExpectCall("life::p", round, "which an initialiser registered");
          stage.Unload(library, 0);
          stage.Expect(host.errors == 0, "a register or release of an initialiser failed");
        }
        stop = true;
      }),
                 "a process that loads a plug-in beside threads that register");
    }
  });
}

}  // namespace
}  // namespace plumbline::suites
