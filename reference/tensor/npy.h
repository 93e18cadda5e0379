// One tensor in a file, bit-exact, in NumPy's .npy format.
//
//   SaveNpy("x.npy", tensor);   Tensor x = LoadNpy("x.npy", table);
//
// NumPy has all our dtypes but bfloat16, which is kUnsupported; so is loading what we have no dtype for. Only tensors
// on cpu are saved, row-major whatever their strides were. Files in column-major order keep it as strides, those of the
// other byte order are turned round. A file that breaks the format's rules is kInvalidArgument or kOverflow and says
// why; sizes are checked against the bytes that are there before memory is asked for. Any thread.
#ifndef PLUMBLINE_REFERENCE_TENSOR_NPY_H_
#define PLUMBLINE_REFERENCE_TENSOR_NPY_H_

#include <string>
#include <string_view>

#include "reference/tensor/tensor.h"

namespace plumbline::reference {

void SaveNpy(const std::string& path, const Tensor& tensor);
Tensor LoadNpy(const std::string& path, const KeyTable& table);

// The same in memory.
std::string WriteNpy(const Tensor& tensor);
Tensor ReadNpy(std::string_view bytes, const KeyTable& table);

}  // namespace plumbline::reference

#endif  // PLUMBLINE_REFERENCE_TENSOR_NPY_H_
