// The corpus as cases: every scenario file is one, under the id CHAPTER/STEM, such as resolution/RES-004-newest.
//
//   OrError<std::vector<Case>> cases = CorpusCases(CorpusFolder());
//
// A file is read when its case runs; only its clauses are read before. What it expects is first checked against the
// model: a difference is the file's fault. A file is run as it is written, where the backend has that release, and, if
// it is not about its keys, with those of the release in force (under_release.h). The recorded tables (chapter
// `tables`) are about their own, and start with the standard tier.
#ifndef PLUMBLINE_CONFORMANCE_SUITES_CORPUS_CASES_H_
#define PLUMBLINE_CONFORMANCE_SUITES_CORPUS_CASES_H_

#include <string>
#include <vector>

#include "conformance/harness/case.h"
#include "conformance/harness/or_error.h"

namespace plumbline::suites {

// Sorted by id. The error says that the folder is missing or empty.
harness::OrError<std::vector<harness::Case>> CorpusCases(const std::string& folder);

// The corpus of scenarios and the registered cases, sorted by id; operator_cases.h has those of operators.
harness::OrError<std::vector<harness::Case>> AllCases();

}  // namespace plumbline::suites

#endif  // PLUMBLINE_CONFORMANCE_SUITES_CORPUS_CASES_H_
