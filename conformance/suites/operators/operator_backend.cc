#include "conformance/suites/operators/operator_backend.h"

#include <fmt/core.h>

#include <utility>

#include "conformance/suites/operators/operator_service.h"

namespace plumbline::suites {
namespace {

using harness::Executor;
using harness::Reply;

OperatorBackend::Death DeathOf(const Reply& reply) {
  return {reply.ending == Reply::Ending::kTimeout ? reports::Verdict::kTimeout : reports::Verdict::kCrash,
          reply.what + (reply.output.empty() ? "" : "\n" + reply.output), reply.step};
}

}  // namespace

OperatorBackend::OperatorBackend(Executor& executor, std::string device)
    : executor_(&executor), device_(std::move(device)) {
  if (executor_->config().service) return;
  harness::ExecutorConfig config = executor_->config();
  config.service = &ServeOperators;
  harness::OrError<std::unique_ptr<Executor>> started = Executor::Start(config);
  if (!started.ok()) {
    broken_ = started.error();
    return;
  }
  own_ = std::move(*started);
  executor_ = own_.get();
}

std::vector<OperatorBackend::Answer> OperatorBackend::Ask(const std::vector<OperatorCall>& calls) {
  std::vector<Answer> answers;
  const Reply reply = executor_->Ask(CallsRequest(calls, device_), executor_->limit());
  if (reply.ending == Reply::Ending::kAnswered) {
    for (OperatorOutcome& outcome : DecodeOutcomes(reply.text)) answers.push_back({std::move(outcome)});
    return answers;
  }
  if (calls.size() == 1) {
    answers.push_back({{}, DeathOf(reply)});
    return answers;
  }
  for (const OperatorCall& call : calls) {
    std::vector<Answer> one = Ask(std::vector<OperatorCall>{call});
    answers.push_back(std::move(one.front()));
  }
  return answers;
}

OperatorBackend::Defined OperatorBackend::AskDefinitions(const std::vector<std::string>& names) {
  const Reply reply = executor_->Ask(DefinitionsRequest(names), executor_->limit());
  if (reply.ending == Reply::Ending::kAnswered) return {DecodeDefinitions(reply.text)};
  return {{}, DeathOf(reply)};
}

std::optional<std::string> OperatorBackend::WhyNoDevice() {
  if (device_.empty()) return std::nullopt;
  const Traced traced = Ask(*ParseTensorProgram("program 1\na = float32 [1] {1}\n"));
  const Moment* const made = traced.died ? nullptr : &traced.trace.moments.at(0);
  if (made != nullptr && made->error_class == PL_ERROR_NONE) return std::nullopt;
  const std::string why = made == nullptr ? traced.died->what : made->message.substr(0, made->message.find('\n'));
  return fmt::format("--device {}: {} makes no tensor there: {}\nA device that a library brings needs its --load.",
                     device_, executor_->facts().name, why);
}

OperatorBackend::Traced OperatorBackend::Ask(const TensorProgram& program) {
  const Reply reply = executor_->Ask(ProgramRequest(program, device_), executor_->limit());
  if (reply.ending == Reply::Ending::kAnswered) return {DecodeTrace(reply.text)};
  return {{}, DeathOf(reply)};
}

}  // namespace plumbline::suites
