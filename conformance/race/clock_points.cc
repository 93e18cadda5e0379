#include "conformance/race/clock_points.h"

#include <errno.h>
#include <sched.h>
#include <sys/time.h>
#include <unistd.h>

#include "conformance/race/real.h"
#include "conformance/race/scheduler.h"

namespace plumbline::race {
namespace {

constinit Real<int()> real_yield("sched_yield");
constinit Real<int(const timespec*, timespec*)> real_nanosleep("nanosleep");
constinit Real<int(clockid_t, int, const timespec*, timespec*)> real_clock_nanosleep("clock_nanosleep");
constinit Real<int(useconds_t)> real_usleep("usleep");
constinit Real<unsigned(unsigned)> real_sleep("sleep");
constinit Real<int(clockid_t, timespec*)> real_clock_gettime("clock_gettime");
constinit Real<int(timeval*, void*)> real_gettimeofday("gettimeofday");
constinit Real<time_t(time_t*)> real_time("time");

__attribute__((constructor)) void FindThem() {
  FindAll(real_yield, real_nanosleep, real_clock_nanosleep, real_usleep, real_sleep);
  FindAll(real_clock_gettime, real_gettimeofday, real_time);
}

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kStep = 1'000;
constexpr clockid_t kClocks = 16;

bool Scheduled() { return ScheduledThread() >= 0; }
std::int64_t Nanoseconds(const timespec& time) { return time.tv_sec * kSecond + time.tv_nsec; }
timespec FromNanoseconds(std::int64_t time) {
  return {.tv_sec = static_cast<time_t>(time / kSecond), .tv_nsec = time % kSecond};
}

// Touched only by the thread that has the turn.
struct Clocks {
  std::uint64_t run = 0;
  std::int64_t skipped = 0;
  std::int64_t began[kClocks] = {};  // what each showed when the run began; 0: nobody has looked
};
constinit Clocks clocks;

Clocks& OfThisRun() {
  if (clocks.run != Runs()) {
    clocks = {};
    clocks.run = Runs();
  }
  return clocks;
}

std::int64_t TimeNow() { return OfThisRun().skipped + Now() * kStep; }

// Clocks of the processor's time are not the run's.
bool IsOfRun(clockid_t clock) {
  return clock >= 0 && clock < kClocks && clock != CLOCK_PROCESS_CPUTIME_ID && clock != CLOCK_THREAD_CPUTIME_ID;
}

std::int64_t Began(clockid_t clock) {
  std::int64_t& began = OfThisRun().began[clock];
  if (began == 0) {
    timespec now;
    real_clock_gettime(clock, &now);
    began = Nanoseconds(now) - TimeNow();
  }
  return began;
}

std::int64_t Reading(clockid_t clock) { return Began(clock) + TimeNow(); }

void SleepUntil(std::int64_t time) {
  PassTimeTo(time);
  Yield();
}

}  // namespace

std::int64_t TimeAt(clockid_t clock, const timespec& reading) {
  return Nanoseconds(reading) - (IsOfRun(clock) ? Began(clock) : 0);
}

std::int64_t TimeAfter(const timespec& duration) { return TimeNow() + Nanoseconds(duration); }

void PassTimeTo(std::int64_t time) {
  if (time > TimeNow()) clocks.skipped += time - TimeNow();
}

}  // namespace plumbline::race

using namespace plumbline::race;  // NOLINT: what follows is the executable's own

PLUMBLINE_INTERPOSED int clock_gettime(clockid_t clock, timespec* now) noexcept {
  if (!Scheduled() || !IsOfRun(clock)) return real_clock_gettime(clock, now);
  *now = FromNanoseconds(Reading(clock));
  return 0;
}
PLUMBLINE_INTERPOSED int gettimeofday(timeval* now, void* zone) noexcept {
  if (!Scheduled()) return real_gettimeofday(now, zone);
  const timespec reading = FromNanoseconds(Reading(CLOCK_REALTIME));
  *now = {.tv_sec = reading.tv_sec, .tv_usec = reading.tv_nsec / 1000};
  return 0;
}
PLUMBLINE_INTERPOSED time_t time(time_t* now) noexcept {
  if (!Scheduled()) return real_time(now);
  const auto seconds = static_cast<time_t>(Reading(CLOCK_REALTIME) / kSecond);
  if (now != nullptr) *now = seconds;
  return seconds;
}

PLUMBLINE_INTERPOSED int sched_yield() noexcept {
  if (!Scheduled()) return real_yield();
  Yield();
  return 0;
}
PLUMBLINE_INTERPOSED int nanosleep(const timespec* duration, timespec* left) {
  if (!Scheduled()) return real_nanosleep(duration, left);
  SleepUntil(TimeAfter(*duration));
  return 0;
}
PLUMBLINE_INTERPOSED int clock_nanosleep(clockid_t clock, int flags, const timespec* time, timespec* left) {
  if (!Scheduled()) return real_clock_nanosleep(clock, flags, time, left);
  SleepUntil((flags & TIMER_ABSTIME) != 0 ? TimeAt(clock, *time) : TimeAfter(*time));
  return 0;
}
PLUMBLINE_INTERPOSED int usleep(useconds_t microseconds) {
  if (!Scheduled()) return real_usleep(microseconds);
  SleepUntil(TimeAfter(FromNanoseconds(std::int64_t{microseconds} * 1000)));
  return 0;
}
PLUMBLINE_INTERPOSED unsigned sleep(unsigned seconds) {
  if (!Scheduled()) return real_sleep(seconds);
  SleepUntil(TimeAfter({.tv_sec = seconds, .tv_nsec = 0}));
  return 0;
}
