// The in-place and out= variants of operators: what they come to follows from the operator itself.
//
//   for (const Variant& variant : Variants()) {                          // {"add_.Tensor", "add.Tensor", ...}
//     Expected expected = ExpectedOf(variant, *OracleFor(variant.base), call);
//     OperatorCall call = DrawVariant(variant, *OracleFor(variant.base), *CallDrawerFor(variant.base), dtype, draw);
//   }
//
// The written tensor is the result itself. It keeps its dtype, to which the result must be castable; an in-place one
// keeps its sizes, an out= one is resized if it has others. It may be an operand, all of it, but not overlap one partly
// nor itself. Pure but for the Draw; any thread.
#ifndef PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_VARIANTS_H_
#define PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_VARIANTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "conformance/suites/operators/draw_calls.h"
#include "conformance/suites/operators/oracle.h"

namespace plumbline::suites {

enum class Written {
  kSelf,           // in place, element by element
  kSelfOfOwn,      // in place; not of overlapping operands
  kOut,            // element by element: another dtype, and an operand itself, are allowed
  kOutOfSameKind,  // the dtype of the result, no operand
};

struct Variant {
  std::string name, base;
  Written written;
  int outs = 1;  // how many arguments, the last ones, are written

  bool in_place() const { return written == Written::kSelf || written == Written::kSelfOfOwn; }
};

const std::vector<Variant>& Variants();

// [OPER-036] Whether the written one of a call's tensors shares some elements with another, and is not just that one.
bool OverlapsPartly(const std::vector<const Argument*>& tensors, std::size_t number);
inline constexpr const char* kOverlapsPartly = "the written tensor overlaps an operand partly";

Expected ExpectedOf(const Variant& variant, const Oracle& base, const OperatorCall& call);
OperatorCall DrawVariant(const Variant& variant, const Oracle& base, const CallDrawer& drawer, std::uint32_t dtype,
                         Draw& draw);

}  // namespace plumbline::suites

#endif  // PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_VARIANTS_H_
