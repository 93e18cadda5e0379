#include "conformance/cli/next_claim.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace plumbline::cli {
namespace {

// A member of an adapter's class, see spec/abi/adapter.h, and the entry of the table that follows from it.
struct Member {
  const char* entry;
  const char* name;
};

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

// The claims that need several members; what else there is to claim needs one.
const struct {
  const char* capability;
  std::vector<Member> members;
} kOfSeveral[] = {
    {"core",
     {{"intern_key", "InternKey"},
      {"tensor_make", "MakeTensor"},
      {"tensor_make_undefined", "MakeUndefinedTensor"},
      {"tensor_keys", "KeysOf"},
      {"tensor_identity", "Identity"},
      {"define", "Define"},
      {"register_kernel", "RegisterKernel"},
      {"find_operator", "FindOperator"},
      {"call", "CallBoxed"}}},
    {"introspection",
     {{"has_kernel", "HasKernel"},
      {"has_fallback", "HasFallback"},
      {"list_operators", "ListOperators"},
      {"schema_of", "SchemaOf"},
      {"dump_table", "DumpTable"}}},
    {"faults", {{"fault_list", "Faults"}, {"fault_set", "SetFault"}}},
    {"call-many", {{"call_many", "CallMany"}, {"find_many", "FindMany"}}},
};

bool Holds(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// "4 of its 9 members are there; missing: ...", or empty for a claim of one member.
std::string Progress(std::string_view capability, const std::vector<std::string>& entries, bool* begun) {
  for (const auto& claim : kOfSeveral) {
    if (claim.capability != capability) continue;
    std::vector<std::string> missing;
    for (const Member& member : claim.members) {
      if (!Holds(entries, member.entry)) missing.emplace_back(member.name);
    }
    const std::size_t there = claim.members.size() - missing.size();
    *begun = there > 0;
    return fmt::format("{} of its {} members are there; {}", there, claim.members.size(),
                       missing.empty() ? "only the claim itself is missing in the table's capabilities"
                                       : fmt::format("missing: {}", fmt::join(missing, ", ")));
  }
  *begun = false;
  return "";
}

}  // namespace

std::string NextClaim(const std::vector<std::string>& claimed, const std::vector<std::string>& entries) {
  std::string text;
  std::string_view next;
  bool begun = false;
  for (const Step& step : kSteps) {
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
