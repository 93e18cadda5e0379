#include "conformance/cli/keys_text.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "spec/tables/releases.h"

namespace plumbline::cli {

using harness::InputError;
using harness::OrError;
using model::Key;
using model::KeyTable;

std::vector<std::string> FoldKeys(const KeyTable& table, std::vector<Key> keys) {
  std::sort(keys.begin(), keys.end());
  const auto functionality_of = [&](Key key) {
    const auto bits = table.SetOf(key).functionalities;
    std::size_t at = 0;
    while (at < bits.size() && !bits[at]) ++at;
    return at;
  };
  std::vector<std::string> words;
  for (std::size_t i = 0; i < keys.size();) {
    if (!table.IsPerBackend(keys[i])) {
      words.push_back(table.Name(keys[i++]));
      continue;
    }
    const std::size_t functionality = functionality_of(keys[i]);
    std::vector<std::string> present, absent;
    for (Key key = 0; key < table.slot_count(); ++key) {
      if (!table.IsPerBackend(key) || functionality_of(key) != functionality) continue;
      const bool given = i < keys.size() && keys[i] == key;
      (given ? present : absent).push_back(table.Name(key));
      if (given) ++i;
    }
    if (absent.size() > 3 || present.size() < 3) {
      words.insert(words.end(), present.begin(), present.end());
      continue;
    }
    const std::string& name = table.functionalities()[functionality];
    constexpr std::string_view kSuffix = "Functionality";
    std::string word = name.ends_with(kSuffix) ? name.substr(0, name.size() - kSuffix.size()) : name;
    word += "*";
    if (!absent.empty()) word += fmt::format(" (but {})", fmt::join(absent, ", "));
    words.push_back(std::move(word));
  }
  return words;
}

std::string Wrapped(const std::vector<std::string>& words, int indent) {
  std::string text;
  std::size_t width = static_cast<std::size_t>(indent);
  for (const std::string& word : words) {
    if (!text.empty() && width + 1 + word.size() > 100) {
      text += "\n" + std::string(static_cast<std::size_t>(indent), ' ');
      width = static_cast<std::size_t>(indent);
    } else if (!text.empty()) {
      text += " ";
      ++width;
    }
    text += word;
    width += word.size();
  }
  return text;
}

OrError<Key> ReadKey(const std::string& name, const KeyTable& table) {
  if (const auto key = table.Find(name)) return *key;
  const std::vector<std::string> near = table.NearestNames(name);
  return InputError{fmt::format("there is no dispatch key '{}'{}; `plumbline keys` lists them", name,
                                near.empty() ? "" : fmt::format(" (near: {})", fmt::join(near, ", ")))};
}

namespace {

std::string_view Trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

// Between commas, or, where there is none, between blanks; an empty one where nothing stands between two commas.
std::vector<std::string> Entries(std::string_view text) {
  const char separator = text.find(',') != std::string_view::npos ? ',' : ' ';
  std::vector<std::string> entries;
  while (true) {
    const std::size_t end = text.find(separator);
    const std::string_view entry = Trimmed(text.substr(0, end));
    if (!entry.empty() || separator == ',') entries.emplace_back(entry);
    if (end == std::string_view::npos) return entries;
    text.remove_prefix(end + 1);
  }
}

}  // namespace

OrError<std::vector<std::string>> ReadKeys(const std::string& text, const KeyTable& table) {
  std::string_view inside = Trimmed(text);
  if (inside.starts_with('[') != inside.ends_with(']')) {
    return InputError{fmt::format("'{}' has one bracket of two", text)};
  }
  if (inside.starts_with('[')) {
    inside = Trimmed(inside.substr(1, inside.size() - 2));
    if (inside.empty()) return std::vector<std::string>();
  } else if (inside.empty()) {
    return InputError{"no key is named; give keys, such as CPU,AutogradCPU, or [] for none"};
  }
  std::vector<std::string> names;
  for (const std::string& name : Entries(inside)) {
    if (name.empty()) return InputError{fmt::format("in '{}' nothing stands beside a comma", text)};
    const OrError<Key> key = ReadKey(name, table);
    if (!key.ok()) return InputError{key.error()};
    if (table.IsAlias(*key)) {
      return InputError{
          fmt::format("'{}' is an alias key: kernels are registered at it, but no tensor carries it", name)};
    }
    if (std::find(names.begin(), names.end(), table.Name(*key)) != names.end()) {
      return InputError{fmt::format("'{}' names {} twice", text, table.Name(*key))};
    }
    names.push_back(table.Name(*key));
  }
  return names;
}

OrError<const tables::ReleaseData*> ReadRelease(const std::string& name) {
  if (const tables::ReleaseData* release = model::FindRelease(name)) return release;
  std::vector<std::string_view> names;
  for (const tables::ReleaseData* release : tables::kReleases) names.push_back(release->name);
  return InputError{fmt::format("there is no table of dispatch keys for the release '{}'; there are: {}", name,
                                fmt::join(names, ", "))};
}

}  // namespace plumbline::cli
