// Runs a few threads so that exactly one of them goes on at a time, in an order that a seed or a list decides: what
// they do to each other happens again, exactly, whenever it is asked for.
//
//   Plan plan{.strategy = Strategy::kPct, .seed = 7};
//   Run run = Schedule(plan, 3, [](void* registry, int thread) { ... Point(); ... }, &registry);
//   Run again = Schedule({.strategy = Strategy::kSwitches, .switches = run.switches, .switch_count = run.switch_count},
//                        3, ...);   // the same steps in the same order
//
// The threads are real ones, kept between runs. A thread has the turn until it comes to a point, and there the plan
// says who goes on. Points are calls of Point(), Yield(), Block(), and the end of a thread; each is a step. Code that
// calls none of them gets its points from lock_points.cc, clock_points.h, heap_points.h and memory_points.h.
//
// A run is the list of those switches that are not by rule. By rule, a thread goes on at a point; after Yield() the
// next thread that can goes on, in turn; at the start, and after a thread that blocked or is done, the lowest-numbered
// thread that can. Steps of a list at which its thread cannot go on are passed over, so that lists may be cut and
// mutated.
//
// The hand-over is by futex, and scheduler.cc is built without sanitizers and calls no function that they watch. To
// thread sanitizer the threads of a run are therefore unordered, but for its start and its end, and it reports the
// races of each schedule.
//
// The threads of runs stay on the processor of their caller, which makes a hand-over cheap; code that asks how many it
// may use is told one.
//
// Threads and ownership: one Schedule() at a time in a process, from a thread that is not itself of a run. Bodies do
// not throw. Threads that a body starts are not scheduled; if they hold a lock that a thread of the run waits for, that
// looks like a deadlock. A run that did not end with kDone has left its threads where they stood, with whatever they
// hold: report it and leave the process by _exit(); another Schedule() aborts. After fork() the child has threads of
// its own.
#ifndef PLUMBLINE_CONFORMANCE_RACE_SCHEDULER_H_
#define PLUMBLINE_CONFORMANCE_RACE_SCHEDULER_H_

#include <cstddef>
#include <cstdint>

namespace plumbline::race {

inline constexpr int kMaxThreads = 16;

// At that step, that thread goes on.
struct Switch {
  std::uint32_t step;
  std::uint32_t thread;
  friend bool operator==(const Switch&, const Switch&) = default;
};

enum class Strategy {
  kRandom,   // any thread that can, at each step
  kPct,      // the one of the highest priority; priorities are random, and `depth` - 1 times one of them drops
  kSwitches  // by rule, but at the listed steps
};

struct Plan {
  Strategy strategy = Strategy::kRandom;
  std::uint64_t seed = 1;
  int depth = 3;                         // kPct: finds what takes this many orderings; 1 to 32
  std::uint32_t expected_steps = 200;    // kPct: priorities drop at steps up to this one
  std::uint32_t max_steps = 200'000;     // then each thread in turn, so that it ends. Part of what replays
  std::uint32_t stuck_after_ms = 2'000;  // no step for so long: kStuck; 0: never, for a debugger
  const Switch* switches = nullptr;      // kSwitches: by rising step. May be those of the run before
  std::size_t switch_count = 0;
};

enum class Ending {
  kDone,
  kDeadlock,   // those that are not done are all blocked
  kStepLimit,  // not done after four times max_steps, the last three quarters in turn: they wait for each other awake
  kStuck,      // the thread that has the turn blocks, or spins, where it is not seen
  kRunning     // not ended: SoFar()
};

struct Run {
  Ending ending = Ending::kRunning;
  std::uint32_t steps = 0;
  const Switch* switches = nullptr;  // until the next Schedule()
  std::size_t switch_count = 0;
  bool switches_complete = true;  // false: there were more than are kept (2^18)
  bool in_turn = false;           // max_steps were reached
  std::uint32_t blocked = 0;      // the threads that wait, bit by bit
  int thread = -1;                // that had the turn last
};

// Calls body(context, i) on thread i, for each i below `threads`; returns when all have returned, or cannot.
Run Schedule(const Plan& plan, int threads, void (*body)(void* context, int thread), void* context);

// What has happened until now; for the handler of a signal that ends the process.
Run SoFar();

// The rest is for the code that runs. Off the threads of a run, all of it does nothing.

int ScheduledThread();  // its number; -1: not a thread of a run
std::uint64_t Runs();   // how many have begun in this process
std::uint32_t Now();    // steps so far: a clock for histories. Between two points of a thread it stands still
void Point();           // another thread may go on here
void Yield();           // it waits for another, awake: another goes on. With kPct its priority drops below all

// Waits for a wake on the same address. One that came before does not count.
void Block(const void* on);
// ... or until time is up, and returns false then. That is when no other thread can go on, so nobody is too late
// because the plan made others wait. Of several it is up for the one with the least `until`.
bool BlockInTime(const void* on, std::int64_t until = 0);

// Lets go on who is blocked on the address: all, or who has waited longest (false: nobody). The caller keeps the turn.
void Wake(const void* on);
bool WakeOne(const void* on);

// Between true and false the calling thread's Point()s are none: for the harness's own code within a body. Nests.
void PausePoints(bool pause);

// In the part of the calling thread's stack that its body uses: what lies there is hardly shared.
bool OnOwnStack(const void* address);

}  // namespace plumbline::race

#endif  // PLUMBLINE_CONFORMANCE_RACE_SCHEDULER_H_
