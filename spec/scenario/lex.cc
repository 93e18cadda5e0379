#include "spec/scenario/lex.h"

#include <algorithm>

namespace plumbline::scenario {
namespace {

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
bool IsMark(char c) { return std::string_view("[](){};").find(c) != std::string_view::npos; }
bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

constexpr std::string_view kReserved[] = {
    "as",     "arg",  "below", "builtin", "count",     "error",         "fallthrough", "false",
    "heard",  "hits", "in",    "inf",     "inner",     "invalidations", "misses",      "names",
    "nan",    "none", "ok",    "on",      "returns",   "says",          "schema",      "sees",
    "served", "to",   "true",  "typed",   "undefined", "unwarned",      "warned",      "with",
};

bool StartsWithWord(std::string_view text, std::string_view word) {
  if (text.substr(0, word.size()) != word) return false;
  return text.size() == word.size() || IsBlank(text[word.size()]) || text[word.size()] == '\n';
}

int HexValue(char c) {
  if (IsDigit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

void Lexer::SkipSpace() {
  while (at_ < text_.size()) {
    char c = text_[at_];
    if (IsBlank(c) || (c == '\n' && braces_ > 0)) {
      ++at_;
    } else if (c == '#' && (at_ == 0 || IsBlank(text_[at_ - 1]) || text_[at_ - 1] == '\n')) {
      while (at_ < text_.size() && text_[at_] != '\n') ++at_;
    } else {
      return;
    }
  }
}

Token Lexer::Next() {
  SkipSpace();
  Token token;
  token.offset = token.end = at_;
  if (at_ >= text_.size()) return token;
  char c = text_[at_];
  if (c == '\n') {
    token.kind = Token::Kind::kLineEnd;
    token.end = ++at_;
    return token;
  }
  if (c == '"') return String();
  if (IsMark(c)) {
    token.kind = Token::Kind::kMark;
    token.text = c;
    token.end = ++at_;
    return token;
  }
  token.kind = Token::Kind::kWord;
  while (at_ < text_.size() && !IsBlank(text_[at_]) && text_[at_] != '\n' && text_[at_] != '"' && !IsMark(text_[at_])) {
    ++at_;
  }
  token.end = at_;
  token.text = text_.substr(token.offset, token.end - token.offset);
  return token;
}

Token Lexer::String() {
  Token token;
  token.kind = Token::Kind::kString;
  token.offset = at_++;
  while (true) {
    if (at_ >= text_.size() || text_[at_] == '\n') {
      throw ParseFailure{token.offset, "this string has no closing '\"' on its line"};
    }
    char c = text_[at_];
    if (c == '"') break;
    if (c != '\\') {
      token.text += c;
      ++at_;
      continue;
    }
    std::size_t escape = at_++;
    char kind = at_ < text_.size() ? text_[at_] : '\n';
    ++at_;
    switch (kind) {
      case '"':
      case '\\':
        token.text += kind;
        break;
      case 'n':
        token.text += '\n';
        break;
      case 't':
        token.text += '\t';
        break;
      case 'r':
        token.text += '\r';
        break;
      case 'x': {
        int high = at_ < text_.size() ? HexValue(text_[at_]) : -1;
        int low = at_ + 1 < text_.size() ? HexValue(text_[at_ + 1]) : -1;
        if (high < 0 || low < 0) throw ParseFailure{escape, "expected two hexadecimal digits after \\x"};
        token.text += static_cast<char>(high * 16 + low);
        at_ += 2;
        break;
      }
      default:
        throw ParseFailure{escape, "expected one of \\\" \\\\ \\n \\t \\r \\xHH after a backslash"};
    }
  }
  token.end = ++at_;
  return token;
}

bool IsReserved(std::string_view text) {
  return std::find(std::begin(kReserved), std::end(kReserved), text) != std::end(kReserved);
}

bool IsName(std::string_view text) {
  if (text.empty() || !IsLetter(text[0]) || IsReserved(text)) return false;
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return IsLetter(c) || IsDigit(c) || c == '.' || c == '-'; });
}

bool IsPlainWord(std::string_view text) {
  if (text.empty() || !IsLetter(text[0]) || text.back() == ':' || IsReserved(text)) return false;
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return IsLetter(c) || IsDigit(c) || c == '.' || c == '-' || c == ':'; });
}

std::string Quoted(std::string_view text) {
  static const char* kDigits = "0123456789abcdef";
  std::string quoted = "\"";
  for (char c : text) {
    unsigned char byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (c == '\n') {
      quoted += "\\n";
    } else if (c == '\t') {
      quoted += "\\t";
    } else if (c == '\r') {
      quoted += "\\r";
    } else if (byte < 0x20 || byte >= 0x7f) {
      quoted += "\\x";
      quoted += kDigits[byte >> 4];
      quoted += kDigits[byte & 15];
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

std::string PlainOrQuoted(std::string_view text) { return IsPlainWord(text) ? std::string(text) : Quoted(text); }

std::size_t SchemaEnd(std::string_view text, std::size_t offset) {
  int depth = 0;
  char quote = 0;
  std::size_t at = offset;
  for (; at < text.size(); ++at) {
    char c = text[at];
    if (c == '\n') break;
    if (quote != 0) {
      if (c == '\\') {
        ++at;
      } else if (c == quote) {
        quote = 0;
      }
      continue;
    }
    if (c == '"' || c == '\'') quote = c;
    if (c == '(') ++depth;
    if (c == ')' && depth > 0) --depth;
    if (depth > 0) continue;
    if (c == ';' || c == '}') break;
    if (!IsBlank(c)) continue;
    std::string_view rest = text.substr(at + 1);
    if (!rest.empty() && rest[0] == '#') break;
    if (StartsWithWord(rest, "in") || StartsWithWord(rest, "as") || StartsWithWord(rest, "=>")) break;
  }
  at = std::min(at, text.size());
  while (at > offset && IsBlank(text[at - 1])) --at;
  return at;
}

}  // namespace plumbline::scenario
