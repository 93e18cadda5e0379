#include "spec/model/signature.h"

#include <algorithm>

#include "spec/tables/signatures.h"

namespace plumbline::model {
namespace {

using scenario::Value;
using Base = SchemaType::Base;

// A kind of the catalogue: "TensorOptList" is Tensor?[].
SchemaType KindNamed(std::string kind) {
  SchemaType type;
  const auto take = [&](std::string_view suffix) {
    if (!kind.ends_with(suffix)) return false;
    kind.resize(kind.size() - suffix.size());
    return true;
  };
  type.list = take("List");
  (type.list ? type.optional_items : type.optional) = take("Opt");
  if (kind == "MutableTensor") {
    kind = "Tensor";
    type.writes = true;
  }
  static constexpr std::pair<std::string_view, Base> kBases[] = {
      {"Tensor", Base::kTensor}, {"Int", Base::kInt}, {"SymInt", Base::kSymInt}, {"Float", Base::kFloat},
      {"Bool", Base::kBool},     {"Str", Base::kStr}, {"Scalar", Base::kScalar}};
  for (const auto& [name, base] : kBases) {
    if (name == kind) type.base = base;
  }
  return type;
}

// "(Tensor, Int)" as the preprocessor spells the list.
std::vector<SchemaType> Kinds(std::string_view list) {
  std::vector<SchemaType> kinds;
  std::string kind;
  for (char c : list) {
    if (c == ',' || c == ')') {
      if (!kind.empty()) kinds.push_back(KindNamed(kind));
      kind.clear();
    } else if (c != '(' && c != ' ') {
      kind += c;
    }
  }
  return kinds;
}

std::vector<Signature> ReadCatalogue() {
  std::vector<Signature> all;
#define PLUMBLINE_MODEL_SIGNATURE(id, name, arguments, returns) \
  all.push_back({#name, {Kinds(#arguments), Kinds(#returns)}, false});
  PL_SIGNATURES(PLUMBLINE_MODEL_SIGNATURE)
#undef PLUMBLINE_MODEL_SIGNATURE
  for (Signature& signature : all) {
    const auto symbolic = [](const SchemaType& type) { return type.base == Base::kSymInt; };
    signature.symbolic = std::any_of(signature.types.arguments.begin(), signature.types.arguments.end(), symbolic) ||
                         std::any_of(signature.types.returns.begin(), signature.types.returns.end(), symbolic);
  }
  return all;
}

const std::vector<Signature>& Catalogue() {
  static const std::vector<Signature> all = ReadCatalogue();
  return all;
}

bool Serves(const SchemaType& cpp, const SchemaType& schema) {
  // [REG-039] [CALL-018]
  const bool base = cpp.base == schema.base || (cpp.base == Base::kInt && schema.base == Base::kSymInt);
  return base && cpp.list == schema.list && cpp.optional == schema.optional &&
         cpp.optional_items == schema.optional_items;
}

std::string FirstDifference(const std::vector<SchemaType>& schema, const std::vector<SchemaType>& cpp,
                            const char* what) {
  for (std::size_t i = 0; i < schema.size(); ++i) {
    if (Serves(cpp[i], schema[i])) continue;  // [REG-036]
    return std::string(what) + " " + std::to_string(i + 1) + " is " + PrintType(schema[i]) + " in the schema, " +
           PrintType(cpp[i]) + " in the signature";
  }
  return "";
}

bool Accepts(const SchemaType& type, const Value& value) {
  if (value.kind == Value::Kind::kNone) return type.optional;  // [CALL-003] [CALL-015]
  if (type.list) {
    SchemaType item = type;
    item.list = false;
    item.optional = type.optional_items;
    return value.kind == Value::Kind::kList &&
           std::all_of(value.items.begin(), value.items.end(), [&](const Value& v) { return Accepts(item, v); });
  }
  switch (type.base) {
    case Base::kTensor:
      return value.kind == Value::Kind::kTensor || value.kind == Value::Kind::kUndefined;
    case Base::kInt:
    case Base::kSymInt:
    case Base::kScalarType:
    case Base::kMemoryFormat:
    case Base::kLayout:
      return value.kind == Value::Kind::kInt;
    case Base::kFloat:
      return value.kind == Value::Kind::kFloat;  // [CALL-016]
    case Base::kBool:
      return value.kind == Value::Kind::kBool;
    case Base::kStr:
    case Base::kDevice:
      return value.kind == Value::Kind::kString;
    case Base::kGenerator:
      return false;
    case Base::kScalar:
      return value.kind == Value::Kind::kInt || value.kind == Value::Kind::kFloat || value.kind == Value::Kind::kBool;
  }
  return false;
}

}  // namespace

Types TypesOf(const scenario::Schema& schema) {
  Types types;
  for (const scenario::SchemaArgument& argument : schema.arguments) types.arguments.push_back(argument.type);
  for (const scenario::SchemaArgument& result : schema.returns) types.returns.push_back(result.type);
  return types;
}

const Signature* FindSignature(std::string_view name) {
  for (const Signature& signature : Catalogue()) {
    if (signature.name == name) return &signature;
  }
  return nullptr;
}

const Signature* WithoutSymbols(const Signature& signature) {
  Types plain = signature.types;
  for (std::vector<SchemaType>* types : {&plain.arguments, &plain.returns}) {
    for (SchemaType& type : *types) {
      if (type.base == Base::kSymInt) type.base = Base::kInt;
    }
  }
  for (const Signature& other : Catalogue()) {
    if (other.types.arguments == plain.arguments && other.types.returns == plain.returns) return &other;
  }
  return nullptr;
}

std::string Difference(const Types& schema, const Signature& signature) {
  const auto count = [](const char* what, std::size_t want, std::size_t got) {
    return "the schema has " + std::to_string(want) + " " + what + ", the signature " + std::to_string(got);
  };
  const Types& cpp = signature.types;
  if (schema.arguments.size() != cpp.arguments.size()) {  // [REG-035] [REG-038]
    return count("arguments", schema.arguments.size(), cpp.arguments.size());
  }
  // [REG-037]
  if (schema.returns.size() != cpp.returns.size()) return count("returns", schema.returns.size(), cpp.returns.size());
  const std::string difference = FirstDifference(schema.arguments, cpp.arguments, "argument");
  return difference.empty() ? FirstDifference(schema.returns, cpp.returns, "return") : difference;
}

std::string Misfit(const std::vector<SchemaType>& types, const std::vector<Value>& values, const char* what) {
  if (types.size() != values.size()) {  // [CALL-014] [CALL-017]
    return std::to_string(values.size()) + " " + what + "s given, " + std::to_string(types.size()) + " needed";
  }
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (!Accepts(types[i], values[i])) {  // [CALL-015]
      return std::string(what) + " " + std::to_string(i + 1) + " is no " + PrintType(types[i]);
    }
  }
  return "";
}

Value ZeroOf(const SchemaType& type, const std::vector<Value>& arguments) {
  if (type.optional) return Value::None();
  if (type.list) return Value::List({});
  switch (type.base) {
    case Base::kTensor:
      for (const Value& argument : arguments) {
        if (argument.kind == Value::Kind::kTensor || argument.kind == Value::Kind::kUndefined) return argument;
      }
      return Value::Undefined();
    case Base::kInt:
    case Base::kSymInt:
    case Base::kScalar:
    case Base::kScalarType:
    case Base::kMemoryFormat:
    case Base::kLayout:
      return Value::Int(0);
    case Base::kFloat:
      return Value::Float(0);
    case Base::kBool:
      return Value::Bool(false);
    case Base::kStr:
      return Value::String("");
    case Base::kDevice:
      return Value::String("cpu");
    case Base::kGenerator:
      return Value::None();
  }
  return Value::None();
}

bool ReturnsFirstArgument(const Signature& signature) {
  return !signature.types.arguments.empty() && signature.types.arguments[0].writes &&
         signature.types.returns.size() == 1 && signature.types.returns[0].writes;
}

}  // namespace plumbline::model
