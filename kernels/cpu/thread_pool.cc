#include "kernels/cpu/thread_pool.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "reference/keys/carried_state.h"

namespace plumbline::kernels::cpu {
namespace {

struct Job {
  internal::PieceFunction function;
  void* context;
  std::int64_t n, grain, pieces;
  reference::CarriedState state;
  std::atomic<std::int64_t> next{0};
  int users = 0;             // workers inside; guarded by the pool's mutex
  std::exception_ptr error;  // ... too
};

thread_local bool inside_piece = false;

int DefaultThreads() {
  if (const char* const wish = std::getenv("PLUMBLINE_THREADS")) return std::clamp(std::atoi(wish), 1, 256);
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1u, std::thread::hardware_concurrency());
}

// Never destroyed: workers outlive static destruction.
struct Pool {
  std::mutex submit;  // held by the one loop that uses the workers
  std::mutex mutex;
  std::condition_variable work, done;
  Job* job = nullptr;
  int started = 0;
  std::atomic<int> threads{DefaultThreads()};

  void RunJob(Job& job) {
    const bool before = std::exchange(inside_piece, true);
    for (;;) {
      const std::int64_t piece = job.next.fetch_add(1, std::memory_order_relaxed);
      if (piece >= job.pieces) break;
      try {
        job.function(job.context, piece * job.grain, std::min(job.n, (piece + 1) * job.grain));
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (job.error == nullptr) job.error = std::current_exception();
      }
    }
    inside_piece = before;
  }

  void Work() {
    std::unique_lock lock(mutex);
    for (;;) {
      work.wait(lock, [&] { return job != nullptr && job->next.load(std::memory_order_relaxed) < job->pieces; });
      Job& mine = *job;
      ++mine.users;
      lock.unlock();
      {
        const reference::CarriedState::Use use(mine.state);
        RunJob(mine);
      }
      lock.lock();
      if (--mine.users == 0) done.notify_one();
    }
  }

  void Run(Job& mine) {
    {
      const std::lock_guard lock(mutex);
      for (const int wanted = threads.load(std::memory_order_relaxed) - 1; started < wanted; ++started) {
        std::thread([this] { Work(); }).detach();
      }
      job = &mine;
    }
    work.notify_all();
    RunJob(mine);
    std::unique_lock lock(mutex);
    job = nullptr;  // a worker that has not come yet is not waited for
    done.wait(lock, [&] { return mine.users == 0; });
  }
};

std::atomic<Pool*> pool{nullptr};

Pool& ThePool() {
  Pool* known = pool.load(std::memory_order_acquire);
  if (known != nullptr) return *known;
  // A child of a fork has none of the workers, and perhaps a mutex that one of them held.
  static const int registered =
      pthread_atfork(nullptr, nullptr, [] { pool.store(nullptr, std::memory_order_relaxed); });
  static_cast<void>(registered);
  Pool* const made = new Pool;
  if (pool.compare_exchange_strong(known, made, std::memory_order_acq_rel)) return *made;
  delete made;
  return *known;
}

}  // namespace

int Threads() { return ThePool().threads.load(std::memory_order_relaxed); }

void SetThreads(int threads) { ThePool().threads.store(std::max(1, threads), std::memory_order_relaxed); }

namespace internal {

void RunPieces(std::int64_t n, std::int64_t grain, PieceFunction function, void* context) {
  Pool& pool = ThePool();
  std::unique_lock<std::mutex> busy;
  if (!inside_piece) busy = std::unique_lock(pool.submit, std::try_to_lock);
  if (!busy.owns_lock()) {
    for (std::int64_t begin = 0; begin < n; begin += grain) function(context, begin, std::min(n, begin + grain));
    return;
  }
  Job job{function, context, n, grain, (n + grain - 1) / grain, reference::CarriedState(), {}, 0, nullptr};
  pool.Run(job);
  if (job.error != nullptr) std::rethrow_exception(job.error);
}

}  // namespace internal

}  // namespace plumbline::kernels::cpu
