#include "spec/model/resolve.h"

#include <algorithm>

namespace plumbline::model {
namespace {

// Whether an alias key fills a slot: its members, and Undefined for the composite kernels, which serve calls that bring
// no key.
enum class ServesUndefined { kNo, kYes };

class Resolver {
 public:
  Resolver(const KeyTable& keys, const Live& live, Key slot, std::vector<Trial>* trials)
      : keys_(keys), live_(live), slot_(slot), trials_(trials) {}

  Slot Run() {
    // [RES-030] [RES-049] [RES-046]
    if (const Registration* kernel = live_.Newest(slot_)) return Yes(Rule::kKernel, kernel);
    No(Rule::kKernel, "no kernel is registered at " + keys_.Name(slot_));

    if (const Registration* kernel = ByAlias(Rule::kNonFunctional, ServesUndefined::kYes)) {  // [RES-031] [RES-020]
      return Yes(Rule::kNonFunctional, kernel);
    }
    if (const Registration* kernel = ByAlias(Rule::kExplicit, ServesUndefined::kYes)) {  // [RES-032] [RES-020]
      return Yes(Rule::kExplicit, kernel);
    }
    // [RES-033] [RES-034] [RES-021]
    if (const Registration* kernel = ByAlias(Rule::kNested, ServesUndefined::kNo)) return Yes(Rule::kNested, kernel);

    // [RES-035] [RES-047] [RES-020]
    if (const Registration* kernel = ByAlias(Rule::kImplicit, ServesUndefined::kYes)) {
      const std::optional<Key> backend = KernelBehind();
      if (backend && keys_.Name(slot_) == "AutogradOther") {  // [RES-042] [RES-043] [RES-044] [RES-045]
        Say(Rule::kAmbiguous, true,
            "both CompositeImplicitAutograd and " + keys_.Name(*backend) + ", which uses AutogradOther, claim it");
        return {Rule::kAmbiguous, nullptr};
      }
      if (backend) {
        Say(Rule::kImplicit, false, "held off by the kernel at " + keys_.Name(*backend), "RES-036");
      } else if (HasExplicit()) {
        Say(Rule::kImplicit, false, "held off by the kernel at CompositeExplicitAutograd", "RES-039");
      } else {
        return Yes(Rule::kImplicit, kernel);
      }
    }

    if (const Registration* kernel = ByAlias(Rule::kAutograd, ServesUndefined::kNo)) {  // [RES-048] [RES-021]
      return Yes(Rule::kAutograd, kernel);
    }
    if (const Registration* kernel = ByAlias(Rule::kBatched, ServesUndefined::kNo)) {  // [RES-054]
      return Yes(Rule::kBatched, kernel);
    }

    // [RES-050] [RES-051] [RES-052] [REG-060]
    if (const auto it = live_.fallbacks.find(slot_); it != live_.fallbacks.end()) {
      return Yes(Rule::kFallback, it->second);
    }
    No(Rule::kFallback, "no backend fallback is registered at " + keys_.Name(slot_));

    if (const auto it = live_.chains.find(slot_); it != live_.chains.end()) {  // [CHAIN-001] [CHAIN-002]
      const Slot served = Resolve(keys_, live_, it->second);                   // [CHAIN-003] [CHAIN-009]
      const std::string by = keys_.Name(it->second);
      if (served.winner != nullptr) {
        Say(Rule::kChain, true, "a chain serves it by " + by + ", rule " + Spelling(served.rule) + " there");
        return {Rule::kChain, served.winner};  // [CHAIN-010] [CHAIN-012]
      }
      No(Rule::kChain, "a chain serves it by " + by + ", which is itself " + Spelling(served.rule));  // [CHAIN-011]
    } else {
      No(Rule::kChain, "no chain is declared for " + keys_.Name(slot_));
    }
    // [RES-018] [RES-053] [RES-056]
    Say(Rule::kMissing, true, "nothing serves " + keys_.Name(slot_), slot_ == kUndefined ? "RES-021" : "RES-018");
    return {};
  }

 private:
  // The newest kernel at the alias of a rule, if the slot is one that the alias fills.
  const Registration* ByAlias(Rule rule, ServesUndefined serves_undefined) {
    const std::optional<Key> alias = keys_.Alias(AliasName(rule));
    if (!alias) return nullptr;  // not in this release
    const std::string& name = keys_.Name(*alias);
    const bool filled = slot_ == kUndefined ? serves_undefined == ServesUndefined::kYes : keys_.InAlias(slot_, *alias);
    if (!filled) {
      No(rule, keys_.Name(slot_) + " is not in " + name);
      return nullptr;
    }
    const Registration* kernel = live_.Newest(*alias);
    if (kernel == nullptr) No(rule, "no kernel is registered at " + name);
    return kernel;
  }

  // A backend behind this autograd key that has a kernel of its own; a fallthrough is one.
  std::optional<Key> KernelBehind() const {
    for (Key backend : keys_.Behind(slot_)) {
      if (live_.Newest(backend) != nullptr) return backend;  // [RES-036] [RES-041] [RES-055]
    }
    return std::nullopt;
  }

  bool HasExplicit() const {  // [RES-039] [RES-040]
    const std::optional<Key> alias = keys_.Alias(AliasName(Rule::kExplicit));
    return alias && live_.Newest(*alias) != nullptr;
  }

  static const char* AliasName(Rule rule) {
    switch (rule) {
      case Rule::kNonFunctional:
        return "CompositeExplicitAutogradNonFunctional";
      case Rule::kExplicit:
        return "CompositeExplicitAutograd";
      case Rule::kNested:
        return "CompositeImplicitAutogradNestedTensor";
      case Rule::kImplicit:
        return "CompositeImplicitAutograd";
      case Rule::kAutograd:
        return "Autograd";
      case Rule::kBatched:
        return "FuncTorchBatchedDecomposition";
      default:
        return "";
    }
  }

  Slot Yes(Rule rule, const Registration* winner) {
    const std::string what = winner->fallthrough ? "fallthrough" : "kernel '" + winner->kernel + "'";
    Say(rule, true, winner->builtin ? "the release's own fallback, " + what : "the newest there is " + what,
        winner->builtin ? "RES-052" : nullptr);
    return {rule, winner};
  }
  void No(Rule rule, std::string why) { Say(rule, false, std::move(why)); }
  void Say(Rule rule, bool applies, std::string why, const char* clause = nullptr) {
    if (trials_ != nullptr) trials_->push_back({rule, applies, std::move(why), clause ? clause : ClauseOf(rule)});
  }
  static const char* ClauseOf(Rule rule) {
    switch (rule) {
      case Rule::kMissing:
        return "RES-018";
      case Rule::kKernel:
        return "RES-030";
      case Rule::kNonFunctional:
        return "RES-031";
      case Rule::kExplicit:
        return "RES-032";
      case Rule::kNested:
        return "RES-033";
      case Rule::kImplicit:
        return "RES-035";
      case Rule::kAmbiguous:
        return "RES-042";
      case Rule::kAutograd:
        return "RES-048";
      case Rule::kBatched:
        return "RES-054";
      case Rule::kFallback:
        return "RES-050";
      case Rule::kChain:
        return "CHAIN-001";
    }
    return "";
  }

  const KeyTable& keys_;
  const Live& live_;
  const Key slot_;
  std::vector<Trial>* const trials_;
};

}  // namespace

const Registration* Live::Newest(Key key) const {
  const auto it = kernels.find(key);
  // [RES-004] [REG-025] [REG-026] [REG-067]
  return it == kernels.end() || it->second.empty() ? nullptr : it->second.back();
}

const char* Spelling(Rule rule) {
  switch (rule) {
    case Rule::kMissing:
      return "missing";
    case Rule::kKernel:
      return "kernel";
    case Rule::kNonFunctional:
      return "nonfunctional";
    case Rule::kExplicit:
      return "explicit";
    case Rule::kNested:
      return "nested";
    case Rule::kImplicit:
      return "implicit";
    case Rule::kAmbiguous:
      return "ambiguous";
    case Rule::kAutograd:
      return "autograd";
    case Rule::kBatched:
      return "batched";
    case Rule::kFallback:
      return "fallback";
    case Rule::kChain:
      return "chain";
  }
  return "";
}

Slot Resolve(const KeyTable& keys, const Live& live, Key slot, std::vector<Trial>* trials) {
  return Resolver(keys, live, slot, trials).Run();
}

std::set<Key> Reads(const KeyTable& keys, const Chains& chains, Key slot) {
  std::set<Key> reads = {slot};  // [CACHE-010] [CACHE-015]
  const auto add_alias = [&](const char* name, bool serves_undefined) {
    const std::optional<Key> alias = keys.Alias(name);
    if (!alias) return false;
    if (slot == kUndefined ? !serves_undefined : !keys.InAlias(slot, *alias)) return false;
    reads.insert(*alias);
    return true;
  };
  add_alias("CompositeExplicitAutogradNonFunctional", true);
  add_alias("CompositeExplicitAutograd", true);
  add_alias("CompositeImplicitAutogradNestedTensor", false);
  if (add_alias("CompositeImplicitAutograd", true)) {
    // What keeps the implicit kernel out. [REG-018] [REG-019] [REG-020] [REG-021]
    if (const std::optional<Key> alias = keys.Alias("CompositeExplicitAutograd")) reads.insert(*alias);
    const std::vector<Key>& behind = keys.Behind(slot);
    reads.insert(behind.begin(), behind.end());
  }
  add_alias("Autograd", false);
  add_alias("FuncTorchBatchedDecomposition", false);
  if (const auto it = chains.find(slot); it != chains.end()) reads.merge(Reads(keys, chains, it->second));
  return reads;
}

}  // namespace plumbline::model
