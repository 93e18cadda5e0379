// Thread-local include and exclude sets: guards nested, left in any order, unwound by errors, on several threads.
#include <string>
#include <vector>

#include "conformance/suites/properties_check.h"

namespace plumbline::suites {
namespace {

using harness::Tier;
using Operator = Writer::Operator;

constexpr std::uint64_t kGuards = kUsual | PL_CAPABILITY(GUARDS);

// Kernels wherever a guard may lead, so that a call tells the thread's sets.
Operator& Tell(Writer& w) {
  Operator& f = w.NewOperator("tensor");
  w.Define(f);
  for (const std::string& key : w.ground.runtime()) {
    if (!w.draw.OneIn(4)) w.Impl(f, key, w.NewKernel(f));
  }
  if (w.draw.Coin()) w.Impl(f, "CompositeImplicitAutograd", w.NewKernel(f));
  return f;
}

std::string Enter(Writer& w, const std::string& thread) {
  static const std::vector<std::string> kAlways = {"BackendSelect", "ADInplaceOrView", "AutocastCPU", "AutocastCUDA"};
  std::vector<std::string> keys = w.ground.AnyKeys(w.draw, 2);
  if (w.draw.OneIn(6)) keys = {w.draw.Of(kAlways)};
  if (w.draw.OneIn(12)) keys.clear();
  const std::string name = w.NewName("g");
  w.Add(scenario::GuardEnter{.include = w.draw.Coin(), .keys = keys, .name = name}, thread);
  return name;
}

void PlayGuards(Writer& w, const std::vector<std::string>& threads) {
  Operator& f = Tell(w);
  for (const char* key : {"BackendSelect", "AutocastCPU"}) {
    if (w.draw.OneIn(5)) w.Impl(f, key, w.NewKernel(f));
  }
  std::vector<std::pair<std::string, std::string>> entered;  // with the thread
  std::string thread = threads.front();
  w.Play({{[&] { entered.emplace_back(Enter(w, thread), thread); }, 4},
          {[&] {
             if (entered.empty()) return;
             const auto at = entered.begin() + w.draw.Below(static_cast<int>(entered.size()));
             thread = at->second;
             w.Add(scenario::GuardLeave{at->first}, thread);
             if (!w.draw.OneIn(12)) entered.erase(at);
           },
           3}},
         w.draw.Count(2, 10), [&] {
           if (w.draw.Coin()) w.CallWith(f, {}, thread);
           w.CallWith(f, w.draw.Of(w.probes), thread);
           thread = w.draw.Of(threads);
           if (threads.size() > 1) w.CallWith(f, w.draw.Of(w.probes), thread);
         });
  for (const auto& [guard, where] : w.draw.Shuffled(entered)) {
    w.Add(scenario::GuardLeave{guard}, where);
    w.CallWith(f, w.draw.Of(w.probes), where);
  }
}

PL_CASE("tls", "guards", Tier::kQuick,
        PL_CLAUSES("RES-006", "RES-007", "RES-008", "RES-009", "RES-010", "RES-011", "TLS-001", "TLS-002", "TLS-003",
                   "TLS-005"),
        kGuards) {
  CheckScenarios(ctx, [](Writer& w) { PlayGuards(w, {""}); });
}

PL_CASE("tls", "threads", Tier::kQuick, PL_CLAUSES("TLS-006", "TLS-007"), kGuards) {
  CheckScenarios(
      ctx,
      [](Writer& w) {
        PlayGuards(w, {"", "t1", "t2"});
      },
      100);
}

// Kernels that hold guards while they call, and end by returning or by throwing at any depth.
void Unwound(Writer& w) {
  Operator& f = w.NewOperator("tensor");
  w.Define(f);
  Operator& told = Tell(w);
  for (int i = w.draw.Count(1, 4); i > 0; --i) {
    std::vector<scenario::BodyItem> body;
    for (int j = w.draw.Between(1, 2); j > 0; --j) {
      body.emplace_back(scenario::BodyGuard{.include = w.draw.Coin(), .keys = w.ground.AnyKeys(w.draw, 2)});
    }
    scenario::BodyCall call;
    call.operator_name = told.name;
    call.arguments = w.ArgumentsWith(told, w.draw.Of(w.probes));
    call.caught = w.draw.Coin();
    body.emplace_back(std::move(call));
    if (w.draw.Coin()) body.emplace_back(scenario::BodyThrow{"under a guard"});
    w.Impl(f, w.ground.KernelKey(w.draw), w.NewKernel(f, std::move(body)));
  }
  for (int i = w.draw.Between(1, 3); i > 0; --i) {
    if (w.draw.OneIn(3)) Enter(w, "");
    w.CallWith(f, w.draw.Of(w.probes));
    w.Probe(told);
  }
}

PL_CASE("tls", "unwound", Tier::kQuick, PL_CLAUSES("TLS-001", "TLS-004", "TLS-008", "CALL-030"), kGuards) {
  CheckScenarios(ctx, Unwound);
}

}  // namespace
}  // namespace plumbline::suites
