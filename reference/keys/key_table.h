// The keys that are in force in a registry: those of a release, and those that its maker declares on top.
//
//   KeyTableRef table = KeyTable::ForRelease("pytorch-1.13");
//   KeySet set = table->SetOf({*table->Find("CPU"), *table->Find("AutogradCUDA")});
//   table->Highest(set) == *table->Find("AutogradCUDA");
//
// A Key is an opaque number: 0 is Undefined, then come the keys that own a slot of an operator's table, and from
// kFirstAlias on the alias keys. Numbers do not follow priority (per-backend rows keep their highest backend first, as
// the bit scan finds it); the lists of this class do. A functionality alone ("Dense") is not a key.
//
// Equal contents give the same table object, so that a thread's guards (thread_state.h) hold for every registry with
// those keys. Immutable after construction; any thread. Tables that were made live as long as the process: thread state
// refers to them by number.
#ifndef PLUMBLINE_REFERENCE_KEYS_KEY_TABLE_H_
#define PLUMBLINE_REFERENCE_KEYS_KEY_TABLE_H_

#include <bitset>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reference/keys/key_set.h"
#include "spec/tables/release.h"

namespace plumbline::reference {

enum class Key : std::uint16_t {};
inline constexpr Key kUndefined{0};
inline constexpr int kMaxSlots = 256;
inline constexpr int kFirstAlias = kMaxSlots;

using SlotSet = std::bitset<kMaxSlots>;

// A key of one's own. A component adds a backend with all per-backend keys; the others add one functionality.
struct KeyDeclaration {
  enum class Kind { kComponent, kBackend, kMode } kind = Kind::kComponent;
  std::string name;
  std::string after;     // the component or functionality just below it in priority
  std::string autograd;  // "own" (component only) or "AutogradOther"; empty for a mode
};

struct StartingFallback {
  std::string key;
  bool fallthrough = false;
  friend bool operator==(const StartingFallback&, const StartingFallback&) = default;
};

// Where a functionality's slots are: slot = offset + (component position & mask).
struct Row {
  std::uint32_t mask = 0;
  std::uint32_t offset = 0;
};
using Rows = Row[64];

// The alias keys that the resolution rule knows by name.
enum class AliasRole { kNonFunctional, kExplicit, kNested, kImplicit, kAutograd, kBatched };
inline constexpr int kAliasRoles = 6;

class KeyTable;
using KeyTableRef = const KeyTable*;

class KeyTable {
 public:
  // The table of a release of spec/tables; unknown names are kNotFound.
  static KeyTableRef ForRelease(std::string_view release);
  // The same with declared keys; a declaration that makes no sense is kInvalidArgument.
  static KeyTableRef ForRelease(std::string_view release, std::span<const KeyDeclaration> declared);
  static KeyTableRef ForData(const tables::ReleaseData& release, std::span<const KeyDeclaration> declared);

  std::uint32_t number() const { return number_; }  // 1 and up; equal contents, equal number
  const std::string& release() const { return release_; }

  // ---- names ----
  std::optional<Key> Find(std::string_view name) const;  // exact spelling; synonyms give what they mean
  Key Get(std::string_view name) const;                  // kNotFound with the nearest names
  const std::string& Name(Key key) const;
  std::vector<std::string> NearestNames(std::string_view name) const;

  // ---- kinds ----
  static constexpr bool IsAlias(Key key) { return static_cast<int>(key) >= kFirstAlias; }
  bool IsPerBackend(Key key) const { return !IsAlias(key) && slots_[static_cast<int>(key)].component >= 0; }
  int slot_count() const { return static_cast<int>(slots_.size()); }
  const std::vector<Key>& runtime_keys() const { return order_; }  // lowest first, without Undefined
  const std::vector<Key>& alias_keys() const { return aliases_; }
  const std::vector<std::string>& components() const { return components_; }            // lowest first
  const std::vector<std::string>& functionalities() const { return functionalities_; }  // lowest first

  // ---- sets ----
  KeySet SetOf(Key key) const;  // of Undefined and of an alias: empty
  KeySet SetOf(std::span<const Key> keys) const;
  KeySet SetOf(std::initializer_list<Key> keys) const { return SetOf(std::span(keys.begin(), keys.size())); }
  KeySet SetOfNames(std::initializer_list<std::string_view> names) const;  // throws as Get does
  bool Has(KeySet set, Key key) const { return key != kUndefined && !IsAlias(key) && set.contains(SetOf(key)); }
  std::vector<Key> Keys(KeySet set) const;  // lowest first
  std::string Print(KeySet set) const;      // "[CPU AutogradCPU]"
  Key Highest(KeySet set) const;            // Undefined if there is none
  // Every functionality strictly below that of `key`, all components, and those that are always below.
  KeySet Below(Key key) const;
  KeySet Full() const { return full_; }

  // The slot that a set selects, as the call path computes it.
  int SlotOf(KeySet set) const {
    const Row& row = rows_[set.functionality_position()];
    return static_cast<int>(row.offset + (static_cast<std::uint32_t>(set.component_position()) & row.mask));
  }
  const Rows& rows() const { return rows_; }
  // False for the slot of a functionality without a component, which no key names.
  bool IsKeySlot(int slot) const { return !slots_[slot].name.empty(); }
  // Position of a slot's functionality bit; -1 for Undefined.
  int FunctionalityPosition(Key key) const { return slots_[static_cast<int>(key)].functionality; }
  int ComponentPosition(Key key) const { return slots_[static_cast<int>(key)].component; }

  // ---- relations that the resolution rule reads ----
  const SlotSet& Members(Key alias) const { return members_[static_cast<int>(alias) - kFirstAlias]; }
  std::optional<Key> Alias(AliasRole role) const { return roles_[static_cast<int>(role)]; }
  // Whether the rule of that alias fills the slot: members, and Undefined for the composite kernels.
  bool Fills(AliasRole role, int slot) const { return fills_[static_cast<int>(role)].test(slot); }
  // The slots whose kernels stand behind an autograd key.
  const SlotSet& Behind(int slot) const { return behind_[slot]; }
  int autograd_other_slot() const { return autograd_other_slot_; }
  // The slots whose rule reads what is registered at `key`, chains aside.
  const SlotSet& ReadBy(Key key) const {
    return IsAlias(key) ? alias_read_by_[static_cast<int>(key) - kFirstAlias] : read_by_[static_cast<int>(key)];
  }
  // The autograd key of a key's tensors: that of its component, else AutogradOther. Undefined if there is none.
  Key AutogradOf(Key key) const;

  // Whether a kernel that takes over from another at that key is worth a warning.
  bool WarnsOfOverride(Key key) const { return IsAlias(key) || !quiet_overrides_.test(static_cast<int>(key)); }

  // ---- starting state ----
  KeySet undefined_tensor() const { return undefined_tensor_; }  // what an undefined tensor brings to a call
  KeySet thread_include() const { return thread_include_; }
  KeySet thread_exclude() const { return thread_exclude_; }
  const std::vector<StartingFallback>& fallbacks() const { return fallbacks_; }

 private:
  struct Slot {
    std::string name;        // empty: no key
    int functionality = -1;  // bit position
    int component = -1;      // bit position within the field
  };
  struct Builder;

  KeyTable(const tables::ReleaseData& release, std::span<const KeyDeclaration> declared);
  SlotSet ComputeReadBy(Key key) const;

  std::uint32_t number_ = 0;
  std::string release_, fingerprint_;
  std::vector<Slot> slots_;
  std::vector<std::string> alias_names_;
  std::vector<Key> order_, aliases_;
  std::vector<std::string> components_, functionalities_;
  std::map<std::string, Key, std::less<>> by_name_;
  Rows rows_;
  std::vector<SlotSet> members_;
  std::optional<Key> roles_[kAliasRoles];
  SlotSet fills_[kAliasRoles];
  std::vector<SlotSet> behind_;
  std::vector<SlotSet> read_by_, alias_read_by_;
  int autograd_other_slot_ = -1;
  std::vector<Key> autograd_of_component_;  // by bit position
  KeySet full_, always_below_, undefined_tensor_, thread_include_, thread_exclude_;
  SlotSet quiet_overrides_;
  std::vector<StartingFallback> fallbacks_;
};

// Names near to a misspelt one: at most three, nearest first.
std::vector<std::string> Nearest(std::string_view name, std::span<const std::string> known);

}  // namespace plumbline::reference

#endif  // PLUMBLINE_REFERENCE_KEYS_KEY_TABLE_H_
