#include "kernels/shapes/promotion.h"

#include <algorithm>

#include "reference/faults/faults.h"

namespace plumbline::kernels {

using reference::IsFloating;
using reference::SizeOf;

DType Promote(DType a, DType b) {
  if (a == b) return a;
  if (IsFloating(a) || IsFloating(b)) {
    if (!IsFloating(a)) return b;
    if (!IsFloating(b)) return a;
    // The two of 16 bits hold each other's values only together, in float32.
    if (SizeOf(a) == SizeOf(b)) return DType::kFloat32;
    return SizeOf(a) > SizeOf(b) ? a : b;
  }
  if (a == DType::kBool) return b;
  if (b == DType::kBool) return a;
  if (PLUMBLINE_FAULT(unsigned_bytes_promote_to_signed) && SizeOf(a) == SizeOf(b)) return DType::kInt8;
  if (a == DType::kUint8 && b == DType::kInt8) return DType::kInt16;
  if (a == DType::kInt8 && b == DType::kUint8) return DType::kInt16;
  return SizeOf(a) > SizeOf(b) ? a : b;
}

bool CanCast(DType from, DType to) {
  if (IsFloating(from) && !IsFloating(to)) return false;
  return from == DType::kBool || to != DType::kBool;
}

namespace {

std::optional<DType> Combine(std::optional<DType> higher, std::optional<DType> lower) {
  if (!higher) return lower;
  if (!lower || IsFloating(*higher)) return higher;
  if (*higher == DType::kBool || IsFloating(*lower)) return Promote(*higher, *lower);
  return higher;
}

}  // namespace

DType Promotion::Result() const {
  // As if a Scalar were a tensor of its default dtype.
  if (PLUMBLINE_FAULT(scalars_count_like_tensors) && scalars_)
    return Promote(with_dims_.value_or(*scalars_), *scalars_);
  return Combine(with_dims_, Combine(without_, scalars_)).value_or(kDefaultDType);
}

}  // namespace plumbline::kernels
