// A scenario in memory: a short program of steps over one registry, with expected outcomes.
//
// Everything the kit does to a backend is a scenario. The text form is in grammar.md; parse.h reads it,
// print.h writes it, model/ predicts it, conformance/harness runs it.
//
//   Scenario s = Parse(text).value();
//   for (const Step& step : s.steps) ...
//
// Values, not handles: registrations, libraries, guards and operator handles are named by strings that the
// scenario gives. Plain data; copy freely; no thread rules.
#ifndef PLUMBLINE_SPEC_SCENARIO_SCENARIO_H_
#define PLUMBLINE_SPEC_SCENARIO_SCENARIO_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "spec/scenario/outcome.h"
#include "spec/scenario/value.h"

namespace plumbline::scenario {

struct Step;

// ---- kernels ----

enum class CallForm { kBoxed, kTyped };

// What a host kernel does. Without a `return` it returns a zero of each return type of the schema: 0, 0.0,
// false, "", an empty list, none for an optional, and for a Tensor its first tensor argument (else undefined).
struct BodyGuard {  // until the end of the body, also when it throws
  bool include = false;
  std::vector<std::string> keys;
  friend bool operator==(const BodyGuard&, const BodyGuard&) = default;
};
struct BodyRedispatch {
  // Exactly one is set: the received set cut to the keys strictly below `below`; or this very set.
  std::optional<std::string> below;
  std::optional<std::vector<std::string>> keys;
  CallForm form = CallForm::kBoxed;
  friend bool operator==(const BodyRedispatch&, const BodyRedispatch&) = default;
};
struct BodyCall {  // of any operator; no arguments given means the kernel's own arguments
  std::string operator_name;
  std::optional<std::vector<Value>> arguments;
  CallForm form = CallForm::kBoxed;
  std::string signature;
  bool caught = false;  // `try call`: an error is observed and the body goes on
  friend bool operator==(const BodyCall&, const BodyCall&) = default;
};
struct BodyThrow {
  std::string message;
  friend bool operator==(const BodyThrow&, const BodyThrow&) = default;
};
struct BodyReturn {
  struct Argument {  // return one of the kernel's own arguments
    int index = 0;
    friend bool operator==(const Argument&, const Argument&) = default;
  };
  struct Inner {  // whatever the last redispatch or call returned
    friend bool operator==(const Inner&, const Inner&) = default;
  };
  std::vector<std::variant<Value, Argument, Inner>> values;
  friend bool operator==(const BodyReturn&, const BodyReturn&) = default;
};
struct BodyStep {          // a registry step from inside the kernel: define, impl, fallback, release
  std::vector<Step> step;  // exactly one; a vector because Step is incomplete here
  friend bool operator==(const BodyStep& a, const BodyStep& b);
};
using BodyItem = std::variant<BodyGuard, BodyRedispatch, BodyCall, BodyThrow, BodyReturn, BodyStep>;

struct KernelDefinition {
  std::string name;
  std::vector<BodyItem> body;
  friend bool operator==(const KernelDefinition&, const KernelDefinition&) = default;
};

struct KernelUse {
  bool fallthrough = false;
  std::string kernel;     // name; one without a definition has an empty body
  std::string signature;  // empty: boxed; else a name of the signature catalogue
  friend bool operator==(const KernelUse&, const KernelUse&) = default;
};

// ---- steps ----

enum class LibraryKind { kDef, kFragment, kImpl };

struct Chain {  // declared fallback chain
  std::string key;
  std::string served_by;
  std::string name;
  friend bool operator==(const Chain&, const Chain&) = default;
};
struct LibraryOpen {
  std::string name;
  LibraryKind kind = LibraryKind::kDef;
  std::string name_space;  // "_" is the wildcard
  std::optional<std::string> key;
  friend bool operator==(const LibraryOpen&, const LibraryOpen&) = default;
};
struct LibraryClose {
  std::string name;
  friend bool operator==(const LibraryClose&, const LibraryClose&) = default;
};
struct Define {
  std::string schema;
  std::string library;  // empty: none
  std::string name;     // handle, empty: anonymous, lives to the end
  friend bool operator==(const Define&, const Define&) = default;
};
struct Impl {
  std::string operator_name;
  std::optional<std::string> key;
  KernelUse kernel;
  std::string library;
  std::string name;
  friend bool operator==(const Impl&, const Impl&) = default;
};
struct Fallback {
  std::optional<std::string> key;
  KernelUse kernel;
  std::string library;
  std::string name;
  friend bool operator==(const Fallback&, const Fallback&) = default;
};
struct Listen {
  std::string name;
  friend bool operator==(const Listen&, const Listen&) = default;
};
struct Release {
  std::string name;  // of a define, impl, fallback, chain or listener
  friend bool operator==(const Release&, const Release&) = default;
};
struct Drain {
  friend bool operator==(const Drain&, const Drain&) = default;
};
struct Find {  // keep a handle to an operator
  std::string operator_name;
  std::string name;
  friend bool operator==(const Find&, const Find&) = default;
};
struct Call {
  CallForm form = CallForm::kBoxed;
  std::string signature;      // with kTyped
  std::string operator_name;  // or
  std::string handle;         // the name of a find
  std::vector<Value> arguments;
  friend bool operator==(const Call&, const Call&) = default;
};
struct GuardEnter {
  bool include = false;
  std::vector<std::string> keys;
  std::string name;
  friend bool operator==(const GuardEnter&, const GuardEnter&) = default;
};
struct GuardLeave {
  std::string name;
  friend bool operator==(const GuardLeave&, const GuardLeave&) = default;
};
struct Flush {
  friend bool operator==(const Flush&, const Flush&) = default;
};

enum class QueryKind {
  kHasKernel,    // operator, key: direct
  kHasComputed,  // operator, key: the slot
  kHasFallback,  // key
  kOperators,    // names of the scenario's own namespaces
  kDangling,
  kOperatorsAtKey,  // key
  kSchema,          // operator
  kTable,           // operator
  kCounters,        // operator: hits, misses, invalidations since the last such query (or the definition)
  kDestroyed,       // kernel: how often its context was destroyed
  kHeard            // listener: what it heard since the last such query
};
struct Query {
  QueryKind kind = QueryKind::kHasKernel;
  std::string subject;  // operator, kernel or listener
  std::optional<std::string> key;
  friend bool operator==(const Query&, const Query&) = default;
};

using Action = std::variant<Chain, LibraryOpen, LibraryClose, Define, Impl, Fallback, Listen, Release, Drain, Find,
                            Call, GuardEnter, GuardLeave, Flush, Query>;

struct Step {
  Action action;
  std::string thread;  // empty: the main thread; others run one step at a time, started on first use
  std::optional<Expectation> expected;
  int line = 0;  // 1-based; 0 if not from text; no part of equality
  friend bool operator==(const Step& a, const Step& b);
};

// ---- the whole ----

enum class OpenMode { kAny, kProcess, kFresh };  // kAny: fresh where claimed, else process

struct KeyDeclaration {  // a key of the scenario's own, see spec/abi
  enum class Kind { kComponent, kBackend, kMode } kind = Kind::kComponent;
  std::string name, after, autograd;
  int line = 0;  // 1-based; 0 if not from text; no part of equality
  friend bool operator==(const KeyDeclaration& a, const KeyDeclaration& b) {
    return a.kind == b.kind && a.name == b.name && a.after == b.after && a.autograd == b.autograd;
  }
};

struct Scenario {
  int version = 1;
  std::string release;               // "pytorch-1.13"
  std::string title;                 // one line, may be empty
  std::vector<std::string> clauses;  // what it is evidence for
  OpenMode open = OpenMode::kAny;
  std::vector<KeyDeclaration> declared_keys;
  std::vector<KernelDefinition> kernels;
  std::vector<Step> steps;

  // Full-line comments and blank lines, by the index of the step that they precede: lines that are empty or start with
  // '#', joined by '\n'. The number of steps: at the end; -1: in the head, where that has more than its first line.
  std::map<int, std::string> comments;

  friend bool operator==(const Scenario&, const Scenario&) = default;
};

}  // namespace plumbline::scenario

#endif  // PLUMBLINE_SPEC_SCENARIO_SCENARIO_H_
