// One operator of a registry: its definition, its kernels, what calls read of it, and its resolution cache.
//
// An entry exists while something is registered for the operator, and its memory for as long as handles to it do: a
// handle that outlives the operator gives kInvalidHandle with the operator's name. Another operator of that name,
// later, is another entry.
//
// Fields marked [lock] are guarded by the registry's lock; the rest is fixed or atomic.
#ifndef PLUMBLINE_REFERENCE_REGISTRY_OPERATOR_ENTRY_H_
#define PLUMBLINE_REFERENCE_REGISTRY_OPERATOR_ENTRY_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "reference/boxing/schema.h"
#include "reference/registry/published.h"
#include "reference/registry/rule.h"

namespace plumbline::reference {

class RegistryCore;

struct Definition {
  Definition(Schema schema, std::string place);
  Schema schema;
  std::string place;
  std::uint64_t key_arguments;  // Schema::key_arguments
  // By argument and by return, what boxed calls check: the one kind of value that it takes, or kAny: ask the type.
  std::vector<std::uint8_t> kinds, return_kinds;
  static constexpr std::uint8_t kAny = 255;
};

struct Resolution {
  Rule rule = Rule::kMissing;
  KernelContext* winner = nullptr;  // null: missing or ambiguous
  KernelContext* rival = nullptr;   // ambiguous: the kernel behind AutogradOther; the implicit one is `implicit`
  KernelContext* implicit = nullptr;
  bool fallthrough() const { return winner != nullptr && winner->fallthrough; }
};

struct CacheCounters {
  std::uint64_t hits = 0, misses = 0, invalidations = 0;
};

enum class OperatorState : std::uint8_t { kDefined, kDangling, kReleased };

class OperatorEntry {
 public:
  OperatorEntry(std::shared_ptr<RegistryCore> core, std::string name, std::uint64_t hash);
  OperatorEntry(const OperatorEntry&) = delete;
  OperatorEntry& operator=(const OperatorEntry&) = delete;
  ~OperatorEntry();

  const std::string& name() const { return name_; }
  std::uint64_t hash() const { return hash_; }
  RegistryCore& core() const { return *core_; }
  const KeyTable& keys() const;
  OperatorState state() const { return state_.load(std::memory_order_acquire); }

  void Retain() { references_.fetch_add(1, std::memory_order_relaxed); }
  void Release() {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  // Read inside a read section; null while the operator is not defined.
  const Definition* definition() const { return definition_.load(std::memory_order_acquire); }

  View& boxed_view() { return boxed_view_; }
#ifdef PLUMBLINE_WITH_FAULTS
  std::int64_t changes() const { return changes_.load(std::memory_order_relaxed); }
  const Signature* old_signature() const { return old_signature_; }
#endif

 private:
  friend class RegistryCore;
  friend class Registry;
  friend class Describer;

  template <class F>
  void ForEachView(F visit) {  // [lock]
    visit(boxed_view_);
    for (const std::unique_ptr<View>& view : typed_views_) visit(*view);
  }

  // The rules for a slot. [lock]
  Resolution Resolve(int slot) const;
  Resolution ByRules(int slot) const;
#ifdef PLUMBLINE_WITH_FAULTS
  // What a fault puts there instead; nothing where it lets the rules be. [lock]
  std::optional<Resolution> Spoilt(int slot) const;
  std::optional<Resolution> SpoiltChain(int slot, const Resolution& right) const;
  std::optional<bool> SpoiltHasKernel(Key key) const;
#endif
  KernelContext* Newest(Key key) const;  // [lock]
  KernelContext* Newest(AliasRole role) const;

  View boxed_view_;
  const std::shared_ptr<RegistryCore> core_;
  const std::string name_;
  const std::uint64_t hash_;
  std::atomic<std::int64_t> references_{1};
  std::atomic<OperatorState> state_{OperatorState::kDangling};
  std::atomic<Definition*> definition_{nullptr};
  std::atomic<std::uint64_t> hits_{0};

  std::vector<KernelContext*> kernels_;             // in force, oldest first [lock]
  SlotSet direct_;                                  // slots with a kernel of their own [lock]
  std::vector<std::unique_ptr<View>> typed_views_;  // one a signature; they stay [lock]
  SlotSet resolved_;                                // [lock]
  bool published_ = false;                          // some view has a table of its own [lock]
  std::size_t place_in_list_ = 0;                   // in the registry's list of operators [lock]
  std::uint64_t number_ = 0;                        // order of creation
  std::uint64_t misses_ = 0, invalidations_ = 0;    // [lock]
#ifdef PLUMBLINE_WITH_FAULTS
  // For faults that drop too little after a change.
  std::map<int, Resolution> answers_;    // that calls got, by slot [lock]
  std::optional<SlotSet> fallthroughs_;  // [lock]
  SlotSet missing_;                      // slots that calls found empty [lock]
  std::atomic<std::int64_t> changes_{0};
  const Signature* old_signature_ = nullptr;      // of its first typed kernel [lock]
  const Signature* refused_signature_ = nullptr;  // [lock]
  bool was_defined_ = false;                      // a definition was released [lock]
#endif
};

// A counted reference to an operator, possibly none. A value; distinct objects may be used by distinct threads.
class OperatorRef {
 public:
  OperatorRef() = default;
  explicit OperatorRef(OperatorEntry* entry) : entry_(entry) {}  // takes over one reference
  static OperatorRef Share(OperatorEntry& entry) {
    entry.Retain();
    return OperatorRef(&entry);
  }
  OperatorRef(const OperatorRef& other) : entry_(other.entry_) {
    if (entry_ != nullptr) entry_->Retain();
  }
  OperatorRef(OperatorRef&& other) noexcept : entry_(std::exchange(other.entry_, nullptr)) {}
  OperatorRef& operator=(OperatorRef other) noexcept {
    std::swap(entry_, other.entry_);
    return *this;
  }
  ~OperatorRef() {
    if (entry_ != nullptr) entry_->Release();
  }

  explicit operator bool() const { return entry_ != nullptr; }
  OperatorEntry& operator*() const { return *entry_; }
  OperatorEntry* operator->() const { return entry_; }
  OperatorEntry* get() const { return entry_; }

 private:
  OperatorEntry* entry_ = nullptr;
};

}  // namespace plumbline::reference

#endif  // PLUMBLINE_REFERENCE_REGISTRY_OPERATOR_ENTRY_H_
