// Capsules of DLPack in a tensor program: the host's own, and what can be seen of any.
//
//   HostCapsule& own = HostCapsule::Make(statement);      // q = dlpack float32 [2] {1 2}
//   adapter.tensor_from_dlpack(registry, own.managed(), &tensor);
//   own.deleted();                                        // how often a backend has called its deleter
//   CapsuleState state = LookAt(*managed);                // of one that nobody has taken yet
//
// A capsule of the host's own lives as long as the process: a backend that breaks the rules may come back to it. One
// thread.
#ifndef PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_PROGRAM_CAPSULES_H_
#define PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_PROGRAM_CAPSULES_H_

#include <dlpack/dlpack.h>

#include <cstdint>

#include "conformance/suites/operators/program_trace.h"
#include "conformance/suites/operators/tensor_program.h"

namespace plumbline::suites {

class HostCapsule {
 public:
  // Of a statement of kind kCapsule.
  static HostCapsule& Make(const Statement& statement);
  HostCapsule(const HostCapsule&) = delete;
  HostCapsule& operator=(const HostCapsule&) = delete;

  DLManagedTensor* managed() { return &managed_; }
  std::int64_t deleted() const { return deleted_; }
  // Its memory as it is now, by what the statement says, whatever else the capsule says of itself.
  CapsuleState state() const;

 private:
  explicit HostCapsule(const Statement& statement);

  HostTensor made_;
  DLManagedTensor managed_{};
  std::int64_t deleted_ = 0;
};

CapsuleState LookAt(const DLManagedTensor& managed);

}  // namespace plumbline::suites

#endif  // PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_PROGRAM_CAPSULES_H_
