// The name that a mistyped one was probably meant to be.
//
//   "there is no case 'x'" + DidYouMean("x", ids)   // "; did you mean 'y'?", or nothing
//   OneOf("qick", {"quick", "full"})                // "'qick' is none of quick, full; did you mean 'quick'?"
//
// Pure functions; any thread.
#ifndef PLUMBLINE_CONFORMANCE_HARNESS_NEAREST_H_
#define PLUMBLINE_CONFORMANCE_HARNESS_NEAREST_H_

#include <string>
#include <string_view>
#include <vector>

namespace plumbline::harness {

// Empty if none is near. Letter case does not count.
std::string Nearest(std::string_view name, const std::vector<std::string>& names);
std::string DidYouMean(std::string_view name, const std::vector<std::string>& names);
std::string OneOf(std::string_view name, const std::vector<std::string>& names);

std::string UpperCase(std::string_view text);

}  // namespace plumbline::harness

#endif  // PLUMBLINE_CONFORMANCE_HARNESS_NEAREST_H_
