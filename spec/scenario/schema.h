// The scenario side's own parser of operator schemas; grammar.md has the grammar.
//
//   auto parsed = ParseSchema("demo::f.out(Tensor(a!) self, int[2] size=[1, 2], *, Tensor? x=None) -> Tensor(a!)");
//   if (!parsed.schema) return parsed.error->message;  // "column 12: expected a type, found 'Foo'"
//   parsed.schema->arguments[1].type.list == true;
//
// It shares no code with any backend: a property compares the two. Plain values and pure functions; any thread.
#ifndef PLUMBLINE_SPEC_SCENARIO_SCHEMA_H_
#define PLUMBLINE_SPEC_SCENARIO_SCHEMA_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace plumbline::scenario {

inline constexpr int kMaxSchemaArguments = 64;

// T, T?, T[], T?[], T[N], and T[]? and T?[]?.
struct SchemaType {
  enum class Base {
    kTensor,
    kInt,
    kSymInt,
    kFloat,
    kBool,
    kStr,
    kScalar,
    kScalarType,
    kMemoryFormat,
    kLayout,
    kDevice,
    kGenerator
  };
  Base base = Base::kTensor;
  bool list = false;
  std::optional<int> size;      // of T[N]
  bool optional = false;        // of the whole: T? or T[]?
  bool optional_items = false;  // of a list's items: T?[]
  std::string alias;            // of T(a!): "a"
  bool writes = false;          // of T(a!)
  bool escapes = false;         // of T(a -> *): in the result it is in some list

  // Whether a value in this position brings its keys to a call: Tensor, Tensor?, Tensor[], Tensor?[].
  bool BringsKeys() const;
  friend bool operator==(const SchemaType&, const SchemaType&) = default;
};

struct SchemaArgument {
  SchemaType type;
  std::string name;                          // of a return it may be empty
  std::optional<std::string> default_value;  // as written
  bool keyword_only = false;
  friend bool operator==(const SchemaArgument&, const SchemaArgument&) = default;
};

struct Schema {
  std::string name_space;  // empty if none is written; a library then gives it
  std::string name;
  std::string overload;  // empty: the default one
  std::vector<SchemaArgument> arguments, returns;

  std::string FullName() const;  // "ns::name.overload"
  friend bool operator==(const Schema&, const Schema&) = default;
};

struct SchemaError {
  int column = 0;       // 1-based, in characters
  std::string message;  // "column 12: expected a type, found 'Foo'"
};

struct SchemaResult {
  std::optional<Schema> schema;
  std::optional<SchemaError> error;  // set iff `schema` is not
};
SchemaResult ParseSchema(std::string_view text);

struct OperatorName {
  std::string name_space, name, overload;
};
// "ns::name", "ns::name.overload" or without a namespace; nothing if it is not of that form or not legal.
std::optional<OperatorName> ParseOperatorName(std::string_view text);

std::string PrintType(const SchemaType& type);  // "Tensor(a!)[]?"
std::string PrintSchema(const Schema& schema);  // canonical; parses back to an equal schema

}  // namespace plumbline::scenario

#endif  // PLUMBLINE_SPEC_SCENARIO_SCHEMA_H_
