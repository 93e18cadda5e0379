// What to add next to a backend that claims little.
//
//   fmt::print("{}", NextClaim(run.backend.capabilities));   // "next: claim core: ...", or nothing
//
// Pure; any thread.
#ifndef PLUMBLINE_CONFORMANCE_CLI_NEXT_CLAIM_H_
#define PLUMBLINE_CONFORMANCE_CLI_NEXT_CLAIM_H_

#include <string>
#include <vector>

namespace plumbline::cli {

// `claimed` has the spellings of spec/tables/capabilities.h. A few lines, or nothing for a backend that has come past
// the first steps: the rest is its author's choice.
std::string NextClaim(const std::vector<std::string>& claimed);

}  // namespace plumbline::cli

#endif  // PLUMBLINE_CONFORMANCE_CLI_NEXT_CLAIM_H_
