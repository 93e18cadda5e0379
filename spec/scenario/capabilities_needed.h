// What a backend must claim for a scenario to be run on it.
//
//   std::uint64_t missing = CapabilitiesNeeded(scenario) & ~adapter->capabilities;  // not 0: unsupported
//   CapabilityNames(missing)  ==  {"guards", "redispatch"}
//
// Bits are those of spec/tables/capabilities.h. Pure functions of values; any thread.
#ifndef PLUMBLINE_SPEC_SCENARIO_CAPABILITIES_NEEDED_H_
#define PLUMBLINE_SPEC_SCENARIO_CAPABILITIES_NEEDED_H_

#include <cstdint>
#include <string>
#include <vector>

#include "spec/scenario/scenario.h"

namespace plumbline::scenario {

std::uint64_t CapabilitiesNeeded(const Scenario& scenario);

// Spellings of the bits that are set, lowest first.
std::vector<std::string> CapabilityNames(std::uint64_t capabilities);

}  // namespace plumbline::scenario

#endif  // PLUMBLINE_SPEC_SCENARIO_CAPABILITIES_NEEDED_H_
