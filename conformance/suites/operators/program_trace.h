// What a tensor program came to, statement by statement, as it crosses from an executor.
//
//   ProgramTrace trace = DecodeTrace(reply);
//   trace.moments[3].states.at(0).layout.sizes            // of the name 0 after the fourth statement
//
// Plain values; any thread. A broken encoding throws.
#ifndef PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_PROGRAM_TRACE_H_
#define PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_PROGRAM_TRACE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "conformance/suites/operators/operator_call.h"
#include "spec/abi/abi.h"

namespace plumbline::suites {

struct TensorState {
  HostTensor layout;  // with all of its storage, where that can be read
  std::uint64_t storage = 0, storage_bytes = 0, identity = 0, version = 0;
  std::vector<std::uint32_t> keys;
  bool outside = false;  // an element is not inside of the storage: then none is read
};

// Of a device's memory.
struct MemoryReading {
  std::uint64_t live = 0, peak = 0, kept = 0, blocks = 0;
};

// A storage that the report of holders lists.
struct HeldStorage {
  std::uint64_t storage = 0, bytes = 0;
  bool foreign = false;
  std::vector<std::pair<std::uint32_t, Sizes>> tensors;  // dtype and sizes
};

struct CapsuleState {
  HostTensor layout;  // of no dtype: one that no dtype has. Elements where the host can read them
  bool readable = false;
  std::uint64_t address = 0;  // of the first element
  std::int64_t deleted = 0;   // how often the deleter ran
};

struct Moment {
  std::uint32_t error_class = PL_ERROR_NONE;  // of the statement
  std::string message;
  std::map<int, TensorState> states;  // by name, after it
  std::map<int, Argument> values;     // names that are no tensors
  std::vector<Argument> results;      // of a call; a tensor is in `returned`, under the number in `integer`
  std::vector<TensorState> returned;
  std::optional<MemoryReading> memory;              // of kMemory
  std::optional<std::vector<HeldStorage>> holders;  // of kHolders
  std::map<int, CapsuleState> capsules;             // by name, after the statement
};

struct ProgramTrace {
  std::vector<Moment> moments;  // fewer than statements, if the last one ended it
};

std::string EncodeTrace(const ProgramTrace& trace);
ProgramTrace DecodeTrace(const std::string& bytes);

}  // namespace plumbline::suites

#endif  // PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_PROGRAM_TRACE_H_
