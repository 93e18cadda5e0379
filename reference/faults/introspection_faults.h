// Faults against the chapter on introspection: X(name, "CLAUSE", "what goes wrong"). See faults.h.
#ifndef PLUMBLINE_REFERENCE_FAULTS_INTROSPECTION_FAULTS_H_
#define PLUMBLINE_REFERENCE_FAULTS_INTROSPECTION_FAULTS_H_

// clang-format off
#define PLUMBLINE_INTROSPECTION_FAULTS(X)
// clang-format on

#endif  // PLUMBLINE_REFERENCE_FAULTS_INTROSPECTION_FAULTS_H_
