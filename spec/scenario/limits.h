// How large a scenario may be, and how far one step of it may run.
//
// The parser refuses a text at the place where it goes beyond; so no text takes long to read or much memory. The model
// and the interpreter of backends refuse the same calls of kernels; so every scenario ends, on any backend, and both
// agree on how. grammar.md tells the author.
#ifndef PLUMBLINE_SPEC_SCENARIO_LIMITS_H_
#define PLUMBLINE_SPEC_SCENARIO_LIMITS_H_

#include <cstddef>
#include <optional>
#include <string>

#include "spec/tables/limits.h"

namespace plumbline::scenario {

// ---- of the text ----

inline constexpr std::size_t kMaxTextBytes = 1 << 20;
inline constexpr int kMaxListDepth = PL_MAX_LIST_DEPTH;  // so that what can be written can cross the ABI
inline constexpr int kMaxValues = 10000;    // and keys, in one step or one kernel's body; items of lists count
inline constexpr int kMaxBodyItems = 1000;  // of one kernel
inline constexpr std::size_t kMaxSteps = 10000;
inline constexpr std::size_t kMaxThreads = 64;  // that steps name; each is a thread of the backend's process

// ---- of a run ----

inline constexpr int kMaxKernelDepth = 100;  // kernels that run inside each other
inline constexpr int kMaxInnerCalls = 1000;  // calls and redispatches that kernels make in one step

// Counts the calls that kernels make in one step.
//
//   InnerCalls calls;                                                  // when a step begins
//   if (std::optional<std::string> why = calls.Refuse(running)) ...    // before a kernel calls or redispatches
class InnerCalls {
 public:
  // `running`: how many kernels run inside each other, the one that calls included. The message of the `overflow` that
  // the call is refused with, or nothing: then it is made and counts.
  std::optional<std::string> Refuse(int running) {
    if (running >= kMaxKernelDepth) {
      return "the kernels of a scenario nest at most " + std::to_string(kMaxKernelDepth) + " deep";
    }
    if (made_ >= kMaxInnerCalls) {
      return "the kernels of a scenario make at most " + std::to_string(kMaxInnerCalls) + " calls in one step";
    }
    ++made_;
    return std::nullopt;
  }

 private:
  int made_ = 0;
};

}  // namespace plumbline::scenario

#endif  // PLUMBLINE_SPEC_SCENARIO_LIMITS_H_
