#include "reference/registry/describe.h"

#include <map>

#include "reference/faults/faults.h"
#include "reference/registry/registry_core.h"

namespace plumbline::reference {
namespace {

KernelRow RowOf(const KernelContext& kernel) {
  KernelRow row;
  row.key = kernel.key;
  row.fallthrough = kernel.fallthrough;
  row.typed = kernel.signature != nullptr;
  if (row.typed) row.signature = kernel.signature->Name();
  row.place = kernel.built_in ? "" : kernel.place;
  return row;
}

}  // namespace

std::vector<TableRow> Describer::Table(OperatorEntry& op) const {
  std::unique_lock lock(core_.mutex_);
  std::vector<TableRow> rows;
  const auto add = [&](Key key) {
    if (PLUMBLINE_FAULT(table_is_told_in_parts) && rows.size() == 1) {
      lock.unlock();
      lock.lock();
    }
    Resolution resolution = op.Resolve(static_cast<int>(key));
    KernelContext* const implicit = op.Newest(AliasRole::kImplicit);
    const bool implicit_slot = core_.keys_.Fills(AliasRole::kImplicit, static_cast<int>(key));
    if (PLUMBLINE_FAULT(table_forgets_what_holds_off) && resolution.rule == Rule::kMissing && implicit_slot &&
        implicit) {
      resolution = {Rule::kImplicit, implicit};
    }
    if (PLUMBLINE_FAULT(table_names_implicit_for_explicit) && resolution.rule == Rule::kExplicit) {
      resolution.rule = Rule::kImplicit;
    }
    if (resolution.rule == Rule::kMissing) return;
    if (PLUMBLINE_FAULT(chain_is_not_shown) && resolution.rule == Rule::kChain) return;
    TableRow& row = rows.emplace_back();
    row.key = key;
    row.rule = resolution.rule;
    row.fallthrough = resolution.fallthrough();
    if (resolution.winner == nullptr) return;
    row.registered = core_.keys_.Name(resolution.winner->key);
    if (!resolution.winner->built_in) row.place = resolution.winner->place;
  };
  add(kUndefined);
  for (Key key : core_.keys_.runtime_keys()) add(key);
#ifdef PLUMBLINE_WITH_FAULTS
  static auto& first = *new std::map<const OperatorEntry*, std::vector<TableRow>>();
  if (PLUMBLINE_FAULT(table_is_remembered)) return first.try_emplace(&op, rows).first->second;
#endif
  return rows;
}

std::vector<KernelRow> Describer::Kernels(OperatorEntry& op) const {
  const std::lock_guard lock(core_.mutex_);
  std::vector<KernelRow> rows;
  const auto add = [&](Key key) {
    bool active = true;
    for (auto it = op.kernels_.rbegin(); it != op.kernels_.rend(); ++it) {
      if ((*it)->key != key) continue;
      rows.push_back(RowOf(**it));
      rows.back().active = std::exchange(active, false);
    }
  };
  for (Key key : core_.keys_.runtime_keys()) add(key);
  for (Key key : core_.keys_.alias_keys()) add(key);
  return rows;
}

std::string Describer::DefinitionPlace(OperatorEntry& op) const {
  const std::lock_guard lock(core_.mutex_);
  const Definition* definition = op.definition();
  return definition == nullptr ? "" : definition->place;
}

std::vector<std::pair<Key, KernelRow>> Describer::Fallbacks() const {
  const std::lock_guard lock(core_.mutex_);
  std::vector<std::pair<Key, KernelRow>> rows;
  for (Key key : core_.keys_.runtime_keys()) {
    const KernelContext* kernel = core_.fallbacks_[static_cast<int>(key)];
    if (kernel != nullptr) rows.emplace_back(key, RowOf(*kernel));
  }
  return rows;
}

std::string Describer::RegisteredLocked(const OperatorEntry& op) const {
  std::string text;
  const auto add = [&](Key key) {
    const KernelContext* kernel = op.Newest(key);
    if (kernel == nullptr) return;
    if (!text.empty()) text += ", ";
    text += core_.keys_.Name(key) + (kernel->fallthrough ? " (fallthrough)" : "") + " at " + kernel->place;
  };
  for (Key key : core_.keys_.runtime_keys()) add(key);
  for (Key key : core_.keys_.alias_keys()) add(key);
  return text.empty() ? "nothing" : text;
}

std::vector<std::string> Describer::NearNamesLocked(std::string_view name) const {
  std::vector<std::string> known;
  for (const OperatorEntry* op : core_.operators_) {
    if (op->name() != name) known.push_back(op->name());
  }
  return Nearest(name, known);
}

}  // namespace plumbline::reference
