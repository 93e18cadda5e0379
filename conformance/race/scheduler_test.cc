#include "conformance/race/scheduler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <random>
#include <set>

#include "conformance/race/child.h"

namespace plumbline::race {
namespace {

using ::testing::ElementsAre;
using ::testing::StartsWith;

template <typename Body>
Run ScheduleOf(const Plan& plan, int threads, Body body) {
  return Schedule(
      plan, threads, [](void* of, int thread) { (*static_cast<Body*>(of))(thread); }, &body);
}

// To thread sanitizer the threads of a run are unordered, so that what they share here is atomic.
using Shared = std::atomic<int>;
int Get(const Shared& value) { return value.load(std::memory_order_relaxed); }
void Set(Shared& value, int to) { value.store(to, std::memory_order_relaxed); }

class Lock {
 public:
  void Take() {
    Point();
    while (Get(taken_) != 0) Block(this);
    Set(taken_, 1);
  }
  void Leave() {
    Set(taken_, 0);
    Wake(this);
    Point();
  }

 private:
  Shared taken_{0};
};

// ---- random programs ----

struct Op {
  enum class Kind { kPoint, kYield, kUnderLock, kUnderTwo, kRaise, kAwait, kAwaitInTime } kind;
  int which;
};
using Program = std::vector<std::vector<Op>>;

constexpr int kLocks = 3;

Program RandomProgram(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Program program(2 + random() % 4);
  for (std::vector<Op>& thread : program) {
    thread.resize(1 + random() % 12);
    for (Op& op : thread) {
      op.kind = static_cast<Op::Kind>(random() % 7);
      op.which = static_cast<int>(random() % kLocks);
    }
  }
  // Somebody raises whatever is awaited, and waits for nothing itself.
  program.emplace_back();
  for (int i = 0; i < kLocks; ++i) program.back().push_back({Op::Kind::kRaise, i});
  return program;
}

// What a run did: for each thread, when it was where.
using Trace = std::vector<std::vector<std::uint32_t>>;

struct Machine {
  explicit Machine(const Program& of) : program(of), trace(of.size()) {}

  void operator()(int thread) {
    for (const Op& op : program[static_cast<std::size_t>(thread)]) {
      Do(op);
      trace[static_cast<std::size_t>(thread)].push_back(Now());
    }
  }

  void Do(const Op& op) {
    const auto which = static_cast<std::size_t>(op.which);
    switch (op.kind) {
      case Op::Kind::kPoint:
        return Point();
      case Op::Kind::kYield:
        return Yield();
      case Op::Kind::kUnderTwo:
        locks[which].Take();
        if (which + 1 < kLocks) {
          locks[which + 1].Take();
          Point();
          locks[which + 1].Leave();
        }
        return locks[which].Leave();
      case Op::Kind::kUnderLock:
        locks[which].Take();
        Point();
        Yield();
        return locks[which].Leave();
      case Op::Kind::kRaise:
        Point();
        Set(raised[which], 1);
        return Wake(&raised[which]);
      case Op::Kind::kAwait:
        while (Get(raised[which]) == 0) Block(&raised[which]);
        return;
      case Op::Kind::kAwaitInTime:
        BlockInTime(&raised[which]);
        return;
    }
  }

  Program program;
  Trace trace;
  std::array<Lock, kLocks> locks;
  std::array<Shared, kLocks> raised{};
};

struct Recorded {
  std::string run;
  Trace trace;
  friend bool operator==(const Recorded&, const Recorded&) = default;
};

Recorded Record(const Program& program, const Plan& plan) {
  Machine machine(program);
  Recorded recorded;
  recorded.run = Words(Schedule(
      plan, static_cast<int>(program.size()), [](void* of, int thread) { (*static_cast<Machine*>(of))(thread); },
      &machine));
  recorded.trace = machine.trace;
  return recorded;
}

Plan RandomPlan(std::uint64_t seed) {
  return {.strategy = seed % 2 == 0 ? Strategy::kRandom : Strategy::kPct,
          .seed = seed * 31,
          .depth = 1 + static_cast<int>(seed % 5),
          .expected_steps = 60};
}

TEST(Replay, IsTheSameRun) {
  std::set<Trace> different;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const Program program = RandomProgram(seed);
    const Recorded first = Record(program, RandomPlan(seed));
    ASSERT_THAT(first.run, StartsWith("done ")) << seed;
    EXPECT_EQ(Record(program, RandomPlan(seed)), first) << "by the same seed " << seed;
    const std::vector<Switch> switches = SwitchesOf(first.run);
    EXPECT_EQ(Record(program, Again(switches)), first) << "by the list of seed " << seed;
    different.insert(first.trace);
  }
  EXPECT_GT(different.size(), 390u);
}

TEST(Replay, TakesTheListOfTheRunBeforeInPlace) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Machine first(RandomProgram(seed)), second(RandomProgram(seed));
    const auto run = [](Machine& machine, const Plan& plan) {
      return Schedule(
          plan, static_cast<int>(machine.program.size()),
          [](void* of, int thread) { (*static_cast<Machine*>(of))(thread); }, &machine);
    };
    const auto once = run(first, RandomPlan(seed));
    const std::string words = Words(once);
    EXPECT_EQ(
        Words(run(second,
                  {.strategy = Strategy::kSwitches, .switches = once.switches, .switch_count = once.switch_count})),
        words);
    EXPECT_EQ(second.trace, first.trace);
  }
}

std::string Printed(const Recorded& recorded) {
  std::string text = recorded.run;
  for (const std::vector<std::uint32_t>& thread : recorded.trace) {
    text += "/";
    for (const std::uint32_t step : thread) text += std::to_string(step) + ".";
  }
  return text;
}

// Input: "seed STEPS LIST;seed STEPS LIST;..."
TEST(Child, DISABLED_Replay) {
  std::istringstream input(ChildInput());
  for (std::string one; std::getline(input, one, ';');) {
    const std::vector<Switch> switches = SwitchesOf(one);
    ChildSays(Printed(Record(RandomProgram(std::stoull(one)), Again(switches))) + "\n");
  }
}

TEST(Replay, IsTheSameRunInAnotherProcess) {
  std::string input, expected;
  for (std::uint64_t seed = 1000; seed < 1040; ++seed) {
    const Recorded recorded = Record(RandomProgram(seed), RandomPlan(seed));
    input += std::to_string(seed) + " " + recorded.run + ";";
    expected += Printed(recorded);
  }
  EXPECT_EQ(RunChild("Replay", input), expected);
}

TEST(Replay, TakesAnyList) {
  std::mt19937_64 random(5);
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    std::vector<Switch> switches(random() % 20);
    for (Switch& one : switches) {
      one = {static_cast<std::uint32_t>(random() % 80), static_cast<std::uint32_t>(random() % 40)};
    }
    if (seed % 2 == 0) {
      std::sort(switches.begin(), switches.end(), [](const Switch& a, const Switch& b) { return a.step < b.step; });
    }
    const Program program = RandomProgram(seed);
    const Recorded first = Record(program, Again(switches));
    EXPECT_THAT(first.run, StartsWith("done "));
    const std::vector<Switch> kept = SwitchesOf(first.run);
    EXPECT_LE(kept.size(), switches.size());
    EXPECT_EQ(Record(program, Again(kept)), first);
  }
}

TEST(Replay, GoesByRuleWithoutAList) {
  std::vector<int> order;
  std::atomic<int> at{0};
  std::array<Shared, 64> ran{};
  const auto log = [&](int thread) { Set(ran[static_cast<std::size_t>(at.fetch_add(1))], thread); };
  const auto run = ScheduleOf({.strategy = Strategy::kSwitches}, 3, [&](int thread) {
    Point();  // goes on
    log(thread);
    Yield();  // the next one
    log(thread);
  });
  EXPECT_EQ(run.switch_count, 0u);
  EXPECT_EQ(run.steps, 9u);
  for (int i = 0; i < at; ++i) order.push_back(Get(ran[static_cast<std::size_t>(i)]));
  EXPECT_THAT(order, ElementsAre(0, 1, 2, 0, 1, 2));
}

// ---- what is found ----

// 0 to 1000: of how many seeds, two increments are seen as one.
int LostUpdates(const Plan& by) {
  int lost = 0;
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    Shared counter{0};
    Plan plan = by;
    plan.seed = seed;
    const auto add = [&](int) {
      Point();
      const int before = Get(counter);
      Point();
      Set(counter, before + 1);
    };
    const auto run = ScheduleOf(plan, 2, add);
    if (Get(counter) == 2) continue;
    ++lost;
    Set(counter, 0);
    const std::vector<Switch> switches(run.switches, run.switches + run.switch_count);
    ScheduleOf(Again(switches), 2, add);
    EXPECT_EQ(Get(counter), 1) << "seed " << seed;
  }
  return lost;
}

TEST(Finds, LostUpdate) {
  EXPECT_GT(LostUpdates({.strategy = Strategy::kRandom}), 300);
  EXPECT_GT(LostUpdates({.strategy = Strategy::kPct, .depth = 2, .expected_steps = 6}), 100);
  EXPECT_EQ(LostUpdates({.strategy = Strategy::kPct, .depth = 1, .expected_steps = 6}), 0);
}

// It takes two preemptions: the first thread within its change, and the second between its looks.
int TornViews(int depth) {
  int torn = 0;
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    Shared x{0}, first{0}, second{0};
    ScheduleOf({.strategy = Strategy::kPct, .seed = seed, .depth = depth, .expected_steps = 8}, 2, [&](int thread) {
      if (thread == 0) {
        Point();
        Set(x, 1);
        Point();
        Set(x, 0);
        Point();
      } else {
        Point();
        Set(first, Get(x));
        Point();
        Set(second, Get(x));
        Point();
      }
    });
    if (Get(first) == 1 && Get(second) == 0) ++torn;
  }
  return torn;
}

TEST(Finds, WhatItsDepthPromises) {
  EXPECT_EQ(TornViews(1), 0);
  EXPECT_EQ(TornViews(2), 0);
  // At least one in threads * steps^(depth - 1).
  EXPECT_GE(TornViews(3), 2000 / (2 * 8 * 8));
}

void TakeBoth(std::array<Lock, 2>& locks, int first) {
  const auto a = static_cast<std::size_t>(first), b = 1 - a;
  locks[a].Take();
  locks[b].Take();
  locks[b].Leave();
  locks[a].Leave();
}

TEST(Child, DISABLED_Deadlock) {
  std::array<Lock, 2> locks;
  SayTheFirstThatDoesNotEnd({.strategy = Strategy::kPct, .expected_steps = 8}, 2,
                            [&](int thread) { TakeBoth(locks, thread); });
}

TEST(Finds, Deadlock) {
  const std::string found = RunChild("Deadlock");
  EXPECT_THAT(found, StartsWith("deadlock "));
  EXPECT_EQ(RunChild("Deadlock", found), found);
}

TEST(Child, DISABLED_LastBlocks) {
  const auto run = ScheduleOf({.strategy = Strategy::kSwitches}, 3, [&](int thread) {
    if (thread != 1) Block(&thread);
  });
  ChildSays(Words(run) + "blocked " + std::to_string(run.blocked));
  _exit(0);
}

TEST(Finds, DeadlockOfTheRest) { EXPECT_EQ(RunChild("LastBlocks"), "deadlock 3 blocked 5"); }

TEST(Child, DISABLED_Livelock) {
  Shared never{0};
  SayTheFirstThatDoesNotEnd({.max_steps = 1000}, 2, [&](int) {
    while (Get(never) == 0) Yield();
  });
}

TEST(Finds, Livelock) { EXPECT_THAT(RunChild("Livelock"), StartsWith("step-limit 4001 ")); }

TEST(Child, DISABLED_Stuck) {
  const auto run = ScheduleOf({.strategy = Strategy::kSwitches, .stuck_after_ms = 200}, 3, [&](int thread) {
    Point();
    if (thread != 1) return;
    const timespec long_time = {.tv_sec = 600, .tv_nsec = 0};
    nanosleep(&long_time, nullptr);
  });
  ChildSays(Words(run) + "thread " + std::to_string(run.thread));
  _exit(0);
}

TEST(Finds, AThreadThatBlocksUnseen) { EXPECT_EQ(RunChild("Stuck"), "stuck 3 thread 1"); }

TEST(Child, DISABLED_Crash) {
  ScheduleOf({.seed = 3}, 3, [&](int thread) {
    for (int i = 0; i < 5; ++i) Point();
    if (thread != 1) return;
    ChildSays(Words(SoFar()));
    _exit(0);
  });
}

TEST(Finds, WhatHappenedUntilACrash) {
  EXPECT_THAT(RunChild("Crash"), ::testing::MatchesRegex("running [0-9]+ .*:.*"));
}

// ---- waiting ----

TEST(Waiting, AwakeStarvesNobody) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Shared ready{0};
    const auto run = ScheduleOf({.strategy = Strategy::kPct, .seed = seed, .max_steps = 200}, 3, [&](int thread) {
      if (thread == 2) {
        Point();
        Set(ready, 1);
      }
      while (Get(ready) == 0) Yield();
    });
    EXPECT_EQ(run.ending, Ending::kDone);
    EXPECT_FALSE(run.in_turn) << "seed " << seed;
  }
}

TEST(Waiting, AwakeWithoutYieldEndsInTurn) {
  int in_turn = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Shared ready{0};
    const Plan plan = {.strategy = Strategy::kPct, .seed = seed, .depth = 1, .max_steps = 200};
    const auto body = [&](int thread) {
      if (thread == 1) Set(ready, 1);
      while (Get(ready) == 0) Point();
    };
    const auto run = ScheduleOf(plan, 2, body);
    EXPECT_EQ(run.ending, Ending::kDone);
    in_turn += run.in_turn ? 1 : 0;
    const std::string words = Words(run);
    Plan again = Again(SwitchesOf(words));
    const std::vector<Switch> switches = SwitchesOf(words);
    again.switches = switches.data();
    again.max_steps = 200;
    Set(ready, 0);
    EXPECT_EQ(Words(ScheduleOf(again, 2, body)), words);
  }
  EXPECT_GT(in_turn, 3);
}

TEST(Waiting, TimeIsUpOnlyWhenNobodyElseCanGoOn) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Shared key{0}, steps_of_other{0}, in_time{-1}, woken{-1};
    const auto run = ScheduleOf({.seed = seed}, 3, [&](int thread) {
      if (thread == 0) {
        Set(in_time, BlockInTime(&key) ? 1 : 0);
        EXPECT_EQ(Get(steps_of_other), 10);
      } else if (thread == 1) {
        for (int i = 0; i < 10; ++i) {
          Point();
          Set(steps_of_other, i + 1);
        }
      } else {
        Set(woken, BlockInTime(&woken) ? 1 : 0);
      }
    });
    EXPECT_EQ(run.ending, Ending::kDone);
    EXPECT_EQ(Get(in_time), 0);
    EXPECT_EQ(Get(woken), 0);
  }
}

TEST(Waiting, TimeIsUpForOneThatOthersAwaitAwake) {
  Shared key{0}, done{0};
  const auto run = ScheduleOf({.max_steps = 1000}, 3, [&](int thread) {
    if (thread == 0) {
      EXPECT_FALSE(BlockInTime(&key));
      Set(done, 1);
    }
    while (Get(done) == 0) Yield();
  });
  EXPECT_EQ(run.ending, Ending::kDone);
}

TEST(Waiting, WakeOneLetsTheLongestWaitingGoOn) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Shared key{0}, waiting{0}, woken{0};
    std::array<Shared, 3> came{}, left{};
    const auto run = ScheduleOf({.seed = seed}, 4, [&](int thread) {
      const auto me = static_cast<std::size_t>(thread);
      if (thread < 3) {
        Point();
        Set(waiting, Get(waiting) + 1);
        Set(came[me], Get(waiting));
        Block(&key);
        return Set(left[me], Get(woken));
      }
      while (Get(waiting) < 3) Yield();
      for (int i = 1; i <= 3; ++i) {
        Set(woken, i);
        EXPECT_TRUE(WakeOne(&key));
        while (std::none_of(left.begin(), left.end(), [&](const Shared& at) { return Get(at) == i; })) Yield();
      }
      EXPECT_FALSE(WakeOne(&key));
    });
    EXPECT_EQ(run.ending, Ending::kDone);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(Get(came[i]), Get(left[i]));
  }
}

// ---- the rest ----

TEST(Points, PauseAndNest) {
  const auto run = ScheduleOf({}, 1, [&](int) {
    PausePoints(true);
    PausePoints(true);
    Point();
    PausePoints(false);
    Point();
    PausePoints(false);
    EXPECT_EQ(Now(), 0u);
    Point();
    EXPECT_EQ(Now(), 1u);
    PausePoints(true);  // ends with its thread
  });
  EXPECT_EQ(run.steps, 2u);
  EXPECT_EQ(ScheduleOf({}, 1, [](int) { Point(); }).steps, 2u);
}

TEST(Points, AreNothingWithoutARun) {
  EXPECT_EQ(ScheduledThread(), -1);
  Point();
  Yield();
  int here = 0;
  Block(&here);
  EXPECT_TRUE(BlockInTime(&here));
  Wake(&here);
  EXPECT_FALSE(WakeOne(&here));
  EXPECT_FALSE(OnOwnStack(&here));
}

TEST(Points, KnowTheStack) {
  static thread_local int of_thread = 0;
  static int of_all = 0;
  ScheduleOf({}, 2, [&](int thread) {
    int here = thread;
    EXPECT_TRUE(OnOwnStack(&here));
    EXPECT_FALSE(OnOwnStack(&of_thread));
    EXPECT_FALSE(OnOwnStack(&of_all));
  });
}

TEST(Threads, SixteenAreScheduled) {
  std::atomic<int> sum{0};
  const auto run = ScheduleOf({}, kMaxThreads, [&](int thread) {
    EXPECT_EQ(ScheduledThread(), thread);
    Point();
    sum.fetch_add(1 << thread, std::memory_order_relaxed);
  });
  EXPECT_EQ(run.ending, Ending::kDone);
  EXPECT_EQ(sum, 0xffff);
}

TEST(Threads, AreTheirOwnInAForkedChild) {
  if (kThreadSanitizer) GTEST_SKIP() << "thread sanitizer lets no forked child make threads";
  ScheduleOf({}, 2, [](int) { Point(); });
  const pid_t child = fork();
  if (child == 0) {
    const auto run = ScheduleOf({}, 3, [](int) { Point(); });
    _exit(run.ending == Ending::kDone ? 7 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 7);
  EXPECT_EQ(ScheduleOf({}, 2, [](int) { Point(); }).ending, Ending::kDone);
}

// ---- what thread sanitizer makes of it ----

// Input: whether one thread is done before the other begins.
TEST(Child, DISABLED_Unordered) {
  int shared = 0;
  const bool in_turn = ChildInput() == "in turn";
  ScheduleOf({.strategy = in_turn ? Strategy::kSwitches : Strategy::kRandom}, 2, [&](int) {
    Point();
    ++shared;
    Point();
  });
  ChildSays("2");
  _exit(0);
}

TEST(ThreadSanitizer, SeesTheThreadsOfARunAsUnordered) {
  const std::string expected = kThreadSanitizer ? "data race 2" : "2";
  EXPECT_EQ(RunChild("Unordered"), expected);
  EXPECT_EQ(RunChild("Unordered", "in turn"), expected);
}

TEST(Child, DISABLED_Ordered) {
  int shared = 0;
  for (int i = 0; i < 20; ++i) {
    ++shared;
    ScheduleOf({.seed = static_cast<std::uint64_t>(i)}, 4, [&](int thread) {
      Point();
      if (thread == i % 4) ++shared;
      Point();
    });
  }
  ChildSays(std::to_string(shared));
  _exit(0);
}

TEST(ThreadSanitizer, SeesRunsAsOrdered) { EXPECT_EQ(RunChild("Ordered"), "40"); }

TEST(ThreadsDeathTest, WrongUse) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(ScheduleOf({}, 0, [](int) {}), "1 to 16 threads");
  EXPECT_DEATH(ScheduleOf({}, kMaxThreads + 1, [](int) {}), "1 to 16 threads");
  EXPECT_DEATH(ScheduleOf({}, 1, [](int) { ScheduleOf({}, 1, [](int) {}); }), "a run within a run");
  EXPECT_DEATH(
      {
        ScheduleOf({}, 1, [](int thread) { Block(&thread); });
        ScheduleOf({}, 1, [](int) {});
      },
      "did not end");
}

}  // namespace
}  // namespace plumbline::race
