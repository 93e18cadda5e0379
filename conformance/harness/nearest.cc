#include "conformance/harness/nearest.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace plumbline::harness {
namespace {

// How many characters have to be put in, taken out or replaced.
std::size_t Distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({row[j + 1] + 1, row[j] + 1, replaced});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string Nearest(std::string_view name, const std::vector<std::string>& names) {
  // Two characters that changed places count as two.
  std::size_t best = name.size() < 4 ? 2 : std::max<std::size_t>(name.size() / 3, 2) + 1;
  std::string nearest;
  for (const std::string& candidate : names) {
    std::size_t distance = Distance(name, candidate);
    // "RES-004" is near "resolution/RES-004-newest".
    if (name.size() >= 4 && candidate.find(name) != std::string::npos) distance = 1;
    if (distance < best) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

std::string DidYouMean(std::string_view name, const std::vector<std::string>& names) {
  const std::string nearest = Nearest(name, names);
  return nearest.empty() ? "" : "; did you mean '" + nearest + "'?";
}

}  // namespace plumbline::harness
