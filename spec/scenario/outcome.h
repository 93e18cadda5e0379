// What a step led to: predicted by the model, observed on a backend, or expected by a scenario's author.
//
// Model and harness fill an Outcome completely; an Expectation is the part of it that an author wrote.
//
//   => ok                        => k1 > k2              => k1 with [CPU AutogradCPU] sees [CPU] 3 returns 4
//   => error no-kernel           => k1 > error kernel-raised       => true        => { kernel r1: CPU; ... }
#ifndef PLUMBLINE_SPEC_SCENARIO_OUTCOME_H_
#define PLUMBLINE_SPEC_SCENARIO_OUTCOME_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "spec/scenario/value.h"

namespace plumbline::scenario {

// One kernel that ran, in order of entry.
struct KernelRun {
  std::string kernel;             // its name; "builtin:KEY" for a fallback that the release brings
  std::string operator_name;      // whom it served
  std::vector<std::string> keys;  // the received key set, lowest priority first
  std::vector<Value> arguments;   // what it saw
  int depth = 0;                  // 0: entered by the step itself
  friend bool operator==(const KernelRun&, const KernelRun&) = default;
};

// One slot of a computed table. `rule` is spelled as PL_RULE_* in lower case: kernel, nonfunctional,
// explicit, nested, implicit, ambiguous, autograd, batched, fallback, chain.
struct TableRow {
  std::string key;
  std::string rule;
  bool fallthrough = false;
  std::string registration;  // the winner's handle; "builtin" for what the release brings; "" for ambiguous
  friend bool operator==(const TableRow&, const TableRow&) = default;
};

struct CacheCounters {
  std::uint64_t hits = 0, misses = 0, invalidations = 0;
  friend bool operator==(const CacheCounters&, const CacheCounters&) = default;
};

struct Outcome {
  std::string error;                              // class as spelled in spec/tables/error_classes.h; empty: success
  std::string message;                            // of the error; never compared, shown and matched by `says`
  std::vector<KernelRun> runs;                    // calls
  std::vector<Value> returns;                     // calls that succeeded
  bool warned = false;                            // registrations: an override warning was given (WARNINGS claimed)
  std::optional<bool> truth;                      // yes/no queries
  std::optional<std::vector<std::string>> names;  // list queries, schema (one entry), heard ("+ns::f", "-ns::f")
  std::optional<std::vector<TableRow>> table;     // lowest key first, missing slots left out
  std::optional<CacheCounters> counters;
  std::optional<std::int64_t> count;  // destroyed
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

// The parts that an author wrote. What is absent is not checked, but an error that is not expected always differs.
struct Expectation {
  bool ok = false;                                // `ok`: no error
  std::optional<std::string> error;               // class, or "any"
  std::optional<std::string> says;                // the message contains this (a SHOULD)
  std::optional<std::vector<std::string>> chain;  // kernels in order of entry
  std::optional<std::vector<std::string>> with;   // the last kernel's received key set
  std::optional<std::vector<Value>> sees;         // the last kernel's arguments
  std::optional<std::vector<Value>> returns;
  std::optional<bool> warned;
  std::optional<bool> truth;
  std::optional<std::vector<std::string>> names;
  std::optional<std::vector<TableRow>> table;  // as written; the order of rows does not matter
  std::optional<CacheCounters> counters;
  std::optional<std::int64_t> count;
  friend bool operator==(const Expectation& a, const Expectation& b);
};

// ---- the closed lists of spellings ----

bool IsErrorClass(std::string_view spelling);  // "no-kernel"
bool IsRule(std::string_view spelling);        // "kernel", "nonfunctional", ...
const std::vector<std::string>& ErrorClasses();
const std::vector<std::string>& Rules();
const std::vector<std::string>& Signatures();  // names of the signature catalogue

// A written outcome that says all that `outcome` does, and can be checked: what is saved with a found scenario.
Expectation ExpectationOf(const Outcome& outcome);

}  // namespace plumbline::scenario

#endif  // PLUMBLINE_SPEC_SCENARIO_OUTCOME_H_
