// Faults that put something else into a slot than the rules say. See faults/faults.h.

#include "reference/faults/faults.h"
#include "reference/registry/operator_entry.h"
#include "reference/registry/registry_core.h"

#ifdef PLUMBLINE_WITH_FAULTS

namespace plumbline::reference {

std::optional<Resolution> OperatorEntry::Spoilt(int slot) const {
  const KeyTable& keys = core_->keys_;
  const auto by = [&](AliasRole role) { return keys.Fills(role, slot) ? Newest(role) : nullptr; };
  KernelContext* const explicit_kernel = by(AliasRole::kExplicit);
  KernelContext* const implicit = by(AliasRole::kImplicit);
  KernelContext* const nested = by(AliasRole::kNested);
  KernelContext* const autograd = by(AliasRole::kAutograd);
  KernelContext* const fallback = core_->fallbacks_[slot];
  const Resolution below = fallback != nullptr ? Resolution{Rule::kFallback, fallback} : Resolution{};
  const SlotSet behind = keys.Behind(slot) & direct_;
  const bool direct = direct_.test(slot);
  const bool other = slot == keys.autograd_other_slot();
  const bool per_backend = keys.IsPerBackend(static_cast<Key>(slot));
  const bool held_off = Newest(AliasRole::kExplicit) != nullptr;
  const Resolution right = ByRules(slot);

  if (PLUMBLINE_FAULT(explicit_before_kernel) && direct && explicit_kernel)
    return Resolution{Rule::kExplicit, explicit_kernel};
  if (PLUMBLINE_FAULT(implicit_first_at_undefined) && slot == 0 && implicit)
    return Resolution{Rule::kImplicit, implicit};
  if (PLUMBLINE_FAULT(autograd_fills_undefined) && slot == 0 && right.rule == Rule::kMissing) {
    if (KernelContext* const kernel = Newest(AliasRole::kAutograd)) return Resolution{Rule::kAutograd, kernel};
  }
  if (PLUMBLINE_FAULT(ambiguity_outranks_kernel) && other && direct && implicit && behind.any()) {
    return Resolution{Rule::kAmbiguous, nullptr, Newest(static_cast<Key>(behind._Find_first())), implicit};
  }
  if (PLUMBLINE_FAULT(fallback_serves_later_operators) && right.rule == Rule::kFallback && !right.winner->built_in &&
      right.winner->number > number_) {
    return Resolution{};
  }
  if (PLUMBLINE_FAULT(later_alias_wins) && !direct && implicit && autograd && right.rule == Rule::kAutograd &&
      implicit->number > autograd->number) {
    return Resolution{Rule::kImplicit, implicit};
  }
  if (const std::optional<Resolution> spoilt = SpoiltChain(slot, right)) return spoilt;
  if (direct) return std::nullopt;

  if (PLUMBLINE_FAULT(implicit_before_explicit) && implicit && explicit_kernel)
    return Resolution{Rule::kImplicit, implicit};
  if (PLUMBLINE_FAULT(implicit_before_nested) && implicit && nested) return Resolution{Rule::kImplicit, implicit};
  if (PLUMBLINE_FAULT(nested_is_held_off) && nested && (behind.any() || held_off)) return below;
  if (PLUMBLINE_FAULT(implicit_leaves_autograd_keys) && implicit && keys.Fills(AliasRole::kAutograd, slot)) {
    return autograd != nullptr ? Resolution{Rule::kAutograd, autograd} : below;
  }
  if (PLUMBLINE_FAULT(backend_holds_nothing_off) && implicit && per_backend && behind.any() && !held_off) {
    return Resolution{Rule::kImplicit, implicit};
  }
  if (PLUMBLINE_FAULT(nested_backend_holds_nothing_off) && implicit && !per_backend && !other && behind.any()) {
    return Resolution{Rule::kImplicit, implicit};
  }
  if (PLUMBLINE_FAULT(fallthrough_holds_nothing_off) && implicit && !held_off && behind.any()) {
    const KernelContext* const first = Newest(static_cast<Key>(behind._Find_first()));
    if (first->fallthrough) return Resolution{Rule::kImplicit, implicit};
  }
  if (PLUMBLINE_FAULT(autograd_outranks_ambiguity) && right.rule == Rule::kAmbiguous && autograd) {
    return Resolution{Rule::kAutograd, autograd};
  }
  if (PLUMBLINE_FAULT(autograd_yields_to_any_composite) && right.rule == Rule::kAutograd &&
      Newest(AliasRole::kImplicit) != nullptr) {
    return below;
  }
  if (PLUMBLINE_FAULT(autograd_key_hides_alias) && right.rule == Rule::kAutograd &&
      (keys.Members(*keys.Alias(AliasRole::kAutograd)) & direct_).any()) {
    return below;
  }
  if (PLUMBLINE_FAULT(batched_serves_nothing) && right.rule == Rule::kBatched) return Resolution{};
  if (right.rule != Rule::kMissing) return std::nullopt;

  if (PLUMBLINE_FAULT(implicit_serves_modes) && slot != 0 && !keys.Fills(AliasRole::kImplicit, slot)) {
    if (KernelContext* const kernel = Newest(AliasRole::kImplicit)) return Resolution{Rule::kImplicit, kernel};
  }
  for (int sister = 1; PLUMBLINE_FAULT(fallback_serves_sister_keys) && per_backend && sister < keys.slot_count();
       ++sister) {
    KernelContext* const kernel = core_->fallbacks_[sister];
    const bool same =
        keys.ComponentPosition(static_cast<Key>(sister)) == keys.ComponentPosition(static_cast<Key>(slot));
    if (kernel != nullptr && !kernel->built_in && same) return Resolution{Rule::kFallback, kernel};
  }
  return std::nullopt;
}

std::optional<Resolution> OperatorEntry::SpoiltChain(int slot, const Resolution& right) const {
  if (!core_->chained_.test(slot)) return std::nullopt;
  for (const ChainRecord& chain : core_->chains_) {
    if (static_cast<int>(chain.key) != slot) continue;
    const int server = static_cast<int>(chain.served_by);
    const bool chained = right.rule == Rule::kChain;
    if (PLUMBLINE_FAULT(chain_before_fallback) && right.rule == Rule::kFallback) {
      return Resolution{Rule::kChain, ByRules(server).winner};
    }
    if (PLUMBLINE_FAULT(chain_serves_nothing) && chained) return Resolution{};
    if (PLUMBLINE_FAULT(chains_do_not_compose) && chained && ByRules(server).rule == Rule::kChain) return Resolution{};
    if (PLUMBLINE_FAULT(chain_to_fallthrough_is_empty) && chained && right.fallthrough()) return Resolution{};
    if (PLUMBLINE_FAULT(chain_to_nothing_takes_any) && right.rule == Rule::kMissing && !kernels_.empty()) {
      return Resolution{Rule::kChain, kernels_.back()};
    }
  }
  return std::nullopt;
}

std::optional<bool> OperatorEntry::SpoiltHasKernel(Key key) const {
  const bool alias = KeyTable::IsAlias(key);
  if (PLUMBLINE_FAULT(direct_question_counts_aliases) && !alias) {
    const Resolution resolution = ByRules(static_cast<int>(key));
    return resolution.winner != nullptr && resolution.rule != Rule::kFallback;
  }
  if (PLUMBLINE_FAULT(alias_question_counts_members) && alias) return (keys().Members(key) & direct_).any();
  if (PLUMBLINE_FAULT(questions_leave_out_fallthroughs) && Newest(key) != nullptr) return !Newest(key)->fallthrough;
  return std::nullopt;
}

}  // namespace plumbline::reference

#endif  // PLUMBLINE_WITH_FAULTS
