#include <cmath>
#include <cstddef>
#include <string>
#include <utility>

#include "conformance/suites/operators/oracle_elements.h"
#include "conformance/suites/operators/oracle_families.h"
#include "conformance/suites/operators/oracle_groups.h"

namespace plumbline::suites {
namespace {

// Of no elements there is no greatest. A result without elements asks for none, if the dimensions it reduces have some.
bool NothingToChoose(const HostTensor& tensor, const Argument& dim) {
  if (tensor.numel() > 0) return false;
  if (dim.kind == PL_NONE || (dim.kind == PL_LIST && dim.items.empty())) return true;
  const Dimensions dimensions = DimensionsOf(dim, tensor.sizes.size());
  for (std::size_t d = 0; d < dimensions.reduced.size(); ++d) {
    if (dimensions.reduced[d] && tensor.sizes[d] == 0) return true;
  }
  return false;
}

// What is chosen of some: the greatest or the least, or a NaN if there is one; and where it is.
struct Chosen {
  long double value = 0;
  std::vector<long double> places{};
};
Chosen Choose(const std::vector<long double>& members, bool greatest) {
  Chosen chosen{members[0]};
  for (const long double member : members) {
    if (std::isnan(chosen.value)) break;
    if (std::isnan(member) || (greatest ? member > chosen.value : member < chosen.value)) chosen.value = member;
  }
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (members[i] == chosen.value || (std::isnan(members[i]) && std::isnan(chosen.value))) {
      chosen.places.push_back(static_cast<long double>(i));
    }
  }
  return chosen;
}

enum class Gives { kValue, kIndex, kBoth };
Expected Extreme(const OperatorCall& call, const Argument& dim, bool keep, bool greatest, Gives gives) {
  const HostTensor& tensor = call.arguments[0].tensor;
  const Dimensions dimensions = DimensionsOf(dim, tensor.sizes.size());
  if (!dimensions.refused.empty()) return Refused(dimensions.refused.c_str());
  if (NothingToChoose(tensor, dim)) return Refused("there is nothing to choose from");
  if (gives == Gives::kIndex && tensor.dtype == PL_DTYPE_BOOL) return NoDtype("it is not defined for bool");
  const Groups groups = GroupsOf(tensor, dimensions.reduced, keep);
  ExpectedTensor values{.dtype = tensor.dtype, .sizes = groups.sizes, .values = {}, .bounds = {}};
  ExpectedTensor indices{.dtype = PL_DTYPE_INT64, .sizes = groups.sizes, .values = {}, .bounds = {}};
  for (const std::vector<long double>& members : groups.members) {
    const Chosen chosen = Choose(members, greatest);
    values.values.push_back(chosen.value);
    values.bounds.push_back(chosen.value == 0 ? kEitherZero : 0);
    indices.values.push_back(chosen.places[0]);
    if (gives == Gives::kBoth) indices.any_of.push_back(chosen.places);
  }
  if (gives == Gives::kIndex) return Only(std::move(indices));
  Expected expected = Only(std::move(values));
  if (gives == Gives::kBoth) expected.tensors.push_back(std::move(indices));
  return expected;
}

Expected Truth(const OperatorCall& call, const Argument& dim, bool keep, bool all) {
  const HostTensor& tensor = call.arguments[0].tensor;
  const Dimensions dimensions = DimensionsOf(dim, tensor.sizes.size());
  if (!dimensions.refused.empty()) return Refused(dimensions.refused.c_str());
  const Groups groups = GroupsOf(tensor, dimensions.reduced, keep);
  const std::uint32_t result = tensor.dtype == PL_DTYPE_UINT8 ? tensor.dtype : std::uint32_t{PL_DTYPE_BOOL};
  ExpectedTensor out{.dtype = result, .sizes = groups.sizes, .values = {}, .bounds = {}};
  for (const std::vector<long double>& members : groups.members) {
    bool truth = all;
    for (const long double member : members) truth = all ? truth && member != 0 : truth || member != 0;
    out.values.push_back(truth ? 1 : 0);
  }
  return Only(std::move(out));
}

Expected CountNonzero(const OperatorCall& call) {
  const HostTensor& tensor = call.arguments[0].tensor;
  const Dimensions dimensions = DimensionsOf(call.arguments[1], tensor.sizes.size());
  if (!dimensions.refused.empty()) return Refused(dimensions.refused.c_str());
  const Groups groups = GroupsOf(tensor, dimensions.reduced, false);
  ExpectedTensor out{.dtype = PL_DTYPE_INT64, .sizes = groups.sizes, .values = {}, .bounds = {}};
  for (const std::vector<long double>& members : groups.members) {
    long double count = 0;
    for (const long double member : members) count += member != 0 ? 1 : 0;
    out.values.push_back(count);
  }
  return Only(std::move(out));
}

}  // namespace

void AddSelections(Oracles& oracles) {
  for (const bool greatest : {false, true}) {
    const std::string name = greatest ? "max" : "min";
    oracles["a" + name] = [greatest](const OperatorCall& call) {
      return Extreme(call, call.arguments[1], call.arguments[2].integer != 0, greatest, Gives::kValue);
    };
    oracles[name] = [greatest](const OperatorCall& call) {
      return Extreme(call, Argument::None(), false, greatest, Gives::kValue);
    };
    oracles[name + ".dim"] = [greatest](const OperatorCall& call) {
      return Extreme(call, call.arguments[1], call.arguments[2].integer != 0, greatest, Gives::kBoth);
    };
    oracles["arg" + name] = [greatest](const OperatorCall& call) {
      return Extreme(call, call.arguments[1], call.arguments[2].integer != 0, greatest, Gives::kIndex);
    };
  }
  for (const bool all : {false, true}) {
    const std::string name = all ? "all" : "any";
    oracles[name] = [all](const OperatorCall& call) { return Truth(call, Argument::None(), false, all); };
    oracles[name + ".dim"] = [all](const OperatorCall& call) {
      return Truth(call, call.arguments[1], call.arguments[2].integer != 0, all);
    };
  }
  oracles["count_nonzero.dim_IntList"] = &CountNonzero;
}

}  // namespace plumbline::suites
