// The signature catalogue as schemas, and random values for it.
//
//   const CatalogueEntry& entry = Catalogue()[i];
//   std::string schema = SchemaOf(entry, "demo::f");    // "demo::f(Tensor a, int? b) -> Tensor"
//   scenario::Value value = AnyValueOf(entry.arguments[1], draw, keys);
//
// Types are spelled as in a schema. Static data and pure functions; any thread.
#ifndef PLUMBLINE_CONFORMANCE_SUITES_GENERATE_VALUES_H_
#define PLUMBLINE_CONFORMANCE_SUITES_GENERATE_VALUES_H_

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/suites/generate_draw.h"
#include "spec/scenario/value.h"

namespace plumbline::suites {

struct CatalogueEntry {
  std::string name;                             // "tensor_optional"
  std::vector<std::string> arguments, returns;  // "Tensor", "Tensor(a!)", "int?[]"
  bool in_place() const { return !arguments.empty() && arguments.front() == "Tensor(a!)"; }
};
const std::vector<CatalogueEntry>& Catalogue();
const CatalogueEntry& CatalogueEntryOf(std::string_view name);  // of one that there is

std::string SchemaOf(const CatalogueEntry& entry, const std::string& operator_name);

// Extremes and special values among them. `keys` gives the set of a tensor.
using TensorKeys = std::function<std::vector<std::string>()>;
scenario::Value AnyValueOf(const std::string& type, Draw& draw, const TensorKeys& keys);
std::vector<scenario::Value> AnyValuesOf(const CatalogueEntry& entry, Draw& draw, const TensorKeys& keys);

}  // namespace plumbline::suites

#endif  // PLUMBLINE_CONFORMANCE_SUITES_GENERATE_VALUES_H_
