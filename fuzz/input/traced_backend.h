// The reference with a point of the scheduler at its loads and stores, for the target that runs schedules.
//
// Linked in where the targets' own compiler can trace (clang); else loaded from where clang has compiled it, and
// without that the plain reference, which has points at its locks only. Any thread.
#ifndef PLUMBLINE_FUZZ_INPUT_TRACED_BACKEND_H_
#define PLUMBLINE_FUZZ_INPUT_TRACED_BACKEND_H_

#include "spec/abi/abi.h"

namespace plumbline::fuzz {

const pl_adapter& TracedBackend();

}  // namespace plumbline::fuzz

#endif  // PLUMBLINE_FUZZ_INPUT_TRACED_BACKEND_H_
