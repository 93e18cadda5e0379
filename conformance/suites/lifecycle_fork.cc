// Processes that fork: the child goes on with the registry as it was, whatever other threads were doing.
#include <fmt/core.h>
#include <stdlib.h>
#include <unistd.h>

#include <atomic>
#include <string>

#include "conformance/suites/lifecycle_stage.h"

namespace plumbline::suites {
namespace {

using harness::Tier;

// What a child does that is to be sure of its registry: calls what it inherited, registers, calls, overrides, releases.
void UseAll(Stage& stage, const std::string& inherited, std::int64_t value) {
  stage.ExpectCall(inherited, value, "in the child");
  StageKernel& own = stage.NewKernel(value + 1);
  pl_registration* const over = stage.Impl(inherited, own);
  stage.ExpectCall(inherited, value + 1, "in the child, overridden there");
  stage.Release(over);
  stage.ExpectCall(inherited, value, "in the child, after its own kernel went");
  stage.Expect(own.destroyed == 1, "the child's own kernel was released and its context not destroyed");
  pl_registration* const defined = stage.Define("life::childs_own");
  pl_registration* const kernel = stage.Impl("life::childs_own", stage.NewKernel(7));
  stage.ExpectCall("life::childs_own", 7, "in the child, which defined it");
  stage.Release(kernel);
  stage.Release(defined);
  stage.Expect(stage.FindError("life::childs_own") == PL_ERROR_NOT_FOUND,
               "an operator that the child released is found");
  if (stage.Claims(PL_CAPABILITY(DRAIN))) stage.Drain();
}

PL_CASE("lifecycle", "fork-at-rest", Tier::kQuick, PL_CLAUSES("CONC-022"), kLifecycle) {
  RunProgram(ctx, [](Stage& stage) {
    stage.Define("life::f");
    stage.Impl("life::f", stage.NewKernel(1));
    stage.ExpectCall("life::f", 1, "before the fork");
    stage.Wait(stage.Fork([&] { UseAll(stage, "life::f", 1); }), "a child");
    UseAll(stage, "life::f", 1);
    // A child's child, and one that goes without running what the end of a process runs.
    stage.Wait(stage.Fork([&] { stage.Wait(stage.Fork([&] { UseAll(stage, "life::f", 1); }), "a child's child"); }),
               "a child that forks");
    stage.Wait(stage.Fork([&] {
      UseAll(stage, "life::f", 1);
      _exit(0);
    }),
               "a child that leaves at once");
  });
}

// The child begins with nothing of the registry used.
PL_CASE("lifecycle", "fork-before-use", Tier::kQuick, PL_CLAUSES("CONC-022"), kLifecycle) {
  RunProgram(ctx, [](Stage& stage) {
    stage.Wait(stage.Fork([&] {
      stage.Define("life::f");
      stage.Impl("life::f", stage.NewKernel(1));
      UseAll(stage, "life::f", 1);
    }),
               "a child");
    stage.Expect(stage.FindError("life::f") == PL_ERROR_NOT_FOUND, "what a child defined is found in its parent");
  });
}

PL_CASE("lifecycle", "fork-in-a-kernel", Tier::kQuick, PL_CLAUSES("CONC-022", "CONC-025"), kLifecycle) {
  RunProgram(ctx, [](Stage& stage) {
    stage.Define("life::g");
    stage.Impl("life::g", stage.NewKernel(5));
    stage.Define("life::f");
    pid_t leaves_inside = -1, returns = -1;
    StageKernel& kernel = stage.NewKernel(1, [&] {
      if (returns >= 0) return;
      leaves_inside = stage.Fork([&] {
        returns = 1;
        stage.ExpectCall("life::g", 5, "in a child that was forked in a kernel");
        stage.Release(stage.Impl("life::g", stage.NewKernel(6)));
      });
      returns = stage.Fork();
    });
    stage.Impl("life::f", kernel);
    const StageAnswer answer = stage.Call("life::f");
    stage.Expect(answer.Is(1), "call of a kernel that forked: " + answer.Words());
    if (returns == 0) {
      returns = 1;
      UseAll(stage, "life::g", 5);
      stage.ExpectCall("life::f", 1, "in a child that returned from the kernel");
      return;
    }
    stage.Wait(leaves_inside, "a child that left inside of the kernel");
    stage.Wait(returns, "a child that returned from the kernel");
  });
}

PL_CASE("lifecycle", "fork-on-another-thread", Tier::kQuick, PL_CLAUSES("CONC-022"), kLifecycle) {
  RunProgram(ctx, [](Stage& stage) {
    stage.Define("life::f");
    stage.Impl("life::f", stage.NewKernel(1));
    stage.ExpectCall("life::f", 1, "before the fork");
    std::thread([&] {
      stage.Wait(stage.Fork([&] { UseAll(stage, "life::f", 1); }), "a child of a thread that never called");
      stage.ExpectCall("life::f", 1, "on the other thread");
      stage.Wait(stage.Fork([&] { UseAll(stage, "life::f", 1); }), "a child of a thread that called");
    }).join();
    UseAll(stage, "life::f", 1);
  });
}

PL_CASE("lifecycle", "fork-under-a-guard", Tier::kQuick, PL_CLAUSES("CONC-022"), kLifecycle | PL_CAPABILITY(GUARDS)) {
  RunProgram(ctx, [](Stage& stage) {
    stage.Define("life::f");
    stage.Impl("life::f", stage.NewKernel(1));
    pl_guard* const guard = stage.Exclude("CPU");
    stage.Expect(!stage.Call("life::f").Is(1), "an excluded key answers");
    stage.Wait(stage.Fork([&] {
      stage.Expect(!stage.Call("life::f").Is(1), "a key that is excluded on the thread that forked answers");
      stage.adapter().guard_leave(guard);
      UseAll(stage, "life::f", 1);
    }),
               "a child");
    stage.Expect(!stage.Call("life::f").Is(1), "a guard that a child left is left in its parent");
    stage.adapter().guard_leave(guard);
    UseAll(stage, "life::f", 1);
  });
}

// Forks while others do `work`, over and over.
void ForkMeanwhile(Stage& stage, int threads, const std::function<void(int thread)>& work) {
  stage.Define("life::f");
  stage.Impl("life::f", stage.NewKernel(1));
  std::atomic<bool> stop{false};
  Threads others;
  for (int i = 0; i < threads; ++i) {
    others.Start([&, i] {
      while (!stop.load(std::memory_order_relaxed)) work(i);
    });
  }
  for (int round = 0; round < stage.Rounds(200) && !stage.Late(); ++round) {
    stage.Wait(stage.Fork([&] { UseAll(stage, "life::f", 1); }), "a child");
  }
  stop = true;
  others.Join();
  UseAll(stage, "life::f", 1);
}

PL_SAMPLED_CASE("lifecycle", "fork-while-others-register", Tier::kQuick, PL_CLAUSES("CONC-023"), kLifecycle) {
  RunProgram(ctx, [](Stage& stage) {
    ForkMeanwhile(stage, 2, [&](int thread) {
      const std::string name = fmt::format("life::of{}", thread);
      pl_registration* const defined = stage.Define(name);
      pl_registration* const kernel = stage.Impl(name, stage.NewKernel(2));
      stage.Release(defined);
      stage.Release(kernel);
    });
  });
}

PL_SAMPLED_CASE("lifecycle", "fork-while-others-call", Tier::kQuick, PL_CLAUSES("CONC-023"), kLifecycle) {
  RunProgram(ctx, [](Stage& stage) { ForkMeanwhile(stage, 2, [&](int) { stage.Call("life::f"); }); });
}

PL_SAMPLED_CASE("lifecycle", "fork-while-others-list", Tier::kQuick, PL_CLAUSES("CONC-023"),
                kLifecycle | PL_CAPABILITY(INTROSPECTION)) {
  RunProgram(ctx, [](Stage& stage) { ForkMeanwhile(stage, 2, [&](int) { stage.Operators(); }); });
}

// The others use the registry for the first time.
PL_SAMPLED_CASE("lifecycle", "fork-at-first-use", Tier::kQuick, PL_CLAUSES("CONC-023"), kLifecycle) {
  RunProgram(ctx, [](Stage& stage) {
    for (int round = 0; round < stage.Rounds(200) && !stage.Late(); ++round) {
      const auto begins = [&] {
        std::atomic<int> begun{0};
        Threads others;
        for (int i = 0; i < 2; ++i) {
          others.Start([&, i] {
            ++begun;
            const std::string name = fmt::format("life::of{}", i);
            stage.Define(name);
            stage.Impl(name, stage.NewKernel(2));
            stage.ExpectCall(name, 2, "on a thread that uses the registry for the first time");
          });
        }
        while (begun < 2) {
        }
        usleep(static_cast<useconds_t>(round % 20 * 5));
        stage.Wait(stage.Fork([&] {
          stage.Define("life::f");
          stage.Impl("life::f", stage.NewKernel(1));
          UseAll(stage, "life::f", 1);
        }),
                   "a child that was forked while others used the registry for the first time");
      };
      stage.Wait(stage.Fork(begins), "a process");
    }
  });
}

// A kernel that was released runs on a thread that the child does not have.
PL_SAMPLED_CASE("lifecycle", "fork-then-drain", Tier::kQuick, PL_CLAUSES("CONC-023"),
                kLifecycle | PL_CAPABILITY(DRAIN)) {
  RunProgram(ctx, [](Stage& stage) {
    stage.Define("life::f");
    stage.Impl("life::f", stage.NewKernel(1));
    stage.Define("life::g");
    std::atomic<bool> inside{false}, go_on{false};
    StageKernel& held = stage.NewKernel(2, [&] {
      inside = true;
      while (!go_on) usleep(200);
    });
    pl_registration* const kernel = stage.Impl("life::g", held);
    std::thread other([&] { stage.Call("life::g"); });
    while (!inside) usleep(200);
    stage.Release(kernel);
    stage.Wait(stage.Fork([&] { UseAll(stage, "life::f", 1); }), "a child that drains");
    go_on = true;
    other.join();
    stage.Drain();
    stage.Expect(held.destroyed == 1, "drain returned and a released kernel's context is not destroyed");
  });
}

}  // namespace
}  // namespace plumbline::suites
