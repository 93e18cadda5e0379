#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <barrier>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <new>
#include <semaphore>
#include <shared_mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "conformance/race/child.h"
#include "conformance/race/heap_points.h"
#include "conformance/race/memory_points.h"
#include "conformance/race/scheduler.h"

namespace plumbline::race {
namespace {

using std::chrono_literals::operator""h;
using std::chrono_literals::operator""ms;
using ::testing::StartsWith;

template <typename Body>
auto ScheduleOf(const Plan& plan, int threads, Body body) {
  return Schedule(
      plan, threads, [](void* of, int thread) { (*static_cast<Body*>(of))(thread); }, &body);
}

// Seed after seed; all have to end. `check` is called after each.
template <typename Body, typename Check>
void ForSeeds(int threads, Body body, Check check) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const Plan plan = {
        .strategy = seed % 2 == 0 ? Strategy::kRandom : Strategy::kPct, .seed = seed, .expected_steps = 40};
    ASSERT_EQ(ScheduleOf(plan, threads, body).ending, Ending::kDone) << "seed " << seed;
    check();
    ASSERT_FALSE(::testing::Test::HasFailure()) << "seed " << seed;
  }
}

// A place of which a lock has to keep all but one thread.
class Room {
 public:
  void Use() {
    if (inside_.fetch_add(1, std::memory_order_relaxed) != 0) crowded_.store(true, std::memory_order_relaxed);
    Point();
    inside_.fetch_sub(1, std::memory_order_relaxed);
    uses_.fetch_add(1, std::memory_order_relaxed);
  }
  bool crowded() const { return crowded_; }
  int TakeUses() { return uses_.exchange(0); }

 private:
  std::atomic<int> inside_{0}, uses_{0};
  std::atomic<bool> crowded_{false};
};

// ---- locks ----

template <typename Take, typename Leave>
void ExpectExclusive(Take take, Leave leave) {
  Room room;
  ForSeeds(
      3,
      [&](int) {
        for (int i = 0; i < 2; ++i) {
          take();
          room.Use();
          leave();
        }
      },
      [&] {
        EXPECT_FALSE(room.crowded());
        EXPECT_EQ(room.TakeUses(), 6);
      });
}

TEST(Locks, WithoutOneTheRoomIsCrowded) {
  Room room;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) ScheduleOf({.seed = seed}, 3, [&](int) { room.Use(); });
  EXPECT_TRUE(room.crowded());
}

TEST(Locks, Mutex) {
  std::mutex mutex;
  ExpectExclusive([&] { mutex.lock(); }, [&] { mutex.unlock(); });
}

TEST(Locks, RecursiveMutex) {
  std::recursive_mutex mutex;
  ExpectExclusive(
      [&] {
        mutex.lock();
        mutex.lock();
      },
      [&] {
        mutex.unlock();
        mutex.unlock();
      });
}

TEST(Locks, TimedMutex) {
  std::timed_mutex mutex;
  ExpectExclusive([&] { EXPECT_TRUE(mutex.try_lock_for(1ms)); }, [&] { mutex.unlock(); });
}

TEST(Locks, TryAgainAndAgain) {
  std::mutex mutex;
  ExpectExclusive(
      [&] {
        while (!mutex.try_lock()) std::this_thread::yield();
      },
      [&] { mutex.unlock(); });
}

TEST(Locks, SharedMutex) {
  std::shared_mutex mutex;
  ExpectExclusive([&] { mutex.lock(); }, [&] { mutex.unlock(); });
}

TEST(Locks, SpinLock) {
  pthread_spinlock_t lock;
  ASSERT_EQ(pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE), 0);
  ExpectExclusive([&] { pthread_spin_lock(&lock); }, [&] { pthread_spin_unlock(&lock); });
}

TEST(Locks, PosixSemaphore) {
  sem_t semaphore;
  ASSERT_EQ(sem_init(&semaphore, 0, 1), 0);
  ExpectExclusive([&] { sem_wait(&semaphore); }, [&] { sem_post(&semaphore); });
}

TEST(Locks, StdSemaphore) {
  std::binary_semaphore semaphore(1);
  ExpectExclusive([&] { semaphore.acquire(); }, [&] { semaphore.release(); });
}

TEST(Locks, AtomicThatIsWaitedFor) {
  std::atomic<int> taken{0};
  ExpectExclusive(
      [&] {
        while (taken.exchange(1) != 0) taken.wait(1);
      },
      [&] {
        taken.store(0);
        taken.notify_one();
      });
}

TEST(Locks, ReadersShareAndWritersDoNot) {
  std::shared_mutex mutex;
  std::atomic<int> readers{0}, most{0}, writers{0};
  ForSeeds(
      4,
      [&](int thread) {
        if (thread == 0) {
          const std::unique_lock lock(mutex);
          writers.store(1, std::memory_order_relaxed);
          Point();
          EXPECT_EQ(readers.load(std::memory_order_relaxed), 0);
          writers.store(0, std::memory_order_relaxed);
        } else {
          const std::shared_lock lock(mutex);
          const int now = readers.fetch_add(1, std::memory_order_relaxed) + 1;
          if (now > most.load(std::memory_order_relaxed)) most.store(now, std::memory_order_relaxed);
          Point();
          EXPECT_EQ(writers.load(std::memory_order_relaxed), 0);
          readers.fetch_sub(1, std::memory_order_relaxed);
        }
      },
      [] {});
  EXPECT_EQ(most, 3);
}

TEST(Locks, LimitIsUpOnlyWhenAllOthersWait) {
  std::timed_mutex mutex;
  std::condition_variable_any never;
  ForSeeds(
      2,
      [&](int thread) {
        if (thread == 0) {
          const std::scoped_lock lock(mutex);
          for (int i = 0; i < 10; ++i) Point();
        } else if (mutex.try_lock_for(1ms)) {
          mutex.unlock();
        } else {
          ADD_FAILURE() << "the other could go on all the time";
        }
      },
      [] {});
  std::mutex own;
  ForSeeds(
      2,
      [&](int) {
        std::unique_lock lock(own);
        EXPECT_EQ(never.wait_for(lock, 1h), std::cv_status::timeout);
      },
      [] {});
}

TEST(Locks, TheFirstLimitIsUpFirst) {
  std::mutex mutex;
  std::condition_variable never;
  std::atomic<int> order{0};
  ForSeeds(
      3,
      [&](int thread) {
        std::unique_lock lock(mutex);
        const auto start = std::chrono::steady_clock::now();
        const auto limit = std::chrono::hours(3 - thread);
        EXPECT_FALSE(never.wait_for(lock, limit, [] { return false; }));
        EXPECT_EQ(order.fetch_add(1), 2 - thread);
        EXPECT_GE(std::chrono::steady_clock::now(), start + limit);
        EXPECT_LT(std::chrono::steady_clock::now(), start + limit + 1h);
      },
      [&] { order = 0; });
}

TEST(Locks, KnowTheirOwnThread) {
  pthread_mutexattr_t kind;
  pthread_mutexattr_init(&kind);
  pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ERRORCHECK);
  pthread_mutex_t mutex;
  pthread_mutex_init(&mutex, &kind);
  pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  ScheduleOf({}, 1, [&](int) {
    EXPECT_EQ(pthread_mutex_lock(&mutex), 0);
    EXPECT_EQ(pthread_mutex_lock(&mutex), EDEADLK);
    EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
    EXPECT_EQ(pthread_rwlock_wrlock(&lock), 0);
    EXPECT_EQ(pthread_rwlock_rdlock(&lock), EDEADLK);
    EXPECT_EQ(pthread_rwlock_wrlock(&lock), EDEADLK);
    EXPECT_EQ(pthread_rwlock_unlock(&lock), 0);
  });
}

TEST(Locks, AreRealWithoutASchedule) {
  std::mutex mutex;
  std::condition_variable condition;
  bool ready = false;
  std::atomic<int> value{0};
  std::thread other([&] {
    std::unique_lock lock(mutex);
    condition.wait(lock, [&] { return ready; });
    value.wait(0);
    usleep(1);
    EXPECT_FALSE(condition.wait_for(lock, 1ms, [] { return false; }));
  });
  {
    const std::scoped_lock lock(mutex);
    ready = true;
  }
  condition.notify_one();
  value = 1;
  value.notify_all();
  other.join();
}

void TakeBoth(std::array<std::mutex, 2>& mutexes, std::size_t first) {
  const std::scoped_lock one(mutexes[first]);
  const std::scoped_lock two(mutexes[1 - first]);
}

TEST(Child, DISABLED_TwoMutexes) {
  std::array<std::mutex, 2> mutexes;
  SayTheFirstThatDoesNotEnd({.strategy = Strategy::kPct, .expected_steps = 8}, 2,
                            [&](int thread) { TakeBoth(mutexes, static_cast<std::size_t>(thread)); });
}

TEST(Locks, TakenInTwoOrdersAreADeadlock) {
  const std::string found = RunChild("TwoMutexes");
  EXPECT_THAT(found, StartsWith("deadlock "));
  EXPECT_EQ(RunChild("TwoMutexes", found), found);
}

TEST(Child, DISABLED_SharedUnderALock) {
  std::mutex mutex;
  std::shared_mutex shared_mutex;
  int under_mutex = 0, under_shared = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    ScheduleOf({.seed = seed}, 3, [&](int thread) {
      {
        const std::scoped_lock lock(mutex);
        ++under_mutex;
      }
      if (thread == 0) {
        const std::unique_lock lock(shared_mutex);
        ++under_shared;
      } else {
        const std::shared_lock lock(shared_mutex);
        EXPECT_LE(under_shared, 50);
      }
    });
  }
  ChildSays(std::to_string(under_mutex + under_shared));
  _exit(0);
}

TEST(ThreadSanitizer, SeesTheLocks) { EXPECT_EQ(RunChild("SharedUnderALock"), "200"); }

// ---- condition variables ----

class Mailbox {
 public:
  void Send() {
    {
      const std::scoped_lock lock(mutex_);
      full_ = true;
    }
    condition_.notify_one();
  }
  void Receive() {
    std::unique_lock lock(mutex_);
    condition_.wait(lock, [this] { return full_; });
    full_ = false;
  }
  // Looks and waits as two steps: what is sent between is missed.
  void ReceiveCarelessly() {
    {
      const std::scoped_lock lock(mutex_);
      if (full_) return;
    }
    std::unique_lock lock(mutex_);
    condition_.wait(lock);
  }

 private:
  std::mutex mutex_;
  std::condition_variable condition_;
  bool full_ = false;
};

TEST(Conditions, WakeWhoWaits) {
  Mailbox there, back;
  ForSeeds(
      2,
      [&](int thread) {
        for (int i = 0; i < 3; ++i) {
          if (thread == 0) there.Send();
          (thread == 0 ? back : there).Receive();
          if (thread == 1) back.Send();
        }
      },
      [] {});
}

TEST(Child, DISABLED_MissedWakeup) {
  auto box = std::make_unique<Mailbox>();
  SayTheFirstThatDoesNotEnd(
      {.strategy = Strategy::kPct, .expected_steps = 8}, 2,
      [&](int thread) { thread == 0 ? box->Send() : box->ReceiveCarelessly(); },
      [&] { box = std::make_unique<Mailbox>(); });
}

TEST(Conditions, MissedWakeupIsADeadlock) {
  const std::string found = RunChild("MissedWakeup");
  EXPECT_THAT(found, StartsWith("deadlock "));
  EXPECT_EQ(RunChild("MissedWakeup", found), found);
}

TEST(Child, DISABLED_OneForTwo) {
  std::mutex mutex;
  std::condition_variable condition;
  bool open = false;
  SayTheFirstThatDoesNotEnd(
      {}, 3,
      [&](int thread) {
        std::unique_lock lock(mutex);
        if (thread == 0) {
          open = true;
          condition.notify_one();
        } else {
          condition.wait(lock, [&] { return open; });
        }
      },
      [&] { open = false; });
}

TEST(Conditions, NotifyOneWakesOne) { EXPECT_THAT(RunChild("OneForTwo"), StartsWith("deadlock ")); }

// ---- once ----

TEST(Once, IsDoneByOneThreadWhileTheOthersWait) {
  auto flag = std::make_unique<std::once_flag>();
  Room room;
  std::atomic<int> tries{0};
  ForSeeds(
      3,
      [&](int) {
        try {
          std::call_once(*flag, [&] {
            room.Use();
            // That of thread sanitizer is not made for it.
            if (tries.fetch_add(1) == 0 && !kThreadSanitizer) throw std::runtime_error("the first try fails");
          });
        } catch (const std::runtime_error&) {
        }
        EXPECT_GE(tries.load(), 1);
      },
      [&] {
        EXPECT_FALSE(room.crowded());
        EXPECT_EQ(room.TakeUses(), kThreadSanitizer ? 1 : 2);
        flag = std::make_unique<std::once_flag>();
        tries = 0;
      });
}

template <int which>
int Constructed(Room& room) {
  static const int value = [&] {
    room.Use();
    return which;
  }();
  return value;
}

template <int... which>
void ConstructAll(std::integer_sequence<int, which...>) {
  Room room;
  std::uint64_t seed = 0;
  const auto once = [&](auto constructed) {
    const auto run = ScheduleOf({.seed = ++seed}, 3, [&](int) { constructed(room); });
    EXPECT_EQ(run.ending, Ending::kDone);
    EXPECT_EQ(room.TakeUses(), 1);
  };
  (once([](Room& of) { EXPECT_EQ(Constructed<which>(of), which); }), ...);
  EXPECT_FALSE(room.crowded());
}

TEST(Once, VariablesOfFunctionsAreConstructedByOneThread) {
#if defined(__clang__)
  if (kThreadSanitizer) GTEST_SKIP() << "clang's thread sanitizer keeps these to itself";
#endif
  ConstructAll(std::make_integer_sequence<int, 50>());
}

// ---- waits without a lock ----

TEST(Waits, SleepsLetOthersGoOn) {
  std::atomic<bool> ready{false};
  const auto start = std::chrono::steady_clock::now();
  ForSeeds(
      2,
      [&](int thread) {
        if (thread == 0) {
          std::this_thread::sleep_for(1h);
          sleep(3600);
          usleep(999'999);
          ready.store(true);
        }
        while (!ready.load()) std::this_thread::sleep_for(1h);
      },
      [&] { ready = false; });
  EXPECT_LT(std::chrono::steady_clock::now() - start, 1h);
}

TEST(Waits, ClocksGoWithTheRun) {
  std::vector<std::int64_t> readings;
  readings.reserve(4);  // a `delete` is a point, and takes time
  for (int i = 0; i < 2; ++i) {
    ScheduleOf({}, 1, [&](int) {
      const auto steady = std::chrono::steady_clock::now();
      const auto system = std::chrono::system_clock::now();
      const time_t seconds = time(nullptr);
      std::this_thread::sleep_until(system + 10h);
      readings.push_back((std::chrono::steady_clock::now() - steady).count());
      readings.push_back((std::chrono::system_clock::now() - system).count());
      EXPECT_NEAR(static_cast<double>(time(nullptr) - seconds), 36000, 1);
    });
    EXPECT_GE(readings.back(), std::int64_t{36'000} * 1'000'000'000);
    EXPECT_LT(std::chrono::system_clock::now().time_since_epoch() / 1h, time(nullptr) / 3600 + 2);
  }
  EXPECT_EQ(readings[0], readings[2]);
  EXPECT_EQ(readings[1], readings[3]);
}

TEST(Waits, BarriersAndFlagsOfTheStandardLibrary) {
  std::barrier barrier(3);
  std::atomic<int> phase{0};
  ForSeeds(
      3,
      [&](int thread) {
        barrier.arrive_and_wait();
        if (thread == 0) {
          phase.store(1);
          phase.notify_all();
        }
        phase.wait(0);
        EXPECT_EQ(phase.load(), 1);
      },
      [&] { phase = 0; });
}

// ---- memory that was freed ----

struct Table {
  std::array<int, 8> slots = {1, 2, 3, 4, 5, 6, 7, 8};
};

bool Watched() { return CheckQuarantine().watched; }

// Replaces the table and frees the old one, which the other thread may be about to use.
template <typename Use>
HeapReport FirstReport(Use use) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    std::atomic<Table*> table{new Table};
    ScheduleOf({.seed = seed}, 2, [&](int thread) {
      Table* of_now = table.load();
      Point();
      if (thread == 0) {
        table.store(new Table);
        delete of_now;
      } else {
        use(of_now);
      }
    });
    const HeapReport report = CheckQuarantine();
    EXPECT_EQ(report.freed, 1u + (report.freed_twice == 0 && report.freed == 2 ? 1 : 0));
    delete table.load();
    if (!report.ok()) return report;
  }
  return {};
}

TEST(Heap, WriteAfterFreeIsFound) {
  if (!Watched()) GTEST_SKIP() << "a sanitizer watches the heap";
  const HeapReport report = FirstReport([](Table* table) { table->slots[3] = 9; });
  EXPECT_EQ(report.written, 1u);
  EXPECT_EQ(report.offset, 3 * sizeof(int));
  EXPECT_GE(report.size, sizeof(Table));
  EXPECT_EQ(report.thread, 0);
  EXPECT_GT(report.step, 0u);
}

TEST(Heap, ReadAfterFreeSeesThePattern) {
  if (!Watched()) GTEST_SKIP() << "a sanitizer watches the heap";
  bool misled = false;
  const HeapReport report = FirstReport([&](Table* table) { misled = misled || table->slots[0] != 1; });
  EXPECT_TRUE(report.ok());
  EXPECT_TRUE(misled);
}

TEST(Heap, SecondFreeIsCounted) {
  if (!Watched()) GTEST_SKIP() << "a sanitizer watches the heap";
  const HeapReport report = FirstReport([](Table* table) {
    delete table;
    Point();
  });
  EXPECT_EQ(report.freed_twice, 1u);
  EXPECT_EQ(report.written, 0u);
  EXPECT_NE(report.block, nullptr);
}

TEST(Heap, SecondFreeAfterTheRunIsCounted) {
  if (!Watched()) GTEST_SKIP() << "a sanitizer watches the heap";
  auto* table = new Table;
  ScheduleOf({}, 1, [&](int) { delete table; });
  delete table;
  EXPECT_EQ(CheckQuarantine().freed_twice, 1u);
}

// So that the compiler does not leave out both `new` and `delete`.
template <typename Type>
Type* Escaped(Type* pointer) {
  asm volatile("" : "+r"(pointer) : : "memory");
  return pointer;
}

struct alignas(64) Wide {
  char bytes[64];
};

TEST(Heap, AllFormsAreKept) {
  if (!Watched()) GTEST_SKIP() << "a sanitizer watches the heap";
  ScheduleOf({}, 2, [&](int) {
    delete Escaped(new int);
    delete[] Escaped(new int[3]);
    delete Escaped(new (std::nothrow) int);
    delete[] Escaped(new (std::nothrow) int[3]);
    Wide* wide = Escaped(new Wide);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(wide) % 64, 0u);
    delete wide;
    delete[] Escaped(new Wide[2]);
    delete Escaped(new (std::nothrow) Wide);
    std::vector<std::string> strings(3, std::string(100, 'x'));
  });
  const HeapReport report = CheckQuarantine();
  EXPECT_EQ(report.freed, 2 * (7u + 5u));
  EXPECT_TRUE(report.ok());
  EXPECT_TRUE(report.all_kept);
  EXPECT_EQ(CheckQuarantine().freed, 0u);
}

TEST(Heap, TooManyAreFreedAtOnce) {
  if (!Watched()) GTEST_SKIP() << "a sanitizer watches the heap";
  ScheduleOf({}, 1, [&](int) {
    for (int i = 0; i < (1 << 16) + 5; ++i) delete Escaped(new int);
  });
  const HeapReport report = CheckQuarantine();
  EXPECT_EQ(report.freed, 1u << 16);
  EXPECT_FALSE(report.all_kept);
  EXPECT_TRUE(report.ok());
}

// ---- loads and stores of a traced backend ----

class Traced : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* build = std::getenv("PLUMBLINE_BUILD");
    const std::string path = std::string(build == nullptr ? "build/release" : build) + "/tests/traced_sample.so";
    if (!std::filesystem::exists(path)) GTEST_SKIP() << "there was no clang to make " << path;
    object_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(object_, nullptr) << dlerror();
    reset = Function<void()>("Reset");
    add = Function<void()>("Add");
    counted = Function<int()>("Counted");
    publish = Function<void(int)>("Publish");
    look = Function<int()>("Look");
    sum_on_stack = Function<int(int)>("SumOnStack");
  }

  template <typename Type>
  Type* Function(const char* name) {
    return reinterpret_cast<Type*>(dlsym(object_, name));
  }

  void (*reset)() = nullptr;
  void (*add)() = nullptr;
  int (*counted)() = nullptr;
  void (*publish)(int) = nullptr;
  int (*look)() = nullptr;
  int (*sum_on_stack)(int) = nullptr;

 private:
  void* object_ = nullptr;
};

TEST_F(Traced, LostUpdateIsFoundWithoutAnyLock) {
  EXPECT_TRUE(BackendIsTraced());
  int lost = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    reset();
    const auto run =
        ScheduleOf({.strategy = Strategy::kPct, .seed = seed, .expected_steps = 6}, 2, [&](int) { add(); });
    if (counted() == 2) continue;
    ++lost;
    const std::string words = Words(run);
    reset();
    EXPECT_EQ(Words(ScheduleOf(Again(SwitchesOf(words)), 2, [&](int) { add(); })), words);
    EXPECT_EQ(counted(), 1);
  }
  EXPECT_GT(lost, 10);
}

TEST_F(Traced, AtomicLoadsAndStoresArePoints) {
  int misled = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    reset();
    std::atomic<int> seen{-1};
    ScheduleOf({.seed = seed}, 2, [&](int thread) {
      if (thread == 0) {
        publish(7);
      } else {
        seen = look();
      }
    });
    EXPECT_THAT(seen.load(), ::testing::AnyOf(-1, 0, 7));
    misled += seen == 0 ? 1 : 0;
  }
  EXPECT_GT(misled, 0);
}

TEST_F(Traced, TheOwnStackIsNoPoint) {
  EXPECT_EQ(ScheduleOf({}, 1, [&](int) { EXPECT_EQ(sum_on_stack(100), 4950); }).steps, 1u);
}

}  // namespace
}  // namespace plumbline::race
