// Faults against the chapter on caching: X(name, "CLAUSE", "what goes wrong"). See faults.h.
#ifndef PLUMBLINE_REFERENCE_FAULTS_CACHING_FAULTS_H_
#define PLUMBLINE_REFERENCE_FAULTS_CACHING_FAULTS_H_

// clang-format off
#define PLUMBLINE_CACHING_FAULTS(X)                                                                                 \
  X(change_is_not_published, "CACHE-001", "a kernel that is registered does not reach slots that were used before") \
  X(release_is_not_published, "CACHE-002", "a kernel that is released goes on serving slots that were used before")
// clang-format on

#endif  // PLUMBLINE_REFERENCE_FAULTS_CACHING_FAULTS_H_
