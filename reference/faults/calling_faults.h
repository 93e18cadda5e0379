// Faults against the chapter on calling, boxing and redispatch: X(name, "CLAUSE", "what goes wrong"). See faults.h.
#ifndef PLUMBLINE_REFERENCE_FAULTS_CALLING_FAULTS_H_
#define PLUMBLINE_REFERENCE_FAULTS_CALLING_FAULTS_H_

// clang-format off
#define PLUMBLINE_CALLING_FAULTS(X)                                                                           \
  X(redispatch_applies_thread_state, "CALL-020", "a redispatch takes the excluded keys out of its set")       \
  X(redispatch_masks_fallthrough, "CALL-021", "a redispatch takes the keys that fall through out of its set")
// clang-format on

#endif  // PLUMBLINE_REFERENCE_FAULTS_CALLING_FAULTS_H_
