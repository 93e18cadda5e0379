// Freestanding: fixed arrays, no function of the standard library, none of libc but those that make a thread and abort.
// Templates and inline functions of std would be shared with code that a sanitizer instruments, and the linker keeps
// one copy; freestanding_check.py holds this.
#include "conformance/race/scheduler.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>

#include "conformance/race/system_call.h"

// Of thread sanitizer, where there is one.
extern "C" __attribute__((weak)) void __tsan_acquire(void* on);
extern "C" __attribute__((weak)) void __tsan_release(void* on);

namespace plumbline::race {
namespace {

// ---- hand-over ----

// A word at which one thread waits until another raises it.
struct Bell {
  int rung = 0;

  void Reset() { __atomic_store_n(&rung, 0, __ATOMIC_RELAXED); }
  void Ring() {
    __atomic_store_n(&rung, 1, __ATOMIC_RELEASE);
    SystemCall(SYS_futex, &rung, FUTEX_WAKE_PRIVATE, 1);
  }
  bool Rung() const { return __atomic_load_n(&rung, __ATOMIC_ACQUIRE) != 0; }
  // False: not within `limit`; without one, never.
  bool Await(const timespec* limit = nullptr) {
    while (!Rung()) {
      if (SystemCall(SYS_futex, &rung, FUTEX_WAIT_PRIVATE, 0, limit) == -ETIMEDOUT) return Rung();
    }
    return true;
  }
};

[[noreturn]] void ParkForever() {
  for (Bell never;;) never.Await();
}

template <long length>
[[noreturn]] void Die(const char (&words)[length]) {
  SystemCall(SYS_write, 2, words, length - 1);
  abort();
}

// ---- sets of threads ----

using Set = std::uint32_t;
constexpr Set Only(int thread) { return Set{1} << thread; }
int Lowest(Set set) { return __builtin_ctz(set); }
int Size(Set set) { return __builtin_popcount(set); }
int NextAfter(int thread, Set set) {
  const Set above = set & ~(Only(thread) | (Only(thread) - 1));
  return Lowest(above != 0 ? above : set);
}
int Nth(Set set, std::uint32_t n) {
  for (; n > 0; --n) set &= set - 1;
  return Lowest(set);
}

// ---- the run; changed only by the thread that has the turn ----

constexpr int kMaxDepth = 32;
constexpr std::size_t kMaxSwitches = std::size_t{1} << 18;

Plan plan;
void (*body)(void*, int);
void* context;

std::uint64_t runs;
std::uint32_t steps;  // read by the watchdog
int current;          // who has the turn
Set runnable, blocked;
Set timed;  // of those that are blocked: until time is up
const void* waits_on[kMaxThreads];
std::uint32_t waits_since[kMaxThreads];
std::int64_t waits_until[kMaxThreads];
bool time_was_up[kMaxThreads];
Ending ending;
bool in_turn;

Switch switches[kMaxSwitches];
std::size_t switch_count;
bool switches_complete;

std::uint64_t random_state;
std::size_t next_listed;            // kSwitches
int priority[kMaxThreads];          // kPct
std::uint32_t drops_at[kMaxDepth];  // kPct: at this step, to the priority that is the index
int floor_priority;                 // kPct: below all

// ---- the threads ----

Bell turn[kMaxThreads];
Bell ended;
bool abandoned;  // the run has ended though its threads have not
int pool_size;
long pool_process;  // whose threads they are
long pool_tids[kMaxThreads];
unsigned pool_cpu;
Bell born;
bool busy;
char start_edge, end_edge;  // all that thread sanitizer sees of who waits for whom

__thread int self = -1;
__thread int pauses;
__thread const char* stack_top;

std::uint32_t Random() {
  random_state += 0x9e3779b97f4a7c15;
  std::uint64_t value = random_state;
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
  value = (value ^ value >> 27) * 0x94d049bb133111eb;
  return static_cast<std::uint32_t>((value ^ value >> 31) >> 16);
}

// ---- who goes on ----

enum class At { kPoint, kYield, kGone };  // gone: blocked, done, or not begun

int ByRule(At at, Set others) {
  if (at == At::kPoint || (at == At::kYield && others == 0)) return current;
  return at == At::kYield ? NextAfter(current, others) : Lowest(runnable);
}

int ByPriority(At at) {
  if (at != At::kGone) {
    for (int drop = 0; drop < plan.depth - 1; ++drop) {
      if (drops_at[drop] == steps) priority[current] = drop;
    }
    if (at == At::kYield) priority[current] = --floor_priority;
  }
  int best = Lowest(runnable);
  for (Set rest = runnable; rest != 0; rest &= rest - 1) {
    if (priority[Lowest(rest)] > priority[best]) best = Lowest(rest);
  }
  return best;
}

int ByList(int rule) {
  int next = rule;
  for (; next_listed < plan.switch_count && plan.switches[next_listed].step <= steps; ++next_listed) {
    const Switch& listed = plan.switches[next_listed];
    if (listed.step == steps && listed.thread < kMaxThreads &&
        (runnable & Only(static_cast<int>(listed.thread))) != 0) {
      next = static_cast<int>(listed.thread);
    }
  }
  return next;
}

void LetGoOn(int thread) {
  blocked &= ~Only(thread);
  timed &= ~Only(thread);
  runnable |= Only(thread);
}

int TimeIsUp(int thread) {
  time_was_up[thread] = true;
  LetGoOn(thread);
  return thread;
}

int FirstInTime() {
  int first = Lowest(timed);
  for (Set rest = timed; rest != 0; rest &= rest - 1) {
    if (waits_until[Lowest(rest)] < waits_until[first]) first = Lowest(rest);
  }
  return first;
}

// Whose turn it is; -1: nobody can go on.
int Choose(At at) {
  const Set others = at == At::kYield ? runnable & ~Only(current) : runnable;
  if (steps > plan.max_steps) {
    in_turn = true;
    const Set all = runnable | timed;
    if (all == 0) return -1;
    const int next = NextAfter(current, all);
    return (timed & Only(next)) != 0 ? TimeIsUp(next) : next;
  }
  if (others == 0 && timed != 0) return TimeIsUp(FirstInTime());
  if (runnable == 0) return -1;

  const int rule = ByRule(at, others);
  int next = rule;
  switch (plan.strategy) {
    case Strategy::kRandom: {
      const Set set = others != 0 ? others : runnable;
      next = Nth(set, Random() % static_cast<std::uint32_t>(Size(set)));
      break;
    }
    case Strategy::kPct:
      next = ByPriority(at);
      break;
    case Strategy::kSwitches:
      next = ByList(rule);
      break;
  }
  if (next != rule) {
    // The list of the plan may be this one: what was read of it is at least as long as what is written.
    if (switch_count < kMaxSwitches) {
      switches[switch_count] = {steps, static_cast<std::uint32_t>(next)};
      __atomic_store_n(&switch_count, switch_count + 1, __ATOMIC_RELEASE);
    } else {
      switches_complete = false;
    }
  }
  return next;
}

[[noreturn]] void EndUnfinished(Ending how) {
  ending = how;
  __atomic_store_n(&abandoned, true, __ATOMIC_RELEASE);
  ended.Ring();
  ParkForever();
}

void CountStep() {
  if (__atomic_load_n(&abandoned, __ATOMIC_ACQUIRE)) ParkForever();
  __atomic_store_n(&steps, steps + 1, __ATOMIC_RELAXED);
  if (steps > std::uint64_t{4} * plan.max_steps) EndUnfinished(Ending::kStepLimit);
}

void GiveTurn(int next) {
  current = next;
  turn[next].Ring();
}

void AwaitTurn(int me) {
  turn[me].Await();
  turn[me].Reset();
  if (__atomic_load_n(&abandoned, __ATOMIC_ACQUIRE)) ParkForever();
}

void Step(At at) {
  CountStep();
  const int me = self;
  const int next = Choose(at);
  if (next == me) return;
  if (next < 0) EndUnfinished(Ending::kDeadlock);
  GiveTurn(next);
  AwaitTurn(me);
}

bool BlockOn(const void* on, bool in_time, std::int64_t until) {
  const int me = self;
  runnable &= ~Only(me);
  blocked |= Only(me);
  if (in_time) timed |= Only(me);
  waits_on[me] = on;
  waits_since[me] = steps;
  waits_until[me] = until;
  time_was_up[me] = false;
  Step(At::kGone);
  return !time_was_up[me];
}

void Finish(int me) {
  CountStep();
  runnable &= ~Only(me);
  const int next = Choose(At::kGone);
  if (next >= 0) {
    GiveTurn(next);
  } else if (blocked != 0) {
    EndUnfinished(Ending::kDeadlock);
  } else {
    ending = Ending::kDone;
    ended.Ring();
  }
}

// ---- where it runs ----

// Waking a thread of another processor takes many times longer than waking one of the same.
void KeepOn(unsigned cpu, long tid) {
  constexpr unsigned kBits = 8 * sizeof(unsigned long);
  unsigned long set[16] = {};
  if (cpu >= 16 * kBits) return;
  set[cpu / kBits] = 1ul << cpu % kBits;
  SystemCall(SYS_sched_setaffinity, tid, static_cast<long>(sizeof set), set);
}

// All threads of the pool run where their caller runs, so that they go with it when the system moves it.
void FollowCaller() {
  unsigned cpu = pool_cpu;
  SystemCall(SYS_getcpu, &cpu, nullptr, nullptr);
  if (cpu == pool_cpu) return;
  pool_cpu = cpu;
  for (int i = 0; i < pool_size; ++i) KeepOn(cpu, pool_tids[i]);
}

void* Work(void* number) {
  const int me = static_cast<int>(reinterpret_cast<std::intptr_t>(number));
  pool_tids[me] = SystemCall(SYS_gettid);
  KeepOn(pool_cpu, 0);
  born.Ring();
  stack_top = static_cast<const char*>(__builtin_frame_address(0));
  for (;;) {
    AwaitTurn(me);
    self = me;
    pauses = 0;
    if (__tsan_acquire != nullptr) __tsan_acquire(&start_edge);
    body(context, me);
    if (__tsan_release != nullptr) __tsan_release(&end_edge);
    self = -1;
    Finish(me);
  }
  return nullptr;
}

void FillPool(int threads) {
  const long process = SystemCall(SYS_getpid);
  if (process != pool_process) {  // a forked child has none of its parent's threads
    pool_process = process;
    pool_size = 0;
  }
  FollowCaller();
  for (; pool_size < threads; ++pool_size) {
    turn[pool_size].Reset();
    born.Reset();
    pthread_t thread;
    if (pthread_create(&thread, nullptr, &Work, reinterpret_cast<void*>(std::intptr_t{pool_size})) != 0) {
      Die("race scheduler: cannot make a thread; are there too many?\n");
    }
    pthread_detach(thread);
    born.Await();
  }
}

void Prepare(const Plan& wanted, int threads) {
  plan = wanted;
  if (plan.depth < 1) plan.depth = 1;
  if (plan.depth > kMaxDepth) plan.depth = kMaxDepth;
  ++runs;
  steps = 0;
  current = 0;
  runnable = Only(threads) - 1;
  blocked = timed = 0;
  ending = Ending::kRunning;
  in_turn = false;
  switch_count = next_listed = 0;
  switches_complete = true;
  random_state = plan.seed;

  floor_priority = 0;
  for (int i = 0; i < threads; ++i) {  // a random order, above all drops
    const int at = static_cast<int>(Random() % static_cast<std::uint32_t>(i + 1));
    priority[i] = priority[at];
    priority[at] = kMaxDepth + i;
  }
  const std::uint32_t range = plan.expected_steps > 0 ? plan.expected_steps : 1;
  for (int drop = 0; drop < plan.depth - 1; ++drop) drops_at[drop] = 1 + Random() % range;
}

// False: no step for too long. Counted in slices, so that a process that was stopped for a while is not blamed.
bool AwaitEnd() {
  constexpr int kSlices = 8;
  const long slice_ms = plan.stuck_after_ms / kSlices + 1;
  const timespec slice = {.tv_sec = slice_ms / 1000, .tv_nsec = slice_ms % 1000 * 1'000'000};
  std::uint32_t seen = 0;
  for (int idle = 0; !ended.Await(plan.stuck_after_ms == 0 ? nullptr : &slice);) {
    const std::uint32_t now = __atomic_load_n(&steps, __ATOMIC_RELAXED);
    idle = now == seen ? idle + 1 : 0;
    seen = now;
    if (idle == kSlices) return false;
  }
  return true;
}

}  // namespace

Run Schedule(const Plan& wanted, int threads, void (*of_thread)(void*, int), void* with) {
  if (threads < 1 || threads > kMaxThreads) Die("race scheduler: a run has 1 to 16 threads\n");
  if (self >= 0 || __atomic_exchange_n(&busy, true, __ATOMIC_ACQUIRE)) {
    if (abandoned) Die("race scheduler: the run before did not end; no other can begin in this process\n");
    Die("race scheduler: a run within a run, or two at a time\n");
  }
  FillPool(threads);
  Prepare(wanted, threads);
  body = of_thread;
  context = with;
  ended.Reset();
  if (__tsan_release != nullptr) __tsan_release(&start_edge);
  GiveTurn(Choose(At::kGone));
  if (!AwaitEnd()) {
    __atomic_store_n(&abandoned, true, __ATOMIC_RELEASE);
    ending = Ending::kStuck;
  }
  if (__tsan_acquire != nullptr) __tsan_acquire(&end_edge);
  const Run run = SoFar();
  if (run.ending == Ending::kDone) __atomic_store_n(&busy, false, __ATOMIC_RELEASE);
  return run;
}

Run SoFar() {
  return {.ending = ending,
          .steps = __atomic_load_n(&steps, __ATOMIC_RELAXED),
          .switches = switches,
          .switch_count = __atomic_load_n(&switch_count, __ATOMIC_ACQUIRE),
          .switches_complete = switches_complete,
          .in_turn = in_turn,
          .blocked = blocked,
          .thread = current};
}

int ScheduledThread() { return self; }

std::uint64_t Runs() { return runs; }

std::uint32_t Now() { return __atomic_load_n(&steps, __ATOMIC_RELAXED); }

void Point() {
  if (self >= 0 && pauses == 0) Step(At::kPoint);
}

void Yield() {
  if (self >= 0) Step(At::kYield);
}

void Block(const void* on) {
  if (self >= 0) BlockOn(on, false, 0);
}

bool BlockInTime(const void* on, std::int64_t until) { return self < 0 || BlockOn(on, true, until); }

void Wake(const void* on) {
  if (self < 0) return;
  for (Set rest = blocked; rest != 0; rest &= rest - 1) {
    if (waits_on[Lowest(rest)] == on) LetGoOn(Lowest(rest));
  }
}

bool WakeOne(const void* on) {
  if (self < 0) return false;
  int first = -1;
  for (Set rest = blocked; rest != 0; rest &= rest - 1) {
    const int thread = Lowest(rest);
    if (waits_on[thread] == on && (first < 0 || waits_since[thread] < waits_since[first])) first = thread;
  }
  if (first >= 0) LetGoOn(first);
  return first >= 0;
}

void PausePoints(bool pause) {
  if (self >= 0) pauses += pause ? 1 : -1;
}

bool OnOwnStack(const void* address) {
  if (self < 0) return false;
  const auto* at = static_cast<const char*>(address);
  return at >= static_cast<const char*>(__builtin_frame_address(0)) && at < stack_top;
}

}  // namespace plumbline::race
