// The level in force: the loops for this processor, chosen at the first use.
//
//   Level().unary[Index(UnaryOp::kExp)][Index(Type::kF32)]
//
// PLUMBLINE_CPU_LEVEL=base in the environment forces the level that every x86-64 processor has; another value than base
// or v3, or v3 on a processor without it, is told on stderr and ends the process. Any thread.
#ifndef PLUMBLINE_KERNELS_CPU_LEVEL_H_
#define PLUMBLINE_KERNELS_CPU_LEVEL_H_

#include <cstddef>

#include "kernels/cpu/level/types.h"

namespace plumbline::kernels::cpu {

const LevelTable& Level();

// For tests: null if the processor lacks it.
const LevelTable* BaseLevel();
const LevelTable* V3Level();
void SetLevel(const LevelTable& level);

template <class E>
constexpr int Index(E e) {
  return static_cast<int>(e);
}

constexpr std::size_t SizeOf(Type type) {
  constexpr std::size_t kSizes[kTypes] = {1, 1, 2, 4, 8, 4, 8, 1, 2, 2};
  return kSizes[Index(type)];
}
// In which it is computed.
constexpr Type ComputeType(Type type) { return type == Type::kF16 || type == Type::kBF16 ? Type::kF32 : type; }
constexpr bool IsFloat(Type type) {
  return type == Type::kF32 || type == Type::kF64 || type == Type::kF16 || type == Type::kBF16;
}

}  // namespace plumbline::kernels::cpu

#endif  // PLUMBLINE_KERNELS_CPU_LEVEL_H_
