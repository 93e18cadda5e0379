#include "conformance/race/concurrent_run.h"

#include <fmt/core.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <thread>
#include <utility>

#include "conformance/harness/host_values.h"
#include "conformance/harness/renaming.h"
#include "spec/abi/host.h"
#include "spec/scenario/schema.h"

namespace plumbline::race {
namespace {

using abi::Borrow;
using harness::HostValue;
using harness::Lender;
using harness::TensorRef;
using scenario::Step;
using scenario::Value;
using Kind = LifetimeFault::Kind;

#ifdef __SANITIZE_THREAD__
// The thread sanitizer must not take the host's clock for an order between the backend's own accesses.
constexpr std::memory_order kClockOrder = std::memory_order_relaxed;
#else
constexpr std::memory_order kClockOrder = std::memory_order_seq_cst;
#endif

// The host's own code is no business of the scheduler's; the backend's is.
class HostCode {
 public:
  HostCode() { PausePoints(true); }
  ~HostCode() { PausePoints(false); }
  HostCode(const HostCode&) = delete;
  HostCode& operator=(const HostCode&) = delete;
};
class BackendCode {
 public:
  BackendCode() { PausePoints(false); }
  ~BackendCode() { PausePoints(true); }
  BackendCode(const BackendCode&) = delete;
  BackendCode& operator=(const BackendCode&) = delete;
};

// Held for a few instructions, in which nothing of the backend runs.
class SpinLock {
 public:
  void lock() {
    while (flag_.test_and_set(std::memory_order_acquire)) sched_yield();
  }
  void unlock() { flag_.clear(std::memory_order_release); }

 private:
  std::atomic_flag flag_;
};

std::uint32_t SignatureId(std::string_view name) {
#define PLUMBLINE_SIGNATURE_ID(id, signature, arguments, returns) \
  if (name == #signature) return id;
  PL_SIGNATURES(PLUMBLINE_SIGNATURE_ID)
#undef PLUMBLINE_SIGNATURE_ID
  return PL_SIGNATURE_none;
}

#define PLUMBLINE_RACE_HAS(entry) PL_HAS(&adapter_, entry)

class Runner;

// What the backend is given as a kernel's context.
struct Context {
  Runner* runner = nullptr;
  const scenario::KernelDefinition* body = nullptr;  // null: empty
  std::uint32_t signature = PL_SIGNATURE_none;
  std::string registration;
  std::atomic<int> running{0}, destroyed{0};
  std::atomic<bool> released{false};  // and the release has returned
};

// A registration, library or handle that was made, and what the history calls it.
struct Made {
  std::string name;
  pl_registration* registration = nullptr;
  pl_library* library = nullptr;
  pl_operator* op = nullptr;
  Context* context = nullptr;  // of a kernel
};

struct Prepared {
  const Step* step = nullptr;
  std::string op, place, text;  // renamed
  pl_key key = PL_NO_KEY;
  std::vector<pl_key> keys;
  std::vector<std::string> brought;  // by the arguments of a call
  std::vector<HostValue> values;
  Lender lender;
  pl_value_list arguments{nullptr, 0};
  std::uint32_t signature = PL_SIGNATURE_none;
  std::atomic<int> times{0};  // that it was done: from the second time on, names get a number
};

struct ThreadNotes {
  explicit ThreadNotes(std::string thread) : name(std::move(thread)) {}
  const std::string name;
  std::vector<Event> events;
  std::vector<std::size_t> pending;  // calls that did not reach a kernel yet
  struct Guard {
    std::string name;
    bool include;
    const std::vector<std::string>* keys;
    pl_guard* handle;
  };
  std::vector<Guard> guards;
  std::uint64_t random = 0;
};

thread_local ThreadNotes* notes = nullptr;

class Runner {
 public:
  Runner(const pl_adapter& adapter, const Program& program, const model::KeyTable& keys, const RunOptions& options,
         const std::string& suffix)
      : adapter_(adapter),
        program_(program),
        scenario_(program_.scenario),
        keys_(keys),
        options_(options),
        renaming_(scenario_, suffix) {
    for (const scenario::KernelDefinition& kernel : scenario_.kernels) definitions_[kernel.name] = &kernel;
  }

  ConcurrentRun Run();

  // All contexts are gone, so that nobody will call back.
  bool Forgotten() const {
    return std::all_of(contexts_.begin(), contexts_.end(),
                       [](const Context& context) { return context.destroyed.load() == 1; });
  }

 private:
  struct Failure {
    std::string error_class, message;
  };
  using MaybeFailure = std::optional<Failure>;

  // ---- before the threads ----
  MaybeFailure Take(pl_error* error);
  MaybeFailure Open();
  MaybeFailure Prepare(const Step& step);
  MaybeFailure PrepareAll();
  MaybeFailure InternKey(const std::string& name, pl_key& out);
  MaybeFailure Make(const Value& value, HostValue& out, std::vector<std::string>* brought);

  // ---- on them ----
  std::uint64_t Tick() { return clock_.fetch_add(1, kClockOrder); }
  void Shake();
  void OnThread(ThreadNotes& mine, const std::vector<std::size_t>& steps);
  void DoStep(const Step& step);
  std::string Do(const Step& step, Prepared& prepared);  // the error's class, or empty
  Event& Note(Event::Kind kind, std::size_t* index = nullptr);
  std::string Finish(std::size_t index, pl_error* error);
  std::string NewName(const std::string& given, const char* what, Prepared& prepared);
  void Keep(const std::string& slot, Made made);
  Made* Look(const std::string& slot) { return slots_.at(slot).load(std::memory_order_acquire); }
  std::string CallOperator(Event::Kind kind, Event event, pl_operator* op, bool typed, std::uint32_t signature,
                           const pl_value* arguments, std::uint64_t count);
  std::string CallByName(const std::string& name, const std::string& renamed, Event event, bool typed,
                         std::uint32_t signature, const pl_value* arguments, std::uint64_t count);
  void LeaveGuards(std::size_t down_to);

  static pl_error* RunKernel(void* context, pl_frame* frame);
  static void DestroyKernel(void* context);
  pl_error* RunBody(Context& context, pl_frame& frame);
  std::string RunItem(const scenario::BodyItem& item, Context& context, pl_frame& frame, bool* returned);
  pl_error* PushZeros(pl_frame& frame);
  void Fault(Kind kind, const std::string& registration);
  void Ask();
  Context& NewContext(const scenario::KernelUse& use, const std::string& registration, const std::string& place,
                      pl_kernel* out);

  void CleanUp();

  const pl_adapter& adapter_;
  const Program program_;  // a copy: contexts may outlive the caller's
  const scenario::Scenario& scenario_;
  const model::KeyTable& keys_;
  const RunOptions& options_;
  const harness::Renaming renaming_;
  std::map<std::string, const scenario::KernelDefinition*> definitions_;

  pl_registry* registry_ = nullptr;
  std::map<std::string, pl_key> interned_;
  std::map<pl_key, std::string> key_names_;
  std::map<const Step*, std::unique_ptr<Prepared>> prepared_;
  std::map<std::string, std::vector<scenario::SchemaArgument>> returns_;  // by operator, renamed
  std::map<std::string, std::string> registration_at_;                    // by place, for tables

  std::map<std::string, std::atomic<Made*>> slots_;
  std::deque<Made> made_;
  std::deque<Context> contexts_;
  std::deque<ThreadNotes> threads_;
  std::vector<LifetimeFault> lifetime_;
  SpinLock lock_;  // the four above, and `registration_at_`
  std::atomic<std::uint64_t> clock_{1};
  std::atomic<int> started_{0};
  std::atomic<bool> racing_{false};
  std::string threw_;
  bool over_ = false;
};

Runner::MaybeFailure Runner::Take(pl_error* error) {
  if (error == nullptr) return std::nullopt;
  const abi::PlError owned(error);
  return Failure{std::string(abi::ErrorClassSpelling(owned.error_class())), renaming_.Out(owned.message())};
}

Runner::MaybeFailure Runner::InternKey(const std::string& name, pl_key& out) {
  if (const auto known = interned_.find(name); known != interned_.end()) {
    out = known->second;
    return std::nullopt;
  }
  if (MaybeFailure failure = Take(adapter_.intern_key(registry_, Borrow(name), &out))) return failure;
  interned_[name] = out;
  const auto key = keys_.Find(name);
  key_names_.emplace(out, key ? keys_.Name(*key) : name);
  return std::nullopt;
}

Runner::MaybeFailure Runner::Make(const Value& value, HostValue& out, std::vector<std::string>* brought) {
  switch (value.kind) {
    case Value::Kind::kNone:
      out.kind = PL_NONE;
      break;
    case Value::Kind::kUndefined:
    case Value::Kind::kTensor: {
      out.kind = PL_TENSOR;
      pl_tensor* tensor = nullptr;
      MaybeFailure failure;
      if (value.kind == Value::Kind::kUndefined) {
        failure = Take(adapter_.tensor_make_undefined(registry_, &tensor));
      } else {
        std::vector<pl_key> keys;
        for (const std::string& name : value.keys) {
          if (failure = InternKey(name, keys.emplace_back()); failure) return failure;
          if (std::find(brought->begin(), brought->end(), name) == brought->end()) brought->push_back(name);
        }
        failure = Take(adapter_.tensor_make(registry_, pl_key_list{keys.data(), keys.size()}, &tensor));
      }
      if (failure) return failure;
      out.tensor = TensorRef::Adopt(adapter_, tensor);
      break;
    }
    case Value::Kind::kInt:
      out.kind = PL_INT;
      out.integer = value.integer;
      break;
    case Value::Kind::kFloat:
      out.kind = PL_FLOAT;
      out.real = value.real;
      break;
    case Value::Kind::kBool:
      out.kind = PL_BOOL;
      out.integer = value.boolean ? 1 : 0;
      break;
    case Value::Kind::kString:
      out.kind = PL_STRING;
      out.text = value.text;
      break;
    case Value::Kind::kList:
      out.kind = PL_LIST;
      for (const Value& item : value.items) {
        if (MaybeFailure failure = Make(item, out.items.emplace_back(), brought)) return failure;
      }
      break;
  }
  return std::nullopt;
}

Runner::MaybeFailure Runner::Prepare(const Step& step) {
  auto prepared = std::make_unique<Prepared>();
  prepared->step = &step;
  prepared->place = fmt::format("scenario:{}", step.line);
  MaybeFailure failure;
  const auto intern = [&](const std::optional<std::string>& key) {
    if (key && !failure) failure = InternKey(*key, prepared->key);
  };
  const auto slot = [&](const std::string& name) {
    if (!name.empty()) slots_.try_emplace(name, nullptr);
  };
  if (const auto* define = std::get_if<scenario::Define>(&step.action)) {
    prepared->text = renaming_.In(define->schema);
    if (const scenario::SchemaResult parsed = scenario::ParseSchema(prepared->text); parsed.schema) {
      prepared->op = parsed.schema->FullName();
      returns_[prepared->op] = parsed.schema->returns;
    }
    slot(define->name);
  } else if (const auto* impl = std::get_if<scenario::Impl>(&step.action)) {
    prepared->op = renaming_.In(impl->operator_name);
    intern(impl->key);
    slot(impl->name);
  } else if (const auto* fallback = std::get_if<scenario::Fallback>(&step.action)) {
    intern(fallback->key);
    slot(fallback->name);
  } else if (const auto* open = std::get_if<scenario::LibraryOpen>(&step.action)) {
    prepared->text = renaming_.Namespace(open->name_space);
    intern(open->key);
    slot(open->name);
  } else if (const auto* find = std::get_if<scenario::Find>(&step.action)) {
    prepared->op = renaming_.In(find->operator_name);
    slot(find->name);
  } else if (const auto* listen = std::get_if<scenario::Listen>(&step.action)) {
    slot(listen->name);
  } else if (const auto* release = std::get_if<scenario::Release>(&step.action)) {
    slot(release->name);
  } else if (const auto* close = std::get_if<scenario::LibraryClose>(&step.action)) {
    slot(close->name);
  } else if (const auto* guard = std::get_if<scenario::GuardEnter>(&step.action)) {
    for (const std::string& key : guard->keys) {
      if (failure = InternKey(key, prepared->keys.emplace_back()); failure) return failure;
    }
  } else if (const auto* query = std::get_if<scenario::Query>(&step.action)) {
    prepared->op = renaming_.In(query->subject);
    intern(query->key);
  } else if (const auto* call = std::get_if<scenario::Call>(&step.action)) {
    prepared->op = renaming_.In(call->operator_name);
    for (const Value& value : call->arguments) {
      if (failure = Make(value, prepared->values.emplace_back(), &prepared->brought); failure) return failure;
    }
    prepared->arguments = prepared->lender.Lend(prepared->values);
    if (call->form == scenario::CallForm::kTyped) prepared->signature = SignatureId(call->signature);
    slot(call->handle);
  }
  prepared_[&step] = std::move(prepared);
  return failure;
}

Runner::MaybeFailure Runner::PrepareAll() {
  bool below = false;
  for (const scenario::KernelDefinition& kernel : scenario_.kernels) {
    for (const scenario::BodyItem& item : kernel.body) {
      if (const auto* inner = std::get_if<scenario::BodyStep>(&item)) {
        if (MaybeFailure failure = Prepare(inner->step.front())) return failure;
      } else if (const auto* redispatch = std::get_if<scenario::BodyRedispatch>(&item)) {
        below = below || redispatch->below.has_value();
        pl_key key;
        for (const std::string& name : redispatch->keys.value_or(std::vector<std::string>())) {
          if (MaybeFailure failure = InternKey(name, key)) return failure;
        }
      } else if (const auto* guard = std::get_if<scenario::BodyGuard>(&item)) {
        pl_key key;
        for (const std::string& name : guard->keys) {
          if (MaybeFailure failure = InternKey(name, key)) return failure;
        }
      }
    }
  }
  bool tables = false;
  for (const Step& step : scenario_.steps) {
    if (MaybeFailure failure = Prepare(step)) return failure;
    const auto* query = std::get_if<scenario::Query>(&step.action);
    tables = tables || (query != nullptr && query->kind == scenario::QueryKind::kTable);
  }
  if (below || tables) {  // any key may come back
    for (model::Key key = 0; key < keys_.key_count(); ++key) {
      pl_key interned;
      InternKey(keys_.Name(key), interned);  // one that the backend lacks cannot come back
    }
  }
  return std::nullopt;
}

Runner::MaybeFailure Runner::Open() {
  std::vector<pl_key_declaration> keys;
  for (const scenario::KeyDeclaration& key : scenario_.declared_keys) {
    keys.push_back({.struct_size = sizeof(pl_key_declaration),
                    .kind = static_cast<std::uint32_t>(key.kind),
                    .name = Borrow(key.name),
                    .after = Borrow(key.after),
                    .autograd = Borrow(key.autograd)});
  }
  const pl_open_options open{.struct_size = sizeof(pl_open_options),
                             .mode = static_cast<std::uint32_t>(options_.fresh ? PL_OPEN_FRESH : PL_OPEN_PROCESS),
                             .release = Borrow(scenario_.release),
                             .count_hits = 0,
                             .reserved = 0,
                             .keys = keys.data(),
                             .key_count = keys.size()};
  return Take(adapter_.open(&open, &registry_));
}

// ---- notes ----

Event& Runner::Note(Event::Kind kind, std::size_t* index) {
  Event& event = notes->events.emplace_back();
  event.kind = kind;
  event.thread = notes->name;
  if (index != nullptr) *index = notes->events.size() - 1;
  return event;
}

// The answer of a step that was noted; a call that reached a kernel has its answer already.
std::string Runner::Finish(std::size_t index, pl_error* error) {
  const std::uint64_t now = Tick();
  const MaybeFailure failure = Take(error);
  Event& event = notes->events[index];
  if (event.end == kNever) {
    event.end = now;
    if (failure) event.error = failure->error_class;
  }
  return failure ? failure->error_class : "";
}

std::string Runner::NewName(const std::string& given, const char* what, Prepared& prepared) {
  const std::string name = given.empty() ? fmt::format("{}{}", what, prepared.step->line) : given;
  const int before = prepared.times.fetch_add(1, std::memory_order_relaxed);
  return before == 0 ? name : fmt::format("{}~{}", name, before + 1);
}

void Runner::Keep(const std::string& slot, Made made) {
  lock_.lock();
  Made* const kept = &made_.emplace_back(std::move(made));
  lock_.unlock();
  if (!slot.empty()) slots_.at(slot).store(kept, std::memory_order_release);
}

void Runner::Fault(Kind kind, const std::string& registration) {
  lock_.lock();
  lifetime_.push_back({kind, registration});
  lock_.unlock();
}

Context& Runner::NewContext(const scenario::KernelUse& use, const std::string& registration, const std::string& place,
                            pl_kernel* out) {
  *out = {};
  out->struct_size = sizeof(*out);
  out->place = Borrow(place);
  lock_.lock();
  Context& context = contexts_.emplace_back();
  lock_.unlock();
  context.runner = this;
  context.registration = registration;
  if (use.fallthrough) {
    out->form = PL_KERNEL_FALLTHROUGH;
    context.destroyed = 1;  // there is no context to be destroyed
    return context;
  }
  out->form = PL_KERNEL_BOXED;
  if (!use.signature.empty()) {
    out->form = PL_KERNEL_TYPED;
    out->signature = context.signature = SignatureId(use.signature);
  }
  if (const auto definition = definitions_.find(use.kernel); definition != definitions_.end()) {
    context.body = definition->second;
  }
  out->function = &Runner::RunKernel;
  out->destroy = &Runner::DestroyKernel;
  out->context = &context;
  return context;
}

// ---- kernels ----

// From inside of what the backend calls: anything may be asked there, so nothing may be held.
void Runner::Ask() {
  if (!racing_.load() || !PLUMBLINE_RACE_HAS(list_operators)) return;
  const pl_string_sink ignore{nullptr, [](void*, pl_string) {}};
  Take(adapter_.list_operators(registry_, PL_LIST_ALL, PL_NO_KEY, ignore));
}

void Runner::DestroyKernel(void* pointer) {
  const HostCode host;
  auto* context = static_cast<Context*>(pointer);
  if (context->destroyed.load() == 0) {
    const BackendCode backend;
    context->runner->Ask();
  }
  if (context->destroyed.fetch_add(1) != 0) {
    context->runner->Fault(Kind::kDestroyedTwice, context->registration);
  } else if (context->running.load() != 0) {
    context->runner->Fault(Kind::kDestroyedWhileRunning, context->registration);
  }
}

pl_error* Runner::RunKernel(void* pointer, pl_frame* frame) {
  const HostCode host;
  auto* context = static_cast<Context*>(pointer);
  Runner& self = *context->runner;
  if (self.over_) return abi::MakeError(PL_ERROR_KERNEL_RAISED, "a kernel ran after its scenario had ended");
  context->running.fetch_add(1);
  if (context->destroyed.load() != 0) self.Fault(Kind::kRanAfterDestroyed, context->registration);
  if (notes != nullptr && !notes->pending.empty()) {
    Event& call = notes->events[notes->pending.back()];
    if (call.end == kNever) {
      call.end = self.Tick();
      call.ran = context->registration;
    }
  }
  pl_error* error = nullptr;
  const std::size_t guards = notes != nullptr ? notes->guards.size() : 0;
  try {
    error = self.RunBody(*context, *frame);
  } catch (const std::exception& thrown) {
    self.threw_ = thrown.what();
  } catch (...) {
    self.threw_ = "something that is no std::exception";
  }
  if (notes != nullptr) self.LeaveGuards(guards);
  const bool destroyed = context->destroyed.load() != 0;
  context->running.fetch_sub(1);
  if (destroyed) self.Fault(Kind::kDestroyedWhileRunning, context->registration);
  return error;
}

pl_error* Runner::RunBody(Context& context, pl_frame& frame) {
  const auto pause = [this] {
    const BackendCode backend;
    Point();
    Shake();
  };
  pause();
  if (notes != nullptr && context.body != nullptr) {
    for (const scenario::BodyItem& item : context.body->body) {
      bool returned = false;
      const std::string error = RunItem(item, context, frame, &returned);
      if (!error.empty()) return abi::MakeError(PL_ERROR_KERNEL_RAISED, error);
      if (returned) break;
    }
  }
  pause();
  return PushZeros(frame);
}

std::string Runner::RunItem(const scenario::BodyItem& item, Context& context, pl_frame& frame, bool* returned) {
  if (const auto* thrown = std::get_if<scenario::BodyThrow>(&item)) {
    return thrown->message.empty() ? "thrown" : thrown->message;
  }
  if (std::holds_alternative<scenario::BodyReturn>(item)) {
    *returned = true;  // what, is of no interest here
    return "";
  }
  if (const auto* step = std::get_if<scenario::BodyStep>(&item)) {
    DoStep(step->step.front());
    return "";
  }
  if (const auto* guard = std::get_if<scenario::BodyGuard>(&item)) {
    std::vector<pl_key> keys;
    for (const std::string& name : guard->keys) keys.push_back(interned_.at(name));
    pl_guard* entered = nullptr;
    const std::uint32_t side = guard->include ? PL_GUARD_INCLUDE : PL_GUARD_EXCLUDE;
    pl_error* error;
    {
      const BackendCode backend;
      error = adapter_.guard_enter(registry_, side, pl_key_list{keys.data(), keys.size()}, &entered);
    }
    if (MaybeFailure failure = Take(error)) return failure->message;
    notes->guards.push_back({"", guard->include, &guard->keys, entered});
    return "";
  }
  if (const auto* call = std::get_if<scenario::BodyCall>(&item)) {
    Event event;
    const std::string op = renaming_.In(call->operator_name);
    std::vector<HostValue> values;
    Lender lender;
    pl_value_list arguments{frame.arguments, frame.argument_count};
    if (call->arguments) {
      for (const Value& value : *call->arguments) {
        if (MaybeFailure failure = Make(value, values.emplace_back(), &event.keys)) return failure->message;
      }
      arguments = lender.Lend(values);
    } else if (!notes->pending.empty()) {
      event.keys = notes->events[notes->pending.front()].keys;
    }
    const std::string failed =
        CallByName(call->operator_name, op, std::move(event), call->form == scenario::CallForm::kTyped,
                   SignatureId(call->signature), arguments.data, arguments.size);
    return call->caught ? "" : failed;
  }
  const auto& redispatch = std::get<scenario::BodyRedispatch>(item);
  Event event;
  event.op = renaming_.Out(abi::View(frame.operator_name));
  if (redispatch.keys) {
    event.keys = *redispatch.keys;
  } else {
    std::vector<std::string> received;
    for (std::uint64_t i = 0; i < frame.keys.size; ++i) {
      const auto name = key_names_.find(frame.keys.data[i]);
      if (name != key_names_.end()) received.push_back(name->second);
    }
    std::string unknown;
    const auto set = keys_.SetOf(received, &unknown);
    const auto below = keys_.Find(*redispatch.below);
    if (!set || !below) return "the kernel received keys that nobody knows";
    event.keys = keys_.Names(keys_.Below(*set, *below));
  }
  std::vector<pl_key> keys;
  for (const std::string& name : event.keys) keys.push_back(interned_.at(name));
  std::size_t index;
  Event& noted = Note(Event::Kind::kRedispatch, &index);
  noted.op = event.op;
  noted.keys = event.keys;
  notes->pending.push_back(index);
  const pl_value_sink ignore{nullptr, [](void*, const pl_value*) -> pl_error* { return nullptr; }};
  noted.start = Tick();
  pl_error* error;
  {
    const BackendCode backend;
    const bool typed = redispatch.form == scenario::CallForm::kTyped && context.signature != PL_SIGNATURE_none &&
                       PLUMBLINE_RACE_HAS(redispatch_typed);
    const pl_key_list list{keys.data(), keys.size()};
    error = typed ? adapter_.redispatch_typed(&frame, context.signature, list, frame.arguments, frame.argument_count,
                                              ignore)
                  : adapter_.redispatch(&frame, list, frame.arguments, frame.argument_count, ignore);
  }
  notes->pending.pop_back();
  return Finish(index, error);
}

pl_error* Runner::PushZeros(pl_frame& frame) {
  const auto returns = returns_.find(std::string(abi::View(frame.operator_name)));
  if (returns == returns_.end()) return nullptr;
  for (const scenario::SchemaArgument& wanted : returns->second) {
    pl_value zero{};
    if (wanted.type.optional) {
      zero.kind = PL_NONE;
    } else if (wanted.type.list) {
      zero.kind = PL_LIST;
    } else {
      switch (wanted.type.base) {
        case scenario::SchemaType::Base::kTensor:
          for (std::uint64_t i = 0; i < frame.argument_count && zero.kind == PL_NONE; ++i) {
            if (frame.arguments[i].kind == PL_TENSOR) zero = frame.arguments[i];
          }
          break;
        case scenario::SchemaType::Base::kFloat:
          zero.kind = PL_FLOAT;
          break;
        case scenario::SchemaType::Base::kBool:
          zero.kind = PL_BOOL;
          break;
        case scenario::SchemaType::Base::kStr:
          zero.kind = PL_STRING;
          zero.as.string = Borrow("");
          break;
        default:
          zero.kind = PL_INT;
      }
    }
    if (pl_error* error = frame.results.push(frame.results.context, &zero)) return error;
  }
  return nullptr;
}

// ---- steps ----

void Runner::Shake() {
  if (options_.plan != nullptr || options_.jitter == 0 || notes == nullptr) return;
  std::uint64_t& random = notes->random;
  random ^= random << 13;
  random ^= random >> 7;
  random ^= random << 17;
  switch (random % 8) {
    case 0:
      sched_yield();
      break;
    case 1:
    case 2:
      for (std::uint64_t i = 0; i < (random >> 8) % 512; ++i) asm volatile("" ::: "memory");
      break;
    default:
      break;
  }
}

std::string Runner::CallOperator(Event::Kind kind, Event event, pl_operator* op, bool typed, std::uint32_t signature,
                                 const pl_value* arguments, std::uint64_t count) {
  const pl_value_sink ignore{nullptr, [](void*, const pl_value*) -> pl_error* { return nullptr; }};
  const pl_call call{.struct_size = sizeof(pl_call),
                     .form = static_cast<std::uint32_t>(typed ? PL_CALL_TYPED : PL_CALL_BOXED),
                     .signature = typed ? signature : 0,
                     .reserved = 0,
                     .op = op,
                     .arguments = arguments,
                     .argument_count = count,
                     .results = ignore};
  std::size_t index;
  Note(kind, &index) = std::move(event);
  Event& noted = notes->events[index];
  noted.kind = kind;
  noted.thread = notes->name;
  for (const ThreadNotes::Guard& guard : notes->guards) {
    std::vector<std::string>& into = guard.include ? noted.include : noted.exclude;
    for (const std::string& key : *guard.keys) {
      if (std::find(into.begin(), into.end(), key) == into.end()) into.push_back(key);
    }
  }
  notes->pending.push_back(index);
  noted.start = Tick();
  pl_error* error;
  {
    const BackendCode backend;
    error = adapter_.call(registry_, &call);
  }
  notes->pending.pop_back();
  const std::string failed = Finish(index, error);
  Event& done = notes->events[index];
  if (done.ran.empty() && done.error.empty()) done.ran = "builtin";
  return failed;
}

// The operator may go between the two, so that it is found is an event of its own.
std::string Runner::CallByName(const std::string& name, const std::string& renamed, Event event, bool typed,
                               std::uint32_t signature, const pl_value* arguments, std::uint64_t count) {
  std::size_t index;
  Event& found = Note(Event::Kind::kFind, &index);
  found.op = name;
  found.name = fmt::format("{}.{}", notes->name, Tick());
  event.by_handle = true;
  event.op = found.name;
  found.start = Tick();
  pl_operator* op = nullptr;
  pl_error* error;
  {
    const BackendCode backend;
    error = adapter_.find_operator(registry_, Borrow(renamed), &op);
  }
  if (const std::string failed = Finish(index, error); !failed.empty()) return failed;
  const std::string failed = CallOperator(Event::Kind::kCall, std::move(event), op, typed, signature, arguments, count);
  const BackendCode backend;
  adapter_.operator_release(op);
  return failed;
}

void Runner::LeaveGuards(std::size_t down_to) {
  while (notes->guards.size() > down_to) {
    pl_guard* last = notes->guards.back().handle;
    notes->guards.pop_back();
    const BackendCode backend;
    adapter_.guard_leave(last);
  }
}

void Runner::DoStep(const Step& step) {
  {
    const BackendCode backend;
    Point();
  }
  Shake();
  Do(step, *prepared_.at(&step));
}

std::string Runner::Do(const Step& step, Prepared& prepared) {
  std::size_t index = 0;
  if (const auto* define = std::get_if<scenario::Define>(&step.action)) {
    const Made* library = define->library.empty() ? nullptr : Look(define->library);
    if (!define->library.empty() && library == nullptr) return "";
    const std::string name = NewName(define->name, "define", prepared);
    Event& event = Note(Event::Kind::kDefine, &index);
    event.op = renaming_.Out(prepared.op);
    event.name = name;
    event.library = define->library;
    event.start = Tick();
    pl_registration* made = nullptr;
    pl_error* error;
    {
      const BackendCode backend;
      error = adapter_.define(registry_, library != nullptr ? library->library : nullptr, Borrow(prepared.text),
                              Borrow(prepared.place), &made);
    }
    const std::string failed = Finish(index, error);
    if (made != nullptr) Keep(define->name, {.name = name, .registration = made});
    return failed;
  }
  if (const auto* impl = std::get_if<scenario::Impl>(&step.action)) {
    const Made* library = impl->library.empty() ? nullptr : Look(impl->library);
    if (!impl->library.empty() && library == nullptr) return "";
    const std::string name = NewName(impl->name, "impl", prepared);
    // Each has a place of its own, by which a table tells it.
    const std::string place = fmt::format("scenario:{}:{}", step.line, name);
    lock_.lock();
    registration_at_[place] = name;
    lock_.unlock();
    pl_kernel kernel;
    Context& context = NewContext(impl->kernel, name, place, &kernel);
    Event& event = Note(Event::Kind::kImpl, &index);
    event.op = impl->operator_name;
    event.key = impl->key.value_or("");
    event.fallthrough = impl->kernel.fallthrough;
    event.name = name;
    event.library = impl->library;
    event.start = Tick();
    pl_registration* made = nullptr;
    pl_error* error;
    {
      const BackendCode backend;
      error = adapter_.register_kernel(registry_, library != nullptr ? library->library : nullptr, Borrow(prepared.op),
                                       prepared.key, &kernel, &made);
    }
    const std::string failed = Finish(index, error);
    // Histories know no signatures. One that was refused for it must not be seen: then its name is unknown.
    if (failed == "schema-mismatch" && index + 1 == notes->events.size()) notes->events.pop_back();
    if (made != nullptr) Keep(impl->name, {.name = name, .registration = made, .context = &context});
    return failed;
  }
  if (const auto* fallback = std::get_if<scenario::Fallback>(&step.action)) {
    if (!PLUMBLINE_RACE_HAS(register_fallback)) return "";
    const Made* library = fallback->library.empty() ? nullptr : Look(fallback->library);
    if (!fallback->library.empty() && library == nullptr) return "";
    const std::string name = NewName(fallback->name, "fallback", prepared);
    const std::string place = fmt::format("scenario:{}:{}", step.line, name);
    lock_.lock();
    registration_at_[place] = name;
    lock_.unlock();
    pl_kernel kernel;
    Context& context = NewContext(fallback->kernel, name, place, &kernel);
    Event& event = Note(Event::Kind::kFallback, &index);
    event.key = fallback->key.value_or("");
    event.fallthrough = fallback->kernel.fallthrough;
    event.name = name;
    event.library = fallback->library;
    event.start = Tick();
    pl_registration* made = nullptr;
    pl_error* error;
    {
      const BackendCode backend;
      error = adapter_.register_fallback(registry_, library != nullptr ? library->library : nullptr, prepared.key,
                                         &kernel, &made);
    }
    const std::string failed = Finish(index, error);
    if (made != nullptr) Keep(fallback->name, {.name = name, .registration = made, .context = &context});
    return failed;
  }
  if (const auto* release = std::get_if<scenario::Release>(&step.action)) {
    Made* made = slots_.at(release->name).exchange(nullptr, std::memory_order_acq_rel);
    if (made == nullptr || made->registration == nullptr) return "";
    Event& event = Note(Event::Kind::kRelease, &index);
    event.name = made->name;
    event.start = Tick();
    pl_error* error;
    {
      const BackendCode backend;
      error = adapter_.release(std::exchange(made->registration, nullptr));
    }
    if (made->context != nullptr) made->context->released = true;
    return Finish(index, error);
  }
  if (const auto* open = std::get_if<scenario::LibraryOpen>(&step.action)) {
    if (!PLUMBLINE_RACE_HAS(library_open)) return "";
    const std::uint32_t kind = open->kind == scenario::LibraryKind::kDef        ? PL_LIBRARY_DEF
                               : open->kind == scenario::LibraryKind::kFragment ? PL_LIBRARY_FRAGMENT
                                                                                : PL_LIBRARY_IMPL;
    pl_library* made = nullptr;
    pl_error* error;
    {
      const BackendCode backend;
      error =
          adapter_.library_open(registry_, kind, Borrow(prepared.text), prepared.key, Borrow(prepared.place), &made);
    }
    const MaybeFailure failure = Take(error);
    if (made != nullptr) Keep(open->name, {.name = open->name, .library = made});
    return failure ? failure->error_class : "";
  }
  if (const auto* close = std::get_if<scenario::LibraryClose>(&step.action)) {
    Made* made = slots_.at(close->name).exchange(nullptr, std::memory_order_acq_rel);
    if (made == nullptr || made->library == nullptr) return "";
    Event& event = Note(Event::Kind::kClose, &index);
    event.name = close->name;
    event.start = Tick();
    pl_error* error;
    {
      const BackendCode backend;
      error = adapter_.library_close(std::exchange(made->library, nullptr));
    }
    return Finish(index, error);
  }
  if (const auto* find = std::get_if<scenario::Find>(&step.action)) {
    const std::string name = NewName(find->name, "find", prepared);
    Event& event = Note(Event::Kind::kFind, &index);
    event.op = find->operator_name;
    event.name = name;
    event.start = Tick();
    pl_operator* op = nullptr;
    pl_error* error;
    {
      const BackendCode backend;
      error = adapter_.find_operator(registry_, Borrow(prepared.op), &op);
    }
    const std::string failed = Finish(index, error);
    if (op != nullptr) Keep(find->name, {.name = name, .op = op});
    return failed;
  }
  if (const auto* call = std::get_if<scenario::Call>(&step.action)) {
    Event event;
    event.keys = prepared.brought;
    const bool typed = call->form == scenario::CallForm::kTyped;
    if (!call->handle.empty()) {
      const Made* handle = Look(call->handle);
      if (handle == nullptr || handle->op == nullptr) return "";
      event.by_handle = true;
      event.op = handle->name;
      return CallOperator(Event::Kind::kCall, std::move(event), handle->op, typed, prepared.signature,
                          prepared.arguments.data, prepared.arguments.size);
    }
    return CallByName(call->operator_name, prepared.op, std::move(event), typed, prepared.signature,
                      prepared.arguments.data, prepared.arguments.size);
  }
  if (const auto* enter = std::get_if<scenario::GuardEnter>(&step.action)) {
    if (!PLUMBLINE_RACE_HAS(guard_enter)) return "";
    pl_guard* entered = nullptr;
    pl_error* error;
    {
      const BackendCode backend;
      error = adapter_.guard_enter(registry_, enter->include ? PL_GUARD_INCLUDE : PL_GUARD_EXCLUDE,
                                   pl_key_list{prepared.keys.data(), prepared.keys.size()}, &entered);
    }
    const MaybeFailure failure = Take(error);
    if (!failure) notes->guards.push_back({enter->name, enter->include, &enter->keys, entered});
    return failure ? failure->error_class : "";
  }
  if (const auto* leave = std::get_if<scenario::GuardLeave>(&step.action)) {
    const auto at = std::find_if(notes->guards.begin(), notes->guards.end(),
                                 [&](const ThreadNotes::Guard& guard) { return guard.name == leave->name; });
    if (at == notes->guards.end()) return "";
    pl_guard* handle = at->handle;
    notes->guards.erase(at);
    const BackendCode backend;
    adapter_.guard_leave(handle);
    return "";
  }
  if (const auto* query = std::get_if<scenario::Query>(&step.action)) {
    if (query->kind == scenario::QueryKind::kHasKernel && PLUMBLINE_RACE_HAS(has_kernel)) {
      Event& event = Note(Event::Kind::kHasKernel, &index);
      event.op = query->subject;
      event.key = query->key.value_or("");
      event.start = Tick();
      std::uint32_t yes = 0;
      pl_error* error;
      {
        const BackendCode backend;
        error = adapter_.has_kernel(registry_, Borrow(prepared.op), prepared.key, PL_QUERY_DIRECT, &yes);
      }
      notes->events[index].yes = yes != 0;
      return Finish(index, error);
    }
    if (query->kind == scenario::QueryKind::kOperators && PLUMBLINE_RACE_HAS(list_operators)) {
      Note(Event::Kind::kOperators, &index).start = Tick();
      std::vector<std::string> names;
      const pl_string_sink sink{&names, [](void* context, pl_string text) {
                                  const HostCode host;
                                  static_cast<std::vector<std::string>*>(context)->emplace_back(abi::View(text));
                                }};
      pl_error* error;
      {
        const BackendCode backend;
        error = adapter_.list_operators(registry_, PL_LIST_ALL, PL_NO_KEY, sink);
      }
      const std::string failed = Finish(index, error);
      std::erase_if(names, [this](const std::string& name) { return !renaming_.Owns(name); });
      for (std::string& name : names) name = renaming_.Out(name);
      std::sort(names.begin(), names.end());
      notes->events[index].listed = std::move(names);
      return failed;
    }
    if (query->kind == scenario::QueryKind::kTable && PLUMBLINE_RACE_HAS(dump_table)) {
      struct Row {
        pl_key key;
        bool ambiguous;
        std::string place;
      };
      Note(Event::Kind::kTable, &index).op = query->subject;
      notes->events[index].start = Tick();
      std::vector<Row> rows;
      const pl_table_sink sink{&rows, [](void* context, const pl_table_row* row) {
                                 const HostCode host;
                                 static_cast<std::vector<Row>*>(context)->push_back(
                                     {row->key, row->rule == PL_RULE_AMBIGUOUS, std::string(abi::View(row->place))});
                               }};
      pl_error* error;
      {
        const BackendCode backend;
        error = adapter_.dump_table(registry_, Borrow(prepared.op), sink);
      }
      const std::string failed = Finish(index, error);
      lock_.lock();
      for (const Row& row : rows) {
        if (row.ambiguous || row.place.empty()) continue;  // histories leave out what the release brings
        const auto key = key_names_.find(row.key);
        const auto winner = registration_at_.find(row.place);
        notes->events[index].table.emplace_back(
            key != key_names_.end() ? key->second : fmt::format("unknown-key-{}", row.key),
            winner != registration_at_.end() ? winner->second : row.place);
      }
      lock_.unlock();
      return failed;
    }
    return "";
  }
  const BackendCode backend;
  if (const auto* listen = std::get_if<scenario::Listen>(&step.action)) {
    if (!PLUMBLINE_RACE_HAS(listener_add)) return "";
    // What it hears is not looked at: it is there to be called, and to ask.
    const pl_listener listener{.struct_size = sizeof(pl_listener),
                               .reserved = 0,
                               .context = this,
                               .defined = [](void* context, pl_string) { static_cast<Runner*>(context)->Ask(); },
                               .removed = [](void* context, pl_string) { static_cast<Runner*>(context)->Ask(); },
                               .destroy = [](void*) {}};
    pl_registration* made = nullptr;
    pl_error* error = adapter_.listener_add(registry_, &listener, &made);
    const HostCode host;
    const MaybeFailure failure = Take(error);
    if (made != nullptr) Keep(listen->name, {.name = listen->name, .registration = made});
    return failure ? failure->error_class : "";
  }
  if (std::holds_alternative<scenario::Drain>(step.action) && PLUMBLINE_RACE_HAS(drain)) {
    std::vector<Context*> released;
    {
      const HostCode host;
      lock_.lock();
      for (Context& context : contexts_) {
        if (context.released.load()) released.push_back(&context);
      }
      lock_.unlock();
    }
    pl_error* error = adapter_.drain(registry_);
    const HostCode host;
    const MaybeFailure failure = Take(error);
    if (failure) return failure->error_class;
    for (const Context* context : released) {
      if (context->destroyed.load() == 0) Fault(Kind::kNotDrained, context->registration);
    }
    return "";
  }
  if (std::holds_alternative<scenario::Flush>(step.action) && PLUMBLINE_RACE_HAS(cache_flush)) {
    pl_error* error = adapter_.cache_flush(registry_);
    const HostCode host;
    const MaybeFailure failure = Take(error);
    return failure ? failure->error_class : "";
  }
  return "";
}

// ---- the whole ----

void Runner::OnThread(ThreadNotes& mine, const std::vector<std::size_t>& steps) {
  const HostCode host;
  notes = &mine;
  try {
    for (const std::size_t step : steps) DoStep(scenario_.steps[step]);
    LeaveGuards(0);
  } catch (const std::exception& thrown) {
    threw_ = thrown.what();
  } catch (...) {
    threw_ = "something that is no std::exception";
  }
  notes = nullptr;
}

void Runner::CleanUp() {
  for (auto made = made_.rbegin(); made != made_.rend(); ++made) {
    if (made->registration != nullptr) Take(adapter_.release(made->registration));
  }
  for (auto made = made_.rbegin(); made != made_.rend(); ++made) {
    if (made->library != nullptr) Take(adapter_.library_close(made->library));
  }
  for (const Made& made : made_) {
    if (made.op != nullptr) adapter_.operator_release(made.op);
  }
  prepared_.clear();  // with their tensors
  // All was released and nothing runs; where a context is left all the same, drain may wait for ever.
  if (Forgotten() && PLUMBLINE_RACE_HAS(drain)) Take(adapter_.drain(registry_));
  adapter_.close(registry_);
}

ConcurrentRun Runner::Run() {
  ConcurrentRun run;
  run.history.release = scenario_.release;
  run.history.title = scenario_.title;
  run.history.clauses = scenario_.clauses;
  if (MaybeFailure failure = Open()) {
    run.refused = fmt::format("{} ({})", failure->message, failure->error_class);
    return run;
  }
  if (MaybeFailure failure = PrepareAll()) {
    run.refused = fmt::format("{} ({})", failure->message, failure->error_class);
    return run;
  }
  OnThread(threads_.emplace_back("main"), program_.before);
  std::vector<ThreadNotes*> mine;
  for (const Program::Thread& thread : program_.threads) {
    mine.push_back(&threads_.emplace_back(thread.name));
    mine.back()->random = (options_.jitter + mine.size()) * 0x9E3779B97F4A7C15u | 1;
    mine.back()->events.reserve(thread.steps.size() * 4 + 16);
  }
  const auto one = [&](int thread) {
    OnThread(*mine[static_cast<std::size_t>(thread)], program_.threads[static_cast<std::size_t>(thread)].steps);
  };
  const int count = static_cast<int>(program_.threads.size());
  racing_ = true;
  if (options_.plan != nullptr) {
    const auto body = [](void* context, int thread) { (*static_cast<decltype(one)*>(context))(thread); };
    const race::Run done = Schedule(*options_.plan, count, body, const_cast<void*>(static_cast<const void*>(&one)));
    run.ending = done.ending;
    run.steps = done.steps;
    run.switches.assign(done.switches, done.switches + done.switch_count);
    run.switches_complete = done.switches_complete;
  } else {
    std::vector<std::thread> free;
    for (int i = 0; i < count; ++i) {
      free.emplace_back([&, i] {
        started_.fetch_add(1);
        while (started_.load() < count) sched_yield();
        one(i);
      });
    }
    for (std::thread& thread : free) thread.join();
  }
  racing_ = false;
  const bool finished = run.ending == Ending::kDone;
  if (finished) {
    OnThread(threads_.emplace_back("main"), program_.after);
    CleanUp();
  }
  over_ = true;
  for (const ThreadNotes& thread : threads_) {
    run.history.events.insert(run.history.events.end(), thread.events.begin(), thread.events.end());
  }
  run.threw = threw_;
  if (options_.plan != nullptr && finished) run.heap = CheckQuarantine();
  run.lifetime = lifetime_;
  for (const Context& context : contexts_) {
    if (finished && context.destroyed.load() == 0) {
      run.lifetime.push_back({Kind::kNeverDestroyed, context.registration});
    }
  }
  return run;
}

}  // namespace

std::string Words(const LifetimeFault& fault) {
  switch (fault.kind) {
    case Kind::kRanAfterDestroyed:
      return fmt::format("a call ran the kernel of {} after its context had been destroyed", fault.registration);
    case Kind::kDestroyedWhileRunning:
      return fmt::format("the context of {} was destroyed while a call ran its kernel", fault.registration);
    case Kind::kDestroyedTwice:
      return fmt::format("the context of {} was destroyed twice", fault.registration);
    case Kind::kNotDrained:
      return fmt::format("drain returned, and the context of {}, which had been released before, was not destroyed",
                         fault.registration);
    case Kind::kNeverDestroyed:
      return fmt::format("the context of {} was never destroyed, though all was released", fault.registration);
  }
  return "";
}

ConcurrentRun RunProgram(const pl_adapter& adapter, const Program& program, const model::KeyTable& keys,
                         const RunOptions& options) {
  static int runs = 0;
  const std::string suffix = options.fresh ? "" : fmt::format("_pl{:06}r", ++runs);
  // What the backend still holds of a run may be called or destroyed later.
  static std::set<std::unique_ptr<Runner>> kept;
  auto runner = std::make_unique<Runner>(adapter, program, keys, options, suffix);
  ConcurrentRun done = runner->Run();
  if (!runner->Forgotten()) kept.insert(std::move(runner));
  return done;
}

}  // namespace plumbline::race
