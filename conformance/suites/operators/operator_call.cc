#include "conformance/suites/operators/operator_call.h"

#include <fmt/core.h>

#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

namespace plumbline::suites {
namespace {

using nlohmann::json;

json Bytes(const std::vector<std::byte>& bytes) {
  const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
  return json::binary(std::vector<std::uint8_t>(data, data + bytes.size()));
}
std::vector<std::byte> BytesOf(const json& value) {
  const auto& binary = value.get_binary();
  std::vector<std::byte> bytes(binary.size());
  if (!binary.empty()) std::memcpy(bytes.data(), binary.data(), binary.size());
  return bytes;
}

json ToJson(const HostTensor& tensor) {
  return json::array({tensor.dtype, tensor.sizes, tensor.strides, tensor.offset, tensor.device, Bytes(tensor.storage)});
}
HostTensor TensorOf(const json& value) {
  return {value[0].get<std::uint32_t>(), value[1].get<Sizes>(),       value[2].get<Sizes>(),
          value[3].get<std::int64_t>(),  value[4].get<std::string>(), BytesOf(value[5])};
}

json ToJson(const Argument& argument) {
  switch (argument.kind) {
    case PL_TENSOR:
      return json::array({argument.kind, argument.integer, ToJson(argument.tensor)});
    case PL_FLOAT: {
      // By its bits: not every reader keeps a NaN's sign.
      std::uint64_t bits = 0;
      std::memcpy(&bits, &argument.real, sizeof bits);
      return json::array({argument.kind, bits});
    }
    case PL_STRING:
      return json::array({argument.kind, argument.text});
    case PL_LIST: {
      json items = json::array();
      for (const Argument& item : argument.items) items.push_back(ToJson(item));
      return json::array({argument.kind, std::move(items)});
    }
    default:
      return json::array({argument.kind, argument.integer});
  }
}

Argument ArgumentOf(const json& value) {
  Argument argument;
  argument.kind = value[0].get<std::uint32_t>();
  switch (argument.kind) {
    case PL_TENSOR:
      argument.integer = value[1].get<std::int64_t>();
      argument.tensor = TensorOf(value[2]);
      break;
    case PL_FLOAT: {
      const auto bits = value[1].get<std::uint64_t>();
      std::memcpy(&argument.real, &bits, sizeof bits);
      break;
    }
    case PL_STRING:
      argument.text = value[1].get<std::string>();
      break;
    case PL_LIST:
      for (const json& item : value[1]) argument.items.push_back(ArgumentOf(item));
      break;
    default:
      argument.integer = value[1].get<std::int64_t>();
  }
  return argument;
}

json ToJson(const std::vector<Argument>& arguments) {
  json out = json::array();
  for (const Argument& argument : arguments) out.push_back(ToJson(argument));
  return out;
}
std::vector<Argument> ArgumentsOf(const json& value) {
  std::vector<Argument> out;
  for (const json& one : value) out.push_back(ArgumentOf(one));
  return out;
}

void AddTensors(const std::vector<Argument>& arguments, std::vector<const Argument*>& tensors) {
  for (const Argument& argument : arguments) {
    AddTensors(argument.items, tensors);
    if (argument.kind == PL_TENSOR) tensors.push_back(&argument);
  }
}

std::string Packed(const json& value) {
  std::string bytes;
  json::to_msgpack(value, bytes);
  return bytes;
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
