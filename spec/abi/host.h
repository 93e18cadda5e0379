// The host's side of the C table: may it be used, and for what?
//
//   const AdapterCheck check = CheckAdapter(get_adapter(PL_ABI_MAJOR, PL_ABI_MINOR));
//   for (const std::string& problem : check.problems) std::cerr << problem << '\n';
//   if (check.Has(PL_CAPABILITY(GUARDS))) ...                        // claimed, and the entries are there
//   if (PlError error{adapter->open(&options, &registry)}) std::cerr << error.message();
//
// A backend with problems is an adapter error, to be reported as such. `readable` tells whether the table could be
// looked at beyond its first fields; if not, no entry may be called. PlError (error.h) owns a received error object.
//
// A table of an older minor ends earlier: what it lacks is absent and not claimed. One of a newer minor goes on; what
// this header does not know is left alone. No state; any thread.
#ifndef PLUMBLINE_SPEC_ABI_HOST_H_
#define PLUMBLINE_SPEC_ABI_HOST_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spec/abi/abi.h"
#include "spec/abi/error.h"

namespace plumbline::abi {

struct AdapterCheck {
  std::vector<std::string> problems;  // in words; empty: fine
  std::uint64_t capabilities = 0;     // claimed, known to this header, and with all their entries
  bool readable = false;

  bool Has(std::uint64_t capability) const { return (capabilities & capability) == capability; }
};

// Spellings of the capabilities in a mask, in the order of their bits.
inline std::vector<std::string> CapabilitySpellings(std::uint64_t capabilities) {
  std::vector<std::string> out;
#define PLUMBLINE_ABI_SPELL(bit, NAME, spelling, meaning) \
  if ((capabilities & PL_CAPABILITY(NAME)) != 0) out.emplace_back(spelling);
  PL_CAPABILITIES(PLUMBLINE_ABI_SPELL)
#undef PLUMBLINE_ABI_SPELL
  return out;
}

// The entries that a claim needs: X(CAPABILITY, entry).
// clang-format off
#define PLUMBLINE_ABI_CLAIM_NEEDS(X)                                                                          \
  X(CORE, open) X(CORE, close) X(CORE, intern_key) X(CORE, define) X(CORE, register_kernel) X(CORE, release)  \
  X(CORE, find_operator) X(CORE, operator_release) X(CORE, call) X(CORE, tensor_make)                         \
  X(CORE, tensor_make_undefined) X(CORE, tensor_keys) X(CORE, tensor_identity) X(CORE, tensor_retain)         \
  X(CORE, tensor_release) X(FRESH_REGISTRY, open) X(FRESH_REGISTRY, close) X(DECLARED_KEYS, open) X(LIBRARIES, library_open)         \
  X(LIBRARIES, library_close) X(LISTENERS, listener_add) X(LISTENERS, release) X(WARNINGS, warnings_to)       \
  X(GUARDS, guard_enter) X(GUARDS, guard_leave) X(FALLBACKS, register_fallback) X(FALLBACKS, release)         \
  X(CHAINS, chain_declare) X(CHAINS, release) X(REDISPATCH, redispatch) X(TYPED, register_kernel)             \
  X(TYPED, call) X(BOXED, register_kernel) X(BOXED, call) X(DRAIN, drain) X(CACHE_COUNTERS, cache_counters)   \
  X(CACHE_FLUSH, cache_flush) X(INTROSPECTION, has_kernel) X(INTROSPECTION, has_fallback)                     \
  X(INTROSPECTION, list_operators) X(INTROSPECTION, schema_of) X(INTROSPECTION, dump_table)                   \
  X(FAULTS, fault_list) X(FAULTS, fault_set) X(CALL_MANY, call_many) X(CALL_MANY, find_many) X(LOAD, load)    \
  X(SIGNATURE_CHECK, register_kernel) X(TENSORS, tensor_from_host) X(TENSORS, tensor_info)                    \
  X(TENSORS, tensor_to_host) X(TENSORS, storage_to_host) X(OPERATORS, open) X(OPERATORS, find_operator)       \
  X(OPERATORS, call) X(MEMORY, memory_figures) X(MEMORY, memory_reset_peak) X(MEMORY, memory_empty_cache)      \
  X(DLPACK, tensor_to_dlpack) X(DLPACK, tensor_from_dlpack)
// clang-format on

// The member of a backend's class that an entry follows from, see adapter.h: authors who write C++ know no entries.
// Empty for those that a class cannot claim without.
constexpr std::string_view MemberFor(std::string_view entry) {
  constexpr std::pair<std::string_view, std::string_view> kMembers[] = {
      {"intern_key", "InternKey"},
      {"define", "Define"},
      {"register_kernel", "RegisterKernel"},
      {"find_operator", "FindOperator"},
      {"call", "CallBoxed"},
      {"tensor_make", "MakeTensor"},
      {"tensor_make_undefined", "MakeUndefinedTensor"},
      {"tensor_keys", "KeysOf"},
      {"tensor_identity", "Identity"},
      {"has_kernel", "HasKernel"},
      {"has_fallback", "HasFallback"},
      {"list_operators", "ListOperators"},
      {"schema_of", "SchemaOf"},
      {"dump_table", "DumpTable"},
      {"fault_list", "Faults"},
      {"fault_set", "SetFault"},
      {"call_many", "CallMany"},
      {"find_many", "FindMany"},
      {"memory_figures", "MemoryOf"},
      {"memory_reset_peak", "ResetPeak"},
      {"memory_empty_cache", "EmptyCache"},
      {"tensor_to_dlpack", "ToDlpack"},
      {"tensor_from_dlpack", "FromDlpack"},
  };
  for (const auto& [name, member] : kMembers) {
    if (name == entry) return member;
  }
  return "";
}

// Of these, the entries that a readable table has, claimed or not, each once: how far an author has come.
inline std::vector<std::string> EntriesThere(const pl_adapter& adapter) {
  std::vector<std::string> there;
#define PLUMBLINE_ABI_THERE(NAME, entry)                                                         \
  if (PL_HAS(&adapter, entry) && std::find(there.begin(), there.end(), #entry) == there.end()) { \
    there.emplace_back(#entry);                                                                  \
  }
  PLUMBLINE_ABI_CLAIM_NEEDS(PLUMBLINE_ABI_THERE)
#undef PLUMBLINE_ABI_THERE
  return there;
}

inline AdapterCheck CheckAdapter(const pl_adapter* adapter) {
  AdapterCheck check;
  const auto problem = [&check](std::string text) { check.problems.push_back(std::move(text)); };
  const auto version = [](std::uint32_t major, std::uint32_t minor) {
    return std::to_string(major) + "." + std::to_string(minor);
  };
  if (adapter == nullptr) {
    problem("the backend gave no table: it cannot serve a host of ABI " + version(PL_ABI_MAJOR, PL_ABI_MINOR));
    return check;
  }

  // struct_size says how much memory may be read, so nothing else is read before it is known to be sane.
  constexpr std::size_t kPrefix = offsetof(pl_adapter, describe);
  const std::size_t size = adapter->struct_size;
  if (size < kPrefix) {
    problem("the table's struct_size is " + std::to_string(size) + "; the fixed fields alone take " +
            std::to_string(kPrefix) + " (was it set to sizeof(pl_adapter)?)");
    return check;
  }
  if (adapter->abi_major != PL_ABI_MAJOR) {
    problem("the table is of ABI " + version(adapter->abi_major, adapter->abi_minor) + "; this host speaks " +
            version(PL_ABI_MAJOR, PL_ABI_MINOR) + ", and majors do not mix: rebuild the backend against this host");
    return check;
  }
  if ((size - kPrefix) % sizeof(void (*)(void)) != 0) {
    problem("the table's struct_size is " + std::to_string(size) + ", which ends inside an entry");
    return check;
  }
  check.readable = true;

  if (adapter->reserved != 0) problem("the table's reserved field is not zero");
  if (adapter->abi_minor <= PL_ABI_MINOR) {
    if (adapter->extensions != nullptr)
      problem("the table's extensions must be null in ABI " + version(adapter->abi_major, adapter->abi_minor));
    if (size > sizeof(pl_adapter)) {
      problem("the table's struct_size is " + std::to_string(size) + ", but ABI " +
              version(adapter->abi_major, adapter->abi_minor) + " ends at " + std::to_string(sizeof(pl_adapter)) +
              " (was abi_minor forgotten?)");
    }
  }
  if (!PL_HAS(adapter, describe)) problem("the table lacks describe, so the backend has no name to report");

  std::uint64_t known = 0;
#define PLUMBLINE_ABI_KNOWN(bit, NAME, spelling, meaning) known |= PL_CAPABILITY(NAME);
  PL_CAPABILITIES(PLUMBLINE_ABI_KNOWN)
#undef PLUMBLINE_ABI_KNOWN
  if (adapter->abi_minor <= PL_ABI_MINOR) {
    for (int bit = 0; bit < 64; ++bit) {
      if (((adapter->capabilities & ~known) >> bit) & 1)
        problem("the table claims capability bit " + std::to_string(bit) + ", which no capability has");
    }
  }

  check.capabilities = adapter->capabilities & known;
#define PLUMBLINE_ABI_NEEDED(NAME, entry)                                                                      \
  if ((adapter->capabilities & PL_CAPABILITY(NAME)) != 0 && !PL_HAS(adapter, entry)) {                         \
    problem("the table claims " + CapabilitySpellings(PL_CAPABILITY(NAME)).front() + " but lacks " #entry +    \
            (MemberFor(#entry).empty() ? "" : " (in C++ the member " + std::string(MemberFor(#entry)) + ")")); \
    check.capabilities &= ~PL_CAPABILITY(NAME);                                                                \
  }
  PLUMBLINE_ABI_CLAIM_NEEDS(PLUMBLINE_ABI_NEEDED)
#undef PLUMBLINE_ABI_NEEDED
  return check;
}

}  // namespace plumbline::abi

#endif  // PLUMBLINE_SPEC_ABI_HOST_H_
