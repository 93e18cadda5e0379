#include "reference/registry/operator_entry.h"

#include "reference/faults/faults.h"
#include "reference/registry/registry_core.h"

namespace plumbline::reference {

namespace {

std::uint8_t KindFor(const SchemaType& type) {
  if (type.list || type.optional) return Definition::kAny;
  switch (type.base) {
    case BaseType::kTensor:
      return static_cast<std::uint8_t>(Value::Kind::kTensor);
    case BaseType::kInt:
    case BaseType::kSymInt:
    case BaseType::kScalarType:
    case BaseType::kMemoryFormat:
    case BaseType::kLayout:
      return static_cast<std::uint8_t>(Value::Kind::kInt);
    case BaseType::kFloat:
      return static_cast<std::uint8_t>(Value::Kind::kFloat);
    case BaseType::kBool:
      return static_cast<std::uint8_t>(Value::Kind::kBool);
    case BaseType::kStr:
    case BaseType::kDevice:
      return static_cast<std::uint8_t>(Value::Kind::kString);
    case BaseType::kScalar:
    case BaseType::kGenerator:  // what it does not take is found by the slow comparison
      return Definition::kAny;
  }
  return Definition::kAny;
}

}  // namespace

Definition::Definition(Schema given, std::string where)
    : schema(std::move(given)), place(std::move(where)), key_arguments(schema.key_arguments()) {
  kinds.reserve(schema.arguments.size());
  for (const SchemaArgument& argument : schema.arguments) kinds.push_back(KindFor(argument.type));
  for (const SchemaArgument& result : schema.returns) return_kinds.push_back(KindFor(result.type));
}

OperatorEntry::OperatorEntry(std::shared_ptr<RegistryCore> core, std::string name, std::uint64_t hash)
    : core_(std::move(core)), name_(std::move(name)), hash_(hash) {
  boxed_view_.op = this;
  boxed_view_.table.store(core_->cold_, std::memory_order_relaxed);
}

OperatorEntry::~OperatorEntry() = default;

const KeyTable& OperatorEntry::keys() const { return core_->keys(); }

KernelContext* OperatorEntry::Newest(Key key) const {
  if (PLUMBLINE_FAULT(oldest_kernel_answers)) {
    for (KernelContext* kernel : kernels_) {
      if (kernel->key == key) return kernel;
    }
  }
#ifdef PLUMBLINE_WITH_FAULTS
  for (KernelContext* kernel : kernels_) {
    if (PLUMBLINE_FAULT(fallthrough_covers_its_stack) && kernel->key == key && kernel->fallthrough) return kernel;
    if (PLUMBLINE_FAULT(alias_keeps_its_oldest) && kernel->key == key && KeyTable::IsAlias(key)) return kernel;
  }
#endif
  for (auto it = kernels_.rbegin(); it != kernels_.rend(); ++it) {
    if ((*it)->key == key) return *it;
  }
  return nullptr;
}

KernelContext* OperatorEntry::Newest(AliasRole role) const {
  const std::optional<Key> alias = keys().Alias(role);
  return alias ? Newest(*alias) : nullptr;
}

Resolution OperatorEntry::Resolve(int slot) const {
#ifdef PLUMBLINE_WITH_FAULTS
  if (FaultActive()) {
    if (const std::optional<Resolution> spoilt = Spoilt(slot)) return *spoilt;
  }
#endif
  return ByRules(slot);
}

// The rules, in their order. What a slot holds depends on nothing but what is in force.
Resolution OperatorEntry::ByRules(int slot) const {
  const KeyTable& keys = core_->keys_;
  // [RES-030]
  if (direct_.test(slot)) return {Rule::kKernel, Newest(static_cast<Key>(slot))};

  const auto by_alias = [&](AliasRole role) { return keys.Fills(role, slot) ? Newest(role) : nullptr; };
  if (PLUMBLINE_FAULT(fallback_before_aliases) && core_->fallbacks_[slot] != nullptr) {
    return {Rule::kFallback, core_->fallbacks_[slot]};
  }
  if (PLUMBLINE_FAULT(explicit_before_nonfunctional)) {
    if (KernelContext* kernel = by_alias(AliasRole::kExplicit)) return {Rule::kExplicit, kernel};
  }
  if (PLUMBLINE_FAULT(autograd_before_implicit)) {
    if (KernelContext* kernel = by_alias(AliasRole::kAutograd)) return {Rule::kAutograd, kernel};
  }
  // [RES-031] [RES-032]
  if (KernelContext* kernel = by_alias(AliasRole::kNonFunctional)) return {Rule::kNonFunctional, kernel};
  if (KernelContext* kernel = by_alias(AliasRole::kExplicit)) return {Rule::kExplicit, kernel};
  // [RES-033] [RES-034]
  if (KernelContext* kernel = by_alias(AliasRole::kNested)) return {Rule::kNested, kernel};
  // [RES-035] [RES-036] [RES-039] [RES-042]
  if (KernelContext* kernel = by_alias(AliasRole::kImplicit)) {
    const SlotSet behind = keys.Behind(slot) & direct_;
    bool held_off = Newest(AliasRole::kExplicit) != nullptr;
    bool ambiguous = behind.any() && slot == keys.autograd_other_slot();
    if (PLUMBLINE_FAULT(explicit_lifts_ambiguity) && held_off) ambiguous = false;
    if (PLUMBLINE_FAULT(ambiguity_is_not_seen) && ambiguous) return {Rule::kImplicit, kernel};
    if (PLUMBLINE_FAULT(explicit_does_not_hold_off)) held_off = false;
    if (PLUMBLINE_FAULT(nonfunctional_holds_off)) held_off |= Newest(AliasRole::kNonFunctional) != nullptr;
    if (ambiguous) {
      return {Rule::kAmbiguous, nullptr, Newest(static_cast<Key>(behind._Find_first())), kernel};
    }
    // A kernel of a backend behind this key keeps the implicit one out, and so does an explicit composite one.
    if (behind.none() && !held_off) return {Rule::kImplicit, kernel};
  }
  // [RES-047] [RES-048] [RES-054]
  if (KernelContext* kernel = by_alias(AliasRole::kAutograd)) return {Rule::kAutograd, kernel};
  if (KernelContext* kernel = by_alias(AliasRole::kBatched)) return {Rule::kBatched, kernel};
  // [RES-050]
  if (KernelContext* kernel = core_->fallbacks_[slot]) return {Rule::kFallback, kernel};

  // [CHAIN-001] [CHAIN-002] [CHAIN-003] Chains have no cycles, so this ends.
  if (core_->chained_.test(slot)) {
    for (const ChainRecord& chain : core_->chains_) {
      if (static_cast<int>(chain.key) != slot) continue;
      const Resolution served = Resolve(static_cast<int>(chain.served_by));
      if (served.winner != nullptr) return {Rule::kChain, served.winner};
    }
  }
  return {};
}

}  // namespace plumbline::reference
