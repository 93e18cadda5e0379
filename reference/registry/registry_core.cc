#include "reference/registry/registry_core.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "reference/faults/faults.h"
#include "reference/registry/built_in_fallback.h"
#include "reference/registry/describe.h"
#include "reference/registry/reclaim.h"

namespace plumbline::reference {

constinit std::atomic<CallObserver*> default_call_observer{nullptr};
constinit std::atomic<RegistrationObserver*> default_registration_observer{nullptr};

#ifdef PLUMBLINE_WITH_FAULTS
constinit thread_local KeySet arguments_of_call;
#endif

namespace {

constexpr std::string_view kWildcard = "_";

std::string_view Name(LibraryKind kind) {
  switch (kind) {
    case LibraryKind::kDef:
      return "DEF";
    case LibraryKind::kFragment:
      return "FRAGMENT";
    case LibraryKind::kImpl:
      return "IMPL";
  }
  return "";
}

KeySet Masked(const Table& table, KeySet set) {
#ifdef PLUMBLINE_WITH_FAULTS
  if (PLUMBLINE_FAULT(mask_of_the_arguments)) {
    return set & KeySet::FromBits(table.masks[arguments_of_call.component_position()]);
  }
  if (PLUMBLINE_FAULT(lowest_backend_chooses_mask)) {
    std::uint64_t lowest = KeySet::kComponents;
    for (std::uint64_t at = 0; at < KeySet::kComponents; ++at) {
      if ((set.bits() >> (KeySet::kComponentShift + at) & 1) != 0) lowest = at;
    }
    return set & KeySet::FromBits(table.masks[lowest]);
  }
#endif
  return table.Mask(set);
}

// Faults after which calls may go on to a kernel that was released.
bool KeptThoughReleased() {
  return PLUMBLINE_FAULT(release_is_not_published) || PLUMBLINE_FAULT(explicit_change_misses_autograd) ||
         PLUMBLINE_FAULT(backend_change_misses_autograd) || PLUMBLINE_FAULT(typed_calls_keep_their_table) ||
         PLUMBLINE_FAULT(change_spreads_to_used_slots) || PLUMBLINE_FAULT(release_by_a_kernel_waits) ||
         PLUMBLINE_FAULT(change_misses_served_slots) || PLUMBLINE_FAULT(change_misses_autogradother) ||
         PLUMBLINE_FAULT(change_misses_autogradnestedtensor) || PLUMBLINE_FAULT(explicit_change_misses_nested) ||
         PLUMBLINE_FAULT(dense_change_misses_autograd) || PLUMBLINE_FAULT(composite_change_misses_undefined) ||
         PLUMBLINE_FAULT(busy_release_is_not_published) || PLUMBLINE_FAULT(busy_register_is_not_published);
}

// Faults after which the context of a released kernel stays.
bool NeverDestroyed() {
  const bool inside = thread_state.kernels_running > 0;
  return PLUMBLINE_FAULT(released_kernel_is_kept) || PLUMBLINE_FAULT(release_drops_the_newest) ||
         PLUMBLINE_FAULT(last_kernel_stays) || (PLUMBLINE_FAULT(kernel_released_inside_is_kept) && inside);
}

#ifdef PLUMBLINE_WITH_FAULTS
void SpoilAffected(const KeyTable& keys, Key key, SlotSet& affected) {
  if (PLUMBLINE_FAULT(change_drops_every_slot)) affected.set();
  for (int slot = 0; slot < keys.slot_count(); ++slot) {
    const bool misses_explicit = keys.Alias(AliasRole::kExplicit) == key && !keys.Fills(AliasRole::kExplicit, slot);
    const bool misses_backend = !KeyTable::IsAlias(key) && static_cast<int>(key) != slot;
    if (PLUMBLINE_FAULT(explicit_change_misses_autograd) && misses_explicit) affected.reset(slot);
    if (PLUMBLINE_FAULT(backend_change_misses_autograd) && misses_backend) affected.reset(slot);
    const bool other = slot == keys.autograd_other_slot();
    const bool component = keys.IsPerBackend(static_cast<Key>(slot));
    if (PLUMBLINE_FAULT(change_misses_autogradother) && misses_backend && other) affected.reset(slot);
    if (PLUMBLINE_FAULT(change_misses_autogradnestedtensor) && misses_backend && !other && !component)
      affected.reset(slot);
    if (PLUMBLINE_FAULT(dense_change_misses_autograd) && misses_backend && component) affected.reset(slot);
    if (PLUMBLINE_FAULT(explicit_change_misses_nested) && misses_explicit) affected.reset(slot);
    if (PLUMBLINE_FAULT(composite_change_misses_undefined) && KeyTable::IsAlias(key) && slot == 0) affected.reset(slot);
  }
}
#endif

#ifdef PLUMBLINE_WITH_FAULTS
void CheckOldSignature(const OperatorEntry& op, const Signature& signature) {
  const Signature* const old = op.old_signature();
  if (!PLUMBLINE_FAULT(signature_outlives_the_kernels) || old == nullptr || Same(*old, signature)) return;
  Throw(ErrorClass::kSchemaMismatch, "Operator " + op.name() + " once had a kernel of the signature " + old->Name());
}
#endif

#ifdef PLUMBLINE_WITH_FAULTS
void CheckSpoilt(const OperatorEntry& op, const Signature* bound, bool boxed, const Signature& signature) {
  const bool other = bound != nullptr && !Same(*bound, signature);
  if (other || boxed)
    Throw(ErrorClass::kSchemaMismatch, "Operator " + op.name() + " has a kernel of another signature");
}
#endif

}  // namespace

#ifdef PLUMBLINE_WITH_FAULTS
namespace {

bool process_ends = false;

// When the process ends, after what was registered for its end later than the first registry was made.
void SpoilEnd() {
  process_ends = true;
  while (PLUMBLINE_FAULT(exit_waits_for_kernels) && thread_state.kernels_running > 0) usleep(1000);
}

}  // namespace

void Change::SpoilStart() {
  if (PLUMBLINE_FAULT(release_at_exit_crashes) && process_ends) std::abort();
  // The loader's lock is then taken with the registry's held.
  if (PLUMBLINE_FAULT(lock_is_held_around_the_loader)) dlopen(nullptr, RTLD_LAZY);
}
#endif

// ---- changes ----

Change::~Change() {
  const std::function<void(std::string_view)> warn = warnings.empty() ? nullptr : core_.warn_;
  RegistrationObserver* const observer = core_.registration_observer_.load(std::memory_order_acquire);
#ifdef PLUMBLINE_WITH_FAULTS
  if (PLUMBLINE_FAULT(listeners_hear_under_the_lock)) {
    for (const News& news : std::exchange(news_, {})) {
      const auto& tell = news.defined ? news.listener->listener.defined : news.listener->listener.removed;
      if (tell) tell(news.name);
    }
  }
  if (PLUMBLINE_FAULT(destructors_run_under_the_lock) && !kernels.empty()) {
    Reclaim([] {}, std::exchange(kernels, {}), &DropKernel);
  }
#endif
#ifdef PLUMBLINE_WITH_FAULTS
  if (PLUMBLINE_FAULT(contexts_go_with_the_next_change)) kernels.swap(core_.late_);
#endif
  lock_.unlock();
#ifdef PLUMBLINE_WITH_FAULTS
  if (late != nullptr) core_.Withdraw(*late, *this);
#endif
  // Permanent kernels stay, so nothing of theirs has to wait.
  if (!tables.empty() || !definitions.empty() || !kernels.empty() || !operators.empty() || !names.empty()) {
    const auto free_unreachable = [this] {
      for (Table* table : tables) Table::Delete(table);
      for (Definition* definition : definitions) delete definition;
      for (NameTable::Array* array : names) delete array;
#ifdef PLUMBLINE_WITH_FAULTS
      if (PLUMBLINE_FAULT(released_kernel_is_freed_at_once)) {
        for (KernelContext* kernel : kernels) kernel->references.store(1, std::memory_order_relaxed);
      }
#endif
    };
    if (PLUMBLINE_FAULT(no_grace_period)) {
      free_unreachable();
      for (KernelContext* kernel : kernels) DropKernel(kernel);
    } else {
      Reclaim(free_unreachable, kernels, &DropKernel);
    }
    for (OperatorEntry* op : operators) op->Release();
  }
  if (warn) {
    for (const std::string& warning : warnings) warn(warning);
  }
  if (observer != nullptr) {
    for (const LogLine& line : log_) {
      observer->OnRegistration({line.what, line.released, line.subject, line.key, line.place, line.shadows});
    }
  }
  for (const News& news : news_) {
    if (!news.listener->live.load(std::memory_order_acquire)) continue;
    const auto& tell = news.defined ? news.listener->listener.defined : news.listener->listener.removed;
    if (tell) tell(news.name);
  }
}

void Change::Tell(bool defined, const std::string& name) {
  for (const auto& listener : core_.listeners_) news_.push_back({listener, defined, name});
}

void Change::Log(RegistrationEvent::What what, bool released, std::string subject, std::string key, std::string place,
                 std::string shadows) {
  if (core_.registration_observer_.load(std::memory_order_relaxed) == nullptr) return;
  log_.push_back({what, released, std::move(subject), std::move(key), std::move(place), std::move(shadows)});
}

// ---- life ----

RegistryCore::RegistryCore(KeyTableRef keys, std::span<const StartingFallback> fallbacks)
    : keys_(*keys),
      // Calls of threads that the child does not have are not waited for.
      mutex_(
          ForkRank::kRegistry,
          [](void* core) {
            static_cast<RegistryCore*>(core)->undead_ = std::make_shared<std::atomic<std::int64_t>>(0);
          },
          this),
      fallbacks_(static_cast<std::size_t>(keys->slot_count()), nullptr),
      cold_(Table::Make(*keys)),
      undead_(std::make_shared<std::atomic<std::int64_t>>(0)),
      call_observer_(default_call_observer.load(std::memory_order_acquire)),
      registration_observer_(default_registration_observer.load(std::memory_order_acquire)) {
#ifdef PLUMBLINE_WITH_FAULTS
  [[maybe_unused]] static const int at_exit = std::atexit(&SpoilEnd);
#endif
  std::vector<StartingFallback> starting(fallbacks.begin(), fallbacks.end());
  if (PLUMBLINE_FAULT(private_autograd_falls_through)) starting.push_back({"AutogradPrivateUse1", true});
  for (const StartingFallback& fallback : starting) {
    if (PLUMBLINE_FAULT(autograd_cpu_has_no_built_in) && fallback.key == "AutogradCPU") continue;
    const Key key = keys_.Get(fallback.key);
    if (KeyTable::IsAlias(key) || key == kUndefined) {
      Throw(ErrorClass::kInvalidArgument, "There can be no fallback at " + fallback.key);
    }
    auto* kernel = new KernelContext;
    kernel->boxed = fallback.fallthrough ? nullptr : &BuiltInFallback;
    kernel->fallthrough = fallback.fallthrough;
    kernel->permanent = true;
    kernel->built_in = true;
    kernel->key = key;
    kernel->place = "built in";
    buried_.push_back(kernel);
    fallbacks_[static_cast<int>(key)] = kernel;
    if (kernel->fallthrough) falling_through_.set(static_cast<int>(key));
  }
}

RegistryCore::~RegistryCore() {
  for (KernelContext* kernel : buried_) delete kernel;
#ifdef PLUMBLINE_WITH_FAULTS
  for (KernelContext* kernel : late_) delete kernel;
#endif
  Table::Delete(cold_);
}

void RegistryCore::Close() {
  std::vector<KernelContext*> permanent;
  {
    Change change(*this);
    closed_ = true;
    listeners_.clear();
    for (OperatorEntry* op : operators_) {
      op->state_.store(OperatorState::kReleased, std::memory_order_release);
      Withdraw(*op, change);
      RefreshViews(*op);
      for (KernelContext* kernel : op->kernels_) Bury(kernel, change);
      op->kernels_.clear();
      op->direct_.reset();
      if (Definition* definition = op->definition_.exchange(nullptr)) change.definitions.push_back(definition);
      names_.Erase(op);
      change.operators.push_back(op);
    }
    operators_.clear();
    for (KernelContext*& kernel : fallbacks_) {
      if (kernel != nullptr && !kernel->built_in) Bury(kernel, change);
      kernel = nullptr;
    }
    chains_.clear();
    chained_.reset();
    def_libraries_.clear();
    permanent.swap(buried_);
  }
  for (KernelContext* kernel : permanent) delete kernel;
}

// ---- what changes have in common ----

void RegistryCore::CheckOpen(const LibraryRecord* library) const {
  if (library == nullptr || library->open) return;
  Throw(ErrorClass::kInvalidHandle, "The " + std::string(Name(library->kind)) + " library of '" + library->name_space +
                                        "' opened at " + library->place + " was closed");
}

std::string RegistryCore::QualifiedName(OperatorName& name, std::string_view written,
                                        const LibraryRecord* library) const {
  if (name.name_space.empty()) {
    if (PLUMBLINE_FAULT(library_takes_full_names) || library == nullptr) {
      Throw(ErrorClass::kInvalidArgument, "The operator name '" + std::string(written) + "' has no namespace");
    }
    name.name_space = library->name_space;
  } else if (library != nullptr && name.name_space != library->name_space &&
             !PLUMBLINE_FAULT(library_takes_foreign_names)) {
    Throw(ErrorClass::kInvalidArgument, "'" + std::string(written) + "' is not in '" + library->name_space +
                                            "', the namespace of the " + std::string(Name(library->kind)) +
                                            " library opened at " + library->place);
  }
  return name.Full();
}

std::optional<Key> RegistryCore::ChooseKey(std::optional<Key> key, const LibraryRecord* library) const {
  if (library == nullptr || !library->key || PLUMBLINE_FAULT(library_key_is_ignored)) return key;
  if (PLUMBLINE_FAULT(key_beats_the_library) && key) return key;
  if (key && *key != *library->key) {
    Throw(ErrorClass::kInvalidArgument, "The key " + keys_.Name(*key) + " is not that of the library opened at " +
                                            library->place + ", " + keys_.Name(*library->key));
  }
  return library->key;
}

std::shared_ptr<RegistrationRecord> RegistryCore::Record(RegistrationRecord::What what, LibraryRecord* library) {
  auto record = std::make_shared<RegistrationRecord>();
  record->what = what;
  record->core = shared_from_this();
  if (library != nullptr) library->made.push_back(record);
#ifdef PLUMBLINE_WITH_FAULTS
  if (library != nullptr) record->library = library->weak_from_this();
#endif
  return record;
}

KernelContext* RegistryCore::Adopt(Kernel& kernel, Key key, OperatorEntry* op, std::string place) {
  KernelContext* context = std::move(kernel).Take().release();
  context->key = key;
  context->op = op;
  context->place = std::move(place);
  context->number = next_number_++;
  return context;
}

// The registration's hold on a kernel ends. A permanent one stays until the registry closes, since calls of it are not
// counted.
void RegistryCore::Bury(KernelContext* kernel, Change& change) {
  kernel->released = true;
  if (kernel->permanent || KeptThoughReleased() || NeverDestroyed()) {
    buried_.push_back(kernel);
    return;
  }
  if (PLUMBLINE_FAULT(contexts_go_with_the_next_change)) {
    change.kernels.push_back(kernel);
    return;
  }
  kernel->undead = undead_;
  undead_->fetch_add(1, std::memory_order_relaxed);
  change.kernels.push_back(kernel);
}

OperatorEntry& RegistryCore::EntryNamed(const std::string& name, Change& change) {
  const std::uint64_t hash = HashName(name);
  if (OperatorEntry* op = names_.Find(name, hash)) return *op;
  auto* op = new OperatorEntry(shared_from_this(), name, hash);
  op->number_ = next_number_++;
  op->place_in_list_ = operators_.size();
  operators_.push_back(op);
  if (NameTable::Array* replaced = names_.Insert(op)) change.names.push_back(replaced);
  return *op;
}

void RegistryCore::RemoveIfUnused(OperatorEntry& op, Change& change) {
  if (op.definition() != nullptr || !op.kernels_.empty()) return;
  op.state_.store(OperatorState::kReleased, std::memory_order_release);
  RefreshViews(op);
  names_.Erase(&op);
  OperatorEntry* const last = operators_.back();
  operators_[op.place_in_list_] = last;
  last->place_in_list_ = op.place_in_list_;
  operators_.pop_back();
  change.operators.push_back(&op);
}

// ---- the cache ----

SlotSet RegistryCore::Affected(Key key) const {
  SlotSet affected = keys_.ReadBy(key);
#ifdef PLUMBLINE_WITH_FAULTS
  SpoilAffected(keys_, key, affected);
#endif
  // A chained slot also reads what the slot that serves it reads.
  for (bool more = chained_.any() && !PLUMBLINE_FAULT(change_misses_served_slots); more;) {
    more = false;
    for (const ChainRecord& chain : chains_) {
      const int from = static_cast<int>(chain.key);
      if (affected.test(from) || !affected.test(static_cast<int>(chain.served_by))) continue;
      affected.set(from);
      more = true;
    }
  }
  return affected;
}

// What a slot holds: by the rules, unless a fault forgot to drop what calls got before.
Resolution RegistryCore::Answer(const OperatorEntry& op, int slot) const {
#ifdef PLUMBLINE_WITH_FAULTS
  if (const auto known = op.answers_.find(slot); KeptThoughReleased() && known != op.answers_.end())
    return known->second;
#endif
  return op.Resolve(slot);
}

void RegistryCore::Changed(OperatorEntry& op, const SlotSet& affected, Change& change) {
  const SlotSet dropped = op.resolved_ & affected;
  op.invalidations_ += PLUMBLINE_FAULT(change_counts_one_invalidation) ? dropped.any() : dropped.count();
#ifdef PLUMBLINE_WITH_FAULTS
  ++op.changes_;
  std::erase_if(op.answers_, [&](const auto& answer) { return affected.test(static_cast<std::size_t>(answer.first)); });
#endif
  op.resolved_ &= ~affected;
#ifdef PLUMBLINE_WITH_FAULTS
  if (PLUMBLINE_FAULT(lock_ends_before_the_table)) {
    change.late = &op;
    return;
  }
#endif
  Withdraw(op, change);
}

void RegistryCore::ChangedEverywhere(const SlotSet& affected, Change& change) {
  for (OperatorEntry* op : operators_) Changed(*op, affected, change);
}

void RegistryCore::Withdraw(OperatorEntry& op, Change& change) {
  if (!op.published_) return;
  op.published_ = false;
  op.ForEachView([&](View& view) {
    Table* const table = view.table.load(std::memory_order_relaxed);
    if (table == cold_) return;
    if (PLUMBLINE_FAULT(typed_calls_keep_their_table) && view.signature != nullptr) return;
    Core::Publish(view.table, cold_);
    change.tables.push_back(table);
  });
}

void RegistryCore::RefreshViews(OperatorEntry& op) {
  const bool careful = call_observer_.load(std::memory_order_relaxed) != nullptr ||
                       count_hits_.load(std::memory_order_relaxed) || !asymmetric ||
                       op.state() != OperatorState::kDefined || FaultActive();
  op.ForEachView([&](View& view) { view.number.store(careful ? 0 : keys_.number(), std::memory_order_release); });
}

void RegistryCore::RefreshAllViews() {
  for (OperatorEntry* op : operators_) RefreshViews(*op);
}

SlotSet RegistryCore::Fallthroughs(const OperatorEntry& op) const {
  // Where a fallthrough may be: few slots, so that the rules need to be gone through for these only.
  SlotSet maybe = falling_through_ | chained_;
  for (const KernelContext* kernel : op.kernels_) {
    if (!kernel->fallthrough) continue;
    if (!KeyTable::IsAlias(kernel->key)) {
      maybe.set(static_cast<int>(kernel->key));
      continue;
    }
    for (int role = 0; role < kAliasRoles; ++role) {
      if (keys_.Alias(static_cast<AliasRole>(role)) != kernel->key) continue;
      for (int slot = 0; slot < keys_.slot_count(); ++slot) {
        if (keys_.Fills(static_cast<AliasRole>(role), slot)) maybe.set(slot);
      }
    }
  }
  SlotSet fallthroughs;
  for (const OperatorEntry* other : operators_) {
    if (!PLUMBLINE_FAULT(fallthrough_is_every_operators)) break;
    for (const KernelContext* kernel : other->kernels_) {
      if (kernel->fallthrough && !KeyTable::IsAlias(kernel->key)) fallthroughs.set(static_cast<int>(kernel->key));
    }
  }
  for (std::size_t slot = maybe._Find_first(); slot < maybe.size(); slot = maybe._Find_next(slot)) {
    if (Answer(op, static_cast<int>(slot)).fallthrough()) fallthroughs.set(slot);
  }
  return fallthroughs;
}

std::uintptr_t RegistryCore::Word(const View& view, const KernelContext* kernel) {
  if (kernel == nullptr || kernel->fallthrough) return kIndirect;
  const bool direct =
      view.signature == nullptr || (kernel->signature != nullptr && Same(*kernel->signature, *view.signature));
  const std::uintptr_t form = !direct ? kIndirect : kernel->permanent ? kDirect : kCounted;
  return reinterpret_cast<std::uintptr_t>(kernel) | form;
}

// Builds the table of a view: masks, and the slots that are resolved.
Table* RegistryCore::Publish(OperatorEntry& op, View& view) {
  Table* table = Table::Make(keys_);
  SlotSet fallthroughs = Fallthroughs(op);
#ifdef PLUMBLINE_WITH_FAULTS
  if (!op.fallthroughs_) op.fallthroughs_ = fallthroughs;
  if (PLUMBLINE_FAULT(mask_is_made_once)) fallthroughs = *op.fallthroughs_;
  if (PLUMBLINE_FAULT(released_fallthrough_stays_masked)) fallthroughs = *op.fallthroughs_ |= fallthroughs;
#endif
  for (std::size_t slot = fallthroughs._Find_first(); slot < fallthroughs.size();
       slot = fallthroughs._Find_next(slot)) {
    const Key key = static_cast<Key>(slot);
    const int functionality = keys_.FunctionalityPosition(key);
    if (functionality < 0) continue;  // Undefined is in no set
    const std::uint64_t keep = ~(std::uint64_t{1} << functionality);
    // [RES-012] [RES-013] [RES-025] Each backend has a mask of its own; a key that is no backend's is in all of them.
    if (PLUMBLINE_FAULT(fallthrough_is_not_masked)) continue;
    if (PLUMBLINE_FAULT(plain_fallthrough_is_one_backends) && !keys_.IsPerBackend(key)) {
      table->masks[KeySet::kComponents - 1] &= keep;
    } else if (keys_.IsPerBackend(key) && !PLUMBLINE_FAULT(fallthrough_is_every_backends)) {
      table->masks[keys_.ComponentPosition(key)] &= keep;
    } else {
      for (std::uint64_t& mask : table->masks) mask &= keep;
    }
  }
  for (std::size_t slot = op.resolved_._Find_first(); slot < op.resolved_.size();
       slot = op.resolved_._Find_next(slot)) {
    table->slots[slot].store(Word(view, Answer(op, static_cast<int>(slot)).winner), std::memory_order_relaxed);
  }
  Core::Publish(view.table, table);
  op.published_ = true;
  return table;
}

// ---- libraries ----

std::shared_ptr<LibraryRecord> RegistryCore::OpenLibrary(LibraryKind kind, std::string_view name_space,
                                                         std::optional<Key> key, std::string place) {
  auto library = std::make_shared<LibraryRecord>();
  Change change(*this);
  if (key && kind != LibraryKind::kImpl) {
    Throw(ErrorClass::kInvalidArgument, "Only an IMPL library has a key, at " + place);
  }
  if (name_space.empty()) Throw(ErrorClass::kInvalidArgument, "A library needs a namespace, at " + place);
  if (PLUMBLINE_FAULT(fragment_needs_a_def) && kind == LibraryKind::kFragment && !def_libraries_.contains(name_space)) {
    Throw(ErrorClass::kNotFound, "There is no DEF library of '" + std::string(name_space) + "'");
  }
  if (name_space == kWildcard && kind != LibraryKind::kImpl && !PLUMBLINE_FAULT(wildcard_is_for_every_library)) {
    Throw(ErrorClass::kInvalidArgument, "The namespace '_' is for IMPL libraries with fallbacks only, at " + place);
  }
  if (kind == LibraryKind::kDef) {
    const auto other = def_libraries_.find(name_space);
    if (other != def_libraries_.end() && !PLUMBLINE_FAULT(second_def_library_is_taken)) {
      Throw(ErrorClass::kDuplicate, "The namespace '" + std::string(name_space) +
                                        "' has a DEF library already, opened at " + other->second->place +
                                        "; this one, at " + place + ", may be a FRAGMENT library");
    }
    def_libraries_.emplace(name_space, library.get());
  }
  library->core = shared_from_this();
  library->kind = kind;
  library->name_space = name_space;
  library->key = key;
  library->place = std::move(place);
  change.Log(RegistrationEvent::What::kLibrary, false, library->name_space, key ? keys_.Name(*key) : "",
             library->place);
  return library;
}

void RegistryCore::CloseLibrary(LibraryRecord& library) {
  Change change(*this);
  if (!library.open) return;
  library.open = false;
  for (const std::weak_ptr<RegistrationRecord>& made : library.made) {
    const std::shared_ptr<RegistrationRecord> record = made.lock();
    if (PLUMBLINE_FAULT(closing_keeps_registrations)) continue;
    if (record != nullptr && record->in_force && !closed_) Undo(*record, change);
#ifdef PLUMBLINE_WITH_FAULTS
    if (PLUMBLINE_FAULT(library_goes_piece_by_piece)) change.StepAside();
#endif
  }
  library.made.clear();
  const auto found = def_libraries_.find(library.name_space);
  if (found != def_libraries_.end() && found->second == &library) def_libraries_.erase(found);
  change.Log(RegistrationEvent::What::kLibrary, true, library.name_space, library.key ? keys_.Name(*library.key) : "",
             library.place);
}

// ---- definitions ----

void RegistryCore::CheckFits(const OperatorEntry& op, const Definition& definition, const KernelContext& kernel) const {
  if (kernel.signature == nullptr) return;
  const std::string difference = Difference(definition.schema, kernel.signature->schema());
  if (difference.empty()) return;
  Throw(ErrorClass::kSchemaMismatch,
        "The schema of operator " + op.name() + " and its kernel do not agree: " + difference +
            ".\n  schema: " + Print(definition.schema) + "\n    defined at " + definition.place +
            "\n  kernel: " + PrintTypes(kernel.signature->schema()) + ", in C++ " + kernel.signature->Name() +
            "\n    registered at " + kernel.place);
}

std::shared_ptr<RegistrationRecord> RegistryCore::Define(Schema schema, std::string place, LibraryRecord* library) {
  Change change(*this);
  CheckOpen(library);
  if (library != nullptr && library->kind == LibraryKind::kImpl && !PLUMBLINE_FAULT(impl_library_defines)) {
    Throw(ErrorClass::kInvalidArgument, "An IMPL library defines no operators: '" + schema.full_name() + "' at " +
                                            place + ", in the library opened at " + library->place +
                                            ". Use a DEF or FRAGMENT library");
  }
  const std::string written = schema.full_name();
  const std::string name = QualifiedName(schema.name, written, library);
  OperatorEntry* known = names_.Find(name, HashName(name));
  if (PLUMBLINE_FAULT(second_definition_is_dropped) && known != nullptr && known->definition() != nullptr) {
    std::shared_ptr<RegistrationRecord> record = Record(RegistrationRecord::What::kDefinition, library);
    record->in_force = false;
    return record;
  }
  if (known != nullptr && known->definition() != nullptr) {
    Throw(ErrorClass::kDuplicate, "Operator " + name + " is defined already: " + Print(known->definition()->schema) +
                                      "\n  first defined at " + known->definition()->place + "\n  defined again at " +
                                      place);
  }
  auto definition = std::make_unique<Definition>(std::move(schema), std::move(place));
  bool checked = known != nullptr && !PLUMBLINE_FAULT(definition_does_not_check);
#ifdef PLUMBLINE_WITH_FAULTS
  if (PLUMBLINE_FAULT(second_definition_does_not_check) && checked && known->was_defined_) checked = false;
#endif
  if (checked) {
    for (const KernelContext* kernel : known->kernels_) CheckFits(*known, *definition, *kernel);
  }

  OperatorEntry& op = EntryNamed(name, change);
  // A definition starts with nothing resolved and nothing counted.
  op.resolved_.reset();
  op.misses_ = op.invalidations_ = 0;
  op.hits_.store(0, std::memory_order_relaxed);
  change.Log(RegistrationEvent::What::kDefine, false, name, "", definition->place);
  Core::Publish(op.definition_, definition.release());
  op.state_.store(OperatorState::kDefined, std::memory_order_release);
  Withdraw(op, change);
  RefreshViews(op);
  change.Tell(true, name);
  std::shared_ptr<RegistrationRecord> record = Record(RegistrationRecord::What::kDefinition, library);
  record->op = &op;
  return record;
}

// ---- kernels ----

#ifdef PLUMBLINE_WITH_FAULTS
void RegistryCore::CheckSpoiltSignature(const OperatorEntry& op, const Signature& signature) {
  if (PLUMBLINE_FAULT(first_signature_binds_for_ever)) CheckSpoilt(op, op.old_signature_, false, signature);
  if (PLUMBLINE_FAULT(refused_kernel_binds)) CheckSpoilt(op, op.refused_signature_, false, signature);
  for (const KernelContext* kernel : op.kernels_) {
    const bool boxed = kernel->signature == nullptr && !kernel->fallthrough;
    if (PLUMBLINE_FAULT(boxed_kernel_binds)) CheckSpoilt(op, nullptr, boxed, signature);
  }
}
#endif

void RegistryCore::CheckSignature(const OperatorEntry& op, const Signature& signature, std::string_view what) const {
  for (const KernelContext* kernel : op.kernels_) {
    if (kernel->signature == nullptr || kernel->signature->symbolic != signature.symbolic) continue;
    if (Same(*kernel->signature, signature)) continue;
    Throw(ErrorClass::kSchemaMismatch, std::string(what) + " of operator " + op.name() + " has the C++ signature " +
                                           signature.Name() + ", but its kernel at " + keys_.Name(kernel->key) +
                                           ", registered at " + kernel->place + ", has " + kernel->signature->Name() +
                                           ". All typed kernels and calls of an operator must have the same");
  }
}

std::shared_ptr<RegistrationRecord> RegistryCore::Impl(std::string_view op_name, std::optional<Key> key, Kernel& kernel,
                                                       std::string place, LibraryRecord* library) {
  Change change(*this);
  CheckOpen(library);
  key = ChooseKey(key, library);
  const bool inside_kernel = thread_state.kernels_running > 0;
  if (PLUMBLINE_FAULT(kernel_may_not_register) && inside_kernel) {
    Throw(ErrorClass::kInternal, "A kernel that runs cannot register");
  }
  if (PLUMBLINE_FAULT(wildcard_kernel_is_dropped) && library != nullptr && library->name_space == kWildcard) {
    std::shared_ptr<RegistrationRecord> record = Record(RegistrationRecord::What::kKernel, library);
    record->in_force = false;
    return record;
  }
  if (library != nullptr && library->name_space == kWildcard) {
    Throw(ErrorClass::kInvalidArgument,
          "A library of the namespace '_' takes fallbacks only: '" + std::string(op_name) + "' at " + place);
  }
  OperatorName parsed = ParseOperatorName(op_name);
  if (PLUMBLINE_FAULT(impl_forgets_the_overload)) parsed.overload.clear();
  const std::string name = QualifiedName(parsed, op_name, library);
  const bool keyless = !key || *key == kUndefined;
  if (keyless) key = keys_.Get("CompositeImplicitAutograd");
  if (PLUMBLINE_FAULT(no_key_means_explicit) && keyless) key = keys_.Get("CompositeExplicitAutograd");

  OperatorEntry* known = names_.Find(name, HashName(name));
  const Signature* signature = kernel.context().signature;
  if (PLUMBLINE_FAULT(impl_needs_a_definition) && (known == nullptr || known->definition() == nullptr)) {
    Throw(ErrorClass::kNotFound, "Operator " + name + " is not defined");
  }
#ifdef PLUMBLINE_WITH_FAULTS
  if (known != nullptr && signature != nullptr) CheckSpoiltSignature(*known, *signature);
#endif
  if (known != nullptr && signature != nullptr) {
    if (!PLUMBLINE_FAULT(signatures_may_differ)) CheckSignature(*known, *signature, "The kernel at " + place);
    if (known->definition() != nullptr) {
      const std::string difference = Difference(known->definition()->schema, signature->schema());
#ifdef PLUMBLINE_WITH_FAULTS
      if (!difference.empty()) {
        known->refused_signature_ = signature;
        if (PLUMBLINE_FAULT(refused_kernel_hides_the_last) && !KeyTable::IsAlias(*key)) {
          known->direct_.reset(static_cast<int>(*key));
          Changed(*known, Affected(*key), change);
        }
        if (PLUMBLINE_FAULT(refused_kernel_shows_for_a_moment)) {
          KernelContext* const shown = std::move(kernel).Take().release();
          shown->key = *key;
          shown->op = known;
          shown->place = place;
          shown->signature = nullptr;
          known->kernels_.push_back(shown);
          Changed(*known, Affected(*key), change);
          change.StepAside();
          std::erase(known->kernels_, shown);
          Changed(*known, Affected(*key), change);
          Bury(shown, change);
        }
        if (PLUMBLINE_FAULT(refused_kernel_is_kept)) buried_.push_back(std::move(kernel).Take().release());
      }
#endif
      if (!difference.empty()) {
        Throw(ErrorClass::kSchemaMismatch,
              "The kernel for operator " + name + " does not fit its schema: " + difference +
                  ".\n  schema: " + Print(known->definition()->schema) + "\n    defined at " +
                  known->definition()->place + "\n  kernel: " + PrintTypes(signature->schema()) + ", in C++ " +
                  signature->Name() + "\n    registered at " + place);
      }
    }
  }

  if (PLUMBLINE_FAULT(listener_hears_kernels) && known == nullptr) change.Tell(true, name);
  OperatorEntry& op = EntryNamed(name, change);
  const KernelContext* replaced = op.Newest(*key);
  KernelContext* context = Adopt(kernel, *key, &op, std::move(place));
#ifdef PLUMBLINE_WITH_FAULTS
  if (PLUMBLINE_FAULT(override_is_two_steps) && replaced != nullptr) {
    KernelContext* const before = op.Newest(*key);
    std::erase(op.kernels_, before);
    Changed(op, Affected(*key), change);
    change.StepAside();
    op.kernels_.push_back(before);
  }
  if (PLUMBLINE_FAULT(concurrent_register_is_lost) || PLUMBLINE_FAULT(concurrent_release_is_lost)) {
    const std::vector<KernelContext*> read = op.kernels_;
    change.StepAside();
    const bool lost = PLUMBLINE_FAULT(concurrent_register_is_lost) ? op.kernels_.size() > read.size()
                                                                   : op.kernels_.size() < read.size();
    if (lost) op.kernels_ = read;
  }
#endif
  op.kernels_.push_back(context);
  if (!KeyTable::IsAlias(*key)) op.direct_.set(static_cast<int>(*key));
  const bool inside = thread_state.kernels_running > 0;
#ifdef PLUMBLINE_WITH_FAULTS
  const bool unseen = PLUMBLINE_FAULT(busy_register_is_not_published) && change.waited();
#else
  constexpr bool unseen = false;
#endif
  if (!PLUMBLINE_FAULT(change_is_not_published) && !unseen &&
      !(inside && PLUMBLINE_FAULT(registration_by_a_kernel_waits))) {
    Changed(op, Affected(*key), change);
  }
#ifdef PLUMBLINE_WITH_FAULTS
  if (op.old_signature_ == nullptr) op.old_signature_ = signature;
  if (PLUMBLINE_FAULT(change_spreads_to_used_slots)) {
    for (auto& [slot, answer] : op.answers_) answer = {Rule::kKernel, context};
  }
#endif
  std::shared_ptr<RegistrationRecord> record = Record(RegistrationRecord::What::kKernel, library);
  record->op = &op;
  record->kernel = context;
  if (PLUMBLINE_FAULT(second_kernel_warns) && op.kernels_.size() % 2 == 0) {
    change.warnings.push_back("Operator " + name + " has another kernel");
  }
  if (replaced != nullptr && keys_.WarnsOfOverride(*key) && !PLUMBLINE_FAULT(shadowing_does_not_warn)) {
    record->replaced = true;
    change.warnings.push_back("Operator " + name + " has a new kernel at " + keys_.Name(*key) +
                              ", which takes over from the one before.\n  before: registered at " + replaced->place +
                              "\n  now:    registered at " + context->place);
  }
  change.Log(RegistrationEvent::What::kImpl, false, name, keys_.Name(*key), context->place,
             replaced != nullptr ? replaced->place : "");
  return record;
}

// ---- fallbacks, chains, listeners ----

std::shared_ptr<RegistrationRecord> RegistryCore::Fallback(std::optional<Key> key, Kernel& kernel, std::string place,
                                                           LibraryRecord* library) {
  Change change(*this);
  CheckOpen(library);
  key = ChooseKey(key, library);
  const bool slotless = !key || *key == kUndefined || KeyTable::IsAlias(*key);
  const auto dropped = [&] {
    std::shared_ptr<RegistrationRecord> record = Record(RegistrationRecord::What::kFallback, library);
    record->in_force = false;
    return record;
  };
  if (PLUMBLINE_FAULT(fallback_without_slot_is_dropped) && slotless) return dropped();
  const bool anywhere = PLUMBLINE_FAULT(fallback_in_any_library);
  if (!anywhere && library != nullptr && (library->kind != LibraryKind::kImpl || library->name_space != kWildcard)) {
    Throw(ErrorClass::kInvalidArgument, "A fallback serves every namespace: the one at " + place +
                                            " belongs in an IMPL library of the namespace '_', not in a " +
                                            std::string(Name(library->kind)) + " library of '" + library->name_space +
                                            "'");
  }
  if (kernel.context().signature != nullptr) {
    if (PLUMBLINE_FAULT(typed_fallback_is_dropped)) return dropped();
    Throw(ErrorClass::kInvalidArgument, "A fallback serves operators of every schema and so is boxed: " + place);
  }
  if (!key || *key == kUndefined) Throw(ErrorClass::kInvalidArgument, "A fallback needs a key: " + place);
  if (KeyTable::IsAlias(*key)) {
    Throw(ErrorClass::kInvalidArgument, "A fallback belongs to one key, and " + keys_.Name(*key) +
                                            " is an alias: " + place + ". Register one at each key, or a kernel");
  }
  const int slot = static_cast<int>(*key);
  if (PLUMBLINE_FAULT(second_fallback_is_dropped) && fallbacks_[slot] != nullptr) return dropped();
  if (PLUMBLINE_FAULT(built_in_fallback_gives_way) && fallbacks_[slot] != nullptr && fallbacks_[slot]->built_in) {
    fallbacks_[slot] = nullptr;
    falling_through_.reset(slot);
  }
  if (const KernelContext* other = fallbacks_[slot]) {
    Throw(ErrorClass::kDuplicate, "There is a fallback at " + keys_.Name(*key) + " already, " +
                                      (other->built_in ? "which the release brings" : "registered at " + other->place) +
                                      "; another was given at " + place);
  }
  KernelContext* context = Adopt(kernel, *key, nullptr, std::move(place));
#ifdef PLUMBLINE_WITH_FAULTS
  if (PLUMBLINE_FAULT(fallback_comes_after_its_news)) {
    ChangedEverywhere(Affected(*key), change);
    change.StepAside();
  }
#endif
  fallbacks_[slot] = context;
  if (context->fallthrough && !PLUMBLINE_FAULT(fallthrough_fallback_is_entered)) falling_through_.set(slot);
  if (!PLUMBLINE_FAULT(fallback_is_not_published) && !PLUMBLINE_FAULT(fallback_comes_after_its_news))
    ChangedEverywhere(Affected(*key), change);
  std::shared_ptr<RegistrationRecord> record = Record(RegistrationRecord::What::kFallback, library);
  record->kernel = context;
  record->key = *key;
  change.Log(RegistrationEvent::What::kFallback, false, "", keys_.Name(*key), context->place);
  return record;
}

std::shared_ptr<RegistrationRecord> RegistryCore::DeclareChain(Key key, Key served_by, std::string place) {
  Change change(*this);
  // Faults drop a chain that they should refuse: its record is of nothing.
  const auto dropped = [&] {
    std::shared_ptr<RegistrationRecord> record = Record(RegistrationRecord::What::kChain, nullptr);
    record->in_force = false;
    return record;
  };
  for (Key end : {key, served_by}) {
    if (end == kUndefined || KeyTable::IsAlias(end)) {
      if (PLUMBLINE_FAULT(chain_between_aliases_is_dropped)) return dropped();
      Throw(ErrorClass::kInvalidArgument,
            "A chain leads from one key to another, and " + keys_.Name(end) + " is none: " + place);
    }
  }
  const auto next = [&](Key from) {
    return std::find_if(chains_.begin(), chains_.end(), [&](const ChainRecord& c) { return c.key == from; });
  };
  if (const auto other = next(key); other != chains_.end()) {
    if (PLUMBLINE_FAULT(second_chain_is_dropped_silently)) return dropped();
    Throw(ErrorClass::kDuplicate, keys_.Name(key) + " is served by " + keys_.Name(other->served_by) +
                                      " already, declared at " + other->place + "; declared again at " + place);
  }
  std::string path = keys_.Name(key);
  for (Key at = served_by;;) {
    path += " -> " + keys_.Name(at);
    if (at == key) {
      if (PLUMBLINE_FAULT(cycle_is_dropped_silently)) return dropped();
      Throw(ErrorClass::kInvalidArgument, "The chain declared at " + place + " would be a cycle: " + path);
    }
    const auto link = next(at);
    if (link == chains_.end()) break;
    at = link->served_by;
  }
  chains_.push_back({key, served_by, place});
  chained_.set(static_cast<int>(key));
  ChangedEverywhere(Affected(key), change);
  std::shared_ptr<RegistrationRecord> record = Record(RegistrationRecord::What::kChain, nullptr);
  record->key = key;
  change.Log(RegistrationEvent::What::kChain, false, keys_.Name(served_by), keys_.Name(key), std::move(place));
  return record;
}

std::shared_ptr<RegistrationRecord> RegistryCore::Listen(Listener listener, std::string place) {
  auto listening = std::make_shared<ListenerRecord>();
  listening->listener = std::move(listener);
  std::vector<std::pair<std::uint64_t, std::string>> defined;
  std::shared_ptr<RegistrationRecord> record;
  {
    Change change(*this);
    for (const OperatorEntry* op : operators_) {
      if (PLUMBLINE_FAULT(listener_hears_no_past)) break;
      if (op->definition() != nullptr) defined.emplace_back(op->number_, op->name());
    }
    listeners_.push_back(listening);
    record = Record(RegistrationRecord::What::kListener, nullptr);
    record->listener = listening;
    change.Log(RegistrationEvent::What::kListener, false, "", "", std::move(place));
  }
  std::sort(defined.begin(), defined.end());
  for (const auto& [number, name] : defined) {
    if (listening->listener.defined) listening->listener.defined(name);
  }
  return record;
}

// ---- release ----

bool RegistryCore::InForce(const RegistrationRecord& record) const {
  const std::lock_guard lock(mutex_);
  return record.in_force && !closed_;
}

void RegistryCore::Release(RegistrationRecord& record) {
#ifdef PLUMBLINE_WITH_FAULTS
  if (PLUMBLINE_FAULT(release_waits_for_its_calls) && record.what == RegistrationRecord::What::kKernel) {
    {
      Change change(*this);
      if (record.in_force && !closed_) Undo(record, change);
    }
    for (std::int64_t running; (running = undead_->load(std::memory_order_acquire)) != 0;) undead_->wait(running);
    return;
  }
#endif
  Change change(*this);
#ifdef PLUMBLINE_WITH_FAULTS
  const std::shared_ptr<LibraryRecord> library = record.library.lock();
  if (PLUMBLINE_FAULT(library_holds_its_handles) && library != nullptr && library->open) return;
  if (PLUMBLINE_FAULT(late_release_drops_another) && !record.in_force && !closed_ && record.kernel != nullptr &&
      !record.op->kernels_.empty()) {
    record.op->kernels_.pop_back();
    record.op->direct_.reset();
    Changed(*record.op, SlotSet().set(), change);
  }
#endif
  if (record.in_force && !closed_) Undo(record, change);
}

void RegistryCore::Undo(RegistrationRecord& record, Change& change) {
  record.in_force = false;
  switch (record.what) {
    case RegistrationRecord::What::kDefinition: {
      OperatorEntry& op = *record.op;
      if (PLUMBLINE_FAULT(used_definition_stays) && op.resolved_.any()) return;
      Definition* const definition = op.definition_.load(std::memory_order_relaxed);
      change.Log(RegistrationEvent::What::kDefine, true, op.name(), "", definition->place);
      op.state_.store(OperatorState::kDangling, std::memory_order_release);
      Core::Publish<Definition>(op.definition_, nullptr);
      change.definitions.push_back(definition);
      Withdraw(op, change);
      RefreshViews(op);
      if (!PLUMBLINE_FAULT(listener_misses_removals)) change.Tell(false, op.name());
#ifdef PLUMBLINE_WITH_FAULTS
      op.was_defined_ = true;
      if (PLUMBLINE_FAULT(definition_takes_its_kernels)) {
        op.kernels_.clear();
        op.direct_.reset();
        return;
      }
#endif
      RemoveIfUnused(op, change);
      return;
    }
    case RegistrationRecord::What::kKernel: {
      OperatorEntry& op = *record.op;
      KernelContext* const kernel = record.kernel;
#ifdef PLUMBLINE_WITH_FAULTS
      KernelContext* const newest = op.Newest(kernel->key);
      if (PLUMBLINE_FAULT(last_kernels_outlive_their_operator) && op.definition() == nullptr) return;
      if (PLUMBLINE_FAULT(release_out_of_order_is_ignored) && newest != kernel) return;
      if (PLUMBLINE_FAULT(release_drops_the_newest) && newest != kernel) {
        std::replace(op.kernels_.begin(), op.kernels_.end(), kernel, newest);
        op.kernels_.pop_back();
        std::replace(op.kernels_.begin(), op.kernels_.end(), newest, kernel);
        Changed(op, Affected(kernel->key), change);
        Bury(kernel, change);
        return;
      }
      const bool alone = std::ranges::count(op.kernels_, kernel->key, &KernelContext::key) == 1;
      if (PLUMBLINE_FAULT(last_kernel_stays) && alone) return;
#endif
      std::erase(op.kernels_, kernel);
      const KernelContext* const next = op.Newest(kernel->key);
      const bool empty = next == nullptr || PLUMBLINE_FAULT(release_empties_the_key);
      if (empty && !KeyTable::IsAlias(kernel->key)) op.direct_.reset(static_cast<int>(kernel->key));
      const bool inside = thread_state.kernels_running > 0;
#ifdef PLUMBLINE_WITH_FAULTS
      const bool unseen = PLUMBLINE_FAULT(busy_release_is_not_published) && change.waited();
#else
      constexpr bool unseen = false;
#endif
      if (!PLUMBLINE_FAULT(release_is_not_published) && !unseen &&
          !(inside && PLUMBLINE_FAULT(release_by_a_kernel_waits))) {
        Changed(op, Affected(kernel->key), change);
      }
      change.Log(RegistrationEvent::What::kImpl, true, op.name(), keys_.Name(kernel->key), kernel->place,
                 next != nullptr ? next->place : "");
      Bury(kernel, change);
      RemoveIfUnused(op, change);
      return;
    }
    case RegistrationRecord::What::kFallback: {
      const int slot = static_cast<int>(record.key);
      fallbacks_[slot] = nullptr;
      falling_through_.reset(slot);
      ChangedEverywhere(Affected(record.key), change);
      change.Log(RegistrationEvent::What::kFallback, true, "", keys_.Name(record.key), record.kernel->place);
      Bury(record.kernel, change);
      return;
    }
    case RegistrationRecord::What::kChain: {
      if (PLUMBLINE_FAULT(released_chain_serves_on)) return;
      const SlotSet affected = Affected(record.key);
      const auto chain =
          std::find_if(chains_.begin(), chains_.end(), [&](const ChainRecord& c) { return c.key == record.key; });
      change.Log(RegistrationEvent::What::kChain, true, keys_.Name(chain->served_by), keys_.Name(record.key),
                 chain->place);
      chains_.erase(chain);
      chained_.reset(static_cast<int>(record.key));
      ChangedEverywhere(affected, change);
      return;
    }
    case RegistrationRecord::What::kListener:
      if (PLUMBLINE_FAULT(released_listener_hears_on)) return;
      record.listener->live.store(false, std::memory_order_release);
      std::erase(listeners_, record.listener);
      change.Log(RegistrationEvent::What::kListener, true, "", "", "");
      return;
  }
}

// ---- settings ----

void RegistryCore::WarnTo(std::function<void(std::string_view)> sink) {
  const std::lock_guard lock(mutex_);
  warn_.swap(sink);
}

void RegistryCore::ObserveCalls(CallObserver* observer) {
  const std::lock_guard lock(mutex_);
  call_observer_.store(observer, std::memory_order_release);
  RefreshAllViews();
}

void RegistryCore::TellInstance(std::string_view op, std::string_view dtype, std::string_view device) const {
  CallObserver* const observer = call_observer_.load(std::memory_order_acquire);
  if (observer != nullptr) {
    observer->OnInstance({.op = op, .dtype = dtype, .device = device, .depth = thread_state.depth});
  }
}

void RegistryCore::ObserveRegistrations(RegistrationObserver* observer) {
  const std::lock_guard lock(mutex_);
  registration_observer_.store(observer, std::memory_order_release);
}

void RegistryCore::CountHits(bool on) {
  const std::lock_guard lock(mutex_);
  count_hits_.store(on, std::memory_order_release);
  RefreshAllViews();
}

void RegistryCore::Flush() {
  Change change(*this);
  for (OperatorEntry* op : operators_) {
    if (PLUMBLINE_FAULT(flush_counts_invalidations)) op->invalidations_ += op->resolved_.count();
    op->resolved_.reset();
    Withdraw(*op, change);
  }
}

void RegistryCore::Drain() {
  if (thread_state.kernels_running != 0) {
    Throw(ErrorClass::kInvalidArgument, "Drain was called from inside a kernel, which it would wait for");
  }
  if (PLUMBLINE_FAULT(drain_does_not_wait)) return;
  if (PLUMBLINE_FAULT(drain_waits_for_one_call)) {
    if (const std::int64_t running = undead_->load(std::memory_order_acquire); running != 0) undead_->wait(running);
    return;
  }
  for (std::int64_t running; (running = undead_->load(std::memory_order_acquire)) != 0;) undead_->wait(running);
}

// ---- calls ----

OperatorRef RegistryCore::Find(std::string_view name) const {
  const std::uint64_t hash = HashName(name);
  if (thread_state.table_number != keys_.number()) [[unlikely]] {
    EnterTable(keys_);
  }
#ifdef PLUMBLINE_WITH_FAULTS
  if (PLUMBLINE_FAULT(handle_is_counted_late)) {
    OperatorEntry* found = nullptr;
    {
      const ReadSection reading;
      found = names_.Find(name, hash);
    }
    if (found != nullptr && found->keys().number() == keys_.number()) found->Retain();
    return OperatorRef(found);
  }
#endif
  const ReadSection reading;
  OperatorEntry* op = names_.Find(name, hash);
  if (PLUMBLINE_FAULT(another_overload_stands_in) && op == nullptr) {
    const std::string_view plain = name.substr(0, name.find('.'));
    op = names_.Find(plain, HashName(plain));
  }
  if (PLUMBLINE_FAULT(definition_alone_is_unknown) && op != nullptr && op->kernels_.empty()) op = nullptr;
  if (op != nullptr) op->Retain();
  return OperatorRef(op);
}

// Views stay though the library goes that called first.
const Signature& RegistryCore::Keep(const Signature& signature) {
  for (const auto& known : signatures_) {
    if (Same(known->get(), signature)) return known->get();
  }
  return signatures_.emplace_back(std::make_unique<KeptSignature>(signature))->get();
}

View& RegistryCore::ViewFor(OperatorEntry& op, const Signature& signature) {
  const std::lock_guard lock(mutex_);
  for (const std::unique_ptr<View>& view : op.typed_views_) {
    if (!Same(*view->signature, signature)) continue;
    CheckCallable(*view);
    return *view;
  }
  auto view = std::make_unique<View>();
  view->op = &op;
  view->signature = &Keep(signature);
  view->table.store(cold_, std::memory_order_relaxed);
  CheckCallable(*view);
  View& kept = *op.typed_views_.emplace_back(std::move(view));
  RefreshViews(op);
  return kept;
}

// Without the lock: the slot must be resolved and hold something to call.
bool RegistryCore::TryLocate(View& view, KeySet set, bool mask, Located* located) {
#ifdef PLUMBLINE_WITH_FAULTS
  if (PLUMBLINE_FAULT(kernel_is_counted_late)) {
    std::uintptr_t word;
    {
      const ReadSection reading;
      const Table* table = Core::Load(view.table);
      located->keys = mask ? Masked(*table, set) : set;
      word = Core::LoadSlot(table->At(located->keys));
    }
    located->kernel = ContextOf(word);
    if (located->kernel == nullptr) return false;
    located->direct = (word & kSlotFormBits) != kIndirect;
    located->counted = !located->kernel->permanent;
    if (located->counted) Core::BeginUse(located->kernel->references);
    return true;
  }
#endif
  const ReadSection reading;
  const Table* table = Core::Load(view.table);
  located->keys = mask ? Masked(*table, set) : set;
  if (PLUMBLINE_FAULT(mask_and_slot_of_two_tables)) table = Core::Load(view.table);
  const std::uintptr_t slot = Core::LoadSlot(table->At(located->keys));
  const KernelContext* kernel = ContextOf(slot);
  if (kernel == nullptr) return false;
  located->kernel = kernel;
  located->direct = (slot & kSlotFormBits) != kIndirect;
  located->counted = !kernel->permanent;
  if (located->counted) Core::BeginUse(kernel->references);
  return true;
}

// The operator may have been released, defined anew, or got other kernels since the view was made.
void RegistryCore::CheckCallable(const View& view) const {
  const OperatorEntry& op = *view.op;
  if (op.state() != OperatorState::kDefined) ThrowUncallableLocked(op);
  if (view.signature == nullptr) return;
#ifdef PLUMBLINE_WITH_FAULTS
  CheckOldSignature(op, *view.signature);
#endif
  if (!PLUMBLINE_FAULT(typed_call_ignores_the_kernels)) CheckSignature(op, *view.signature, "The typed call");
  const Schema& defined = op.definition()->schema;
  if (PLUMBLINE_FAULT(any_signature_of_that_length_fits) &&
      defined.arguments.size() == view.signature->schema().arguments.size()) {
    return;
  }
  const std::string difference = Difference(defined, view.signature->schema());
  if (difference.empty()) return;
  Throw(ErrorClass::kSchemaMismatch, "Operator " + op.name() + " cannot be called as " + view.signature->Name() + ": " +
                                         difference + ".\n  schema: " + Print(op.definition()->schema) +
                                         "\n    defined at " + op.definition()->place);
}

Located RegistryCore::LocateLocked(View& view, KeySet set, bool mask, Findings* findings) {
  OperatorEntry& op = *view.op;
#ifdef PLUMBLINE_WITH_FAULTS
  std::unique_lock lock(mutex_);
  if (PLUMBLINE_FAULT(calls_resolve_without_the_lock)) lock.unlock();
#else
  const std::lock_guard lock(mutex_);
#endif
  CheckCallable(view);
  Table* table = view.table.load(std::memory_order_relaxed);
  if (table == cold_) table = Publish(op, view);
  Located located;
  located.keys = mask ? Masked(*table, set) : set;
  if (PLUMBLINE_FAULT(missing_kernel_is_skipped)) {
    while (keys_.SlotOf(located.keys) != 0 && op.Resolve(keys_.SlotOf(located.keys)).rule == Rule::kMissing) {
      located.keys = KeySet::FromBits(located.keys.bits() & (located.keys.bits() - 1));
    }
  }
  int slot = keys_.SlotOf(located.keys);
  // [KEY-010] [RES-016] A per-backend functionality that guards left without a component is no key; the next one below
  // chooses. No table holds a kernel for it, so calls always come here.
  while (!keys_.IsKeySlot(slot)) {
    located.keys = KeySet::FromBits(located.keys.bits() & (located.keys.bits() - 1));
    slot = keys_.SlotOf(located.keys);
  }
#ifdef PLUMBLINE_WITH_FAULTS
  const std::vector<Key> listed = keys_.Keys(located.keys);
  if (PLUMBLINE_FAULT(lowest_key_answers) && !listed.empty()) slot = static_cast<int>(listed.front());
  if (PLUMBLINE_FAULT(lone_fallthrough_is_no_kernel) && mask && arguments_of_call.has_functionality() &&
      listed.empty()) {
    findings->error = DispatchError(ErrorClass::kNoKernel, "Every key of the call falls through for " + op.name());
    return located;
  }
#endif
  findings->hit = op.resolved_.test(slot);
  if (findings->hit) {
    if (count_hits_.load(std::memory_order_relaxed)) op.hits_.fetch_add(1, std::memory_order_relaxed);
  } else {
    if (!PLUMBLINE_FAULT(empty_slot_is_no_miss) || op.Resolve(slot).winner != nullptr) ++op.misses_;
    op.resolved_.set(slot);
  }
  Resolution resolution = Answer(op, slot);
#ifdef PLUMBLINE_WITH_FAULTS
  op.answers_.try_emplace(slot, resolution);
  if (PLUMBLINE_FAULT(missing_kernel_is_remembered)) {
    if (op.missing_.test(slot)) resolution = {};
    op.missing_.set(slot, resolution.winner == nullptr);
  }
#endif
  if (PLUMBLINE_FAULT(nothing_serves_undefined) && slot == 0) resolution = {};
  const std::uintptr_t word = Word(view, resolution.winner);
#ifdef PLUMBLINE_WITH_FAULTS
  if (PLUMBLINE_FAULT(overtaken_answer_is_entered)) {
    lock.unlock();
    lock.lock();
    table = view.table.load(std::memory_order_relaxed);
    if (table == cold_) table = Publish(op, view);
  }
#endif
  Core::FillSlot(table->slots[slot], word);

  findings->chosen = keys_.IsKeySlot(slot) ? static_cast<Key>(slot) : kUndefined;
  findings->rule = resolution.rule;
  findings->fallthrough = resolution.fallthrough();
  if (resolution.winner != nullptr) findings->place = resolution.winner->place;
  located.kernel = ContextOf(word);
  if (located.kernel == nullptr) {
    findings->error = NothingToCall(op, located.keys, slot, resolution);
    return located;
  }
  located.direct = (word & kSlotFormBits) != kIndirect;
  located.counted = !located.kernel->permanent;
  if (located.counted) Core::BeginUse(located.kernel->references);
  if (PLUMBLINE_FAULT(chain_names_the_serving_key) && resolution.rule == Rule::kChain) {
    located.keys = keys_.SetOf(located.kernel->key);
  }
  if (PLUMBLINE_FAULT(fallback_receives_its_key) && resolution.rule == Rule::kFallback) {
    located.keys = keys_.SetOf(located.kernel->key);
  }
  if (PLUMBLINE_FAULT(kernel_receives_what_fell_through) && mask) located.keys = set;
  return located;
}

Located RegistryCore::Locate(View& view, KeySet set, bool mask, bool redispatch) {
  CallObserver* const observer = call_observer_.load(std::memory_order_acquire);
  Located located;
  if (observer == nullptr && TryLocate(view, set, mask, &located)) {
    if (count_hits_.load(std::memory_order_relaxed) && !(redispatch && PLUMBLINE_FAULT(redispatch_is_no_hit))) {
      view.op->hits_.fetch_add(PLUMBLINE_FAULT(hit_counts_twice) ? 2 : 1, std::memory_order_relaxed);
    }
    return located;
  }
  Findings findings;
  located = LocateLocked(view, set, mask, &findings);
  if (observer != nullptr) {
    CallEvent event;
    event.kind = redispatch ? CallEvent::Kind::kRedispatch : CallEvent::Kind::kCall;
    event.boxed = view.signature == nullptr;
    event.op = view.op;
    event.keys = located.keys;
    event.chosen = findings.chosen;
    event.rule = findings.rule;
    event.place = findings.place;
    event.fallthrough = findings.fallthrough;
    event.hit = findings.hit;
    event.depth = thread_state.depth;
    observer->OnCall(event);
    located.observed = true;
  }
  if (PLUMBLINE_FAULT(failed_redispatch_is_no_key) && redispatch && findings.error) {
    Throw(ErrorClass::kNoKey, findings.error->what());
  }
  if (PLUMBLINE_FAULT(failed_call_stays_in_its_section) && findings.error) {
    thread_state.reading.store(1, std::memory_order_release);
  }
  if (findings.error) throw *findings.error;
  return located;
}

// ---- errors of calls ----

void RegistryCore::ThrowUncallable(OperatorEntry& op) {
  const std::lock_guard lock(mutex_);
  ThrowUncallableLocked(op);
}

void RegistryCore::ThrowIfNotDefined(OperatorEntry& op) {
  const std::lock_guard lock(mutex_);
  if (op.state() == OperatorState::kDangling) ThrowUncallableLocked(op);
}

void RegistryCore::ThrowUncallableLocked(const OperatorEntry& op) const {
  if (op.state() == OperatorState::kReleased) {
    Throw(PLUMBLINE_FAULT(released_is_not_found)    ? ErrorClass::kNotFound
          : PLUMBLINE_FAULT(released_has_no_kernel) ? ErrorClass::kNoKernel
                                                    : ErrorClass::kInvalidHandle,
          "Operator " + op.name() +
              " was released: its last registration is gone, and the handle outlived it. "
              "Keep its registrations, or find the operator again");
  }
  Throw(PLUMBLINE_FAULT(undefined_is_no_kernel) ? ErrorClass::kNoKernel : ErrorClass::kNotFound,
        "Operator " + op.name() + " has an implementation (" +
            Describer(const_cast<RegistryCore&>(*this)).RegisteredLocked(op) +
            "), but no definition. Define its schema, or check the spelling of the name it was implemented under");
}

DispatchError RegistryCore::NothingToCall(const OperatorEntry& op, KeySet keys, int slot,
                                          const Resolution& resolution) {
  const Describer describe(*this);
  const std::string key = keys_.IsKeySlot(slot) ? keys_.Name(static_cast<Key>(slot)) : "no backend";
  const std::string with = "\n  key set of the call: " + keys_.Print(keys) + ", highest key: " + key;
  const std::string have =
      "\n  registered: " + describe.RegisteredLocked(op) + "\n  defined at " + op.definition()->place;
  if (resolution.rule == Rule::kAmbiguous && !PLUMBLINE_FAULT(ambiguous_is_no_kernel)) {
    return DispatchError(ErrorClass::kAmbiguous,
                         "The kernel of operator " + op.name() + " at " + key +
                             " is ambiguous: the one at CompositeImplicitAutograd (" + resolution.implicit->place +
                             ") claims it, and so does the backend kernel at " + keys_.Name(resolution.rival->key) +
                             " (" + resolution.rival->place + "), whose autograd key this is." + with + have +
                             "\n  to do: register a kernel at " + key);
  }
  const bool taken_for_empty = PLUMBLINE_FAULT(fallthrough_at_undefined_is_no_key) && slot == 0;
  if (resolution.fallthrough() && !PLUMBLINE_FAULT(fallthrough_is_no_kernel) && !taken_for_empty) {
    return DispatchError(ErrorClass::kFellThrough, "Operator " + op.name() + " only falls through at " + key + " (" +
                                                       resolution.winner->place + "), and nothing is below." + with +
                                                       have + "\n  to do: redispatch to a set without " + key);
  }
  std::string near;
  for (const std::string& name : describe.NearNamesLocked(op.name())) near += (near.empty() ? "" : ", ") + name;
  if (!near.empty()) near = "\n  operators with a similar name: " + near;
  if (slot == 0 || !keys_.IsKeySlot(slot) || (PLUMBLINE_FAULT(no_kernel_at_all_is_no_key) && op.kernels_.empty())) {
    return DispatchError(ErrorClass::kNoKey,
                         "Could not find a kernel for operator " + op.name() +
                             ": no argument and no guard brought a key, and no composite kernel serves that case." +
                             with + have + near +
                             "\n  to do: pass a tensor, or register a kernel at CompositeImplicitAutograd or "
                             "CompositeExplicitAutograd");
  }
  std::string higher;
  if (keys_.FunctionalityPosition(static_cast<Key>(slot)) >= 0 && key.starts_with("Autograd")) {
    higher = " (a kernel at the backend key is not enough: the call stops at the highest key; a fallthrough at " + key +
             " lets it pass)";
  }
  return DispatchError(ErrorClass::kNoKernel, "Could not find a kernel for operator " + op.name() + " at key " + key +
                                                  "." + with + have + near + "\n  to do: register a kernel at " + key +
                                                  " or at an alias that holds it, or a fallback at " + key + higher);
}

}  // namespace plumbline::reference
