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

// The least number of single-letter insertions, removals and replacements that make one of the other.
int EditDistance(std::string_view a, std::string_view b);

// At most three of `known`, nearest first, each within a third of the name's length (at least two); letter case counts
// less than any other slip.
std::vector<std::string> Nearest(std::string_view name, std::span<const std::string> known);

std::string Join(std::span<const std::string> parts, std::string_view separator);

}  // namespace plumbline::model

#endif  // PLUMBLINE_SPEC_MODEL_NAMES_H_
