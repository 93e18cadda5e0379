// Elements of a CPU tensor one after the other, whatever its strides: for what leaves the process or is shown.
//
//   std::vector<char> bytes(tensor.numel() * tensor.itemsize());   CopyRowMajor(tensor, bytes.data());
//
// Pure functions; the tensor is not written meanwhile.
#ifndef PLUMBLINE_REFERENCE_TENSOR_ELEMENTS_H_
#define PLUMBLINE_REFERENCE_TENSOR_ELEMENTS_H_

#include <string>

#include "reference/tensor/tensor.h"

namespace plumbline::reference {

// kUnsupported, naming the device and what was wanted ("saved"), for one whose memory is not the CPU's.
void CheckReadable(const Tensor& tensor, const std::string& wanted);
// In row-major order into numel * itemsize bytes.
void CopyRowMajor(const Tensor& tensor, void* bytes);
// A bool is 0 or 1; any other byte among `numel` is kInvalidArgument that opens with `where`.
void CheckBools(const void* bytes, std::int64_t numel, const std::string& where);

}  // namespace plumbline::reference

#endif  // PLUMBLINE_REFERENCE_TENSOR_ELEMENTS_H_
