#include "spec/model/registry.h"

#include <algorithm>
#include <utility>

#include "spec/model/names.h"

namespace plumbline::model {
namespace {

using scenario::KernelUse;
using scenario::LibraryKind;

Error NotFound(std::string message) { return {"not-found", std::move(message)}; }
Error Duplicate(std::string message) { return {"duplicate", std::move(message)}; }
Error Invalid(std::string message) { return {"invalid-argument", std::move(message)}; }
Error Mismatch(std::string message) { return {"schema-mismatch", std::move(message)}; }

std::string Near(const std::vector<std::string>& names) { return names.empty() ? "" : "; near: " + Join(names, ", "); }

std::string Line(int line) { return line > 0 ? "line " + std::to_string(line) : "an earlier step"; }

const char* Name(LibraryKind kind) {
  switch (kind) {
    case LibraryKind::kDef:
      return "def";
    case LibraryKind::kFragment:
      return "fragment";
    case LibraryKind::kImpl:
      return "impl";
  }
  return "";
}

}  // namespace

Registry::Registry(const KeyTable& keys, const std::map<std::string, bool>& builtin_fallbacks,
                   const Deviations& deviations)
    : keys_(keys), deviations_(deviations) {
  for (const auto& [name, fallthrough] : builtin_fallbacks) {
    const std::optional<Key> key = keys_.Find(name);
    if (!key) continue;
    Registration& builtin = registrations_.emplace_back();
    builtin.handle = "builtin";
    builtin.kernel = "builtin:" + name;
    builtin.key = *key;
    builtin.fallthrough = fallthrough;
    builtin.builtin = true;
    fallbacks_[*key] = &builtin;  // [RES-052]
  }
}

// ---- libraries ----

Status Registry::Open(const scenario::LibraryOpen& open, int line) {
  if (libraries_.contains(open.name) && libraries_[open.name].open) {
    return Invalid("there is an open library '" + open.name + "' already");
  }
  Library library{open.kind, open.name_space, std::nullopt, true, line};
  if (open.key) {
    Key key = kUndefined;
    if (Status unknown = FindKey(*open.key, &key)) return unknown;
    if (open.kind != LibraryKind::kImpl) return Invalid("only an impl library has a key");
    library.key = key;
  }
  if (open.name_space.empty()) return Invalid("a library needs a namespace");
  if (open.name_space == "_" && open.kind != LibraryKind::kImpl) {  // [REG-077]
    return Invalid("the wildcard namespace is for impl libraries with fallbacks only");
  }
  if (open.kind == LibraryKind::kDef) {  // [REG-070] [REG-071]
    for (const auto& [name, other] : libraries_) {
      if (other.open && other.kind == LibraryKind::kDef && other.name_space == open.name_space) {
        return Duplicate("namespace '" + open.name_space + "' has a def library already, '" + name + "', opened at " +
                         Line(other.line) + "; open a fragment instead");
      }
    }
  }
  libraries_[open.name] = library;
  return std::nullopt;
}

Status Registry::Close(const std::string& name) {
  Library* library = nullptr;
  if (Status status = FindLibrary(name, &library)) return status;
  library->open = false;
  for (Handle& handle : handles_) {
    if (handle.library != name || handle.state != Handle::State::kLive) continue;
    handle.state = Handle::State::kDroppedByLibrary;  // [REG-080] [REG-081]
    Undo(handle);
  }
  // Another library may be opened under that name; it is not the one that these were made in.
  for (Handle& handle : handles_) {
    if (handle.library == name) handle.library.clear();
  }
  return std::nullopt;
}

Status Registry::FindLibrary(const std::string& name, Library** found) {
  const auto it = libraries_.find(name);
  if (it == libraries_.end()) return NotFound("there is no library '" + name + "'");
  if (!it->second.open) return Error{"invalid-handle", "library '" + name + "' was closed"};
  *found = &it->second;
  return std::nullopt;
}

// ---- what the steps have in common ----

Status Registry::CheckNewName(const std::string& name) const {
  if (name.empty()) return std::nullopt;
  const auto it = named_.find(name);
  if (it == named_.end() || it->second->state == Handle::State::kReleased) return std::nullopt;
  return Invalid("the name '" + name + "' is in use");
}

Status Registry::FindKey(const std::string& name, Key* key) const {
  const std::optional<Key> found = keys_.Find(name);
  // [KEY-001] [ERR-006] [ERR-014]
  if (!found) return NotFound("there is no dispatch key '" + name + "'" + Near(keys_.NearestNames(name)));
  *key = *found;
  return std::nullopt;
}

Status Registry::QualifiedName(const std::string& name, const Library* library, std::string* qualified) const {
  const std::optional<scenario::OperatorName> parsed = scenario::ParseOperatorName(name);
  if (!parsed) return Invalid("'" + name + "' is no operator name: write ns::name or ns::name.overload");
  if (parsed->name_space.empty()) {
    if (library == nullptr) return Invalid("operator name '" + name + "' has no namespace");
    *qualified = library->name_space + "::" + name;  // [REG-072]
    return std::nullopt;
  }
  *qualified = name;
  if (library != nullptr && parsed->name_space != library->name_space) {  // [REG-073]
    return Invalid("'" + name + "' is not in the library's namespace '" + library->name_space + "'");
  }
  return std::nullopt;
}

Status Registry::ChooseKey(const std::optional<std::string>& name, const Library* library,
                           std::optional<Key>* key) const {
  *key = library == nullptr ? std::nullopt : library->key;  // [REG-075]
  if (!name) return std::nullopt;
  Key own = kUndefined;
  if (Status unknown = FindKey(*name, &own)) return unknown;
  if (*key && **key != own) {  // [REG-076]
    return Invalid("the key " + *name + " is not the library's, " + keys_.Name(**key));
  }
  *key = own;
  return std::nullopt;
}

Status Registry::CheckUse(const KernelUse& use, const Signature** signature) const {
  *signature = nullptr;
  if (use.fallthrough || use.signature.empty()) return std::nullopt;
  *signature = FindSignature(use.signature);
  if (*signature == nullptr) return NotFound("there is no signature '" + use.signature + "' in the catalogue");
  return std::nullopt;
}

void Registry::Refused(const KernelUse& use) {
  if (!use.fallthrough) ++refused_[use.kernel];  // [REG-053]
}

const Registration* Registry::Add(const KernelUse& use, Key key, const std::string& name, const std::string& library,
                                  int line) {
  Registration& registration = registrations_.emplace_back();
  registration.handle = name;
  registration.kernel = use.fallthrough ? "" : use.kernel;
  registration.signature = use.fallthrough ? "" : use.signature;
  registration.library = library;
  registration.key = key;
  registration.fallthrough = use.fallthrough;
  registration.line = line;
  return &registration;
}

void Registry::Keep(const std::string& name, Handle handle) {
  Handle& kept = handles_.emplace_back(std::move(handle));
  if (!name.empty()) named_[name] = &kept;
}

std::string Registry::KernelsOf(const Operator& op) const {
  std::string text;
  for (const auto& [key, stack] : op.kernels) {
    text += (text.empty() ? " at " : ", ") + keys_.Name(key);
    if (stack.back()->line > 0) text += " (" + Line(stack.back()->line) + ")";
  }
  return text;
}

// ---- operators ----

Operator* Registry::FindOperator(const std::string& name) {
  const auto it = operators_.find(name);
  return it == operators_.end() ? nullptr : &it->second;
}

const Operator* Registry::FindOperator(const std::string& name) const {
  const auto it = operators_.find(name);
  return it == operators_.end() ? nullptr : &it->second;
}

Status Registry::FindDefined(const std::string& name, Operator** found) {
  *found = FindOperator(name);
  if (*found == nullptr) {  // [REG-001] [REG-002] [ERR-004] [ERR-014]
    std::vector<std::string> known;
    for (const auto& [other, op] : operators_) known.push_back(other);
    return NotFound("Could not find operator '" + name + "'" + Near(Nearest(name, known)));
  }
  if (!(*found)->defined) {  // [REG-008] [REG-010] [ERR-005] [ERR-015]
    return NotFound("operator '" + name + "' has no definition, though there are kernels" + KernelsOf(**found) +
                    ": define its schema");
  }
  return std::nullopt;
}

Operator& Registry::OperatorNamed(const std::string& name) {
  Operator& op = operators_[name];
  if (op.id == 0) {
    op.id = next_id_++;
    op.name = name;
    if (KeepsStoredTables()) {
      for (Key key = 0; key < keys_.slot_count(); ++key) op.stored[key] = Computed(op, key);
    }
  }
  return op;
}

void Registry::RemoveIfUnused(const std::string& name) {
  const auto it = operators_.find(name);
  if (!it->second.defined && it->second.kernels.empty()) operators_.erase(it);  // [REG-011]
}

Status Registry::Define(const scenario::Define& define, int line) {
  if (Status status = CheckNewName(define.name)) return status;
  Library* library = nullptr;
  if (!define.library.empty()) {
    if (Status status = FindLibrary(define.library, &library)) return status;
    if (library->kind == LibraryKind::kImpl) return Invalid("an impl library cannot define operators");  // [REG-074]
  }
  scenario::SchemaResult parsed = scenario::ParseSchema(define.schema);
  // [REG-003] [REG-005] [REG-006] [REG-007] [REG-013] [REG-052]
  if (!parsed.schema) return Invalid("the schema does not parse: " + parsed.error->message);
  scenario::Schema& schema = *parsed.schema;
  std::string name;
  if (Status status = QualifiedName(schema.FullName(), library, &name)) return status;
  schema.name_space = name.substr(0, name.find("::"));

  Operator* op = FindOperator(name);
  if (op != nullptr && op->defined) {  // [REG-004]
    return Duplicate("operator '" + name + "' is defined already, at " + Line(op->defined_at));
  }
  const Types types = TypesOf(schema);
  if (op != nullptr) {
    for (const auto& [key, stack] : op->kernels) {
      for (const Registration* kernel : stack) {
        if (kernel->signature.empty()) continue;
        const std::string difference = Difference(types, *FindSignature(kernel->signature));  // [REG-040] [REG-041]
        if (!difference.empty()) {
          return Mismatch("the schema of '" + name + "' does not fit the kernel '" + kernel->kernel + "' at " +
                          keys_.Name(key) + ", registered at " + Line(kernel->line) + ": " + difference);
        }
      }
    }
  }
  op = &OperatorNamed(name);  // [REG-001] [REG-010]
  op->defined = true;
  op->defined_at = line;
  op->schema = scenario::PrintSchema(schema);
  op->types = types;
  op->resolved.clear();  // [CACHE-008]
  op->counters = {};
  Tell("+" + name);
  Keep(define.name, {.what = Handle::What::kDefinition, .library = define.library, .operator_name = name});
  return std::nullopt;
}

std::string Registry::SignatureConflict(const Operator& op, const Signature& signature) const {
  if (const auto it = op.first_signature.find(signature.symbolic); it != op.first_signature.end()) {
    if (it->second != signature.name) return "the operator's first signature was '" + it->second + "'";
    return "";
  }
  for (const auto& [key, stack] : op.kernels) {
    for (const Registration* kernel : stack) {
      if (kernel->signature.empty() || kernel->signature == signature.name) continue;  // [REG-042] [REG-043] [REG-044]
      if (FindSignature(kernel->signature)->symbolic != signature.symbolic) continue;
      return "the kernel '" + kernel->kernel + "' at " + keys_.Name(key) + ", registered at " + Line(kernel->line) +
             ", has the signature '" + kernel->signature + "'";
    }
  }
  return "";
}

std::string Registry::CallConflict(const Operator& op, const Signature& signature) const {
  std::string why = SignatureConflict(op, signature);
  const auto plain = op.first_signature.find(false);
  if (!why.empty() || !signature.symbolic || plain == op.first_signature.end() ||
      !Deviates(Deviation::kRefusedImplPoisonsSymbolicCalls)) {
    return why;
  }
  const Signature* twin = WithoutSymbols(signature);
  return twin != nullptr && twin->name == plain->second ? ""
                                                        : "the operator's first signature was '" + plain->second + "'";
}

Status Registry::Impl(const scenario::Impl& impl, int line, bool* warned) {
  *warned = false;
  if (Status status = CheckNewName(impl.name)) return status;
  Library* library = nullptr;
  if (!impl.library.empty()) {
    if (Status status = FindLibrary(impl.library, &library)) return status;
  }
  const Signature* signature = nullptr;
  if (Status status = CheckUse(impl.kernel, &signature)) return status;
  std::optional<Key> chosen;
  if (Status status = ChooseKey(impl.key, library, &chosen)) {
    if (status->error_class != "not-found") Refused(impl.kernel);
    return status;
  }
  const auto refuse = [&](Error error) -> Status {
    Refused(impl.kernel);
    return error;
  };
  if (library != nullptr && library->name_space == "_") {  // [REG-078]
    return refuse(Invalid("a library of the wildcard namespace takes fallbacks only"));
  }
  std::string name;
  if (Status status = QualifiedName(impl.operator_name, library, &name)) return refuse(*status);
  // No key, and "no key at all", mean the implicit composite kernel. [REG-024]
  const Key key = chosen.value_or(kUndefined) == kUndefined ? *keys_.Find("CompositeImplicitAutograd") : *chosen;

  Operator* op = FindOperator(name);
  if (signature != nullptr && op != nullptr) {
    const std::string conflict = SignatureConflict(*op, *signature);  // [REG-042] [REG-050]
    if (!conflict.empty()) {
      return refuse(Mismatch("kernel '" + impl.kernel.kernel + "' of '" + name + "' has the signature '" +
                             signature->name + "', but " + conflict));
    }
    // [REG-035] [REG-036] [REG-037] [REG-051]
    const std::string difference = op->defined ? Difference(op->types, *signature) : "";
    if (!difference.empty()) {
      if (Deviates(Deviation::kRefusedImplPoisonsSignature) || Deviates(Deviation::kRefusedImplPoisonsSymbolicCalls)) {
        op->first_signature.emplace(signature->symbolic, signature->name);
      }
      return refuse(Mismatch("kernel '" + impl.kernel.kernel + "' does not fit the schema of '" + name +
                             "', defined at " + Line(op->defined_at) + ": " + difference));
    }
  }

  op = &OperatorNamed(name);
  std::vector<const Registration*>& stack = op->kernels[key];
  *warned = !stack.empty() && keys_.WarnsOfOverride(key);  // [REG-090] [REG-091]
  const Registration* registration = Add(impl.kernel, key, impl.name, impl.library, line);
  stack.push_back(registration);  // [REG-008] [REG-028] [REG-066] [REG-067]
  if (signature != nullptr && Deviates(Deviation::kSignatureOutlivesKernels)) {
    op->first_signature.emplace(signature->symbolic, signature->name);
  }
  Changed(*op, key);
  Keep(impl.name, {.what = Handle::What::kKernel,
                   .library = impl.library,
                   .operator_name = name,
                   .registration = registration,
                   .key = key});
  return std::nullopt;
}

// ---- fallbacks and chains ----

Status Registry::Fallback(const scenario::Fallback& fallback, int line) {
  if (Status status = CheckNewName(fallback.name)) return status;
  Library* library = nullptr;
  if (!fallback.library.empty()) {
    if (Status status = FindLibrary(fallback.library, &library)) return status;
  }
  const Signature* signature = nullptr;
  if (Status status = CheckUse(fallback.kernel, &signature)) return status;
  const auto refuse = [&](Error error) -> Status {
    Refused(fallback.kernel);
    return error;
  };
  const bool own_key_wins = fallback.key && Deviates(Deviation::kFallbackKeyBeatsLibrary);
  std::optional<Key> chosen;
  if (Status status = ChooseKey(fallback.key, own_key_wins ? nullptr : library, &chosen)) {
    return status->error_class == "not-found" ? status : refuse(*status);
  }
  if (library != nullptr && (library->kind != LibraryKind::kImpl || library->name_space != "_")) {  // [REG-079]
    return refuse(Invalid("a fallback serves every namespace: make it in an impl library of '_', not in a " +
                          std::string(Name(library->kind)) + " library of '" + library->name_space + "'"));
  }
  // [REG-069]
  if (signature != nullptr) return refuse(Invalid("a fallback serves every schema and so is boxed"));
  if (!chosen || *chosen == kUndefined) return refuse(Invalid("a fallback needs a key"));  // [REG-063] [REG-079]
  const Key key = *chosen;
  if (keys_.IsAlias(key) && !AliasesFallToUndefined()) {  // [REG-063]
    return refuse(Invalid("a fallback cannot be registered at the alias key " + keys_.Name(key)));
  }
  const Key slot = keys_.IsAlias(key) ? kUndefined : key;
  const bool replaces = Deviates(Deviation::kFallbackReplacesAnother) && keys_.Name(slot) == "AutogradPrivateUse1";
  if (const auto it = fallbacks_.find(slot); it != fallbacks_.end() && !replaces) {  // [REG-061] [REG-062]
    return refuse(Duplicate(keys_.Name(slot) + " has a fallback already, " +
                            (it->second->builtin ? "the release's own" : "registered at " + Line(it->second->line))));
  }
  const Registration* registration = Add(fallback.kernel, slot, fallback.name, fallback.library, line);
  if (const auto it = fallbacks_.find(slot); it != fallbacks_.end()) released_.insert(it->second);
  fallbacks_[slot] = registration;  // [REG-060] [REG-064]
  ChangedEverywhere(key);
  Keep(fallback.name, {.what = Handle::What::kFallback,
                       .library = fallback.library,
                       .registration = registration,
                       .key = key,
                       .slot = slot});
  return std::nullopt;
}

Status Registry::Declare(const scenario::Chain& chain, int line) {
  (void)line;
  if (Status status = CheckNewName(chain.name)) return status;
  Key key = kUndefined, served_by = kUndefined;
  if (Status status = FindKey(chain.key, &key)) return status;
  if (Status status = FindKey(chain.served_by, &served_by)) return status;
  for (Key end : {key, served_by}) {
    // [CHAIN-008]
    if (end == kUndefined || keys_.IsAlias(end)) return Invalid("a chain cannot name " + keys_.Name(end));
  }
  if (const auto it = chains_.find(key); it != chains_.end()) {  // [CHAIN-005]
    return Duplicate(keys_.Name(key) + " has a chain already, to " + keys_.Name(it->second));
  }
  std::string path = keys_.Name(key);
  for (Key at = served_by;;) {
    path += " -> " + keys_.Name(at);
    if (at == key) return Invalid("the chain would be a cycle: " + path);  // [CHAIN-004]
    const auto next = chains_.find(at);
    if (next == chains_.end()) break;
    at = next->second;
  }
  chains_[key] = served_by;
  ChangedEverywhere(key);
  Keep(chain.name, {.what = Handle::What::kChain, .key = key});
  return std::nullopt;
}

// ---- listeners ----

Status Registry::Listen(const scenario::Listen& listen, int line) {
  (void)line;
  if (Status status = CheckNewName(listen.name)) return status;
  Listener& listener = listeners_[listen.name];
  listener = {};
  std::vector<const Operator*> defined;
  for (const auto& [name, op] : operators_) {
    if (op.defined) defined.push_back(&op);  // [REG-085]
  }
  std::sort(defined.begin(), defined.end(), [](const Operator* a, const Operator* b) { return a->id < b->id; });
  for (const Operator* op : defined) listener.heard.push_back("+" + op->name);
  Keep(listen.name, {.what = Handle::What::kListener, .listener = listen.name});
  return std::nullopt;
}

void Registry::Tell(const std::string& news) {
  for (auto& [name, listener] : listeners_) {
    if (listener.live) listener.heard.push_back(news);  // [REG-085] [REG-087] [REG-088]
  }
}

std::optional<std::vector<std::string>> Registry::Heard(const std::string& listener) {
  const auto it = listeners_.find(listener);
  if (it == listeners_.end()) return std::nullopt;
  return std::exchange(it->second.heard, {});
}

// ---- release ----

Status Registry::Release(const std::string& name) {
  const auto it = named_.find(name);
  if (it == named_.end()) return NotFound("there is no registration '" + name + "'");
  Handle& handle = *it->second;
  if (handle.state == Handle::State::kReleased) return Error{"invalid-handle", "'" + name + "' was released already"};
  const bool live = handle.state == Handle::State::kLive;
  handle.state = Handle::State::kReleased;
  if (live) Undo(handle);
  return std::nullopt;
}

void Registry::Undo(Handle& handle) {
  switch (handle.what) {
    case Handle::What::kDefinition: {
      Operator& op = operators_.at(handle.operator_name);
      Tell("-" + op.name);  // [REG-086]
      op.defined = false;
      op.schema.clear();
      RemoveIfUnused(handle.operator_name);
      return;
    }
    case Handle::What::kKernel: {
      Operator& op = operators_.at(handle.operator_name);
      std::vector<const Registration*>& stack = op.kernels.at(handle.key);
      std::erase(stack, handle.registration);  // [REG-025] [REG-026] [REG-027] [REG-029] [REG-068] [REG-082]
      if (stack.empty()) op.kernels.erase(handle.key);
      released_.insert(handle.registration);
      Changed(op, handle.key);
      RemoveIfUnused(handle.operator_name);
      return;
    }
    case Handle::What::kFallback:
      // By a deviation another may be there, or none.
      if (const auto it = fallbacks_.find(handle.slot); it != fallbacks_.end()) {
        released_.insert(it->second);
        fallbacks_.erase(it);  // [REG-060] [REG-061]
      }
      ChangedEverywhere(handle.key);
      return;
    case Handle::What::kChain:
      chains_.erase(handle.key);  // [CHAIN-006]
      ChangedEverywhere(handle.key);
      return;
    case Handle::What::kListener:
      listeners_.at(handle.listener).live = false;
      return;
  }
}

std::int64_t Registry::Destroyed(const std::string& kernel) const {
  std::int64_t count = 0;
  if (const auto it = refused_.find(kernel); it != refused_.end()) count = it->second;
  for (const Registration* registration : released_) {
    if (registration->kernel != kernel || registration->fallthrough) continue;  // [REG-030] [REG-031]
    // A stale slot keeps the kernel that it holds.
    const bool held = std::any_of(operators_.begin(), operators_.end(), [&](const auto& entry) {
      return std::any_of(entry.second.stored.begin(), entry.second.stored.end(),
                         [&](const auto& slot) { return slot.second.winner == registration; });
    });
    if (!held) ++count;
  }
  return count;
}

// ---- slots, and what a change does to them ----

Slot Registry::Computed(const Operator& op, Key key, std::vector<Trial>* trials) const {
  // [REG-022] [REG-023] [CACHE-001] [CACHE-002] [CACHE-003] [CACHE-004] [CACHE-005] [CACHE-006] [CACHE-007]
  return Resolve(keys_, LiveOf(op), key, trials);
}

Slot Registry::SlotOf(const Operator& op, Key key) const {
  if (const auto it = op.stored.find(key); it != op.stored.end()) return it->second;
  return Computed(op, key);
}

bool Registry::FailsInvariantCheck(const Operator& op) const {
  const auto sort_of = [](const Slot& slot) -> std::string {
    if (slot.winner == nullptr) return Spelling(slot.rule);
    if (slot.fallthrough()) return "fallthrough";
    return slot.winner->builtin ? slot.winner->kernel : "kernel of signature " + slot.winner->signature;
  };
  return std::any_of(op.stored.begin(), op.stored.end(), [&](const auto& slot) {
    return slot.first != kUndefined && sort_of(slot.second) != sort_of(Computed(op, slot.first));
  });
}

void Registry::Changed(Operator& op, Key key) {
  for (auto it = op.resolved.begin(); it != op.resolved.end();) {
    if (Reads(keys_, chains_, *it).contains(key)) {  // [CACHE-014] [CACHE-015]
      ++op.counters.invalidations;
      it = op.resolved.erase(it);
    } else {
      ++it;
    }
  }
  if (!KeepsStoredTables()) return;
  for (Key slot : Refreshed(key)) op.stored[slot] = Computed(op, slot);
  changes_.emplace_back(op.name, key);
}

void Registry::ChangedEverywhere(Key key) {
  for (auto& [name, op] : operators_) Changed(op, key);
}

void Registry::Flush() {
  for (auto& [name, op] : operators_) op.resolved.clear();  // [CACHE-016]
}

bool Registry::KeepsStoredTables() const {
  return Deviates(Deviation::kStaleAutogradOther) || Deviates(Deviation::kStaleAutogradNestedTensor) ||
         Deviates(Deviation::kStaleAfterCompositeExplicit) || Deviates(Deviation::kAliasFallbackFillsUndefined);
}

std::set<Key> Registry::Concerned(Key key) const {
  std::set<Key> slots = Refreshed(key);
  for (Key slot = 0; slot < keys_.slot_count(); ++slot) {
    if (Reads(keys_, chains_, slot).contains(key)) slots.insert(slot);
  }
  return slots;
}

std::set<Key> Registry::Refreshed(Key key) const {
  std::set<Key> slots;
  if (keys_.IsAlias(key)) {
    const std::vector<Key> members = keys_.Members(key);
    slots.insert(members.begin(), members.end());
    const std::string& name = keys_.Name(key);
    if (name == "CompositeImplicitAutograd" || name == "CompositeExplicitAutograd" ||
        name == "CompositeExplicitAutogradNonFunctional") {
      slots.insert(kUndefined);
    }
    if (name == "CompositeExplicitAutograd" && !Deviates(Deviation::kStaleAfterCompositeExplicit)) {
      const std::vector<Key> implicit = keys_.Members(*keys_.Find("CompositeImplicitAutograd"));
      slots.insert(implicit.begin(), implicit.end());
    }
    return slots;
  }
  slots.insert(key);
  const auto is_behind = [&](const char* autograd) {
    const std::vector<Key>& behind = keys_.Behind(*keys_.Find(autograd));
    return std::find(behind.begin(), behind.end(), key) != behind.end();
  };
  // A dense key, or one behind AutogradOther, refreshes the autograd key of its component, which for SparseCPU is
  // AutogradCPU.
  if (keys_.IsDense(key) || is_behind("AutogradOther")) slots.insert(keys_.AutogradOf(keys_.ComponentOf(key)));
  if (is_behind("AutogradOther") && !Deviates(Deviation::kStaleAutogradOther)) {
    slots.insert(*keys_.Find("AutogradOther"));
  }
  if (is_behind("AutogradNestedTensor") && !Deviates(Deviation::kStaleAutogradNestedTensor)) {
    slots.insert(*keys_.Find("AutogradNestedTensor"));
  }
  // Chains are none of libtorch's: what they lead to is always fresh.
  for (const auto& [from, to] : chains_) slots.insert(from);
  return slots;
}

}  // namespace plumbline::model
