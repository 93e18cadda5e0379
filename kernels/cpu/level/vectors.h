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

template <class T>
[[gnu::always_inline]] inline Vector<T> Load(const T* from) {
  Vector<T> v;
  __builtin_memcpy(&v, from, sizeof v);
  return v;
}

// The first n elements, or all if there are fewer than n in a vector.
#ifdef __AVX2__
[[gnu::always_inline]] inline Vector<float> LoadSome(const float* from, int n, float rest) {
  const __m256i mask = _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  return _mm256_blendv_ps(_mm256_set1_ps(rest), _mm256_maskload_ps(from, mask), _mm256_castsi256_ps(mask));
}
[[gnu::always_inline]] inline void StoreSome(float* to, Vector<float> v, int n) {
  _mm256_maskstore_ps(to, _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7)), v);
}
[[gnu::always_inline]] inline Vector<double> LoadSome(const double* from, int n, double rest) {
  const __m256i mask = _mm256_cmpgt_epi64(_mm256_set1_epi64x(n), _mm256_setr_epi64x(0, 1, 2, 3));
  return _mm256_blendv_pd(_mm256_set1_pd(rest), _mm256_maskload_pd(from, mask), _mm256_castsi256_pd(mask));
}
[[gnu::always_inline]] inline void StoreSome(double* to, Vector<double> v, int n) {
  _mm256_maskstore_pd(to, _mm256_cmpgt_epi64(_mm256_set1_epi64x(n), _mm256_setr_epi64x(0, 1, 2, 3)), v);
}
#else
template <class T>
[[gnu::always_inline]] inline Vector<T> LoadSome(const T* from, int n, T rest) {
  constexpr int kLanes = sizeof(Vector<T>) / sizeof(T);
  T padded[kLanes];
  for (int k = 0; k < kLanes; ++k) padded[k] = k < n ? from[k] : rest;
  return Load(padded);
}
template <class T>
[[gnu::always_inline]] inline void StoreSome(T* to, Vector<T> v, int n) {
  constexpr int kLanes = sizeof(Vector<T>) / sizeof(T);
  for (int k = 0; k < kLanes && k < n; ++k) to[k] = v[k];
}
#endif

// out[i] = function(a[i]) or function(a[i], b[i]), whole vectors at a time; the last is filled up with ones.
template <class T, class F, class... In>
[[gnu::always_inline]] inline void ForVectors(F function, std::int64_t n, T* out, const In*... in) {
  constexpr std::int64_t kLanes = sizeof(Vector<T>) / sizeof(T);
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const Vector<T> result = function(Load(in + i)...);
    __builtin_memcpy(out + i, &result, sizeof result);
  }
  if (i == n) return;
  const int rest = static_cast<int>(n - i);
  StoreSome(out + i, function(LoadSome(in + i, rest, T{1})...), rest);
}

}  // namespace plumbline::kernels::cpu::PLUMBLINE_LEVEL

#endif  // PLUMBLINE_KERNELS_CPU_LEVEL_VECTORS_H_
