// Operator schemas: a parser of the ATen grammar's subset that kernels here can have, and the canonical printed form.
//
//   Schema s = ParseSchema("demo::f.out(Tensor(a!) self, int[2] size=1, *, Tensor? x=None) -> Tensor(a!)");
//   s.full_name() == "demo::f.out";
//
// Text that is no schema is kInvalidArgument with the column and what was expected there. Not accepted, although the
// grammar could say it: an argument's name twice, a positional argument without a default after one with, the overload
// `default` and those that start with two underscores, more than 64 arguments. Plain values; any thread.
#ifndef PLUMBLINE_REFERENCE_BOXING_SCHEMA_H_
#define PLUMBLINE_REFERENCE_BOXING_SCHEMA_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "reference/boxing/schema_type.h"

namespace plumbline::reference {

inline constexpr std::size_t kMaxSchemaArguments = 64;

struct SchemaArgument {
  SchemaType type;
  std::string name;      // of a return it may be empty
  std::string alias;     // of `Tensor(a!)`: "a"
  bool written = false;  // of `Tensor(a!)`
  bool listed = false;   // of `Tensor(a -> *)`: the results are lists of its views
  bool keyword_only = false;
  std::string default_value;  // as written; empty: none
};

struct OperatorName {
  std::string name_space;  // empty if none was written
  std::string name;
  std::string overload;  // empty: the default one
  std::string Full() const;
};

struct Schema {
  OperatorName name;
  std::vector<SchemaArgument> arguments, returns;

  std::string full_name() const { return name.Full(); }
  // Bit i is set if argument i can bring keys to a call.
  std::uint64_t key_arguments() const;
};

Schema ParseSchema(std::string_view text);
OperatorName ParseOperatorName(std::string_view text);  // "ns::name.overload"; kInvalidArgument if it is none

std::string Print(const Schema& schema);
std::string PrintTypes(const Schema& schema);  // "(Tensor, int) -> Tensor", for messages

// The first difference between a definition and what a C++ kernel's types say, in words; empty if they agree. Compared
// are the number of arguments, of returns, and their types in order; an int kernel serves a SymInt.
std::string Difference(const Schema& defined, const Schema& cpp);

}  // namespace plumbline::reference

#endif  // PLUMBLINE_REFERENCE_BOXING_SCHEMA_H_
