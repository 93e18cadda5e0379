// The type of one argument or return of a schema: a base type with marks, as in `Tensor?[]`, `int[2]`, `str?`.
//
// Plain value; any thread.
#ifndef PLUMBLINE_REFERENCE_BOXING_SCHEMA_TYPE_H_
#define PLUMBLINE_REFERENCE_BOXING_SCHEMA_TYPE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "reference/boxing/value.h"

namespace plumbline::reference {

enum class BaseType : std::uint8_t {
  kTensor,
  kInt,
  kSymInt,
  kFloat,
  kBool,
  kStr,
  kScalar,
  kScalarType,    // PyTorch's number of a dtype, an int in a value
  kMemoryFormat,  // and of a memory format
  kLayout,        // and of a layout
  kDevice,        // a string in a value: "cpu", "privateuseone:0"
  kGenerator,     // has no value but None
};

std::string_view Spelling(BaseType base);
std::optional<BaseType> FindBaseType(std::string_view name);

struct SchemaType {
  BaseType base = BaseType::kTensor;
  bool optional_item = false;  // `T?[]`: elements may be absent
  bool list = false;           // `T[]`
  bool optional = false;       // `T?` or `T[]?`: the whole may be absent
  std::int32_t size = -1;      // `T[N]`; -1: none. Not part of the type.

  SchemaType List() const { return {base, optional, true, false, -1}; }
  SchemaType Optional() const { return {base, optional_item, list, true, size}; }
  bool brings_keys() const { return base == BaseType::kTensor; }

  // Whether a C++ parameter of type `cpp` fits here: the same, or an int for a SymInt.
  bool Fits(const SchemaType& cpp) const;
  // Whether a value may be given here.
  bool Takes(const Value& value) const;

  friend bool operator==(const SchemaType& a, const SchemaType& b) {
    return a.base == b.base && a.optional_item == b.optional_item && a.list == b.list && a.optional == b.optional;
  }
};

std::string Print(const SchemaType& type);  // "Tensor?[]"
std::string PrintKind(const Value& value);  // what a value is, for messages: "int", "Tensor[]", "None"

}  // namespace plumbline::reference

#endif  // PLUMBLINE_REFERENCE_BOXING_SCHEMA_TYPE_H_
