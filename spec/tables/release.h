// The dispatch keys of one release, as constant data.
//
// One TOML file per release (pytorch-1.13.toml, ...) is the source; a generator writes
// generated/spec/tables/releases.h, which defines `inline constexpr const ReleaseData* kReleases[]`. The model, the
// reference and the tools each build what they need from it; there is no logic here to share.
//
//   for (const ReleaseData* release : kReleases)
//     for (const FunctionalityData& f : release->functionalities) ...
//
// All lists run from lowest to highest priority. Static data; any thread.
#ifndef PLUMBLINE_SPEC_TABLES_RELEASE_H_
#define PLUMBLINE_SPEC_TABLES_RELEASE_H_

#include <span>
#include <string_view>

namespace plumbline::tables {

enum class KeyKind { kBackend, kAutograd, kMode };

// A functionality is one bit of a key set. A per-backend one has an instance for each component, the key
// `prefix + component` (Dense has the prefix "", so that its instances are CPU, CUDA, ...).
struct FunctionalityData {
  std::string_view name;
  KeyKind kind;
  bool per_backend;
  std::string_view prefix;
};

// A backend component.
struct ComponentData {
  std::string_view name;
  std::string_view autograd;  // the autograd key of its tensors: "AutogradCPU", or "AutogradOther"
  std::string_view autocast;  // the autocast key of its tensors, or ""
};

// An alias key: all instances of these functionalities, less those of these components.
struct AliasData {
  std::string_view name;
  std::span<const std::string_view> functionalities;
  std::span<const std::string_view> without_components;
};

// The backends behind an autograd key other than a component's own: every instance of these functionalities.
// (Behind Autograd<X> of a component whose autograd key it is, there is just the dense key X.)
struct AutogradData {
  std::string_view key;
  std::span<const std::string_view> functionalities;
};

struct BuiltinFallbackData {
  std::string_view key;
  bool fallthrough;
};

struct SynonymData {
  std::string_view name, means;
};

struct ReleaseData {
  std::string_view name;
  std::span<const ComponentData> components;
  std::span<const FunctionalityData> functionalities;  // without Undefined, which is below all
  std::span<const AliasData> aliases;
  std::span<const AutogradData> autograd;
  std::span<const BuiltinFallbackData> fallbacks;
  std::span<const std::string_view> thread_include;
  std::span<const std::string_view> thread_exclude;
  std::span<const std::string_view> always_below;     // re-added by "all keys below K": PythonDispatcher
  std::span<const std::string_view> quiet_overrides;  // where a kernel may take over from another without a warning
  std::span<const SynonymData> synonyms;              // CatchAll means Undefined; DefaultBackend means ...
};

}  // namespace plumbline::tables

#endif  // PLUMBLINE_SPEC_TABLES_RELEASE_H_
