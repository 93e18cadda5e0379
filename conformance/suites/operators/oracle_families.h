// The families of the oracle, each in a file of its own: oracle_elementwise.cc, oracle_softmax.cc, ...
//
//   Oracles oracles;
//   AddSoftmax(oracles);                      // "softmax.int", "_softmax", ...
//   AddSoftmaxDrawers(drawers);               // in draw_softmax.cc: what draws their calls
//
// Pure; any thread.
#ifndef PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_ORACLE_FAMILIES_H_
#define PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_ORACLE_FAMILIES_H_

#include <map>
#include <string>

#include "conformance/suites/operators/oracle.h"

namespace plumbline::suites {

using Oracles = std::map<std::string, Oracle, std::less<>>;

void AddElementwise(Oracles& oracles);  // of which the dtype and the values are the whole of it
void AddPointwise(Oracles& oracles);    // elementwise ones with arguments of their own
void AddReductions(Oracles& oracles);   // sums, products, and their scans
void AddSelections(Oracles& oracles);   // greatest, least, any, all
void AddStatistics(Oracles& oracles);   // variance, norm, logsumexp
void AddMatrix(Oracles& oracles);
void AddSoftmax(Oracles& oracles);
void AddNormalisation(Oracles& oracles);
void AddViews(Oracles& oracles);
void AddCopying(Oracles& oracles);
void AddJoining(Oracles& oracles);
void AddIndexing(Oracles& oracles);
void AddFactories(Oracles& oracles);
void AddConvolution(Oracles& oracles);  // and pooling
void AddLosses(Oracles& oracles);
void AddRandom(Oracles& oracles);

}  // namespace plumbline::suites

#endif  // PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_ORACLE_FAMILIES_H_
