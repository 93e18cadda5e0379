// What is registered, in words and in rows: for error messages, dumps and tools.
//
// Everything here takes the registry's lock unless it says otherwise; nothing of it is a use of a slot. Any thread.
#ifndef PLUMBLINE_REFERENCE_REGISTRY_DESCRIBE_H_
#define PLUMBLINE_REFERENCE_REGISTRY_DESCRIBE_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reference/registry/operator_entry.h"
#include "reference/registry/registry.h"

namespace plumbline::reference {

struct TableRow {
  Key key = kUndefined;
  Rule rule = Rule::kMissing;
  bool fallthrough = false;
  std::string place;       // of the winner; empty for what the release brings, and for an ambiguous slot
  std::string registered;  // the key that the winner was registered at
};

struct KernelRow {
  Key key = kUndefined;
  bool active = true;  // the newest of its key
  bool fallthrough = false;
  bool typed = false;
  std::string signature, place;
};

class Describer {
 public:
  explicit Describer(const Registry& registry) : core_(registry.core()) {}
  explicit Describer(RegistryCore& core) : core_(core) {}

  std::vector<TableRow> Table(OperatorEntry& op) const;     // lowest key first, missing slots left out
  std::vector<KernelRow> Kernels(OperatorEntry& op) const;  // runtime keys lowest first, then aliases; newest first
  std::string DefinitionPlace(OperatorEntry& op) const;
  std::vector<std::pair<Key, KernelRow>> Fallbacks() const;  // those of the release too

  // Under the lock already:
  std::string RegisteredLocked(const OperatorEntry& op) const;  // "CPU at a.cc:3, Autograd at a.cc:5"
  std::vector<std::string> NearNamesLocked(std::string_view name) const;

 private:
  RegistryCore& core_;
};

}  // namespace plumbline::reference

#endif  // PLUMBLINE_REFERENCE_REGISTRY_DESCRIBE_H_
