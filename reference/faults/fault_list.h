// All faults, as data: one list for each chapter of the spec, in the order of the chapters.
//
// While a fault is active no call takes the inline path, so that hooks are needed in one place only.
#ifndef PLUMBLINE_REFERENCE_FAULTS_FAULT_LIST_H_
#define PLUMBLINE_REFERENCE_FAULTS_FAULT_LIST_H_

#include "reference/faults/caching_faults.h"
#include "reference/faults/calling_faults.h"
#include "reference/faults/chains_faults.h"
#include "reference/faults/concurrency_faults.h"
#include "reference/faults/errors_faults.h"
#include "reference/faults/introspection_faults.h"
#include "reference/faults/keys_faults.h"
#include "reference/faults/memory_faults.h"
#include "reference/faults/operators_faults.h"
#include "reference/faults/registration_faults.h"
#include "reference/faults/resolution_faults.h"
#include "reference/faults/tensors_faults.h"
#include "reference/faults/tls_faults.h"

// clang-format off
#define PLUMBLINE_FAULTS(X) \
  PLUMBLINE_KEYS_FAULTS(X) \
  PLUMBLINE_RESOLUTION_FAULTS(X) \
  PLUMBLINE_REGISTRATION_FAULTS(X) \
  PLUMBLINE_CALLING_FAULTS(X) \
  PLUMBLINE_TLS_FAULTS(X) \
  PLUMBLINE_CACHING_FAULTS(X) \
  PLUMBLINE_INTROSPECTION_FAULTS(X) \
  PLUMBLINE_ERRORS_FAULTS(X) \
  PLUMBLINE_CHAINS_FAULTS(X) \
  PLUMBLINE_CONCURRENCY_FAULTS(X) \
  PLUMBLINE_TENSORS_FAULTS(X) \
  PLUMBLINE_OPERATORS_FAULTS(X) \
  PLUMBLINE_MEMORY_FAULTS(X)
// clang-format on

#endif  // PLUMBLINE_REFERENCE_FAULTS_FAULT_LIST_H_
