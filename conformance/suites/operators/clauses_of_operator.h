// The clauses that the drawn calls of an operator put to the test: those whose breach its case would report.
//
//   ClausesOfOperator("add.Tensor");    // {"OPER-010", "OPER-020", "OPER-038", ...}
//   ClausesOfOperator("add_.Tensor");   // with OPER-030 and OPER-031, without what is only seen of a fresh result
//
// They follow from the operator's row of the table and from what its drawer draws and the oracle compares. A clause
// that the table lists, and that no drawn call could show to be broken, is not among them: indices are always drawn as
// int64, so none is evidence for OPER-094. Where a drawer or the oracle learns more, a rule here says so. Pure; any
// thread.
#ifndef PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_CLAUSES_OF_OPERATOR_H_
#define PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_CLAUSES_OF_OPERATOR_H_

#include <string>
#include <string_view>
#include <vector>

namespace plumbline::suites {

// Sorted. The name is without "aten::"; empty of one that the table does not have.
std::vector<std::string> ClausesOfOperator(std::string_view name);

}  // namespace plumbline::suites

#endif  // PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_CLAUSES_OF_OPERATOR_H_
