// What a backend's process-wide registry holds, as its introspection tells: for `plumbline dump` and `explain`; and the
// keys that it knows, for `plumbline keys`.
//
//   OrError<OperatorView> view = executor->View("demo::f");        // executor.h; asked in an executor of its own
//   for (const OperatorView::Row& row : view->table) ...
//
// What is called Tell runs in an executor, where a backend that crashes costs only the answer; the answer crosses as
// JSON. Plain data; no thread rules.
#ifndef PLUMBLINE_CONFORMANCE_HARNESS_REGISTRY_VIEW_H_
#define PLUMBLINE_CONFORMANCE_HARNESS_REGISTRY_VIEW_H_

#include <map>
#include <string>
#include <vector>

#include "conformance/harness/or_error.h"
#include "spec/abi/abi.h"
#include "spec/model/key_table.h"

namespace plumbline::harness {

struct OperatorView {
  struct Row {
    std::string key, rule;  // rule as in a scenario's tables
    bool fallthrough = false;
    std::string place;  // of the winner; empty for what the backend brings, and where the slot is ambiguous
  };
  bool found = false;                      // defined, or implemented at least; else the rest is empty
  std::string schema;                      // empty: not defined
  std::vector<std::string> direct;         // keys with a kernel or a fallthrough of their own, alias keys included
  std::vector<std::string> fallbacks;      // keys with a fallback, the release's or registered
  std::vector<std::string> registrations;  // the backend's own words, a line each; empty if it has none
  std::vector<Row> table;                  // as the rules give it, lowest key first; missing slots left out
};

struct OperatorNames {
  std::vector<std::string> all, dangling;              // sorted; dangling: implemented, not defined
  std::map<std::string, std::vector<std::string>> at;  // by key, alias keys included: operators with a kernel there
  std::vector<std::string> fallbacks;                  // keys with a fallback, lowest first
};

// In an executor, of a loaded backend that claims introspection; `operators`: with those that it brings.
std::string TellOperator(const pl_adapter& adapter, const model::KeyTable& keys, bool operators,
                         const std::string& name);
std::string TellNames(const pl_adapter& adapter, const model::KeyTable& keys, bool operators);
// Of one that has intern_key: which of these keys it interns.
std::string TellKeys(const pl_adapter& adapter, const model::KeyTable& keys);

// Of what these told.
OrError<OperatorView> ReadOperator(const std::string& told);
OrError<OperatorNames> ReadNames(const std::string& told);
OrError<std::vector<std::string>> ReadKnownKeys(const std::string& told);

}  // namespace plumbline::harness

#endif  // PLUMBLINE_CONFORMANCE_HARNESS_REGISTRY_VIEW_H_
