#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "conformance/harness/nearest.h"
#include "conformance/suites/operators/program_reader.h"
#include "conformance/suites/operators/program_tokens.h"
#include "conformance/suites/operators/program_words.h"
#include "conformance/suites/operators/tensor_program.h"
#include "spec/abi/error.h"
#include "spec/scenario/schema.h"
#include "spec/tables/operators.h"

namespace plumbline::suites {
namespace {

constexpr int kMostDeep = 8;  // lists in lists of an argument

using harness::DidYouMean;
using harness::InputError;
using harness::OrError;

using Token = ProgramToken;

// What a name is for: a tensor or another result of a call, or something else.
enum class NameKind { kResult, kMemory, kHolders, kCapsule };

class Parser : private ProgramReader {
 public:
  explicit Parser(std::string_view text) : ProgramReader(text) {}

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
    if (first.text == "drop" && !IsBoundNext()) return Drop();
    if (first.text == "reset" && !IsBoundNext()) return OfDevice(Statement::Kind::kResetPeak, "peak", {});
    if (first.text == "empty" && PeekAfter().text == "cache")
      return OfDevice(Statement::Kind::kEmptyCache, "cache", {});
    std::vector<Token> names;
    if (IsBoundNext()) {
      do {
        names.push_back(Take());
        CheckName(names.back());
      } while (TakeIf(","));
      Mark("=");
    }
    if (Peek().text == "memory") return OfDevice(Statement::Kind::kMemory, "", names);
    if (Peek().text == "holders") return OfDevice(Statement::Kind::kHolders, "", names);
    const Token word = Take();
    if (word.kind != Token::Kind::kWord) Fail(word, "expected an operator or a dtype, found " + Shown(word));
    if (word.text == "to_dlpack" || word.text == "from_dlpack") {
      ThroughDlpack(names, word);
    } else if (word.text == "dlpack") {
      Capsule(names, word);
    } else if (Peek().text == "(") {
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
    Statement made{.kind = Statement::Kind::kMake, .line = word.line, .names = {}};
    made.made = Written(word);
    Refusal(made, names);
    if (!made.error_class && names.size() != 1) {
      Fail(word, "expected one name for the tensor, as in `a = " + word.text + " [2] {1 2}`");
    }
    for (const Token& name : names) made.names.push_back(Bind(name));
    program_.statements.push_back(std::move(made));
  }

  // The rest of what is written of a tensor, after its dtype.
  HostTensor Written(const Token& word, bool* strides_told = nullptr) {
    const auto dtype = DtypeOf(word.text);
    if (!dtype) {
      std::vector<std::string> spellings;
      for (const std::uint32_t each : kDtypes) spellings.emplace_back(DtypeSpelling(each));
      Fail(word, fmt::format("expected a dtype, or an operator with its arguments in (), found '{}'{}", word.text,
                             DidYouMean(word.text, spellings)));
    }
    const Sizes sizes = Ints();
    Sizes strides = ContiguousStrides(sizes);
    std::int64_t offset = 0;
    const bool told = TakeIf("/");
    if (told) strides = Ints();
    if (strides_told != nullptr) *strides_told = told;
    if (TakeIf("+")) offset = Integer();
    std::string device;
    if (TakeIf("on")) device = Take().text;
    std::vector<long double> elements;
    std::optional<std::vector<std::byte>> bits;
    if (TakeIf("bits")) {
      bits = Bits();
    } else if (Peek().text == "{") {
      elements = Elements(*dtype);
    }
    if (strides.size() != sizes.size()) Fail(word, "expected as many strides as sizes");
    // A tensor of any sizes may be written, also one that no backend accepts.
    HostTensor tensor = HostTensor::Strided(*dtype, sizes, strides, offset, static_cast<std::int64_t>(elements.size()));
    tensor.device = device;
    for (std::size_t i = 0; i < elements.size(); ++i) tensor.SetAt(static_cast<std::int64_t>(i), elements[i]);
    if (bits) tensor.storage = *std::move(bits);
    return tensor;
  }

  void Drop() {
    Statement drop{.kind = Statement::Kind::kDrop, .line = Take().line, .names = {}};
    const Token name = Peek();
    drop.names.push_back(Named());
    const NameKind kind = kinds_[name.text];
    if (kind == NameKind::kMemory || kind == NameKind::kHolders) Fail(name, "what was read holds nothing to drop");
    numbers_.erase(name.text);
    program_.statements.push_back(std::move(drop));
    EndOfLine();
  }

  // What is asked of a device, not of a tensor: WORD [WHAT] [on DEVICE].
  void OfDevice(Statement::Kind kind, const std::string& what, const std::vector<Token>& names) {
    const Token word = Take();
    if (!what.empty()) Word(what);
    Statement asked{.kind = kind, .line = word.line, .names = {}};
    if (TakeIf("on")) asked.device = Take().text;
    if (what.empty() && names.size() != 1) Fail(word, "expected one name for what is read, as in `m = memory`");
    const NameKind read = kind == Statement::Kind::kMemory ? NameKind::kMemory : NameKind::kHolders;
    for (const Token& name : names) asked.names.push_back(Bind(name, read));
    program_.statements.push_back(std::move(asked));
    EndOfLine();
  }

  // NAME = to_dlpack(TENSOR) or from_dlpack(CAPSULE)
  void ThroughDlpack(const std::vector<Token>& names, const Token& word) {
    const bool out = word.text == "to_dlpack";
    Statement passed{
        .kind = out ? Statement::Kind::kToDlpack : Statement::Kind::kFromDlpack, .line = word.line, .names = {}};
    Mark("(");
    const Token given = Peek();
    passed.other = Named(out ? NameKind::kResult : NameKind::kCapsule);
    Mark(")");
    Refusal(passed, names);
    if (!passed.error_class && names.size() != 1) {
      Fail(word, fmt::format("expected one name for what {} gives, as in `b = {}(a)`", word.text, word.text));
    }
    for (const Token& name : names) passed.names.push_back(Bind(name, out ? NameKind::kCapsule : NameKind::kResult));
    // The host's own can still be looked at; the backend's is whose it is handed to.
    const bool taken = !out && !passed.error_class;
    if (taken && !hosts_own_.contains(given.text)) numbers_.erase(given.text);
    program_.statements.push_back(std::move(passed));
  }

  // NAME = dlpack DTYPE [SIZES] ...: a capsule of the host's own.
  void Capsule(const std::vector<Token>& names, const Token& word) {
    Statement capsule{.kind = Statement::Kind::kCapsule, .line = word.line, .names = {}};
    capsule.made = Written(Take(), &capsule.spoilt.strides_told);
    if (!capsule.made.device.empty()) Fail(word, "a capsule of the host's own lies in the host's memory, on no device");
    while (Peek().kind != Token::Kind::kLineEnd) {
      const Token field = Take();
      std::optional<int>* const into = field.text == "code"     ? &capsule.spoilt.code
                                       : field.text == "bits"   ? &capsule.spoilt.bits
                                       : field.text == "lanes"  ? &capsule.spoilt.lanes
                                       : field.text == "device" ? &capsule.spoilt.device
                                                                : nullptr;
      if (into == nullptr) {
        Fail(field, "expected code, bits, lanes or device, each with a number, found " + Shown(field));
      }
      *into = static_cast<int>(Integer());
    }
    if (names.size() != 1) Fail(word, "expected one name for the capsule, as in `q = dlpack float32 [2] {1 2}`");
    hosts_own_.insert(names[0].text);
    capsule.names.push_back(Bind(names[0], NameKind::kCapsule));
    program_.statements.push_back(std::move(capsule));
  }

  void Call(const std::vector<Token>& names, const Token& word) {
    Statement call{.kind = Statement::Kind::kCall, .line = word.line, .names = {}};
    call.op = word.text.find("::") == std::string::npos ? "aten::" + word.text : word.text;
    const tables::OperatorData* const known = tables::FindOperator(call.op);
    if (known == nullptr) {
      const std::string name = call.op.substr(call.op.find("::") + 2);
      std::vector<std::string> all, overloads;
      for (const tables::OperatorData& op : tables::kOperators) {
        all.emplace_back(op.name.substr(op.name.find("::") + 2));
        if (all.back().starts_with(name + ".")) overloads.push_back(all.back());
      }
      Fail(word, fmt::format("there is no operator '{}' in the table of operators{}", call.op,
                             overloads.empty() ? DidYouMean(name, all)
                                               : fmt::format("; its overloads are {}", fmt::join(overloads, ", "))));
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

  Argument Value(int depth = 0) {
    const Token token = Take();
    if (token.kind == Token::Kind::kText) return Argument::Text(token.text);
    if (token.text == "[" && token.kind == Token::Kind::kMark) {
      if (depth == kMostDeep) Fail(token, fmt::format("lists nest at most {} deep", kMostDeep));
      std::vector<Argument> items;
      while (!TakeIf("]")) {
        items.push_back(Value(depth + 1));
        if (Peek().text != "]") Mark(",");
      }
      return Argument::List(std::move(items));
    }
    if (token.kind == Token::Kind::kWord) {
      if (const std::optional<int> number = NumberOfName(token)) {
        if (kinds_[token.text] != NameKind::kResult) Fail(token, Shown(token) + " is no tensor");
        return {.kind = PL_TENSOR, .integer = *number};
      }
      if (const std::optional<Argument> constant = ConstantOf(token.text)) return *constant;
    }
    Fail(token, "expected an argument, found " + Shown(token) + Near(token.text));
  }

  void Expect() {
    Statement expect{.kind = Statement::Kind::kExpect, .line = Take().line, .names = {}};
    const std::string subject = Peek().text;
    expect.names.push_back(Named());
    switch (kinds_[subject]) {
      case NameKind::kMemory:
        ExpectFigures(expect);
        break;
      case NameKind::kHolders:
        ExpectHolders(expect);
        break;
      case NameKind::kCapsule:
        expect.kind = Statement::Kind::kExpectCapsule;
        ExpectLooks(expect);
        break;
      case NameKind::kResult:
        ExpectLooks(expect);
        break;
    }
    program_.statements.push_back(std::move(expect));
  }

  // live +4000 peak as live kept 0 [since NAME]
  void ExpectFigures(Statement& expect) {
    expect.kind = Statement::Kind::kExpectMemory;
    do {
      FigureLook look;
      look.figure = Figure(Take());
      if (TakeIf("as")) {
        look.as = Figure(Take());
      } else {
        look.grown = TakeIf("+") || Peek().text.starts_with("-");
        look.amount = Integer();
      }
      expect.figures.push_back(look);
    } while (Peek().kind != Token::Kind::kLineEnd && Peek().text != "since");
    const auto grown = [](const FigureLook& look) { return look.grown; };
    if (std::any_of(expect.figures.begin(), expect.figures.end(), grown)) {
      Word("since");
      expect.other = Named(NameKind::kMemory);
    }
    EndOfLine();
  }
  MemoryFigure Figure(const Token& word) {
    for (std::size_t i = 0; i < std::size(kMemoryFigures); ++i) {
      if (word.text == kMemoryFigures[i]) return static_cast<MemoryFigure>(i);
    }
    Fail(word, fmt::format("expected one of {}, found {}", fmt::join(kMemoryFigures, ", "), Shown(word)));
  }

  void ExpectHolders(Statement& expect) {
    expect.kind = Statement::Kind::kExpectHolders;
    Word("lists");
    do {
      expect.holders.push_back(Named(NameKind::kResult));
    } while (Peek().kind != Token::Kind::kLineEnd);
    EndOfLine();
  }

  void ExpectLooks(Statement& expect) {
    TensorLooks& looks = expect.looks;
    if (Peek().kind == Token::Kind::kLineEnd) Fail(Peek(), "expected what to look at, found the end of the line");
    while (Peek().kind != Token::Kind::kLineEnd) {
      if (Peek().text == "[") {
        looks.sizes = Ints();
        continue;
      }
      if (Peek().text == "{") {
        looks.elements = Elements(looks.dtype);
        continue;
      }
      const Token token = Take();
      const bool of_capsule = expect.kind == Statement::Kind::kExpectCapsule;
      if (of_capsule && token.text == "deleted") {
        expect.deleted = Integer();
      } else if (of_capsule && token.text == "aligned") {
        expect.aligned = Integer();
        if (*expect.aligned < 1) Fail(token, "expected a number above 0 that divides the address");
      } else if (const auto dtype = DtypeOf(token.text); dtype && token.kind == Token::Kind::kWord) {
        looks.dtype = dtype;
      } else if (token.text == "/") {
        looks.strides = Ints();
      } else if (token.text == "+") {
        looks.offset = Integer();
      } else if (token.text == "bits") {
        looks.bits = Bits();
      } else if (token.text == "on") {
        looks.device = Take().text;
      } else if (of_capsule) {
        Fail(token, "expected what to look at: what a tensor looks like, deleted or aligned with a number; found " +
                        Shown(token));
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
  }

  int Named(std::optional<NameKind> kind = {}) {
    const Token token = Take();
    const std::optional<int> number = NumberOfName(token);
    if (!number) Fail(token, "nothing is named " + Shown(token) + Near(token.text));
    if (kind && kinds_[token.text] != *kind) {
      static constexpr const char* kKinds[] = {"tensor", "reading of memory", "report of holders", "capsule"};
      Fail(token, fmt::format("{} is no {}", Shown(token), kKinds[static_cast<int>(*kind)]));
    }
    return *number;
  }
  // None for a word that was never a name.
  std::optional<int> NumberOfName(const Token& token) {
    if (const auto bound = numbers_.find(token.text); bound != numbers_.end()) return bound->second;
    if (kinds_.contains(token.text)) Fail(token, Shown(token) + " is gone");
    return std::nullopt;
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
  int Bind(const Token& name, NameKind kind = NameKind::kResult) {
    if (!kinds_.emplace(name.text, kind).second) {
      Fail(name, fmt::format("'{}' is named already; a name is for one tensor", name.text));
    }
    const int number = static_cast<int>(program_.names.size());
    numbers_.emplace(name.text, number);
    program_.names.push_back(name.text);
    return number;
  }
  // Whether the line is NAME = ... or NAME, NAME = ...
  bool IsBoundNext() { return PeekAfter().text == "=" || PeekAfter().text == ","; }

  TensorProgram program_;
  std::map<std::string, int> numbers_;     // of the names that are there
  std::map<std::string, NameKind> kinds_;  // of those that are gone too
  std::set<std::string> hosts_own_;        // capsules
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
  } catch (const ProgramSyntaxError& failure) {
    return InputError{failure.message};
  }
}

}  // namespace plumbline::suites
