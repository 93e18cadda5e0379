#include "conformance/suites/operators/promotion.h"

#include <algorithm>
#include <array>

namespace plumbline::suites {
namespace {

// bool < integer < floating
int KindOf(std::uint32_t dtype) { return dtype == PL_DTYPE_BOOL ? 0 : IsFloating(dtype) ? 2 : 1; }

}  // namespace

std::uint32_t Promote(std::uint32_t a, std::uint32_t b) {
  if (a == PL_DTYPE_NONE) return b;
  if (b == PL_DTYPE_NONE || a == b) return a;
  if (KindOf(a) != KindOf(b)) return KindOf(a) > KindOf(b) ? a : b;
  if (IsFloating(a)) {
    if (DtypeBytes(a) == DtypeBytes(b)) return PL_DTYPE_FLOAT32;  // float16 and bfloat16
    return DtypeBytes(a) > DtypeBytes(b) ? a : b;
  }
  if (a != PL_DTYPE_UINT8 && b != PL_DTYPE_UINT8) return DtypeBytes(a) > DtypeBytes(b) ? a : b;
  const std::uint32_t other = a == PL_DTYPE_UINT8 ? b : a;
  if (other == PL_DTYPE_INT8) return PL_DTYPE_INT16;
  return other;
}

std::uint32_t CommonDtype(const std::vector<const Argument*>& arguments) {
  // With dimensions, without, Scalars.
  std::array<std::uint32_t, 3> categories{PL_DTYPE_NONE, PL_DTYPE_NONE, PL_DTYPE_NONE};
  for (const Argument* argument : arguments) {
    switch (argument->kind) {
      case PL_TENSOR: {
        std::uint32_t& category = categories[argument->tensor.sizes.empty() ? 1 : 0];
        category = Promote(category, argument->tensor.dtype);
        break;
      }
      case PL_FLOAT:
        categories[2] = Promote(categories[2], PL_DTYPE_FLOAT32);
        break;
      case PL_INT:
        categories[2] = Promote(categories[2], PL_DTYPE_INT64);
        break;
      case PL_BOOL:
        categories[2] = Promote(categories[2], PL_DTYPE_BOOL);
        break;
      default:
        break;
    }
  }
  std::uint32_t common = categories[0];
  for (const std::uint32_t lower : {categories[1], categories[2]}) {
    if (common == PL_DTYPE_NONE) {
      common = lower;
    } else if (lower != PL_DTYPE_NONE && KindOf(lower) > KindOf(common)) {
      common = Promote(common, lower);
    }
  }
  return common;
}

bool CanCast(std::uint32_t from, std::uint32_t to) {
  if (IsFloating(from)) return IsFloating(to);
  return from == PL_DTYPE_BOOL || to != PL_DTYPE_BOOL;
}

}  // namespace plumbline::suites
