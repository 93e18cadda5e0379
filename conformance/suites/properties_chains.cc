// Declared fallback chains, beside everything that ranks above them.
#include <string>
#include <vector>

#include "conformance/suites/properties_check.h"

namespace plumbline::suites {
namespace {

using harness::Tier;
using Operator = Writer::Operator;
using What = Writer::Handle::What;

constexpr std::uint64_t kChains = kUsual | PL_CAPABILITY(CHAINS);

// Links between a few keys, so that they join, close circles and are declared twice.
void PlayChains(Writer& w, bool table) {
  Operator& f = w.NewOperator("tensor");
  w.Define(f);
  std::vector<std::string> keys = w.draw.Some(w.ground.runtime(), 4);
  keys.push_back("PrivateUse2");
  std::vector<std::string> misplaced = w.ground.aliases;
  misplaced.push_back("Undefined");
  const auto any_key = [&] { return w.draw.OneIn(12) ? w.draw.Of(misplaced) : w.draw.Of(keys); };
  w.Play({{[&] { w.Chain(any_key(), any_key()); }, 5},
          {[&] {
             const Operator& op = w.AnyOperator();
             w.Impl(op, w.draw.OneIn(3) ? w.ground.KernelKey(w.draw) : w.draw.Of(keys),
                    w.draw.OneIn(6) ? Writer::Fallthrough() : w.NewKernel(op));
           },
           5},
          {[&] {
             if (w.operators.size() < 2) w.Define(w.NewOperator("tensor"));
           },
           1},
          {[&] { w.Fallback(w.draw.Of(keys), w.draw.Coin() ? Writer::Fallthrough() : w.NewBoxedKernel()); },
           w.Claims(PL_CAPABILITY(FALLBACKS)) ? 1 : 0},
          {[&] { w.ReleaseAnyOf(What::kChain); }, 2},
          {[&] { w.ReleaseAny(); }, 2}},
         w.draw.Count(2, 10), [&] {
           const Operator& op = w.AnyOperator();
           for (const std::string& key : w.draw.Some(keys, 3)) w.CallWith(op, {key});
           if (table && w.draw.OneIn(3)) w.QueryTable(op);
         });
  w.CallAny(f);
}

PL_CASE("chains", "links", Tier::kQuick,
        PL_CLAUSES("CHAIN-001", "CHAIN-002", "CHAIN-003", "CHAIN-004", "CHAIN-005", "CHAIN-006", "CHAIN-007",
                   "CHAIN-008", "CHAIN-009", "CHAIN-010", "CHAIN-011"),
        kChains) {
  CheckScenarios(
      ctx, [](Writer& w) { PlayChains(w, /*table=*/false); }, 300);
}

PL_CASE("chains", "table", Tier::kQuick, PL_CLAUSES("CHAIN-009", "CHAIN-012"), kChains | PL_CAPABILITY(INTROSPECTION)) {
  CheckScenarios(
      ctx, [](Writer& w) { PlayChains(w, /*table=*/true); }, 100);
}

}  // namespace
}  // namespace plumbline::suites
