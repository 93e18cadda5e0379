// A system call that nobody interposes: no function of libc, and no errno. For scheduler.cc and lock_points.cc.
//
//   SystemCall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, 0);   // a result, or -errno
//
// The functions have internal linkage: a copy that a sanitizer instrumented never takes the place of this one.
#ifndef PLUMBLINE_CONFORMANCE_RACE_SYSTEM_CALL_H_
#define PLUMBLINE_CONFORMANCE_RACE_SYSTEM_CALL_H_

namespace plumbline::race {
namespace {

[[maybe_unused]] inline long SystemCallOfWords(long number, long a, long b, long c, long d, long e, long f) {
#if defined(__x86_64__)
  long result;
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  register long r9 asm("r9") = f;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
#elif defined(__aarch64__)
  register long x8 asm("x8") = number;
  register long x0 asm("x0") = a;
  register long x1 asm("x1") = b;
  register long x2 asm("x2") = c;
  register long x3 asm("x3") = d;
  register long x4 asm("x4") = e;
  register long x5 asm("x5") = f;
  asm volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
  return x0;
#else
#error "conformance/race/system_call.h: write the system call of this processor"
#endif
}

inline long AsWord(long value) { return value; }
inline long AsWord(decltype(nullptr)) { return 0; }
inline long AsWord(const volatile void* value) { return reinterpret_cast<long>(value); }

template <typename... Arguments>
inline long SystemCall(long number, Arguments... arguments) {
  const long words[6] = {AsWord(arguments)...};
  return SystemCallOfWords(number, words[0], words[1], words[2], words[3], words[4], words[5]);
}

}  // namespace
}  // namespace plumbline::race

#endif  // PLUMBLINE_CONFORMANCE_RACE_SYSTEM_CALL_H_
