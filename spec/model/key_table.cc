#include "spec/model/key_table.h"

#include <algorithm>
#include <mutex>

#include "spec/model/names.h"
#include "spec/tables/releases.h"

namespace plumbline::model {
namespace {

using scenario::KeyDeclaration;

}  // namespace

const tables::ReleaseData* FindRelease(std::string_view name) {
  for (const tables::ReleaseData* release : tables::kReleases) {
    if (release->name == name) return release;
  }
  return nullptr;
}

std::shared_ptr<const KeyTable> KeyTable::Get(const tables::ReleaseData& release,
                                              std::span<const KeyDeclaration> declared) {
  if (!declared.empty()) return std::make_shared<const KeyTable>(release, declared);
  static std::mutex mutex;
  static std::map<const tables::ReleaseData*, std::shared_ptr<const KeyTable>> bare;
  const std::lock_guard lock(mutex);
  std::shared_ptr<const KeyTable>& table = bare[&release];
  if (!table) table = std::make_shared<const KeyTable>(release, declared);
  return table;
}

KeyTable::KeyTable(const tables::ReleaseData& release, std::span<const KeyDeclaration> declared) {
  for (const tables::FunctionalityData& f : release.functionalities) {
    functionalities_.push_back({std::string(f.name), std::string(f.prefix), f.kind, f.per_backend});
  }
  std::map<std::string, std::string> autograd_of;  // component -> autograd key
  for (const tables::ComponentData& c : release.components) {
    components_.emplace_back(c.name);
    autograd_of[std::string(c.name)] = c.autograd;
  }
  // [KEY-019] [KEY-021] [KEY-022]
  std::vector<std::string> other_backends;  // declared keys that stand behind AutogradOther, as FPGA does
  for (std::size_t i = 0; i < declared.size(); ++i) {
    const std::string why = Declare(release, declared[i], functionalities_, autograd_of, other_backends);
    if (why.empty() || !problem_.empty()) continue;
    problem_ = "cannot declare key '" + declared[i].name + "': " + why;
    problem_at_ = i;
  }

  // The keys that own a slot, lowest priority first. [KEY-002] [KEY-003] [KEY-004]
  keys_.push_back({"Undefined"});
  for (std::size_t f = 0; f < functionalities_.size(); ++f) {
    const Functionality& functionality = functionalities_[f];
    functionality_names_.push_back(functionality.name);
    if (!functionality.per_backend) {
      keys_.push_back({functionality.name, static_cast<int>(f)});  // [KEY-009]
      continue;
    }
    for (std::size_t c = 0; c < components_.size(); ++c) {
      keys_.push_back({functionality.prefix + components_[c], static_cast<int>(f), static_cast<int>(c)});
    }
  }
  slot_count_ = static_cast<int>(keys_.size());
  for (const tables::AliasData& alias : release.aliases) keys_.push_back({std::string(alias.name)});
  for (Key key = 0; key < key_count(); ++key) by_name_.emplace(keys_[key].name, key);
  for (const tables::SynonymData& synonym : release.synonyms) {
    by_name_.emplace(synonym.name, by_name_.find(synonym.means)->second);  // [KEY-005]
  }

  const auto contains = [](std::span<const std::string_view> list, std::string_view name) {
    return std::find(list.begin(), list.end(), name) != list.end();
  };
  for (const tables::AliasData& alias : release.aliases) {
    // [KEY-013] [KEY-014] [KEY-015] [KEY-016] [KEY-017] [KEY-018]
    std::vector<bool>& member = alias_members_[*Find(alias.name)];
    member.resize(slot_count_);
    for (Key key = 1; key < slot_count_; ++key) {
      const Entry& entry = keys_[key];
      // A declared backend key is in the aliases that its like, the release's plain backend keys, are in: those of the
      // composite kernels.
      const bool declared_backend =
          std::find(other_backends.begin(), other_backends.end(), entry.name) != other_backends.end() &&
          contains(alias.functionalities, "Dense");
      member[key] = (contains(alias.functionalities, functionality_names_[entry.functionality]) || declared_backend) &&
                    (entry.component < 0 || !contains(alias.without_components, components_[entry.component]));
    }
  }

  for (const tables::AutogradData& autograd : release.autograd) {
    std::vector<Key>& behind = behind_[*Find(autograd.key)];  // [RES-043] [RES-055]
    for (std::string_view functionality : autograd.functionalities) {
      const std::vector<Key> instances = Instances(functionality);
      behind.insert(behind.end(), instances.begin(), instances.end());
    }
    if (autograd.key == "AutogradOther") {
      for (const std::string& name : other_backends) behind.push_back(*Find(name));
    }
    std::sort(behind.begin(), behind.end());
  }
  for (const std::string& component : components_) {
    const Key autograd = Find(autograd_of[component]).value_or(kUndefined);
    autograd_of_component_.push_back(autograd);
    if (keys_[autograd].component >= 0) behind_[autograd] = {*Find(component)};  // [RES-037] [RES-038] [KEY-020]
  }

  for (std::string_view name : release.always_below) always_below_ |= SetOf(*Find(name)).functionalities;
  for (std::string_view name : release.quiet_overrides) quiet_overrides_.insert(*Find(name));
  thread_include_ = SetOfNames(release.thread_include);  // [RES-009] [TLS-007]
  thread_exclude_ = SetOfNames(release.thread_exclude);  // [RES-010] [TLS-007]
  static constexpr std::string_view kUndefinedTensor[] = {"ADInplaceOrView", "AutogradOther"};
  undefined_tensor_ = SetOfNames(kUndefinedTensor);  // [RES-005]
}

std::string KeyTable::Declare(const tables::ReleaseData& release, const KeyDeclaration& declaration,
                              std::vector<Functionality>& functionalities,
                              std::map<std::string, std::string>& autograd_of,
                              std::vector<std::string>& other_backends) {
  const std::string& name = declaration.name;
  if (name.empty()) return "give it a name";
  const auto is_taken = [&](const std::string& text) {
    const auto is = [&](const auto& other) { return other.name == text; };
    if (text == "Undefined" || std::any_of(release.aliases.begin(), release.aliases.end(), is) ||
        std::any_of(release.synonyms.begin(), release.synonyms.end(), is) ||
        std::find(components_.begin(), components_.end(), text) != components_.end()) {
      return true;
    }
    return std::any_of(functionalities.begin(), functionalities.end(), [&](const Functionality& f) {
      const auto is_key = [&](const std::string& component) { return f.per_backend && f.prefix + component == text; };
      return f.name == text || std::any_of(components_.begin(), components_.end(), is_key);
    });
  };
  if (is_taken(name)) return "the name is taken";
  const bool component = declaration.kind == KeyDeclaration::Kind::kComponent;
  const std::size_t most = component ? KeySet{}.components.size() : KeySet{}.functionalities.size();
  if ((component ? components_.size() : functionalities.size()) >= most) {
    return "the model has room for " + std::to_string(most) + (component ? " components" : " functionalities") +
           ", those of the release included";
  }
  std::vector<std::string> below = components_;
  if (!component) {
    below.clear();
    for (const Functionality& f : functionalities) below.push_back(f.name);
  }
  const auto at = std::find(below.begin(), below.end(), declaration.after);
  if (at == below.end()) {
    const std::vector<std::string> near = Nearest(declaration.after, below);
    return std::string("there is no ") + (component ? "component" : "functionality") + " '" + declaration.after +
           "' for it to come after" + (near.empty() ? "" : "; near: " + Join(near, ", "));
  }
  const std::ptrdiff_t above = at - below.begin() + 1;

  if (component) {
    for (const Functionality& f : functionalities) {
      if (f.per_backend && is_taken(f.prefix + name)) return "the name of its key " + f.prefix + name + " is taken";
    }
    if (declaration.autograd != "own" && declaration.autograd != "AutogradOther") {
      return "its autograd key must be 'own' or 'AutogradOther'";
    }
    components_.insert(components_.begin() + above, name);
    autograd_of[name] = declaration.autograd == "own" ? "Autograd" + name : "AutogradOther";
    return "";
  }
  const bool backend = declaration.kind == KeyDeclaration::Kind::kBackend;
  if (backend && declaration.autograd != "AutogradOther") return "its autograd key must be 'AutogradOther'";
  if (!backend && !declaration.autograd.empty()) return "a mode has no autograd key";
  functionalities.insert(functionalities.begin() + above,
                         {name, "", backend ? tables::KeyKind::kBackend : tables::KeyKind::kMode, false});
  if (backend) other_backends.push_back(name);
  return "";
}

std::optional<Key> KeyTable::Find(std::string_view name) const {
  const auto it = by_name_.find(name);  // [KEY-001]
  if (it == by_name_.end()) return std::nullopt;
  return it->second;
}

std::vector<std::string> KeyTable::NearestNames(std::string_view name) const {
  std::vector<std::string> all;
  for (const auto& [known, key] : by_name_) all.push_back(known);
  return Nearest(name, all);
}

bool KeyTable::IsAutograd(Key key) const {
  return keys_[key].functionality >= 0 && functionalities_[keys_[key].functionality].kind == tables::KeyKind::kAutograd;
}

bool KeyTable::IsDense(Key key) const {
  const Entry& entry = keys_[key];
  return entry.component >= 0 && functionalities_[entry.functionality].prefix.empty();
}

std::optional<int> KeyTable::ComponentOf(Key key) const {
  if (keys_[key].component < 0) return std::nullopt;
  return keys_[key].component;
}

KeySet KeyTable::SetOf(Key key) const {
  KeySet set;
  const Entry& entry = keys_[key];
  if (entry.functionality >= 0) set.functionalities.set(entry.functionality);  // [KEY-011] [KEY-012]
  if (entry.component >= 0) set.components.set(entry.component);
  return set;
}

std::optional<KeySet> KeyTable::SetOf(std::span<const std::string> names, std::string* unknown) const {
  KeySet set;
  for (const std::string& name : names) {
    const std::optional<Key> key = Find(name);
    if (!key) {
      *unknown = name;
      return std::nullopt;
    }
    set = Union(set, SetOf(*key));
  }
  return set;
}

KeySet KeyTable::SetOfNames(std::span<const std::string_view> names) const {
  KeySet set;
  for (std::string_view name : names) set = Union(set, SetOf(*Find(name)));
  return set;
}

std::vector<Key> KeyTable::Instances(std::string_view functionality) const {
  std::vector<Key> instances;
  for (Key key = 1; key < slot_count_; ++key) {
    if (functionality_names_[keys_[key].functionality] == functionality) instances.push_back(key);
  }
  return instances;
}

std::vector<Key> KeyTable::Keys(const KeySet& set) const {
  std::vector<Key> keys;
  for (Key key = 1; key < slot_count_; ++key) {
    const Entry& entry = keys_[key];
    if (!set.functionalities.test(entry.functionality)) continue;  // [KEY-008] [KEY-010]
    if (entry.component >= 0 && !set.components.test(entry.component)) continue;
    keys.push_back(key);
  }
  return keys;
}

std::vector<std::string> KeyTable::Names(const KeySet& set) const {
  std::vector<std::string> names;
  for (Key key : Keys(set)) names.push_back(Name(key));
  return names;
}

std::string KeyTable::Print(const KeySet& set) const {
  std::string text = "[";
  for (const std::string& name : Names(set)) text += (text.size() > 1 ? " " : "") + name;
  return text + "]";
}

Key KeyTable::Highest(const KeySet& set) const {
  const std::vector<Key> keys = Keys(set);
  return keys.empty() ? kUndefined : keys.back();  // [KEY-006] [KEY-007] [RES-016]
}

std::optional<int> KeyTable::HighestComponent(const KeySet& set) const {
  for (int c = static_cast<int>(components_.size()) - 1; c >= 0; --c) {
    if (set.components.test(c)) return c;
  }
  return std::nullopt;
}

KeySet KeyTable::Below(const KeySet& set, Key key) const {
  KeySet below = set;
  for (std::size_t f = 0; f < functionalities_.size(); ++f) {
    if (static_cast<int>(f) >= keys_[key].functionality && !always_below_.test(f)) below.functionalities.reset(f);
  }
  return below;
}

bool KeyTable::InAlias(Key key, Key alias) const {
  const auto it = alias_members_.find(alias);
  return it != alias_members_.end() && key < slot_count_ && it->second[key];
}

std::vector<Key> KeyTable::Members(Key alias) const {
  std::vector<Key> members;
  for (Key key = 1; key < slot_count_; ++key) {
    if (InAlias(key, alias)) members.push_back(key);
  }
  return members;
}

std::optional<Key> KeyTable::Alias(std::string_view name) const {
  const std::optional<Key> key = Find(name);
  if (!key || !IsAlias(*key)) return std::nullopt;
  return key;
}

const std::vector<Key>& KeyTable::Behind(Key autograd) const {
  static const std::vector<Key> kNone;
  const auto it = behind_.find(autograd);
  return it == behind_.end() ? kNone : it->second;
}

KeyTable KeyTable::WithNothingBehind(std::string_view autograd) const {
  KeyTable table = *this;
  if (const std::optional<Key> key = Find(autograd)) table.behind_.erase(*key);
  return table;
}

Key KeyTable::AutogradOf(std::optional<int> component) const {
  return component ? autograd_of_component_[*component] : Find("AutogradOther").value_or(kUndefined);
}

}  // namespace plumbline::model
