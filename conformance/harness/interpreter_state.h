// The state of a scenario that runs, and the parts that interpreter*.cc implement. Internal to them.
//
//   auto interpreter = std::make_shared<Interpreter>(adapter, scenario, keys, options, suffix);
//   Interpretation done = interpreter->Run();
//
// A scenario's threads run one at a time, so nothing here is locked. Probes own the interpreter: it lives as long as
// the backend may call one.
#ifndef PLUMBLINE_CONFORMANCE_HARNESS_INTERPRETER_STATE_H_
#define PLUMBLINE_CONFORMANCE_HARNESS_INTERPRETER_STATE_H_

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "conformance/harness/host_values.h"
#include "conformance/harness/interpreter.h"
#include "conformance/harness/renaming.h"
#include "conformance/harness/step_thread.h"
#include "spec/abi/host.h"
#include "spec/scenario/limits.h"
#include "spec/scenario/schema.h"

namespace plumbline::harness {

// What went wrong, in the model's terms.
struct Failure {
  std::string error_class;
  std::string message;
};
using MaybeFailure = std::optional<Failure>;

inline Failure NotFound(const char* what, const std::string& name) {
  return {"not-found", fmt::format("the scenario has no {} called {}", what, name)};
}
inline Failure Released(const std::string& name) {
  return {"invalid-handle", fmt::format("{} was released before", name)};
}
inline Failure Taken(const std::string& name) {
  return {"invalid-argument", fmt::format("the name {} is in use already", name)};
}

class Interpreter;

// What the host hands out as a kernel's context. It outlives the scenario if the backend does not destroy it, so that a
// late or a second destruction is counted and not followed into freed memory.
struct ProbeContext {
  std::shared_ptr<Interpreter> owner;
  std::string kernel;
  const scenario::KernelDefinition* definition = nullptr;  // null: an empty body
  std::uint32_t signature = PL_SIGNATURE_none;             // of a typed kernel
  std::atomic<int> destroyed{0};
};

struct Named {  // a library, guard or registration under its name
  enum class State { kLive, kGone } state = State::kLive;
};

struct RegistrationSlot : Named {
  pl_registration* handle = nullptr;
};
struct LibrarySlot : Named {
  pl_library* handle = nullptr;
  std::string name_space;  // renamed
};
struct GuardSlot : Named {
  pl_guard* handle = nullptr;
  std::string thread;
};

struct Heard {
  Interpreter* owner = nullptr;
  std::vector<std::string> events;
};

// A kernel's body while it runs.
struct Body {
  pl_frame& frame;
  std::vector<HostValue> arguments;
  std::vector<HostValue> inner;  // what the last redispatch or call returned
  std::vector<pl_guard*> guards;
  bool returned = false;
};

class Interpreter : public std::enable_shared_from_this<Interpreter> {
 public:
  Interpreter(const pl_adapter& adapter, const scenario::Scenario& scenario, const model::KeyTable& keys,
              const InterpretOptions& options, const std::string& suffix)
      : adapter_(adapter), scenario_(scenario), keys_(keys), options_(options), renaming_(scenario_, suffix) {
    for (const scenario::KernelDefinition& kernel : scenario_.kernels) definitions_[kernel.name] = &kernel;
  }

  Interpretation Run();

  static pl_error* RunProbe(void* context, pl_frame* frame);
  static void DestroyProbe(void* context) { ++static_cast<ProbeContext*>(context)->destroyed; }
  bool AllDestroyedOnce() const {
    return std::all_of(probes_.begin(), probes_.end(), [](const auto& probe) { return probe->destroyed == 1; });
  }
  void ForgetProbes() { probes_.clear(); }

 private:
  // ---- the ABI, with errors as values ----
  MaybeFailure Take(pl_error* error);
  MaybeFailure Missing(const char* entry) {
    return Failure{"unsupported", fmt::format("the backend's table has no entry {}", entry)};
  }
  MaybeFailure InternKey(const std::string& name, pl_key& out);
  MaybeFailure InternKeys(const std::vector<std::string>& names, std::vector<pl_key>& out);
  void NameAllKeys();
  std::string KeyName(pl_key key);
  std::vector<std::string> KeyNames(const pl_key* data, std::uint64_t size);

  // ---- values ----
  MaybeFailure Make(const scenario::Value& value, HostValue& out);
  MaybeFailure Make(const std::vector<scenario::Value>& values, std::vector<HostValue>& out);
  scenario::Value Observe(const pl_value& value);
  scenario::Value Observe(const HostValue& value);
  bool IsUndefined(pl_tensor* tensor);
  void TellArguments(std::vector<scenario::Value>& returns, const std::vector<HostValue>& results,
                     const std::vector<HostValue>& arguments);

  // ---- steps ----
  scenario::Outcome RunStep(const scenario::Step& step, const std::string& thread);
  scenario::Outcome Fail(Failure failure);
  scenario::Outcome Act(const scenario::Chain& step, const scenario::Step& whole);
  scenario::Outcome Act(const scenario::LibraryOpen& step, const scenario::Step& whole);
  scenario::Outcome Act(const scenario::LibraryClose& step, const scenario::Step& whole);
  scenario::Outcome Act(const scenario::Define& step, const scenario::Step& whole);
  scenario::Outcome Act(const scenario::Impl& step, const scenario::Step& whole);
  scenario::Outcome Act(const scenario::Fallback& step, const scenario::Step& whole);
  scenario::Outcome Act(const scenario::Listen& step, const scenario::Step& whole);
  scenario::Outcome Act(const scenario::Release& step, const scenario::Step& whole);
  scenario::Outcome Act(const scenario::Drain& step, const scenario::Step& whole);
  scenario::Outcome Act(const scenario::Find& step, const scenario::Step& whole);
  scenario::Outcome Act(const scenario::Call& step, const scenario::Step& whole);
  scenario::Outcome Act(const scenario::GuardEnter& step, const scenario::Step& whole);
  scenario::Outcome Act(const scenario::GuardLeave& step, const scenario::Step& whole);
  scenario::Outcome Act(const scenario::Flush& step, const scenario::Step& whole);
  scenario::Outcome Act(const scenario::Query& step, const scenario::Step& whole);
  scenario::Outcome QueryList(std::uint32_t which, pl_key key);
  scenario::Outcome QueryTable(const std::string& operator_name);

  MaybeFailure FindLibrary(const std::string& name, LibrarySlot*& out);
  bool NameIsLive(const std::string& name) const;
  std::string Place(const scenario::Step& step, const std::string& handle);
  void Keep(const std::string& name, pl_registration* handle);
  scenario::Outcome Made(const std::string& name, pl_registration* handle);  // keeps it; warned or not
  template <class Use, class Enter>
  scenario::Outcome Register(const Use& step, const scenario::Step& whole, const Enter& enter);
  // Makes the kernel of a use; the context is counted as handed out.
  MaybeFailure MakeKernel(const scenario::KernelUse& use, const std::string& place, pl_kernel& out);

  // ---- calls ----
  MaybeFailure CallOperator(const std::string& operator_name, pl_operator* known, scenario::CallForm form,
                            const std::string& signature, const std::vector<HostValue>& arguments, HostValues& results);
  pl_error* RunBody(const ProbeContext& probe, pl_frame& frame);
  MaybeFailure RunItems(const ProbeContext& probe, Body& body);
  MaybeFailure Do(const scenario::BodyGuard& item, const ProbeContext& probe, Body& body);
  MaybeFailure Do(const scenario::BodyRedispatch& item, const ProbeContext& probe, Body& body);
  MaybeFailure Do(const scenario::BodyCall& item, const ProbeContext& probe, Body& body);
  MaybeFailure Do(const scenario::BodyThrow& item, const ProbeContext& probe, Body& body);
  MaybeFailure Do(const scenario::BodyReturn& item, const ProbeContext& probe, Body& body);
  MaybeFailure Do(const scenario::BodyStep& item, const ProbeContext& probe, Body& body);
  MaybeFailure RefuseInner();  // a call that a kernel is about to make
  MaybeFailure CutBelow(const std::string& key, const pl_frame& frame, std::vector<std::string>& names);
  MaybeFailure Push(const pl_frame& frame, const HostValue& value);
  MaybeFailure PushZeros(const pl_frame& frame, const std::vector<HostValue>& arguments);
  pl_error* Raise(Failure failure);

  void CleanUp();
  void OnThread(const std::string& thread, const std::function<void()>& work);

  const pl_adapter& adapter_;
  const scenario::Scenario scenario_;  // a copy: probes may outlive the caller's
  const model::KeyTable& keys_;
  const InterpretOptions& options_;
  const Renaming renaming_;
  std::map<std::string, const scenario::KernelDefinition*> definitions_;

  pl_registry* registry_ = nullptr;
  std::map<std::string, pl_key> interned_;
  std::map<pl_key, std::string> key_names_;
  bool all_named_ = false;
  std::uint64_t undefined_identity_ = 0;

  std::map<std::string, RegistrationSlot> registrations_;
  std::vector<pl_registration*> in_order_;  // every handle still to be released, oldest first
  std::map<std::string, LibrarySlot> libraries_;
  std::map<std::string, GuardSlot> guards_;
  std::vector<std::string> guard_order_;
  std::map<std::string, pl_operator*> found_;
  std::map<std::string, std::unique_ptr<Heard>> listeners_;
  std::map<std::string, std::string> handle_at_place_;
  std::map<std::string, std::vector<scenario::SchemaArgument>> returns_;  // by operator, renamed
  std::map<std::string, pl_cache_counters> counted_;                      // by operator, at its last query
  std::vector<std::unique_ptr<ProbeContext>> probes_;
  std::map<std::string, std::unique_ptr<StepThread>> threads_;

  bool warned_ = false;
  std::vector<scenario::KernelRun> runs_;
  int depth_ = 0;                     // kernels that run inside each other
  scenario::InnerCalls inner_calls_;  // of the step that runs
  std::string current_thread_;
  std::vector<Failure> raised_;  // by payload
  std::string threw_;            // an exception that came out of an entry
  bool over_ = false;
};

// Calls an entry of the table; one that is not there fails as unsupported.
#define PLUMBLINE_CALL(entry, ...) (PL_HAS(&adapter_, entry) ? Take(adapter_.entry(__VA_ARGS__)) : Missing(#entry))

}  // namespace plumbline::harness

#endif  // PLUMBLINE_CONFORMANCE_HARNESS_INTERPRETER_STATE_H_
