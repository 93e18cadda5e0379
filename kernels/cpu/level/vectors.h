// The widest vectors of a level, and SLEEF's functions over them. Only sources of levels include it.
#ifndef PLUMBLINE_KERNELS_CPU_LEVEL_VECTORS_H_
#define PLUMBLINE_KERNELS_CPU_LEVEL_VECTORS_H_

#include <immintrin.h>
#include <sleef.h>

#include "kernels/cpu/level/parts.h"

namespace plumbline::kernels::cpu::PLUMBLINE_LEVEL {

#ifdef __AVX2__
using Floats = __m256;
using Doubles = __m256d;
#define PLUMBLINE_SLEEF_F(name, ulp) Sleef_##name##f8_##ulp##avx2
#define PLUMBLINE_SLEEF_D(name, ulp) Sleef_##name##d4_##ulp##avx2
#else
using Floats = __m128;
using Doubles = __m128d;
#define PLUMBLINE_SLEEF_F(name, ulp) Sleef_##name##f4_##ulp##sse2
#define PLUMBLINE_SLEEF_D(name, ulp) Sleef_##name##d2_##ulp##sse2
#endif

template <class T>
struct VectorOf;
template <>
struct VectorOf<float> {
  using Type = Floats;
};
template <>
struct VectorOf<double> {
  using Type = Doubles;
};
template <class T>
using Vector = typename VectorOf<T>::Type;

// out[i] = function(a[i]) or function(a[i], b[i]), whole vectors at a time; the last is filled up with ones.
template <class T, class F, class... In>
[[gnu::always_inline]] inline void ForVectors(F function, std::int64_t n, T* out, const In*... in) {
  static constexpr std::int64_t kLanes = sizeof(Vector<T>) / sizeof(T);
  std::int64_t i = 0;
  const auto load = [](const T* from) {
    Vector<T> v;
    __builtin_memcpy(&v, from, sizeof v);
    return v;
  };
  for (; i + kLanes <= n; i += kLanes) {
    const Vector<T> result = function(load(in + i)...);
    __builtin_memcpy(out + i, &result, sizeof result);
  }
  if (i == n) return;
  const std::int64_t rest = n - i;
  const auto load_rest = [rest](const T* from) {
    T padded[kLanes];
    for (std::int64_t k = 0; k < kLanes; ++k) padded[k] = k < rest ? from[k] : T(1);
    Vector<T> v;
    __builtin_memcpy(&v, padded, sizeof v);
    return v;
  };
  const Vector<T> result = function(load_rest(in + i)...);
  __builtin_memcpy(out + i, &result, static_cast<unsigned long>(rest) * sizeof(T));
}

}  // namespace plumbline::kernels::cpu::PLUMBLINE_LEVEL

#endif  // PLUMBLINE_KERNELS_CPU_LEVEL_VECTORS_H_
