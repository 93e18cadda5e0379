#include "conformance/harness/interpreter_state.h"

namespace plumbline::harness {
namespace {

using abi::Borrow;
using scenario::Outcome;
using scenario::Step;

}  // namespace

Outcome Interpreter::Fail(Failure failure) {
  Outcome outcome;
  outcome.error = std::move(failure.error_class);
  outcome.message = std::move(failure.message);
  return outcome;
}

void Interpreter::OnThread(const std::string& thread, const std::function<void()>& work) {
  if (thread == current_thread_) return work();
  const std::string before = std::exchange(current_thread_, thread);
  std::unique_ptr<StepThread>& runner = threads_[thread];
  if (!runner) runner = std::make_unique<StepThread>();
  runner->Do(work);
  current_thread_ = before;
}

Outcome Interpreter::RunStep(const Step& step, const std::string& thread) {
  Outcome outcome;
  OnThread(thread, [&] { outcome = std::visit([&](const auto& action) { return Act(action, step); }, step.action); });
  return outcome;
}

bool Interpreter::NameIsLive(const std::string& name) const {
  if (name.empty()) return false;
  const auto live = [&](const auto& slots) {
    const auto at = slots.find(name);
    return at != slots.end() && at->second.state == Named::State::kLive;
  };
  return live(registrations_) || live(libraries_) || live(guards_) || found_.contains(name);
}

MaybeFailure Interpreter::FindLibrary(const std::string& name, LibrarySlot*& out) {
  out = nullptr;
  if (name.empty()) return std::nullopt;
  const auto at = libraries_.find(name);
  if (at == libraries_.end()) return NotFound("library", name);
  if (at->second.state == Named::State::kGone) return Released(name);
  out = &at->second;
  return std::nullopt;
}

// Every registration has a place of its own, so that a table's winner can be told by it.
std::string Interpreter::Place(const Step& step, const std::string& handle) {
  std::string place = fmt::format("scenario:{}", step.line);
  for (int more = 1; handle_at_place_.contains(place); ++more) place = fmt::format("scenario:{}{:03}", step.line, more);
  handle_at_place_[place] = handle;
  return place;
}

void Interpreter::Keep(const std::string& name, pl_registration* handle) {
  in_order_.push_back(handle);
  if (!name.empty()) registrations_[name] = {{Named::State::kLive}, handle};
}

Outcome Interpreter::Made(const std::string& name, pl_registration* handle) {
  Keep(name, handle);
  Outcome outcome;
  outcome.warned = warned_;
  return outcome;
}

MaybeFailure Interpreter::MakeKernel(const scenario::KernelUse& use, const std::string& place, pl_kernel& out) {
  out = {};
  out.struct_size = sizeof(out);
  out.place = Borrow(place);
  if (use.fallthrough) {
    out.form = PL_KERNEL_FALLTHROUGH;
    return std::nullopt;
  }
  out.form = PL_KERNEL_BOXED;
  if (!use.signature.empty()) {
    out.form = PL_KERNEL_TYPED;
    out.signature = SignatureId(use.signature);
    if (out.signature == PL_SIGNATURE_none) return NotFound("signature", use.signature);
  }
  auto probe = std::make_unique<ProbeContext>();
  probe->owner = shared_from_this();
  probe->kernel = use.kernel;
  probe->signature = out.signature;
  if (const auto definition = definitions_.find(use.kernel); definition != definitions_.end()) {
    probe->definition = definition->second;
  }
  out.function = &Interpreter::RunProbe;
  out.context = probe.get();
  out.destroy = &Interpreter::DestroyProbe;
  probes_.push_back(std::move(probe));
  return std::nullopt;
}

Outcome Interpreter::Act(const scenario::Chain& step, const Step&) {
  if (NameIsLive(step.name)) return Fail(Taken(step.name));
  pl_key key, served_by;
  if (MaybeFailure failure = InternKey(step.key, key)) return Fail(*failure);
  if (MaybeFailure failure = InternKey(step.served_by, served_by)) return Fail(*failure);
  pl_registration* made = nullptr;
  if (MaybeFailure failure = PLUMBLINE_CALL(chain_declare, registry_, key, served_by, &made)) return Fail(*failure);
  Keep(step.name, made);
  return {};
}

Outcome Interpreter::Act(const scenario::LibraryOpen& step, const Step& whole) {
  if (NameIsLive(step.name)) return Fail(Taken(step.name));
  pl_key key = PL_NO_KEY;
  if (step.key) {
    if (MaybeFailure failure = InternKey(*step.key, key)) return Fail(*failure);
  }
  const std::uint32_t kind = step.kind == scenario::LibraryKind::kDef        ? PL_LIBRARY_DEF
                             : step.kind == scenario::LibraryKind::kFragment ? PL_LIBRARY_FRAGMENT
                                                                             : PL_LIBRARY_IMPL;
  const std::string name_space = renaming_.Namespace(step.name_space);
  const std::string place = Place(whole, step.name);
  pl_library* made = nullptr;
  if (MaybeFailure failure =
          PLUMBLINE_CALL(library_open, registry_, kind, Borrow(name_space), key, Borrow(place), &made)) {
    return Fail(*failure);
  }
  libraries_[step.name] = {{Named::State::kLive}, made, name_space};
  return {};
}

Outcome Interpreter::Act(const scenario::LibraryClose& step, const Step&) {
  LibrarySlot* library;
  if (MaybeFailure failure = FindLibrary(step.name, library)) return Fail(*failure);
  if (MaybeFailure failure = PLUMBLINE_CALL(library_close, library->handle)) return Fail(*failure);
  library->state = Named::State::kGone;
  return {};
}

Outcome Interpreter::Act(const scenario::Define& step, const Step& whole) {
  if (NameIsLive(step.name)) return Fail(Taken(step.name));
  LibrarySlot* library;
  if (MaybeFailure failure = FindLibrary(step.library, library)) return Fail(*failure);
  const std::string schema = renaming_.In(step.schema);
  const std::string place = Place(whole, step.name);
  pl_registration* made = nullptr;
  warned_ = false;
  if (MaybeFailure failure = PLUMBLINE_CALL(define, registry_, library != nullptr ? library->handle : nullptr,
                                            Borrow(schema), Borrow(place), &made)) {
    return Fail(*failure);
  }
  if (scenario::SchemaResult parsed = scenario::ParseSchema(schema); parsed.schema) {
    if (parsed.schema->name_space.empty() && library != nullptr) parsed.schema->name_space = library->name_space;
    const std::string name = parsed.schema->FullName();
    returns_[name] = parsed.schema->returns;
    counted_[name] = {};
  }
  return Made(step.name, made);
}

// A kernel at a key, if one is given, and in a library, if one is: an impl or a fallback.
template <class Use, class Enter>
Outcome Interpreter::Register(const Use& step, const Step& whole, const Enter& enter) {
  if (NameIsLive(step.name)) return Fail(Taken(step.name));
  LibrarySlot* library;
  if (MaybeFailure failure = FindLibrary(step.library, library)) return Fail(*failure);
  pl_key key = PL_NO_KEY;
  if (step.key) {
    if (MaybeFailure failure = InternKey(*step.key, key)) return Fail(*failure);
  }
  const std::string place = Place(whole, step.name);
  pl_kernel kernel;
  if (MaybeFailure failure = MakeKernel(step.kernel, place, kernel)) return Fail(*failure);
  pl_registration* made = nullptr;
  warned_ = false;
  if (MaybeFailure failure = enter(library != nullptr ? library->handle : nullptr, key, &kernel, &made)) {
    return Fail(*failure);
  }
  return Made(step.name, made);
}

Outcome Interpreter::Act(const scenario::Impl& step, const Step& whole) {
  const std::string name = renaming_.In(step.operator_name);
  return Register(step, whole, [&](pl_library* library, pl_key key, const pl_kernel* kernel, pl_registration** made) {
    return PLUMBLINE_CALL(register_kernel, registry_, library, Borrow(name), key, kernel, made);
  });
}

Outcome Interpreter::Act(const scenario::Fallback& step, const Step& whole) {
  return Register(step, whole, [&](pl_library* library, pl_key key, const pl_kernel* kernel, pl_registration** made) {
    return PLUMBLINE_CALL(register_fallback, registry_, library, key, kernel, made);
  });
}

Outcome Interpreter::Act(const scenario::Listen& step, const Step&) {
  if (NameIsLive(step.name)) return Fail(Taken(step.name));
  auto heard = std::make_unique<Heard>();
  heard->owner = this;
  const auto note = [](void* context, char sign, pl_string name) {
    auto* self = static_cast<Heard*>(context);
    // Operators that are not the scenario's own come and go in a registry that it shares.
    if (!self->owner->renaming_.Owns(abi::View(name))) return;
    self->events.push_back(sign + self->owner->renaming_.Out(abi::View(name)));
  };
  static constexpr auto kNote = note;
  const pl_listener listener{.struct_size = sizeof(pl_listener),
                             .reserved = 0,
                             .context = heard.get(),
                             .defined = [](void* context, pl_string name) { kNote(context, '+', name); },
                             .removed = [](void* context, pl_string name) { kNote(context, '-', name); },
                             .destroy = [](void*) {}};
  pl_registration* made = nullptr;
  std::unique_ptr<Heard>& slot = listeners_[step.name];
  slot = std::move(heard);
  if (MaybeFailure failure = PLUMBLINE_CALL(listener_add, registry_, &listener, &made)) return Fail(*failure);
  Keep(step.name, made);
  return {};
}

Outcome Interpreter::Act(const scenario::Release& step, const Step&) {
  const auto at = registrations_.find(step.name);
  if (at == registrations_.end()) return Fail(NotFound("registration", step.name));
  if (at->second.state == Named::State::kGone) return Fail(Released(step.name));
  at->second.state = Named::State::kGone;
  in_order_.erase(std::remove(in_order_.begin(), in_order_.end(), at->second.handle), in_order_.end());
  if (MaybeFailure failure = PLUMBLINE_CALL(release, at->second.handle)) return Fail(*failure);
  return {};
}

Outcome Interpreter::Act(const scenario::Drain&, const Step&) {
  if (MaybeFailure failure = PLUMBLINE_CALL(drain, registry_)) return Fail(*failure);
  return {};
}

Outcome Interpreter::Act(const scenario::Find& step, const Step&) {
  if (NameIsLive(step.name)) return Fail(Taken(step.name));
  const std::string name = renaming_.In(step.operator_name);
  pl_operator* found = nullptr;
  if (MaybeFailure failure = PLUMBLINE_CALL(find_operator, registry_, Borrow(name), &found)) return Fail(*failure);
  found_[step.name] = found;
  return {};
}

MaybeFailure Interpreter::CallOperator(const std::string& operator_name, pl_operator* known, scenario::CallForm form,
                                       const std::string& signature, const std::vector<HostValue>& arguments,
                                       HostValues& results) {
  pl_call call{};
  call.struct_size = sizeof(call);
  call.form = form == scenario::CallForm::kTyped ? PL_CALL_TYPED : PL_CALL_BOXED;
  if (call.form == PL_CALL_TYPED) {
    call.signature = SignatureId(signature);
    if (call.signature == PL_SIGNATURE_none) return NotFound("signature", signature);
  }
  pl_operator* looked_up = nullptr;
  if (known == nullptr) {
    const std::string name = renaming_.In(operator_name);
    if (MaybeFailure failure = PLUMBLINE_CALL(find_operator, registry_, Borrow(name), &looked_up)) return failure;
    known = looked_up;
  }
  Lender lender;
  const pl_value_list lent = lender.Lend(arguments);
  call.op = known;
  call.arguments = lent.data;
  call.argument_count = lent.size;
  call.results = results.sink();
  MaybeFailure failure = PLUMBLINE_CALL(call, registry_, &call);
  if (looked_up != nullptr) adapter_.operator_release(looked_up);
  return failure;
}

Outcome Interpreter::Act(const scenario::Call& step, const Step&) {
  pl_operator* known = nullptr;
  if (!step.handle.empty()) {
    const auto at = found_.find(step.handle);
    if (at == found_.end()) return Fail(NotFound("handle", step.handle));
    known = at->second;
  }
  std::vector<HostValue> arguments;
  if (MaybeFailure failure = Make(step.arguments, arguments)) return Fail(*failure);
  HostValues results(adapter_);
  depth_ = 0;
  inner_calls_ = {};
  const std::size_t first_run = runs_.size();
  Outcome outcome;
  MaybeFailure failure = CallOperator(step.operator_name, known, step.form, step.signature, arguments, results);
  if (failure) {
    outcome = Fail(*failure);
  } else {
    for (const HostValue& value : results.values()) outcome.returns.push_back(Observe(value));
    TellArguments(outcome.returns, results.values(), arguments);
  }
  outcome.runs.assign(runs_.begin() + static_cast<std::ptrdiff_t>(first_run), runs_.end());
  return outcome;
}

Outcome Interpreter::Act(const scenario::GuardEnter& step, const Step&) {
  if (NameIsLive(step.name)) return Fail(Taken(step.name));
  std::vector<pl_key> keys;
  if (MaybeFailure failure = InternKeys(step.keys, keys)) return Fail(*failure);
  pl_guard* guard = nullptr;
  if (MaybeFailure failure = PLUMBLINE_CALL(
          guard_enter, registry_, static_cast<std::uint32_t>(step.include ? PL_GUARD_INCLUDE : PL_GUARD_EXCLUDE),
          pl_key_list{keys.data(), keys.size()}, &guard)) {
    return Fail(*failure);
  }
  guards_[step.name] = {{Named::State::kLive}, guard, current_thread_};
  guard_order_.push_back(step.name);
  return {};
}

Outcome Interpreter::Act(const scenario::GuardLeave& step, const Step&) {
  const auto at = guards_.find(step.name);
  if (at == guards_.end()) return Fail(NotFound("guard", step.name));
  if (at->second.state == Named::State::kGone) return Fail(Released(step.name));
  if (at->second.thread != current_thread_) {
    return Fail({"invalid-argument", fmt::format("guard {} belongs to another thread", step.name)});
  }
  at->second.state = Named::State::kGone;
  guard_order_.erase(std::remove(guard_order_.begin(), guard_order_.end(), step.name), guard_order_.end());
  adapter_.guard_leave(at->second.handle);
  return {};
}

Outcome Interpreter::Act(const scenario::Flush&, const Step&) {
  if (MaybeFailure failure = PLUMBLINE_CALL(cache_flush, registry_)) return Fail(*failure);
  return {};
}

}  // namespace plumbline::harness
