// The kernels' threads: a loop is cut into pieces, which the caller and the workers take in turn.
//
//   ParallelFor(n, kGrain, [&](std::int64_t begin, std::int64_t end) { loop(begin, end); });
//
// Pieces are multiples of the grain (but the last), whatever the number of threads, so that a result that is put
// together from pieces is the same with any number. A loop inside a piece, one that is too short to be worth it, and
// one that finds the workers busy run on the caller alone. A worker runs a piece with the caller's thread-local
// dispatch state. The first exception of a piece leaves ParallelFor, after all pieces have ended.
//
// The number of threads is PLUMBLINE_THREADS of the environment, else that of the processors which the process may use.
// Workers start at the first loop that needs them; a forked child starts its own. Any thread.
#ifndef PLUMBLINE_KERNELS_CPU_THREAD_POOL_H_
#define PLUMBLINE_KERNELS_CPU_THREAD_POOL_H_

#include <cstdint>
#include <type_traits>

namespace plumbline::kernels::cpu {

// Elements of work that a piece has at least; below kWorthwhile a loop is not cut.
inline constexpr std::int64_t kGrain = 32768;
inline constexpr std::int64_t kWorthwhile = 131072;

int Threads();
void SetThreads(int threads);  // 1 and up

namespace internal {
using PieceFunction = void (*)(void* context, std::int64_t begin, std::int64_t end);
void RunPieces(std::int64_t n, std::int64_t grain, PieceFunction function, void* context);
}  // namespace internal

// `n` steps, cut at multiples of `grain`; `work` is the elements of one step, by which it is decided whether it is
// worth it.
template <class F>
void ParallelFor(std::int64_t n, std::int64_t grain, F&& function, std::int64_t work = 1) {
  if (n <= 0) return;
  if (n <= grain || n < kWorthwhile / work || Threads() == 1) return function(std::int64_t{0}, n);
  internal::RunPieces(
      n, grain,
      [](void* context, std::int64_t begin, std::int64_t end) {
        (*static_cast<std::remove_reference_t<F>*>(context))(begin, end);
      },
      const_cast<void*>(static_cast<const void*>(&function)));
}

}  // namespace plumbline::kernels::cpu

#endif  // PLUMBLINE_KERNELS_CPU_THREAD_POOL_H_
