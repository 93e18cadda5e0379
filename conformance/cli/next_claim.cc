#include "conformance/cli/next_claim.h"

#include <fmt/core.h>

#include <algorithm>

namespace plumbline::cli {
namespace {

struct Step {
  const char* capability;
  const char* members;  // of an adapter's class, see spec/abi/adapter.h
};

// In the order in which they open most cases.
constexpr Step kSteps[] = {
    {"core",
     "InternKey, MakeTensor, MakeUndefinedTensor, KeysOf and Identity, then Define, RegisterKernel, FindOperator "
     "and CallBoxed"},
    {"boxed", "CallBoxed, and boxed kernels in RegisterKernel"},
    {"fallbacks", "RegisterFallback"},
    {"redispatch", "Frame and Redispatch"},
    {"guards", "Guard and EnterGuard"},
};

}  // namespace

std::string NextClaim(const std::vector<std::string>& claimed) {
  for (const Step& step : kSteps) {
    if (std::find(claimed.begin(), claimed.end(), step.capability) != claimed.end()) continue;
    return fmt::format(
        "next: claim {}: give the adapter's class {}.\n"
        "      Each member is described in spec/abi/adapter.h; `plumbline list capabilities` shows all there is to "
        "claim.\n",
        step.capability, step.members);
  }
  return "";
}

}  // namespace plumbline::cli
