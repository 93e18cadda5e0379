// Which kernel answers: priority of keys, fallthrough, aliases, fallbacks, and what a call's arguments bring.
#include <string>
#include <vector>

#include "conformance/suites/properties_check.h"

namespace plumbline::suites {
namespace {

using harness::Tier;
using Operator = Writer::Operator;

// Kernels at keys of their own, then calls with any sets: the highest key answers, or nobody.
void KeyPriority(Writer& w) {
  Operator& f = w.NewOperator(w.draw.OneIn(3) ? "tensor4" : "tensor_tensor");
  w.Define(f);
  for (int i = w.draw.Count(1, 8); i > 0; --i) w.Impl(f, w.draw.Of(w.ground.runtime()), w.NewKernel(f));
  for (int i = w.draw.Between(2, 6); i > 0; --i) {
    if (w.draw.OneIn(3)) {
      w.CallAny(f);
    } else {
      w.Call(f, AnyValuesOf(*f.entry, w.draw, [&w] { return w.ground.AnyKeys(w.draw, 3); }));
    }
  }
}

PL_CASE("keys", "priority", Tier::kQuick,
        PL_CLAUSES("KEY-002", "KEY-006", "KEY-007", "KEY-008", "KEY-009", "KEY-010", "RES-001", "RES-004", "RES-016",
                   "RES-017", "RES-018", "RES-024", "RES-030"),
        kUsual) {
  CheckScenarios(ctx, KeyPriority);
}

// Kernels at names of these sorts; calls with sets that hold Undefined and aliases.
void PlayNames(Writer& w, const std::vector<std::string>& names, const std::vector<std::string>& proper) {
  Operator& f = w.NewOperator("tensor");
  w.Define(f);
  const auto impl = [&](const std::vector<std::string>& from) { w.Impl(f, w.draw.Of(from), w.NewKernel(f)); };
  w.Play({{[&] { impl(names); }, 3},
          {[&] { impl(w.ground.runtime()); }, 2},
          {[&] { impl(proper); }, 2},
          {[&] { w.ReleaseAny(); }, 1}},
         w.draw.Count(1, 8), [&] {
           KeySetNames set = w.ground.AnyKeys(w.draw, 2);
           if (w.draw.Coin()) set.push_back(w.draw.Coin() ? "Undefined" : w.draw.Of(w.world.aliases()));
           w.CallWith(f, set);
           w.CallWith(f, w.draw.Coin() ? KeySetNames{"AutogradPrivateUse1"} : KeySetNames{});
         });
}

PL_CASE("keys", "names", Tier::kQuick, PL_CLAUSES("KEY-001", "KEY-003", "KEY-004", "KEY-011", "KEY-012", "ERR-006"),
        kUsual) {
  CheckScenarios(
      ctx,
      [](Writer& w) {
        PlayNames(w, {"Cpu", "Bogus", "cuda", "Dense", "Sparse", "AutogradFunctionality", "Quantized", "autograd", ""},
                  {"CPU", "CompositeImplicitAutograd", "AutogradPrivateUse1"});
      },
      100);
}

PL_CASE("keys", "synonyms", Tier::kQuick, PL_CLAUSES("KEY-005"), kUsual) {
  CheckScenarios(
      ctx,
      [](Writer& w) {
        PlayNames(w, {"CatchAll", "DefaultBackend", "PrivateUse1_PreAutograd", "Undefined"},
                  {"CompositeExplicitAutograd", "AutogradPrivateUse1", "CompositeImplicitAutograd"});
      },
      100);
}

// Fallthroughs come and go at the keys of several backends, calls bring one backend or several.
void Fallthroughs(Writer& w) {
  Operator& f = w.NewOperator("tensor_tensor");
  w.Define(f);
  for (const std::string& key : w.ground.dense) {
    if (!w.draw.OneIn(4)) w.Impl(f, key, w.NewKernel(f));
  }
  const std::vector<std::string> keys = w.ground.runtime();
  w.Play({{[&] { w.Impl(f, w.draw.Of(keys), Writer::Fallthrough()); }, 4},
          {[&] { w.Impl(f, w.draw.Of(keys), w.NewKernel(f)); }, 2},
          {[&] { w.Impl(f, w.draw.Of(w.ground.aliases), Writer::Fallthrough()); }, 1},
          {[&] { w.ReleaseAnyOf(Writer::Handle::What::kKernel); }, 3}},
         w.draw.Count(1, 9), [&] {
           w.Call(f, AnyValuesOf(*f.entry, w.draw, [&w] { return w.ground.AnyKeys(w.draw, 2); }));
           w.CallAny(f);
         });
}

PL_CASE("resolution", "fallthrough", Tier::kQuick,
        PL_CLAUSES("RES-012", "RES-013", "RES-014", "RES-017", "RES-022", "RES-023", "RES-025", "RES-041", "REG-066",
                   "REG-067", "REG-068", "CACHE-007"),
        kUsual) {
  CheckScenarios(ctx, Fallthroughs);
}

// The same under guards, where a backend may come from the thread.
void GuardedFallthroughs(Writer& w) {
  Operator& f = w.NewOperator("tensor_tensor");
  w.Define(f);
  const std::vector<std::string> keys = w.ground.runtime();
  for (int i = w.draw.Count(2, 6); i > 0; --i) {
    w.Impl(f, w.draw.Of(keys), w.draw.Coin() ? w.NewKernel(f) : Writer::Fallthrough());
  }
  for (int i = w.draw.Between(1, 3); i > 0; --i) {
    const std::string guard = w.NewName("g");
    w.Add(scenario::GuardEnter{.include = !w.draw.OneIn(4), .keys = w.ground.AnyKeys(w.draw, 2), .name = guard});
    w.CallAny(f);
    w.Probe(f);
    if (w.draw.Coin()) w.Add(scenario::GuardLeave{guard});
  }
}

PL_CASE("resolution", "fallthrough-under-guards", Tier::kQuick,
        PL_CLAUSES("RES-006", "RES-007", "RES-008", "RES-011", "RES-012", "RES-015"), kUsual | PL_CAPABILITY(GUARDS)) {
  CheckScenarios(ctx, GuardedFallthroughs);
}

// Kernels at aliases beside kernels at backends and autograd keys; every slot is asked after every change.
void Aliases(Writer& w) {
  Operator& f = w.NewOperator("");
  w.Define(f);
  w.Play({{[&] { w.Impl(f, w.ground.KernelKey(w.draw), w.NewKernel(f)); }, 5},
          {[&] { w.Impl(f, w.draw.Of(w.ground.aliases), w.NewKernel(f)); }, 3},
          {[&] { w.Impl(f, std::nullopt, w.NewKernel(f)); }, 1},
          {[&] { w.Impl(f, w.ground.KernelKey(w.draw), Writer::Fallthrough()); }, 1},
          {[&] { w.ReleaseAnyOf(Writer::Handle::What::kKernel); }, 3}},
         w.draw.Count(1, 10), [&] { w.Probe(f); });
  for (const std::string& key : w.ground.autograd) w.CallWith(f, {key});
}

PL_CASE("resolution", "aliases", Tier::kQuick,
        PL_CLAUSES("KEY-013", "KEY-014", "KEY-015", "KEY-016", "KEY-017", "RES-031", "RES-032", "RES-033", "RES-034",
                   "RES-035", "RES-036", "RES-037", "RES-038", "RES-039", "RES-040", "RES-047", "RES-048", "RES-049",
                   "RES-053", "RES-055", "RES-056", "REG-024", "REG-028"),
        kUsual) {
  CheckScenarios(ctx, Aliases);
}

// Two composites, and one more kernel, at every slot that one component, its relatives and AutogradOther have.
void EveryMember(Writer& w) {
  Operator& f = w.NewOperator("tensor");
  w.Define(f);
  const int composites = w.draw.Between(1, 2);
  for (int i = 0; i < composites; ++i) w.Impl(f, w.draw.Of(w.world.aliases()), w.NewKernel(f));
  if (w.draw.Coin()) w.Impl(f, w.ground.KernelKey(w.draw), w.NewKernel(f));
  const std::string component = w.draw.Of(w.world.components());
  std::vector<std::string> keys = {component, "Autograd" + component};
  for (const std::string& functionality : w.world.backend_functionalities()) {
    keys.push_back(w.world.BackendKey(functionality, component));
  }
  keys.insert(keys.end(), w.world.plain_backends().begin(), w.world.plain_backends().end());
  keys.insert(keys.end(), {"AutogradOther", "AutogradNestedTensor"});
  for (const std::string& key : w.draw.Some(keys, w.draw.Between(3, 9))) w.CallWith(f, {key});
}

PL_CASE("keys", "alias-members", Tier::kQuick,
        PL_CLAUSES("KEY-013", "KEY-014", "KEY-015", "KEY-016", "KEY-017", "RES-031", "RES-032", "RES-033", "RES-034",
                   "RES-035"),
        kUsual) {
  CheckScenarios(ctx, EveryMember);
}

// Backends that share AutogradOther beside the composites: who is ambiguous, who is not any more.
void SharedAutograd(Writer& w) {
  Operator& f = w.NewOperator("tensor");
  w.Define(f);
  std::vector<std::string> others = w.draw.Some(w.world.plain_backends(), 2);
  for (const std::string& functionality : w.world.backend_functionalities()) {
    others.push_back(w.world.BackendKey(functionality, w.draw.Of(w.ground.components)));
  }
  if (w.world.Has("HIP")) others.push_back("HIP");
  others = w.draw.Some(others, 3);
  w.Play({{[&] { w.Impl(f, w.draw.Of(others), w.draw.OneIn(4) ? Writer::Fallthrough() : w.NewKernel(f)); }, 4},
          {[&] { w.Impl(f, "CompositeImplicitAutograd", w.NewKernel(f)); }, 3},
          {[&] { w.Impl(f, "CompositeExplicitAutograd", w.NewKernel(f)); }, 1},
          {[&] { w.Impl(f, "Autograd", w.NewKernel(f)); }, 1},
          {[&] { w.Impl(f, w.draw.Coin() ? "AutogradOther" : "AutogradNestedTensor", w.NewKernel(f)); }, 1},
          {[&] { w.ReleaseAnyOf(Writer::Handle::What::kKernel); }, 3}},
         w.draw.Count(1, 8), [&] {
           w.CallWith(f, {"AutogradOther"});
           w.CallWith(f, {"AutogradNestedTensor"});
           const std::string backend = w.draw.Of(others);
           w.CallWith(f, {backend, w.world.AutogradOf(backend)});
         });
}

PL_CASE("resolution", "autograd-other", Tier::kQuick,
        PL_CLAUSES("RES-038", "RES-041", "RES-042", "RES-043", "RES-044", "RES-045", "RES-046", "RES-055", "REG-018",
                   "REG-019", "REG-020", "CACHE-004", "CACHE-005", "ERR-003"),
        kUsual) {
  CheckScenarios(ctx, SharedAutograd);
}

// Calls that bring no key, or whose only key falls through.
void NoKey(Writer& w) {
  static const std::vector<std::string> kEntries = {"tensor", "int_to_int", "tensor_optional", "tensor_list"};
  Operator& f = w.NewOperator(w.draw.Of(kEntries));
  w.Define(f);
  w.Play({{[&] { w.Impl(f, w.draw.Of(w.world.aliases()), w.NewKernel(f)); }, 4},
          {[&] { w.Impl(f, w.draw.Of(w.ground.runtime()), w.NewKernel(f)); }, 1},
          {[&] { w.Impl(f, w.draw.Of(w.world.aliases()), Writer::Fallthrough()); }, 1},
          {[&] { w.Impl(f, w.draw.Of(w.ground.dense), Writer::Fallthrough()); }, 1},
          {[&] { w.ReleaseAnyOf(Writer::Handle::What::kKernel); }, 2}},
         w.draw.Count(1, 7), [&] {
           w.CallWith(f, {});
           w.CallWith(f, {w.draw.Of(w.ground.dense)});
           if (w.draw.OneIn(3)) w.CallWith(f, {"AutocastCPU"});
         });
}

PL_CASE("resolution", "no-key", Tier::kQuick,
        PL_CLAUSES("RES-003", "RES-009", "RES-010", "RES-019", "RES-020", "RES-021", "RES-022", "RES-023", "REG-022",
                   "ERR-001"),
        kUsual) {
  CheckScenarios(ctx, NoKey, 100);
}

// What each kind of argument brings to the set.
void ArgumentSets(Writer& w) {
  static const std::vector<std::string> kEntries = {"tensor_tensor",        "tensor_optional",  "tensor_list",
                                                    "tensor_optional_list", "tensor8",          "tensor_scalar",
                                                    "tensor_lists",         "tensor_optionals", "inplace"};
  Operator& f = w.NewOperator(w.draw.Of(kEntries));
  w.Define(f);
  for (const std::string& key : w.draw.Some(w.ground.runtime(), w.draw.Count(1, 6))) w.Impl(f, key, w.NewKernel(f));
  if (w.draw.OneIn(4)) w.Impl(f, "ADInplaceOrView", w.NewKernel(f));
  if (w.draw.OneIn(4)) w.Impl(f, "AutogradOther", w.NewKernel(f));
  if (w.draw.OneIn(4)) w.Impl(f, "CompositeImplicitAutograd", w.NewKernel(f));
  for (int i = w.draw.Between(2, 6); i > 0; --i) w.CallAny(f);
}

PL_CASE("resolution", "arguments", Tier::kQuick,
        PL_CLAUSES("RES-001", "RES-002", "RES-003", "RES-005", "RES-009", "RES-024", "CALL-003", "CALL-004",
                   "CALL-005"),
        kUsual) {
  CheckScenarios(ctx, ArgumentSets);
}

// Fallbacks for keys, before and after the operators that they serve.
void Fallbacks(Writer& w) {
  Operator& f = w.NewOperator("");
  w.Define(f);
  const std::vector<std::string> keys = w.ground.runtime();
  w.Play({{[&] { w.Fallback(w.draw.Of(keys), w.draw.OneIn(3) ? Writer::Fallthrough() : w.NewBoxedKernel()); }, 4},
          {[&] { w.Impl(f, w.ground.KernelKey(w.draw), w.NewKernel(f)); }, 2},
          {[&] {
             if (w.operators.size() < 3) w.Define(w.NewOperator(""));
           },
           1},
          {[&] { w.ReleaseAnyOf(Writer::Handle::What::kFallback); }, 2},
          {[&] { w.ReleaseAny(); }, 1}},
         w.draw.Count(1, 9), [&] {
           const Operator& op = w.AnyOperator();
           w.Probe(op);
           w.CallAny(op);
         });
}

PL_CASE("resolution", "fallback", Tier::kQuick,
        PL_CLAUSES("RES-050", "RES-051", "RES-052", "REG-060", "REG-061", "REG-062", "REG-064", "REG-065", "CACHE-006",
                   "CALL-035"),
        kUsual | PL_CAPABILITY(FALLBACKS)) {
  CheckScenarios(ctx, Fallbacks);
}

// Where a fallback may not be made.
void MisplacedFallbacks(Writer& w) {
  Operator& f = w.NewOperator("tensor");
  w.Define(f);
  for (const std::string& key : w.ground.dense) w.Impl(f, key, w.NewKernel(f));
  std::vector<std::string> keys = w.world.aliases();
  keys.push_back("Undefined");
  w.Play({{[&] { w.Fallback(w.draw.Of(keys), w.NewBoxedKernel()); }, 3},
          {[&] { w.Fallback(std::nullopt, w.NewBoxedKernel()); }, 1},
          {[&] { w.Fallback(w.draw.Of(w.ground.runtime()), w.NewBoxedKernel()); }, 1},
          {[&] { w.ReleaseAnyOf(Writer::Handle::What::kFallback); }, 1}},
         w.draw.Count(1, 4), [&] {
           w.CallWith(f, {});
           w.Probe(f);
         });
}

PL_CASE("registration", "misplaced-fallback", Tier::kQuick, PL_CLAUSES("REG-061", "REG-062", "REG-063"),
        kUsual | PL_CAPABILITY(FALLBACKS)) {
  CheckScenarios(ctx, MisplacedFallbacks, 50);
}

}  // namespace
}  // namespace plumbline::suites
