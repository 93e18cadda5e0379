#include "conformance/suites/generate_world.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "spec/abi/abi.h"

namespace plumbline::suites {
namespace {

std::vector<scenario::KeyDeclaration> Joined(std::vector<scenario::KeyDeclaration> a,
                                             const std::vector<scenario::KeyDeclaration>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

const tables::ReleaseData& ReleaseOf(const harness::BackendFacts& facts) {
  const tables::ReleaseData* release = model::FindRelease(facts.release);
  if (release == nullptr) throw std::invalid_argument("no table of a release called '" + facts.release + "'");
  return *release;
}

void Add(std::vector<std::string>& list, const std::string& item) {
  if (std::find(list.begin(), list.end(), item) == list.end()) list.push_back(item);
}

}  // namespace

World::World(const harness::BackendFacts& facts, std::vector<scenario::KeyDeclaration> declared)
    : facts_(facts), declared_(std::move(declared)), keys_(ReleaseOf(facts), Joined(facts.keys, declared_)) {
  const tables::ReleaseData& release = ReleaseOf(facts);
  if (facts.fallbacks) {
    for (const harness::BuiltinFallback& fallback : *facts.fallbacks) builtin_[fallback.key] = fallback.fallthrough;
  } else {
    for (const tables::BuiltinFallbackData& fallback : release.fallbacks) {
      builtin_[std::string(fallback.key)] = fallback.fallthrough;
    }
  }
  const auto add_mode = [this](const std::string& name) {
    const auto builtin = builtin_.find(name);
    if (builtin == builtin_.end() || builtin->second) modes_.push_back(name);
  };
  for (const tables::FunctionalityData& functionality : release.functionalities) {
    const std::string name(functionality.name);
    if (functionality.kind == tables::KeyKind::kMode) add_mode(name);
    if (functionality.kind != tables::KeyKind::kBackend) continue;
    if (functionality.per_backend) {
      prefixes_[name] = functionality.prefix;
      if (!functionality.prefix.empty()) backend_functionalities_.push_back(name);
    } else {
      plain_backends_.push_back(name);
    }
  }
  for (const scenario::KeyDeclaration& key : Joined(facts.keys, declared_)) {
    if (key.kind == scenario::KeyDeclaration::Kind::kMode) add_mode(key.name);
    if (key.kind == scenario::KeyDeclaration::Kind::kBackend) plain_backends_.push_back(key.name);
  }
  for (const tables::AliasData& alias : release.aliases) aliases_.emplace_back(alias.name);
}

std::string World::BackendKey(const std::string& functionality, const std::string& component) const {
  return functionality.empty() ? component : prefixes_.at(functionality) + component;
}

std::string World::AutogradOf(const std::string& backend_key) const {
  const std::optional<model::Key> key = keys_.Find(backend_key);
  const auto behind = [&](const char* autograd) {
    const std::optional<model::Key> at = keys_.Find(autograd);
    if (!at || !key) return false;
    const std::vector<model::Key>& list = keys_.Behind(*at);
    return std::find(list.begin(), list.end(), *key) != list.end();
  };
  if (behind("AutogradNestedTensor")) return "AutogradNestedTensor";
  if (!key || behind("AutogradOther")) return "AutogradOther";
  return keys_.Name(keys_.AutogradOf(keys_.ComponentOf(*key)));
}

Ground ChooseGround(const World& world, Draw& draw) {
  Ground ground;
  std::vector<std::string> pool;
  for (const std::string& component : world.components()) {
    // The usual ones, those of out-of-tree backends, and those that the rules single out.
    const bool often = component == "CPU" || component == "CUDA" || component == "PrivateUse1";
    const bool sometimes = component == "HIP" || component == "XLA" || component == "Meta" || component == "MTIA";
    pool.insert(pool.end(), often ? 4 : sometimes ? 2 : 1, component);
  }
  for (const scenario::KeyDeclaration& key : world.declared()) {
    if (key.kind == scenario::KeyDeclaration::Kind::kComponent) pool.insert(pool.end(), 12, key.name);
  }
  for (int i = draw.Between(1, 3); i > 0; --i) Add(ground.components, draw.Of(pool));

  std::vector<std::string> functionalities =
      draw.Some(world.backend_functionalities(), draw.OneIn(3) ? 0 : draw.Between(1, 2));
  for (const std::string& component : ground.components) {
    ground.dense.push_back(component);
    for (const std::string& functionality : functionalities) {
      ground.others.push_back(world.BackendKey(functionality, component));
    }
  }
  std::vector<std::string> plain = draw.Some(world.plain_backends(), draw.Between(0, 2));
  for (const scenario::KeyDeclaration& key : world.declared()) {
    if (key.kind == scenario::KeyDeclaration::Kind::kBackend) Add(plain, key.name);
  }
  ground.others.insert(ground.others.end(), plain.begin(), plain.end());
  for (const std::string& key : ground.backends()) Add(ground.autograd, world.AutogradOf(key));
  if (draw.OneIn(4)) Add(ground.autograd, "AutogradOther");
  if (draw.OneIn(6)) {
    // The slot that a component has even if its tensors carry AutogradOther.
    const std::string own = "Autograd" + draw.Of(ground.components);
    if (world.Has(own)) Add(ground.autograd, own);
  }
  for (const std::string& mode : draw.Some(world.modes(), draw.Between(0, 2))) Add(ground.modes, mode);
  for (const scenario::KeyDeclaration& key : world.declared()) {
    if (key.kind == scenario::KeyDeclaration::Kind::kMode) Add(ground.modes, key.name);
  }
  ground.aliases = draw.Some(world.aliases(), draw.Between(2, static_cast<int>(world.aliases().size())));
  return ground;
}

std::vector<std::string> Ground::backends() const {
  std::vector<std::string> all = dense;
  all.insert(all.end(), others.begin(), others.end());
  return all;
}

std::vector<std::string> Ground::runtime() const {
  std::vector<std::string> all = backends();
  all.insert(all.end(), autograd.begin(), autograd.end());
  all.insert(all.end(), modes.begin(), modes.end());
  return all;
}

std::vector<std::string> Ground::TensorKeys(const World& world, Draw& draw) const {
  const std::string backend = others.empty() || draw.OneIn(2) ? draw.Of(dense) : draw.Of(others);
  std::vector<std::string> set = {backend};
  if (!draw.OneIn(3)) set.push_back(draw.OneIn(8) ? draw.Of(autograd) : world.AutogradOf(backend));
  if (!modes.empty() && draw.OneIn(5)) set.push_back(draw.Of(modes));
  return set;
}

std::vector<std::string> Ground::AnyKeys(Draw& draw, int most) const {
  return draw.Some(runtime(), draw.Between(1, most));
}

std::string Ground::KernelKey(Draw& draw) const {
  enum Sort { kDense, kOther, kAutograd, kMode, kAlias };
  switch (draw.Weighted<Sort>({{kDense, 3},
                               {kOther, others.empty() ? 0 : 3},
                               {kAutograd, 3},
                               {kMode, modes.empty() ? 0 : 1},
                               {kAlias, aliases.empty() ? 0 : 5}})) {
    case kDense:
      return draw.Of(dense);
    case kOther:
      return draw.Of(others);
    case kAutograd:
      return draw.Of(autograd);
    case kMode:
      return draw.Of(modes);
    case kAlias:
      return draw.Of(aliases);
  }
  return dense.front();
}

}  // namespace plumbline::suites
