// Faults against the chapter on keys and key sets: X(name, "CLAUSE", "what goes wrong"). See faults.h.
#ifndef PLUMBLINE_REFERENCE_FAULTS_KEYS_FAULTS_H_
#define PLUMBLINE_REFERENCE_FAULTS_KEYS_FAULTS_H_

// clang-format off
#define PLUMBLINE_KEYS_FAULTS(X)
// clang-format on

#endif  // PLUMBLINE_REFERENCE_FAULTS_KEYS_FAULTS_H_
