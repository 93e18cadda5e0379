// Arguments and tensors as they cross to an executor and back.
//
//   nlohmann::json out = ToJson(tensor);
//   HostTensor tensor = TensorOf(value);                 // throws what nlohmann::json throws of a broken one
//
// Internal to the operator suite. Pure functions; any thread.
#ifndef PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_CALL_JSON_H_
#define PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_CALL_JSON_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "conformance/suites/operators/operator_call.h"

namespace plumbline::suites {

nlohmann::json ToJson(const HostTensor& tensor);
HostTensor TensorOf(const nlohmann::json& value);

nlohmann::json ToJson(const Argument& argument);
Argument ArgumentOf(const nlohmann::json& value);

nlohmann::json ToJson(const std::vector<Argument>& arguments);
std::vector<Argument> ArgumentsOf(const nlohmann::json& value);

std::string Packed(const nlohmann::json& value);  // as nlohmann::json::from_msgpack reads it

}  // namespace plumbline::suites

#endif  // PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_CALL_JSON_H_
