// What to add next to a backend that claims little.
//
//   fmt::print("{}", NextClaim(run.backend.capabilities, facts.entries, false));   // "next: claim core: ...", or
//   nothing
//
// Pure; any thread.
#ifndef PLUMBLINE_CONFORMANCE_CLI_NEXT_CLAIM_H_
#define PLUMBLINE_CONFORMANCE_CLI_NEXT_CLAIM_H_

#include <string>
#include <vector>

namespace plumbline::cli {

// `claimed` has the spellings of spec/tables/capabilities.h, `entries` the names of the table's entries that are there
// (spec/abi/abi.h), from which follows how many members of a claim are given and which are missing. A few lines, or
// nothing for a backend that has come past the first steps and begun no other claim: the rest is its author's choice.
// `of_operators`: what the profile of operators needs comes first.
std::string NextClaim(const std::vector<std::string>& claimed, const std::vector<std::string>& entries,
                      bool of_operators = false);

}  // namespace plumbline::cli

#endif  // PLUMBLINE_CONFORMANCE_CLI_NEXT_CLAIM_H_
