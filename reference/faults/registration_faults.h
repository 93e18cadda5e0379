// Faults against the chapter on registration: X(name, "CLAUSE", "what goes wrong"). See faults.h.
#ifndef PLUMBLINE_REFERENCE_FAULTS_REGISTRATION_FAULTS_H_
#define PLUMBLINE_REFERENCE_FAULTS_REGISTRATION_FAULTS_H_

// clang-format off
#define PLUMBLINE_REGISTRATION_FAULTS(X)
// clang-format on

#endif  // PLUMBLINE_REFERENCE_FAULTS_REGISTRATION_FAULTS_H_
