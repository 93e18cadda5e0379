// The schema parser: one pass over the text, by recursive descent. See schema.h.
#include <charconv>

#include "reference/boxing/schema.h"
#include "reference/faults/faults.h"
#include "reference/keys/error.h"

namespace plumbline::reference {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsNameChar(char c) { return IsLetter(c) || IsDigit(c); }

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text), at_(text.data()), end_(text.data() + text.size()) {}

  Schema ParseAll() {
    Schema schema;
    schema.name = ParseName();
    ParseArguments(schema.arguments);
    Skip();
    if (!Take("->")) Expected("'->'");
    ParseReturns(schema.returns);
    Skip();
    if (at_ != end_) Expected("the end of the schema");
    return schema;
  }

  OperatorName ParseNameAlone() {
    OperatorName name = ParseName();
    if (at_ != end_) Expected("the end of the name");
    return name;
  }

 private:
  [[noreturn]] void Fail(const char* at, const std::string& what) const {
    std::size_t column = 1;  // in characters, not bytes
    for (const char* c = text_.data(); c != at; ++c) column += (static_cast<unsigned char>(*c) & 0xc0) != 0x80;
    Throw(ErrorClass::kInvalidArgument,
          "The schema '" + std::string(text_) + "' is wrong at column " + std::to_string(column) + ": " + what);
  }
  [[noreturn]] void Expected(const std::string& what) const {
    if (at_ == end_) Fail(at_, "expected " + what + ", found the end");
    const char* stop = at_;
    while (stop != end_ && IsNameChar(*stop)) ++stop;
    if (stop == at_) ++stop;
    while (stop != end_ && (static_cast<unsigned char>(*stop) & 0xc0) == 0x80) ++stop;
    Fail(at_, "expected " + what + ", found '" + std::string(at_, stop) + "'");
  }

  void Skip() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\t' || *at_ == '\n' || *at_ == '\r')) ++at_;
  }
  bool Take(char c) {
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }
  bool Take(std::string_view token) {
    if (static_cast<std::size_t>(end_ - at_) < token.size()) return false;
    if (std::string_view(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }
  bool SkipAndTake(char c) {
    Skip();
    return Take(c);
  }
  // A word that ends there: `None` but not `Nonesuch`.
  bool TakeWord(std::string_view word) {
    const char* const start = at_;
    if (!Take(word)) return false;
    if (at_ == end_ || !IsNameChar(*at_)) return true;
    at_ = start;
    return false;
  }

  std::string_view Name(const char* what) {
    if (at_ == end_ || !IsLetter(*at_)) Expected(what);
    const char* const start = at_;
    while (at_ != end_ && IsNameChar(*at_)) ++at_;
    return {start, static_cast<std::size_t>(at_ - start)};
  }

  // ns::name.overload, without white space inside.
  OperatorName ParseName() {
    Skip();
    OperatorName name;
    name.name = Name("an operator name");
    if (Take("::")) {
      name.name_space = std::move(name.name);
      name.name = Name("an operator name after '::'");
    }
    if (!Take('.')) return name;
    const char* const start = at_;
    name.overload = Name("an overload name after '.'");
    if (PLUMBLINE_FAULT(overload_names_are_free)) return name;
    if (name.overload == "default") Fail(start, "'default' is no overload name: the default overload has none");
    if (name.overload.starts_with("__")) {
      Fail(start, "the overload name '" + name.overload + "' starts with two underscores");
    }
    return name;
  }

  void ParseArguments(std::vector<SchemaArgument>& arguments) {
    if (!SkipAndTake('(')) Expected("'('");
    if (SkipAndTake(')')) return;
    arguments.reserve(4);
    bool keyword_only = false, defaulted = false;
    do {
      Skip();
      const char* const start = at_;
      if (Take('*')) {
        if (keyword_only) Fail(start, "'*' is here twice");
        keyword_only = true;
        Skip();
        if (at_ != end_ && *at_ == ')') Expected("an argument after '*'");
        continue;
      }
      if (arguments.size() == kMaxSchemaArguments && !PLUMBLINE_FAULT(schema_holds_any_number)) {
        Fail(start, "a schema has at most " + std::to_string(kMaxSchemaArguments) + " arguments");
      }
      SchemaArgument& argument = arguments.emplace_back();
      argument.keyword_only = keyword_only;
      ParseType(argument);
      Skip();
      const char* const name_start = at_;
      argument.name = Name("an argument name");
      for (std::size_t i = 0; i + 1 < arguments.size(); ++i) {
        if (PLUMBLINE_FAULT(argument_names_may_repeat)) break;
        if (arguments[i].name == argument.name)
          Fail(name_start, "the argument name '" + argument.name + "' is here twice");
      }
      if (SkipAndTake('=')) {
        argument.default_value = ParseDefault(argument.type);
        defaulted = true;
      } else if (defaulted && !keyword_only && !PLUMBLINE_FAULT(required_may_follow_default)) {
        Fail(start, "the argument '" + argument.name + "' has no default but follows one that has");
      }
    } while (!ListEnds());
  }

  void ParseReturns(std::vector<SchemaArgument>& returns) {
    if (!SkipAndTake('(')) {
      Skip();
      ParseType(returns.emplace_back());
      return;
    }
    if (SkipAndTake(')')) return;
    do {
      Skip();
      SchemaArgument& result = returns.emplace_back();
      ParseType(result);
      Skip();
      if (at_ != end_ && IsLetter(*at_)) result.name = Name("a name");
    } while (!ListEnds());
  }

  bool ListEnds() {
    if (SkipAndTake(')')) return true;
    if (!Take(',')) Expected("',' or ')'");
    return false;
  }

  void ParseType(SchemaArgument& argument) {
    const char* const start = at_;
    const std::string_view name = Name("a type");
    auto base = FindBaseType(name);
    if (PLUMBLINE_FAULT(unknown_type_is_int) && !base) base = BaseType::kInt;
    if (!base) {
      Fail(start,
           "expected a type (Tensor, int, SymInt, float, bool, str, Scalar, ScalarType, MemoryFormat, Layout, Device, "
           "Generator), found '" +
               std::string(name) + "'");
    }
    SchemaType& type = argument.type;
    type.base = *base;
    const char* const mark = at_;
    if (Take('(')) {
      if (type.base != BaseType::kTensor) Fail(mark, "only a Tensor has an alias mark");
      Skip();
      argument.alias = Name("an alias name");
      argument.written = SkipAndTake('!');
      Skip();
      argument.listed = Take("->");
      if (argument.listed && !SkipAndTake('*')) Expected("'*' after '->' in the alias mark");
      if (!SkipAndTake(')')) Expected("')' after the alias mark");
    }
    const bool optional = Take('?');
    if (!Take('[')) {
      type.optional = optional;
      return;
    }
    type.list = true;
    type.optional_item = optional;
    if (at_ != end_ && IsDigit(*at_)) {
      const auto [stop, error] = std::from_chars(at_, end_, type.size);
      if (error != std::errc() || type.size == 0) Expected("a list size of 1 or more");
      at_ = stop;
    }
    if (!Take(']')) Expected("']'");
    type.optional = Take('?');
  }

  // A default is kept as written, but must be of the argument's type.
  std::string ParseDefault(const SchemaType& type) {
    Skip();
    const char* const start = at_;
    if (!(type.optional && TakeWord("None"))) {
      if (!type.list || (type.size > 0 && at_ != end_ && *at_ != '[')) {  // int[2] x=1 is both elements
        if (!TakeItem(type.base)) Expected("a default of type " + Print(type));
      } else {
        ParseListDefault(type);
      }
    }
    return {start, at_};
  }

  void ParseListDefault(const SchemaType& type) {
    if (!Take('[')) Expected("a list as the default of " + Print(type));
    if (SkipAndTake(']')) return;
    while (true) {
      Skip();
      if (!(type.optional_item && TakeWord("None")) && !TakeItem(type.base)) {
        Expected("an item of type " + std::string(Spelling(type.base)));
      }
      if (SkipAndTake(']')) return;
      if (!Take(',')) Expected("',' or ']'");
    }
  }

  enum class Number { kNone, kInteger, kReal };

  bool TakeItem(BaseType base) {
    const char* const start = at_;
    bool taken = false;
    switch (base) {
      case BaseType::kTensor:
      case BaseType::kGenerator:
        break;  // only None, where it is optional
      case BaseType::kInt:
        taken = TakeWord("Mean") || TakeNumber() == Number::kInteger;
        break;
      case BaseType::kSymInt:
        taken = TakeNumber() == Number::kInteger;
        break;
      case BaseType::kScalarType:
        taken = TakeWord("float") || TakeWord("long") || TakeNumber() == Number::kInteger;
        break;
      case BaseType::kMemoryFormat:
        taken = TakeWord("contiguous_format") || TakeNumber() == Number::kInteger;
        break;
      case BaseType::kLayout:
        taken = TakeWord("strided") || TakeNumber() == Number::kInteger;
        break;
      case BaseType::kFloat:
        taken = TakeNumber() != Number::kNone;
        break;
      case BaseType::kScalar:
        taken = TakeWord("True") || TakeWord("False") || TakeNumber() != Number::kNone;
        break;
      case BaseType::kBool:
        taken = TakeWord("True") || TakeWord("False");
        break;
      case BaseType::kStr:
      case BaseType::kDevice:
        taken = TakeString();
        break;
    }
    if (!taken) at_ = start;
    return taken;
  }

  bool TakeDigits() {
    const char* const start = at_;
    while (at_ != end_ && IsDigit(*at_)) ++at_;
    return at_ != start;
  }

  // -1, 2.5, .5, 1e-3; nothing is taken if it is none.
  Number TakeNumber() {
    const char* const start = at_;
    Take('-');
    bool digits = TakeDigits(), real = false;
    if (Take('.')) {
      real = true;
      digits = TakeDigits() || digits;
    }
    if (digits && (Take('e') || Take('E'))) {
      real = true;
      if (!Take('-')) Take('+');
      digits = TakeDigits();
    }
    std::int64_t integer = 0;
    const bool ends = at_ == end_ || !IsNameChar(*at_);
    const bool fits = real || std::from_chars(start, at_, integer).ec == std::errc();
    if (digits && ends && fits) return real ? Number::kReal : Number::kInteger;
    at_ = start;
    return Number::kNone;
  }

  bool TakeString() {
    if (at_ == end_ || (*at_ != '"' && *at_ != '\'')) return false;
    const char quote = *at_++;
    for (; at_ != end_; ++at_) {
      if (*at_ == quote) {
        ++at_;
        return true;
      }
      if (*at_ == '\\' && at_ + 1 != end_) ++at_;
    }
    return false;
  }

  const std::string_view text_;
  const char* at_;
  const char* const end_;
};

}  // namespace

Schema ParseSchema(std::string_view text) { return Parser(text).ParseAll(); }

OperatorName ParseOperatorName(std::string_view text) {
  if (!text.empty() && !IsLetter(text.front())) {
    Throw(ErrorClass::kInvalidArgument,
          "'" + std::string(text) + "' is no operator name (ns::name or ns::name.overload)");
  }
  return Parser(text).ParseNameAlone();
}

}  // namespace plumbline::reference
