#include "kernels/derivatives/formula.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <string>
#include <utility>

#include "kernels/derivatives/functions.h"
#include "reference/dispatch/operator.h"
#include "reference/keys/error.h"

namespace plumbline::kernels {
namespace {

using reference::ErrorClass;
using reference::Operator;
using reference::OperatorRef;
using reference::Registry;
using reference::Schema;
using reference::SchemaArgument;
using reference::Stack;
using reference::Value;

bool IsOfNames(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.'; }

std::optional<Value> ConstantOf(std::string_view word) {
  if (word == "none" || word == "None") return Value::None();
  if (word == "true" || word == "True") return Value(true);
  if (word == "false" || word == "False") return Value(false);
  const char* const end = word.data() + word.size();
  if (std::int64_t whole = 0; std::from_chars(word.data(), end, whole).ptr == end) return Value(whole);
  if (double real = 0; std::from_chars(word.data(), end, real).ptr == end) return Value(real);
  return std::nullopt;
}

Term Constant(Value value) {
  Term term;
  term.constant = std::move(value);
  return term;
}

}  // namespace

class FormulaReader::Text {
 public:
  explicit Text(std::string_view whole) : whole_(whole) {}

  // A name or a number; empty: neither.
  std::string_view Word() {
    Skip();
    const std::size_t from = at_;
    if (at_ < whole_.size() && whole_[at_] == '-') ++at_;
    while (at_ < whole_.size() && IsOfNames(whole_[at_])) ++at_;
    return whole_.substr(from, at_ - from);
  }
  bool Take(char mark) {
    Skip();
    if (at_ == whole_.size() || whole_[at_] != mark) return false;
    ++at_;
    return true;
  }
  void Need(char mark) {
    if (!Take(mark)) Fail(std::string("expected '") + mark + "'");
  }
  bool AtEnd() {
    Skip();
    return at_ == whole_.size();
  }
  std::size_t place() const { return at_; }
  void GoBackTo(std::size_t place) { at_ = place; }
  [[noreturn]] void Fail(const std::string& what) const {
    reference::Throw(ErrorClass::kInvalidArgument, "the formula '" + std::string(whole_) + "', at character " +
                                                       std::to_string(at_ + 1) + ": " + what);
  }

 private:
  void Skip() {
    while (at_ < whole_.size() && whole_[at_] == ' ') ++at_;
  }

  std::string_view whole_;
  std::size_t at_ = 0;
};

Term FormulaReader::Read(std::string_view formula) {
  Text text(formula);
  Term term = ReadTerm(text);
  if (!text.AtEnd()) text.Fail("expected the end");
  return term;
}

Term FormulaReader::ReadTerm(Text& text) {
  if (text.Take('[')) return ReadList(text);
  if (text.Take('\'')) {
    const std::string_view quoted = text.Word();
    text.Need('\'');
    return Constant(Value(quoted));
  }
  const std::string_view word = text.Word();
  if (word.empty()) text.Fail("expected a name, a number or a list");
  if (text.Take('(')) return ReadCall(text, word);
  if (std::optional<Value> constant = ConstantOf(word)) return Constant(std::move(*constant));
  return ReadInput(text, word);
}

Term FormulaReader::ReadList(Text& text) {
  Term list;
  list.kind = Term::Kind::kList;
  if (text.Take(']')) return list;
  do {
    list.arguments.push_back(ReadTerm(text));
  } while (text.Take(','));
  text.Need(']');
  return list;
}

Term FormulaReader::ReadCall(Text& text, std::string_view name) {
  Term call;
  const NamedFunction* const function = FindFunction(name);
  std::vector<SchemaArgument> parameters;
  if (function != nullptr) {
    call.kind = Term::Kind::kFunction;
    call.function = function->function;
  } else {
    call.kind = Term::Kind::kOperator;
    call.op = registry_.Find("aten::" + std::string(name));
    if (!call.op) text.Fail("there is no operator and no function '" + std::string(name) + "'");
    parameters = Operator(call.op).schema().arguments;
  }
  std::vector<std::optional<Term>> given(parameters.size());
  std::size_t next = 0;
  const auto put = [&](std::size_t at, Term term) {
    if (function != nullptr) {
      call.arguments.push_back(std::move(term));
      return;
    }
    if (at >= given.size()) text.Fail(std::string(name) + " has " + std::to_string(given.size()) + " arguments");
    if (given[at]) text.Fail("the argument '" + parameters[at].name + "' is there twice");
    given[at] = std::move(term);
  };
  if (!text.Take(')')) {
    do {
      const std::size_t place = text.place();
      const std::string_view word = text.Word();
      if (!word.empty() && text.Take('=')) {
        const auto found = std::find_if(parameters.begin(), parameters.end(),
                                        [&](const SchemaArgument& parameter) { return parameter.name == word; });
        if (found == parameters.end()) text.Fail(std::string(name) + " has no argument '" + std::string(word) + "'");
        put(static_cast<std::size_t>(found - parameters.begin()), ReadTerm(text));
        continue;
      }
      text.GoBackTo(place);
      put(next++, ReadTerm(text));
    } while (text.Take(','));
    text.Need(')');
  }
  if (function != nullptr) {
    if (call.arguments.size() == function->arguments) return call;
    text.Fail(std::string(name) + " takes " + std::to_string(function->arguments) + " arguments, not " +
              std::to_string(call.arguments.size()));
  }
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (!given[i]) {
      const std::string& value = parameters[i].default_value;
      if (value.empty()) text.Fail(std::string(name) + " needs the argument '" + parameters[i].name + "'");
      Text written(value);
      given[i] = written.Take('[') ? ReadList(written) : Constant(ConstantOf(value).value_or(Value(value)));
    }
    call.arguments.push_back(std::move(*given[i]));
  }
  return call;
}

Term FormulaReader::ReadInput(Text& text, std::string_view name) {
  FormulaInput input;
  std::string_view base = name.substr(0, name.find('.'));
  const std::string_view what = base.size() == name.size() ? "" : name.substr(base.size() + 1);
  if (what == "sizes") {
    input.what = FormulaInput::What::kSizes;
  } else if (what == "strides") {
    input.what = FormulaInput::What::kStrides;
  } else if (what == "offset") {
    input.what = FormulaInput::What::kOffset;
  } else if (what == "dtype") {
    input.what = FormulaInput::What::kDtype;
  } else if (!what.empty()) {
    text.Fail("of a tensor there are sizes, strides, offset and dtype, no '" + std::string(what) + "'");
  }
  const auto argument = std::find_if(schema_.arguments.begin(), schema_.arguments.end(),
                                     [&](const SchemaArgument& one) { return one.name == base; });
  const auto numbered = [&](std::string_view word, FormulaInput::Of of) {
    if (!base.starts_with(word)) return false;
    std::string_view digits = base.substr(word.size());
    input.of = of;
    input.number = 0;
    if (digits.empty()) return true;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), input.number);
    return error == std::errc() && end == digits.data() + digits.size();
  };
  if (argument != schema_.arguments.end()) {
    input.of = FormulaInput::Of::kArgument;
    input.number = static_cast<std::uint32_t>(argument - schema_.arguments.begin());
  } else if (!numbered("grad", FormulaInput::Of::kGradient) && !numbered("result", FormulaInput::Of::kResult)) {
    text.Fail("there is no '" + std::string(base) + "': it is neither an argument of " + schema_.full_name() +
              ", nor grad or result");
  } else if (input.number >= schema_.returns.size()) {
    text.Fail(schema_.full_name() + " has " + std::to_string(schema_.returns.size()) + " results");
  }
  Term term;
  term.kind = Term::Kind::kInput;
  const auto known = std::find(inputs_.begin(), inputs_.end(), input);
  term.input = static_cast<std::uint32_t>(known - inputs_.begin());
  if (known == inputs_.end()) inputs_.push_back(input);
  if (inputs_.size() > 64) text.Fail("the formulas of an operator ask for 64 things at most");
  return term;
}

std::uint64_t InputsOf(const Term& term) {
  std::uint64_t bits = term.kind == Term::Kind::kInput ? std::uint64_t{1} << term.input : 0;
  for (const Term& argument : term.arguments) bits |= InputsOf(argument);
  return bits;
}

std::optional<Value> Evaluate(const Registry& registry, const Term& term, std::span<const std::optional<Value>> given) {
  switch (term.kind) {
    case Term::Kind::kConstant:
      return term.constant;
    case Term::Kind::kInput:
      return given[term.input];
    case Term::Kind::kList: {
      std::vector<Value> items;
      for (const Term& argument : term.arguments) {
        std::optional<Value> item = Evaluate(registry, argument, given);
        if (!item) return std::nullopt;
        items.push_back(std::move(*item));
      }
      return Value(std::move(items));
    }
    case Term::Kind::kOperator: {
      Stack stack;
      for (const Term& argument : term.arguments) {
        std::optional<Value> value = Evaluate(registry, argument, given);
        if (!value) return std::nullopt;
        stack.Push(std::move(*value));
      }
      Operator(term.op).CallBoxed(stack, term.arguments.size());
      const std::size_t results = stack.size();
      if (results > 1) stack.Drop(results - 1);  // the first of several
      return stack.Pop();
    }
    case Term::Kind::kFunction: {
      std::vector<std::optional<Value>> values;
      for (const Term& argument : term.arguments) values.push_back(Evaluate(registry, argument, given));
      return term.function({registry, values});
    }
  }
  return std::nullopt;
}

}  // namespace plumbline::kernels
