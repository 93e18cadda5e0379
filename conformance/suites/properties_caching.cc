// That no stale answer is given, and that the counters say what the caching chapter defines.
#include <string>
#include <utility>
#include <vector>

#include "conformance/suites/properties_check.h"

namespace plumbline::suites {
namespace {

using harness::Tier;
using scenario::QueryKind;
using Operator = Writer::Operator;
using Moves = std::vector<std::pair<Writer::Move, int>>;

// Everything that can change an answer.
Moves Mutations(Writer& w) {
  const auto any_key = [&w] { return w.draw.Of(w.ground.runtime()); };
  return {{[&w] {
             const Operator& op = w.AnyOperator();
             w.Impl(op, w.ground.KernelKey(w.draw), w.NewKernel(op));
           },
           6},
          {[&w] {
             const Operator& op = w.AnyOperator();
             w.Impl(op, w.ground.KernelKey(w.draw), Writer::Fallthrough());
           },
           2},
          {[&w] {
             Operator& op = w.AnyOperator();
             if (op.definition.empty()) w.Define(op);
           },
           2},
          {[&w] { w.ReleaseAny(); }, 5},
          {[&w, any_key] { w.Fallback(any_key(), w.draw.OneIn(3) ? Writer::Fallthrough() : w.NewBoxedKernel()); },
           w.Claims(PL_CAPABILITY(FALLBACKS)) ? 2 : 0},
          {[&w, any_key] { w.Chain(any_key(), any_key()); }, w.Claims(PL_CAPABILITY(CHAINS)) ? 1 : 0},
          {[&w] { w.Add(scenario::Flush{}); }, w.Claims(PL_CAPABILITY(CACHE_FLUSH)) ? 1 : 0}};
}

// The same calls after every change: by name, and what has been asked before must not be remembered.
void Changes(Writer& w) {
  Operator& f = w.NewOperator("");
  w.Define(f);
  if (w.draw.OneIn(3)) w.Define(w.NewOperator("tensor"));
  w.Probe(f);
  w.Play(Mutations(w), w.draw.Count(1, 12), [&] {
    for (const Operator& op : w.operators) w.Probe(op);
  });
}

PL_CASE("caching", "changes", Tier::kQuick,
        PL_CLAUSES("CACHE-001", "CACHE-002", "CACHE-003", "CACHE-004", "CACHE-005", "CACHE-006", "CACHE-007",
                   "CACHE-008", "CACHE-010", "REG-021", "REG-022"),
        kUsual) {
  CheckScenarios(ctx, Changes, 300);
}

// The counters after every step or two, with questions between that must not count.
void Counters(Writer& w) {
  Operator& f = w.NewOperator("");
  w.Define(f);
  if (w.draw.OneIn(3)) w.Define(w.NewOperator("tensor"));
  Moves moves = Mutations(w);
  moves.push_back({[&] { w.CallWith(w.AnyOperator(), w.draw.Of(w.probes)); }, 6});
  moves.push_back({[&] { w.QueryTable(w.AnyOperator()); }, 1});
  moves.push_back({[&] { w.CallAny(w.AnyOperator()); }, 2});
  w.Play(moves, w.draw.Count(2, 14), [&] {
    if (w.draw.Coin()) w.Query(QueryKind::kCounters, w.AnyOperator().name);
  });
  for (const Operator& op : w.operators) w.Query(QueryKind::kCounters, op.name);
}

PL_CASE("caching", "counters", Tier::kQuick,
        PL_CLAUSES("CACHE-011", "CACHE-012", "CACHE-014", "CACHE-015", "CACHE-016", "CACHE-017"),
        kUsual | PL_CAPABILITY(CACHE_COUNTERS)) {
  CheckScenarios(ctx, Counters, 300);
}

// Redispatch reaches slots as calls do, and counts as they do.
void CountedRedispatch(Writer& w) {
  Operator& f = w.NewOperator("tensor");
  w.Define(f);
  for (const std::string& key : w.ground.runtime()) {
    if (w.draw.OneIn(3)) continue;
    std::vector<scenario::BodyItem> body;
    if (w.draw.Coin()) {
      body.emplace_back(scenario::BodyRedispatch{.below = key, .keys = std::nullopt});
    }
    w.Impl(f, key, w.NewKernel(f, std::move(body)));
  }
  w.Play({{[&] { w.CallWith(f, w.draw.Of(w.probes)); }, 4},
          {[&] { w.Impl(f, w.draw.Of(w.ground.runtime()), w.NewKernel(f)); }, 1},
          {[&] { w.ReleaseAnyOf(Writer::Handle::What::kKernel); }, 1}},
         w.draw.Count(2, 8), [&] {
           if (w.draw.Coin()) w.Query(QueryKind::kCounters, f.name);
         });
  w.Query(QueryKind::kCounters, f.name);
}

PL_CASE("caching", "counted-redispatch", Tier::kQuick,
        PL_CLAUSES("CACHE-009", "CACHE-011", "CACHE-012", "CACHE-013", "CACHE-014"),
        kUsual | PL_CAPABILITY(CACHE_COUNTERS) | PL_CAPABILITY(REDISPATCH)) {
  CheckScenarios(ctx, CountedRedispatch, 100);
}

}  // namespace
}  // namespace plumbline::suites
