// What is made on first use and never destroyed, without the guard of a function's static variable: a fork may find
// that taken by a thread which the child does not have, and its first use there would wait for ever.
//
//   static constinit std::atomic<Names*> names{nullptr};
//   return MakeOnce(names, [] { return new Names; });
//
// Of two threads that make it at once, one throws its own away. Any thread.
#ifndef PLUMBLINE_REFERENCE_KEYS_MAKE_ONCE_H_
#define PLUMBLINE_REFERENCE_KEYS_MAKE_ONCE_H_

#include <atomic>
#include <memory>

namespace plumbline::reference {

template <class T, class Make>
T& MakeOnce(std::atomic<T*>& made, const Make& make) {
  T* found = made.load(std::memory_order_acquire);
  if (found != nullptr) return *found;
  std::unique_ptr<T> own(make());
  if (made.compare_exchange_strong(found, own.get(), std::memory_order_acq_rel)) found = own.release();
  return *found;
}

}  // namespace plumbline::reference

#endif  // PLUMBLINE_REFERENCE_KEYS_MAKE_ONCE_H_
