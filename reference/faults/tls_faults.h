// Faults against the chapter on thread-local state: X(name, "CLAUSE", "what goes wrong"). See faults.h.
#ifndef PLUMBLINE_REFERENCE_FAULTS_TLS_FAULTS_H_
#define PLUMBLINE_REFERENCE_FAULTS_TLS_FAULTS_H_

// clang-format off
#define PLUMBLINE_TLS_FAULTS(X)                                                                                     \
  X(guard_keeps_component, "TLS-001", "leaving an include guard over a per-backend key leaves its backend in the "  \
    "set")                                                                                                          \
  X(guard_takes_back_all_its_keys, "TLS-002", "leaving a guard takes back keys that an outer guard had added")      \
  X(guard_restores_what_it_found, "TLS-003", "leaving a guard puts back the sets as they were when it was entered") \
  X(failure_ends_all_guards, "TLS-004", "a kernel that fails resets the thread to its defaults")                    \
  X(exclude_guard_ends_inclusion, "TLS-005", "leaving an exclude guard takes its keys out of the included ones")    \
  X(guard_holds_for_every_thread, "TLS-006", "a guard holds for every thread that has made a call")                 \
  X(new_thread_inherits_guards, "TLS-007", "a new thread starts with the guards in force elsewhere")                \
  X(inner_calls_ignore_guards, "TLS-008", "a call from inside a kernel sees the thread's defaults, not its guards")
// clang-format on

#endif  // PLUMBLINE_REFERENCE_FAULTS_TLS_FAULTS_H_
