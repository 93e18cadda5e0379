// The tensor programs of the corpus as cases: every file CHAPTER/STEM.prog is one, under that id.
//
//   std::vector<Case> cases = ProgramCases(harness::CorpusFolder(), "meta");
//
// A file is read when its case runs; only its clauses are read before.
#ifndef PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_PROGRAM_CASES_H_
#define PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_PROGRAM_CASES_H_

#include <string>
#include <utility>
#include <vector>

#include "conformance/harness/case.h"
#include "conformance/suites/operators/operator_backend.h"
#include "conformance/suites/operators/tensor_program.h"
#include "reports/result/result.h"

namespace plumbline::suites {

inline constexpr std::uint64_t kWithOperators =
    PL_CAPABILITY(CORE) | PL_CAPABILITY(BOXED) | PL_CAPABILITY(TENSORS) | PL_CAPABILITY(OPERATORS);

// Sorted by id.
std::vector<harness::Case> ProgramCases(const std::string& folder, const std::string& device);

// Runs it and judges. kPass, kUnsupported (then `got` says what is missing), or a failure.
struct ProgramVerdict {
  reports::Verdict verdict = reports::Verdict::kPass;
  int line = 0;
  std::string statement, expected, got;
  // What a pass leaves unsaid, by line: a call that is refused, as its clauses say, where the program expects nothing;
  // elements that nobody could look at.
  std::vector<std::pair<int, std::string>> notes{};
};
ProgramVerdict TryProgram(OperatorBackend& backend, const TensorProgram& program);

// Saves a program as that of a failure; the line that replays it.
std::string ReplayLine(harness::CaseContext& ctx, const std::string& program, const std::string& device);

}  // namespace plumbline::suites

#endif  // PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_PROGRAM_CASES_H_
