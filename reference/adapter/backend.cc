#include "reference/adapter/backend.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>
#include <vector>

#include "reference/boxing/schema.h"
#include "reference/faults/faults.h"
#include "reference/introspect/dump.h"
#include "reference/introspect/log.h"
#include "reference/introspect/trace.h"
#include "reference/keys/error.h"
#include "reference/registry/describe.h"
#include "reference/registry/plugin.h"

namespace plumbline::reference::adapter {
namespace {

constexpr std::string_view kRelease = "pytorch-1.13";

#ifdef PLUMBLINE_WITH_FAULTS
constexpr const char* kName = "broken";
#else
constexpr const char* kName = "reference";
#endif

OperatorRef Known(const Registry& registry, std::string_view name) {
  OperatorRef op = registry.Find(name);
  return op ? op : registry.FindOrThrow(name);
}

KeyDeclaration Declared(const abi::KeyDeclaration& key) {
  using Kind = KeyDeclaration::Kind;
  if (key.kind > PL_DECLARE_MODE) {
    throw abi::Error(PL_ERROR_INVALID_ARGUMENT, "the key " + key.name + " is declared as an unknown kind");
  }
  const Kind kinds[] = {Kind::kComponent, Kind::kBackend, Kind::kMode};
  return {kinds[key.kind], key.name, key.after, key.autograd};
}

}  // namespace

abi::Description Backend::Describe() {
  // What was asked for and cannot be had would otherwise go unsaid: a harness may keep what is written to stderr.
  for (const char* variable : {kDispatchTraceVariable, kRegistrationLogVariable}) {
    const char* const target = std::getenv(variable);
    if (target == nullptr || *target == '\0') continue;
    const std::string wrong = TextSink::WhatIsWrongWith(target);
    if (!wrong.empty()) throw abi::Error(PL_ERROR_INVALID_ARGUMENT, std::string(variable) + ": " + wrong);
  }
  return {.name = kName, .version = PLUMBLINE_VERSION, .release = std::string(kRelease)};
}

abi::Error Backend::Classify(const std::exception& exception) {
  if (const auto* own = dynamic_cast<const DispatchError*>(&exception)) {
    return abi::Error(static_cast<std::uint32_t>(own->error_class()), own->what());
  }
  // More memory than there is, or than a container can hold: what was asked for is too large.
  if (dynamic_cast<const std::bad_alloc*>(&exception) != nullptr ||
      dynamic_cast<const std::length_error*>(&exception) != nullptr) {
    return abi::Error(PL_ERROR_OVERFLOW, std::string("out of memory: ") + exception.what());
  }
  return abi::Error(PL_ERROR_UNCLASSIFIED, exception.what());
}

void Backend::Load(std::string_view path) {
  TakeLoadFailure();
  if (dlopen(std::string(path).c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr) {
    const char* why = dlerror();
    throw abi::Error(PL_ERROR_INVALID_ARGUMENT, why != nullptr ? why : "cannot load " + std::string(path));
  }
  if (const std::string why = TakeLoadFailure(); !why.empty()) throw abi::Error(PL_ERROR_INVALID_ARGUMENT, why);
}

Backend::Backend(const abi::OpenOptions& options) {
  const std::string_view release = options.release.empty() ? kRelease : std::string_view(options.release);
  if (options.fresh) {
    std::vector<KeyDeclaration> declared;
    for (const abi::KeyDeclaration& key : options.keys) declared.push_back(Declared(key));
    own_ = std::make_unique<Registry>(KeyTable::ForRelease(release, declared));
    registry_ = own_.get();
  } else {
    registry_ = &Registry::Default();
    if (release != registry_->keys().release()) {
      throw abi::Error(PL_ERROR_UNSUPPORTED, "the process-wide registry is of " + registry_->keys().release() +
                                                 "; open a fresh one for " + std::string(release));
    }
  }
  if (options.count_hits) registry_->CountHits(true);
#ifdef PLUMBLINE_WITH_OPERATORS
  if (options.operators && own_ != nullptr) operators_ = RegisterOperators(*registry_);
  if (options.operators && own_ == nullptr) {
    // Once for the process, as those of PyTorch are, and never taken back.
    [[maybe_unused]] static const auto* const made = new std::vector<Registration>(RegisterOperators(*registry_));
  }
#endif
}

// ---- keys ----

pl_key Backend::InternKey(std::string_view name) { return static_cast<pl_key>(registry_->keys().Get(name)); }

Key Backend::ToKey(pl_key key) const {
  const KeyTable& keys = registry_->keys();
  const bool alias = key >= kFirstAlias && key - kFirstAlias < keys.alias_keys().size();
  const bool slot = key < static_cast<pl_key>(keys.slot_count()) && keys.IsKeySlot(static_cast<int>(key));
  if (!alias && !slot) throw abi::Error(PL_ERROR_INVALID_ARGUMENT, "there is no key number " + std::to_string(key));
  return static_cast<Key>(key);
}
std::optional<Key> Backend::ToKey(std::optional<pl_key> key) const {
  return key.has_value() ? std::optional<Key>(ToKey(*key)) : std::nullopt;
}
KeySet Backend::ToSet(std::span<const pl_key> keys) const {
  std::vector<Key> own;
  for (const pl_key key : keys) {
    own.push_back(ToKey(key));  // [KEY-011] [KEY-012] Undefined and aliases add nothing
  }
  return registry_->keys().SetOf(own);
}
std::vector<pl_key> Backend::FromSet(KeySet keys) const {
  std::vector<pl_key> out;
  for (const Key key : registry_->keys().Keys(keys)) out.push_back(static_cast<pl_key>(key));
  return out;
}

// ---- registrations ----

Registration Backend::Define(Library* library, std::string_view schema, std::string_view place) {
  return registry_->Define(schema, place, library);
}
Registration Backend::RegisterKernel(Library* library, std::string_view op, std::optional<pl_key> key,
                                     abi::Kernel kernel) {
  const std::optional<Key> own = ToKey(key);
#ifdef PLUMBLINE_WITH_FAULTS
  if (PLUMBLINE_FAULT(kernel_is_seen_before_its_state)) {
    kernel_state_is_there = std::make_shared<std::atomic<bool>>(false);
    Registration made = registry_->Impl(op, own, MakeKernel(kernel, op, own), kernel.place, library);
    usleep(100);
    *std::exchange(kernel_state_is_there, nullptr) = true;
    return made;
  }
#endif
  return registry_->Impl(op, own, MakeKernel(kernel, op, own), kernel.place, library);
}
Registration Backend::RegisterFallback(Library* library, std::optional<pl_key> key, abi::Kernel kernel) {
  const std::optional<Key> own = ToKey(key);
  return registry_->Fallback(own, MakeKernel(kernel, "", own), kernel.place, library);
}
Registration Backend::AddListener(abi::HostListener listener) {
  return registry_->Listen({.defined = [listener](std::string_view name) { listener.Defined(name); },
                            .removed = [listener](std::string_view name) { listener.Removed(name); }},
                           "host");
}
Registration Backend::DeclareChain(pl_key key, pl_key served_by) {
  return registry_->DeclareChain(ToKey(key), ToKey(served_by), "host");
}
Library Backend::OpenLibrary(std::uint32_t kind, std::string_view name_space, std::optional<pl_key> key,
                             std::string_view place) {
  const LibraryKind own = kind == PL_LIBRARY_DEF        ? LibraryKind::kDef
                          : kind == PL_LIBRARY_FRAGMENT ? LibraryKind::kFragment
                                                        : LibraryKind::kImpl;
  return Library(*registry_, own, name_space, ToKey(key), place);
}
void Backend::WarningsTo(std::function<void(std::string_view)> sink) { registry_->WarnTo(std::move(sink)); }

// ---- calls ----

Operator Backend::FindOperator(std::string_view name) { return Operator::Find(*registry_, name); }

namespace {

void PushAll(Stack& stack, std::span<const HostValue> values) {
  for (const HostValue& value : values) stack.Push(FromHost(value));
}
HostValues All(Stack& stack) {
  HostValues out;
  for (const Value& value : stack.Top(stack.size())) out.push_back(ToHost(value));
  return out;
}

}  // namespace

HostValues Backend::CallBoxed(Operator& op, std::span<const HostValue> arguments) {
  Stack stack;
  PushAll(stack, arguments);
#ifdef PLUMBLINE_WITH_FAULTS
  try {
    op.CallBoxed(stack, arguments.size());
  } catch (const DispatchError& error) {
    const bool inside = thread_state.kernels_running > 0;
    if (PLUMBLINE_FAULT(inner_error_is_the_kernels) && inside) throw abi::Error(PL_ERROR_KERNEL_RAISED, error.what());
    throw;
  }
#else
  op.CallBoxed(stack, arguments.size());
#endif
  return All(stack);
}
HostValues Backend::Redispatch(Frame& frame, std::span<const pl_key> keys, std::span<const HostValue> arguments) {
  Stack stack;
  PushAll(stack, arguments);
  Operator(frame.op).RedispatchBoxed(ToSet(keys), stack, arguments.size());
  return All(stack);
}
Backend::Guard Backend::EnterGuard(std::uint32_t side, std::span<const pl_key> keys) {
  const KeyTable& table = registry_->keys();
  const KeySet set = ToSet(keys);
  if (side == PL_GUARD_INCLUDE) return {std::make_unique<IncludeGuard>(table, set), nullptr};
  return {nullptr, std::make_unique<ExcludeGuard>(table, set)};
}

// ---- tensors ----

Tensor Backend::MakeTensor(std::span<const pl_key> keys) { return Tensor::Make(ToSet(keys)); }
Tensor Backend::MakeUndefinedTensor() { return Tensor::Undefined(registry_->keys()); }
std::vector<pl_key> Backend::KeysOf(const Tensor& tensor) { return FromSet(tensor.keys()); }
std::uint64_t Backend::Identity(const Tensor& tensor) {
  return tensor.defined() ? reinterpret_cast<std::uintptr_t>(&tensor.object()) : 0;
}

// ---- cache and introspection ----

abi::CacheCounters Backend::Counters(Operator& op) {
  const CacheCounters counters = registry_->Counters(op.name());
  return {counters.hits, counters.misses, counters.invalidations};
}
bool Backend::HasKernel(std::string_view op, pl_key key, std::uint32_t query) {
  return query == PL_QUERY_COMPUTED ? registry_->HasComputed(op, ToKey(key)) : registry_->HasKernel(op, ToKey(key));
}
bool Backend::HasFallback(pl_key key) { return registry_->HasFallback(ToKey(key)); }

std::vector<std::string> Backend::ListOperators(std::uint32_t which, std::optional<pl_key> key) {
  if (which == PL_LIST_DANGLING) return registry_->Dangling();
  if (which == PL_LIST_ALL) return registry_->Operators();
  if (!key.has_value()) throw abi::Error(PL_ERROR_INVALID_ARGUMENT, "operators at which key?");
  return registry_->OperatorsAt(ToKey(*key));
}
std::string Backend::SchemaOf(std::string_view op) {
  Schema schema = Operator::Find(*registry_, op).schema();
  for (SchemaArgument& argument : schema.arguments) {
    if (PLUMBLINE_FAULT(schema_is_shown_without_defaults)) argument.default_value.clear();
  }
  return Print(schema);
}

std::vector<abi::TableRow> Backend::DumpTable(std::string_view name) {
  const OperatorRef op = Known(*registry_, name);
  std::vector<abi::TableRow> rows;
  for (TableRow& row : Describer(*registry_).Table(*op)) {
    rows.push_back(
        {static_cast<pl_key>(row.key), static_cast<std::uint32_t>(row.rule), row.fallthrough, std::move(row.place)});
  }
  return rows;
}

std::vector<std::string> Backend::DumpRegistrations(std::string_view name) {
  return reference::DumpRegistrations(*registry_, name);
}

// ---- faults ----

#ifdef PLUMBLINE_WITH_FAULTS
std::vector<std::string> Backend::Faults() {
  std::vector<std::string> lines;
  for (const FaultDescription& fault : reference::Faults()) {
    std::string& line = lines.emplace_back(fault.name);
    line.append("\t").append(fault.clause).append("\t").append(fault.what);
  }
  return lines;
}
void Backend::SetFault(std::string_view name) {
  if (!reference::SetFault(name)) throw abi::Error(PL_ERROR_NOT_FOUND, "no fault " + std::string(name));
}
#endif

}  // namespace plumbline::reference::adapter

PLUMBLINE_ADAPTER(plumbline::reference::adapter::Backend);
