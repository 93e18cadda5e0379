// What is registered: operators, kernels, fallbacks, chains, libraries and listeners, and the rules for each change.
//
//   Registry registry(keys, fallbacks, deviations);
//   Status refused = registry.Define({.schema = "demo::f(Tensor a) -> Tensor", .name = "d"}, 1);
//   Slot slot = registry.SlotOf(*registry.FindOperator("demo::f"), *keys.Find("CPU"));
//
// Every entry is all or nothing: a refused change leaves no trace. Not thread-safe.
#ifndef PLUMBLINE_SPEC_MODEL_REGISTRY_H_
#define PLUMBLINE_SPEC_MODEL_REGISTRY_H_

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "spec/model/deviations.h"
#include "spec/model/key_table.h"
#include "spec/model/resolve.h"
#include "spec/model/signature.h"
#include "spec/scenario/outcome.h"
#include "spec/scenario/scenario.h"

namespace plumbline::model {

struct Error {
  std::string error_class;  // as spelled in spec/tables/error_classes.h
  std::string message;
};
using Status = std::optional<Error>;  // none: done

// An operator exists while a definition or a kernel of it is in force.
struct Operator {
  std::string name;      // "ns::name" or "ns::name.overload"
  std::uint64_t id = 0;  // tells it from another of that name, earlier or later
  bool defined = false;
  std::string schema;  // as a schema is printed; "" if undefined
  Types types;         // of the newest schema that it had
  int defined_at = 0;  // line
  Kernels kernels;
  // The cache, see machine.h.
  std::set<Key> resolved;
  scenario::CacheCounters counters;  // since the definition or the last query
  // Deviations only: the table that calls use, and the first signature that was ever seen, plain and symbolic.
  std::map<Key, Slot> stored;
  std::map<bool, std::string> first_signature;
};

class Registry {
 public:
  Registry(const KeyTable& keys, const std::map<std::string, bool>& builtin_fallbacks, const Deviations& deviations);
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  // ---- changes; `line` is that of the step ----
  Status Open(const scenario::LibraryOpen& open, int line);
  Status Close(const std::string& name);
  Status Define(const scenario::Define& define, int line);
  Status Impl(const scenario::Impl& impl, int line, bool* warned);
  Status Fallback(const scenario::Fallback& fallback, int line);
  Status Declare(const scenario::Chain& chain, int line);
  Status Listen(const scenario::Listen& listen, int line);
  Status Release(const std::string& name);
  void Flush();

  // ---- what is there ----
  const std::map<std::string, Operator>& operators() const { return operators_; }
  Operator* FindOperator(const std::string& name);
  const Operator* FindOperator(const std::string& name) const;
  // The operator, if it is defined; else `not-found` with what is near.
  Status FindDefined(const std::string& name, Operator** found);
  // What a call at that key uses, and what the rules say; the two differ under a `stale-` deviation only.
  Slot SlotOf(const Operator& op, Key key) const;
  Slot Computed(const Operator& op, Key key, std::vector<Trial>* trials = nullptr) const;
  // Under a `stale-` deviation: whether libtorch's own check would find a slot that is not what the rules say. It sees
  // what sort of thing is in a slot, not which kernel of that sort, and does not look at Undefined.
  bool FailsInvariantCheck(const Operator& op) const;
  // Under a `stale-` deviation: the operators whose table, or what the rules say of it, a change may have changed since
  // this was asked last, with the key that it was made at; and the slots that a change at that key concerns.
  std::vector<std::pair<std::string, Key>> TakeChanges() { return std::exchange(changes_, {}); }
  std::set<Key> Concerned(Key key) const;
  const Fallbacks& fallbacks() const { return fallbacks_; }
  // By a deviation an alias stands for the slot of Undefined where fallbacks are concerned.
  bool AliasesFallToUndefined() const { return Deviates(Deviation::kAliasFallbackFillsUndefined); }
  const Chains& chains() const { return chains_; }
  // How often a context of this kernel was destroyed.
  std::int64_t Destroyed(const std::string& kernel) const;
  // What the listener heard since it was asked last; none if there never was such a listener.
  std::optional<std::vector<std::string>> Heard(const std::string& listener);
  // Every registration that there ever was, in order; `released` tells whether it is still in force.
  const std::deque<Registration>& registrations() const { return registrations_; }
  bool Released(const Registration& registration) const { return released_.contains(&registration); }

  // A typed kernel's signature against the living typed kernels of the operator: what differs, or "".
  std::string SignatureConflict(const Operator& op, const Signature& signature) const;

  // The same for a call, which by a deviation is bound by more.
  std::string CallConflict(const Operator& op, const Signature& signature) const;

  std::string KernelsOf(const Operator& op) const;  // " at CPU (line 3), CUDA (line 4)"; "" if it has none

  Status FindKey(const std::string& name, Key* key) const;

 private:
  struct Library {
    scenario::LibraryKind kind;
    std::string name_space;
    std::optional<Key> key;
    bool open = true;
    int line = 0;
  };
  struct Handle {
    enum class What { kDefinition, kKernel, kFallback, kChain, kListener } what;
    std::string library = {};
    std::string operator_name = {};              // kDefinition, kKernel
    const Registration* registration = nullptr;  // kKernel, kFallback
    Key key = kUndefined;                        // kKernel, kFallback, kChain
    Key slot = kUndefined;                       // kFallback: where it is kept
    std::string listener = {};                   // kListener
    enum class State { kLive, kDroppedByLibrary, kReleased } state = State::kLive;
  };
  struct Listener {
    bool live = true;
    std::vector<std::string> heard;
  };

  bool Deviates(Deviation deviation) const { return deviations_.contains(deviation); }
  Live LiveOf(const Operator& op) const { return {op.kernels, fallbacks_, chains_}; }
  Status CheckNewName(const std::string& name) const;
  Status FindLibrary(const std::string& name, Library** found);
  // Splits "ns::name.overload", giving it the library's namespace if it has none.
  Status QualifiedName(const std::string& name, const Library* library, std::string* qualified) const;
  // The key that was written, or the library's.
  Status ChooseKey(const std::optional<std::string>& name, const Library* library, std::optional<Key>* key) const;
  Status CheckUse(const scenario::KernelUse& use, const Signature** signature) const;
  void Refused(const scenario::KernelUse& use);  // its context is destroyed
  const Registration* Add(const scenario::KernelUse& use, Key key, const std::string& name, const std::string& library,
                          int line);
  void Keep(const std::string& name, Handle handle);

  Operator& OperatorNamed(const std::string& name);  // made if need be
  void RemoveIfUnused(const std::string& name);
  void Undo(Handle& handle);
  void Changed(Operator& op, Key key);  // a registration at `key` came or went
  void ChangedEverywhere(Key key);
  void Tell(const std::string& news);

  bool KeepsStoredTables() const;
  std::set<Key> Refreshed(Key key) const;  // by libtorch, as far as the deviations say

  const KeyTable& keys_;
  const Deviations deviations_;
  std::uint64_t next_id_ = 1;
  std::deque<Registration> registrations_;
  std::set<const Registration*> released_;
  std::map<std::string, std::int64_t> refused_;  // kernel -> contexts destroyed by refusal
  std::map<std::string, Operator> operators_;
  std::vector<std::pair<std::string, Key>> changes_;
  Fallbacks fallbacks_;
  Chains chains_;
  std::map<std::string, Library> libraries_;
  std::deque<Handle> handles_;
  std::map<std::string, Handle*> named_;
  std::map<std::string, Listener> listeners_;
};

}  // namespace plumbline::model

#endif  // PLUMBLINE_SPEC_MODEL_REGISTRY_H_
