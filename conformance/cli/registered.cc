#include "conformance/cli/registered.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "spec/model/names.h"

namespace plumbline::cli {

using harness::Executor;
using harness::InputError;
using harness::OperatorView;
using harness::OrError;
using scenario::SchemaType;
using scenario::Value;

namespace {

// The rule by which an alias key's kernel fills a slot.
std::string RuleOfAlias(const std::string& alias) {
  static const std::map<std::string, std::string> rules = {{"CompositeExplicitAutogradNonFunctional", "nonfunctional"},
                                                           {"CompositeExplicitAutograd", "explicit"},
                                                           {"CompositeImplicitAutogradNestedTensor", "nested"},
                                                           {"CompositeImplicitAutograd", "implicit"},
                                                           {"Autograd", "autograd"},
                                                           {"FuncTorchBatchedDecomposition", "batched"}};
  const auto rule = rules.find(alias);
  return rule == rules.end() ? "" : rule->second;
}

// A place as PyTorch tells it starts with words.
std::string WithoutWords(const std::string& place) {
  constexpr std::string_view kWords = "registered at ";
  return place.starts_with(kWords) ? place.substr(kWords.size()) : place;
}

Value Zero(const SchemaType& type) {
  if (type.list) {
    SchemaType item = type;
    item.list = false;
    return Value::List(std::vector<Value>(static_cast<std::size_t>(type.size.value_or(0)), Zero(item)));
  }
  switch (type.base) {
    case SchemaType::Base::kTensor:
      return Value::Tensor({});
    case SchemaType::Base::kInt:
    case SchemaType::Base::kSymInt:
    case SchemaType::Base::kScalar:
    case SchemaType::Base::kScalarType:
    case SchemaType::Base::kMemoryFormat:
    case SchemaType::Base::kLayout:
      return Value::Int(0);
    case SchemaType::Base::kFloat:
      return Value::Float(0);
    case SchemaType::Base::kBool:
      return Value::Bool(false);
    case SchemaType::Base::kStr:
      return Value::String("");
    case SchemaType::Base::kDevice:
      return Value::String("cpu");
    case SchemaType::Base::kGenerator:
      return Value::None();
  }
  return Value::None();
}

}  // namespace

std::vector<std::string> FoldRegistrations(const std::vector<std::string>& lines) {
  struct Folded {
    std::vector<std::string> keys;  // with how often where it is more than once
    std::string rest;               // from the colon on; "" for a line that names no key
    std::map<std::string, int> times;
  };
  std::vector<Folded> all;
  std::map<std::string, std::size_t> by_rest;
  for (const std::string& line : lines) {
    const std::size_t colon = line.find(": ");
    const std::string rest = colon == std::string::npos ? "" : line.substr(colon);
    const std::string key = line.substr(0, colon);
    const auto known = by_rest.find(rest);
    if (rest.empty() || known == by_rest.end()) {
      if (!rest.empty()) by_rest.emplace(rest, all.size());
      all.push_back({.keys = {key}, .rest = rest, .times = {{key, 1}}});
      continue;
    }
    Folded& folded = all[known->second];
    if (++folded.times[key] == 1) folded.keys.push_back(key);
  }
  std::vector<std::string> folded_lines;
  for (Folded& folded : all) {
    for (std::string& key : folded.keys) {
      if (const int times = folded.times[key]; times > 1) key += fmt::format(" ({} times)", times);
    }
    folded_lines.push_back(fmt::format("{}{}", fmt::join(folded.keys, ", "), folded.rest));
  }
  return folded_lines;
}

std::string NoSuchOperator(const std::string& name, const std::vector<std::string>& known) {
  std::vector<std::string> overloads;
  for (const std::string& one : known) {
    if (one.starts_with(name + ".")) overloads.push_back(one);
  }
  if (!overloads.empty()) {
    return fmt::format("the operator '{}' has no overload without a name; give one of\n  {}", name,
                       fmt::join(overloads, "\n  "));
  }
  const std::vector<std::string> near = model::Nearest(name, known);
  return fmt::format("there is no operator '{}'{}", name,
                     near.empty() ? fmt::format(" among the {} that are registered; is the library that defines it "
                                                "loaded (--load)?",
                                                known.size())
                                  : fmt::format("; near: {}", fmt::join(near, ", ")));
}

OrError<OperatorView> ViewOperator(Executor& executor, const std::string& name) {
  OrError<OperatorView> view = executor.View(name);
  if (!view.ok() || view->found) return view;
  OrError<harness::OperatorNames> names = executor.Names();
  if (!names.ok()) return InputError{names.error()};
  return InputError{fmt::format("backend {}: {}", executor.facts().name, NoSuchOperator(name, names->all))};
}

OrError<Registered> AsScenario(const std::string& name, const OperatorView& view, const harness::BackendFacts& facts,
                               const model::KeyTable& keys) {
  Registered made;
  made.scenario.release = facts.release;
  if (view.schema.empty()) {
    // Nothing can be called that is not defined; the model says so in its own way.
    made.schema = *scenario::ParseSchema("unknown::unknown(Tensor a) -> Tensor").schema;
  } else {
    scenario::SchemaResult parsed = scenario::ParseSchema(view.schema);
    if (!parsed.schema) {
      return InputError{fmt::format("{} has a schema outside of what scenarios can hold: {}\n  {}", name,
                                    parsed.error->message, view.schema)};
    }
    made.schema = std::move(*parsed.schema);
    made.scenario.steps.push_back({.action = scenario::Define{.schema = view.schema, .library = "", .name = ""},
                                   .thread = "",
                                   .expected = std::nullopt,
                                   .line = 0});
  }
  for (const std::string& key : view.direct) {
    const auto known = keys.Find(key);
    const std::string rule = known && keys.IsAlias(*known) ? RuleOfAlias(key) : "kernel";
    const OperatorView::Row* shown = nullptr;
    for (const OperatorView::Row& row : view.table) {
      if (row.rule == rule && (rule != "kernel" || row.key == key)) shown = &row;
    }
    if (shown == nullptr) {
      made.unsure.push_back(
          fmt::format("the kernel at {} fills no slot of the table, so its place is not known, nor "
                      "whether it falls through",
                      key));
    }
    scenario::Impl impl{.operator_name = name, .key = key, .kernel = {}, .library = "", .name = ""};
    impl.kernel.fallthrough = shown != nullptr && shown->fallthrough;
    if (!impl.kernel.fallthrough) {
      impl.kernel.kernel = shown != nullptr && !shown->place.empty() ? WithoutWords(shown->place) : "kernel at " + key;
    }
    made.scenario.steps.push_back({.action = std::move(impl), .thread = "", .expected = std::nullopt, .line = 0});
  }

  std::map<std::string, bool> builtin;
  if (facts.fallbacks) {
    for (const harness::BuiltinFallback& fallback : *facts.fallbacks) builtin[fallback.key] = fallback.fallthrough;
  } else {
    for (const tables::BuiltinFallbackData& fallback : model::FindRelease(facts.release)->fallbacks) {
      builtin[std::string(fallback.key)] = fallback.fallthrough;
    }
  }
  for (const std::string& key : view.fallbacks) {
    model::StartingFallback fallback{.key = key, .fallthrough = builtin.contains(key) && builtin.at(key)};
    bool told = builtin.contains(key);
    for (const OperatorView::Row& row : view.table) {
      if (row.key != key || row.rule != "fallback") continue;
      fallback.fallthrough = row.fallthrough;
      told = true;
    }
    if (!told) made.unsure.push_back(fmt::format("the fallback at {} is taken to be a kernel, not a fallthrough", key));
    made.fallbacks.push_back(std::move(fallback));
  }
  return made;
}

scenario::Call CallWith(const std::string& name, const scenario::Schema& schema,
                        const std::vector<std::vector<std::string>>& key_sets) {
  scenario::Call call;
  call.operator_name = name;
  std::size_t tensors = 0;
  for (const scenario::SchemaArgument& argument : schema.arguments) {
    if (!argument.type.BringsKeys()) {
      call.arguments.push_back(argument.type.optional ? Value::None() : Zero(argument.type));
      continue;
    }
    const std::size_t at = key_sets.size() == 1 ? 0 : tensors;
    ++tensors;
    if (at >= key_sets.size()) {
      call.arguments.push_back(argument.type.optional ? Value::None() : Zero(argument.type));
      continue;
    }
    Value tensor = Value::Tensor(key_sets[at]);
    call.arguments.push_back(argument.type.list ? Value::List({std::move(tensor)}) : std::move(tensor));
  }
  return call;
}

}  // namespace plumbline::cli
