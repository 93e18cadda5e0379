#include "spec/scenario/print.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <limits>

#include "spec/scenario/lex.h"

namespace plumbline::scenario {
namespace {

constexpr std::size_t kLineLength = 110;

template <class... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <class... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

// "call" becomes "call     ", so that operands stand in a column.
std::string Verb(std::string verb) {
  verb.resize(std::max<std::size_t>(verb.size() + 1, 9), ' ');
  return verb;
}

std::string Real(double value) {
  if (std::isnan(value)) {
    auto bits = std::bit_cast<std::uint64_t>(value);
    if (bits == std::bit_cast<std::uint64_t>(std::numeric_limits<double>::quiet_NaN())) return "nan";
    char text[32];
    std::snprintf(text, sizeof text, "nan:%016llx", static_cast<unsigned long long>(bits));
    return text;
  }
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  char buffer[64];
  auto result = std::to_chars(buffer, buffer + sizeof buffer, value);
  std::string text(buffer, result.ptr);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

// As it is, if it ends where it should when something follows it; an unclosed parenthesis would swallow that.
std::string Schema(const std::string& schema) {
  bool plain =
      !schema.empty() && schema[0] != '"' && schema[0] != '#' && SchemaEnd(schema + " => ", 0) == schema.size() &&
      std::all_of(schema.begin(), schema.end(), [](char c) { return c >= 0x20 && c < 0x7f; }) && schema.front() != ' ';
  return plain ? schema : Quoted(schema);
}

std::string Form(CallForm form, const std::string& signature) {
  return form == CallForm::kTyped ? "typed " + signature + " " : "";
}

std::string InAs(const std::string& library, const std::string& name) {
  std::string text;
  if (!library.empty()) text += " in " + library;
  if (!name.empty()) text += " as " + name;
  return text;
}

std::string KeyAndUse(const std::optional<std::string>& key, const KernelUse& use) {
  std::string text = key ? " " + PlainOrQuoted(*key) : std::string();
  if (use.fallthrough) return text + " fallthrough";
  text += " " + use.kernel;
  if (!use.signature.empty()) text += " typed " + use.signature;
  return text;
}

const char* Spelling(LibraryKind kind) {
  return kind == LibraryKind::kDef ? "def" : kind == LibraryKind::kFragment ? "fragment" : "impl";
}

std::string Question(const Query& query) {
  std::string key = query.key ? " " + PlainOrQuoted(*query.key) : std::string();
  std::string subject = " " + PlainOrQuoted(query.subject);
  switch (query.kind) {
    case QueryKind::kHasKernel:
      return "has-kernel" + subject + key;
    case QueryKind::kHasComputed:
      return "computed" + subject + key;
    case QueryKind::kHasFallback:
      return "has-fallback" + key;
    case QueryKind::kOperators:
      return "operators";
    case QueryKind::kDangling:
      return "dangling";
    case QueryKind::kOperatorsAtKey:
      return "at-key" + key;
    case QueryKind::kSchema:
      return "schema" + subject;
    case QueryKind::kTable:
      return "table" + subject;
    case QueryKind::kCounters:
      return "counters" + subject;
    case QueryKind::kDestroyed:
      return "destroyed " + query.subject;
    case QueryKind::kHeard:
      return "heard " + query.subject;
  }
  return "";
}

// `pad` puts a step's operands in a column; inside a kernel's body there is no column.
std::string PrintAction(const Action& action, bool pad) {
  auto verb = [pad](const char* text) { return pad ? Verb(text) : std::string(text) + " "; };
  return std::visit(
      Overloaded{
          [&](const Chain& a) {
            return verb("chain") + PlainOrQuoted(a.key) + " served by " + PlainOrQuoted(a.served_by) + InAs("", a.name);
          },
          [&](const LibraryOpen& a) {
            return verb("library") + a.name + " " + Spelling(a.kind) + " " + PlainOrQuoted(a.name_space) +
                   (a.key ? " " + PlainOrQuoted(*a.key) : "");
          },
          [&](const LibraryClose& a) { return verb("close") + a.name; },
          [&](const Define& a) { return verb("define") + Schema(a.schema) + InAs(a.library, a.name); },
          [&](const Impl& a) {
            return verb("impl") + PlainOrQuoted(a.operator_name) + KeyAndUse(a.key, a.kernel) + InAs(a.library, a.name);
          },
          [&](const Fallback& a) {
            return verb("fallback") + KeyAndUse(a.key, a.kernel).substr(1) + InAs(a.library, a.name);
          },
          [&](const Listen& a) { return verb("listen") + "as " + a.name; },
          [&](const Release& a) { return verb("release") + a.name; },
          [&](const Drain&) { return std::string("drain"); },
          [&](const Find& a) { return verb("find") + PlainOrQuoted(a.operator_name) + " as " + a.name; },
          [&](const Call& a) {
            std::string text = verb("call") + Form(a.form, a.signature);
            text += a.handle.empty() ? PlainOrQuoted(a.operator_name) : "@" + a.handle;
            return a.arguments.empty() ? text : text + " " + PrintValues(a.arguments);
          },
          [&](const GuardEnter& a) {
            return verb("guard") + (a.include ? "include " : "exclude ") + PrintKeys(a.keys) + " as " + a.name;
          },
          [&](const GuardLeave& a) { return verb("leave") + a.name; },
          [&](const Flush&) { return std::string("flush"); },
          [&](const Query& a) { return verb("query") + Question(a); },
      },
      action);
}

std::string PrintItem(const BodyItem& item) {
  return std::visit(
      Overloaded{
          [](const BodyGuard& i) { return (i.include ? "guard include " : "guard exclude ") + PrintKeys(i.keys); },
          [](const BodyRedispatch& i) {
            std::string text = i.form == CallForm::kTyped ? "redispatch typed " : "redispatch ";
            return i.below ? text + "below " + PlainOrQuoted(*i.below)
                           : text + "to " + PrintKeys(i.keys.value_or(std::vector<std::string>{}));
          },
          [](const BodyCall& i) {
            std::string text = i.caught ? "try call " : "call ";
            text += Form(i.form, i.signature) + PlainOrQuoted(i.operator_name);
            return i.arguments ? text + " (" + PrintValues(*i.arguments) + ")" : text;
          },
          [](const BodyThrow& i) { return "throw " + Quoted(i.message); },
          [](const BodyReturn& i) {
            std::string text = "return";
            for (const auto& value : i.values) {
              text +=
                  " " + std::visit(Overloaded{
                                       [](const Value& v) { return PrintValue(v); },
                                       [](const BodyReturn::Argument& a) { return "arg " + std::to_string(a.index); },
                                       [](const BodyReturn::Inner&) { return std::string("inner"); },
                                   },
                                   value);
            }
            return text;
          },
          [](const BodyStep& i) { return i.step.empty() ? std::string() : PrintAction(i.step[0].action, false); },
      },
      item);
}

std::string Winner(const TableRow& row) {
  std::string text = row.rule;
  if (!row.registration.empty()) text += " " + row.registration;
  if (row.fallthrough) text += " fallthrough";
  return text + ":";
}

// The rows of a table by winner, each "RULE NAME: KEY KEY", in the order in which winners first appear.
std::vector<std::pair<std::string, std::vector<std::string>>> Grouped(const std::vector<TableRow>& rows) {
  std::vector<std::pair<std::string, std::vector<std::string>>> groups;
  for (const TableRow& row : rows) {
    std::string winner = Winner(row);
    auto group = std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return g.first == winner; });
    if (group == groups.end()) group = groups.insert(groups.end(), {winner, {}});
    group->second.push_back(PlainOrQuoted(row.key));
  }
  return groups;
}

// A table over several lines, a winner's keys wrapped.
std::string PrintWideTable(const std::vector<TableRow>& rows) {
  std::string text = "{\n";
  for (const auto& [winner, keys] : Grouped(rows)) {
    std::string line = "  " + winner;
    for (const std::string& key : keys) {
      if (line.size() + 1 + key.size() + 1 > kLineLength) {
        text += line + "\n";
        line = "   ";
      }
      line += " " + key;
    }
    text += line + ";\n";
  }
  return text + "}";
}

bool AreHeard(const std::vector<std::string>& names) {
  return !names.empty() && std::all_of(names.begin(), names.end(), [](const std::string& name) {
    return name.size() > 1 && (name[0] == '+' || name[0] == '-');
  });
}

std::string Names(const std::vector<std::string>& names) {
  if (AreHeard(names)) {
    std::string text = "heard";
    for (const auto& name : names) text += " " + (IsPlainWord(name.substr(1)) ? name : Quoted(name));
    return text;
  }
  if (names.size() == 1 && names[0].find('(') != std::string::npos) return "schema " + Quoted(names[0]);
  std::string text = "names";
  for (const auto& name : names) text += " " + PlainOrQuoted(name);
  return text;
}

std::string Counters(const CacheCounters& counters) {
  return "hits " + std::to_string(counters.hits) + " misses " + std::to_string(counters.misses) + " invalidations " +
         std::to_string(counters.invalidations);
}

std::string Returns(const std::vector<Value>& values) {
  return values.empty() ? "returns" : "returns " + PrintValues(values);
}

std::string PrintExpectation(const Expectation& expected, bool wide) {
  if (expected.table) {
    std::string text = PrintTable(*expected.table);
    return wide && text.size() > kLineLength / 2 ? PrintWideTable(*expected.table) : text;
  }
  if (expected.truth) return *expected.truth ? "true" : "false";
  if (expected.names) return Names(*expected.names);
  if (expected.counters) return Counters(*expected.counters);
  if (expected.count) return "count " + std::to_string(*expected.count);

  std::string text;
  auto add = [&text](const std::string& part) { text += (text.empty() ? "" : " ") + part; };
  if (expected.ok || expected.warned) add("ok");
  if (expected.warned) add(*expected.warned ? "warned" : "unwarned");
  if (expected.chain) {
    for (std::size_t i = 0; i < expected.chain->size(); ++i) add((i > 0 ? "> " : "") + (*expected.chain)[i]);
  }
  if (expected.with) add("with " + PrintKeys(*expected.with));
  if (expected.sees) add(expected.sees->empty() ? "sees" : "sees " + PrintValues(*expected.sees));
  if (expected.returns) add(Returns(*expected.returns));
  if (expected.error) {
    if (!text.empty()) add(">");
    add("error " + *expected.error);
    if (expected.says) add("says " + Quoted(*expected.says));
  }
  return text.empty() ? "ok" : text;
}

std::string PrintStep(const Step& step, bool wide) {
  std::string text = step.thread.empty() ? "" : "on " + step.thread + " ";
  text += PrintAction(step.action, true);
  if (step.expected) text += " => " + PrintExpectation(*step.expected, wide);
  return text;
}

std::string Head(const Scenario& scenario) {
  std::string text = "scenario " + std::to_string(scenario.version) + " " + PlainOrQuoted(scenario.release) + "\n";
  if (auto comment = scenario.comments.find(-1); comment != scenario.comments.end()) text += comment->second + "\n";
  if (!scenario.title.empty()) text += Verb("title") + scenario.title + "\n";
  if (!scenario.clauses.empty()) {
    text += "clauses ";
    for (const auto& clause : scenario.clauses) text += " " + PlainOrQuoted(clause);
    text += "\n";
  }
  if (scenario.open != OpenMode::kAny) {
    text += Verb("open") + (scenario.open == OpenMode::kFresh ? "fresh" : "process") + "\n";
  }
  for (const KeyDeclaration& declared : scenario.declared_keys) {
    bool mode = declared.kind == KeyDeclaration::Kind::kMode;
    text += Verb("declare") +
            (mode                                                ? "mode "
             : declared.kind == KeyDeclaration::Kind::kComponent ? "component "
                                                                 : "backend ") +
            PlainOrQuoted(declared.name) + " after " + PlainOrQuoted(declared.after);
    if (!mode) text += " autograd " + PlainOrQuoted(declared.autograd);
    text += "\n";
  }
  for (const KernelDefinition& kernel : scenario.kernels) text += PrintKernel(kernel) + "\n";
  return text;
}

}  // namespace

std::string PrintKeys(const std::vector<std::string>& keys) {
  std::string text = "[";
  for (std::size_t i = 0; i < keys.size(); ++i) text += (i > 0 ? " " : "") + PlainOrQuoted(keys[i]);
  return text + "]";
}

std::string PrintValue(const Value& value) {
  if (value.argument >= 0) return "arg " + std::to_string(value.argument);
  switch (value.kind) {
    case Value::Kind::kNone:
      return "none";
    case Value::Kind::kUndefined:
      return "undefined";
    case Value::Kind::kTensor:
      return PrintKeys(value.keys);
    case Value::Kind::kInt:
      return std::to_string(value.integer);
    case Value::Kind::kFloat:
      return Real(value.real);
    case Value::Kind::kBool:
      return value.boolean ? "true" : "false";
    case Value::Kind::kString:
      return Quoted(value.text);
    case Value::Kind::kList:
      return "{" + PrintValues(value.items) + "}";
  }
  return "";
}

std::string PrintValues(const std::vector<Value>& values) {
  std::string text;
  for (std::size_t i = 0; i < values.size(); ++i) text += (i > 0 ? " " : "") + PrintValue(values[i]);
  return text;
}

std::string PrintTable(const std::vector<TableRow>& rows) {
  std::string text = "{";
  const char* separator = " ";
  for (const auto& [winner, keys] : Grouped(rows)) {
    text += separator + winner;
    for (const auto& key : keys) text += " " + key;
    separator = "; ";
  }
  return text + " }";
}

std::string PrintKernel(const KernelDefinition& kernel) {
  std::string text = Verb("kernel") + kernel.name + " {";
  for (std::size_t i = 0; i < kernel.body.size(); ++i) text += (i > 0 ? "; " : " ") + PrintItem(kernel.body[i]);
  return text + " }";
}

std::string PrintExpectation(const Expectation& expected) { return PrintExpectation(expected, false); }
std::string PrintStep(const Step& step) { return PrintStep(step, false); }

std::string PrintOutcome(const Outcome& outcome) {
  std::string text;
  auto add = [&text](const std::string& part) { text += (text.empty() ? "" : " ") + part; };
  if (outcome.warned) add("ok warned");
  if (outcome.truth) add(*outcome.truth ? "true" : "false");
  if (outcome.names) add(Names(*outcome.names));
  if (outcome.table) add(PrintTable(*outcome.table));
  if (outcome.counters) add(Counters(*outcome.counters));
  if (outcome.count) add("count " + std::to_string(*outcome.count));
  for (std::size_t i = 0; i < outcome.runs.size(); ++i) {
    const KernelRun& run = outcome.runs[i];
    if (i > 0) add(">");
    add(run.kernel);
    if (i > 0 && run.operator_name != outcome.runs[i - 1].operator_name) add("for " + run.operator_name);
    if (run.depth != static_cast<int>(i)) add("at depth " + std::to_string(run.depth));
    add("with " + PrintKeys(run.keys));
    add(run.arguments.empty() ? "sees" : "sees " + PrintValues(run.arguments));
  }
  if (!outcome.error.empty()) {
    if (!text.empty()) add(">");
    add("error " + outcome.error);
  } else if (!outcome.runs.empty() || !outcome.returns.empty()) {
    add(Returns(outcome.returns));
  }
  return text.empty() ? "ok" : text;
}

std::string Print(const Scenario& scenario) {
  std::string text = Head(scenario);
  auto comment = [&](std::size_t index) {
    auto found = scenario.comments.find(static_cast<int>(index));
    return found == scenario.comments.end() ? std::string() : found->second + "\n";
  };
  if (!scenario.steps.empty() || scenario.comments.count(0) != 0) text += "\n";
  for (std::size_t i = 0; i < scenario.steps.size(); ++i)
    text += comment(i) + PrintStep(scenario.steps[i], true) + "\n";
  return text + comment(scenario.steps.size());
}

}  // namespace plumbline::scenario
