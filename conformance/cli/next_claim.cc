#include "conformance/cli/next_claim.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>

#include "spec/abi/host.h"

namespace plumbline::cli {
namespace {

struct Step {
  const char* capability;
  const char* members;  // in words
};

// In the order in which they open most cases.
constexpr Step kSteps[] = {
    {"core",
     "InternKey, MakeTensor, MakeUndefinedTensor, KeysOf, Identity, Define, RegisterKernel, FindOperator, CallBoxed"},
    {"boxed", "CallBoxed, and boxed kernels in RegisterKernel"},
    {"fallbacks", "RegisterFallback"},
    {"redispatch", "Frame and Redispatch"},
    {"guards", "Guard and EnterGuard"},
};

// Of the profile of operators.
constexpr Step kOperatorSteps[] = {
    kSteps[0],
    kSteps[1],
    {"tensors", "TensorFromHost, InfoOf and TensorToHost"},
    {"operators", "kOperators = true, and the ATen operators that it has where OpenOptions::operators asks for them"},
};

// The claims that need several members, by the entries of the table that follow from them; what else there is to claim
// needs one.
const struct {
  const char* capability;
  std::vector<const char*> entries;
} kOfSeveral[] = {
    {"core",
     {"intern_key", "tensor_make", "tensor_make_undefined", "tensor_keys", "tensor_identity", "define",
      "register_kernel", "find_operator", "call"}},
    {"introspection", {"has_kernel", "has_fallback", "list_operators", "schema_of", "dump_table"}},
    {"faults", {"fault_list", "fault_set"}},
    {"call-many", {"call_many", "find_many"}},
    {"memory", {"memory_figures", "memory_reset_peak", "memory_empty_cache"}},
    {"dlpack", {"tensor_to_dlpack", "tensor_from_dlpack"}},
};

bool Holds(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// "4 of its 9 members are there; missing: ...", or empty for a claim of one member.
std::string Progress(std::string_view capability, const std::vector<std::string>& entries, bool* begun) {
  for (const auto& claim : kOfSeveral) {
    if (claim.capability != capability) continue;
    std::vector<std::string> missing;
    for (const char* entry : claim.entries) {
      if (!Holds(entries, entry)) missing.emplace_back(abi::MemberFor(entry));
    }
    const std::size_t there = claim.entries.size() - missing.size();
    *begun = there > 0;
    return fmt::format("{} of its {} members are there; {}", there, claim.entries.size(),
                       missing.empty() ? "only the claim itself is missing in the table's capabilities"
                                       : fmt::format("missing: {}", fmt::join(missing, ", ")));
  }
  *begun = false;
  return "";
}

}  // namespace

std::string NextClaim(const std::vector<std::string>& claimed, const std::vector<std::string>& entries,
                      bool of_operators) {
  std::string text;
  std::string_view next;
  bool begun = false;
  for (const Step& step : of_operators ? std::span<const Step>(kOperatorSteps) : std::span<const Step>(kSteps)) {
    if (Holds(claimed, step.capability)) continue;
    next = step.capability;
    const std::string progress = Progress(next, entries, &begun);
    text += fmt::format("next: claim {}: {}\n", next,
                        begun ? progress + "." : fmt::format("give the adapter's class {}.", step.members));
    break;
  }
  for (const auto& claim : kOfSeveral) {
    if (claim.capability == next || Holds(claimed, claim.capability)) continue;
    const std::string progress = Progress(claim.capability, entries, &begun);
    if (begun) text += fmt::format("begun: {}: {}.\n", claim.capability, progress);
  }
  if (text.empty()) return "";
  return text +
         "      Each member is described in spec/abi/adapter.h; `plumbline list capabilities` shows all there is to "
         "claim.\n";
}

}  // namespace plumbline::cli
