#include "reference/keys/fork_mutex.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <vector>

#include "reference/faults/faults.h"
#include "reference/keys/make_once.h"

namespace plumbline::reference {

// Never destroyed: a process may fork while it ends.
struct ForkMutexes {
  std::mutex mutex;  // of the list; taken first
  std::vector<ForkMutex*> all;

  static ForkMutexes& Get() {
    static constinit std::atomic<ForkMutexes*> mutexes{nullptr};
    return MakeOnce(mutexes, [] { return new ForkMutexes; });
  }

  static bool LeftOut(const ForkMutex& one) {
    return PLUMBLINE_FAULT(fork_takes_no_locks) && one.rank_ == ForkRank::kRegistry;
  }

  void Lock() {
    mutex.lock();
    for (ForkMutex* one : all) {
      if (!LeftOut(*one)) one->lock();
    }
  }

  void Unlock(bool child) {
    for (ForkMutex* one : all) {
      if (child && PLUMBLINE_FAULT(child_keeps_the_locks) && one->rank_ == ForkRank::kRegistry) continue;
      if (LeftOut(*one)) continue;
      if (child && one->in_child_ != nullptr) one->in_child_(one->context_);
      one->unlock();
    }
    mutex.unlock();
  }
};

namespace {

[[maybe_unused]] const int handled =
    pthread_atfork([] { ForkMutexes::Get().Lock(); }, [] { ForkMutexes::Get().Unlock(false); },
                   [] { ForkMutexes::Get().Unlock(true); });

}  // namespace

ForkMutex::ForkMutex(ForkRank rank, void (*in_child)(void* context), void* context)
    : rank_(rank), in_child_(in_child), context_(context) {
  ForkMutexes& mutexes = ForkMutexes::Get();
  const std::lock_guard lock(mutexes.mutex);
  const auto at = std::upper_bound(mutexes.all.begin(), mutexes.all.end(), rank_,
                                   [](ForkRank mine, const ForkMutex* other) { return mine < other->rank_; });
  mutexes.all.insert(at, this);
}

ForkMutex::~ForkMutex() {
  ForkMutexes& mutexes = ForkMutexes::Get();
  const std::lock_guard lock(mutexes.mutex);
  std::erase(mutexes.all, this);
}

}  // namespace plumbline::reference
