// Text that is not ours, such as names in a scenario and what a backend says, as a terminal may show it.
//
//   Shown("k\x1b[2J")    // R"(k\x1b[2J)": nothing in it moves the cursor, sounds the bell or turns the text around
//   Shown(long_line)     // "...kernel k > ... (37,952 more bytes)"
//   ShownInLine("a\nb")  // R"(a\x0ab)"
//   Visible(text)        // escaped the same way, and not cut: for files
//
// Line ends and tabs stay but where a text has to fit into a line. Pure functions; any thread.
#ifndef PLUMBLINE_REPORTS_TEXT_SHOWN_H_
#define PLUMBLINE_REPORTS_TEXT_SHOWN_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace plumbline::reports {

// How long a line may be before its rest is counted instead of shown.
inline constexpr std::size_t kLongestLine = 2000;

// Control characters as \x1b, those beyond ASCII and marks that turn the direction of text as \u202e, bytes that are no
// UTF-8 as \xff. What comes out is UTF-8, fit for XML.
std::string Visible(std::string_view text);

// Visible, and no line longer than kLongestLine by more than the words that count what is left out.
std::string Shown(std::string_view text);

// Shown, on one line: line ends and tabs too are escaped. For names and versions.
std::string ShownInLine(std::string_view text);

// The bytes of the UTF-8 character that `text` starts with; 0 if it starts with none.
std::size_t CharacterLength(std::string_view text);

}  // namespace plumbline::reports

#endif  // PLUMBLINE_REPORTS_TEXT_SHOWN_H_
