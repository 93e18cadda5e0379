// C++ signatures of the catalogue, when one fits a schema, and which values fit a type.
//
//   const Signature* s = FindSignature("tensor_int");
//   Difference(TypesOf(schema), *s)  ==  "argument 2 is float in the schema, int in the signature"
//
// Plain values and pure functions; any thread.
#ifndef PLUMBLINE_SPEC_MODEL_SIGNATURE_H_
#define PLUMBLINE_SPEC_MODEL_SIGNATURE_H_

#include <string>
#include <string_view>
#include <vector>

#include "spec/scenario/schema.h"
#include "spec/scenario/value.h"

namespace plumbline::model {

using scenario::SchemaType;

struct Types {
  std::vector<SchemaType> arguments, returns;
};
Types TypesOf(const scenario::Schema& schema);

struct Signature {
  std::string name;
  Types types;
  bool symbolic = false;  // uses SymInt: such kernels agree among themselves only
};
const Signature* FindSignature(std::string_view name);  // of the catalogue; null if there is none

// The same signature with plain integers for its symbols; null if the catalogue has none.
const Signature* WithoutSymbols(const Signature& signature);

// A C++ kernel or call against a schema: the first difference in words, or "". Names, defaults, list sizes and alias
// marks do not matter; a C++ int serves a SymInt of the schema.
std::string Difference(const Types& schema, const Signature& signature);

// Values against the types of arguments or of returns: the first thing wrong in words, or "".
std::string Misfit(const std::vector<SchemaType>& types, const std::vector<scenario::Value>& values, const char* what);

// What a kernel returns that says nothing else.
scenario::Value ZeroOf(const SchemaType& type, const std::vector<scenario::Value>& arguments);

// The signature returns its first argument, a tensor that it may write: in place.
bool ReturnsFirstArgument(const Signature& signature);

}  // namespace plumbline::model

#endif  // PLUMBLINE_SPEC_MODEL_SIGNATURE_H_
