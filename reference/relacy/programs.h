// Small programs of threads that call, register and release, for relacy.
//
//   settings = {.fence = Fence::kFences};
//   Outcome outcome = RunUnderRelacy<Core, 2>(Program::kFill, kAllOrders, nullptr);
//
// One thread: relacy runs the program's threads itself, one at a time.
#ifndef PLUMBLINE_REFERENCE_RELACY_PROGRAMS_H_
#define PLUMBLINE_REFERENCE_RELACY_PROGRAMS_H_

#include "reference/relacy/operator_model.h"
#include "reference/relacy/relacy_policy.h"

namespace plumbline::reference {

enum class Program {
  kOverride,  // a kernel is overridden, and shows again when the newer one is released
  kRelease,   // the kernel that calls use is released, and nothing serves any more
  kFill,      // slots are filled while kernels change
  kReturned,  // what a thread learns was registered, or released, it goes by
  kLate,      // threads come while a kernel is replaced
  kWriters,   // two writers, who also call
};
constexpr Program kPrograms[] = {Program::kOverride, Program::kRelease, Program::kFill,
                                 Program::kReturned, Program::kLate,    Program::kWriters};
constexpr const char* kNames[] = {"override", "release", "fill", "returned", "late", "writers"};
inline const char* Name(Program program) { return kNames[static_cast<int>(program)]; }

inline Program program_now;

// Thread 0 writes. Kernel 1 serves from the start.
template <class Core, int kThreads>
class Run : public rl::test_suite<Run<Core, kThreads>, kThreads> {
 public:
  void before() {
    op_ = RelacyWorld::New<Op>();
    done_ = RelacyWorld::New<Flag>(0);
    if (program_now != Program::kLate) {
      for (int i = 0; i < kThreads; ++i) op_->Enter(i);
    }
    first_ = op_->Register(1, program_now == Program::kOverride ? Life::kPermanent : Life::kReleasable);
    if (program_now != Program::kFill) CallAndExpect(0, 1, 1);
  }
  void after() {
    RelacyWorld::Delete(done_);
    RelacyWorld::Delete(op_);
  }
  void thread(unsigned index) {
    if (index == 0) {
      Write();
    } else {
      Read(static_cast<int>(index));
    }
  }

 private:
  using Op = OperatorModel<Core, RelacyWorld, kThreads>;
  using Flag = typename Core::template Atomic<int>;

  void Write() {
    switch (program_now) {
      case Program::kOverride:
        return op_->Release(op_->Register(2, Life::kReleasable));
      case Program::kRelease:
        return op_->Release(first_);
      case Program::kFill:
        op_->Register(2, Life::kReleasable);
        return CallAndExpect(0, 2, 2);
      case Program::kReturned:
        op_->Register(2, Life::kPermanent);
        done_->store(1, std::memory_order_release);
        return op_->Release(first_);
      case Program::kLate:
        op_->Register(2, Life::kReleasable);
        return op_->Release(first_);
      case Program::kWriters:
        op_->Release(first_);
        return CallAndExpect(0, 0, 2);
    }
  }
  void Read(int thread) {
    switch (program_now) {
      case Program::kOverride:
      case Program::kFill:
        CallAndExpect(thread, 1, 2);
        if (kThreads == 2) CallAndExpect(thread, 1, 2);
        return;
      case Program::kRelease:
        CallAndExpect(thread, 0, 1);
        if (kThreads == 2) CallAndExpect(thread, 0, 1);
        return;
      case Program::kReturned:
        return CallAndExpect(thread, done_->load(std::memory_order_acquire) == 1 ? 2 : 1, 2);
      case Program::kLate:
        op_->Enter(thread);
        return CallAndExpect(thread, 1, 2);
      case Program::kWriters:
        op_->Register(2, Life::kReleasable);
        return CallAndExpect(thread, 2, 2);
    }
  }
  void CallAndExpect(int thread, int one, int other) {
    const int value = op_->Call(thread);
    RelacyWorld::Check(value == one || value == other);
  }

  Op* op_;
  typename Op::KernelModel* first_;
  Flag* done_;
};

struct Outcome {
  bool good;
  const char* what;
  rl::iteration_t executions;  // up to the one that failed
};

inline constexpr rl::iteration_t kAllOrders = 0;  // all with up to two preemptions

// `executions` at random, or kAllOrders. A failure's steps go to `steps`.
template <class Core, int kThreads>
Outcome RunUnderRelacy(Program program, rl::iteration_t executions, std::ostream* steps) {
  static std::ofstream nowhere("/dev/null");
  program_now = program;
  rl::test_params params;
  params.search_type = executions == kAllOrders ? rl::sched_bound : rl::sched_random;
  params.context_bound = 2;
  params.iteration_count = executions == kAllOrders ? 100'000'000 : executions;
  params.execution_depth_limit = 20'000;
  params.output_stream = steps != nullptr ? steps : &nowhere;
  params.progress_stream = &nowhere;
  const bool good = rl::simulate<Run<Core, kThreads>>(params);
  return {good, rl::test_result_str(params.test_result), params.stop_iteration};
}

}  // namespace plumbline::reference

#endif  // PLUMBLINE_REFERENCE_RELACY_PROGRAMS_H_
