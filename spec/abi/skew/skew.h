// Backends that disagree with this host about the table, as shared objects: what a host meets in the field.
//
// Each file in this folder exports plumbline_get_adapter and gives the toy's table with one thing changed. They are
// built to lib/plumbline/skew/NAME.so and are for tests only.
#ifndef PLUMBLINE_SPEC_ABI_SKEW_SKEW_H_
#define PLUMBLINE_SPEC_ABI_SKEW_SKEW_H_

#include "spec/abi/testing/toy_table.h"

extern "C" __attribute__((visibility("default"))) const pl_adapter* plumbline_get_adapter(uint32_t host_major,
                                                                                          uint32_t host_minor);

#endif  // PLUMBLINE_SPEC_ABI_SKEW_SKEW_H_
