// Elementwise operators of the oracle; see oracle.h. Pure; any thread.
#ifndef PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_ORACLE_ELEMENTWISE_H_
#define PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_ORACLE_ELEMENTWISE_H_

#include <map>
#include <string>

#include "conformance/suites/operators/oracle.h"

namespace plumbline::suites {

void AddElementwise(std::map<std::string, Oracle, std::less<>>& oracles);

}  // namespace plumbline::suites

#endif  // PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_ORACLE_ELEMENTWISE_H_
