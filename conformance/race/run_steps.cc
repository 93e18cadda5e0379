#include "conformance/race/concurrent_runner.h"

namespace plumbline::race {
namespace {

using abi::Borrow;
using scenario::Step;
using Kind = LifetimeFault::Kind;

}  // namespace

// ---- notes ----

Event& Runner::Note(Event::Kind kind, std::size_t* index) {
  notes->entries.push_back(nullptr);
  Event& event = notes->events.emplace_back();
  event.kind = kind;
  event.thread = notes->name;
  if (index != nullptr) *index = notes->events.size() - 1;
  return event;
}

void Runner::Begin(std::size_t index) {
  Event& event = notes->events[index];
  event.start = Tick();
  if (options_.journal != nullptr) notes->entries[index] = options_.journal->Asked(event);
}

// The answer of a step that was noted; a call that reached a kernel has its answer already.
std::string Runner::Finish(std::size_t index, pl_error* error, bool told) {
  const std::uint64_t now = Tick();
  const MaybeFailure failure = Take(error);
  Event& event = notes->events[index];
  if (event.end == kNever) {
    event.end = now;
    if (failure) event.error = failure->error_class;
    const bool call = event.kind == Event::Kind::kCall || event.kind == Event::Kind::kRedispatch;
    if (call && !failure) event.ran = "builtin";
    if (told) Told(index);
  }
  return failure ? failure->error_class : "";
}

void Runner::Told(std::size_t index) { JournalPage::Answered(notes->entries[index], notes->events[index]); }

void Runner::Unnote(std::size_t index) {
  if (JournalEntry* const entry = notes->entries[index]; entry != nullptr) entry->state = JournalEntry::kNone;
  notes->events.pop_back();
  notes->entries.pop_back();
}

std::string Runner::NewName(const std::string& given, const char* what, Prepared& prepared) {
  const std::string name = given.empty() ? fmt::format("{}{}", what, prepared.step->line) : given;
  const int before = prepared.times.fetch_add(1, std::memory_order_relaxed);
  return before == 0 ? name : fmt::format("{}~{}", name, before + 1);
}

std::string Runner::NewPlace(const Step& step, const std::string& registration) {
  std::string place = fmt::format("scenario:{}:{}", step.line, registration);
  const std::lock_guard lock(lock_);
  registration_at_[place] = registration;
  return place;
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
    out->signature = context.signature = harness::SignatureId(use.signature);
  }
  if (const auto definition = definitions_.find(use.kernel); definition != definitions_.end()) {
    context.body = definition->second;
  }
  out->function = &Runner::RunKernel;
  out->destroy = &Runner::DestroyKernel;
  out->context = &context;
  return context;
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
  Begin(index);
  pl_error* error;
  {
    const BackendCode backend;
    error = adapter_.call(registry_, &call);
  }
  notes->pending.pop_back();
  return Finish(index, error);
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
  Begin(index);
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
  if (notes->running == 0) notes->inner_calls = {};
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
    Begin(index);
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
    const std::string place = NewPlace(step, name);
    pl_kernel kernel;
    Context& context = NewContext(impl->kernel, name, place, &kernel);
    Event& event = Note(Event::Kind::kImpl, &index);
    event.op = impl->operator_name;
    event.key = impl->key.value_or("");
    event.fallthrough = impl->kernel.fallthrough;
    event.name = name;
    event.library = impl->library;
    Begin(index);
    pl_registration* made = nullptr;
    pl_error* error;
    {
      const BackendCode backend;
      error = adapter_.register_kernel(registry_, library != nullptr ? library->library : nullptr, Borrow(prepared.op),
                                       prepared.key, &kernel, &made);
    }
    const std::string failed = Finish(index, error);
    // Histories know no signatures. One that was refused for it must not be seen: then its name is unknown.
    if (failed == "schema-mismatch" && index + 1 == notes->events.size()) Unnote(index);
    if (made != nullptr) Keep(impl->name, {.name = name, .registration = made, .context = &context});
    return failed;
  }
  if (const auto* fallback = std::get_if<scenario::Fallback>(&step.action)) {
    if (!PLUMBLINE_RACE_HAS(register_fallback)) return "";
    const Made* library = fallback->library.empty() ? nullptr : Look(fallback->library);
    if (!fallback->library.empty() && library == nullptr) return "";
    const std::string name = NewName(fallback->name, "fallback", prepared);
    const std::string place = NewPlace(step, name);
    pl_kernel kernel;
    Context& context = NewContext(fallback->kernel, name, place, &kernel);
    Event& event = Note(Event::Kind::kFallback, &index);
    event.key = fallback->key.value_or("");
    event.fallthrough = fallback->kernel.fallthrough;
    event.name = name;
    event.library = fallback->library;
    Begin(index);
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
    Begin(index);
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
    Begin(index);
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
    Begin(index);
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
      Begin(index);
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
      Note(Event::Kind::kOperators, &index);
      Begin(index);
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
      const std::string failed = Finish(index, error, false);
      std::erase_if(names, [this](const std::string& name) { return !renaming_.Owns(name); });
      for (std::string& name : names) name = renaming_.Out(name);
      std::sort(names.begin(), names.end());
      notes->events[index].listed = std::move(names);
      Told(index);
      return failed;
    }
    if (query->kind == scenario::QueryKind::kTable && PLUMBLINE_RACE_HAS(dump_table)) {
      struct Row {
        pl_key key;
        bool ambiguous;
        std::string place;
      };
      Note(Event::Kind::kTable, &index).op = query->subject;
      Begin(index);
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
      const std::string failed = Finish(index, error, false);
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
      Told(index);
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

}  // namespace plumbline::race
