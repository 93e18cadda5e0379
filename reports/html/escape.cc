#include "reports/html/escape.h"

#include "reports/text/shown.h"

namespace plumbline::reports {

std::string Escape(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : Visible(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string EscapeInLine(std::string_view text) { return Escape(ShownInLine(text)); }

}  // namespace plumbline::reports
