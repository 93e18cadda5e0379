#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <functional>
#include <map>
#include <utility>

#include "conformance/harness/nearest.h"
#include "conformance/suites/operators/tensor_program.h"
#include "spec/abi/error.h"
#include "spec/scenario/schema.h"
#include "spec/tables/operators.h"

namespace plumbline::suites {
namespace {

using harness::DidYouMean;
using harness::InputError;
using harness::OrError;

struct Failure {
  std::string message;  // "LINE:COLUMN: ..."
};

struct Token {
  enum class Kind { kWord, kText, kMark, kLineEnd, kEnd };
  Kind kind = Kind::kEnd;
  std::string text{};
  int line = 0, column = 0;
};

bool IsWordCharacter(char c) {
  return (std::isalnum(static_cast<unsigned char>(c)) != 0) || c == '_' || c == '.' || c == ':' || c == '-';
}

std::vector<Token> Split(std::string_view text) {
  std::vector<Token> tokens;
  int line = 1;
  std::size_t begin = 0;  // of the line
  const auto fail = [&](std::size_t at, const std::string& what) {
    throw Failure{fmt::format("{}:{}: {}", line, at - begin + 1, what)};
  };
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    const int column = static_cast<int>(at - begin + 1);
    if (c == '\n') {
      tokens.push_back({Token::Kind::kLineEnd, "", line, column});
      begin = ++at;
      ++line;
    } else if (c == ' ' || c == '\t' || c == '\r') {
      ++at;
    } else if (c == '#') {
      at = std::min(text.find('\n', at), text.size());
    } else if (c == '"') {
      const std::size_t end = text.find_first_of("\"\n", at + 1);
      if (end == std::string_view::npos || text[end] == '\n') fail(at, "a text without its closing \"");
      tokens.push_back({Token::Kind::kText, std::string(text.substr(at + 1, end - at - 1)), line, column});
      at = end + 1;
    } else if (text.substr(at, 2) == "=>") {
      tokens.push_back({Token::Kind::kMark, "=>", line, column});
      at += 2;
    } else if (std::string_view("=()[]{},/+").find(c) != std::string_view::npos) {
      tokens.push_back({Token::Kind::kMark, std::string(1, c), line, column});
      ++at;
    } else if (IsWordCharacter(c)) {
      std::size_t end = at;
      // The sign of an exponent is of the number.
      const auto exponent = [&] {
        return text[end] == '+' && end - at > 1 && text[end - 1] == 'e' &&
               std::isdigit(static_cast<unsigned char>(text[end - 2])) != 0;
      };
      while (end < text.size() && (IsWordCharacter(text[end]) || (end > at && exponent()))) ++end;
      const bool begins = tokens.empty() || tokens.back().kind == Token::Kind::kLineEnd;
      tokens.push_back({Token::Kind::kWord, std::string(text.substr(at, end - at)), line, column});
      at = end;
      // A title is any text, to the end of its line.
      const std::size_t next = text.find_first_not_of(" \t", at);
      const std::size_t line_end = std::min(text.find_first_of("\r\n", at), text.size());
      if (begins && tokens.back().text == "title" && next < line_end && text[next] != '=' && text[next] != ',') {
        tokens.push_back({Token::Kind::kText, std::string(text.substr(next, line_end - next)), line, column});
        at = line_end;
      }
    } else {
      fail(at, fmt::format("the character '{}' means nothing here", c));
    }
  }
  tokens.push_back({Token::Kind::kLineEnd, "", line, 1});
  tokens.push_back({Token::Kind::kEnd, "", line, 1});
  return tokens;
}

std::optional<std::int64_t> IntegerOf(const std::string& word) {
  if (word.empty() || word.find_first_not_of("-0123456789") != std::string::npos) return std::nullopt;
  char* end = nullptr;
  errno = 0;
  const std::int64_t value = std::strtoll(word.c_str(), &end, 10);
  return *end == '\0' && errno == 0 ? std::optional(value) : std::nullopt;
}

std::optional<long double> NumberOf(const std::string& word) {
  if (word == "true") return 1.0L;
  if (word == "false") return 0.0L;
  if (word.empty() || std::isspace(static_cast<unsigned char>(word[0])) != 0) return std::nullopt;
  char* end = nullptr;
  const long double value = std::strtold(word.c_str(), &end);
  return *end == '\0' ? std::optional(value) : std::nullopt;
}

std::optional<std::uint32_t> DtypeOf(std::string_view word) {
  for (const std::uint32_t dtype : kDtypes) {
    if (DtypeSpelling(dtype) == word) return dtype;
  }
  return std::nullopt;
}

// What stands for a number in an argument; the defaults of schemas among them.
std::optional<Argument> ConstantOf(const std::string& word) {
  static const std::map<std::string, Argument> constants = {{"None", Argument::None()},
                                                            {"true", Argument::Bool(true)},
                                                            {"True", Argument::Bool(true)},
                                                            {"false", Argument::Bool(false)},
                                                            {"False", Argument::Bool(false)},
                                                            {"Mean", Argument::Int(1)},
                                                            {"Sum", Argument::Int(2)},
                                                            {"contiguous_format", Argument::Int(0)},
                                                            {"preserve_format", Argument::Int(1)},
                                                            {"channels_last", Argument::Int(2)},
                                                            {"channels_last_3d", Argument::Int(3)},
                                                            {"long", Argument::Int(PL_DTYPE_INT64)}};
  const auto found = constants.find(word);
  if (found != constants.end()) return found->second;
  if (const auto dtype = DtypeOf(word)) return Argument::Int(*dtype);
  if (const auto integer = IntegerOf(word)) return Argument::Int(*integer);
  if (const auto number = NumberOf(word)) return Argument::Float(static_cast<double>(*number));
  return std::nullopt;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : tokens_(Split(text)) {}

  TensorProgram Parse() {
    SkipLines();
    Word("program");
    if (const Token version = Take(); version.text != "1") {
      Fail(version, "expected the version of the language, 1, found " + Shown(version));
    }
    EndOfLine();
    for (SkipLines(); Peek().kind != Token::Kind::kEnd; SkipLines()) Line();
    return std::move(program_);
  }

 private:
  void Line() {
    const Token first = Peek();
    if (first.text == "title" && first.kind == Token::Kind::kWord && !IsBoundNext()) return Title();
    if (first.text == "clauses" && !IsBoundNext()) return Clauses();
    if (first.text == "needs" && !IsBoundNext()) {
      Take();
      Word("elements");
      program_.needs_elements = true;
      return EndOfLine();
    }
    if (first.text == "expect") return Expect();
    std::vector<Token> names;
    if (IsBoundNext()) {
      do {
        names.push_back(Take());
        CheckName(names.back());
      } while (TakeIf(","));
      Mark("=");
    }
    const Token word = Take();
    if (word.kind != Token::Kind::kWord) Fail(word, "expected an operator or a dtype, found " + Shown(word));
    if (Peek().text == "(") {
      Call(names, word);
    } else {
      Make(names, word);
    }
    EndOfLine();
  }

  void Title() {
    Take();
    if (Peek().kind == Token::Kind::kText) program_.title = Take().text;
    EndOfLine();
  }
  void Clauses() {
    Take();
    while (Peek().kind == Token::Kind::kWord) program_.clauses.push_back(Take().text);
    EndOfLine();
  }

  void Make(const std::vector<Token>& names, const Token& word) {
    if (word.text == "undefined" && names.size() == 1) {
      Statement undefined{.kind = Statement::Kind::kMake, .line = word.line, .names = {Bind(names[0])}};
      undefined.made.dtype = PL_DTYPE_NONE;
      program_.statements.push_back(std::move(undefined));
      return;
    }
    const auto dtype = DtypeOf(word.text);
    if (!dtype) {
      std::vector<std::string> spellings;
      for (const std::uint32_t each : kDtypes) spellings.emplace_back(DtypeSpelling(each));
      Fail(word, fmt::format("expected a dtype, or an operator with its arguments in (), found '{}'{}", word.text,
                             DidYouMean(word.text, spellings)));
    }
    Statement made{.kind = Statement::Kind::kMake, .line = word.line, .names = {}};
    const Sizes sizes = Ints();
    Sizes strides = ContiguousStrides(sizes);
    std::int64_t offset = 0;
    if (TakeIf("/")) strides = Ints();
    if (TakeIf("+")) offset = Integer();
    std::string device;
    if (TakeIf("on")) device = Take().text;
    std::vector<long double> elements;
    std::optional<std::vector<std::byte>> bits;
    if (TakeIf("bits")) {
      bits = Bits();
    } else if (Peek().text == "{") {
      elements = Elements();
    }
    if (strides.size() != sizes.size()) Fail(word, "expected as many strides as sizes");
    // A tensor of any sizes may be written, also one that no backend accepts.
    made.made = HostTensor::Strided(*dtype, sizes, strides, offset, static_cast<std::int64_t>(elements.size()));
    made.made.device = device;
    for (std::size_t i = 0; i < elements.size(); ++i) made.made.SetAt(static_cast<std::int64_t>(i), elements[i]);
    if (bits) made.made.storage = *std::move(bits);
    Refusal(made, names);
    if (!made.error_class && names.size() != 1) {
      Fail(word, "expected one name for the tensor, as in `a = " + word.text + " [2] {1 2}`");
    }
    for (const Token& name : names) made.names.push_back(Bind(name));
    program_.statements.push_back(std::move(made));
  }

  void Call(const std::vector<Token>& names, const Token& word) {
    Statement call{.kind = Statement::Kind::kCall, .line = word.line, .names = {}};
    call.op = word.text.find("::") == std::string::npos ? "aten::" + word.text : word.text;
    const tables::OperatorData* const known = tables::FindOperator(call.op);
    if (known == nullptr) {
      std::vector<std::string> all;
      for (const tables::OperatorData& op : tables::kOperators)
        all.emplace_back(op.name.substr(op.name.find("::") + 2));
      Fail(word, fmt::format("there is no operator '{}' in the table{}", call.op,
                             DidYouMean(call.op.substr(call.op.find("::") + 2), all)));
    }
    const scenario::Schema schema = *scenario::ParseSchema(known->schema).schema;
    std::vector<std::optional<Argument>> given(schema.arguments.size());
    std::size_t next = 0;
    Mark("(");
    while (!TakeIf(")")) {
      const Token at = Peek();
      std::size_t which = next++;
      if (at.kind == Token::Kind::kWord && PeekAfter().text == "=") {
        const auto named = std::find_if(schema.arguments.begin(), schema.arguments.end(),
                                        [&](const auto& argument) { return argument.name == at.text; });
        if (named == schema.arguments.end()) Fail(at, fmt::format("{} has no argument '{}'", call.op, at.text));
        which = static_cast<std::size_t>(named - schema.arguments.begin());
        Take(), Take();
      }
      if (which >= given.size()) Fail(at, fmt::format("{} has {} arguments", call.op, given.size()));
      if (given[which]) Fail(at, fmt::format("the argument '{}' is given twice", schema.arguments[which].name));
      given[which] = Value();
      if (Peek().text != ")") Mark(",");
    }
    for (std::size_t i = 0; i < given.size(); ++i) {
      const scenario::SchemaArgument& argument = schema.arguments[i];
      if (!given[i]) given[i] = DefaultOf(argument, word, call.op);
      // int[2] x=1 means both, and a Scalar or float may be written as an int.
      if (argument.type.list && given[i]->kind != PL_LIST && given[i]->kind != PL_NONE) {
        given[i] =
            Argument::List(std::vector<Argument>(static_cast<std::size_t>(argument.type.size.value_or(1)), *given[i]));
      }
      if (argument.type.base == scenario::SchemaType::Base::kFloat && given[i]->kind == PL_INT) {
        given[i] = Argument::Float(static_cast<double>(given[i]->integer));
      }
      call.arguments.push_back(*given[i]);
    }
    Refusal(call, names);
    for (const Token& name : names) call.names.push_back(Bind(name));
    program_.statements.push_back(std::move(call));
  }

  void Refusal(Statement& statement, const std::vector<Token>& names) {
    if (!TakeIf("=>")) return;
    Word("error");
    if (!names.empty()) Fail(names[0], "what is refused has no result to name");
    statement.error_class = PL_ERROR_NONE;
    if (Peek().kind != Token::Kind::kLineEnd) Class(statement);
  }
  void Class(Statement& statement) {
    const Token spelling = Take();
    statement.error_class.reset();
    for (std::uint32_t number = 1; number < 64 && !statement.error_class; ++number) {
      if (abi::ErrorClassSpelling(number) == spelling.text) statement.error_class = number;
    }
    if (!statement.error_class) Fail(spelling, "there is no class of errors " + Shown(spelling));
    if (TakeIf("says")) {
      while (Peek().kind == Token::Kind::kText) statement.says.push_back(Take().text);
      if (statement.says.empty()) Fail(Peek(), "expected what the message says, in \"\"");
    }
  }

  Argument DefaultOf(const scenario::SchemaArgument& argument, const Token& word, const std::string& op) {
    if (!argument.default_value) {
      Fail(word, fmt::format("{} needs the argument '{}'", op, argument.name));
    }
    const std::string& text = *argument.default_value;
    if (text.starts_with('\'')) return Argument::Text(text.substr(1, text.size() - 2));
    Parser defaults(text);
    return defaults.Value();
  }

  Argument Value() {
    const Token token = Take();
    if (token.kind == Token::Kind::kText) return Argument::Text(token.text);
    if (token.text == "[" && token.kind == Token::Kind::kMark) {
      std::vector<Argument> items;
      while (!TakeIf("]")) {
        items.push_back(Value());
        if (Peek().text != "]") Mark(",");
      }
      return Argument::List(std::move(items));
    }
    if (token.kind == Token::Kind::kWord) {
      if (const auto bound = numbers_.find(token.text); bound != numbers_.end()) {
        return {.kind = PL_TENSOR, .integer = bound->second};
      }
      if (const std::optional<Argument> constant = ConstantOf(token.text)) return *constant;
    }
    Fail(token, "expected an argument, found " + Shown(token) + Near(token.text));
  }

  void Expect() {
    Statement expect{.kind = Statement::Kind::kExpect, .line = Take().line, .names = {}};
    expect.names.push_back(Named());
    TensorLooks& looks = expect.looks;
    const std::size_t begin = at_;
    while (Peek().kind != Token::Kind::kLineEnd) {
      const Token token = Take();
      if (const auto dtype = DtypeOf(token.text); dtype && token.kind == Token::Kind::kWord) {
        looks.dtype = dtype;
      } else if (token.text == "[") {
        --at_;
        looks.sizes = Ints();
      } else if (token.text == "/") {
        looks.strides = Ints();
      } else if (token.text == "+") {
        looks.offset = Integer();
      } else if (token.text == "{") {
        --at_;
        looks.elements = Elements();
      } else if (token.text == "bits") {
        looks.bits = Bits();
      } else if (token.text == "on") {
        looks.device = Take().text;
      } else if (token.text == "is" || token.text == "shares" || token.text == "apart" || token.text == "keys") {
        if (token.text == "apart") Word("from");
        const bool keys_not = token.text == "keys" && TakeIf("not");
        if (token.text == "keys") Word("as");
        expect.relation = token.text == "is"       ? Relation::kIs
                          : token.text == "shares" ? Relation::kShares
                          : token.text == "apart"  ? Relation::kApartFrom
                          : keys_not               ? Relation::kKeysNotAs
                                                   : Relation::kKeysAs;
        expect.other = Named();
      } else if (token.text == "version") {
        Mark("+");
        expect.raised = Integer();
      } else if (const auto constant = ConstantOf(token.text); constant && token.kind == Token::Kind::kWord) {
        expect.value = constant;
      } else {
        Fail(token,
             "expected what to look at: a dtype, [sizes], / [strides], + offset, on DEVICE, {elements}, bits {bytes}, "
             "is, shares, "
             "apart from, keys as, version + or a value; found " +
                 Shown(token));
      }
    }
    if (at_ == begin) Fail(Peek(), "expected what to look at, found the end of the line");
    program_.statements.push_back(std::move(expect));
  }

  Sizes Ints() {
    Mark("[");
    Sizes ints;
    while (!TakeIf("]")) {
      ints.push_back(Integer());
      if (Peek().text != "]") Mark(",");
    }
    return ints;
  }
  std::int64_t Integer() {
    const Token token = Take();
    const auto integer = IntegerOf(token.text);
    if (!integer) Fail(token, "expected a number, found " + Shown(token));
    return *integer;
  }
  std::vector<long double> Elements() {
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
      elements.push_back(*number);
    }
    return elements;
  }

  std::vector<std::byte> Bits() {
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

  int Named() {
    const Token token = Take();
    const auto bound = numbers_.find(token.text);
    if (bound == numbers_.end()) Fail(token, "nothing is named " + Shown(token) + Near(token.text));
    return bound->second;
  }
  std::string Near(const std::string& word) { return DidYouMean(word, program_.names); }
  void CheckName(const Token& name) {
    const bool letters = std::all_of(name.text.begin(), name.text.end(), [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
    });
    if (name.kind != Token::Kind::kWord || !letters || ConstantOf(name.text)) {
      Fail(name, "expected a name, found " + Shown(name));
    }
  }
  int Bind(const Token& name) {
    const auto [at, fresh] = numbers_.emplace(name.text, static_cast<int>(program_.names.size()));
    if (!fresh) Fail(name, fmt::format("'{}' is named already; a name is for one tensor", name.text));
    program_.names.push_back(name.text);
    return at->second;
  }
  // Whether the line is NAME = ... or NAME, NAME = ...
  bool IsBoundNext() { return PeekAfter().text == "=" || PeekAfter().text == ","; }

  const Token& Peek() { return tokens_[at_]; }
  const Token& PeekAfter() { return tokens_[std::min(at_ + 1, tokens_.size() - 1)]; }
  Token Take() {
    const Token token = tokens_[at_];
    if (at_ + 1 < tokens_.size()) ++at_;
    return token.kind == Token::Kind::kEnd ? (Fail(token, "the text ends here"), token) : token;
  }
  bool TakeIf(std::string_view text) {
    if (Peek().text != text || Peek().kind == Token::Kind::kText) return false;
    Take();
    return true;
  }
  void Mark(const std::string& mark) {
    if (!TakeIf(mark)) Fail(Peek(), fmt::format("expected '{}', found {}", mark, Shown(Peek())));
  }
  void Word(const std::string& word) { Mark(word); }
  void EndOfLine() {
    if (Peek().kind != Token::Kind::kLineEnd) Fail(Peek(), "expected the end of the line, found " + Shown(Peek()));
  }
  void SkipLines() {
    while (Peek().kind == Token::Kind::kLineEnd && at_ + 1 < tokens_.size()) ++at_;
  }
  static std::string Shown(const Token& token) {
    switch (token.kind) {
      case Token::Kind::kLineEnd:
        return "the end of the line";
      case Token::Kind::kEnd:
        return "the end of the text";
      default:
        return fmt::format("'{}'", token.text);
    }
  }
  [[noreturn]] static void Fail(const Token& at, const std::string& what) {
    throw Failure{fmt::format("{}:{}: {}", at.line, at.column, what)};
  }

  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  TensorProgram program_;
  std::map<std::string, int> numbers_;
};

}  // namespace

bool IsTensorProgram(std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    const std::size_t begin = line.find_first_not_of(" \t\r");
    if (begin != std::string_view::npos && line[begin] != '#') return line.substr(begin).starts_with("program ");
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  return false;
}

OrError<TensorProgram> ParseTensorProgram(std::string_view text) {
  try {
    return Parser(text).Parse();
  } catch (const Failure& failure) {
    return InputError{failure.message};
  }
}

}  // namespace plumbline::suites
