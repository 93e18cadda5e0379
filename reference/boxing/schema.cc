#include "reference/boxing/schema.h"

#include <algorithm>

#include "reference/faults/faults.h"

namespace plumbline::reference {

std::string OperatorName::Full() const {
  std::string text;
  text.reserve(name_space.size() + name.size() + overload.size() + 3);
  if (!name_space.empty()) text.append(name_space).append("::");
  text += name;
  if (!overload.empty()) text.append(".").append(overload);
  return text;
}

std::uint64_t Schema::key_arguments() const {
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].type.brings_keys()) bits |= std::uint64_t{1} << i;
  }
  return bits;
}

namespace {

std::string PrintMarked(const SchemaArgument& argument) {
  const std::string type = Print(argument.type);
  if (argument.alias.empty()) return type;
  const std::size_t base = Spelling(argument.type.base).size();
  return type.substr(0, base) + "(" + argument.alias + (argument.written ? "!" : "") +
         (argument.listed ? " -> *" : "") + ")" + type.substr(base);
}

std::string PrintArgument(const SchemaArgument& argument) {
  std::string text = PrintMarked(argument);
  if (!argument.name.empty()) text += " " + argument.name;
  if (!argument.default_value.empty()) text += "=" + argument.default_value;
  return text;
}

std::string PrintTypeList(const std::vector<SchemaArgument>& list) {
  std::string text = "(";
  for (const SchemaArgument& argument : list) text += (text.size() > 1 ? ", " : "") + Print(argument.type);
  return text + ")";
}

std::string Count(std::size_t count, const char* what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

std::string ListDifference(const char* what, const std::vector<SchemaArgument>& defined,
                           const std::vector<SchemaArgument>& cpp) {
  for (std::size_t i = 0; i < defined.size(); ++i) {
    const bool argument = what[0] == 'a';
    if (PLUMBLINE_FAULT(argument_types_may_differ) && argument) continue;
    if (PLUMBLINE_FAULT(results_may_differ) && !argument) continue;
    const bool symbolic = defined[i].type.base == BaseType::kSymInt && cpp[i].type.base == BaseType::kInt;
    const bool misfit = (PLUMBLINE_FAULT(symint_takes_symint_only) && symbolic) ||
                        (PLUMBLINE_FAULT(defaults_must_agree) && !defined[i].default_value.empty());
    if (defined[i].type.Fits(cpp[i].type) && !misfit) continue;
    return std::string(what) + " " + std::to_string(i + 1) + " is " + Print(defined[i].type) + " in the schema and " +
           Print(cpp[i].type) + " in C++";
  }
  return "";
}

}  // namespace

std::string Print(const Schema& schema) {
  std::string text = schema.full_name() + "(";
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
  if (schema.returns.size() == 1 && schema.returns[0].name.empty()) return text + PrintMarked(schema.returns[0]);
  text += "(";
  separator = "";
  for (const SchemaArgument& result : schema.returns) {
    text += separator + PrintArgument(result);
    separator = ", ";
  }
  return text + ")";
}

std::string PrintTypes(const Schema& schema) {
  return PrintTypeList(schema.arguments) + " -> " +
         (schema.returns.size() == 1 ? Print(schema.returns[0].type) : PrintTypeList(schema.returns));
}

std::string Difference(const Schema& defined, const Schema& cpp) {
  if (PLUMBLINE_FAULT(argument_counts_may_differ) && defined.arguments.size() != cpp.arguments.size()) return "";
  if (defined.arguments.size() != cpp.arguments.size()) {
    return "the schema has " + Count(defined.arguments.size(), "argument") + ", C++ has " +
           std::to_string(cpp.arguments.size());
  }
  if (PLUMBLINE_FAULT(results_may_differ) && defined.returns.size() != cpp.returns.size()) return "";
  if (defined.returns.size() != cpp.returns.size()) {
    return "the schema has " + Count(defined.returns.size(), "return") + ", C++ has " +
           std::to_string(cpp.returns.size());
  }
  const std::string difference = ListDifference("argument", defined.arguments, cpp.arguments);
  return difference.empty() ? ListDifference("return", defined.returns, cpp.returns) : difference;
}

}  // namespace plumbline::reference
