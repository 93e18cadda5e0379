// A tensor as text for people, laid out as PyTorch does.
//
//   Print(tensor)      tensor([[1.0000, 0.5000],
//                              [2.0000, 0.2500]])
//
// Of more than 1000 elements only the first and last three of each dimension are shown. float32, int64 and bool are not
// named; a dtype, device or shape that the numbers do not show is. Pure; the tensor is not written meanwhile.
#ifndef PLUMBLINE_REFERENCE_TENSOR_PRINT_H_
#define PLUMBLINE_REFERENCE_TENSOR_PRINT_H_

#include <string>

#include "reference/tensor/tensor.h"

namespace plumbline::reference {

std::string Print(const Tensor& tensor);

}  // namespace plumbline::reference

#endif  // PLUMBLINE_REFERENCE_TENSOR_PRINT_H_
