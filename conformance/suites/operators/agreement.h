// Two backends given the same drawn calls, and where they differ.
//
//   Agreement agreement(reference, torch, {.seed = 1, .accepted = deviations});
//   agreement.Try("add.Tensor", PL_DTYPE_FLOAT32, 60);
//   agreement.compared();  agreement.differences();
//
// They agree on a call if both refuse it by the same class of error, or both give results of the same dtype, sizes,
// strides and sharing whose elements are no further apart than the two bounds together. What the clauses leave open is
// not compared: an element of which nothing is said; how a result lies if an operand has gaps or repeats elements, and
// what convolutions, pooling, batch normalisation, dropout, losses, padding, masks, indexing and sorting give. Nor is a
// call that only one of them has a kernel or a dtype for.
//
// Of each operator and kind of difference the first call is made smaller and kept, and the others are counted. Borrows
// the backends. One thread.
#ifndef PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_AGREEMENT_H_
#define PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_AGREEMENT_H_

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "conformance/suites/operators/operator_backend.h"
#include "conformance/suites/operators/operator_call.h"
#include "conformance/suites/operators/operator_deviations.h"
#include "conformance/suites/operators/oracle.h"

namespace plumbline::suites {

// In what two outcomes differ: "error", "dtype", "sizes", "strides", "sharing", "values", "death".
struct Disagreement {
  std::string kind;
  std::string what;  // in words, the first backend's side first
};

// By the bounds of what the call should come to; nothing where they agree. `strides`: whether those are compared.
std::optional<Disagreement> CompareOutcomes(const Expected& expected, const OperatorOutcome& first,
                                            const OperatorOutcome& second, bool strides = true);

struct AgreementOptions {
  std::uint64_t seed = 1;
  std::vector<const OperatorDeviation*> accepted{};  // known faults of either
};

class Agreement {
 public:
  Agreement(OperatorBackend& first, OperatorBackend& second, AgreementOptions options)
      : backends_{&first, &second}, options_(std::move(options)) {}

  struct Difference {
    OperatorCall smallest;
    std::string what;
    std::uint64_t calls = 0;
  };
  // By operator and kind.
  using Differences = std::map<std::pair<std::string, std::string>, Difference>;

  // `name` is one of TriedOperators.
  void Try(const std::string& name, std::uint32_t dtype, int calls);

  std::uint64_t compared() const { return compared_; }
  const Differences& differences() const { return differences_; }
  const std::map<std::string, std::uint64_t>& accepted() const { return accepted_; }  // calls, by deviation

 private:
  struct Verdict {
    bool counts = false;
    const OperatorDeviation* deviation = nullptr;
    std::optional<Disagreement> disagreement{};
  };
  using Answers = std::array<OperatorBackend::Answer, 2>;
  Verdict Judge(const OperatorCall& call, const Expected& expected, const Answers& answers) const;
  Verdict Ask(const OperatorCall& call);
  void Note(const std::string& name, const OperatorCall& call, const Disagreement& disagreement);

  const std::array<OperatorBackend*, 2> backends_;
  const AgreementOptions options_;
  std::uint64_t compared_ = 0;
  Differences differences_;
  std::map<std::string, std::uint64_t> accepted_;
};

}  // namespace plumbline::suites

#endif  // PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_AGREEMENT_H_
