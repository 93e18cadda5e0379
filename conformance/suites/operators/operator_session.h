// A registry with a backend's operators, through the ABI: makes tensors, calls, and reads back.
//
//   OperatorSession session(adapter, facts);              // throws OperatorSession::Failed if none can be opened
//   OperatorOutcome outcome = session.Run(call, "cpu");
//
// program_run.h runs a program in one.
//
// Runs in an executor, where the backend is loaded. One thread.
#ifndef PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_OPERATOR_SESSION_H_
#define PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_OPERATOR_SESSION_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "conformance/harness/backend_facts.h"
#include "conformance/harness/host_values.h"
#include "conformance/suites/operators/operator_call.h"
#include "conformance/suites/operators/program_trace.h"
#include "spec/abi/abi.h"

namespace plumbline::suites {

// Where a table of operators may say that there is a kernel.
inline constexpr const char* kRegisteredKeys[] = {"BackendSelect", "CompositeImplicitAutograd",
                                                  "CompositeExplicitAutograd",
                                                  "CompositeExplicitAutogradNonFunctional"};

class OperatorSession {
 public:
  // The error that the backend gave.
  struct Failed {
    std::uint32_t error_class;
    std::string message;
  };

  OperatorSession(const pl_adapter& adapter, const harness::BackendFacts& facts);

  OperatorOutcome Run(const OperatorCall& call, const std::string& device);

  // How the backend has registered an operator; needs PL_CAPABILITY(INTROSPECTION).
  struct Definition {
    std::uint32_t error_class = 0;  // PL_ERROR_NOT_FOUND: it has none of this name
    std::string message, schema;
    std::vector<std::string> keys;  // those of kRegisteredKeys at which it has a kernel
  };
  Definition DefinitionOf(const std::string& name);

  const pl_adapter& adapter() const { return adapter_; }
  pl_registry* registry() const { return registry_; }
  bool Claims(std::uint64_t capability) const { return (capabilities_ & capability) == capability; }
  static void Check(pl_error* error);  // throws Failed
  void Call(const std::string& name, const std::vector<harness::HostValue>& arguments, harness::HostValues& results);
  harness::TensorRef MakeTensor(const HostTensor& tensor, const std::string& device);
  TensorState StateOf(pl_tensor* tensor);

 private:
  using Tensors = std::vector<harness::TensorRef>;
  struct Info {
    HostTensor layout;
    std::uint64_t storage_bytes = 0, storage = 0, version = 0;
  };

  // Tensors of the call are added to `tensors`.
  harness::HostValue Make(const Argument& argument, const std::string& device, Tensors& tensors);
  harness::TensorRef View(const harness::TensorRef& base, const HostTensor& layout);
  Info InfoOf(pl_tensor* tensor);
  HostTensor AllOf(pl_tensor* tensor);
  Argument Read(const harness::HostValue& result, const Tensors& arguments, OperatorOutcome& outcome);

  const pl_adapter& adapter_;
  const std::uint64_t capabilities_;
  pl_registry* registry_ = nullptr;
  std::map<std::string, pl_operator*> operators_;
};

// With the names' values in the place of their numbers, and `device` where an argument says @device.
harness::HostValue ValueOf(const Argument& argument, const std::vector<harness::HostValue>& named,
                           const std::string& device);

}  // namespace plumbline::suites

#endif  // PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_OPERATOR_SESSION_H_
