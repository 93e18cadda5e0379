#include "conformance/suites/operators/call_json.h"

#include <cstdint>
#include <cstring>
#include <utility>

namespace plumbline::suites {

using nlohmann::json;

namespace {

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

}  // namespace

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

std::string Packed(const json& value) {
  std::string bytes;
  json::to_msgpack(value, bytes);
  return bytes;
}

}  // namespace plumbline::suites
