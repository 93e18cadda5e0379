#include "reference/boxing/schema_type.h"

namespace plumbline::reference {
namespace {

constexpr std::string_view kSpellings[] = {"Tensor", "int",        "SymInt",       "float",  "bool",   "str",
                                           "Scalar", "ScalarType", "MemoryFormat", "Layout", "Device", "Generator"};

bool TakesItem(BaseType base, Value::Kind kind) {
  switch (base) {
    case BaseType::kInt:
    case BaseType::kSymInt:
    case BaseType::kScalarType:
    case BaseType::kMemoryFormat:
    case BaseType::kLayout:
      return kind == Value::Kind::kInt;
    case BaseType::kTensor:
      return kind == Value::Kind::kTensor;
    case BaseType::kFloat:
      return kind == Value::Kind::kFloat;
    case BaseType::kBool:
      return kind == Value::Kind::kBool;
    case BaseType::kStr:
    case BaseType::kDevice:
      return kind == Value::Kind::kString;
    case BaseType::kGenerator:
      return false;
    case BaseType::kScalar:
      return kind == Value::Kind::kInt || kind == Value::Kind::kFloat || kind == Value::Kind::kBool;
  }
  return false;
}

}  // namespace

std::string_view Spelling(BaseType base) { return kSpellings[static_cast<int>(base)]; }

std::optional<BaseType> FindBaseType(std::string_view name) {
  for (int i = 0; i < static_cast<int>(std::size(kSpellings)); ++i) {
    if (kSpellings[i] == name) return static_cast<BaseType>(i);
  }
  return std::nullopt;
}

bool SchemaType::Fits(const SchemaType& cpp) const {
  if (*this == cpp) return true;
  SchemaType as_int = *this;
  if (as_int.base == BaseType::kSymInt) as_int.base = BaseType::kInt;
  return as_int == cpp;
}

bool SchemaType::Takes(const Value& value) const {
  if (value.is_none()) return optional;
  if (!list) return TakesItem(base, value.kind());
  if (value.kind() != Value::Kind::kList) return false;
  for (const Value& item : value.ToList()) {
    if (item.is_none() ? !optional_item : !TakesItem(base, item.kind())) return false;
  }
  return true;
}

std::string Print(const SchemaType& type) {
  std::string text(Spelling(type.base));
  if (type.optional_item) text += "?";
  if (type.list) text += type.size < 0 ? "[]" : "[" + std::to_string(type.size) + "]";
  if (type.optional) text += "?";
  return text;
}

std::string PrintKind(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::kNone:
      return "None";
    case Value::Kind::kTensor:
      return "Tensor";
    case Value::Kind::kInt:
      return "int";
    case Value::Kind::kFloat:
      return "float";
    case Value::Kind::kBool:
      return "bool";
    case Value::Kind::kString:
      return "str";
    case Value::Kind::kList: {
      std::string text = "list of";
      if (value.ToList().empty()) return "empty list";
      std::string last;
      for (const Value& item : value.ToList()) {
        const std::string kind = PrintKind(item);
        if (kind != last) text += (last.empty() ? " " : ", ") + kind;
        last = kind;
      }
      return text;
    }
  }
  return "?";
}

}  // namespace plumbline::reference
