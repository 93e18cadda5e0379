// A number with its noun, for everything that people read.
//
//   Counted(1, "case")                    // "1 case"
//   Counted(2, "case")                    // "2 cases"
//   Counted(2, "case differs", "cases differ")
//
// Pure; any thread.
#ifndef PLUMBLINE_REPORTS_TEXT_COUNTED_H_
#define PLUMBLINE_REPORTS_TEXT_COUNTED_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace plumbline::reports {

inline std::string Counted(std::uint64_t number, std::string_view one, std::string_view many = {}) {
  std::string text = std::to_string(number) + " ";
  if (number == 1) return text.append(one);
  return many.empty() ? text.append(one).append("s") : text.append(many);
}

}  // namespace plumbline::reports

#endif  // PLUMBLINE_REPORTS_TEXT_COUNTED_H_
