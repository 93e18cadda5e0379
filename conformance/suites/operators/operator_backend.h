// A backend with operators, asked through an executor.
//
//   OperatorBackend backend(ctx.executor(), "meta");
//   if (!backend.broken().empty()) return ctx.Broken(backend.broken());
//   std::vector<OperatorBackend::Answer> answers = backend.Ask(calls);
//
// A batch in which the backend died is asked again one by one. Borrows the executor; where that has no service it has
// one of its own. One thread.
#ifndef PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_OPERATOR_BACKEND_H_
#define PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_OPERATOR_BACKEND_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "conformance/harness/executor.h"
#include "conformance/suites/operators/operator_call.h"
#include "conformance/suites/operators/operator_session.h"
#include "conformance/suites/operators/program_trace.h"
#include "conformance/suites/operators/tensor_program.h"
#include "reports/result/result.h"

namespace plumbline::suites {

class OperatorBackend {
 public:
  OperatorBackend(harness::Executor& executor, std::string device);
  const std::string& broken() const { return broken_; }

  // How it died, and in words where.
  struct Death {
    reports::Verdict verdict;
    std::string what;
    int step = 0;
  };
  struct Answer {
    OperatorOutcome outcome;
    std::optional<Death> died{};
  };
  std::vector<Answer> Ask(const std::vector<OperatorCall>& calls);

  struct Defined {
    std::vector<OperatorSession::Definition> definitions;  // in the order of the names
    std::optional<Death> died{};
  };
  Defined AskDefinitions(const std::vector<std::string>& names);

  // Why no tensor can be made on the device that was named; nothing if one can. Asked once before a run, so that a
  // device that is not there is told as that, and not by each case.
  std::optional<std::string> WhyNoDevice();

  struct Traced {
    ProgramTrace trace;
    std::optional<Death> died{};
  };
  Traced Ask(const TensorProgram& program);

 private:
  harness::Executor* executor_;
  std::unique_ptr<harness::Executor> own_;
  std::string device_, broken_;
};

}  // namespace plumbline::suites

#endif  // PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_OPERATOR_BACKEND_H_
