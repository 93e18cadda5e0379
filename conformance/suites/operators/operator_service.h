// What runs in an executor for the operator suite: calls, with tensors made and read back through the ABI.
//
//   config.service = &suites::ServeOperators;          // or a service that hands on what starts with kOperatorsRequest
//   outcomes = DecodeOutcomes(executor.Ask(CallsRequest(calls, "cpu"), limit).text);
//   trace = DecodeTrace(executor.Ask(ProgramRequest(program, "cpu"), limit).text);
//   definitions = DecodeDefinitions(executor.Ask(DefinitionsRequest({"aten::add.Tensor"}), limit).text);
//
// Progress counts the calls, or the statements, so that what the backend died in is known. For executors only; a
// registry is opened once and kept.
#ifndef PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_OPERATOR_SERVICE_H_
#define PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_OPERATOR_SERVICE_H_

#include <string>
#include <string_view>
#include <vector>

#include "conformance/harness/backend_facts.h"
#include "conformance/harness/isolation.h"
#include "conformance/suites/operators/operator_call.h"
#include "conformance/suites/operators/operator_session.h"
#include "conformance/suites/operators/tensor_program.h"
#include "spec/abi/abi.h"

namespace plumbline::suites {

inline constexpr std::string_view kOperatorsRequest = "operators ";

std::string CallsRequest(const std::vector<OperatorCall>& calls, const std::string& device);
std::string ProgramRequest(const TensorProgram& program, const std::string& device);

std::string DefinitionsRequest(const std::vector<std::string>& names);
std::vector<OperatorSession::Definition> DecodeDefinitions(const std::string& answer);

std::string ServeOperators(const pl_adapter& adapter, const harness::BackendFacts& facts, const std::string& request,
                           harness::Progress& progress);

}  // namespace plumbline::suites

#endif  // PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_OPERATOR_SERVICE_H_
