#include "reference/keys/key_table.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>

#include "reference/faults/faults.h"
#include "reference/keys/error.h"
#include "reference/keys/fork_mutex.h"
#include "reference/keys/make_once.h"
#include "spec/tables/releases.h"

namespace plumbline::reference {
namespace {

constexpr std::string_view kRoleNames[kAliasRoles] = {
    "CompositeExplicitAutogradNonFunctional",
    "CompositeExplicitAutograd",
    "CompositeImplicitAutogradNestedTensor",
    "CompositeImplicitAutograd",
    "Autograd",
    "FuncTorchBatchedDecomposition",
};

// The composite kernels also serve calls that bring no key.
constexpr bool ServesUndefined(AliasRole role) {
  return role == AliasRole::kNonFunctional || role == AliasRole::kExplicit || role == AliasRole::kImplicit;
}

bool Contains(std::span<const std::string_view> list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

std::size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

struct Functionality {
  std::string name, prefix;
  bool per_backend = false;
};

#ifdef PLUMBLINE_WITH_FAULTS
// Whether a fault makes the key a member of the alias, or none; nothing where none is about it.
std::optional<bool> SpoiltMember(std::string_view alias, std::string_view functionality, std::string_view component,
                                 bool declared_mode) {
  const bool nested = functionality == "NestedTensor";
  const bool nested_autograd = functionality == "AutogradNestedTensor";
  const auto is = [&](std::string_view name) { return alias == name; };
  if (PLUMBLINE_FAULT(autograd_lacks_nested) && is("Autograd") && nested_autograd) return false;
  if (PLUMBLINE_FAULT(explicit_lacks_quantized) && is("CompositeExplicitAutograd") && functionality == "Quantized") {
    return false;
  }
  if (PLUMBLINE_FAULT(nonfunctional_holds_lazy) && is("CompositeExplicitAutogradNonFunctional") &&
      functionality == "Dense" && component == "Lazy") {
    return true;
  }
  if (PLUMBLINE_FAULT(implicit_lacks_nested) && is("CompositeImplicitAutograd") && nested) return false;
  if (PLUMBLINE_FAULT(nested_lacks_its_autograd_key) && is("CompositeImplicitAutogradNestedTensor") &&
      nested_autograd) {
    return false;
  }
  if (PLUMBLINE_FAULT(batched_holds_dense) && is("FuncTorchBatchedDecomposition") && functionality == "Dense")
    return true;
  if (PLUMBLINE_FAULT(declared_mode_is_in_implicit) && is("CompositeImplicitAutograd") && declared_mode) return true;
  return std::nullopt;
}
#endif

[[noreturn]] void Refuse(const KeyDeclaration& declaration, const std::string& why) {
  Throw(ErrorClass::kInvalidArgument, "Cannot declare key '" + declaration.name + "': " + why);
}

}  // namespace

std::vector<std::string> Nearest(std::string_view name, std::span<const std::string> known) {
  const std::size_t limit = std::max<std::size_t>(2, name.size() / 3);
  std::vector<std::pair<std::size_t, std::string>> near;
  for (const std::string& candidate : known) {
    const std::size_t longer = std::max(name.size(), candidate.size());
    const std::size_t shorter = std::min(name.size(), candidate.size());
    if (longer - shorter > limit) continue;
    const std::size_t distance = EditDistance(name, candidate);
    if (distance <= limit) near.emplace_back(distance, candidate);
  }
  std::sort(near.begin(), near.end());
  std::vector<std::string> names;
  for (std::size_t i = 0; i < near.size() && i < 3; ++i) names.push_back(near[i].second);
  return names;
}

// What a table is made from: the release's lists with the declared keys put in their places.
struct KeyTable::Builder {
  std::vector<std::string> components;
  std::map<std::string, std::string> autograd_of;
  std::vector<Functionality> functionalities;
  std::vector<std::string> declared_backends;  // they stand behind AutogradOther, as FPGA does

  explicit Builder(const tables::ReleaseData& release) {
    for (const tables::ComponentData& c : release.components) {
      components.emplace_back(c.name);
      autograd_of[components.back()] = c.autograd;
    }
    for (const tables::FunctionalityData& f : release.functionalities) {
      functionalities.push_back({std::string(f.name), std::string(f.prefix), f.per_backend});
    }
  }

  bool Taken(const std::string& name) const {
    for (const Functionality& f : functionalities) {
      if (f.name == name) return true;
      if (!f.per_backend) continue;
      for (const std::string& c : components) {
        if (f.prefix + c == name) return true;
      }
    }
    return std::find(components.begin(), components.end(), name) != components.end();
  }

  void Declare(const KeyDeclaration& declaration) {
    if (declaration.name.empty() || Taken(declaration.name)) Refuse(declaration, "the name is taken");
    if (declaration.kind == KeyDeclaration::Kind::kComponent) return DeclareComponent(declaration);
    const bool backend = declaration.kind == KeyDeclaration::Kind::kBackend;
    const auto after = std::find_if(functionalities.begin(), functionalities.end(),
                                    [&](const Functionality& f) { return f.name == declaration.after; });
    if (after == functionalities.end()) {
      Refuse(declaration, "there is no functionality '" + declaration.after + "' for it to come after");
    }
    if (backend && declaration.autograd != "AutogradOther") {
      Refuse(declaration, "its autograd key must be 'AutogradOther'");
    }
    if (!backend && !declaration.autograd.empty()) Refuse(declaration, "a mode has no autograd key");
    functionalities.insert(after + 1, Functionality{declaration.name, "", false});
    if (backend && !PLUMBLINE_FAULT(declared_backend_is_in_no_alias)) declared_backends.push_back(declaration.name);
  }

  void DeclareComponent(const KeyDeclaration& declaration) {
    const auto after = std::find(components.begin(), components.end(), declaration.after);
    if (after == components.end()) {
      Refuse(declaration, "there is no component '" + declaration.after + "' for it to come after");
    }
    if (declaration.autograd != "own" && declaration.autograd != "AutogradOther") {
      Refuse(declaration, "its autograd key must be 'own' or 'AutogradOther'");
    }
    components.insert(PLUMBLINE_FAULT(declared_component_stands_last) ? components.end() : after + 1, declaration.name);
    autograd_of[declaration.name] =
        declaration.autograd == "own" ? "Autograd" + declaration.name : std::string("AutogradOther");
  }
};

KeyTable::KeyTable(const tables::ReleaseData& release, std::span<const KeyDeclaration> declared)
    : release_(release.name) {
  Builder build(release);
  for (const KeyDeclaration& declaration : declared) build.Declare(declaration);
  if (PLUMBLINE_FAULT(functionalities_are_reversed)) std::ranges::reverse(build.functionalities);
  if (PLUMBLINE_FAULT(components_are_reversed)) std::ranges::reverse(build.components);
  const int functionality_count = static_cast<int>(build.functionalities.size());
  const int component_count = static_cast<int>(build.components.size());
  if (functionality_count > KeySet::kFunctionalities || component_count > KeySet::kComponents) {
    Throw(ErrorClass::kOverflow, "There is room for " + std::to_string(KeySet::kFunctionalities) +
                                     " functionalities and " + std::to_string(KeySet::kComponents) +
                                     " components, those of the release included; with the declared keys there are " +
                                     std::to_string(functionality_count) + " and " + std::to_string(component_count));
  }
  components_ = build.components;
  for (const Functionality& f : build.functionalities) functionalities_.push_back(f.name);

  // Slots: Undefined, then one row a functionality. A per-backend row holds its components, highest first, and a slot
  // for "no component", so that the call path needs no test for it.
  const auto component_position = [&](int index) { return KeySet::kComponents - 1 - index; };
  const auto functionality_position = [&](int index) { return KeySet::kFunctionalities - 1 - index; };
  slots_.push_back({"Undefined"});
  std::vector<int> row_functionality;
  for (int f = 0; f < functionality_count; ++f) {
    const Functionality& functionality = build.functionalities[f];
    Row& row = rows_[functionality_position(f)];
    const int first = static_cast<int>(slots_.size());
    if (!functionality.per_backend) {
      row = {0, static_cast<std::uint32_t>(first)};
      slots_.push_back({functionality.name, functionality_position(f), -1});
      order_.push_back(static_cast<Key>(first));
      continue;
    }
    row = {31, static_cast<std::uint32_t>(first - component_position(component_count - 1))};
    for (int c = component_count - 1; c >= 0; --c) {
      slots_.push_back({functionality.prefix + build.components[c], functionality_position(f), component_position(c)});
    }
    for (int c = 0; c < component_count; ++c) order_.push_back(static_cast<Key>(first + component_count - 1 - c));
    slots_.push_back({"", functionality_position(f), KeySet::kComponents});
  }
  if (slots_.size() > static_cast<std::size_t>(kMaxSlots)) {
    Throw(ErrorClass::kOverflow, "An operator's table holds " + std::to_string(kMaxSlots) + " slots; these keys need " +
                                     std::to_string(slots_.size()));
  }

  for (int slot = 0; slot < slot_count(); ++slot) {
    if (IsKeySlot(slot)) by_name_.emplace(slots_[slot].name, static_cast<Key>(slot));
  }
  for (const tables::AliasData& alias : release.aliases) {
    const Key key = static_cast<Key>(kFirstAlias + static_cast<int>(alias_names_.size()));
    alias_names_.emplace_back(alias.name);
    aliases_.push_back(key);
    by_name_.emplace(alias.name, key);
    for (int role = 0; role < kAliasRoles; ++role) {
      if (kRoleNames[role] == alias.name) roles_[role] = key;
    }
  }
  for (const tables::SynonymData& synonym : release.synonyms) {
    if (!PLUMBLINE_FAULT(synonyms_are_unknown)) by_name_.emplace(synonym.name, Get(synonym.means));
  }
  if (PLUMBLINE_FAULT(two_keys_share_a_slot)) by_name_["QuantizedHIP"] = Get("QuantizedCUDA");

  const auto functionality_name = [&](int slot) -> const std::string& {
    return build.functionalities[KeySet::kFunctionalities - 1 - slots_[slot].functionality].name;
  };
  const auto component_name = [&](int slot) -> const std::string& {
    return build.components[KeySet::kComponents - 1 - slots_[slot].component];
  };
  const auto declared_backend = [&](const std::string& name) {
    return std::find(build.declared_backends.begin(), build.declared_backends.end(), name) !=
           build.declared_backends.end();
  };
  for (const tables::AliasData& alias : release.aliases) {
    SlotSet& members = members_.emplace_back();
    for (Key key : order_) {
      const int slot = static_cast<int>(key);
      // A declared backend key is where the release's plain backend keys are: in the aliases of the composite kernels.
      const bool in = Contains(alias.functionalities, functionality_name(slot)) ||
                      (declared_backend(functionality_name(slot)) && Contains(alias.functionalities, "Dense"));
      const bool out = slots_[slot].component >= 0 && Contains(alias.without_components, component_name(slot));
      if (in && !out) members.set(slot);
#ifdef PLUMBLINE_WITH_FAULTS
      const bool mode = std::ranges::any_of(declared, [&](const KeyDeclaration& d) {
        return d.kind == KeyDeclaration::Kind::kMode && d.name == functionality_name(slot);
      });
      const std::string_view component = slots_[slot].component >= 0 ? std::string_view(component_name(slot)) : "";
      if (const auto spoilt = SpoiltMember(alias.name, functionality_name(slot), component, mode)) {
        members.set(slot, *spoilt);
      }
#endif
    }
  }
  for (int role = 0; role < kAliasRoles; ++role) {
    if (!roles_[role]) continue;
    fills_[role] = Members(*roles_[role]);
    if (ServesUndefined(static_cast<AliasRole>(role))) fills_[role].set(0);
  }

  behind_.resize(slots_.size());
  for (const tables::AutogradData& autograd : release.autograd) {
    SlotSet& behind = behind_[static_cast<int>(Get(autograd.key))];
    const bool other = autograd.key == "AutogradOther";
    for (Key key : order_) {
      const int slot = static_cast<int>(key);
      const std::string& name = functionality_name(slot);
      if (PLUMBLINE_FAULT(quantized_is_not_behind_other) && other && name == "Quantized") continue;
      if (Contains(autograd.functionalities, name) || (other && declared_backend(name))) behind.set(slot);
    }
  }
  if (const auto other = Find("AutogradOther")) autograd_other_slot_ = static_cast<int>(*other);
  autograd_of_component_.assign(KeySet::kComponents, kUndefined);
  for (int c = 0; c < component_count; ++c) {
    const Key autograd = Get(build.autograd_of[build.components[c]]);
    autograd_of_component_[component_position(c)] = autograd;
    const std::string& name = build.components[c];
    const bool declared_component =
        std::ranges::any_of(declared, [&](const KeyDeclaration& d) { return d.name == name; });
    if (PLUMBLINE_FAULT(declared_component_has_no_autograd) && declared_component) continue;
    if (PLUMBLINE_FAULT(hip_is_behind_its_name) && name == "HIP") {
      behind_[static_cast<int>(Get("AutogradHIP"))].set(static_cast<int>(Get(name)));
    }
    if (!IsPerBackend(autograd)) continue;
    behind_[static_cast<int>(autograd)].set(static_cast<int>(Get(name)));
    if (PLUMBLINE_FAULT(sparse_is_behind_its_component)) {
      for (const char* prefix : {"Sparse", "Quantized"}) {
        behind_[static_cast<int>(autograd)].set(static_cast<int>(Get(prefix + name)));
      }
    }
  }

  for (Key key : order_) full_ = full_ | SetOf(key);
  for (std::string_view name : release.always_below) always_below_ = always_below_ | SetOf(Get(name));
  for (std::string_view name : release.quiet_overrides) quiet_overrides_.set(static_cast<int>(Get(name)));
  for (std::string_view name : release.thread_include) thread_include_ = thread_include_ | SetOf(Get(name));
  for (std::string_view name : release.thread_exclude) thread_exclude_ = thread_exclude_ | SetOf(Get(name));
  for (std::string_view name : {"ADInplaceOrView", "AutogradOther"}) {
    if (const auto key = Find(name)) undefined_tensor_ = undefined_tensor_ | SetOf(*key);
  }
  for (const tables::BuiltinFallbackData& f : release.fallbacks) {
    fallbacks_.push_back({std::string(f.key), f.fallthrough});
  }

  for (int slot = 0; slot < slot_count(); ++slot) read_by_.push_back(ComputeReadBy(static_cast<Key>(slot)));
  for (Key alias : aliases_) alias_read_by_.push_back(ComputeReadBy(alias));

  fingerprint_ = release_;
  for (const Slot& slot : slots_) fingerprint_ += " " + slot.name;
  for (Key autograd : autograd_of_component_) fingerprint_ += " " + std::to_string(static_cast<int>(autograd));
  for (const SlotSet& members : members_) fingerprint_ += members.to_string();
}

KeyTableRef KeyTable::ForData(const tables::ReleaseData& release, std::span<const KeyDeclaration> declared) {
  std::unique_ptr<KeyTable> made(new KeyTable(release, declared));
  struct Tables {
    ForkMutex mutex{ForkRank::kTables};
    std::vector<std::unique_ptr<KeyTable>> all;
  };
  static constinit std::atomic<Tables*> made_once{nullptr};
  Tables& tables = MakeOnce(made_once, [] { return new Tables; });
  const std::lock_guard lock(tables.mutex);
  for (const std::unique_ptr<KeyTable>& known : tables.all) {
    if (known->fingerprint_ == made->fingerprint_) return known.get();
  }
  made->number_ = static_cast<std::uint32_t>(tables.all.size() + 1);
  tables.all.push_back(std::move(made));
  return tables.all.back().get();
}

KeyTableRef KeyTable::ForRelease(std::string_view release, std::span<const KeyDeclaration> declared) {
  // Those of the bare releases are kept at hand, so that a registry is opened in no time.
  static std::array<std::atomic<KeyTableRef>, std::size(tables::kReleases)> bare;
  std::vector<std::string> known;
  for (std::size_t i = 0; i < bare.size(); ++i) {
    const tables::ReleaseData* const data = tables::kReleases[i];
    known.emplace_back(data->name);
    if (data->name != release) continue;
    if (!declared.empty() || FaultActive()) return ForData(*data, declared);
    KeyTableRef table = bare[i].load(std::memory_order_acquire);
    if (table == nullptr) {
      table = ForData(*data, {});  // two threads that both get here get the same
      bare[i].store(table, std::memory_order_release);
    }
    return table;
  }
  std::string message = "There is no release '" + std::string(release) + "'. Known:";
  for (const std::string& name : known) message += " " + name;
  Throw(ErrorClass::kNotFound, message);
}

KeyTableRef KeyTable::ForRelease(std::string_view release) { return ForRelease(release, {}); }

std::optional<Key> KeyTable::Find(std::string_view name) const {
  const auto it = by_name_.find(name);
  if (it == by_name_.end()) return std::nullopt;
  return it->second;
}

Key KeyTable::Get(std::string_view name) const {
  if (const auto key = Find(name)) return *key;
  for (const auto& [known, key] : by_name_) {
    const auto alike = [](char a, char b) { return std::tolower(a) == std::tolower(b); };
    if (PLUMBLINE_FAULT(key_names_ignore_case) && std::ranges::equal(known, name, alike)) return key;
  }
#ifdef PLUMBLINE_WITH_FAULTS
  if (PLUMBLINE_FAULT(unknown_name_is_a_key)) return order_.front();
  if (PLUMBLINE_FAULT(functionality_is_a_key) && std::ranges::find(functionalities_, name) != functionalities_.end()) {
    return order_.front();
  }
  for (const tables::ReleaseData* release : tables::kReleases) {
    const bool there =
        std::ranges::find(release->components, name, &tables::ComponentData::name) != release->components.end() ||
        std::ranges::find(release->functionalities, name, &tables::FunctionalityData::name) !=
            release->functionalities.end();
    if (PLUMBLINE_FAULT(keys_of_every_release) && there) return order_.front();
  }
#endif
  std::string message = "There is no dispatch key '" + std::string(name) + "' in " + release_ + ".";
  for (const std::string& f : functionalities_) {
    if (f == name) message += " It is a functionality; its keys are named after a backend.";
  }
  const std::vector<std::string> near = NearestNames(name);
  if (!near.empty()) message += " Near:";
  for (const std::string& n : near) message += " " + n;
  Throw(ErrorClass::kNotFound, message);
}

const std::string& KeyTable::Name(Key key) const {
  if (IsAlias(key)) return alias_names_[static_cast<int>(key) - kFirstAlias];
  return slots_[static_cast<int>(key)].name;
}

std::vector<std::string> KeyTable::NearestNames(std::string_view name) const {
  std::vector<std::string> known;
  for (const auto& [known_name, key] : by_name_) known.push_back(known_name);
  return Nearest(name, known);
}

KeySet KeyTable::SetOf(Key key) const {
  if (PLUMBLINE_FAULT(alias_adds_its_first_member) && IsAlias(key)) {
    return SetOf(static_cast<Key>(Members(key)._Find_first()));
  }
  if (IsAlias(key) || key == kUndefined) return {};
  const Slot& slot = slots_[static_cast<int>(key)];
  std::uint64_t bits = std::uint64_t{1} << slot.functionality;
  if (slot.component >= 0) bits |= std::uint64_t{1} << (KeySet::kComponentShift + slot.component);
  if (PLUMBLINE_FAULT(plain_keys_bring_a_backend) && slot.component < 0) {
    bits |= std::uint64_t{1} << (KeySet::kComponentShift + KeySet::kComponents - 1);
  }
  return KeySet::FromBits(bits);
}

KeySet KeyTable::SetOf(std::span<const Key> keys) const {
  KeySet set;
  for (Key key : keys) {
    if (PLUMBLINE_FAULT(set_holds_one_backend) && IsPerBackend(key)) {
      set = set & KeySet::FromBits(KeySet::kFunctionalityBits);
    }
    set = set | SetOf(key);
  }
  if (PLUMBLINE_FAULT(undefined_empties_a_set) && std::ranges::find(keys, kUndefined) != keys.end()) return {};
  return set;
}

KeySet KeyTable::SetOfNames(std::initializer_list<std::string_view> names) const {
  KeySet set;
  for (std::string_view name : names) set = set | SetOf(Get(name));
  return set;
}

std::vector<Key> KeyTable::Keys(KeySet set) const {
  std::vector<Key> keys;
  for (Key key : order_) {
    if (set.contains(SetOf(key))) keys.push_back(key);
  }
  if (PLUMBLINE_FAULT(sets_are_listed_from_the_top)) std::ranges::reverse(keys);
  return keys;
}

std::string KeyTable::Print(KeySet set) const {
  std::string text = "[";
  for (Key key : Keys(set)) text += (text.size() > 1 ? " " : "") + Name(key);
  return text + "]";
}

Key KeyTable::Highest(KeySet set) const {
  const int slot = SlotOf(set);
  return IsKeySlot(slot) ? static_cast<Key>(slot) : kUndefined;
}

KeySet KeyTable::Below(Key key) const {
  if (IsAlias(key) || key == kUndefined) return KeySet::FromBits(KeySet::kComponentBits) | always_below_;
  // Lower priority means a higher bit.
  const int position = slots_[static_cast<int>(key)].functionality;
  const std::uint64_t below = KeySet::kFunctionalityBits & ~((std::uint64_t{2} << position) - 1);
  return KeySet::FromBits((below & full_.bits()) | KeySet::kComponentBits) | always_below_;
}

SlotSet KeyTable::ComputeReadBy(Key key) const {
  SlotSet slots;
  if (IsAlias(key)) {
    for (int role = 0; role < kAliasRoles; ++role) {
      if (roles_[role] != key) continue;
      slots |= fills_[role];
      // CompositeExplicitAutograd keeps the implicit kernel out, wherever that one would serve.
      if (static_cast<AliasRole>(role) == AliasRole::kExplicit) slots |= fills_[static_cast<int>(AliasRole::kImplicit)];
    }
    return slots;
  }
  slots.set(static_cast<int>(key));
  const SlotSet& implicit = fills_[static_cast<int>(AliasRole::kImplicit)];
  for (int slot = 0; slot < slot_count(); ++slot) {
    if (implicit.test(slot) && behind_[slot].test(static_cast<int>(key))) slots.set(slot);
  }
  return slots;
}

Key KeyTable::AutogradOf(Key key) const {
  if (IsPerBackend(key)) return autograd_of_component_[slots_[static_cast<int>(key)].component];
  return autograd_other_slot_ < 0 ? kUndefined : static_cast<Key>(autograd_other_slot_);
}

}  // namespace plumbline::reference
