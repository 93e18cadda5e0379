// The locks and waits of a scheduled thread: each is a point, and none of them ever blocks for real. A lock is tried,
// and where another thread has it the scheduler is told; a condition variable is a queue of the scheduler. On all other
// threads these functions are those of the libraries.
//
// They stand in the executable before those of libpthread, libc and libstdc++, for the executable, its libraries and
// the backends that it loads (plumbline_schedule_points() in CMakeLists.txt). Not seen, so that a thread which waits
// there makes its run kStuck: pthread_join, pthread_barrier_wait, poll and its like, C11's mtx_lock and cnd_wait,
// system calls made without libc's syscall(), and what is linked statically into a backend.
//
// A wait with a limit ends by its limit only when all others wait too, and then that time has come (clock_points.h).
#include <cxxabi.h>
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdint.h>
#include <time.h>

#include "conformance/race/clock_points.h"
#include "conformance/race/real.h"
#include "conformance/race/scheduler.h"

namespace plumbline::race {
namespace {

constinit Real<int(pthread_mutex_t*)> real_mutex_lock("pthread_mutex_lock");
constinit Real<int(pthread_mutex_t*)> real_mutex_trylock("pthread_mutex_trylock");
constinit Real<int(pthread_mutex_t*)> real_mutex_unlock("pthread_mutex_unlock");
constinit Real<int(pthread_mutex_t*, const timespec*)> real_mutex_timedlock("pthread_mutex_timedlock");
constinit Real<int(pthread_mutex_t*, clockid_t, const timespec*)> real_mutex_clocklock("pthread_mutex_clocklock");

constinit Real<int(pthread_rwlock_t*)> real_rdlock("pthread_rwlock_rdlock");
constinit Real<int(pthread_rwlock_t*)> real_tryrdlock("pthread_rwlock_tryrdlock");
constinit Real<int(pthread_rwlock_t*, const timespec*)> real_timedrdlock("pthread_rwlock_timedrdlock");
constinit Real<int(pthread_rwlock_t*, clockid_t, const timespec*)> real_clockrdlock("pthread_rwlock_clockrdlock");
constinit Real<int(pthread_rwlock_t*)> real_wrlock("pthread_rwlock_wrlock");
constinit Real<int(pthread_rwlock_t*)> real_trywrlock("pthread_rwlock_trywrlock");
constinit Real<int(pthread_rwlock_t*, const timespec*)> real_timedwrlock("pthread_rwlock_timedwrlock");
constinit Real<int(pthread_rwlock_t*, clockid_t, const timespec*)> real_clockwrlock("pthread_rwlock_clockwrlock");
constinit Real<int(pthread_rwlock_t*)> real_rwlock_unlock("pthread_rwlock_unlock");

#if defined(__x86_64__)
constexpr const char* kNewConditions = "GLIBC_2.3.2";
#else
constexpr const char* kNewConditions = nullptr;  // has but one version
#endif
constinit Real<int(pthread_cond_t*, pthread_mutex_t*)> real_cond_wait("pthread_cond_wait", kNewConditions);
constinit Real<int(pthread_cond_t*, pthread_mutex_t*, const timespec*)> real_cond_timedwait("pthread_cond_timedwait",
                                                                                            kNewConditions);
constinit Real<int(pthread_cond_t*, pthread_mutex_t*, clockid_t, const timespec*)> real_cond_clockwait(
    "pthread_cond_clockwait");
constinit Real<int(pthread_cond_t*)> real_cond_signal("pthread_cond_signal", kNewConditions);
constinit Real<int(pthread_cond_t*)> real_cond_broadcast("pthread_cond_broadcast", kNewConditions);

constinit Real<int(pthread_spinlock_t*)> real_spin_lock("pthread_spin_lock");
constinit Real<int(pthread_spinlock_t*)> real_spin_trylock("pthread_spin_trylock");
constinit Real<int(pthread_spinlock_t*)> real_spin_unlock("pthread_spin_unlock");

constinit Real<int(sem_t*)> real_sem_wait("sem_wait");
constinit Real<int(sem_t*)> real_sem_trywait("sem_trywait");
constinit Real<int(sem_t*, const timespec*)> real_sem_timedwait("sem_timedwait");
constinit Real<int(sem_t*, clockid_t, const timespec*)> real_sem_clockwait("sem_clockwait");
constinit Real<int(sem_t*)> real_sem_post("sem_post");

constinit Real<int(pthread_once_t*, void (*)())> real_once("pthread_once");
constinit Real<int(__cxxabiv1::__guard*)> real_guard_acquire("__cxa_guard_acquire");
constinit Real<void(__cxxabiv1::__guard*)> real_guard_release("__cxa_guard_release");
constinit Real<void(__cxxabiv1::__guard*)> real_guard_abort("__cxa_guard_abort");

__attribute__((constructor)) void FindThem() {
  FindAll(real_mutex_lock, real_mutex_trylock, real_mutex_unlock, real_mutex_timedlock, real_mutex_clocklock);
  FindAll(real_rdlock, real_tryrdlock, real_timedrdlock, real_clockrdlock, real_wrlock, real_trywrlock,
          real_timedwrlock, real_clockwrlock, real_rwlock_unlock);
  FindAll(real_cond_wait, real_cond_timedwait, real_cond_clockwait, real_cond_signal, real_cond_broadcast);
  FindAll(real_spin_lock, real_spin_trylock, real_spin_unlock);
  FindAll(real_sem_wait, real_sem_trywait, real_sem_timedwait, real_sem_clockwait, real_sem_post);
  FindAll(real_once, real_guard_acquire, real_guard_release, real_guard_abort);
}

bool Scheduled() { return ScheduledThread() >= 0; }
int OwnTid() { return static_cast<int>(SystemCall(SYS_gettid)); }

// ---- locks ----

const void* Address(const volatile void* lock) { return const_cast<const void*>(lock); }

// False: the time has come; without a limit, never.
bool BlockUntil(const void* on, std::int64_t until) {
  if (until == kNoLimit) {
    Block(on);
    return true;
  }
  const bool woken = BlockInTime(on, until);
  if (!woken) PassTimeTo(until);
  return woken;
}

// `real_try` says EBUSY while another has the lock.
template <typename Lock>
int Take(Real<int(Lock*)>& real_try, Lock* lock, std::int64_t until = kNoLimit) {
  Point();
  for (;;) {
    const int result = real_try(lock);
    if (result != EBUSY) return result;
    if (!BlockUntil(Address(lock), until)) return ETIMEDOUT;
  }
}

template <typename Lock>
int Try(Real<int(Lock*)>& real_try, Lock* lock) {
  Point();
  return real_try(lock);
}

// All who wait try again: which of them gets it is for the plan.
template <typename Lock>
int Leave(Real<int(Lock*)>& real_unlock, Lock* lock) {
  const int result = real_unlock(lock);
  Wake(Address(lock));
  Point();
  return result;
}

// Locks that say so when their own thread takes them again; a try would only say that they are taken.
bool IsOwn(const pthread_mutex_t* mutex) {
  constexpr int kKinds = 3;
  return (mutex->__data.__kind & kKinds) == PTHREAD_MUTEX_ERRORCHECK_NP && mutex->__data.__owner == OwnTid();
}
bool IsOwn(const pthread_rwlock_t* lock) { return lock->__data.__cur_writer == OwnTid(); }

// ---- waits ----

// The caller sees its mutex given up and itself waiting as one step: no signal falls between.
int WaitFor(pthread_cond_t* condition, pthread_mutex_t* mutex, std::int64_t until) {
  Point();
  const int result = real_mutex_unlock(mutex);
  if (result != 0) return result;
  Wake(mutex);
  const bool woken = BlockUntil(condition, until);
  const int taken = Take(real_mutex_trylock, mutex);
  return taken != 0 ? taken : woken ? 0 : ETIMEDOUT;
}

// Of pthread_condattr_setclock.
clockid_t ClockOf(const pthread_cond_t* condition) {
  constexpr unsigned kMonotonic = 2;
  return (condition->__data.__wrefs & kMonotonic) != 0 ? CLOCK_MONOTONIC : CLOCK_REALTIME;
}

int WaitFor(sem_t* semaphore, std::int64_t until) {
  Point();
  while (real_sem_trywait(semaphore) != 0) {
    if (errno != EAGAIN) return -1;
    if (!BlockUntil(semaphore, until)) {
      errno = ETIMEDOUT;
      return -1;
    }
  }
  return 0;
}

long WithErrno(long result) {
  if (result >= 0 || result < -4095) return result;
  errno = static_cast<int>(-result);
  return -1;
}

std::int64_t LimitOf(long operation, long limit) {
  if (limit == 0) return kNoLimit;
  const auto& time = *reinterpret_cast<const timespec*>(limit);
  if ((operation & FUTEX_CMD_MASK) == FUTEX_WAIT) return TimeAfter(time);
  return TimeAt((operation & FUTEX_CLOCK_REALTIME) != 0 ? CLOCK_REALTIME : CLOCK_MONOTONIC, time);
}

// What std::atomic waits by, and what libraries build their own locks of.
long Futex(long word, long operation, long value, long limit, long second_word, long third) {
  const auto* address = reinterpret_cast<const std::uint32_t*>(word);
  switch (operation & FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET:
      Point();
      if (__atomic_load_n(address, __ATOMIC_SEQ_CST) != static_cast<std::uint32_t>(value)) return -EAGAIN;
      return BlockUntil(address, LimitOf(operation, limit)) ? 0 : -ETIMEDOUT;
    case FUTEX_WAKE:
    case FUTEX_WAKE_BITSET: {
      long woken =
          SystemCall(SYS_futex, word, operation, value, limit, second_word, third);  // threads without schedule
      if (woken < 0) return woken;
      while (woken < value && WakeOne(address)) ++woken;
      Point();
      return woken;
    }
    default:
      return SystemCall(SYS_futex, word, operation, value, limit, second_word, third);
  }
}

// ---- what is done once ----

// What threads of this run construct just now: another that comes waits in the scheduler, never in the library.
class UnderWay {
 public:
  // Returns when no other thread is at it.
  static void AwaitOthers(const void* what) {
    Point();
    while (Of(what) != nullptr) Block(what);
  }
  static void Begin(const void* what) {
    if (Entry* entry = Of(nullptr)) *entry = {what};
  }
  static void End(const void* what) {
    if (Entry* entry = Of(what)) *entry = {nullptr};
    Wake(what);
    Point();
  }

 private:
  struct Entry {
    const void* what;
  };
  static inline Entry entries_[256];

  static Entry* Of(const void* what) {
    for (Entry& entry : entries_) {
      if (entry.what == what) return &entry;
    }
    return nullptr;
  }
};

}  // namespace
}  // namespace plumbline::race

using namespace plumbline::race;  // NOLINT: what follows is the executable's own

// ---- mutexes ----

PLUMBLINE_INTERPOSED int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  if (!Scheduled()) return real_mutex_lock(mutex);
  return IsOwn(mutex) ? EDEADLK : Take(real_mutex_trylock, mutex);
}
PLUMBLINE_INTERPOSED int pthread_mutex_trylock(pthread_mutex_t* mutex) noexcept {
  return Scheduled() ? Try(real_mutex_trylock, mutex) : real_mutex_trylock(mutex);
}
PLUMBLINE_INTERPOSED int pthread_mutex_timedlock(pthread_mutex_t* mutex, const timespec* until) noexcept {
  if (!Scheduled()) return real_mutex_timedlock(mutex, until);
  return IsOwn(mutex) ? EDEADLK : Take(real_mutex_trylock, mutex, TimeAt(CLOCK_REALTIME, *until));
}
PLUMBLINE_INTERPOSED int pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock,
                                                 const timespec* until) noexcept {
  if (!Scheduled()) return real_mutex_clocklock(mutex, clock, until);
  return IsOwn(mutex) ? EDEADLK : Take(real_mutex_trylock, mutex, TimeAt(clock, *until));
}
PLUMBLINE_INTERPOSED int pthread_mutex_unlock(pthread_mutex_t* mutex) noexcept {
  return Scheduled() ? Leave(real_mutex_unlock, mutex) : real_mutex_unlock(mutex);
}

// ---- locks of readers and writers ----

PLUMBLINE_INTERPOSED int pthread_rwlock_rdlock(pthread_rwlock_t* lock) noexcept {
  if (!Scheduled()) return real_rdlock(lock);
  return IsOwn(lock) ? EDEADLK : Take(real_tryrdlock, lock);
}
PLUMBLINE_INTERPOSED int pthread_rwlock_tryrdlock(pthread_rwlock_t* lock) noexcept {
  return Scheduled() ? Try(real_tryrdlock, lock) : real_tryrdlock(lock);
}
PLUMBLINE_INTERPOSED int pthread_rwlock_timedrdlock(pthread_rwlock_t* lock, const timespec* until) noexcept {
  if (!Scheduled()) return real_timedrdlock(lock, until);
  return IsOwn(lock) ? EDEADLK : Take(real_tryrdlock, lock, TimeAt(CLOCK_REALTIME, *until));
}
PLUMBLINE_INTERPOSED int pthread_rwlock_clockrdlock(pthread_rwlock_t* lock, clockid_t clock,
                                                    const timespec* until) noexcept {
  if (!Scheduled()) return real_clockrdlock(lock, clock, until);
  return IsOwn(lock) ? EDEADLK : Take(real_tryrdlock, lock, TimeAt(clock, *until));
}
PLUMBLINE_INTERPOSED int pthread_rwlock_wrlock(pthread_rwlock_t* lock) noexcept {
  if (!Scheduled()) return real_wrlock(lock);
  return IsOwn(lock) ? EDEADLK : Take(real_trywrlock, lock);
}
PLUMBLINE_INTERPOSED int pthread_rwlock_trywrlock(pthread_rwlock_t* lock) noexcept {
  return Scheduled() ? Try(real_trywrlock, lock) : real_trywrlock(lock);
}
PLUMBLINE_INTERPOSED int pthread_rwlock_timedwrlock(pthread_rwlock_t* lock, const timespec* until) noexcept {
  if (!Scheduled()) return real_timedwrlock(lock, until);
  return IsOwn(lock) ? EDEADLK : Take(real_trywrlock, lock, TimeAt(CLOCK_REALTIME, *until));
}
PLUMBLINE_INTERPOSED int pthread_rwlock_clockwrlock(pthread_rwlock_t* lock, clockid_t clock,
                                                    const timespec* until) noexcept {
  if (!Scheduled()) return real_clockwrlock(lock, clock, until);
  return IsOwn(lock) ? EDEADLK : Take(real_trywrlock, lock, TimeAt(clock, *until));
}
PLUMBLINE_INTERPOSED int pthread_rwlock_unlock(pthread_rwlock_t* lock) noexcept {
  return Scheduled() ? Leave(real_rwlock_unlock, lock) : real_rwlock_unlock(lock);
}

// ---- spin locks ----

PLUMBLINE_INTERPOSED int pthread_spin_lock(pthread_spinlock_t* lock) noexcept {
  return Scheduled() ? Take(real_spin_trylock, lock) : real_spin_lock(lock);
}
PLUMBLINE_INTERPOSED int pthread_spin_trylock(pthread_spinlock_t* lock) noexcept {
  return Scheduled() ? Try(real_spin_trylock, lock) : real_spin_trylock(lock);
}
PLUMBLINE_INTERPOSED int pthread_spin_unlock(pthread_spinlock_t* lock) noexcept {
  return Scheduled() ? Leave(real_spin_unlock, lock) : real_spin_unlock(lock);
}

// ---- condition variables ----

PLUMBLINE_INTERPOSED int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  return Scheduled() ? WaitFor(condition, mutex, kNoLimit) : real_cond_wait(condition, mutex);
}
PLUMBLINE_INTERPOSED int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                                const timespec* until) {
  if (!Scheduled()) return real_cond_timedwait(condition, mutex, until);
  return WaitFor(condition, mutex, TimeAt(ClockOf(condition), *until));
}
PLUMBLINE_INTERPOSED int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                                                const timespec* until) {
  if (!Scheduled()) return real_cond_clockwait(condition, mutex, clock, until);
  return WaitFor(condition, mutex, TimeAt(clock, *until));
}
PLUMBLINE_INTERPOSED int pthread_cond_signal(pthread_cond_t* condition) noexcept {
  Point();
  WakeOne(condition);
  return real_cond_signal(condition);
}
PLUMBLINE_INTERPOSED int pthread_cond_broadcast(pthread_cond_t* condition) noexcept {
  Point();
  Wake(condition);
  return real_cond_broadcast(condition);
}

// ---- semaphores ----

PLUMBLINE_INTERPOSED int sem_wait(sem_t* semaphore) {
  return Scheduled() ? WaitFor(semaphore, kNoLimit) : real_sem_wait(semaphore);
}
PLUMBLINE_INTERPOSED int sem_timedwait(sem_t* semaphore, const timespec* until) {
  return Scheduled() ? WaitFor(semaphore, TimeAt(CLOCK_REALTIME, *until)) : real_sem_timedwait(semaphore, until);
}
PLUMBLINE_INTERPOSED int sem_clockwait(sem_t* semaphore, clockid_t clock, const timespec* until) {
  return Scheduled() ? WaitFor(semaphore, TimeAt(clock, *until)) : real_sem_clockwait(semaphore, clock, until);
}
PLUMBLINE_INTERPOSED int sem_trywait(sem_t* semaphore) noexcept {
  Point();
  return real_sem_trywait(semaphore);
}
PLUMBLINE_INTERPOSED int sem_post(sem_t* semaphore) noexcept {
  const int result = real_sem_post(semaphore);
  Wake(semaphore);
  Point();
  return result;
}

// ---- once, and the variables that a function constructs at its first call ----

PLUMBLINE_INTERPOSED int pthread_once(pthread_once_t* once, void (*routine)()) {
  if (!Scheduled()) return real_once(once, routine);
  UnderWay::AwaitOthers(once);
  struct Turn {  // the routine may throw: then the next thread tries
    pthread_once_t* once;
    explicit Turn(pthread_once_t* of) : once(of) { UnderWay::Begin(once); }
    ~Turn() { UnderWay::End(once); }
  } turn(once);
  return real_once(once, routine);
}

// Weak, for clang's thread sanitizer links its own into the executable; with it these are not points, and a run whose
// thread would wait for another's construction is stuck.
namespace __cxxabiv1 {

PLUMBLINE_INTERPOSED __attribute__((weak)) int __cxa_guard_acquire(__guard* guard) {
  if (!Scheduled()) return real_guard_acquire(guard);
  UnderWay::AwaitOthers(guard);
  const int is_ours = real_guard_acquire(guard);
  if (is_ours != 0) UnderWay::Begin(guard);
  return is_ours;
}
PLUMBLINE_INTERPOSED __attribute__((weak)) void __cxa_guard_release(__guard* guard) noexcept {
  real_guard_release(guard);
  if (Scheduled()) UnderWay::End(guard);
}
PLUMBLINE_INTERPOSED __attribute__((weak)) void __cxa_guard_abort(__guard* guard) noexcept {
  real_guard_abort(guard);
  if (Scheduled()) UnderWay::End(guard);
}

}  // namespace __cxxabiv1

// ---- system calls ----

PLUMBLINE_INTERPOSED long syscall(long number, ...) noexcept {
  va_list arguments;
  va_start(arguments, number);
  long words[6];
  for (long& word : words) word = va_arg(arguments, long);
  va_end(arguments);
  if (number == SYS_futex && Scheduled()) {
    return WithErrno(Futex(words[0], words[1], words[2], words[3], words[4], words[5]));
  }
  return WithErrno(SystemCall(number, words[0], words[1], words[2], words[3], words[4], words[5]));
}
