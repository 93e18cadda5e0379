// Softmax and normalisation of rows. Outputs are packed, of the input's sizes. Any thread; runs on the pool.
#ifndef PLUMBLINE_KERNELS_CPU_NORMALIZE_H_
#define PLUMBLINE_KERNELS_CPU_NORMALIZE_H_

#include <cstdint>
#include <span>

#include "kernels/cpu/reduce.h"
#include "kernels/cpu/rows.h"

namespace plumbline::kernels::cpu {

// Along one dimension; computed in F32 or F64.
void Softmax(bool log, const StridedInput& in, std::size_t dim, const PackedOutput& out);

// Over the last `normalized` dimensions. Weight and bias are packed, in the compute type, or null; so are mean and the
// reciprocal deviation, one for each row, that are written unless null.
void LayerNorm(const StridedInput& in, std::size_t normalized, const void* weight, const void* bias, double epsilon,
               const PackedOutput& out, void* mean, void* reciprocal_deviation);

}  // namespace plumbline::kernels::cpu

#endif  // PLUMBLINE_KERNELS_CPU_NORMALIZE_H_
