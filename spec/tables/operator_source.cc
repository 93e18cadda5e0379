#include "spec/tables/operator_source.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <sstream>
#include <utility>

#include "spec/tables/dtypes.h"
#include "spec/tables/toml_reader.h"

namespace plumbline::tables {
namespace {

struct Word {
  std::string_view enumerator, spelling, meaning;
};

#define PLUMBLINE_WORD(enumerator, spelling, meaning) {#enumerator, spelling, meaning},
constexpr Word kFamilies[] = {PLUMBLINE_OPERATOR_FAMILIES(PLUMBLINE_WORD)};
constexpr Word kResults[] = {PLUMBLINE_OPERATOR_RESULTS(PLUMBLINE_WORD)};
constexpr Word kShapes[] = {PLUMBLINE_OPERATOR_SHAPES(PLUMBLINE_WORD)};
constexpr Word kBounds[] = {PLUMBLINE_OPERATOR_BOUNDS(PLUMBLINE_WORD)};
constexpr Word kRegistered[] = {PLUMBLINE_OPERATOR_REGISTERED(PLUMBLINE_WORD)};
#undef PLUMBLINE_WORD

struct Dtype {
  int number;
  std::string_view spelling;
};
#define PLUMBLINE_DTYPE(number, name, spelling, bytes) {number, spelling},
constexpr Dtype kDtypes[] = {PL_DTYPES(PLUMBLINE_DTYPE)};
#undef PLUMBLINE_DTYPE

// "all", "bool", "integral", "floating" or a dtype, as bits; 0: no such name.
std::uint32_t DtypesNamed(std::string_view name) {
  std::uint32_t bits = 0;
  for (const Dtype& dtype : kDtypes) {
    const bool floating = dtype.spelling.find("float") != std::string_view::npos;
    const bool boolean = dtype.spelling == "bool";
    if (name == "all" || name == dtype.spelling || (name == "floating" && floating) ||
        (name == "integral" && !floating && !boolean)) {
      bits |= std::uint32_t{1} << dtype.number;
    }
  }
  return bits;
}

bool HasNumber(BoundRule rule) {
  switch (rule) {
    case BoundRule::kUlp:
    case BoundRule::kSum:
    case BoundRule::kMean:
    case BoundRule::kProduct:
    case BoundRule::kNorm:
    case BoundRule::kMatmul:
    case BoundRule::kLoss:
    case BoundRule::kAbsolute:
    case BoundRule::kTerms:
    case BoundRule::kSequence:
      return true;
    default:
      return false;
  }
}

// ---- what a schema's text tells ----

std::string NameOf(const std::string& schema) { return schema.substr(0, schema.find('(')); }

// add_.Tensor is in place, whatever its overload.
bool IsInPlace(const std::string& name) {
  const std::string base = name.substr(0, name.find('.'));
  return base.ends_with('_') && !base.ends_with("__");
}

Variant VariantOf(const std::string& schema) {
  if (IsInPlace(NameOf(schema))) return Variant::kInPlace;
  const std::size_t written = schema.find("!)");
  return written < schema.find(" -> ") ? Variant::kOut : Variant::kFunctional;
}

// A Tensor, Tensor? or Tensor[], also one with an alias annotation.
bool TakesTensor(const std::string& schema, const std::string& argument) {
  for (std::size_t at = schema.find("Tensor"); at < schema.find(") -> "); at = schema.find("Tensor", at + 1)) {
    const std::size_t name = schema.find(' ', at) + 1;
    if (schema.substr(name, schema.find_first_of(",=)", name) - name) == argument) return true;
  }
  return false;
}

std::size_t TensorResults(const std::string& schema) {
  std::size_t count = 0;
  for (std::size_t at = schema.rfind(" -> "); (at = schema.find("Tensor", at)) != std::string::npos; ++at) ++count;
  return count;
}

// ---- reading ----

class Reader : TomlReader {
 public:
  Reader(std::string_view text, const std::string& file) : TomlReader(text, file), file_(file) {}

  OperatorFamily Read() {
    Only(root(),
         {"family", "clauses", "dtypes", "result", "shape", "bound", "registered", "deterministic", "operator"});
    OperatorFamily family;
    family.family = static_cast<Family>(OneOf(Need(root(), "family"), "family", kFamilies));
    EachTable("operator", [&](const toml::table& table) { ReadOperator(table, family.operators); });
    return family;
  }

 private:
  // The place in `words` of the word that the node holds.
  int OneOf(const toml::node& node, std::string_view field, std::span<const Word> words) const {
    const std::string word = Text(node, field);
    std::string known;
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (words[i].spelling == word) return static_cast<int>(i);
      known.append(known.empty() ? "" : ", ").append(words[i].spelling);
    }
    Fail(node, "'" + std::string(field) + "' is one of " + known + "; this is '" + word + "'");
  }

  // An operator's own field, else the file's.
  const toml::node& Own(const toml::table& table, std::string_view field) const {
    const toml::node* node = table.get(field);
    return node != nullptr ? *node : root().contains(field) ? *root().get(field) : Need(table, field);
  }

  bool Flag(const toml::table& table, std::string_view field, bool otherwise) const {
    const toml::node* node = table.get(field);
    if (node == nullptr) node = root().get(field);
    if (node == nullptr) return otherwise;
    if (!node->is_boolean()) Fail(*node, "'" + std::string(field) + "' must be true or false");
    return node->as_boolean()->get();
  }

  std::vector<std::string> Texts(const toml::table& table, std::string_view field) const {
    std::vector<std::string> texts;
    if (!table.contains(field)) return texts;
    for (const toml::node& node : Array(table, field)) {
      texts.push_back(Text(node, field));
      if (std::count(texts.begin(), texts.end(), texts.back()) > 1) Fail(node, "'" + texts.back() + "' is here twice");
    }
    return texts;
  }

  std::uint32_t Dtypes(const toml::table& table) const {
    const toml::node& node = Own(table, "dtypes");
    if (!node.is_array()) Fail(node, "'dtypes' must be a list");
    std::uint32_t bits = 0;
    for (const toml::node& item : *node.as_array()) {
      const std::string name = Text(item, "dtypes");
      const std::uint32_t named = DtypesNamed(name);
      if (named == 0) Fail(item, "a dtype, or one of all, integral, floating, is expected; this is '" + name + "'");
      if ((bits & named) != 0) Fail(item, "'" + name + "' is here twice");
      bits |= named;
    }
    if (bits == 0) Fail(node, "'dtypes' must name one");
    return bits;
  }

  std::vector<ResultRule> Results(const toml::table& table, std::size_t count) const {
    const toml::node& node = Own(table, "result");
    std::vector<ResultRule> results;
    if (node.is_array()) {
      for (const toml::node& item : *node.as_array()) results.push_back(Result(item));
    } else if (const ResultRule rule = Result(node); rule != ResultRule::kNone) {
      results.assign(count, rule);
    }
    if (results.size() != count) {
      Fail(node,
           "the schema returns " + std::to_string(count) + " tensors, 'result' says " + std::to_string(results.size()));
    }
    return results;
  }

  ResultRule Result(const toml::node& node) const { return static_cast<ResultRule>(OneOf(node, "result", kResults)); }

  // "exact" or { ulp = 2 }.
  Bound ReadBound(const toml::table& table) const {
    const toml::node& node = Own(table, "bound");
    if (!node.is_table()) {
      const Bound bound{static_cast<BoundRule>(OneOf(node, "bound", kBounds)), 0};
      if (HasNumber(bound.rule)) {
        const std::string rule(kBounds[static_cast<std::size_t>(bound.rule)].spelling);
        Fail(node, "the bound '" + rule + "' needs its number, as in { " + rule + " = 2 }");
      }
      return bound;
    }
    if (node.as_table()->size() != 1) Fail(node, "a bound is one rule with its number, as in { ulp = 2 }");
    const auto first = node.as_table()->begin();
    const auto& [key, value] = *first;
    std::string known;
    for (std::size_t i = 0; i < std::size(kBounds); ++i) {
      const auto rule = static_cast<BoundRule>(i);
      if (!HasNumber(rule)) continue;
      known.append(known.empty() ? "" : ", ").append(kBounds[i].spelling);
      if (kBounds[i].spelling != key.str()) continue;
      const auto number = value.template value<double>();
      if (!number || !(*number > 0)) Fail(value, "the number of a bound must be above 0");
      return {rule, *number};
    }
    Fail(value, "a bound with a number is one of " + known + "; this is '" + std::string(key.str()) + "'");
  }

  std::string Schema(const toml::node& node, std::string_view field, std::optional<Variant> variant) const {
    const std::string text = Text(node, field);
    if (text.starts_with("aten::")) Fail(node, "a schema is written without its namespace, which is aten");
    const bool whole =
        text.find('(') != std::string::npos && text.find('(') > 0 && text.find(") -> ") != std::string::npos;
    if (!whole) Fail(node, "a schema, as 'name.overload(Tensor self) -> Tensor', is expected; this is '" + text + "'");
    if (variant && VariantOf(text) != *variant) {
      Fail(node, *variant == Variant::kOut
                     ? "an out= variant has an argument as 'Tensor(a!) out', and no name that ends with _"
                     : "the name of an in-place variant ends with one _");
    }
    return "aten::" + text;
  }

  std::vector<DerivativeSource> Derivatives(const toml::table& table) const {
    std::vector<DerivativeSource> derivatives;
    const toml::node* node = table.get("gradient");
    if (node == nullptr) return derivatives;
    if (!node->is_table()) Fail(*node, "'gradient' must be a table of arguments, each with its formula");
    for (const auto& [argument, formula] : *node->as_table()) {
      derivatives.push_back({std::string(argument.str()), Text(formula, "gradient")});
    }
    return derivatives;
  }

  OperatorSource Common(const toml::table& table) const {
    OperatorSource op;
    op.dtypes = Dtypes(table);
    op.shape = static_cast<ShapeRule>(OneOf(Own(table, "shape"), "shape", kShapes));
    op.bound = ReadBound(table);
    op.registered = static_cast<Registered>(OneOf(Own(table, "registered"), "registered", kRegistered));
    op.backend_select = Flag(table, "backend_select", false);
    op.deterministic = Flag(table, "deterministic", true);
    op.special = Texts(table, "special");
    op.derivatives = Derivatives(table);
    op.clauses = Texts(root(), "clauses");
    for (std::string& clause : Texts(table, "clauses")) {
      if (std::find(op.clauses.begin(), op.clauses.end(), clause) != op.clauses.end()) {
        Fail(*table.get("clauses"), "'" + clause + "' is a clause of the whole file already");
      }
      op.clauses.push_back(std::move(clause));
    }
    return op;
  }

  void ReadOperator(const toml::table& table, std::vector<OperatorSource>& operators) const {
    Only(table, {"schema", "schema_2", "inplace", "out", "dtypes", "result", "shape", "bound", "registered",
                 "backend_select", "deterministic", "special", "clauses", "gradient"});
    OperatorSource op = Common(table);
    Name(op, table, Schema(Need(table, "schema"), "schema", std::nullopt));
    for (const DerivativeSource& derivative : op.derivatives) {
      if (TakesTensor(op.schema, derivative.argument)) continue;
      Fail(*table.get("gradient"), "'" + op.name + "' has no tensor argument '" + derivative.argument + "'");
    }
    op.results = Results(table, TensorResults(op.schema));
    operators.push_back(op);
    for (const char* field : {"inplace", "out"}) {
      const toml::node* node = table.get(field);
      if (node == nullptr) continue;
      const Variant variant = field[0] == 'i' ? Variant::kInPlace : Variant::kOut;
      if (op.variant != Variant::kFunctional) Fail(*node, "only a functional operator has variants");
      operators.push_back(ReadVariant(op, *node, field, variant));
    }
  }

  // A string, or a table where it differs in more than its schema.
  OperatorSource ReadVariant(const OperatorSource& of, const toml::node& node, const char* field,
                             Variant variant) const {
    OperatorSource op = of;
    op.of = of.name;
    op.backend_select = false;
    if (variant == Variant::kOut) op.derivatives.clear();
    if (!node.is_table()) {
      Name(op, toml::table(), Schema(node, field, variant));
      op.where = Where(node);
    } else {
      const toml::table& table = *node.as_table();
      Only(table, {"schema", "schema_2", "registered"});
      Name(op, table, Schema(Need(table, "schema"), "schema", variant));
      if (table.contains("registered")) {
        op.registered = static_cast<Registered>(OneOf(*table.get("registered"), "registered", kRegistered));
      }
    }
    if (variant == Variant::kInPlace) {
      op.results.assign(TensorResults(op.schema), ResultRule::kSame);
      if (op.shape == ShapeRule::kBroadcast) op.shape = ShapeRule::kBroadcastToSelf;
    }
    return op;
  }

  void Name(OperatorSource& op, const toml::table& table, std::string schema) const {
    op.name = NameOf(schema);
    op.variant = VariantOf(schema);
    op.schema = std::move(schema);
    op.schema_2.clear();
    op.where = Where(table);
    const toml::node* newer = table.get("schema_2");
    if (newer == nullptr) return;
    op.schema_2 = Schema(*newer, "schema_2", std::nullopt);
    if (op.schema_2 == op.schema) Fail(*newer, "'schema_2' is the same as 'schema'; leave it out");
    if (NameOf(op.schema_2) != op.name) Fail(*newer, "'schema_2' is of another operator than 'schema'");
  }

  std::string Where(const toml::node& node) const {
    return file_ + ":" + std::to_string(node.source().begin.line) + ":" + std::to_string(node.source().begin.column);
  }

  std::string file_;
};

// ---- writing ----

void RefuseDoubles(const std::vector<OperatorFamily>& families) {
  std::map<std::string, std::string> places;
  for (const OperatorFamily& family : families) {
    for (const OperatorSource& op : family.operators) {
      const auto [at, is_new] = places.emplace(op.name, op.where);
      if (!is_new) throw SourceError(op.where + ": '" + op.name + "' is at " + at->second + " already");
    }
  }
}

std::string Quote(const std::string& text) {
  std::string quoted = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

std::string Enumerator(const char* type, std::span<const Word> words, int index) {
  return std::string(type) + "::" + std::string(words[static_cast<std::size_t>(index)].enumerator);
}

template <class Rule>
std::string Named(const char* type, std::span<const Word> words, Rule rule) {
  return Enumerator(type, words, static_cast<int>(rule));
}

// Arrays of the generated header: one of each content, however often it is used.
class Arrays {
 public:
  // The span's name; C++ has no empty arrays, so an empty one is `{}`.
  std::string Of(const char* type, const std::string& content) {
    if (content.empty()) return "{}";
    const auto [at, is_new] = names_.emplace(std::string(type) + content, "");
    if (is_new) {
      at->second = "operators::kList" + std::to_string(names_.size());
      text_ << "inline constexpr " << type << " kList" << names_.size() << "[] = {" << content << "};\n";
    }
    return at->second;
  }
  std::string text() const { return text_.str(); }

 private:
  std::map<std::string, std::string> names_;
  std::ostringstream text_;
};

template <class List, class Print>
std::string Join(const List& list, Print print) {
  std::string text;
  for (const auto& item : list) text += (text.empty() ? "" : ", ") + print(item);
  return text;
}

std::string DtypeNames(std::uint32_t bits) {
  if (bits == DtypesNamed("all")) return "all";
  std::string text;
  const auto add = [&](std::string_view name) { text.append(text.empty() ? "" : ", ").append(name); };
  for (std::string_view group : {"integral", "floating"}) {
    const std::uint32_t named = DtypesNamed(group);
    if ((bits & named) != named) continue;
    add(group);
    bits &= ~named;
  }
  for (const Dtype& dtype : kDtypes) {
    if ((bits >> dtype.number & 1) != 0) add(dtype.spelling);
  }
  return text;
}

std::string BoundText(const Bound& bound) {
  std::string text(kBounds[static_cast<std::size_t>(bound.rule)].spelling);
  if (!HasNumber(bound.rule)) return text;
  std::ostringstream number;
  number << " " << bound.c;
  return text + number.str();
}

}  // namespace

OperatorFamily ReadOperators(std::string_view text, const std::string& file) { return Reader(text, file).Read(); }

std::string WriteOperators(const std::vector<OperatorFamily>& families) {
  RefuseDoubles(families);
  Arrays arrays;
  std::ostringstream rows;
  for (const OperatorFamily& family : families) {
    for (const OperatorSource& op : family.operators) {
      static constexpr const char* kVariants[] = {"kFunctional", "kInPlace", "kOut"};
      const std::string results = arrays.Of(
          "ResultRule", Join(op.results, [](ResultRule rule) { return Named("ResultRule", kResults, rule); }));
      rows << "    {" << Quote(op.name) << ", " << Quote(op.schema) << ", " << Quote(op.schema_2) << ", "
           << Quote(op.of) << ", Variant::" << kVariants[static_cast<int>(op.variant)] << ", "
           << Named("Family", kFamilies, family.family) << ", " << op.dtypes << "u, " << results << ", "
           << Named("ShapeRule", kShapes, op.shape) << ", {" << Named("BoundRule", kBounds, op.bound.rule) << ", "
           << op.bound.c << "}, " << Named("Registered", kRegistered, op.registered) << ", "
           << (op.backend_select ? "true" : "false") << ", " << (op.deterministic ? "true" : "false") << ", "
           << arrays.Of("std::string_view", Join(op.special, Quote)) << ", "
           << arrays.Of("std::string_view", Join(op.clauses, Quote)) << ", "
           << arrays.Of("Derivative", Join(op.derivatives,
                                           [](const DerivativeSource& derivative) {
                                             return "{" + Quote(derivative.argument) + ", " +
                                                    Quote(derivative.formula) + "}";
                                           }))
           << "},\n";
    }
  }
  return "// Generated from spec/tables/operators/*.toml by generate_operators; do not edit.\n"
         "#ifndef PLUMBLINE_GENERATED_SPEC_TABLES_OPERATORS_H_\n"
         "#define PLUMBLINE_GENERATED_SPEC_TABLES_OPERATORS_H_\n\n"
         "#include \"spec/tables/operator_table.h\"\n\n"
         "namespace plumbline::tables {\n\n"
         "namespace operators {\n" +
         arrays.text() +
         "}  // namespace operators\n\n"
         "inline constexpr OperatorData kOperators[] = {\n" +
         rows.str() +
         "};\n\n"
         "// Null if there is none of that name, as \"aten::add.Tensor\".\n"
         "constexpr const OperatorData* FindOperator(std::string_view name) {\n"
         "  for (const OperatorData& op : kOperators) {\n"
         "    if (op.name == name) return &op;\n"
         "  }\n"
         "  return nullptr;\n"
         "}\n\n"
         "}  // namespace plumbline::tables\n\n"
         "#endif  // PLUMBLINE_GENERATED_SPEC_TABLES_OPERATORS_H_\n";
}

std::string WriteOperatorList(const std::vector<OperatorFamily>& families) {
  RefuseDoubles(families);
  std::ostringstream out;
  std::size_t count = 0, variants = 0;
  for (const OperatorFamily& family : families) {
    for (const OperatorSource& op : family.operators) ++(op.of.empty() ? count : variants);
  }
  out << "# Operators\n\nGenerated from `spec/tables/operators`: " << count << " operators and " << variants
      << " variants.\n";
  const auto word = [](std::span<const Word> words, auto rule) {
    return std::string(words[static_cast<std::size_t>(rule)].spelling);
  };
  for (const OperatorFamily& family : families) {
    out << "\n## " << kFamilies[static_cast<std::size_t>(family.family)].meaning << "\n\n";
    for (const OperatorSource& op : family.operators) {
      const bool variant = !op.of.empty();
      out << (variant ? "  - `" : "- `") << op.schema << "`\n";
      if (!op.schema_2.empty()) out << (variant ? "    " : "  ") << "(2.15: `" << op.schema_2 << "`)\n";
      if (variant) continue;
      out << "  dtypes " << DtypeNames(op.dtypes);
      if (!op.results.empty()) {
        out << "; result " << Join(op.results, [&](ResultRule rule) { return word(kResults, rule); });
      }
      out << "; shape " << word(kShapes, op.shape) << "; bound " << BoundText(op.bound) << "; "
          << word(kRegistered, op.registered) << (op.backend_select ? ", BackendSelect" : "")
          << (op.deterministic ? "" : "; not deterministic") << "\n";
      for (const std::string& text : op.special) out << "  " << text << ".\n";
      for (const DerivativeSource& derivative : op.derivatives) {
        out << "  gradient of `" << derivative.argument << "`: `" << derivative.formula << "`.\n";
      }
    }
  }
  const auto legend = [&](const char* title, std::span<const Word> words) {
    out << "\n## " << title << "\n\n";
    for (const Word& entry : words) out << "- `" << entry.spelling << "`: " << entry.meaning << "\n";
  };
  legend("What the words of results say: the dtype is", kResults);
  legend("What the words of shapes say: the sizes are", kShapes);
  legend("What the words of bounds say: the error is at most", kBounds);
  legend("What the words of registration say", kRegistered);
  return out.str();
}

}  // namespace plumbline::tables
