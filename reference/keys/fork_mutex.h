// A mutex that no fork finds held: all of them are taken around a fork, so that in the child each can be locked and
// what it guards is whole, whatever the other threads were doing.
//
//   static auto& mutex = *new ForkMutex(ForkRank::kTables);
//   const std::lock_guard lock(mutex);
//
// They are taken in the order of their ranks, so a thread that holds one may lock another only of a higher rank. In the
// child, whose only thread is the one that forked, `in_child` is then called, with the mutex held. Made, locked and
// destroyed by any thread; never made or destroyed while one is held.
#ifndef PLUMBLINE_REFERENCE_KEYS_FORK_MUTEX_H_
#define PLUMBLINE_REFERENCE_KEYS_FORK_MUTEX_H_

#include <mutex>

namespace plumbline::reference {

enum class ForkRank { kRegistry, kTables, kTensors, kThreads, kMemory };

class ForkMutex {
 public:
  explicit ForkMutex(ForkRank rank, void (*in_child)(void* context) = nullptr, void* context = nullptr);
  ForkMutex(const ForkMutex&) = delete;
  ForkMutex& operator=(const ForkMutex&) = delete;
  ~ForkMutex();

  void lock() { mutex_.lock(); }
  bool try_lock() { return mutex_.try_lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  friend struct ForkMutexes;
  std::mutex mutex_;
  const ForkRank rank_;
  void (*const in_child_)(void* context);
  void* const context_;
};

}  // namespace plumbline::reference

#endif  // PLUMBLINE_REFERENCE_KEYS_FORK_MUTEX_H_
