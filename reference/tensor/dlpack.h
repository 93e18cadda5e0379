// Tensors handed to and taken from other libraries without a copy, as DLPack 0.6 has it (<dlpack/dlpack.h>).
//
//   DLManagedTensor* out = ToDLPack(tensor);         // whoever takes it calls out->deleter(out), once
//   Tensor in = FromDLPack(managed, table);          // calls the deleter with the last tensor on that memory
//
// The memory is shared: both sides see what the other writes. What FromDLPack refuses stays the caller's. 0.6 has no
// code for bool; here it is 6, as in the versions that have one, so a library that knows none refuses it rather than
// take it for uint8. Any thread; the other side's deleter runs on whichever drops the last tensor.
#ifndef PLUMBLINE_REFERENCE_TENSOR_DLPACK_H_
#define PLUMBLINE_REFERENCE_TENSOR_DLPACK_H_

#include "reference/tensor/tensor.h"

struct DLManagedTensor;

namespace plumbline::reference {

// kUnsupported for a meta tensor, which has no memory.
DLManagedTensor* ToDLPack(const Tensor& tensor);

// kUnsupported: a device that nothing allocates on, an element type or number of lanes that there is no tensor for.
// kInvalidArgument: sizes, strides or memory that make no sense, among them negative strides and elements that are not
// aligned.
Tensor FromDLPack(DLManagedTensor* managed, const KeyTable& table);

}  // namespace plumbline::reference

#endif  // PLUMBLINE_REFERENCE_TENSOR_DLPACK_H_
