#include "conformance/suites/generate_values.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <stdexcept>
#include <utility>

#include "spec/tables/signatures.h"

namespace plumbline::suites {
namespace {

using scenario::Value;

// "(Tensor, IntList)" as the catalogue spells it.
std::vector<std::string> Spellings(std::string_view list) {
  static const std::map<std::string, std::string, std::less<>> kSpellings = {{"Tensor", "Tensor"},
                                                                             {"TensorOpt", "Tensor?"},
                                                                             {"TensorList", "Tensor[]"},
                                                                             {"TensorOptList", "Tensor?[]"},
                                                                             {"MutableTensor", "Tensor(a!)"},
                                                                             {"Int", "int"},
                                                                             {"SymInt", "SymInt"},
                                                                             {"Float", "float"},
                                                                             {"Bool", "bool"},
                                                                             {"Str", "str"},
                                                                             {"Scalar", "Scalar"},
                                                                             {"IntList", "int[]"},
                                                                             {"SymIntList", "SymInt[]"},
                                                                             {"FloatList", "float[]"},
                                                                             {"BoolList", "bool[]"},
                                                                             {"IntOpt", "int?"},
                                                                             {"FloatOpt", "float?"},
                                                                             {"BoolOpt", "bool?"},
                                                                             {"StrOpt", "str?"},
                                                                             {"ScalarOpt", "Scalar?"}};
  std::vector<std::string> types;
  std::string word;
  for (const char c : list) {
    if (c != ',' && c != ')') {
      if (c != '(' && c != ' ') word += c;
    } else if (!word.empty()) {
      types.push_back(kSpellings.at(word));
      word.clear();
    }
  }
  return types;
}

Value AnyInt(Draw& draw) {
  static const std::vector<std::int64_t> kExtremes = {std::numeric_limits<std::int64_t>::min(),
                                                      std::numeric_limits<std::int64_t>::max(),
                                                      std::int64_t{1} << 32,
                                                      -(std::int64_t{1} << 62),
                                                      -1,
                                                      0};
  return Value::Int(draw.OneIn(3) ? draw.Of(kExtremes) : draw.Between(-9, 9));
}

Value AnyFloat(Draw& draw) {
  using Limits = std::numeric_limits<double>;
  static const std::vector<double> kSpecial = {0.0,           -0.0,          Limits::infinity(),   -Limits::infinity(),
                                               Limits::max(), Limits::min(), Limits::denorm_min(), Limits::quiet_NaN()};
  return Value::Float(draw.OneIn(2) ? draw.Of(kSpecial) : draw.Between(-40, 40) / 8.0);
}

Value AnyString(Draw& draw) {
  static const std::vector<std::string> kTexts = {"",
                                                  "a",
                                                  "two words",
                                                  "\xc3\xa9",
                                                  std::string("nul\0inside", 10),
                                                  "a text that is too long to be kept in the place of a pointer"};
  return Value::String(draw.Of(kTexts));
}

}  // namespace

const std::vector<CatalogueEntry>& Catalogue() {
#define PLUMBLINE_ENTRY(id, name, arguments, returns) {#name, Spellings(#arguments), Spellings(#returns)},
  static const std::vector<CatalogueEntry> kEntries = {PL_SIGNATURES(PLUMBLINE_ENTRY)};
#undef PLUMBLINE_ENTRY
  return kEntries;
}

const CatalogueEntry& CatalogueEntryOf(std::string_view name) {
  for (const CatalogueEntry& entry : Catalogue()) {
    if (entry.name == name) return entry;
  }
  throw std::invalid_argument("no signature called " + std::string(name));
}

std::string SchemaOf(const CatalogueEntry& entry, const std::string& operator_name) {
  std::string text = operator_name + "(";
  for (std::size_t i = 0; i < entry.arguments.size(); ++i) {
    text += (i > 0 ? ", " : "") + entry.arguments[i] + " " + static_cast<char>('a' + i);
  }
  text += ") -> ";
  if (entry.returns.size() == 1) return text + entry.returns.front();
  text += "(";
  for (std::size_t i = 0; i < entry.returns.size(); ++i) text += (i > 0 ? ", " : "") + entry.returns[i];
  return text + ")";
}

Value AnyValueOf(const std::string& type, Draw& draw, const TensorKeys& keys) {
  if (type.ends_with("[]")) {
    const std::string item = type.substr(0, type.size() - 2);
    std::vector<Value> items;
    for (int i = draw.Below(4); i > 0; --i) items.push_back(AnyValueOf(item, draw, keys));
    return Value::List(std::move(items));
  }
  if (type.ends_with("?")) {
    return draw.OneIn(3) ? Value::None() : AnyValueOf(type.substr(0, type.size() - 1), draw, keys);
  }
  if (type == "int") return AnyInt(draw);
  if (type == "SymInt") {
    // Integers below this are not promised: PyTorch keeps their bit patterns for symbols.
    constexpr std::int64_t kLeast = -(std::int64_t{1} << 62);
    return Value::Int(std::max(AnyInt(draw).integer, kLeast));
  }
  if (type == "float") return AnyFloat(draw);
  if (type == "bool") return Value::Bool(draw.Coin());
  if (type == "str") return AnyString(draw);
  if (type == "Scalar") {
    const int sort = draw.Below(3);
    return sort == 0 ? AnyInt(draw) : sort == 1 ? AnyFloat(draw) : Value::Bool(draw.Coin());
  }
  if (type == "Tensor" && draw.OneIn(10)) return Value::Undefined();
  return Value::Tensor(keys());
}

std::vector<Value> AnyValuesOf(const CatalogueEntry& entry, Draw& draw, const TensorKeys& keys) {
  std::vector<Value> values;
  for (const std::string& type : entry.arguments) values.push_back(AnyValueOf(type, draw, keys));
  return values;
}

}  // namespace plumbline::suites
