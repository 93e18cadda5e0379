#include "reference/registry/registry.h"

#include <algorithm>
#include <atomic>
#include <set>

#include "reference/faults/faults.h"
#include "reference/keys/make_once.h"
#include "reference/registry/describe.h"
#include "reference/registry/registry_core.h"

namespace plumbline::reference {

Place::Place(std::source_location location)
    : text_(std::string(location.file_name()) + ":" + std::to_string(location.line())) {}

// ---- Registration ----

Registration::Registration(std::shared_ptr<RegistrationRecord> record) : record_(std::move(record)) {}

Registration& Registration::operator=(Registration&& other) noexcept {
  if (this == &other) return *this;
  Release();
  record_ = std::move(other.record_);
  return *this;
}

Registration::~Registration() { Release(); }

void Registration::Release() {
  if (record_ == nullptr) return;
  const std::shared_ptr<RegistrationRecord> record = std::move(record_);
  record->core->Release(*record);
}

bool Registration::in_force() const { return record_ != nullptr && record_->core->InForce(*record_); }

bool Registration::replaced_kernel() const { return record_ != nullptr && record_->replaced; }

// ---- Library ----

Library::Library(Registry& registry, LibraryKind kind, std::string_view name_space, std::optional<Key> key, Place place)
    : record_(registry.core_->OpenLibrary(kind, name_space, key, std::move(place).Take())), registry_(&registry) {}

Library& Library::operator=(Library&& other) noexcept {
  if (this == &other) return *this;
  Close();
  record_ = std::move(other.record_);
  registry_ = other.registry_;
  kept_ = std::move(other.kept_);
  return *this;
}

Library::~Library() { Close(); }

void Library::Close() {
  if (record_ != nullptr) record_->core->CloseLibrary(*record_);
  kept_.clear();
}

bool Library::open() const {
  if (record_ == nullptr) return false;
  return record_->open;
}

void Library::Def(std::string_view schema, Place place) {
  kept_.push_back(registry_->Define(schema, std::move(place), this));
}

void Library::Def(std::string_view schema, Kernel kernel, Place place) {
  Registration definition = registry_->Define(schema, place, this);
  kept_.push_back(registry_->Impl(ParseSchema(schema).full_name(), std::nullopt, std::move(kernel), place, this));
  kept_.push_back(std::move(definition));
}

void Library::Impl(std::string_view op, Kernel kernel, Place place) {
  kept_.push_back(registry_->Impl(op, std::nullopt, std::move(kernel), std::move(place), this));
}

void Library::Impl(std::string_view op, std::string_view key, Kernel kernel, Place place) {
  kept_.push_back(registry_->Impl(op, key, std::move(kernel), std::move(place), this));
}

void Library::Fallback(Kernel kernel, Place place) {
  kept_.push_back(registry_->Fallback(std::optional<Key>(), std::move(kernel), std::move(place), this));
}

// ---- Registry ----

Registry::Registry(KeyTableRef keys) : Registry(keys, keys->fallbacks()) {}

Registry::Registry(KeyTableRef keys, std::span<const StartingFallback> fallbacks)
    : core_(std::make_shared<RegistryCore>(keys, fallbacks)) {}

Registry::~Registry() { core_->Close(); }

Registry& Registry::Default() {
  static constinit std::atomic<Registry*> registry{nullptr};
  return MakeOnce(registry, [] { return new Registry(KeyTable::ForRelease("pytorch-1.13")); });
}

const KeyTable& Registry::keys() const { return core_->keys(); }

#ifdef PLUMBLINE_WITH_FAULTS
namespace {

// Refuses a name for whose definition the text was refused before.
void CheckRefusedBefore(std::string_view schema) {
  static auto& refused = *new std::set<std::string, std::less<>>();
  if (!PLUMBLINE_FAULT(refused_definition_is_remembered)) return;
  const std::string name(schema.substr(0, schema.find('(')));
  try {
    ParseSchema(schema);
  } catch (const DispatchError&) {
    refused.insert(name);
    throw;
  }
  if (refused.contains(name)) Throw(ErrorClass::kDuplicate, "Operator " + name + " was refused before");
}

}  // namespace
#endif

Registration Registry::Define(std::string_view schema, Place place, const Library* library) {
#ifdef PLUMBLINE_WITH_FAULTS
  CheckRefusedBefore(schema);
#endif
  return Registration(core_->Define(ParseSchema(schema), std::move(place).Take(),
                                    library == nullptr ? nullptr : library->record_.get()));
}

Registration Registry::DefineInferred(std::string_view name, const Signature& signature, Place place,
                                      const Library* library) {
  Schema schema = signature.schema();
  schema.name = ParseOperatorName(name);
  return Registration(
      core_->Define(std::move(schema), std::move(place).Take(), library == nullptr ? nullptr : library->record_.get()));
}

Registration Registry::Impl(std::string_view op, std::optional<Key> key, Kernel kernel, Place place,
                            const Library* library) {
  return Registration(
      core_->Impl(op, key, kernel, std::move(place).Take(), library == nullptr ? nullptr : library->record_.get()));
}

Registration Registry::Impl(std::string_view op, std::string_view key, Kernel kernel, Place place,
                            const Library* library) {
  return Impl(op, std::optional<Key>(keys().Get(key)), std::move(kernel), std::move(place), library);
}

Registration Registry::Fallback(std::optional<Key> key, Kernel kernel, Place place, const Library* library) {
  return Registration(
      core_->Fallback(key, kernel, std::move(place).Take(), library == nullptr ? nullptr : library->record_.get()));
}

Registration Registry::Fallback(std::string_view key, Kernel kernel, Place place, const Library* library) {
  return Fallback(std::optional<Key>(keys().Get(key)), std::move(kernel), std::move(place), library);
}

Registration Registry::DeclareChain(Key key, Key served_by, Place place) {
  return Registration(core_->DeclareChain(key, served_by, std::move(place).Take()));
}

Registration Registry::Listen(Listener listener, Place place) {
  return Registration(core_->Listen(std::move(listener), std::move(place).Take()));
}

void Registry::WarnTo(std::function<void(std::string_view)> sink) { core_->WarnTo(std::move(sink)); }

OperatorRef Registry::Find(std::string_view name) const { return core_->Find(name); }

OperatorRef Registry::FindOrThrow(std::string_view name) const {
  OperatorRef op = core_->Find(name);
  if (op && op->state() == OperatorState::kDefined) return op;
  if (op) core_->ThrowIfNotDefined(*op);  // if it was released meanwhile, it is as if it had not been found
  std::vector<std::string> near;
  {
    const std::lock_guard lock(core_->mutex_);
    near = Describer(*core_).NearNamesLocked(name);
  }
  std::string message = "Could not find operator '" + std::string(name) + "'.";
  for (std::size_t i = 0; i < near.size(); ++i) message += (i == 0 ? " Did you mean " : " or ") + near[i];
  message += near.empty() ? " Nothing is registered under a similar name: is the library that defines it loaded?" : "?";
  Throw(ErrorClass::kNotFound, message);
}

namespace {

std::vector<std::string> Sorted(std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

std::vector<std::string> Registry::Operators() const {
#ifdef PLUMBLINE_WITH_FAULTS
  std::unique_lock lock(core_->mutex_);
  if (PLUMBLINE_FAULT(list_is_read_without_the_lock)) lock.unlock();
#else
  const std::lock_guard lock(core_->mutex_);
#endif
  std::vector<std::string> names;
  for (const OperatorEntry* op : core_->operators_) {
    const bool overload = op->name().find('.') != std::string::npos;
    if (!(PLUMBLINE_FAULT(overloads_are_not_listed) && overload)) names.push_back(op->name());
  }
  return Sorted(std::move(names));
}

std::vector<std::string> Registry::Dangling() const {
  const std::lock_guard lock(core_->mutex_);
  std::vector<std::string> names;
  for (const OperatorEntry* op : core_->operators_) {
    if (PLUMBLINE_FAULT(dangling_list_is_empty)) continue;
#ifdef PLUMBLINE_WITH_FAULTS
    if (PLUMBLINE_FAULT(defined_once_is_never_dangling) && op->was_defined_) continue;
#endif
    if (op->definition() == nullptr) names.push_back(op->name());
  }
  return Sorted(std::move(names));
}

std::vector<std::string> Registry::OperatorsAt(Key key) const {
  const std::lock_guard lock(core_->mutex_);
  std::vector<std::string> names;
  for (const OperatorEntry* op : core_->operators_) {
    const bool served = PLUMBLINE_FAULT(at_key_counts_aliases) && !KeyTable::IsAlias(key) &&
                        op->Resolve(static_cast<int>(key)).winner != nullptr;
    if (op->Newest(key) != nullptr || served) names.push_back(op->name());
  }
  return Sorted(std::move(names));
}

namespace {

[[noreturn]] void ThrowNoOperator(std::string_view name) {
  Throw(ErrorClass::kNotFound, "Could not find operator '" + std::string(name) + "'");
}

}  // namespace

bool Registry::HasKernel(std::string_view name, Key key) const {
  const OperatorRef op = Find(name);
  if (PLUMBLINE_FAULT(unknown_has_no_kernel) && !op) return false;
  if (PLUMBLINE_FAULT(question_makes_the_operator) && !op) {
    Change change(*core_);
    core_->EntryNamed(std::string(name), change);
  }
  if (!op) ThrowNoOperator(name);
  const std::lock_guard lock(core_->mutex_);
#ifdef PLUMBLINE_WITH_FAULTS
  if (const std::optional<bool> spoilt = op->SpoiltHasKernel(key)) return *spoilt;
#endif
  return op->Newest(key) != nullptr;
}

bool Registry::HasComputed(std::string_view name, Key key) const {
  if (PLUMBLINE_FAULT(alias_has_no_computed_kernel) && KeyTable::IsAlias(key)) return false;
  const OperatorRef op = Find(name);
  if (!op) ThrowNoOperator(name);
  if (KeyTable::IsAlias(key)) {
    Throw(ErrorClass::kInvalidArgument, keys().Name(key) + " is an alias key and has no slot: ask for one of its keys");
  }
  const std::lock_guard lock(core_->mutex_);
  if (PLUMBLINE_FAULT(question_resolves_the_slot)) op->resolved_.set(static_cast<std::size_t>(key));
  if (PLUMBLINE_FAULT(computed_question_is_direct)) return op->Newest(key) != nullptr;
  const Resolution resolution = op->Resolve(static_cast<int>(key));
  if (PLUMBLINE_FAULT(chain_is_not_shown) && resolution.rule == Rule::kChain) return false;
  return resolution.rule != Rule::kMissing;  // [INTRO-003] an ambiguous slot is not an empty one
}

bool Registry::HasFallback(Key key) const {
  if (KeyTable::IsAlias(key)) {
    if (PLUMBLINE_FAULT(alias_has_no_fallback)) return false;
    Throw(ErrorClass::kInvalidArgument, keys().Name(key) + " is an alias key, which no fallback can serve");
  }
  const std::lock_guard lock(core_->mutex_);
  const KernelContext* const fallback = core_->fallbacks_[static_cast<int>(key)];
  if (PLUMBLINE_FAULT(built_in_is_no_fallback) && fallback != nullptr && fallback->built_in) return false;
  return fallback != nullptr;
}

std::vector<ChainInfo> Registry::Chains() const {
  const std::lock_guard lock(core_->mutex_);
  std::vector<ChainInfo> chains;
  for (const ChainRecord& chain : core_->chains_) chains.push_back({chain.key, chain.served_by, chain.place});
  return chains;
}

CacheCounters Registry::Counters(std::string_view name) const {
  const OperatorRef op = Find(name);
  if (!op) ThrowNoOperator(name);
  const std::lock_guard lock(core_->mutex_);
  return {op->hits_.load(std::memory_order_relaxed), op->misses_, op->invalidations_};
}

void Registry::CountHits(bool on) { core_->CountHits(on); }
void Registry::Flush() { core_->Flush(); }
void Registry::Drain() { core_->Drain(); }
void Registry::ObserveCalls(CallObserver* observer) { core_->ObserveCalls(observer); }
bool Registry::observed() const { return core_->observed(); }
void Registry::TellInstance(std::string_view op, std::string_view dtype, std::string_view device) const {
  core_->TellInstance(op, dtype, device);
}
void Registry::ObserveRegistrations(RegistrationObserver* observer) { core_->ObserveRegistrations(observer); }

}  // namespace plumbline::reference
