// Named faults: deliberate mistakes that prove that the suites can fail.
//
// The list is data: X(name, "CLAUSE", "what goes wrong"). Code asks in one line, at the place where it goes wrong:
//
//   if (PLUMBLINE_FAULT(oldest_kernel_answers)) return stack.front();
//
// In the ordinary build the question is the constant false and the hook compiles to nothing. In the library
// plumbline_reference_faulty (PLUMBLINE_WITH_FAULTS) it is one relaxed load and a compare; at most one fault is active,
// chosen for the process with SetFault before any registry is made. Any thread.
#ifndef PLUMBLINE_REFERENCE_FAULTS_FAULTS_H_
#define PLUMBLINE_REFERENCE_FAULTS_FAULTS_H_

#include <atomic>
#include <span>
#include <string_view>

#include "reference/faults/fault_list.h"

namespace plumbline::reference {

enum class Fault : int {
  kNone = 0,
#define PLUMBLINE_FAULT_ENUM(name, clause, what) name,
  PLUMBLINE_FAULTS(PLUMBLINE_FAULT_ENUM)
#undef PLUMBLINE_FAULT_ENUM
};

struct FaultDescription {
  std::string_view name, clause, what;
};

// Every fault of the list, in its order, in either build.
std::span<const FaultDescription> Faults();

// Makes `name` the active fault; "" means none. False: no such fault, or a build without faults.
bool SetFault(std::string_view name);

#ifdef PLUMBLINE_WITH_FAULTS
extern std::atomic<int> active_fault;
#define PLUMBLINE_FAULT(name)                                              \
  (::plumbline::reference::active_fault.load(std::memory_order_relaxed) == \
   static_cast<int>(::plumbline::reference::Fault::name))
inline bool FaultActive() { return active_fault.load(std::memory_order_relaxed) != 0; }
#else
#define PLUMBLINE_FAULT(name) false
inline bool FaultActive() { return false; }
#endif

}  // namespace plumbline::reference

#endif  // PLUMBLINE_REFERENCE_FAULTS_FAULTS_H_
