// The toy's table, compiled once for all that only want a working table to change.
#ifndef PLUMBLINE_SPEC_ABI_TESTING_TOY_TABLE_H_
#define PLUMBLINE_SPEC_ABI_TESTING_TOY_TABLE_H_

#include "spec/abi/abi.h"

namespace plumbline::abi::testing {

const pl_adapter& ToyTable();

}  // namespace plumbline::abi::testing

#endif  // PLUMBLINE_SPEC_ABI_TESTING_TOY_TABLE_H_
