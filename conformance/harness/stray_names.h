// Names that a scenario releases, leaves, closes or calls by and that none of its steps gives: slips of the pen, since
// such a step ends before the backend is asked.
//
//   for (const StrayName& stray : StrayNames(scenario)) ...   // `release d1`, where nothing is made `as d1`
//
// Order does not count: what is released before it is made has a name. Pure function; any thread.
#ifndef PLUMBLINE_CONFORMANCE_HARNESS_STRAY_NAMES_H_
#define PLUMBLINE_CONFORMANCE_HARNESS_STRAY_NAMES_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "spec/scenario/scenario.h"

namespace plumbline::harness {

struct StrayName {
  std::string name;
  const char* what = "";            // "a registration", "a library", "a handle" or "a guard"
  std::vector<std::string> given;   // names of that kind that there are
  std::optional<std::size_t> step;  // of the scenario's own; absent: in the body of a kernel
  int line = 0;
};

std::vector<StrayName> StrayNames(const scenario::Scenario& scenario);

// The scenario with `=> error not-found` behind each of its own steps that has a stray name and no outcome: what is
// left of a generated one may release what nothing makes any more, and unsaid that reads as a slip.
scenario::Scenario WithStraysMeant(scenario::Scenario scenario);

}  // namespace plumbline::harness

#endif  // PLUMBLINE_CONFORMANCE_HARNESS_STRAY_NAMES_H_
