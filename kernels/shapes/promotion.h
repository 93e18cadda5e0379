// Which dtype a result has: PyTorch's rules of promotion.
//
//   Promotion p;  p.Add(tensor);  p.Add(scalar);  p.Result();      // int32 tensor and 1.5: float32
//
// Tensors with dimensions count before those without, and these before Scalars: a lower one decides only if it is of a
// higher category (bool, integers, floats). Plain values; any thread.
#ifndef PLUMBLINE_KERNELS_SHAPES_PROMOTION_H_
#define PLUMBLINE_KERNELS_SHAPES_PROMOTION_H_

#include <optional>

#include "reference/boxing/types.h"
#include "reference/tensor/tensor.h"

namespace plumbline::kernels {

using reference::DType;

inline constexpr DType kDefaultDType = DType::kFloat32;

// To which two dtypes of equal weight promote.
DType Promote(DType a, DType b);

// Whether a result of `from` may be written to a tensor of `to`: not from floats to integers, from numbers to bool.
bool CanCast(DType from, DType to);

inline DType FloatOr(DType dtype) { return reference::IsFloating(dtype) ? dtype : kDefaultDType; }

class Promotion {
 public:
  void Add(const reference::Tensor& tensor) { Join(tensor.dim() > 0 ? with_dims_ : without_, tensor.dtype()); }
  void Add(const reference::Scalar& scalar) {
    Join(scalars_, scalar.is_float() ? kDefaultDType : scalar.is_int() ? DType::kInt64 : DType::kBool);
  }
  DType Result() const;

 private:
  static void Join(std::optional<DType>& into, DType dtype) { into = into ? Promote(*into, dtype) : dtype; }
  std::optional<DType> with_dims_, without_, scalars_;
};

}  // namespace plumbline::kernels

#endif  // PLUMBLINE_KERNELS_SHAPES_PROMOTION_H_
