// The toy's table, compiled once for all that want a working table.
#ifndef PLUMBLINE_SPEC_ABI_TESTING_TOY_TABLE_H_
#define PLUMBLINE_SPEC_ABI_TESTING_TOY_TABLE_H_

#include <string>

#include "spec/abi/abi.h"

namespace plumbline::abi::testing {

// What the toy was told or did, process-wide.
struct ToyRecord {
  std::string fault, loaded;
  int released = 0;  // calls of its Release
};
ToyRecord& Record();

const pl_adapter& ToyTable();

}  // namespace plumbline::abi::testing

#endif  // PLUMBLINE_SPEC_ABI_TESTING_TOY_TABLE_H_
