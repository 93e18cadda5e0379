#include "reports/text/shown.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace plumbline::reports {
namespace {

std::uint32_t Decode(std::string_view character) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(character[i])); };
  std::uint32_t code = character.size() == 1 ? byte(0) : byte(0) & (0x7fu >> character.size());
  for (std::size_t i = 1; i < character.size(); ++i) code = code << 6 | (byte(i) & 0x3f);
  return code;
}

bool IsHarmless(std::uint32_t code) {
  if (code < 0x20) return code == '\n' || code == '\t';
  if (code >= 0x7f && code < 0xa0) return false;                         // DEL and the second set of controls
  if (code == 0x061c || code == 0x200e || code == 0x200f) return false;  // marks of direction
  if (code >= 0x2028 && code <= 0x202e) return false;                    // ends of lines and paragraphs, and direction
  if (code >= 0x2066 && code <= 0x2069) return false;
  return code != 0xfeff && code != 0xfffe && code != 0xffff;
}

// "37,952"
std::string Grouped(std::size_t number) {
  const std::string digits = std::to_string(number);
  std::string grouped;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) grouped += ',';
    grouped += digits[i];
  }
  return grouped;
}

}  // namespace

std::size_t CharacterLength(std::string_view text) {
  if (text.empty()) return 0;
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x80) return 1;
  const std::size_t length = byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : 2;
  if (byte(0) < 0xc2 || byte(0) > 0xf4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  // Longer than need be, half of a pair, or beyond the last character.
  const std::uint32_t code = Decode(text.substr(0, length));
  if ((length == 3 && code < 0x800) || (length == 4 && code < 0x10000) || code > 0x10ffff) return 0;
  return code >= 0xd800 && code <= 0xdfff ? 0 : length;
}

std::string Visible(std::string_view text) {
  std::string visible;
  visible.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = CharacterLength(text);
    if (length == 0) {
      visible += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
      text.remove_prefix(1);
      continue;
    }
    const std::string_view character = text.substr(0, length);
    text.remove_prefix(length);
    const std::uint32_t code = Decode(character);
    if (IsHarmless(code)) {
      visible += character;
    } else {
      visible += code < 0x80 ? fmt::format("\\x{:02x}", code) : fmt::format("\\u{:04x}", code);
    }
  }
  return visible;
}

std::string Shown(std::string_view text) {
  const std::string visible = Visible(text);
  std::string shown;
  for (std::string_view rest = visible;;) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    if (end <= kLongestLine) {
      shown += rest.substr(0, end);
    } else {
      std::size_t cut = kLongestLine;
      while ((static_cast<unsigned char>(rest[cut]) & 0xc0) == 0x80) --cut;  // not inside a character
      shown += fmt::format("{}... ({} more bytes)", rest.substr(0, cut), Grouped(end - cut));
    }
    if (end == rest.size()) return shown;
    shown += '\n';
    rest.remove_prefix(end + 1);
  }
}

std::string ShownInLine(std::string_view text) {
  std::string line;
  for (const char c : Shown(text)) {
    line += c == '\n' || c == '\t' ? fmt::format("\\x{:02x}", static_cast<unsigned char>(c)) : std::string(1, c);
  }
  return line;
}

}  // namespace plumbline::reports
