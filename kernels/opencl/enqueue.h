// Tensors as operands of the programs: one function for each, which enqueues it and returns.
//
//   EnqueueUnary(call, out, self, DType::kFloat32, OP_EXP);
//   EnqueueCopy(call, out, from);                 // both on the device: broadcast, converted
//
// Tensors are of float32, int32, int64 or bool: others are kNoDtype, said before anything is enqueued; a copy between
// tensors of one dtype is of bits and takes any. An In may be a Scalar, or a tensor of no dimensions on the CPU, whose
// value is read. Any thread.
#ifndef PLUMBLINE_KERNELS_OPENCL_ENQUEUE_H_
#define PLUMBLINE_KERNELS_OPENCL_ENQUEUE_H_

#include <span>

#include "kernels/call.h"
#include "kernels/shapes/reduction.h"

namespace plumbline::kernels::opencl {

// kNoDtype that names operator, dtype and device, as CheckDType does for the table.
void CheckHas(const Call& call, DType dtype);

void EnqueueUnary(const Call& call, const Tensor& out, const Tensor& self, DType compute, int op);
void EnqueueBinary(const Call& call, const Tensor& out, const In& a, const In& b, DType compute, int op,
                   const Scalar& alpha = Scalar(1));
void EnqueueWhere(const Call& call, const Tensor& out, const Tensor& condition, const Tensor& yes, const Tensor& no,
                  DType compute);
void EnqueueFill(const Call& call, const Tensor& out, const Scalar& value);
void EnqueueCopy(const Call& call, const Tensor& out, const Tensor& from);
void EnqueueSum(const Call& call, const Tensor& out, const Tensor& self, const Reduced& reduced);
void EnqueueMm(const Call& call, const Tensor& out, const Tensor& a, const Tensor& b);

}  // namespace plumbline::kernels::opencl

#endif  // PLUMBLINE_KERNELS_OPENCL_ENQUEUE_H_
