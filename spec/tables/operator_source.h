// Reads the TOML sources of the operator table, at build time; operators/README.md has the form.
//
//   OperatorFamily unary = ReadOperators(text, "unary.toml");  // throws SourceError: "unary.toml:12:9: the shape is
//   ..." out << WriteOperators({unary, binary});                    // the generated header out <<
//   WriteOperatorList({unary, binary});                 // the same for people, as Markdown
//
// Each file is one family. What a schema says is held against the fields as far as text can tell (variants, results);
// whether it is one is for the parsers to say, whose tests read the whole table. Plain functions of values; any thread.
#ifndef PLUMBLINE_SPEC_TABLES_OPERATOR_SOURCE_H_
#define PLUMBLINE_SPEC_TABLES_OPERATOR_SOURCE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "spec/tables/operator_table.h"
#include "spec/tables/source_error.h"

namespace plumbline::tables {

struct DerivativeSource {
  std::string argument, formula;
};

// The owning twin of OperatorData; see there for what the fields mean.
struct OperatorSource {
  std::string name, schema, schema_2, of;
  Variant variant = Variant::kFunctional;
  std::uint32_t dtypes = 0;
  std::vector<ResultRule> results;
  ShapeRule shape = ShapeRule::kSame;
  Bound bound{};
  Registered registered = Registered::kBackend;
  bool backend_select = false, deterministic = true;
  std::vector<std::string> special, clauses;
  std::vector<DerivativeSource> derivatives;  // in the order of their arguments' names; an out= variant has none
  std::string where;                          // "unary.toml:12"
};

struct OperatorFamily {
  Family family = Family::kUnary;
  std::vector<OperatorSource> operators;  // each followed by its variants
};

OperatorFamily ReadOperators(std::string_view text, const std::string& file);

// Both throw SourceError if an operator is there twice.
std::string WriteOperators(const std::vector<OperatorFamily>& families);
std::string WriteOperatorList(const std::vector<OperatorFamily>& families);

}  // namespace plumbline::tables

#endif  // PLUMBLINE_SPEC_TABLES_OPERATOR_SOURCE_H_
