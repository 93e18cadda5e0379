#include "spec/tables/release_source.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <sstream>

#include "spec/tables/toml_reader.h"

namespace plumbline::tables {
namespace {

// Key sets are one 64-bit word, the components in its low bits.
constexpr std::size_t kMaxComponents = 16;
constexpr std::size_t kMaxBits = 64;

class Reader : TomlReader {
 public:
  Reader(std::string_view text, const std::string& file) : TomlReader(text, file) {}

  ReleaseSource Read() {
    Only(root(), {"name", "thread_include", "thread_exclude", "always_below", "quiet_overrides", "component",
                  "functionality", "synonyms", "alias", "autograd", "fallbacks"});
    release_.name = String(root(), "name");
    ReadComponents();
    ReadFunctionalities();
    CollectKeys();
    release_.aliases = ReadGroups("alias", "name");
    release_.autograd = ReadGroups("autograd", "key");
    CheckGroups();
    CheckComponents();
    release_.thread_include = Keys(root(), "thread_include");
    release_.thread_exclude = Keys(root(), "thread_exclude");
    release_.always_below = Keys(root(), "always_below");
    release_.quiet_overrides = Keys(root(), "quiet_overrides");
    ReadSynonyms();
    ReadFallbacks();
    return std::move(release_);
  }

 private:
  // A list of distinct names, each of which must be in `known`.
  std::vector<std::string> Names(const toml::table& table, std::string_view field, const std::set<std::string>& known,
                                 const char* known_as) const {
    std::vector<std::string> names;
    for (const toml::node& node : Array(table, field)) {
      std::string name = Text(node, field);
      if (known.count(name) == 0) Fail(node.source(), "'" + name + "' is no " + known_as + " of this release");
      if (std::find(names.begin(), names.end(), name) != names.end())
        Fail(node.source(), "'" + name + "' is here twice");
      names.push_back(std::move(name));
    }
    return names;
  }

  std::vector<std::string> Keys(const toml::table& table, std::string_view field) const {
    return Names(table, field, keys_, "key");
  }

  void Claim(const std::string& name, const toml::node& where) {
    if (!taken_.insert(name).second) Fail(where.source(), "the name '" + name + "' is already taken");
  }

  void ReadComponents() {
    EachTable("component", [this](const toml::table& table) {
      Only(table, {"name", "autograd", "autocast"});
      ReleaseSource::Component component{String(table, "name"), String(table, "autograd"),
                                         OptionalString(table, "autocast")};
      if (!components_.insert(component.name).second) Fail(table.source(), "'" + component.name + "' is here twice");
      release_.components.push_back(std::move(component));
    });
    if (release_.components.size() > kMaxComponents) {
      Fail(Need(root(), "component").source(), std::to_string(release_.components.size()) + " components; at most " +
                                                   std::to_string(kMaxComponents) + " fit");
    }
  }

  void ReadFunctionalities() {
    EachTable("functionality", [this](const toml::table& table) {
      Only(table, {"name", "kind", "prefix"});
      ReleaseSource::Functionality functionality;
      functionality.name = String(table, "name");
      functionality.kind = String(table, "kind");
      static const std::set<std::string> kKinds = {"backend", "autograd", "mode"};
      if (kKinds.count(functionality.kind) == 0) {
        Fail(Need(table, "kind").source(),
             "the kind is one of backend, autograd, mode; this is '" + functionality.kind + "'");
      }
      functionality.per_backend = table.contains("prefix");
      functionality.prefix = OptionalString(table, "prefix");
      if (!functionalities_.insert(functionality.name).second) {
        Fail(table.source(), "'" + functionality.name + "' is here twice");
      }
      release_.functionalities.push_back(std::move(functionality));
    });
    std::size_t bits = release_.components.size() + release_.functionalities.size();
    if (bits > kMaxBits) {
      Fail(Need(root(), "functionality").source(), "components and functionalities need " + std::to_string(bits) +
                                                       " bits; a key set has " + std::to_string(kMaxBits));
    }
  }

  void CollectKeys() {
    const toml::node& where = Need(root(), "functionality");
    Claim("Undefined", where);
    for (const auto& functionality : release_.functionalities) {
      if (!functionality.per_backend) {
        AddKey(functionality.name, where);
        continue;
      }
      for (const auto& component : release_.components) AddKey(functionality.prefix + component.name, where);
    }
  }

  void AddKey(const std::string& key, const toml::node& where) {
    Claim(key, where);
    rank_[key] = static_cast<int>(rank_.size());
    keys_.insert(key);
  }

  std::vector<ReleaseSource::Group> ReadGroups(std::string_view field, std::string_view name_field) const {
    std::vector<ReleaseSource::Group> groups;
    EachTable(field, [&](const toml::table& table) {
      Only(table, {name_field, "functionalities", "without_components"});
      ReleaseSource::Group group;
      group.name = String(table, name_field);
      group.functionalities = Names(table, "functionalities", functionalities_, "functionality");
      if (table.contains("without_components")) {
        group.without_components = Names(table, "without_components", components_, "component");
      }
      groups.push_back(std::move(group));
    });
    return groups;
  }

  void CheckGroups() {
    for (const auto& alias : release_.aliases) Claim(alias.name, Need(root(), "alias"));
    for (const auto& group : release_.autograd) {
      if (keys_.count(group.name) == 0) {
        Fail(Need(root(), "autograd").source(), "'" + group.name + "' is no key of this release");
      }
      if (!group.without_components.empty()) {
        Fail(Need(root(), "autograd").source(), "'" + group.name + "' cannot leave out components");
      }
    }
  }

  void CheckComponents() const {
    for (const auto& component : release_.components) {
      for (const std::string& key : {component.autograd, component.autocast}) {
        if (!key.empty() && keys_.count(key) == 0) {
          Fail(Need(root(), "component").source(), component.name + ": '" + key + "' is no key of this release");
        }
      }
    }
  }

  void ReadSynonyms() {
    const toml::node& node = Need(root(), "synonyms");
    if (!node.is_table()) Fail(node.source(), "'synonyms' must be a table");
    for (const auto& [key, value] : *node.as_table()) {
      std::string name(key.str());
      std::string means = Text(value, name);
      if (taken_.count(means) == 0)
        Fail(value.source(), "'" + means + "' is neither a key nor an alias of this release");
      Claim(name, value);
      release_.synonyms.emplace_back(std::move(name), std::move(means));
    }
  }

  void ReadFallbacks() {
    const toml::node& node = Need(root(), "fallbacks");
    if (!node.is_table()) Fail(node.source(), "'fallbacks' must be a table");
    const toml::table& table = *node.as_table();
    Only(table, {"fallthrough", "boxed"});
    std::set<std::string> seen;
    for (bool fallthrough : {true, false}) {
      for (const std::string& key : Keys(table, fallthrough ? "fallthrough" : "boxed")) {
        if (!seen.insert(key).second) Fail(node.source(), "'" + key + "' has two fallbacks");
        release_.fallbacks.push_back({key, fallthrough});
      }
    }
    std::sort(release_.fallbacks.begin(), release_.fallbacks.end(),
              [this](const auto& a, const auto& b) { return rank_.at(a.key) < rank_.at(b.key); });
  }

  ReleaseSource release_;
  std::set<std::string> components_, functionalities_, keys_;
  std::set<std::string> taken_;      // every name that a kernel may be registered to, no two alike
  std::map<std::string, int> rank_;  // priority of a key
};

// ---- writing ----

std::string Quote(const std::string& text) { return "\"" + text + "\""; }

class Writer {
 public:
  void Release(const ReleaseSource& release) {
    out_ << "namespace " << Identifier(release.name) << " {\n";
    out_ << "inline constexpr ComponentData kComponents[] = {\n";
    for (const auto& c : release.components) {
      out_ << "    {" << Quote(c.name) << ", " << Quote(c.autograd) << ", " << Quote(c.autocast) << "},\n";
    }
    out_ << "};\ninline constexpr FunctionalityData kFunctionalities[] = {\n";
    for (const auto& f : release.functionalities) {
      out_ << "    {" << Quote(f.name) << ", KeyKind::" << KindName(f.kind) << ", " << Bool(f.per_backend) << ", "
           << Quote(f.prefix) << "},\n";
    }
    out_ << "};\n";
    for (const auto& alias : release.aliases) {
      List("k" + alias.name + "Functionalities", alias.functionalities);
      List("k" + alias.name + "WithoutComponents", alias.without_components);
    }
    out_ << "inline constexpr AliasData kAliases[] = {\n";
    for (const auto& alias : release.aliases) {
      out_ << "    {" << Quote(alias.name) << ", " << Span("k" + alias.name + "Functionalities", alias.functionalities)
           << ", " << Span("k" + alias.name + "WithoutComponents", alias.without_components) << "},\n";
    }
    out_ << "};\n";
    for (const auto& group : release.autograd) List("kBehind" + group.name, group.functionalities);
    out_ << "inline constexpr AutogradData kAutogradKeys[] = {\n";
    for (const auto& group : release.autograd) {
      out_ << "    {" << Quote(group.name) << ", " << Span("kBehind" + group.name, group.functionalities) << "},\n";
    }
    out_ << "};\ninline constexpr BuiltinFallbackData kFallbacks[] = {\n";
    for (const auto& fallback : release.fallbacks) {
      out_ << "    {" << Quote(fallback.key) << ", " << Bool(fallback.fallthrough) << "},\n";
    }
    out_ << "};\ninline constexpr SynonymData kSynonyms[] = {\n";
    for (const auto& [name, means] : release.synonyms) {
      out_ << "    {" << Quote(name) << ", " << Quote(means) << "},\n";
    }
    out_ << "};\n";
    List("kThreadInclude", release.thread_include);
    List("kThreadExclude", release.thread_exclude);
    List("kAlwaysBelow", release.always_below);
    List("kQuietOverrides", release.quiet_overrides);
    out_ << "inline constexpr ReleaseData kRelease = {" << Quote(release.name)
         << ", kComponents, kFunctionalities, kAliases, kAutogradKeys, kFallbacks, "
         << Span("kThreadInclude", release.thread_include) << ", " << Span("kThreadExclude", release.thread_exclude)
         << ", " << Span("kAlwaysBelow", release.always_below) << ", "
         << Span("kQuietOverrides", release.quiet_overrides) << ", kSynonyms};\n";
    out_ << "}  // namespace " << Identifier(release.name) << "\n\n";
  }

  std::string All(const std::vector<ReleaseSource>& releases) {
    out_ << "// Generated from spec/tables/*.toml by generate_releases; do not edit.\n"
            "#ifndef PLUMBLINE_GENERATED_SPEC_TABLES_RELEASES_H_\n"
            "#define PLUMBLINE_GENERATED_SPEC_TABLES_RELEASES_H_\n\n"
            "#include \"spec/tables/release.h\"\n\n"
            "namespace plumbline::tables {\n\n";
    for (const auto& release : releases) Release(release);
    out_ << "inline constexpr const ReleaseData* kReleases[] = {\n";
    for (const auto& release : releases) out_ << "    &" << Identifier(release.name) << "::kRelease,\n";
    out_ << "};\n\n"
            "// Null if there is none of that name.\n"
            "constexpr const ReleaseData* FindRelease(std::string_view name) {\n"
            "  for (const ReleaseData* release : kReleases) {\n"
            "    if (release->name == name) return release;\n"
            "  }\n"
            "  return nullptr;\n"
            "}\n\n"
            "}  // namespace plumbline::tables\n\n"
            "#endif  // PLUMBLINE_GENERATED_SPEC_TABLES_RELEASES_H_\n";
    return out_.str();
  }

 private:
  static std::string Identifier(std::string name) {
    for (char& c : name) {
      if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
    }
    return name;
  }
  static const char* KindName(const std::string& kind) {
    return kind == "backend" ? "kBackend" : kind == "autograd" ? "kAutograd" : "kMode";
  }
  static const char* Bool(bool value) { return value ? "true" : "false"; }

  // C++ has no empty arrays, so an empty list is no array at all and its span is `{}`.
  void List(const std::string& name, const std::vector<std::string>& items) {
    if (items.empty()) return;
    out_ << "inline constexpr std::string_view " << name << "[] = {";
    const char* separator = "";
    for (const auto& item : items) {
      out_ << separator << Quote(item);
      separator = ", ";
    }
    out_ << "};\n";
  }
  static std::string Span(const std::string& name, const std::vector<std::string>& items) {
    return items.empty() ? "{}" : name;
  }

  std::ostringstream out_;
};

}  // namespace

ReleaseSource ReadRelease(std::string_view text, const std::string& file) { return Reader(text, file).Read(); }

std::string WriteReleases(const std::vector<ReleaseSource>& releases) { return Writer().All(releases); }

}  // namespace plumbline::tables
