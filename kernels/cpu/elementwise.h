// Runs a loop over strided operands: any number of dimensions, broadcast (stride 0), transposed, of mixed types.
//
//   const Operand operands[] = {{out, out_strides, Type::kF32, Type::kF32}, {in, in_strides, Type::kI64, Type::kF32}};
//   RunElementwise({sizes, operands, Level().unary[...][...], parameters});
//   void* const data[] = {out, in};
//   RunContiguous(data, item_sizes, n, loop, parameters);       // all lie side by side, in the loop's types
//
// Operands are [output, inputs...]; an input may be the output, element for element, but not overlap it otherwise. The
// loop sees pieces of elements side by side: operands that are not so, or of another type, are gathered and converted
// into a buffer first. Results do not depend on how the work is cut. Any thread; runs on the pool.
#ifndef PLUMBLINE_KERNELS_CPU_ELEMENTWISE_H_
#define PLUMBLINE_KERNELS_CPU_ELEMENTWISE_H_

#include <cstdint>
#include <span>

#include "kernels/cpu/level.h"

namespace plumbline::kernels::cpu {

inline constexpr int kMaxOperands = 4;
inline constexpr int kMaxDims = 64;

struct Operand {
  void* data;
  const std::int64_t* strides;  // in bytes, one for each size
  Type type;                    // of the elements in memory
  Type wanted;                  // that the loop takes or gives
};

struct Elementwise {
  std::span<const std::int64_t> sizes;
  std::span<const Operand> operands;
  Loop loop;
  const Parameters& parameters;
  bool cheap = true;
};

// Whether a loop of the operator is as fast as memory.
bool IsCheap(UnaryOp op);
bool IsCheap(BinaryOp op);

void RunElementwise(const Elementwise& work);

// `item_sizes` and `data` have `count` entries. A cheap loop waits for memory: its large outputs pass the caches by.
void RunContiguous(void* const* data, const std::size_t* item_sizes, int count, std::int64_t n, Loop loop,
                   const Parameters& parameters, bool cheap = true);

// out[...] = the elements of `in`, converted.
void Copy(std::span<const std::int64_t> sizes, const Operand& out, const Operand& in);

// The bytes of `item` to each element of out.
void Fill(std::span<const std::int64_t> sizes, void* out, const std::int64_t* strides, std::size_t item_size,
          const void* item);

}  // namespace plumbline::kernels::cpu

#endif  // PLUMBLINE_KERNELS_CPU_ELEMENTWISE_H_
