// The state behind a Registry, and every rule for changing it. Internal: use registry.h.
//
// One mutex guards all of it. A change is made by a Change object: it holds the lock while the state is changed, and
// when it ends it lets go of the lock, waits for read sections if something that calls read was replaced, frees what
// was replaced, and only then runs what belongs to others: destructors of callables, warnings, observers, listeners. A
// change that is refused throws before anything was changed.
//
// Caching. The published tables are the cache. A slot of an operator is *resolved* once a call reached it, and counts a
// miss then; later calls hit. `resolved_` remembers that across tables. A register or release at key K drops every
// resolved slot whose rules read K (KeyTable::ReadBy, and chains that lead there) and counts one invalidation for each;
// the operator's tables are replaced by the common table without answers (`cold_`), and the next call builds a new one.
// So registering many kernels before the first call publishes nothing.
#ifndef PLUMBLINE_REFERENCE_REGISTRY_REGISTRY_CORE_H_
#define PLUMBLINE_REFERENCE_REGISTRY_REGISTRY_CORE_H_

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "reference/keys/fork_mutex.h"
#include "reference/registry/name_table.h"
#include "reference/registry/registry.h"

namespace plumbline::reference {

#ifdef PLUMBLINE_WITH_FAULTS
extern constinit thread_local KeySet arguments_of_call;  // for the fault mask_of_the_arguments
#endif

struct ListenerRecord {
  Listener listener;
  std::atomic<bool> live{true};
};

struct LibraryRecord : std::enable_shared_from_this<LibraryRecord> {
  std::shared_ptr<RegistryCore> core;
  LibraryKind kind;
  std::string name_space;
  std::optional<Key> key;
  std::string place;
  bool open = true;                                     // [lock]
  std::vector<std::weak_ptr<RegistrationRecord>> made;  // [lock]
};

struct RegistrationRecord {
  enum class What { kDefinition, kKernel, kFallback, kChain, kListener } what;
  std::shared_ptr<RegistryCore> core;
  bool in_force = true;  // [lock]
  bool replaced = false;
  OperatorEntry* op = nullptr;      // kDefinition, kKernel; lives while in force
  KernelContext* kernel = nullptr;  // kKernel, kFallback
  Key key = kUndefined;             // kFallback, kChain
  std::shared_ptr<ListenerRecord> listener;
#ifdef PLUMBLINE_WITH_FAULTS
  std::weak_ptr<LibraryRecord> library;
#endif
};

struct ChainRecord {
  Key key, served_by;
  std::string place;
};

// How a call found its kernel.
struct Located {
  const KernelContext* kernel = nullptr;  // in use if `counted`
  KeySet keys;
  bool counted = false;
  bool direct = false;    // its typed function has the view's signature
  bool observed = false;  // an observer was told
};

// What the locked search found besides: for observers, and for the error if there is nothing to call.
struct Findings {
  Key chosen = kUndefined;
  Rule rule = Rule::kMissing;
  std::string place;
  bool fallthrough = false;
  bool hit = false;
  std::optional<DispatchError> error;
};

class Change;

class RegistryCore : public std::enable_shared_from_this<RegistryCore> {
 public:
  RegistryCore(KeyTableRef keys, std::span<const StartingFallback> fallbacks);
  ~RegistryCore();
  void Close();  // with the Registry: everything is released

  const KeyTable& keys() const { return keys_; }

  // ---- changes ----
  std::shared_ptr<LibraryRecord> OpenLibrary(LibraryKind kind, std::string_view name_space, std::optional<Key> key,
                                             std::string place);
  void CloseLibrary(LibraryRecord& library);
  std::shared_ptr<RegistrationRecord> Define(Schema schema, std::string place, LibraryRecord* library);
  std::shared_ptr<RegistrationRecord> Impl(std::string_view op, std::optional<Key> key, Kernel& kernel,
                                           std::string place, LibraryRecord* library);
  std::shared_ptr<RegistrationRecord> Fallback(std::optional<Key> key, Kernel& kernel, std::string place,
                                               LibraryRecord* library);
  std::shared_ptr<RegistrationRecord> DeclareChain(Key key, Key served_by, std::string place);
  std::shared_ptr<RegistrationRecord> Listen(Listener listener, std::string place);
  void Release(RegistrationRecord& record);
  bool InForce(const RegistrationRecord& record) const;
  void WarnTo(std::function<void(std::string_view)> sink);
  void ObserveCalls(CallObserver* observer);
  bool observed() const { return call_observer_.load(std::memory_order_acquire) != nullptr; }
  void TellInstance(std::string_view op, std::string_view dtype, std::string_view device) const;
  void ObserveRegistrations(RegistrationObserver* observer);
  void CountHits(bool on);
  void Flush();
  void Drain();

  // ---- calls ----
  // Finds the kernel for a set; `mask` takes out the keys that fall through. Throws if there is none.
  Located Locate(View& view, KeySet set, bool mask, bool redispatch);
  View& ViewFor(OperatorEntry& op, const Signature& signature);
  OperatorRef Find(std::string_view name) const;
  [[noreturn]] void ThrowUncallable(OperatorEntry& op);  // released, or not defined
  void ThrowIfNotDefined(OperatorEntry& op);             // implemented only
  CallObserver* call_observer() const { return call_observer_.load(std::memory_order_acquire); }

 private:
  friend class Change;
  friend class OperatorEntry;
  friend class Describer;
  friend class Registry;

  // ---- parts of changes; all under the lock ----
  std::string QualifiedName(OperatorName& name, std::string_view written, const LibraryRecord* library) const;
  void CheckOpen(const LibraryRecord* library) const;
  std::optional<Key> ChooseKey(std::optional<Key> key, const LibraryRecord* library) const;
  void CheckSignature(const OperatorEntry& op, const Signature& signature, std::string_view what) const;
#ifdef PLUMBLINE_WITH_FAULTS
  static void CheckSpoiltSignature(const OperatorEntry& op, const Signature& signature);
#endif
  void CheckFits(const OperatorEntry& op, const Definition& definition, const KernelContext& kernel) const;
  OperatorEntry& EntryNamed(const std::string& name, Change& change);
  std::shared_ptr<RegistrationRecord> Record(RegistrationRecord::What what, LibraryRecord* library);
  KernelContext* Adopt(Kernel& kernel, Key key, OperatorEntry* op, std::string place);
  void Undo(RegistrationRecord& record, Change& change);
  void RemoveIfUnused(OperatorEntry& op, Change& change);
  void Bury(KernelContext* kernel, Change& change);

  Resolution Answer(const OperatorEntry& op, int slot) const;
  SlotSet Affected(Key key) const;  // slots whose rules read `key`
  void Changed(OperatorEntry& op, const SlotSet& affected, Change& change);
  void ChangedEverywhere(const SlotSet& affected, Change& change);
  void Withdraw(OperatorEntry& op, Change& change);  // published tables
  const Signature& Keep(const Signature& signature);
  void RefreshViews(OperatorEntry& op);  // numbers, and which may be used
  void RefreshAllViews();
  Table* Publish(OperatorEntry& op, View& view);
  SlotSet Fallthroughs(const OperatorEntry& op) const;
  static std::uintptr_t Word(const View& view, const KernelContext* kernel);

  bool TryLocate(View& view, KeySet set, bool mask, Located* located);
  Located LocateLocked(View& view, KeySet set, bool mask, Findings* findings);
  void CheckCallable(const View& view) const;
  DispatchError NothingToCall(const OperatorEntry& op, KeySet keys, int slot, const Resolution& resolution);
  [[noreturn]] void ThrowUncallableLocked(const OperatorEntry& op) const;

  const KeyTable& keys_;
  mutable ForkMutex mutex_;
  bool closed_ = false;
  NameTable names_;
  std::vector<OperatorEntry*> operators_;  // each knows its place
  std::vector<KernelContext*> fallbacks_;  // by slot
  SlotSet falling_through_;                // slots whose fallback is a fallthrough
  std::vector<ChainRecord> chains_;
  SlotSet chained_;
  std::map<std::string, LibraryRecord*, std::less<>> def_libraries_;
  std::vector<std::shared_ptr<ListenerRecord>> listeners_;
  std::vector<KernelContext*> buried_;  // permanent kernels that were released
  std::uint64_t next_number_ = 1;
  std::vector<std::unique_ptr<KeptSignature>> signatures_;  // of views; for good
  Table* cold_;
  std::shared_ptr<std::atomic<std::int64_t>> undead_;  // released kernels that still run
  std::function<void(std::string_view)> warn_;
  std::atomic<CallObserver*> call_observer_;
  std::atomic<RegistrationObserver*> registration_observer_;
  std::atomic<bool> count_hits_{false};
#ifdef PLUMBLINE_WITH_FAULTS
  std::vector<KernelContext*> late_;  // for the fault contexts_go_with_the_next_change
#endif
};

// See the top of this file.
class Change {
 public:
#ifdef PLUMBLINE_WITH_FAULTS
  explicit Change(RegistryCore& core) : core_(core), lock_(core.mutex_, std::try_to_lock) {
    waited_ = !lock_.owns_lock();
    if (waited_) lock_.lock();
    SpoilStart();
  }
  bool waited() const { return waited_; }
  // Lets others at what is half done; for faults.
  void StepAside() {
    lock_.unlock();
    lock_.lock();
  }
  OperatorEntry* late = nullptr;  // its tables are withdrawn when the lock is gone
#else
  explicit Change(RegistryCore& core) : core_(core), lock_(core.mutex_) {}
#endif
  ~Change();
  Change(const Change&) = delete;
  Change& operator=(const Change&) = delete;

  std::vector<Table*> tables;
  std::vector<Definition*> definitions;
  std::vector<KernelContext*> kernels;    // released: the registration's count goes
  std::vector<OperatorEntry*> operators;  // removed: the registry's reference goes
  std::vector<NameTable::Array*> names;
  std::vector<std::string> warnings;

  void Tell(bool defined, const std::string& name);
  void Log(RegistrationEvent::What what, bool released, std::string subject, std::string key, std::string place,
           std::string shadows = "");

 private:
  struct News {
    std::shared_ptr<ListenerRecord> listener;
    bool defined;
    std::string name;
  };
  struct LogLine {
    RegistrationEvent::What what;
    bool released;
    std::string subject, key, place, shadows;
  };
  RegistryCore& core_;
  std::unique_lock<ForkMutex> lock_;
#ifdef PLUMBLINE_WITH_FAULTS
  void SpoilStart();
  bool waited_ = false;
#endif
  std::vector<News> news_;
  std::vector<LogLine> log_;
};

}  // namespace plumbline::reference

#endif  // PLUMBLINE_REFERENCE_REGISTRY_REGISTRY_CORE_H_
