// Faults against the chapter on errors: X(name, "CLAUSE", "what goes wrong"). See faults.h.
#ifndef PLUMBLINE_REFERENCE_FAULTS_ERRORS_FAULTS_H_
#define PLUMBLINE_REFERENCE_FAULTS_ERRORS_FAULTS_H_

// clang-format off
#define PLUMBLINE_ERRORS_FAULTS(X)                                                                                   \
  X(no_kernel_at_all_is_no_key, "ERR-001", "an operator without any kernel fails as a call without keys does")       \
  X(fallthrough_is_no_kernel, "ERR-002", "a slot that only falls through is reported as empty")                      \
  X(ambiguous_is_no_kernel, "ERR-003", "an ambiguous slot is reported as empty")                                     \
  X(another_overload_stands_in, "ERR-004", "a call of an overload that there is not goes to the one without a name") \
  X(undefined_is_no_kernel, "ERR-005", "an operator with kernels and no definition is reported as one without a "    \
    "kernel")                                                                                                        \
  X(key_names_ignore_case, "ERR-006", "the name of a key is found in any case")                                      \
  X(released_is_not_found, "ERR-007", "a handle that outlived its operator is reported as a name that is not there") \
  X(inner_error_is_the_kernels, "ERR-008", "the dispatcher's error in a call inside a kernel becomes the kernel's "  \
    "own")                                                                                                           \
  X(kernel_is_sought_first, "ERR-009", "arguments that do not fit are reported only if there is a kernel")
// clang-format on

#endif  // PLUMBLINE_REFERENCE_FAULTS_ERRORS_FAULTS_H_
