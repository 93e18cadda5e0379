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

json ToJson(const MemoryReading& memory) { return json::array({memory.live, memory.peak, memory.kept, memory.blocks}); }
MemoryReading ReadingOf(const json& value) {
  return {value[0].get<std::uint64_t>(), value[1].get<std::uint64_t>(), value[2].get<std::uint64_t>(),
          value[3].get<std::uint64_t>()};
}

json ToJson(const HeldStorage& held) {
  json tensors = json::array();
  for (const auto& [dtype, sizes] : held.tensors) tensors.push_back(json::array({dtype, sizes}));
  return json::array({held.storage, held.bytes, held.foreign, std::move(tensors)});
}
HeldStorage HeldOf(const json& value) {
  HeldStorage held{value[0].get<std::uint64_t>(), value[1].get<std::uint64_t>(), value[2].get<bool>(), {}};
  for (const json& one : value[3]) held.tensors.emplace_back(one[0].get<std::uint32_t>(), one[1].get<Sizes>());
  return held;
}

json ToJson(const CapsuleState& capsule) {
  return json::array({suites::ToJson(capsule.layout), capsule.readable, capsule.address, capsule.deleted});
}
CapsuleState CapsuleOf(const json& value) {
  return {TensorOf(value[0]), value[1].get<bool>(), value[2].get<std::uint64_t>(), value[3].get<std::int64_t>()};
}

}  // namespace

std::string EncodeTrace(const ProgramTrace& trace) {
  json out = json::array();
  for (const Moment& moment : trace.moments) {
    json states = json::array(), values = json::array(), returned = json::array();
    for (const auto& [name, state] : moment.states) states.push_back(json::array({name, ToJson(state)}));
    for (const auto& [name, value] : moment.values) values.push_back(json::array({name, suites::ToJson(value)}));
    for (const TensorState& state : moment.returned) returned.push_back(ToJson(state));
    json memory, holders, capsules = json::array();
    if (moment.memory) memory = ToJson(*moment.memory);
    if (moment.holders) {
      holders = json::array();
      for (const HeldStorage& held : *moment.holders) holders.push_back(ToJson(held));
    }
    for (const auto& [name, capsule] : moment.capsules) capsules.push_back(json::array({name, ToJson(capsule)}));
    out.push_back(json::array({moment.error_class, moment.message, std::move(states), std::move(values),
                               suites::ToJson(moment.results), std::move(returned), std::move(memory),
                               std::move(holders), std::move(capsules)}));
  }
  return Packed(out);
}

ProgramTrace DecodeTrace(const std::string& bytes) {
  ProgramTrace trace;
  for (const json& value : json::from_msgpack(bytes)) {
    Moment moment;
    moment.error_class = value[0].get<std::uint32_t>();
    moment.message = value[1].get<std::string>();
    moment.results = ArgumentsOf(value[4]);
    for (const json& one : value[2]) moment.states.emplace(one[0].get<int>(), StateOf(one[1]));
    for (const json& one : value[3]) moment.values.emplace(one[0].get<int>(), ArgumentOf(one[1]));
    for (const json& one : value[5]) moment.returned.push_back(StateOf(one));
    if (!value[6].is_null()) moment.memory = ReadingOf(value[6]);
    if (!value[7].is_null()) {
      moment.holders.emplace();
      for (const json& one : value[7]) moment.holders->push_back(HeldOf(one));
    }
    for (const json& one : value[8]) moment.capsules.emplace(one[0].get<int>(), CapsuleOf(one[1]));
    trace.moments.push_back(std::move(moment));
  }
  return trace;
}

}  // namespace plumbline::suites
