#include "conformance/harness/step_thread.h"

#include <utility>

namespace plumbline::harness {

StepThread::StepThread() : thread_([this] { Loop(); }) {}

StepThread::~StepThread() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void StepThread::Do(const std::function<void()>& work) {
  std::unique_lock lock(mutex_);
  work_ = &work;
  changed_.notify_all();
  changed_.wait(lock, [this] { return work_ == nullptr; });
  if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
}

void StepThread::Loop() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return over_ || work_ != nullptr; });
    if (over_) return;
    lock.unlock();
    std::exception_ptr thrown;
    try {
      (*work_)();
    } catch (...) {
      thrown = std::current_exception();
    }
    lock.lock();
    thrown_ = std::move(thrown);
    work_ = nullptr;
    changed_.notify_all();
  }
}

}  // namespace plumbline::harness
