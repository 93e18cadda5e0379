#include "spec/model/names.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

namespace plumbline::model {
namespace {

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

// How many slips a part of that length may have and still be recognised.
int Allowed(std::size_t length) { return length <= 1 ? 0 : length <= 4 ? 1 : length <= 8 ? 2 : 3; }

// What counts how much: what was left out less than a slip, and a part that is not near at all more.
constexpr int kLeftOut = 1, kSlip = 2, kOther = 6;

// What the slips of one part count; none where it is not near.
std::optional<int> SlipsOf(std::string_view wanted, std::string_view known) {
  const int allowed = Allowed(wanted.size());
  const std::size_t difference = std::max(wanted.size(), known.size()) - std::min(wanted.size(), known.size());
  if (static_cast<int>(difference) > allowed) return std::nullopt;
  const int distance = EditDistance(wanted, known);
  return distance <= allowed ? std::optional(kSlip * distance) : std::nullopt;
}

std::optional<int> Slips(const NameParts& wanted, const NameParts& known) {
  const std::optional<int> base = SlipsOf(wanted.base, known.base);
  if (!base) return std::nullopt;
  std::optional<int> name_space = SlipsOf(wanted.name_space, known.name_space);
  if (!name_space && wanted.name_space.empty()) name_space = kLeftOut;
  std::optional<int> overload = SlipsOf(wanted.overload, known.overload);
  if (!overload && wanted.overload.empty()) overload = kLeftOut;
  if (!name_space && !overload) return std::nullopt;
  // One letter says too little to find a name by it in another namespace.
  if (!name_space) return *base == 0 && *overload == 0 && wanted.base.size() > 1 ? std::optional(kOther) : std::nullopt;
  if (!overload) return *base == 0 && *name_space == 0 ? std::optional(kOther) : std::nullopt;
  return *name_space + *base + *overload;
}

// The name split as it is spelled; and as some spell it, ns.name.overload.
std::vector<NameParts> Readings(std::string_view name) {
  std::vector<NameParts> readings = {SplitName(name)};
  const std::size_t dot = name.find('.');
  if (readings[0].name_space.empty() && dot != std::string_view::npos && dot > 0) {
    NameParts parts = SplitName(name.substr(dot + 1));
    parts.name_space = name.substr(0, dot);
    readings.push_back(parts);
  }
  return readings;
}

}  // namespace

int EditDistance(std::string_view a, std::string_view b) {
  // What both begin or end with costs nothing; most names differ in a few letters.
  while (!a.empty() && !b.empty() && a.front() == b.front()) a.remove_prefix(1), b.remove_prefix(1);
  while (!a.empty() && !b.empty() && a.back() == b.back()) a.remove_suffix(1), b.remove_suffix(1);
  if (a.empty() || b.empty()) return static_cast<int>(a.size() + b.size());
  // Three rows; names are short, and there may be thousands to compare with.
  constexpr std::size_t kShort = 64;
  const std::size_t width = b.size() + 1;
  int few[3 * kShort];
  std::vector<int> many(width > kShort ? 3 * width : 0);
  int* row = many.empty() ? few : many.data();
  int* last = row + width;
  int* before_last = last + width;
  std::iota(row, row + width, 0);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::swap(before_last, last);
    std::swap(last, row);
    row[0] = static_cast<int>(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before_last[j - 2] + 1);
      }
    }
  }
  return row[b.size()];
}

NameParts SplitName(std::string_view name) {
  NameParts parts;
  if (const std::size_t colon = name.find(':'); colon != std::string_view::npos) {
    parts.name_space = name.substr(0, colon);
    name.remove_prefix(std::min(name.find_first_not_of(':', colon), name.size()));
  }
  const std::size_t dot = name.find('.');
  parts.base = name.substr(0, dot);
  if (dot != std::string_view::npos) parts.overload = name.substr(dot + 1);
  return parts;
}

std::vector<std::string> Nearest(std::string_view name, std::span<const std::string> known) {
  const std::string wanted = Lower(name);
  const std::vector<NameParts> readings = Readings(wanted);
  std::vector<std::tuple<int, bool, std::string_view>> near;  // slips; whether letter case adds to them
  for (const std::string& candidate : known) {
    if (candidate == name) continue;
    const std::string lower = Lower(candidate);
    std::optional<int> least;
    for (const NameParts& reading : readings) {
      const std::optional<int> slips = Slips(reading, SplitName(lower));
      if (slips && (!least || *slips < *least)) least = slips;
    }
    if (least) near.emplace_back(*least, kSlip * EditDistance(name, candidate) > *least, candidate);
  }
  std::sort(near.begin(), near.end());
  std::vector<std::string> names;
  for (const auto& [slips, lower, candidate] : near) {
    if (names.size() == 3 || slips > std::get<0>(near.front()) + kSlip) break;
    names.emplace_back(candidate);
  }
  return names;
}

std::string Join(std::span<const std::string> parts, std::string_view separator) {
  std::string text;
  for (const std::string& part : parts) {
    if (!text.empty()) text += separator;
    text += part;
  }
  return text;
}

}  // namespace plumbline::model
