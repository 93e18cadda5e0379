#include "spec/abi/testing/toy_table.h"

#include "spec/abi/adapter.h"
#include "spec/abi/testing/toy_backend.h"

namespace plumbline::abi::testing {

ToyRecord& Record() {
  static ToyRecord record;
  return record;
}

const pl_adapter& ToyTable() { return Table<ToyBackend>(); }

}  // namespace plumbline::abi::testing
