// Runs registry/publication.h under relacy: programs with both kinds of fence, of two threads to exhaustion and of
// three at random; and wrong variants of it, each of which some program has to fail. Prints a line for each run; exit
// status 1 if one is not as it has to be.
//
//   publication_relacy_test [--quick] [--history VARIANT]
//
// --quick leaves out three threads and the variants; --history shows how a variant fails, step by step.

#include <cstring>
#include <string>
#include <vector>

#include "reference/relacy/operator_model.h"
#include "reference/relacy/relacy_policy.h"

namespace plumbline::reference {
namespace {

// ---- programs ----

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
const char* Name(Program program) { return kNames[static_cast<int>(program)]; }

Program program_now;

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

// ---- steps in a wrong order ----

enum class Steps {
  kRight,
  kUnmarksEarly,      // before the slot is loaded
  kCountsLate,        // after the section
  kLoadsTwoTables,    // one for the mask, one for the slot
  kFreesFirst,        // before Synchronize
  kEndsUseFirst,      // the registration's use of the kernel, before Synchronize
  kSkipsTheLastMark,  // in Synchronize
};
Steps steps_now = Steps::kRight;

struct WrongSteps : Publication<RelacyPolicy> {
  using Base = Publication<RelacyPolicy>;
  template <class Kernel>
  static void Count(std::uintptr_t word) {
    if ((word & kCounted) != 0) BeginUse(reinterpret_cast<const Kernel*>(word & ~kSlotFormBits)->references);
  }
  template <class Kernel, class Table, class Select>
  static std::uintptr_t Find(Mark& mark, const Atomic<Table*>& published, Select&& select) {
    BeginRead(mark);
    const Table* table = Load(published);
    if (steps_now == Steps::kUnmarksEarly) EndRead(mark);
    const Slot* slot = &select(*table);
    if (steps_now == Steps::kLoadsTwoTables) slot = &Load(published)->slot;
    const std::uintptr_t word = LoadSlot(*slot);
    if (steps_now != Steps::kCountsLate) Count<Kernel>(word);
    if (steps_now != Steps::kUnmarksEarly) EndRead(mark);
    if (steps_now == Steps::kCountsLate) Count<Kernel>(word);
    return word;
  }
  template <class Visit, class Free, class Kernels, class Drop>
  static void Reclaim(Visit&& visit, Free&& free, const Kernels& kernels, Drop&& drop) {
    if (steps_now == Steps::kFreesFirst) free();
    if (steps_now == Steps::kEndsUseFirst) {
      for (const auto& kernel : kernels) drop(kernel);
    }
    int left = steps_now == Steps::kSkipsTheLastMark ? 1 : 100;
    Synchronize([&](auto&& each) {
      visit([&](const Mark& mark) {
        if (left-- > 0) each(mark);
      });
    });
    if (steps_now != Steps::kFreesFirst) free();
    if (steps_now != Steps::kEndsUseFirst) {
      for (const auto& kernel : kernels) drop(kernel);
    }
  }
};

// ---- running them ----

struct Variant {
  const char* name;
  RelacySettings settings;
  Steps steps = Steps::kRight;
};

const std::vector<Variant>& WrongVariants() {
  using enum std::memory_order;
  constexpr Fence kFences = Fence::kFences;
  // With fences: relacy's system-wide fence orders more than membarrier(2) does, also what other threads do after it.
  const auto changed = [](Role role, Access access, std::memory_order from, std::memory_order to) {
    RelacySettings changed = {.fence = Fence::kFences};
    changed.change = {role, access, from, to};
    return changed;
  };
  static const std::vector<Variant> variants = {
      {"no membarrier", {.writer_fence = false}},
      {"no fence of the writer", {.fence = kFences, .writer_fence = false}},
      {"no fence of the reader", {.fence = kFences, .reader_fence = false}},
      {"a seq_cst mark in place of the reader's fence",
       {.fence = kFences, .reader_fence = false, .change = {{Role::kMark, Access::kStore, relaxed, seq_cst}}}},
      {"publishes relaxed", changed(Role::kPointer, Access::kStore, release, relaxed)},
      {"loads the table relaxed", changed(Role::kPointer, Access::kLoad, acquire, relaxed)},
      {"unmarks relaxed", changed(Role::kMark, Access::kStore, release, relaxed)},
      {"reads the marks relaxed", changed(Role::kMark, Access::kLoad, acquire, relaxed)},
      {"ends a use without release", changed(Role::kUses, Access::kEndUse, acq_rel, acquire)},
      {"ends a use without acquire", changed(Role::kUses, Access::kEndUse, acq_rel, release)},
      {"unmarks before it loads the slot", {}, Steps::kUnmarksEarly},
      {"unmarks before it loads the slot, fences", {.fence = kFences}, Steps::kUnmarksEarly},
      {"counts after the section", {}, Steps::kCountsLate},
      {"mask and slot of two tables", {}, Steps::kLoadsTwoTables},
      {"frees before it synchronizes", {}, Steps::kFreesFirst},
      {"frees before it synchronizes, fences", {.fence = kFences}, Steps::kFreesFirst},
      {"ends the registration's use before it synchronizes", {}, Steps::kEndsUseFirst},
      {"does not wait for one of the threads", {}, Steps::kSkipsTheLastMark},
  };
  return variants;
}

bool failed = false;

void Report(bool good, const std::string& text) {
  failed |= !good;
  std::cout << (good ? "ok    " : "FAIL  ") << text << std::endl;
}

// Relacy's account of a failure goes to `output`.
template <class Test>
bool Simulate(rl::test_params& params, std::ostream* output) {
  static std::ofstream nowhere("/dev/null");
  params.output_stream = output != nullptr ? output : &nowhere;
  params.progress_stream = &nowhere;
  params.execution_depth_limit = 20'000;
  return rl::simulate<Test>(params);
}

template <int kThreads>
void MustPass(Program program) {
  program_now = program;
  rl::test_params params;
  params.search_type = kThreads == 2 ? rl::sched_bound : rl::sched_random;
  params.context_bound = 2;
  params.iteration_count = kThreads == 2 ? 100'000'000 : 300'000;
  const bool good = Simulate<Run<Publication<RelacyPolicy>, kThreads>>(params, nullptr);
  Report(good, std::string(settings.fence == Fence::kFences ? "fences" : "membarrier") + ", " + Name(program) + ", " +
                   std::to_string(kThreads) + " threads: " + std::to_string(params.stop_iteration) +
                   (kThreads == 2 ? " executions, all with up to 2 preemptions" : " executions at random") +
                   (good ? "" : std::string(": ") + rl::test_result_str(params.test_result)));
}

void MustPass(bool quick) {
  for (const Fence fence : {Fence::kMembarrier, Fence::kFences}) {
    settings = {.fence = fence};
    for (const Program program : kPrograms) MustPass<2>(program);
    if (quick) continue;
    for (const Program program : {Program::kOverride, Program::kFill}) MustPass<3>(program);
  }
}

template <class Core, int kThreads>
bool Fails(const char* variant, Program program, std::ostream* output) {
  program_now = program;
  rl::test_params params;
  params.search_type = rl::sched_random;
  params.iteration_count = 20'000;
  if (Simulate<Run<Core, kThreads>>(params, output)) return false;
  Report(true, std::string(variant) + ": " + rl::test_result_str(params.test_result) + " in " + Name(program) + ", " +
                   std::to_string(kThreads) + " threads, execution " + std::to_string(params.stop_iteration));
  return true;
}

void MustFail(const Variant& variant, std::ostream* output) {
  settings = variant.settings;
  steps_now = variant.steps;
  for (const Program program : kPrograms) {
    if (Fails<WrongSteps, 2>(variant.name, program, output)) return;
  }
  for (const Program program : kPrograms) {
    if (Fails<WrongSteps, 3>(variant.name, program, output)) return;
  }
  Report(false, std::string(variant.name) + ": no program fails");
}

int Main(bool quick, const char* history) {
  if (history == nullptr) MustPass(quick);
  if (quick) return failed ? 1 : 0;
  bool known = history == nullptr;
  for (const Variant& variant : WrongVariants()) {
    if (history != nullptr && std::strcmp(history, variant.name) != 0) continue;
    known = true;
    MustFail(variant, history != nullptr ? &std::cout : nullptr);
  }
  if (!known) std::cerr << "publication_relacy_test: there is no variant '" << history << "'\n";
  return known ? failed : 2;
}

}  // namespace
}  // namespace plumbline::reference

int main(int argc, char** argv) {
  bool quick = false;
  const char* history = nullptr;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--quick") == 0) {
      quick = true;
    } else if (std::strcmp(argv[i], "--history") == 0 && i + 1 < argc) {
      history = argv[++i];
    } else {
      std::cerr << "usage: publication_relacy_test [--quick] [--history VARIANT]\n";
      return 2;
    }
  }
  return plumbline::reference::Main(quick, history);
}
