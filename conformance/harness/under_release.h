// A scenario as it reads with the keys of the backend's release, where it was written with those of another.
//
//   const OrError<Scenario> there = UnderRelease(scenario, facts);
//   if (there.ok()) ctx.Check(*there);
//   hunt.Run(WithKeysOf(facts, scenario));            // so, or as it was written
//   if (auto step = WrittenForAnotherState(scenario, facts)) ctx.Unsupported(*step);
//
// Little of what scenarios say is about one release's keys. A scenario holds there if the model, with that release's
// keys and what the backend brings of its own, gives every step the outcome that its author wrote, and at every step
// the same error and the same kernels as with the keys that it was written with. Else the error says which step
// differs: the scenario is about its own release. Pure functions; any thread.
#ifndef PLUMBLINE_CONFORMANCE_HARNESS_UNDER_RELEASE_H_
#define PLUMBLINE_CONFORMANCE_HARNESS_UNDER_RELEASE_H_

#include <optional>
#include <string>

#include "conformance/harness/backend_facts.h"
#include "conformance/harness/or_error.h"
#include "spec/scenario/scenario.h"

namespace plumbline::harness {

// Where a scenario of the backend's own release is about a state that the backend does not start from, as when a
// library of --load brings a fallback: which step then has another outcome than is written. Empty: none.
std::optional<std::string> WrittenForAnotherState(const scenario::Scenario& scenario, const BackendFacts& facts);

// Its own release must be a known one.
OrError<scenario::Scenario> UnderRelease(scenario::Scenario scenario, const BackendFacts& facts);

// The same where it holds there, else the scenario as it is, which a backend of another release refuses.
scenario::Scenario WithKeysOf(const BackendFacts& facts, scenario::Scenario scenario);

}  // namespace plumbline::harness

#endif  // PLUMBLINE_CONFORMANCE_HARNESS_UNDER_RELEASE_H_
