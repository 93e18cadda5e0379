// Patterns over names: `*` stands for any text, `?` for any character.
//
//   MatchesGlob("tls/*", "tls/guards")
//
// A pure function; any thread.
#ifndef PLUMBLINE_CONFORMANCE_HARNESS_GLOB_H_
#define PLUMBLINE_CONFORMANCE_HARNESS_GLOB_H_

#include <string_view>

namespace plumbline::harness {

bool MatchesGlob(std::string_view pattern, std::string_view text);

}  // namespace plumbline::harness

#endif  // PLUMBLINE_CONFORMANCE_HARNESS_GLOB_H_
