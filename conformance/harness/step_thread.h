// A thread of a scenario: it does one thing at a time, when it is told to.
//
//   StepThread thread;
//   thread.Do([&] { RunStep(step); });   // returns when it is done; what it throws is thrown here
//
// Owned by one thread, which alone calls Do. Ends when destroyed.
#ifndef PLUMBLINE_CONFORMANCE_HARNESS_STEP_THREAD_H_
#define PLUMBLINE_CONFORMANCE_HARNESS_STEP_THREAD_H_

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

namespace plumbline::harness {

class StepThread {
 public:
  StepThread();
  ~StepThread();
  StepThread(const StepThread&) = delete;
  StepThread& operator=(const StepThread&) = delete;

  void Do(const std::function<void()>& work);

 private:
  void Loop();

  std::mutex mutex_;
  std::condition_variable changed_;
  const std::function<void()>* work_ = nullptr;  // null: done
  std::exception_ptr thrown_;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace plumbline::harness

#endif  // PLUMBLINE_CONFORMANCE_HARNESS_STEP_THREAD_H_
