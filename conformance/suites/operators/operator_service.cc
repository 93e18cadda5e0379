#include "conformance/suites/operators/operator_service.h"

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "conformance/suites/operators/call_json.h"
#include "conformance/suites/operators/operator_session.h"
#include "conformance/suites/operators/program_run.h"

namespace plumbline::suites {
namespace {

using harness::BackendFacts;
using harness::Progress;

// For the life of the executor: opening one registers some hundred operators.
OperatorSession& Session(const pl_adapter& adapter, const BackendFacts& facts) {
  static OperatorSession* session = nullptr;
  if (session == nullptr) session = new OperatorSession(adapter, facts);
  return *session;
}

std::string ServeCalls(const pl_adapter& adapter, const BackendFacts& facts, const std::string& request,
                       Progress& progress) {
  std::string device;
  const std::vector<OperatorCall> calls = DecodeCalls(request, device);
  std::vector<OperatorOutcome> outcomes;
  try {
    OperatorSession& session = Session(adapter, facts);
    for (const OperatorCall& call : calls) {
      progress.step = static_cast<int>(outcomes.size());
      outcomes.push_back(session.Run(call, device));
    }
  } catch (const OperatorSession::Failed& failed) {
    outcomes.assign(calls.size(), {failed.error_class, failed.message, {}, {}, {}, {}});
  }
  return EncodeOutcomes(outcomes);
}

std::string ServeProgram(const pl_adapter& adapter, const BackendFacts& facts, const std::string& request,
                         Progress& progress) {
  const nlohmann::json given = nlohmann::json::from_msgpack(request);
  const TensorProgram program = *ParseTensorProgram(given[1].get<std::string>());
  try {
    return EncodeTrace(RunProgram(Session(adapter, facts), program, given[0].get<std::string>(), progress));
  } catch (const OperatorSession::Failed& failed) {
    ProgramTrace trace{{Moment()}};
    trace.moments[0].error_class = failed.error_class;
    trace.moments[0].message = failed.message;
    return EncodeTrace(trace);
  }
}

std::string ServeDefinitions(const pl_adapter& adapter, const BackendFacts& facts, const std::string& request,
                             Progress& progress) {
  nlohmann::json answers = nlohmann::json::array();
  for (const std::string& name : nlohmann::json::from_msgpack(request).get<std::vector<std::string>>()) {
    progress.step = static_cast<int>(answers.size());
    OperatorSession::Definition definition;
    try {
      definition = Session(adapter, facts).DefinitionOf(name);
    } catch (const OperatorSession::Failed& failed) {  // no session
      definition = {failed.error_class, failed.message, {}, {}};
    }
    answers.push_back({definition.error_class, definition.message, definition.schema, definition.keys});
  }
  return Packed(answers);
}

}  // namespace

std::string CallsRequest(const std::vector<OperatorCall>& calls, const std::string& device) {
  return std::string(kOperatorsRequest) + "calls " + EncodeCalls(calls, device);
}

std::string ProgramRequest(const TensorProgram& program, const std::string& device) {
  return std::string(kOperatorsRequest) + "program " +
         Packed(nlohmann::json::array({device, PrintTensorProgram(program)}));
}

std::string DefinitionsRequest(const std::vector<std::string>& names) {
  return std::string(kOperatorsRequest) + "definitions " + Packed(names);
}

std::vector<OperatorSession::Definition> DecodeDefinitions(const std::string& answer) {
  std::vector<OperatorSession::Definition> definitions;
  for (const nlohmann::json& one : nlohmann::json::from_msgpack(answer)) {
    definitions.push_back({one[0], one[1], one[2], one[3]});
  }
  return definitions;
}

std::string ServeOperators(const pl_adapter& adapter, const BackendFacts& facts, const std::string& request,
                           Progress& progress) {
  const std::size_t begin = kOperatorsRequest.size(), end = request.find(' ', begin);
  const std::string kind = request.substr(begin, end - begin);
  const auto serve = kind == "program" ? ServeProgram : kind == "definitions" ? ServeDefinitions : ServeCalls;
  return serve(adapter, facts, request.substr(end + 1), progress);
}

}  // namespace plumbline::suites
