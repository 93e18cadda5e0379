// A run as JUnit XML, which every CI system reads: a suite for each chapter, a test case for each case.
//
// Waived and unsupported cases are skipped ones, with the reason; vacuous and inconclusive cases and harness errors are
// errors, because only pass counts as pass.
#ifndef PLUMBLINE_REPORTS_JUNIT_JUNIT_H_
#define PLUMBLINE_REPORTS_JUNIT_JUNIT_H_

#include <string>

#include "reports/result/result.h"

namespace plumbline::reports {

std::string ToJUnit(const Run& run, const SideNotes& notes);

}  // namespace plumbline::reports

#endif  // PLUMBLINE_REPORTS_JUNIT_JUNIT_H_
