// Drawn calls of one operator on a backend, judged.
//
//   OperatorTrial trial(backend, "add.Tensor", "meta", seed);
//   trial.Accept(deviation);                                // of a known fault; calls that it explains are not wrong
//   OperatorTrial::Tally tally = trial.Try(PL_DTYPE_FLOAT32, 24);
//   if (tally.wrong) ... tally.wrong->smallest, tally.wrong->what
//
// Calls are drawn from the seed, dtype by dtype, and go to the backend in batches. The first that is wrong ends it,
// made smaller (fewer and smaller dimensions, plainer layouts and values) as long as it fails in the same way. One
// thread.
#ifndef PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_OPERATOR_TRIAL_H_
#define PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_OPERATOR_TRIAL_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "conformance/suites/operators/draw.h"
#include "conformance/suites/operators/draw_calls.h"
#include "conformance/suites/operators/operator_backend.h"
#include "conformance/suites/operators/operator_call.h"
#include "conformance/suites/operators/operator_deviations.h"
#include "conformance/suites/operators/oracle.h"
#include "reports/result/result.h"

namespace plumbline::suites {

// Those that can be tried: with an oracle and a drawer. Without "aten::"; sorted. Of names that match one of the
// patterns (glob.h), if there are any.
std::vector<std::string> TriedOperators(const std::vector<std::string>& patterns = {});

class OperatorTrial {
 public:
  // Borrows the backend. `name` is one of TriedOperators.
  OperatorTrial(OperatorBackend& backend, const std::string& name, const std::string& device, std::uint64_t seed);

  struct Wrong {
    OperatorCall smallest;
    std::string what;
    reports::Verdict verdict = reports::Verdict::kFail;
  };
  struct Tally {
    std::uint64_t judged = 0;  // without those that the backend has no kernel, or no such dtype, for
    std::map<std::string, std::uint64_t> accepted{};  // by deviation
    std::optional<Wrong> wrong{};
  };
  void Accept(const OperatorDeviation& deviation) { deviations_.push_back(&deviation); }
  Tally Try(std::uint32_t dtype, int calls);

 private:
  struct Judged {
    std::optional<std::string> wrong{};
    reports::Verdict verdict = reports::Verdict::kFail;
    bool absent = false;
    const OperatorDeviation* deviation = nullptr;  // that explains it: then it is not wrong
  };
  Judged Judge(const OperatorCall& call, const OperatorBackend::Answer& answer) const;
  Wrong Smallest(const OperatorCall& call, const Judged& judged);

  OperatorBackend& backend_;
  const std::string op_;
  const bool meta_;
  const Oracle& oracle_;
  const CallDrawer& drawer_;
  Draw draw_;
  std::vector<const OperatorDeviation*> deviations_;
};

}  // namespace plumbline::suites

#endif  // PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_OPERATOR_TRIAL_H_
