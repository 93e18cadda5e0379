// The tensor programs of the corpus, the registered cases of the chapter, and a case for each operator that the suite
// has an oracle for: many drawn calls, each compared with what it should come to.
//
//   std::vector<Case> cases = OperatorCases({.device = "meta"});          // "operators/add.Tensor", ...
//
// A case draws calls for each dtype, sends them to the executor in batches, and compares. What fails is made smaller
// (fewer and smaller dimensions, plainer layouts and values) as long as it fails in the same way, and is reported as a
// program that replays it. Calls of dtypes that the backend does not implement for the operator (PL_ERROR_NO_DTYPE,
// PL_ERROR_NO_KERNEL) do not count; where none counts, the case is unsupported. Cases run in workers, as others do.
#ifndef PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_OPERATOR_CASES_H_
#define PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_OPERATOR_CASES_H_

#include <string>
#include <vector>

#include "conformance/harness/case.h"

namespace plumbline::suites {

// Cases of this chapter are for tensors and operators: PL_CASE(kOperatorsChapter, ...) is one of OperatorCases().
inline constexpr const char* kOperatorsChapter = "operators";

struct OperatorOptions {
  std::string device;  // of the tensors; empty: the backend's default one
};
std::vector<harness::Case> OperatorCases(const OperatorOptions& options = {});

}  // namespace plumbline::suites

#endif  // PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_OPERATOR_CASES_H_
