// The keys that are in force: those of a release, and those that a backend or a scenario declares on top.
//
// A key is a functionality, or for a per-backend functionality the pair with a component. Keys have small numbers:
// 0 is Undefined, then every key that owns a slot from lowest to highest priority, then the alias keys.
//
//   KeyTable table(*FindRelease("pytorch-1.13"), scenario.declared_keys);
//   Key cpu = *table.Find("CPU");
//   table.Highest(table.SetOf({"CPU", "AutogradCUDA"})) == *table.Find("AutogradCUDA");
//
// Immutable after construction; any thread.
#ifndef PLUMBLINE_SPEC_MODEL_KEY_TABLE_H_
#define PLUMBLINE_SPEC_MODEL_KEY_TABLE_H_

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "spec/model/key_set.h"
#include "spec/scenario/scenario.h"
#include "spec/tables/release.h"

namespace plumbline::model {

using Key = int;
inline constexpr Key kUndefined = 0;

// The data of a release by name; null if there is none.
const tables::ReleaseData* FindRelease(std::string_view name);

class KeyTable {
 public:
  // A declaration that makes no sense (name taken, unknown neighbour) is left out and told in `problem()`; it is the
  // one at `problem_at()`, the first such.
  KeyTable(const tables::ReleaseData& release, std::span<const scenario::KeyDeclaration> declared);
  const std::string& problem() const { return problem_; }
  std::size_t problem_at() const { return problem_at_; }

  // The same; the table of a bare release is made once for the process.
  static std::shared_ptr<const KeyTable> Get(const tables::ReleaseData& release,
                                             std::span<const scenario::KeyDeclaration> declared);

  // ---- names ----
  // By exact spelling; a synonym gives the key that it means. A functionality alone ("Dense") is no key.
  std::optional<Key> Find(std::string_view name) const;
  const std::string& Name(Key key) const { return keys_[key].name; }
  std::vector<std::string> NearestNames(std::string_view name) const;  // for messages

  // ---- kinds ----
  int slot_count() const { return slot_count_; }  // Undefined and every runtime key; alias keys follow
  int key_count() const { return static_cast<int>(keys_.size()); }
  bool IsAlias(Key key) const { return key >= slot_count_; }
  bool IsAutograd(Key key) const;
  bool IsDense(Key key) const;  // CPU, CUDA, ...: the one per-backend functionality whose keys are named as components
  bool IsPerBackend(Key key) const { return keys_[key].component >= 0; }
  std::optional<int> ComponentOf(Key key) const;
  const std::vector<std::string>& components() const { return components_; }
  const std::vector<std::string>& functionalities() const { return functionality_names_; }

  // ---- sets ----
  KeySet SetOf(Key key) const;  // of Undefined and of an alias: empty
  // The first name that is no key goes to `unknown`.
  std::optional<KeySet> SetOf(std::span<const std::string> names, std::string* unknown) const;
  std::vector<Key> Keys(const KeySet& set) const;  // lowest first
  std::vector<std::string> Names(const KeySet& set) const;
  std::string Print(const KeySet& set) const;  // "[CPU AutogradCPU]"
  Key Highest(const KeySet& set) const;        // Undefined if there is none
  std::optional<int> HighestComponent(const KeySet& set) const;
  // `set` cut to the functionalities strictly below that of `key`, and those that are always below.
  KeySet Below(const KeySet& set, Key key) const;

  // ---- relations ----
  bool InAlias(Key key, Key alias) const;  // Undefined is in none
  std::vector<Key> Members(Key alias) const;
  // The alias of that name, if the release has it.
  std::optional<Key> Alias(std::string_view name) const;
  // The keys whose kernels stand behind an autograd key: X behind AutogradX, several behind AutogradOther.
  const std::vector<Key>& Behind(Key autograd) const;
  // For a deviation: the same table without the backend behind that key, if the release has it.
  KeyTable WithNothingBehind(std::string_view autograd) const;
  // The autograd key of a component, or, without one, the one that keys without a component use.
  Key AutogradOf(std::optional<int> component) const;

  // Whether a kernel that takes over from another at that key is worth a warning.
  bool WarnsOfOverride(Key key) const { return !quiet_overrides_.contains(key); }

  KeySet undefined_tensor() const { return undefined_tensor_; }  // what an undefined tensor brings to a call
  KeySet thread_include() const { return thread_include_; }
  KeySet thread_exclude() const { return thread_exclude_; }

 private:
  struct Entry {
    std::string name;
    int functionality = -1;  // -1: Undefined and aliases
    int component = -1;      // -1: not per backend
  };
  struct Functionality {
    std::string name, prefix;
    tables::KeyKind kind;
    bool per_backend;
  };

  // Why it makes no sense; empty: it is in force.
  std::string Declare(const tables::ReleaseData& release, const scenario::KeyDeclaration& declaration,
                      std::vector<Functionality>& functionalities, std::map<std::string, std::string>& autograd_of,
                      std::vector<std::string>& other_backends);
  KeySet SetOfNames(std::span<const std::string_view> names) const;
  std::vector<Key> Instances(std::string_view functionality) const;

  std::string problem_;
  std::size_t problem_at_ = 0;
  std::vector<Entry> keys_;
  int slot_count_ = 0;
  std::vector<std::string> components_;
  std::vector<std::string> functionality_names_;
  std::vector<Functionality> functionalities_;
  std::map<std::string, Key, std::less<>> by_name_;
  std::map<Key, std::vector<bool>> alias_members_;  // alias -> slot -> is a member
  std::map<Key, std::vector<Key>> behind_;
  std::vector<Key> autograd_of_component_;
  std::bitset<128> always_below_;
  std::set<Key> quiet_overrides_;
  KeySet undefined_tensor_, thread_include_, thread_exclude_;
};

}  // namespace plumbline::model

#endif  // PLUMBLINE_SPEC_MODEL_KEY_TABLE_H_
