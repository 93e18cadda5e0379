// The function of a library that one of this executable stands before.
//
//   constinit Real<int(pthread_mutex_t*)> real_unlock("pthread_mutex_unlock");
//   real_unlock(mutex);
//
// Found at its first use, which may come before any constructor has run, and by FindAll() at the start of the program,
// so that a thread of a run never enters the loader. Any thread.
#ifndef PLUMBLINE_CONFORMANCE_RACE_REAL_H_
#define PLUMBLINE_CONFORMANCE_RACE_REAL_H_

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "conformance/race/system_call.h"

// Of thread sanitizer, where there is one.
extern "C" __attribute__((weak)) void __tsan_acquire(void* on);

namespace plumbline::race {
namespace {

// `version`: for names that glibc has in two versions, of which a search by name alone may find the old one.
inline void* FindReal(const char* name, const char* version) {
  void* found = nullptr;
  if (__tsan_acquire != nullptr) {  // its own goes first, so that it sees the lock
    char watched[64] = "__interceptor_";
    strncat(watched, name, sizeof watched - strlen(watched) - 1);
    found = dlsym(RTLD_DEFAULT, watched);
  }
  if (found == nullptr && version != nullptr) found = dlvsym(RTLD_NEXT, name, version);
  if (found == nullptr) found = dlsym(RTLD_NEXT, name);
  if (found == nullptr) {
    constexpr char kWords[] = "race scheduler: no library has the function ";
    SystemCall(SYS_write, 2, kWords, static_cast<long>(sizeof kWords - 1));
    SystemCall(SYS_write, 2, name, static_cast<long>(strlen(name)));
    SystemCall(SYS_write, 2, "\n", 1L);
    abort();
  }
  return found;
}

template <typename Function>
class Real;

template <typename Result, typename... Arguments>
class Real<Result(Arguments...)> {
 public:
  constexpr explicit Real(const char* name, const char* version = nullptr) : name_(name), version_(version) {}

  Result operator()(Arguments... arguments) { return reinterpret_cast<Result (*)(Arguments...)>(Find())(arguments...); }
  void* Find() {
    void* found = __atomic_load_n(&found_, __ATOMIC_ACQUIRE);
    if (found == nullptr) {
      found = FindReal(name_, version_);
      __atomic_store_n(&found_, found, __ATOMIC_RELEASE);
    }
    return found;
  }

 private:
  const char* const name_;
  const char* const version_;
  void* found_ = nullptr;
};

template <typename... Reals>
inline void FindAll(Reals&... reals) {
  (reals.Find(), ...);
}

}  // namespace
}  // namespace plumbline::race

#define PLUMBLINE_INTERPOSED extern "C" __attribute__((visibility("default")))

#endif  // PLUMBLINE_CONFORMANCE_RACE_REAL_H_
