// Moves of bytes: stores that pass the caches by, and tiles of transposed elements.
#include <immintrin.h>

#include "kernels/cpu/level/parts.h"

namespace plumbline::kernels::cpu::PLUMBLINE_LEVEL {
namespace {

void Stream(void* to, const void* from, std::int64_t bytes) {
  char* const out = static_cast<char*>(to);
  const char* const in = static_cast<const char*>(from);
  for (std::int64_t i = 0; i < bytes; i += 32) {
#ifdef __AVX2__
    _mm256_stream_si256(reinterpret_cast<__m256i*>(out + i),
                        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in + i)));
#else
    _mm_stream_si128(reinterpret_cast<__m128i*>(out + i), _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + i)));
    _mm_stream_si128(reinterpret_cast<__m128i*>(out + i + 16),
                     _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + i + 16)));
#endif
  }
}

template <class T>
[[gnu::always_inline]] inline void TransposeAny(char* to, std::int64_t to_stride, const char* from, std::int64_t stride,
                                                int rows, int columns) {
  for (int c = 0; c < columns; ++c) {
    const T* const column = reinterpret_cast<const T*>(from + c * stride);
    for (int r = 0; r < rows; ++r) reinterpret_cast<T*>(to + r * to_stride)[c] = column[r];
  }
}

#ifdef __AVX__
// 8 by 8 elements of 4 bytes in registers. Columns are loaded by halves, k beside k + 4, so that nothing has to cross
// from one half of a register to the other later.
[[gnu::always_inline]] inline void Transpose8(char* to, std::int64_t to_stride, const char* from, std::int64_t stride) {
  for (int half = 0; half < 2; ++half, from += 16, to += 4 * to_stride) {
    __m256 r[4];
    for (int k = 0; k < 4; ++k) {
      const auto* const column = reinterpret_cast<const float*>(from + k * stride);
      const auto* const other = reinterpret_cast<const float*>(from + (k + 4) * stride);
      r[k] = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(column)), _mm_loadu_ps(other), 1);
    }
    const __m256 a = _mm256_unpacklo_ps(r[0], r[1]), b = _mm256_unpackhi_ps(r[0], r[1]);
    const __m256 c = _mm256_unpacklo_ps(r[2], r[3]), d = _mm256_unpackhi_ps(r[2], r[3]);
    const auto store = [&](int row, __m256 v) { _mm256_storeu_ps(reinterpret_cast<float*>(to + row * to_stride), v); };
    store(0, _mm256_shuffle_ps(a, c, 0x44));
    store(1, _mm256_shuffle_ps(a, c, 0xee));
    store(2, _mm256_shuffle_ps(b, d, 0x44));
    store(3, _mm256_shuffle_ps(b, d, 0xee));
  }
}
#endif

template <class T>
void Transpose(void* to_data, std::int64_t to_stride, const void* from_data, std::int64_t stride, int rows,
               int columns) {
  char* const to = static_cast<char*>(to_data);
  const char* const from = static_cast<const char*>(from_data);
#ifdef __AVX__
  if constexpr (sizeof(T) == 4) {
    const int whole_rows = rows & ~7, whole_columns = columns & ~7;
    for (int c = 0; c < whole_columns; c += 8) {
      for (int r = 0; r < whole_rows; r += 8) {
        Transpose8(to + r * to_stride + c * 4, to_stride, from + c * stride + r * 4, stride);
      }
    }
    TransposeAny<T>(to + whole_columns * 4, to_stride, from + whole_columns * stride, stride, rows,
                    columns - whole_columns);
    TransposeAny<T>(to + whole_rows * to_stride, to_stride, from + whole_rows * 4, stride, rows - whole_rows,
                    whole_columns);
    return;
  }
#endif
  TransposeAny<T>(to, to_stride, from, stride, rows, columns);
}

}  // namespace

void AddMoves(LevelTable& table) {
  table.stream = &Stream;
  table.transpose[0] = &Transpose<std::uint8_t>;
  table.transpose[1] = &Transpose<std::uint16_t>;
  table.transpose[2] = &Transpose<std::uint32_t>;
  table.transpose[3] = &Transpose<std::uint64_t>;
}

}  // namespace plumbline::kernels::cpu::PLUMBLINE_LEVEL
