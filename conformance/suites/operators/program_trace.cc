#include "conformance/suites/operators/program_trace.h"

#include <utility>

#include "conformance/suites/operators/call_json.h"

namespace plumbline::suites {
namespace {

using nlohmann::json;

json ToJson(const TensorState& state) {
  return json::array({suites::ToJson(state.layout), state.storage, state.storage_bytes, state.identity, state.version,
                      state.keys, state.outside});
}
TensorState StateOf(const json& value) {
  return {TensorOf(value[0]),
          value[1].get<std::uint64_t>(),
          value[2].get<std::uint64_t>(),
          value[3].get<std::uint64_t>(),
          value[4].get<std::uint64_t>(),
          value[5].get<std::vector<std::uint32_t>>(),
          value[6].get<bool>()};
}

}  // namespace

std::string EncodeTrace(const ProgramTrace& trace) {
  json out = json::array();
  for (const Moment& moment : trace.moments) {
    json states = json::array(), values = json::array(), returned = json::array();
    for (const auto& [name, state] : moment.states) states.push_back(json::array({name, ToJson(state)}));
    for (const auto& [name, value] : moment.values) values.push_back(json::array({name, suites::ToJson(value)}));
    for (const TensorState& state : moment.returned) returned.push_back(ToJson(state));
    out.push_back(json::array({moment.error_class, moment.message, std::move(states), std::move(values),
                               suites::ToJson(moment.results), std::move(returned)}));
  }
  return Packed(out);
}

ProgramTrace DecodeTrace(const std::string& bytes) {
  ProgramTrace trace;
  for (const json& value : json::from_msgpack(bytes)) {
    Moment moment{value[0].get<std::uint32_t>(), value[1].get<std::string>(), {}, {}, ArgumentsOf(value[4]), {}};
    for (const json& one : value[2]) moment.states.emplace(one[0].get<int>(), StateOf(one[1]));
    for (const json& one : value[3]) moment.values.emplace(one[0].get<int>(), ArgumentOf(one[1]));
    for (const json& one : value[5]) moment.returned.push_back(StateOf(one));
    trace.moments.push_back(std::move(moment));
  }
  return trace;
}

}  // namespace plumbline::suites
