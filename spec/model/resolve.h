// The table rule: which registration fills the slot of a key, as a pure function of the registrations in force.
//
//   Slot slot = Resolve(keys, live, *keys.Find("AutogradCPU"));
//   if (slot.rule == Rule::kAutograd) ... slot.winner->handle ...
//
// Given a list for `trials`, it also tells why each rule before the one that fits did not: `explain` prints just that.
// Plain values and pure functions; any thread. A registration is named by pointer; its owner outlives all of these.
#ifndef PLUMBLINE_SPEC_MODEL_RESOLVE_H_
#define PLUMBLINE_SPEC_MODEL_RESOLVE_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "spec/model/key_table.h"

namespace plumbline::model {

// One kernel in force, of an operator or a fallback.
struct Registration {
  std::string handle;     // the scenario's name for it; "" if it gave none, "builtin" for what the release brings
  std::string kernel;     // "" for a fallthrough; "builtin:KEY"
  std::string signature;  // "": boxed
  std::string library;    // that it was made in, or ""
  Key key = kUndefined;
  bool fallthrough = false;
  bool builtin = false;
  int line = 0;  // of the step that made it
};

using Kernels = std::map<Key, std::vector<const Registration*>>;  // of one operator; per key, oldest first
using Fallbacks = std::map<Key, const Registration*>;             // of all operators
using Chains = std::map<Key, Key>;                                // of all operators: key -> served by

// Everything that decides an operator's table.
struct Live {
  const Kernels& kernels;
  const Fallbacks& fallbacks;
  const Chains& chains;

  const Registration* Newest(Key key) const;
};

enum class Rule {
  kMissing,
  kKernel,
  kNonFunctional,
  kExplicit,
  kNested,
  kImplicit,
  kAmbiguous,
  kAutograd,
  kBatched,
  kFallback,
  kChain
};
const char* Spelling(Rule rule);  // as in TableRow::rule; "missing"

struct Slot {
  Rule rule = Rule::kMissing;
  const Registration* winner = nullptr;  // null: missing or ambiguous
  bool fallthrough() const { return winner != nullptr && winner->fallthrough; }
  friend bool operator==(const Slot&, const Slot&) = default;
};

struct Trial {
  Rule rule = Rule::kMissing;
  bool applies = false;
  std::string why;
  std::string clause;  // that says so
};

Slot Resolve(const KeyTable& keys, const Live& live, Key slot, std::vector<Trial>* trials = nullptr);

// The keys at which a registration or a release can change the slot: what the rules for it read, whatever is
// registered. Chains are followed; so ask before and after a chain comes or goes.
std::set<Key> Reads(const KeyTable& keys, const Chains& chains, Key slot);

}  // namespace plumbline::model

#endif  // PLUMBLINE_SPEC_MODEL_RESOLVE_H_
