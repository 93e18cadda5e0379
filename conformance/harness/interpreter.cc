#include "conformance/harness/interpreter.h"

#include <exception>
#include <set>
#include <thread>

#include "conformance/harness/interpreter_state.h"

namespace plumbline::harness {
namespace {

using abi::Borrow;
using scenario::Step;
using scenario::Value;

}  // namespace

void Interpreter::CleanUp() {
  while (!guard_order_.empty()) {
    GuardSlot& guard = guards_[guard_order_.back()];
    guard_order_.pop_back();
    OnThread(guard.thread, [&] { adapter_.guard_leave(guard.handle); });
  }
  threads_.clear();
  while (!in_order_.empty()) {
    pl_registration* last = in_order_.back();
    in_order_.pop_back();
    PLUMBLINE_CALL(release, last);
  }
  for (auto& [name, library] : libraries_) {
    if (library.state == Named::State::kLive) PLUMBLINE_CALL(library_close, library.handle);
  }
  for (const auto& [name, op] : found_) adapter_.operator_release(op);
  if (PL_HAS(&adapter_, warnings_to)) PLUMBLINE_CALL(warnings_to, registry_, pl_string_sink{nullptr, nullptr});
  if (PL_HAS(&adapter_, drain)) PLUMBLINE_CALL(drain, registry_);
  adapter_.close(registry_);
}

Interpretation Interpreter::Run() {
  Interpretation done;
  try {
    // Counting hits may send calls another way through the backend, so it is asked for only where it is looked at.
    const bool counts = std::any_of(scenario_.steps.begin(), scenario_.steps.end(), [](const Step& step) {
      const auto* query = std::get_if<scenario::Query>(&step.action);
      return query != nullptr && query->kind == scenario::QueryKind::kCounters;
    });
    const std::vector<pl_key_declaration> keys = LendKeys(scenario_.declared_keys);
    pl_open_options open{};
    open.struct_size = sizeof open;
    open.mode = options_.fresh ? PL_OPEN_FRESH : PL_OPEN_PROCESS;
    open.release = Borrow(scenario_.release);
    open.count_hits = counts ? 1 : 0;
    open.keys = keys.data();
    open.key_count = keys.size();
    if (MaybeFailure failure = PLUMBLINE_CALL(open, &open, &registry_)) {
      done.refused = fmt::format("{} ({})", failure->message, failure->error_class);
      done.refused_class = failure->error_class;
      return done;
    }
    {
      HostValue undefined;
      if (!Make(Value::Undefined(), undefined)) {
        undefined_identity_ = adapter_.tensor_identity(undefined.tensor.get());
      }
    }
    if (PL_HAS(&adapter_, warnings_to)) {
      const pl_string_sink sink{this,
                                [](void* context, pl_string) { static_cast<Interpreter*>(context)->warned_ = true; }};
      PLUMBLINE_CALL(warnings_to, registry_, sink);
    }
    for (std::size_t i = 0; i < scenario_.steps.size(); ++i) {
      if (options_.on_step) options_.on_step(static_cast<int>(i));
      done.outcomes.push_back(RunStep(scenario_.steps[i], scenario_.steps[i].thread));
      runs_.clear();
      raised_.clear();
    }
    if (options_.on_step) options_.on_step(static_cast<int>(scenario_.steps.size()));
    CleanUp();
  } catch (const std::exception& error) {
    threw_ = error.what();
  } catch (...) {
    threw_ = "something that is no std::exception";
  }
  over_ = true;
  done.threw = threw_;
  for (const auto& probe : probes_) {
    ++done.contexts[probe->kernel].made;
    done.contexts[probe->kernel].destroyed += probe->destroyed;
  }
  return done;
}

Interpretation Interpret(const pl_adapter& adapter, const scenario::Scenario& scenario, const model::KeyTable& keys,
                         const InterpretOptions& options) {
  static int scenarios = 0;
  const std::string suffix = options.fresh ? "" : fmt::format("_pl{}x", ++scenarios);
  // What the backend still holds of a scenario is kept for the life of the process: see ProbeContext.
  static std::set<std::shared_ptr<Interpreter>> kept;
  auto interpreter = std::make_shared<Interpreter>(adapter, scenario, keys, options, suffix);
  // Even the main thread is new, so that what one scenario leaves in a thread's state cannot reach the next.
  Interpretation done;
  if (options.own_thread) {
    std::thread([&] { done = interpreter->Run(); }).join();
  } else {
    done = interpreter->Run();
  }
  if (interpreter->AllDestroyedOnce()) {
    interpreter->ForgetProbes();  // they own the interpreter
  } else {
    kept.insert(std::move(interpreter));
  }
  return done;
}

}  // namespace plumbline::harness
