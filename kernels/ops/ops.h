// The kernels of each family, by the names of the functional operators.
//
//   for (const NamedKernel& kernel : ElementwiseKernels()) ...   // {"add.Tensor", &...}
//
// Each serves its in-place and out= variants too, kernels/call.h, and CPU and meta; those that only look at sizes or
// call other operators serve any device. Constant data; any thread.
#ifndef PLUMBLINE_KERNELS_OPS_OPS_H_
#define PLUMBLINE_KERNELS_OPS_OPS_H_

#include <span>

#include "kernels/named_kernel.h"

namespace plumbline::kernels {

std::span<const NamedKernel> ElementwiseKernels();
std::span<const NamedKernel> ReductionKernels();
std::span<const NamedKernel> MatrixKernels();
std::span<const NamedKernel> NormalisationKernels();
std::span<const NamedKernel> ViewKernels();
std::span<const NamedKernel> CopyKernels();
std::span<const NamedKernel> FactoryKernels();
std::span<const NamedKernel> IndexKernels();
std::span<const NamedKernel> JoinKernels();
std::span<const NamedKernel> ImageKernels();
std::span<const NamedKernel> LossKernels();
std::span<const NamedKernel> RandomKernels();

}  // namespace plumbline::kernels

#endif  // PLUMBLINE_KERNELS_OPS_OPS_H_
