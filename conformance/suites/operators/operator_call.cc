#include "conformance/suites/operators/operator_call.h"

#include <fmt/core.h>

#include <utility>

#include "conformance/suites/operators/call_json.h"

namespace plumbline::suites {
namespace {

using nlohmann::json;

void AddTensors(const std::vector<Argument>& arguments, std::vector<const Argument*>& tensors) {
  for (const Argument& argument : arguments) {
    AddTensors(argument.items, tensors);
    if (argument.kind == PL_TENSOR) tensors.push_back(&argument);
  }
}

}  // namespace

std::vector<const Argument*> TensorsOf(const OperatorCall& call) {
  std::vector<const Argument*> tensors;
  AddTensors(call.arguments, tensors);
  return tensors;
}

Argument Argument::Ints(const Sizes& values) {
  Argument list{.kind = PL_LIST};
  for (const std::int64_t value : values) list.items.push_back(Int(value));
  return list;
}

std::string EncodeCalls(const std::vector<OperatorCall>& calls, const std::string& device) {
  json out = json::array({device});
  for (const OperatorCall& call : calls) out.push_back(json::array({call.op, ToJson(call.arguments)}));
  return Packed(out);
}

std::vector<OperatorCall> DecodeCalls(const std::string& bytes, std::string& device) {
  const json value = json::from_msgpack(bytes);
  device = value[0].get<std::string>();
  std::vector<OperatorCall> calls;
  for (std::size_t i = 1; i < value.size(); ++i) {
    calls.push_back({value[i][0].get<std::string>(), ArgumentsOf(value[i][1])});
  }
  return calls;
}

std::string EncodeOutcomes(const std::vector<OperatorOutcome>& outcomes) {
  json out = json::array();
  for (const OperatorOutcome& outcome : outcomes) {
    json tensors = json::array(), after = json::array();
    for (const ReturnedTensor& one : outcome.tensors) {
      tensors.push_back(json::array({ToJson(one.tensor), one.strides, one.same_as, one.shares_with}));
    }
    for (const HostTensor& one : outcome.arguments_after) after.push_back(ToJson(one));
    out.push_back(json::array({outcome.error_class, outcome.message, ToJson(outcome.results), std::move(tensors),
                               std::move(after), outcome.raised}));
  }
  return Packed(out);
}

std::vector<OperatorOutcome> DecodeOutcomes(const std::string& bytes) {
  std::vector<OperatorOutcome> outcomes;
  for (const json& value : json::from_msgpack(bytes)) {
    OperatorOutcome outcome{
        value[0].get<std::uint32_t>(), value[1].get<std::string>(), ArgumentsOf(value[2]), {}, {}, {}};
    for (const json& one : value[3]) {
      outcome.tensors.push_back({TensorOf(one[0]), one[1].get<Sizes>(), one[2].get<int>(), one[3].get<int>()});
    }
    for (const json& one : value[4]) outcome.arguments_after.push_back(TensorOf(one));
    outcome.raised = value[5].get<std::vector<bool>>();
    outcomes.push_back(std::move(outcome));
  }
  return outcomes;
}

std::string Describe(const Argument& argument) {
  switch (argument.kind) {
    case PL_TENSOR:
      return Describe(argument.tensor);
    case PL_INT:
      return fmt::format("{}", argument.integer);
    case PL_FLOAT:
      return Number(argument.real);
    case PL_BOOL:
      return argument.integer != 0 ? "true" : "false";
    case PL_STRING:
      return fmt::format("\"{}\"", argument.text);
    case PL_LIST: {
      std::string text = "[";
      for (const Argument& item : argument.items) text += (text.size() > 1 ? ", " : "") + Describe(item);
      return text + "]";
    }
    default:
      return "None";
  }
}

std::string Describe(const OperatorCall& call) {
  std::string text = call.op + "(";
  for (const Argument& argument : call.arguments) text += (text.back() == '(' ? "" : ", ") + Describe(argument);
  return text + ")";
}

}  // namespace plumbline::suites
