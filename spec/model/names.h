// Names near to a misspelt one, for messages: "Could not find operator 'demo::ff'. Near: demo::f".
//
// Pure functions; any thread.
#ifndef PLUMBLINE_SPEC_MODEL_NAMES_H_
#define PLUMBLINE_SPEC_MODEL_NAMES_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace plumbline::model {

// The least number of slips that make one of the other: a letter put in, left out or replaced, or two neighbours that
// changed places.
int EditDistance(std::string_view a, std::string_view b);

// "ns::name.overload" in its parts; what is not there is empty.
struct NameParts {
  std::string_view name_space, base, overload;
};
NameParts SplitName(std::string_view name);

// At most three of `known`, nearest first, and none that is clearly farther than the nearest. Namespace, name and
// overload are compared each for itself, and may have one slip for every few letters; where two of the three are right
// the third may be anything. A missing namespace or overload counts half a slip, and letter case
// less than that.
std::vector<std::string> Nearest(std::string_view name, std::span<const std::string> known);

std::string Join(std::span<const std::string> parts, std::string_view separator);

}  // namespace plumbline::model

#endif  // PLUMBLINE_SPEC_MODEL_NAMES_H_
