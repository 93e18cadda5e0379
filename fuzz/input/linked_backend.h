// The backend that is linked into a fuzz target: the reference, reached through its table and nothing else.
//
//   const pl_adapter& backend = LinkedBackend();
//
// Any thread; the table lives as long as the process.
#ifndef PLUMBLINE_FUZZ_INPUT_LINKED_BACKEND_H_
#define PLUMBLINE_FUZZ_INPUT_LINKED_BACKEND_H_

#include "spec/abi/abi.h"

extern "C" const pl_adapter* plumbline_get_adapter(uint32_t host_major, uint32_t host_minor);

namespace plumbline::fuzz {

inline const pl_adapter& LinkedBackend() { return *plumbline_get_adapter(PL_ABI_MAJOR, PL_ABI_MINOR); }

}  // namespace plumbline::fuzz

#endif  // PLUMBLINE_FUZZ_INPUT_LINKED_BACKEND_H_
