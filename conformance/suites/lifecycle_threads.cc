// Threads that come and go: what they leave behind, what their last destructors do, what they see of a registration.
#include <fmt/core.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "conformance/suites/lifecycle_plugin.h"
#include "conformance/suites/lifecycle_stage.h"

namespace plumbline::suites {
namespace {

using harness::Tier;

// ---- guards ----

pl_guard* LeaveOpen(Stage& stage) {
  static std::mutex& mutex = *new std::mutex;
  static auto& left = *new std::vector<pl_guard*>;
  pl_guard* const guard = stage.Exclude("CPU");
  const std::lock_guard lock(mutex);
  left.push_back(guard);
  return guard;
}

PL_CASE("lifecycle", "thread-ends-with-a-guard", Tier::kQuick, PL_CLAUSES("CONC-029"),
        kLifecycle | PL_CAPABILITY(GUARDS)) {
  RunProgram(ctx, [](Stage& stage) {
    stage.Define("life::f");
    stage.Impl("life::f", stage.NewKernel(1));
    for (int round = 0; round < stage.Rounds(500) && !stage.Late(); ++round) {
      std::thread([&] {
        stage.ExpectCall("life::f", 1, "on a thread after one that ended with a guard");
        LeaveOpen(stage);
        stage.Expect(!stage.Call("life::f").Is(1), "an excluded key answers");
      }).join();
      stage.ExpectCall("life::f", 1, "on main after a thread ended with a guard");
    }
  });
}

PL_SAMPLED_CASE("lifecycle", "threads-end-with-guards-beside-registers", Tier::kQuick,
                PL_CLAUSES("CONC-029", "CONC-030"), kLifecycle | PL_CAPABILITY(GUARDS)) {
  RunProgram(ctx, [](Stage& stage) {
    stage.Define("life::f");
    stage.Impl("life::f", stage.NewKernel(1));
    stage.Define("life::g");
    std::atomic<bool> stop{false};
    std::thread registers([&] {
      while (!stop) stage.Release(stage.Impl("life::g", stage.NewKernel(2)));
    });
    for (int round = 0; round < stage.Rounds(500) && !stage.Late(); ++round) {
      Threads threads;
      for (int i = 0; i < 3; ++i) {
        threads.Start([&] {
          stage.ExpectCall("life::f", 1, "on a new thread");
          LeaveOpen(stage);
        });
      }
    }
    stop = true;
    registers.join();
  });
}

// ---- last destructors ----

// Calls, overrides and releases, as the destructor of something that a thread holds.
void LastWords(Stage& stage, std::int64_t value) {
  const std::string name = fmt::format("life::of{}", value);
  pl_registration* const defined = stage.Define(name);
  pl_registration* const kernel = stage.Impl(name, stage.NewKernel(value));
  stage.ExpectCall(name, value, "in a thread's last destructors");
  stage.Release(kernel);
  stage.Release(defined);
}

// A thread-local that is made before the thread's first use of the registry is destroyed after what the backend made
// for the thread then.
struct Last {
  std::function<void()> run{};
  ~Last() {
    if (run) run();
  }
};
thread_local Last last_local;

void AtEndOfThread(std::function<void()> run) { last_local.run = std::move(run); }

// The value of a key is destroyed after all thread-locals, and again if it is set anew.
struct OfKey {
  std::function<bool()> run;  // false: no more
};
pthread_key_t LastKey() {
  static const pthread_key_t key = [] {
    pthread_key_t made;
    pthread_key_create(&made, [](void* value) {
      OfKey* const own = static_cast<OfKey*>(value);
      if (own->run()) {
        pthread_setspecific(LastKey(), own);
      } else {
        delete own;
      }
    });
    return made;
  }();
  return key;
}

PL_CASE("lifecycle", "thread-locals-call-last", Tier::kQuick, PL_CLAUSES("CONC-030"), kLifecycle) {
  RunProgram(ctx, [](Stage& stage) {
    stage.Define("life::f");
    stage.Impl("life::f", stage.NewKernel(1));
    for (int round = 0; round < stage.Rounds(500) && !stage.Late(); ++round) {
      std::thread([&] {
        AtEndOfThread([&] { LastWords(stage, 1); });
        stage.ExpectCall("life::f", 1, "on a thread");
      }).join();
      stage.Release(stage.Impl("life::f", stage.NewKernel(2)));
    }
  });
}

PL_CASE("lifecycle", "values-of-keys-call-last", Tier::kQuick, PL_CLAUSES("CONC-030"), kLifecycle) {
  RunProgram(ctx, [](Stage& stage) {
    stage.Define("life::f");
    stage.Impl("life::f", stage.NewKernel(1));
    for (const bool key_first : {true, false}) {
      for (int round = 0; round < stage.Rounds(300) && !stage.Late(); ++round) {
        std::thread([&] {
          if (key_first) LastKey();
          stage.ExpectCall("life::f", 1, "on a thread");
          pthread_setspecific(LastKey(), new OfKey{[&, more = 2]() mutable {
                                LastWords(stage, 1);
                                return --more > 0;
                              }});
        }).join();
        stage.Release(stage.Impl("life::f", stage.NewKernel(2)));
      }
    }
  });
}

// While others register: a call in a last destructor is one that a release has to wait for or leave its kernel to.
PL_SAMPLED_CASE("lifecycle", "thread-locals-call-last-beside-releases", Tier::kQuick,
                PL_CLAUSES("CONC-005", "CONC-030"), kLifecycle) {
  RunProgram(ctx, [](Stage& stage) {
    stage.Define("life::f");
    stage.Impl("life::f", stage.NewKernel(1));
    std::atomic<bool> stop{false};
    Threads comers;
    for (int i = 0; i < 2; ++i) {
      comers.Start([&] {
        while (!stop) {
          std::thread([&] {
            AtEndOfThread([&] {
              for (int call = 0; call < 20; ++call) {
                const StageAnswer answer = stage.Call("life::f");
                stage.Expect(answer.Is(1) || answer.Is(2), "call in a thread's last destructors: " + answer.Words());
              }
            });
            stage.Call("life::f");
          }).join();
        }
      });
    }
    for (int round = 0; round < stage.Rounds(5000) && !stage.Late(); ++round) {
      stage.Release(stage.Impl("life::f", stage.NewKernel(2)));
    }
    stop = true;
    comers.Join();
  });
}

// ---- in any number ----

PL_SAMPLED_CASE("lifecycle", "threads-come-and-go", Tier::kQuick, PL_CLAUSES("CONC-030"), kLifecycle) {
  RunProgram(ctx, [](Stage& stage) {
    stage.Define("life::f");
    stage.Impl("life::f", stage.NewKernel(1));
    std::mutex mutex;
    std::vector<std::pair<pl_registration*, StageKernel*>> made;
    for (int round = 0; round < stage.Rounds(300) && !stage.Late(); ++round) {
      Threads threads;
      for (int i = 0; i < 8; ++i) {
        threads.Start([&, i] {
          StageKernel& kernel = stage.NewKernel(10 + i);
          pl_registration* const registration = stage.Impl("life::f", kernel);
          const StageAnswer answer = stage.Call("life::f");
          stage.Expect(answer.error_class == PL_ERROR_NONE && answer.value >= 10,
                       "call on a thread that came: " + answer.Words());
          const std::lock_guard lock(mutex);
          made.emplace_back(registration, &kernel);
        });
      }
      threads.Join();
      // What they made is released by main, or by a thread that comes later.
      const auto release = [&] {
        for (const auto& [registration, kernel] : made) {
          stage.Release(registration);
          stage.Expect(kernel->destroyed == 1, "a kernel of a thread that ended was released and not destroyed");
        }
      };
      if (round % 2 == 0) {
        release();
      } else {
        std::thread(release).join();
      }
      made.clear();
      stage.ExpectCall("life::f", 1, "after what threads had registered was released");
    }
  });
}

// A kernel that is released while it runs ends with the thread that runs it.
PL_SAMPLED_CASE("lifecycle", "thread-ends-a-released-kernel", Tier::kQuick, PL_CLAUSES("CONC-005", "CONC-030"),
                kLifecycle) {
  RunProgram(ctx, [](Stage& stage) {
    stage.Define("life::f");
    for (int round = 0; round < stage.Rounds(300) && !stage.Late(); ++round) {
      std::atomic<bool> inside{false}, go_on{false};
      StageKernel& kernel = stage.NewKernel(1, [&] {
        inside = true;
        while (!go_on) sched_yield();
      });
      pl_registration* const registration = stage.Impl("life::f", kernel);
      std::thread caller([&] {
        AtEndOfThread(
            [&] { stage.Expect(kernel.destroyed == 1, "a call ended and its released kernel was not destroyed"); });
        stage.Call("life::f");
      });
      while (!inside) sched_yield();
      stage.Release(registration);
      stage.Expect(kernel.destroyed == 0, "a context was destroyed while its kernel runs");
      go_on = true;
      caller.join();
    }
  });
}

// ---- what a registration brings ----

// The writer fills plain memory and registers; readers learn of it from the kernel that answers and from nothing else.
PL_SAMPLED_CASE("lifecycle", "registration-brings-what-was-written", Tier::kQuick, PL_CLAUSES("CONC-028"), kLifecycle) {
  RunProgram(ctx, [](Stage& stage) {
    struct Written {
      std::array<std::int64_t, 64> words{};
    };
    // All stay registered until the end: what a release may do to calls is another matter.
    static auto& written = *new std::vector<Written>(static_cast<std::size_t>(std::min(stage.Rounds(3000), 3000)) + 1);
    stage.Define("life::f");
    std::atomic<bool> stop{false};
    const auto make = [&](std::size_t number) {
      written[number].words.fill(static_cast<std::int64_t>(number));
      return stage.Impl("life::f", stage.NewKernel(static_cast<std::int64_t>(number), [&stage, number] {
        for (const std::int64_t word : written[number].words) {
          // [CONC-028]
          stage.Expect(word == static_cast<std::int64_t>(number),
                       "a kernel does not see what was written before it was registered");
        }
      }));
    };
    std::vector<pl_registration*> made = {make(0)};
    Threads readers;
    for (int i = 0; i < 3; ++i) {
      readers.Start([&] {
        std::int64_t before = 0;
        while (!stop.load(std::memory_order_relaxed)) {
          const StageAnswer answer = stage.Call("life::f");
          stage.Expect(answer.error_class == PL_ERROR_NONE, "call beside a register: " + answer.Words());
          stage.Expect(answer.value >= before, fmt::format("kernel {} answers after kernel {}", answer.value, before));
          before = answer.value;
        }
      });
    }
    for (std::size_t number = 1; number < written.size() && !stage.Late(); ++number) {
      made.push_back(make(number));
    }
    stop = true;
    readers.Join();
    for (pl_registration* registration : made) stage.Release(registration);
  });
}

// ---- all of it at once ----

PL_SAMPLED_CASE("lifecycle", "storm", Tier::kQuick,
                PL_CLAUSES("CONC-001", "CONC-004", "CONC-005", "CONC-009", "CONC-015", "CONC-026", "CONC-030"),
                kLifecycle | PL_CAPABILITY(INTROSPECTION)) {
  RunProgram(ctx, [](Stage& stage) {
    stage.Define("life::f");
    StageKernel& base = stage.NewKernel(1);
    stage.Impl("life::f", base);
    const std::vector<std::string> before = stage.Operators();
    std::atomic<bool> stop{false};
    Threads readers, writers;
    for (int i = 0; i < 8; ++i) {
      readers.Start([&, i] {
        pl_operator* const op = stage.Find("life::f");
        for (int turn = i; !stop; ++turn) {
          const StageAnswer answer = turn % 2 == 0 ? stage.Call(op) : stage.Call("life::f");
          stage.Expect(answer.Is(1) || answer.Is(2), "call in the storm: " + answer.Words());
          const StageAnswer other = stage.Call("life::p");  // of the plug-in that comes and goes
          stage.Expect(other.Is(3) || other.error_class != PL_ERROR_NONE, "call of a plug-in's: " + other.Words());
          if (turn % 8 != 0) continue;
          const std::vector<std::string> names = stage.Operators();
          stage.Expect(std::count(names.begin(), names.end(), "life::f") == 1,
                       "a list of operators does not name once what was there all the time");
        }
        stage.GiveBack(op);
      });
    }
    std::atomic<int> overrides{0}, destroyed{0};
    const int rounds = stage.Rounds(2000);
    writers.Start([&] {
      for (int round = 0; round < rounds && !stage.Late(); ++round) {
        StageKernel& kernel = stage.NewKernel(2);
        kernel.at_destroy = [&] { ++destroyed; };
        stage.Release(stage.Impl("life::f", kernel));
        ++overrides;
      }
    });
    writers.Start([&] {
      for (int round = 0; round < rounds && !stage.Late(); ++round) {
        const std::string name = fmt::format("life{}::g", round);
        pl_registration* const defined = stage.Define(name);
        stage.Expect(stage.FindError(name) == PL_ERROR_NONE, "an operator that was just defined is not found");
        stage.Release(defined);
        stage.Expect(stage.FindError(name) == PL_ERROR_NOT_FOUND, "an operator that was just released is found");
      }
    });
    writers.Start([&] {
      for (int round = 0; round < rounds && !stage.Late(); ++round) {
        // Calls may be in it: it may be unloaded where the backend can wait for them.
        void* const library = stage.Load(0);
        PluginHost& host = stage.NewPlugin("life::p", 3);
        stage.Symbol<PluginRegister>(library, kPluginRegister)(&host);
        stage.Symbol<PluginRelease>(library, kPluginRelease)();
        stage.Expect(host.errors == 0, "a register or release of a plug-in failed");
        if (!stage.Claims(PL_CAPABILITY(DRAIN))) continue;  // it stays loaded
        stage.Drain();
        stage.Expect(host.destroyed == 1, "drain returned and a released kernel's context is not destroyed");
        stage.Unload(library, 0);
      }
    });
    writers.Join();
    stop = true;
    readers.Join();
    stage.Expect(overrides == destroyed,
                 fmt::format("{} kernels were released and {} destroyed", overrides.load(), destroyed.load()));
    stage.ExpectCall("life::f", 1, "after the storm");
    stage.Expect(stage.Operators() == before, "after the storm other operators are listed than before");
  });
}

}  // namespace
}  // namespace plumbline::suites
