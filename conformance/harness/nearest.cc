#include "conformance/harness/nearest.h"

#include <algorithm>
#include <cctype>

#include "spec/model/names.h"

namespace plumbline::harness {
namespace {

// Letters that both start with.
std::size_t CommonStart(std::string_view a, std::string_view b) {
  return static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
}

}  // namespace

std::string UpperCase(std::string_view text) {
  std::string upper(text);
  for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return upper;
}

std::string Nearest(std::string_view name, const std::vector<std::string>& names) {
  std::size_t best = name.size() < 4 ? 2 : std::max<std::size_t>(name.size() / 3, 2) + 1;
  std::string nearest;
  const std::string wanted = UpperCase(name);
  for (const std::string& one : names) {
    const std::string candidate = UpperCase(one);
    std::size_t distance = static_cast<std::size_t>(model::EditDistance(wanted, candidate));
    // "RES-004" is near "resolution/RES-004-newest", and "cache" near "caching".
    if (name.size() >= 4 && candidate.find(wanted) != std::string::npos) distance = std::min<std::size_t>(distance, 1);
    const std::size_t start = CommonStart(wanted, candidate);
    if (start >= 4 && 3 * start >= 2 * wanted.size()) distance = std::min<std::size_t>(distance, 2);
    if (distance < best) {
      best = distance;
      nearest = one;
    }
  }
  return nearest;
}

std::string DidYouMean(std::string_view name, const std::vector<std::string>& names) {
  const std::string nearest = Nearest(name, names);
  return nearest.empty() ? "" : "; did you mean '" + nearest + "'?";
}

std::string OneOf(std::string_view name, const std::vector<std::string>& names) {
  std::string text = "'" + std::string(name) + "' is none of ";
  for (std::size_t i = 0; i < names.size(); ++i) text += (i == 0 ? "" : ", ") + names[i];
  return text + DidYouMean(name, names);
}

}  // namespace plumbline::harness
