// That what a backend says of itself is what its calls do.
#include <string>
#include <vector>

#include "conformance/suites/properties_check.h"

namespace plumbline::suites {
namespace {

using harness::Tier;
using scenario::QueryKind;
using Operator = Writer::Operator;

constexpr std::uint64_t kIntrospection = kUsual | PL_CAPABILITY(INTROSPECTION);

void AnyChange(Writer& w) {
  const int what = w.draw.Below(8);
  Operator& op = w.AnyOperator();
  if (what < 4) {
    w.Impl(op, w.ground.KernelKey(w.draw), w.draw.OneIn(5) ? Writer::Fallthrough() : w.NewKernel(op));
  } else if (what == 4 && w.Claims(PL_CAPABILITY(FALLBACKS))) {
    w.Fallback(w.draw.Of(w.ground.runtime()), w.draw.OneIn(3) ? Writer::Fallthrough() : w.NewBoxedKernel());
  } else if (what == 5 && op.definition.empty()) {
    w.Define(op);
  } else {
    w.ReleaseAny();
  }
}

// The table, the computed question and calls, side by side after every change.
void TableAndCalls(Writer& w) {
  Operator& f = w.NewOperator("tensor");
  w.Define(f);
  w.Play({{[&] { AnyChange(w); }, 1}}, w.draw.Count(1, 8), [&] {
    switch (w.draw.Below(3)) {
      case 0:
        w.QueryTable(f);
        break;
      case 1:
        for (const std::string& key : w.draw.Some(w.ground.runtime(), 3)) {
          w.Query(QueryKind::kHasComputed, f.name, key);
          w.Query(QueryKind::kHasKernel, f.name, key);
        }
        break;
      default:
        break;
    }
    w.Probe(f);
  });
  w.QueryTable(f);
}

PL_CASE("introspection", "table-and-calls", Tier::kQuick,
        PL_CLAUSES("INTRO-001", "INTRO-003", "INTRO-004", "INTRO-007", "INTRO-008", "INTRO-009", "INTRO-015"),
        kIntrospection) {
  CheckScenarios(ctx, TableAndCalls);
}

// All other questions, of operators that are there, are dangling, or are not known.
void Questions(Writer& w) {
  w.Define(w.NewOperator("tensor"));
  w.NewOperator("tensor_tensor");
  w.NewOperator("tensor_int");
  std::vector<std::string> keys = w.ground.runtime();
  keys.insert(keys.end(), w.ground.aliases.begin(), w.ground.aliases.end());
  keys.push_back("Undefined");
  const auto ask = [&] {
    static const std::vector<QueryKind> kKinds = {
        QueryKind::kHasKernel, QueryKind::kHasComputed,    QueryKind::kHasFallback, QueryKind::kOperators,
        QueryKind::kDangling,  QueryKind::kOperatorsAtKey, QueryKind::kSchema,      QueryKind::kTable};
    const QueryKind kind = w.draw.Of(kKinds);
    const bool keyed = kind == QueryKind::kHasKernel || kind == QueryKind::kHasComputed ||
                       kind == QueryKind::kHasFallback || kind == QueryKind::kOperatorsAtKey;
    const bool named = kind == QueryKind::kHasKernel || kind == QueryKind::kHasComputed || kind == QueryKind::kSchema ||
                       kind == QueryKind::kTable;
    w.Query(kind, named ? (w.draw.OneIn(8) ? "demo::nobody" : w.AnyOperator().name) : "",
            !keyed ? std::nullopt
            : kind == QueryKind::kHasKernel || kind == QueryKind::kOperatorsAtKey
                ? std::optional(w.draw.Of(keys))
                : std::optional(w.draw.Of(w.ground.runtime())));
  };
  // Of an operator that is surely there: which of two mistakes is told first is nobody's business.
  if (w.draw.Coin()) w.Query(QueryKind::kHasComputed, w.operators.front().name, w.draw.Of(w.world.aliases()));
  w.Play({{[&] { AnyChange(w); }, 1}}, w.draw.Count(1, 10), [&] {
    ask();
    ask();
  });
}

PL_CASE("introspection", "questions", Tier::kQuick,
        PL_CLAUSES("INTRO-001", "INTRO-002", "INTRO-003", "INTRO-004", "INTRO-005", "INTRO-006", "INTRO-010",
                   "INTRO-011", "INTRO-012", "INTRO-013", "INTRO-014", "INTRO-015", "REG-009"),
        kIntrospection) {
  CheckScenarios(ctx, Questions);
}

}  // namespace
}  // namespace plumbline::suites
