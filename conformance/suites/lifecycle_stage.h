// Programs in which processes, threads and libraries end, each run in a process of its own whose exit status is the
// verdict.
//
//   PL_CASE("lifecycle", "exit-in-a-kernel", Tier::kQuick, PL_CLAUSES("CONC-025"), kLifecycle) {
//     RunProgram(ctx, [](Stage& stage) {
//       stage.Define("life::f");
//       stage.Impl("life::f", stage.NewKernel(1, [] { std::exit(0); }));
//       stage.Call("life::f");
//     });
//   }
//
// The program runs on the main thread of a child of the executor, once in the process-wide registry and, where the
// backend claims it, once in a fresh one. When it returns the child calls exit(0). It passes if the status is 0 and no
// Expect failed; a signal or another status is a crash, with what was printed. The children that it forks end the same
// way; none outlives it.
//
// Methods may be called on any thread. A Stage and its kernels are never freed, so that whatever runs at the end of the
// process may use them.
#ifndef PLUMBLINE_CONFORMANCE_SUITES_LIFECYCLE_STAGE_H_
#define PLUMBLINE_CONFORMANCE_SUITES_LIFECYCLE_STAGE_H_

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "conformance/harness/backend_facts.h"
#include "conformance/harness/case.h"
#include "spec/abi/abi.h"

namespace plumbline::suites {

struct PluginHost;

inline constexpr std::uint64_t kLifecycle = PL_CAPABILITY(CORE) | PL_CAPABILITY(BOXED);

// A kernel of the host's: pushes its value, after running its body.
struct StageKernel {
  std::int64_t value = 0;
  std::function<void()> body{}, at_destroy{};
  std::atomic<int> entered{0}, running{0}, destroyed{0};
};

// What a call came to.
struct StageAnswer {
  std::uint32_t error_class = PL_ERROR_NONE;
  std::string message{};
  std::int64_t value = -1;
  bool Is(std::int64_t wanted) const { return error_class == PL_ERROR_NONE && value == wanted; }
  std::string Words() const;
};

class Stage {
 public:
  Stage(const pl_adapter& adapter, const harness::BackendFacts& facts, harness::Tier tier, bool fresh,
        std::chrono::milliseconds limit, int notes);

  const pl_adapter& adapter() const { return adapter_; }
  pl_registry* registry() const { return registry_; }
  bool Claims(std::uint64_t capabilities) const { return facts_.Claims(capabilities); }
  // As many in the standard tier; a tenth in quick, ten times in full.
  int Rounds(int standard) const;
  // No more rounds should begin: half of the time is gone.
  bool Late() const;

  // Ends the process, and fails the case, with `what` unless it holds.
  void Expect(bool holds, const std::string& what);

  // ---- the registry; what must succeed is expected to ----
  void Open();
  void Close();
  StageKernel& NewKernel(std::int64_t value, std::function<void()> body = nullptr);
  pl_registration* Define(std::string_view name);                     // name(Tensor a, Tensor b) -> int
  std::uint32_t DefineError(std::string_view name);                   // of one that is to be refused
  pl_registration* Impl(std::string_view name, StageKernel& kernel);  // at CPU
  void TryOverride(std::string_view name, StageKernel& kernel);  // registers at CPU and releases, if it is not refused
  void Release(pl_registration* registration);
  pl_operator* Find(std::string_view name);
  std::uint32_t FindError(std::string_view name);  // the class of a find's error, or PL_ERROR_NONE
  void GiveBack(pl_operator* op) { adapter_.operator_release(op); }
  StageAnswer Call(pl_operator* op, bool typed = false);
  StageAnswer Call(std::string_view name);
  void ExpectCall(std::string_view name, std::int64_t value, const char* when);
  void ExpectGone(pl_operator* op, std::string_view name,
                  const char* when);  // invalid-handle, and it names the operator
  void Drain();
  std::vector<std::string> Operators();
  pl_guard* Exclude(std::string_view key);

  // ---- processes ----
  pid_t Fork();                                    // 0 in the child, which ends with its parent
  pid_t Fork(const std::function<void()>& child);  // the child then calls exit(0)
  void Wait(pid_t child, const std::string& who);  // it is expected to leave with status 0, in time

  // When the process ends, after all that the backend has for the end: this place was taken before it was loaded.
  void AtVeryEnd(std::function<void()> run);

  // ---- plug-ins: lifecycle_plugin.h ----
  PluginHost& NewPlugin(const char* operator_name, std::int64_t value);
  void* Load(int which);  // 0 or 1
  void Unload(void* library, int which);
  template <class F>
  F* Symbol(void* library, const char* name) {
    return reinterpret_cast<F*>(SymbolOf(library, name));
  }

  int notes() const { return notes_; }

 private:
  [[noreturn]] void Leave(int status, const std::string& why);

  void Take(pl_error* error, const std::string& what);
  void* SymbolOf(void* library, const char* name);

  const pl_adapter& adapter_;
  const harness::BackendFacts& facts_;
  const harness::Tier tier_;
  const bool fresh_;
  const std::chrono::steady_clock::time_point start_;
  const std::chrono::milliseconds limit_;
  const int notes_;  // a file for what was expected and is not so
  pl_registry* registry_ = nullptr;
  pl_key cpu_ = PL_NO_KEY;
  pl_tensor* tensor_ = nullptr;
};

// Threads that are joined when this goes.
class Threads {
 public:
  ~Threads() { Join(); }
  template <class F>
  void Start(F run) {
    threads_.emplace_back(std::move(run));
  }
  void Join() {
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

 private:
  std::vector<std::thread> threads_;
};

using StageProgram = void (*)(Stage&);
void RunProgram(harness::CaseContext& ctx, StageProgram program, int exit_status = 0);

}  // namespace plumbline::suites

#endif  // PLUMBLINE_CONFORMANCE_SUITES_LIFECYCLE_STAGE_H_
