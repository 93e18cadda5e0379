#include "conformance/harness/glob.h"

namespace plumbline::harness {

bool MatchesGlob(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern.front() == '*') {
    for (std::size_t skip = 0; skip <= text.size(); ++skip) {
      if (MatchesGlob(pattern.substr(1), text.substr(skip))) return true;
    }
    return false;
  }
  if (text.empty() || (pattern.front() != '?' && pattern.front() != text.front())) return false;
  return MatchesGlob(pattern.substr(1), text.substr(1));
}

}  // namespace plumbline::harness
