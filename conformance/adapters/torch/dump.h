// libtorch's dump of an operator's computed table, as rows.
//
//   for (const DumpRow& row : ParseComputedTable(op.dumpComputedTable())) ...
//
// libtorch recomputes the table for the dump: a row says what a slot should hold, calls show what it holds.
// Pure; any thread.
#ifndef PLUMBLINE_CONFORMANCE_ADAPTERS_TORCH_DUMP_H_
#define PLUMBLINE_CONFORMANCE_ADAPTERS_TORCH_DUMP_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace plumbline::torch_backend {

struct DumpRow {
  std::string key;
  std::string place;  // as given to the registration
  bool fallthrough = false;
  std::uint32_t rule = 0;  // PL_RULE_*
};

// Throws abi::Error INTERNAL on a line that it cannot read: a release that dumps differently is noticed at once.
std::vector<DumpRow> ParseComputedTable(std::string_view dump);

}  // namespace plumbline::torch_backend

#endif  // PLUMBLINE_CONFORMANCE_ADAPTERS_TORCH_DUMP_H_
