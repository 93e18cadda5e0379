// The faults, as data: X(name, "CLAUSE", "what goes wrong"). Append only, so that a fault's number stays its own.
#ifndef PLUMBLINE_REFERENCE_FAULTS_FAULT_LIST_H_
#define PLUMBLINE_REFERENCE_FAULTS_FAULT_LIST_H_

// clang-format off
#define PLUMBLINE_FAULTS(X)                                                                                          \
  X(guard_keeps_component, "TLS-004", "an include guard over a per-backend key leaves its backend in the thread's set")
// clang-format on

#endif  // PLUMBLINE_REFERENCE_FAULTS_FAULT_LIST_H_
