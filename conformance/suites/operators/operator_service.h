// What runs in an executor for the operator suite: calls, with tensors made and read back through the ABI.
//
//   config.service = &suites::ServeOperators;          // or a service that hands on what starts with kOperatorsRequest
//   reply = executor.Ask(std::string(kOperatorsRequest) + EncodeCalls(calls, "cpu"), limit);
//   outcomes = DecodeOutcomes(reply.text);
//
// Progress counts the calls, so that of a batch in which the backend died the call is known. For executors only; a
// registry is opened once and kept.
#ifndef PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_OPERATOR_SERVICE_H_
#define PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_OPERATOR_SERVICE_H_

#include <string>
#include <string_view>

#include "conformance/harness/backend_facts.h"
#include "conformance/harness/isolation.h"
#include "spec/abi/abi.h"

namespace plumbline::suites {

inline constexpr std::string_view kOperatorsRequest = "operators ";

std::string ServeOperators(const pl_adapter& adapter, const harness::BackendFacts& facts, const std::string& request,
                           harness::Progress& progress);

}  // namespace plumbline::suites

#endif  // PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_OPERATOR_SERVICE_H_
