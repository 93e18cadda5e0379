// Text as XML and HTML want it: the five special characters escaped, and control characters and bytes that are no UTF-8
// made visible, which XML forbids.
#ifndef PLUMBLINE_REPORTS_HTML_ESCAPE_H_
#define PLUMBLINE_REPORTS_HTML_ESCAPE_H_

#include <string>
#include <string_view>

namespace plumbline::reports {

std::string Escape(std::string_view text);

// The same on one line, for names and versions.
std::string EscapeInLine(std::string_view text);

}  // namespace plumbline::reports

#endif  // PLUMBLINE_REPORTS_HTML_ESCAPE_H_
