// Faults against the chapter on thread-local state: X(name, "CLAUSE", "what goes wrong"). See faults.h.
#ifndef PLUMBLINE_REFERENCE_FAULTS_TLS_FAULTS_H_
#define PLUMBLINE_REFERENCE_FAULTS_TLS_FAULTS_H_

// clang-format off
#define PLUMBLINE_TLS_FAULTS(X)                                                                                        \
  X(guard_keeps_component, "TLS-001", "leaving an include guard over a per-backend key leaves its backend in the set") \
  X(guard_takes_back_all_its_keys, "TLS-002", "leaving a guard takes back keys that an outer guard had added")
// clang-format on

#endif  // PLUMBLINE_REFERENCE_FAULTS_TLS_FAULTS_H_
