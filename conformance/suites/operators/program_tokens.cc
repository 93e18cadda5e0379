#include "conformance/suites/operators/program_tokens.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>

namespace plumbline::suites {
namespace {

bool IsWordCharacter(char c) {
  return (std::isalnum(static_cast<unsigned char>(c)) != 0) || c == '_' || c == '.' || c == ':' || c == '-';
}

}  // namespace

std::vector<ProgramToken> SplitProgram(std::string_view text) {
  using Kind = ProgramToken::Kind;
  std::vector<ProgramToken> tokens;
  int line = 1;
  std::size_t begin = 0;  // of the line
  const auto fail = [&](std::size_t at, const std::string& what) {
    throw ProgramSyntaxError{fmt::format("{}:{}: {}", line, at - begin + 1, what)};
  };
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    const int column = static_cast<int>(at - begin + 1);
    if (c == '\n') {
      tokens.push_back({Kind::kLineEnd, "", line, column});
      begin = ++at;
      ++line;
    } else if (c == ' ' || c == '\t' || c == '\r') {
      ++at;
    } else if (c == '#') {
      at = std::min(text.find('\n', at), text.size());
    } else if (c == '"') {
      const std::size_t end = text.find_first_of("\"\n", at + 1);
      if (end == std::string_view::npos || text[end] == '\n') fail(at, "a text without its closing \"");
      tokens.push_back({Kind::kText, std::string(text.substr(at + 1, end - at - 1)), line, column});
      at = end + 1;
    } else if (text.substr(at, 2) == "=>") {
      tokens.push_back({Kind::kMark, "=>", line, column});
      at += 2;
    } else if (std::string_view("=()[]{},/+").find(c) != std::string_view::npos) {
      tokens.push_back({Kind::kMark, std::string(1, c), line, column});
      ++at;
    } else if (IsWordCharacter(c)) {
      std::size_t end = at;
      // The sign of an exponent is of the number.
      const auto exponent = [&] {
        return text[end] == '+' && end - at > 1 && text[end - 1] == 'e' &&
               std::isdigit(static_cast<unsigned char>(text[end - 2])) != 0;
      };
      while (end < text.size() && (IsWordCharacter(text[end]) || (end > at && exponent()))) ++end;
      const bool begins = tokens.empty() || tokens.back().kind == Kind::kLineEnd;
      tokens.push_back({Kind::kWord, std::string(text.substr(at, end - at)), line, column});
      at = end;
      // A title is any text, to the end of its line.
      const std::size_t next = text.find_first_not_of(" \t", at);
      const std::size_t line_end = std::min(text.find_first_of("\r\n", at), text.size());
      if (begins && tokens.back().text == "title" && next < line_end && text[next] != '=' && text[next] != ',') {
        tokens.push_back({Kind::kText, std::string(text.substr(next, line_end - next)), line, column});
        at = line_end;
      }
    } else {
      fail(at, fmt::format("the character '{}' means nothing here", c));
    }
  }
  tokens.push_back({Kind::kLineEnd, "", line, 1});
  tokens.push_back({Kind::kEnd, "", line, 1});
  return tokens;
}

}  // namespace plumbline::suites
