#include "conformance/suites/operators/program_reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "conformance/suites/operators/program_words.h"

namespace plumbline::suites {

const ProgramToken& ProgramReader::PeekAfter() const { return tokens_[std::min(at_ + 1, tokens_.size() - 1)]; }
ProgramToken ProgramReader::Take() {
  const Token token = tokens_[at_];
  if (at_ + 1 < tokens_.size()) ++at_;
  return token.kind == Token::Kind::kEnd ? (Fail(token, "the text ends here"), token) : token;
}

bool ProgramReader::TakeIf(std::string_view text) {
  if (Peek().text != text || Peek().kind == Token::Kind::kText) return false;
  Take();
  return true;
}

void ProgramReader::Mark(const std::string& mark) {
  if (!TakeIf(mark)) Fail(Peek(), fmt::format("expected '{}', found {}", mark, Shown(Peek())));
}

void ProgramReader::EndOfLine() const {
  if (Peek().kind != Token::Kind::kLineEnd) Fail(Peek(), "expected the end of the line, found " + Shown(Peek()));
}

void ProgramReader::SkipLines() {
  while (Peek().kind == Token::Kind::kLineEnd && at_ + 1 < tokens_.size()) ++at_;
}

std::string ProgramReader::Shown(const Token& token) {
  switch (token.kind) {
    case Token::Kind::kLineEnd:
      return "the end of the line";
    case Token::Kind::kEnd:
      return "the end of the text";
    default:
      return fmt::format("'{}'", token.text);
  }
}

void ProgramReader::Fail(const Token& at, const std::string& what) {
  throw ProgramSyntaxError{fmt::format("{}:{}: {}", at.line, at.column, what)};
}

Sizes ProgramReader::Ints() {
  Mark("[");
  Sizes ints;
  while (!TakeIf("]")) {
    ints.push_back(Integer());
    if (Peek().text != "]") Mark(",");
  }
  return ints;
}

std::int64_t ProgramReader::Integer() {
  const Token token = Take();
  const auto integer = IntegerOf(token.text);
  if (!integer) Fail(token, "expected a number, found " + Shown(token));
  return *integer;
}

std::vector<long double> ProgramReader::Elements(std::optional<std::uint32_t> dtype) {
  const Token open = Peek();
  Mark("{");
  std::vector<long double> elements;
  while (!TakeIf("}")) {
    const Token token = Take();
    if (token.kind == Token::Kind::kLineEnd) continue;
    const auto number = NumberOf(token.text);
    if (!number) {
      Fail(token, fmt::format("expected an element, or }} for the {{ of line {}, found {}", open.line, Shown(token)));
    }
    if (dtype && !Holds(*dtype, *number)) {
      Fail(token, fmt::format("expected an element that {} holds, found {}", DtypeSpelling(*dtype), Shown(token)));
    }
    elements.push_back(*number);
  }
  return elements;
}

std::vector<std::byte> ProgramReader::Bits() {
  Mark("{");
  std::vector<std::byte> bytes;
  while (!TakeIf("}")) {
    const Token token = Take();
    const auto digit = [&](char c) {
      const std::size_t value = std::string_view("0123456789abcdef").find(c);
      if (value == std::string_view::npos) Fail(token, "expected bytes in hexadecimal, found " + Shown(token));
      return static_cast<unsigned>(value);
    };
    if (token.text.size() % 2 != 0 || token.text.empty()) digit('-');
    for (std::size_t i = 0; i + 1 < token.text.size(); i += 2) {
      bytes.push_back(static_cast<std::byte>(16 * digit(token.text[i]) + digit(token.text[i + 1])));
    }
  }
  return bytes;
}

}  // namespace plumbline::suites
