// Reductions of the oracle; see oracle.h. Pure; any thread.
#ifndef PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_ORACLE_REDUCTIONS_H_
#define PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_ORACLE_REDUCTIONS_H_

#include <map>
#include <string>

#include "conformance/suites/operators/oracle.h"

namespace plumbline::suites {

void AddReductions(std::map<std::string, Oracle, std::less<>>& oracles);

}  // namespace plumbline::suites

#endif  // PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_ORACLE_REDUCTIONS_H_
