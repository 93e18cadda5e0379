#include "spec/scenario/schema.h"

#include <charconv>
#include <cstdint>
#include <set>
#include <utility>

namespace plumbline::scenario {
namespace {

using Base = SchemaType::Base;

constexpr std::pair<std::string_view, Base> kBases[] = {
    {"Tensor", Base::kTensor},
    {"int", Base::kInt},
    {"SymInt", Base::kSymInt},
    {"float", Base::kFloat},
    {"bool", Base::kBool},
    {"str", Base::kStr},
    {"Scalar", Base::kScalar},
    {"ScalarType", Base::kScalarType},
    {"MemoryFormat", Base::kMemoryFormat},
    {"Layout", Base::kLayout},
    {"Device", Base::kDevice},
    {"Generator", Base::kGenerator},
};

// What PyTorch writes for an integer that names something.
constexpr std::pair<Base, std::string_view> kNamedDefaults[] = {
    {Base::kInt, "Mean"},
    {Base::kScalarType, "float"},
    {Base::kScalarType, "long"},
    {Base::kLayout, "strided"},
    {Base::kMemoryFormat, "contiguous_format"},
};

std::string_view Spelling(Base base) {
  for (const auto& [name, value] : kBases) {
    if (value == base) return name;
  }
  return "?";
}

bool IsNameStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsNameChar(char c) { return IsNameStart(c) || IsDigit(c); }
bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// Thrown inside the parser only.
struct Failure {
  std::size_t offset;
  std::string message;
};

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Schema Parse() {
    Schema schema;
    OperatorName name = ParseName();
    schema.name_space = std::move(name.name_space);
    schema.name = std::move(name.name);
    schema.overload = std::move(name.overload);
    schema.arguments = ParseArguments();
    SkipSpace();
    if (!Take("->")) Expected("'->'");
    schema.returns = ParseReturns();
    SkipSpace();
    if (at_ != text_.size()) Expected("the end of the schema");
    return schema;
  }

  OperatorName ParseNameOnly() {
    OperatorName name = ParseName();
    if (at_ != text_.size()) Expected("the end of the name");
    return name;
  }

 private:
  [[noreturn]] void Expected(const std::string& what) const { ExpectedAt(at_, what); }

  [[noreturn]] void ExpectedAt(std::size_t at, const std::string& what) const {
    throw Failure{at, "expected " + what + ", found " + Found(at)};
  }

  std::string Found(std::size_t at) const {
    if (at >= text_.size()) return "the end";
    std::size_t end = at;
    while (end < text_.size() && IsNameChar(text_[end])) ++end;
    // A whole character, so that a message never cuts one in two.
    if (end == at) {
      ++end;
      while (end < text_.size() && (static_cast<unsigned char>(text_[end]) & 0xc0) == 0x80) ++end;
    }
    return "'" + std::string(text_.substr(at, end - at)) + "'";
  }

  void SkipSpace() {
    while (at_ < text_.size() && IsSpace(text_[at_])) ++at_;
  }

  bool Take(std::string_view token) {
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }

  bool TakeAfterSpace(std::string_view token) {
    SkipSpace();
    return Take(token);
  }

  std::string Name(const char* what) {
    if (at_ >= text_.size() || !IsNameStart(text_[at_])) Expected(what);
    std::size_t start = at_;
    while (at_ < text_.size() && IsNameChar(text_[at_])) ++at_;
    return std::string(text_.substr(start, at_ - start));
  }

  // No white space inside: ns::name.overload
  OperatorName ParseName() {
    SkipSpace();
    OperatorName result;
    result.name = Name("an operator name");
    if (Take("::")) {
      result.name_space = std::move(result.name);
      result.name = Name("an operator name after '::'");
    }
    if (Take(".")) {
      std::size_t at = at_;
      result.overload = Name("an overload name after '.'");
      if (result.overload == "default") {
        throw Failure{at, "'default' is not allowed as an overload name: the default overload has none"};
      }
      if (result.overload.substr(0, 2) == "__") {
        throw Failure{at,
                      "'" + result.overload + "' is not allowed as an overload name: it starts with two underscores"};
      }
    }
    return result;
  }

  std::vector<SchemaArgument> ParseArguments() {
    SkipSpace();
    if (!Take("(")) Expected("'('");
    std::vector<SchemaArgument> arguments;
    if (TakeAfterSpace(")")) return arguments;
    std::set<std::string> names;
    bool keyword_only = false, defaulted = false;
    while (true) {
      SkipSpace();
      std::size_t at = at_;
      if (Take("*")) {
        if (keyword_only) throw Failure{at, "'*' is here twice"};
        keyword_only = true;
        SkipSpace();
        if (at_ < text_.size() && text_[at_] == ')') ExpectedAt(at_, "an argument after '*'");
      } else {
        SchemaArgument argument;
        argument.keyword_only = keyword_only;
        argument.type = ParseType();
        SkipSpace();
        std::size_t name_at = at_;
        argument.name = Name("an argument name");
        if (!names.insert(argument.name).second) {
          throw Failure{name_at, "the argument name '" + argument.name + "' is here twice"};
        }
        if (TakeAfterSpace("=")) argument.default_value = ParseDefault(argument.type);
        if (argument.default_value) {
          defaulted = true;
        } else if (defaulted && !keyword_only) {
          throw Failure{at, "the positional argument '" + argument.name + "' has no default but follows one that has"};
        }
        if (arguments.size() == static_cast<std::size_t>(kMaxSchemaArguments)) {
          throw Failure{at, "more than " + std::to_string(kMaxSchemaArguments) + " arguments"};
        }
        arguments.push_back(std::move(argument));
      }
      if (TakeAfterSpace(")")) return arguments;
      if (!Take(",")) Expected("',' or ')'");
    }
  }

  std::vector<SchemaArgument> ParseReturns() {
    std::vector<SchemaArgument> returns;
    if (!TakeAfterSpace("(")) {
      SkipSpace();
      returns.push_back({.type = ParseType(), .name = "", .default_value = std::nullopt});
      return returns;
    }
    if (TakeAfterSpace(")")) return returns;
    while (true) {
      SkipSpace();
      SchemaArgument result;
      result.type = ParseType();
      SkipSpace();
      if (at_ < text_.size() && IsNameStart(text_[at_])) result.name = Name("a name");
      returns.push_back(std::move(result));
      if (TakeAfterSpace(")")) return returns;
      if (!Take(",")) Expected("',' or ')'");
    }
  }

  // No white space inside, but around the parts of an alias mark.
  SchemaType ParseType() {
    std::size_t at = at_;
    std::string name = Name("a type");
    SchemaType type;
    bool known = false;
    for (const auto& [spelling, base] : kBases) {
      if (spelling == name) {
        type.base = base;
        known = true;
      }
    }
    if (!known) {
      std::string all;
      for (const auto& [spelling, base] : kBases) all.append(all.empty() ? "" : ", ").append(spelling);
      throw Failure{at, "expected a type (" + all + "), found '" + name + "'"};
    }
    if (Take("(")) {
      if (type.base != Base::kTensor) ExpectedAt(at_ - 1, "no alias mark on " + name);
      SkipSpace();
      type.alias = Name("an alias name");
      type.writes = TakeAfterSpace("!");
      if (TakeAfterSpace("->")) {
        SkipSpace();
        if (!Take("*")) Expected("'*' after '->' in the alias mark");
        type.escapes = true;
      }
      if (!TakeAfterSpace(")")) Expected("')' after the alias mark");
    }
    bool mark = Take("?");
    if (!Take("[")) {
      type.optional = mark;
      return type;
    }
    type.list = true;
    type.optional_items = mark;
    if (at_ < text_.size() && IsDigit(text_[at_])) {
      std::size_t size_at = at_;
      int size = 0;
      auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), size);
      if (error != std::errc() || size == 0) ExpectedAt(size_at, "a list size from 1 to 2147483647");
      at_ = static_cast<std::size_t>(end - text_.data());
      type.size = size;
    }
    if (!Take("]")) Expected("']'");
    type.optional = Take("?");
    return type;
  }

  // ---- defaults: kept as written, but of the argument's type ----

  std::string ParseDefault(const SchemaType& type) {
    SkipSpace();
    std::size_t start = at_;
    Default(type);
    return std::string(text_.substr(start, at_ - start));
  }

  bool TakeWord(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    if (at_ + word.size() < text_.size() && IsNameChar(text_[at_ + word.size()])) return false;
    at_ += word.size();
    return true;
  }

  void Default(const SchemaType& type) {
    if (type.optional && TakeWord("None")) return;
    if (!type.list) return One(type.base, "a default of type " + PrintType(type));
    if (type.size && at_ < text_.size() && text_[at_] != '[') {
      return One(type.base, "a default of type " + PrintType(type));  // int[2] x=1 means both
    }
    if (!Take("[")) Expected("a list as the default of " + PrintType(type));
    if (TakeAfterSpace("]")) return;
    while (true) {
      SkipSpace();
      if (!(type.optional_items && TakeWord("None")))
        One(type.base, "a list item of type " + std::string(Spelling(type.base)));
      if (TakeAfterSpace("]")) return;
      if (!Take(",")) Expected("',' or ']'");
    }
  }

  void One(Base base, const std::string& what) {
    std::size_t at = at_;
    for (const auto& [named, word] : kNamedDefaults) {
      if (named == base && TakeWord(word)) return;
    }
    switch (base) {
      case Base::kTensor:
      case Base::kGenerator:
        break;  // no default but None, where it is optional
      case Base::kInt:
      case Base::kSymInt:
      case Base::kScalarType:
      case Base::kMemoryFormat:
      case Base::kLayout:
        if (Number() == 'i') return;
        break;
      case Base::kFloat:
        if (Number() != 0) return;
        break;
      case Base::kBool:
        if (TakeWord("True") || TakeWord("False")) return;
        break;
      case Base::kScalar:
        if (TakeWord("True") || TakeWord("False") || Number() != 0) return;
        break;
      case Base::kStr:
      case Base::kDevice:
        if (String()) return;
        break;
    }
    at_ = at;
    Expected(what);
  }

  // 'i' for an integer that fits, 'f' for a floating-point number, 0 (nothing taken) for neither.
  char Number() {
    std::size_t start = at_, end = at_;
    if (end < text_.size() && text_[end] == '-') ++end;
    std::size_t digits = 0;
    bool point = false, exponent = false;
    while (end < text_.size()) {
      char c = text_[end];
      if (IsDigit(c)) {
        ++digits;
      } else if (c == '.' && !point && !exponent) {
        point = true;
      } else if ((c == 'e' || c == 'E') && !exponent && digits > 0) {
        exponent = true;
        digits = 0;
        if (end + 1 < text_.size() && (text_[end + 1] == '-' || text_[end + 1] == '+')) ++end;
      } else {
        break;
      }
      ++end;
    }
    if (digits == 0 || (end < text_.size() && IsNameChar(text_[end]))) return 0;
    if (!point && !exponent) {
      std::int64_t value = 0;
      if (std::from_chars(text_.data() + start, text_.data() + end, value).ec != std::errc()) return 0;
    }
    at_ = end;
    return point || exponent ? 'f' : 'i';
  }

  bool String() {
    if (at_ >= text_.size() || (text_[at_] != '"' && text_[at_] != '\'')) return false;
    char quote = text_[at_];
    for (std::size_t end = at_ + 1; end < text_.size(); ++end) {
      if (text_[end] == '\\') {
        ++end;
      } else if (text_[end] == quote) {
        at_ = end + 1;
        return true;
      }
    }
    return false;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

int ColumnOf(std::string_view text, std::size_t offset) {
  int column = 1;
  for (std::size_t i = 0; i < offset && i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xc0) != 0x80) ++column;
  }
  return column;
}

std::string PrintArgument(const SchemaArgument& argument) {
  std::string text = PrintType(argument.type);
  if (!argument.name.empty()) text += " " + argument.name;
  if (argument.default_value) text += "=" + *argument.default_value;
  return text;
}

}  // namespace

bool SchemaType::BringsKeys() const { return base == Base::kTensor && !(list && optional); }

std::string Schema::FullName() const {
  std::string text = name_space.empty() ? name : name_space + "::" + name;
  if (!overload.empty()) text += "." + overload;
  return text;
}

SchemaResult ParseSchema(std::string_view text) {
  SchemaResult result;
  try {
    result.schema = Parser(text).Parse();
  } catch (const Failure& failure) {
    int column = ColumnOf(text, failure.offset);
    result.error = SchemaError{column, "column " + std::to_string(column) + ": " + failure.message};
  }
  return result;
}

std::optional<OperatorName> ParseOperatorName(std::string_view text) {
  if (text.empty() || IsSpace(text.front())) return std::nullopt;
  try {
    return Parser(text).ParseNameOnly();
  } catch (const Failure&) {
    return std::nullopt;
  }
}

std::string PrintType(const SchemaType& type) {
  std::string text(Spelling(type.base));
  if (!type.alias.empty()) {
    text += "(" + type.alias + (type.writes ? "!" : "") + (type.escapes ? " -> *" : "") + ")";
  }
  if (type.optional_items) text += "?";
  if (type.list) text += "[" + (type.size ? std::to_string(*type.size) : std::string()) + "]";
  if (type.optional) text += "?";
  return text;
}

std::string PrintSchema(const Schema& schema) {
  std::string text = schema.FullName() + "(";
  bool starred = false;
  const char* separator = "";
  for (const SchemaArgument& argument : schema.arguments) {
    text += separator;
    separator = ", ";
    if (argument.keyword_only && !starred) {
      text += "*, ";
      starred = true;
    }
    text += PrintArgument(argument);
  }
  text += ") -> ";
  if (schema.returns.size() == 1 && schema.returns[0].name.empty()) return text + PrintType(schema.returns[0].type);
  text += "(";
  separator = "";
  for (const SchemaArgument& result : schema.returns) {
    text += separator + PrintArgument(result);
    separator = ", ";
  }
  return text + ")";
}

}  // namespace plumbline::scenario
