// Tensors as the compute layer of the CPU sees them, and what kernels do with whole tensors.
//
//   RunLoop(out, compute, inputs, compute, Level().unary[Index(op)][Index(compute)], parameters, cheap);
//   CopyTo(out, from);                 // both in memory of the CPU
//   CopyElements(call, out, from);     // anywhere: by the device's own copy_ where the CPU cannot read
//
// Functions of one call, on its thread.
#ifndef PLUMBLINE_KERNELS_COMPUTE_H_
#define PLUMBLINE_KERNELS_COMPUTE_H_

#include <optional>
#include <span>

#include "kernels/call.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/rows.h"

namespace plumbline::kernels {

cpu::Type TypeOf(DType dtype);

// Runs `loop` over out and inputs, which are read in `compute` (the first one in `first`, if given) and written in
// `made`.
void RunLoop(const Tensor& out, cpu::Type made, std::span<const In> inputs, cpu::Type compute, cpu::Loop loop,
             const cpu::Parameters& parameters, bool cheap, std::optional<cpu::Type> first = std::nullopt);

// All elements of `from`, broadcast, converted.
void CopyTo(const Tensor& out, const Tensor& from);
void FillWith(const Tensor& out, const Scalar& value);

// The same for tensors of any device; no write counts for `out`. For composites, and what is made apart.
void CopyElements(const Call& call, const Tensor& out, const Tensor& from);
void FillElements(const Call& call, const Tensor& out, const Scalar& value);

// Byte strides, for an input of the compute layer.
struct Strided {
  explicit Strided(const Tensor& tensor);
  operator cpu::StridedInput() const { return {sizes, strides, type, data}; }  // NOLINT: this is its purpose
  DimVector sizes, strides;
  cpu::Type type;
  const void* data;
};

Tensor Contiguous(const Tensor& tensor);              // itself, if it is
Tensor Converted(const Tensor& tensor, DType dtype);  // itself, if it is of that dtype

// The operand as a cast to the dtype leaves it. Loops read any dtype, but one of 16 bits is computed in float32, so
// what is of another dtype is rounded to it first. `held` owns what that makes.
In Rounded(const In& operand, DType dtype, std::optional<Tensor>& held);

double RoundTo(DType dtype, double value);  // of a floating dtype
cpu::Parameters ParametersOf(const Scalar& a);

}  // namespace plumbline::kernels

#endif  // PLUMBLINE_KERNELS_COMPUTE_H_
