// What a backend says of itself, as the suites use it: who it is, what it claims, and the keys that hold for it.
//
//   if (facts.Claims(PL_CAPABILITY(GUARDS))) ...
//   scenario.release = facts.release; scenario.declared_keys = facts.keys;
//
// Filled by an executor, from `describe` and from what `intern_key` says of each key; crosses to the suites as JSON.
// Plain data; no thread rules.
#ifndef PLUMBLINE_CONFORMANCE_HARNESS_BACKEND_FACTS_H_
#define PLUMBLINE_CONFORMANCE_HARNESS_BACKEND_FACTS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "spec/scenario/scenario.h"

namespace plumbline::harness {

struct BuiltinFallback {
  std::string key;
  bool fallthrough = false;
};

struct BackendFacts {
  std::string name, version;
  std::string release;  // in force: asked for by --release, else the backend's own default
  std::string abi;      // "1.0"
  std::string path;     // of the shared object
  std::string digest;   // its sha256
  std::uint64_t capabilities = 0;
  std::vector<std::string> entries;                       // of its table that some claim needs, claimed or not
  std::vector<scenario::KeyDeclaration> keys;             // of its own
  std::optional<std::vector<BuiltinFallback>> fallbacks;  // replaces the release's, where the backend says so
  std::vector<std::string> loaded;                        // --load, by file name
  std::vector<std::string> loaded_for_nothing;            // of these paths, those that seem to register nothing
  std::size_t key_count = 0;                              // of the release and its own; 0: it was not asked for them
  std::vector<std::string> unknown_keys;                  // of these, those that it does not intern, lowest first
  std::vector<std::string> problems;                      // of its table; any makes it unusable

  bool Claims(std::uint64_t bits) const { return (capabilities & bits) == bits; }
};

}  // namespace plumbline::harness

#endif  // PLUMBLINE_CONFORMANCE_HARNESS_BACKEND_FACTS_H_
