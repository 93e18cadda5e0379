// The parts of a level, each in a source of its own, and what they share. Only sources of levels include it.
//
// PLUMBLINE_LEVEL is the level's name and its namespace, so that nothing here can be taken for another level's.
#ifndef PLUMBLINE_KERNELS_CPU_LEVEL_PARTS_H_
#define PLUMBLINE_KERNELS_CPU_LEVEL_PARTS_H_

#include "kernels/cpu/level/types.h"

// Before a loop: no turn of it reads what another one writes, so that it may be made of vectors unasked.
#ifdef __clang__
#define PLUMBLINE_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define PLUMBLINE_INDEPENDENT _Pragma("GCC ivdep")
#endif

namespace plumbline::kernels::cpu::PLUMBLINE_LEVEL {

const LevelTable& Table();

void AddUnary(LevelTable& table);
void AddMath(LevelTable& table);
void AddBinary(LevelTable& table);
void AddTernary(LevelTable& table);
void AddCasts(LevelTable& table);
void AddReductions(LevelTable& table);
void AddMoves(LevelTable& table);

template <class T>
inline constexpr int kIndexOf = -1;
template <>
inline constexpr int kIndexOf<std::uint8_t> = 0;
template <>
inline constexpr int kIndexOf<std::int8_t> = 1;
template <>
inline constexpr int kIndexOf<std::int16_t> = 2;
template <>
inline constexpr int kIndexOf<std::int32_t> = 3;
template <>
inline constexpr int kIndexOf<std::int64_t> = 4;
template <>
inline constexpr int kIndexOf<float> = 5;
template <>
inline constexpr int kIndexOf<double> = 6;
template <>
inline constexpr int kIndexOf<bool> = 7;

template <class T>
inline constexpr bool kIsFloat = kIndexOf<T> == 5 || kIndexOf<T> == 6;

// The unsigned type of the same size, at least as wide as int, in which arithmetic wraps.
template <class T>
struct WrapOf {
  using Type = std::uint32_t;
};
template <>
struct WrapOf<std::int64_t> {
  using Type = std::uint64_t;
};
template <>
struct WrapOf<float> {
  using Type = float;
};
template <>
struct WrapOf<double> {
  using Type = double;
};
template <class T>
using Wrap = typename WrapOf<T>::Type;

}  // namespace plumbline::kernels::cpu::PLUMBLINE_LEVEL

#endif  // PLUMBLINE_KERNELS_CPU_LEVEL_PARTS_H_
