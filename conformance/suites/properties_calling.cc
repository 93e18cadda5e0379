// What a kernel sees and what a caller gets: values, results, redispatch, calls inside calls, errors.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "conformance/suites/properties_check.h"

namespace plumbline::suites {
namespace {

using harness::Tier;
using scenario::BodyItem;
using scenario::BodyReturn;
using scenario::BodyStep;
using scenario::CallForm;
using scenario::KernelUse;
using scenario::Value;
using Operator = Writer::Operator;

KernelUse Form(KernelUse use, const Operator& op, bool typed) {
  use.signature = typed ? op.entry->name : "";
  return use;
}

// What a kernel of these types gives back: values, its own arguments where the types allow it.
BodyReturn AnyReturn(Writer& w, const CatalogueEntry& entry) {
  BodyReturn result;
  for (const std::string& type : entry.returns) {
    std::vector<int> same;
    for (std::size_t i = 0; i < entry.arguments.size(); ++i) {
      if (entry.arguments[i] == type) same.push_back(static_cast<int>(i));
    }
    if (entry.in_place()) {
      result.values.emplace_back(BodyReturn::Argument{0});
    } else if (!same.empty() && w.draw.Coin()) {
      result.values.emplace_back(BodyReturn::Argument{w.draw.Of(same)});
    } else {
      result.values.emplace_back(AnyValueOf(type, w.draw, [&w] { return w.ground.AnyKeys(w.draw, 2); }));
    }
  }
  return result;
}

// ---- boxed and typed ----

// One signature, a kernel of each form, the same call in each form; then a kernel that hands it on in each form.
void BoxedAndTyped(Writer& w) {
  const CatalogueEntry& entry = w.draw.Of(Catalogue());
  const bool named = w.draw.OneIn(8);
  Operator& f = w.NewOperator(entry.name);
  if (named) f.name += ".over";
  w.Define(f);
  // Integers have no keys, and so no kernel but the composite one.
  const bool tensors = entry.name != "int_to_int";
  const bool redispatches = w.Claims(PL_CAPABILITY(REDISPATCH)) && tensors;
  for (const bool typed : {false, true}) {
    std::vector<BodyItem> body;
    if (!w.draw.OneIn(4)) body.emplace_back(AnyReturn(w, entry));
    w.Impl(f, tensors ? "CPU" : "CompositeImplicitAutograd", Form(w.NewBoxedKernel(std::move(body)), f, typed));
    if (redispatches && w.draw.Coin()) {
      std::vector<BodyItem> above;
      above.emplace_back(scenario::BodyRedispatch{
          .below = "AutogradCPU", .keys = std::nullopt, .form = w.draw.Coin() ? CallForm::kTyped : CallForm::kBoxed});
      BodyReturn inner;
      inner.values.emplace_back(BodyReturn::Inner{});
      above.emplace_back(std::move(inner));
      w.Impl(f, "AutogradCPU", Form(w.NewBoxedKernel(std::move(above)), f, w.draw.Coin()));
    }
    for (int i = w.draw.Between(1, 3); i > 0; --i) {
      std::vector<Value> arguments = AnyValuesOf(entry, w.draw, [&w] {
        return w.draw.OneIn(3) ? KeySetNames{"CPU"} : KeySetNames{"CPU", "AutogradCPU"};
      });
      for (const CallForm form : {CallForm::kBoxed, CallForm::kTyped}) {
        w.Add(scenario::Call{.form = form,
                             .signature = form == CallForm::kTyped ? entry.name : "",
                             .operator_name = f.name,
                             .handle = "",
                             .arguments = arguments});
      }
    }
  }
}

PL_CASE("calling", "boxed-and-typed", Tier::kQuick,
        PL_CLAUSES("CALL-001", "CALL-002", "CALL-003", "CALL-004", "CALL-005", "CALL-006", "CALL-007", "CALL-008",
                   "CALL-009", "CALL-010", "CALL-011", "CALL-012", "CALL-013", "CALL-024"),
        kUsual | PL_CAPABILITY(TYPED)) {
  CheckScenarios(ctx, BoxedAndTyped, 300);
}

// All kinds of values through boxed kernels alone, so that a backend without typed ones is checked too.
void BoxedValues(Writer& w) {
  const CatalogueEntry& entry = w.draw.Of(Catalogue());
  Operator& f = w.NewOperator(entry.name);
  w.Define(f);
  w.Impl(f, "CompositeImplicitAutograd", w.NewBoxedKernel({AnyReturn(w, entry)}));
  for (int i = w.draw.Between(1, 4); i > 0; --i) {
    w.Add(scenario::Call{
        .signature = "", .operator_name = f.name, .handle = "", .arguments = AnyValuesOf(entry, w.draw, [&w] {
                                                                  return KeySetNames{w.draw.Of(w.ground.dense)};
                                                                })});
  }
}

PL_CASE("calling", "values", Tier::kQuick,
        PL_CLAUSES("CALL-001", "CALL-002", "CALL-003", "CALL-004", "CALL-005", "CALL-006", "CALL-007", "CALL-011"),
        kUsual) {
  CheckScenarios(ctx, BoxedValues);
}

// Arguments too many, too few, or of another kind than the schema's.
void Misfits(Writer& w) {
  const CatalogueEntry& entry = w.draw.Of(Catalogue());
  Operator& f = w.NewOperator(entry.name);
  w.Define(f);
  if (!w.draw.OneIn(4)) w.Impl(f, "CompositeImplicitAutograd", w.NewBoxedKernel());
  for (int i = w.draw.Between(1, 4); i > 0; --i) {
    const TensorKeys keys = [&w] { return KeySetNames{w.draw.Of(w.ground.dense)}; };
    std::vector<Value> arguments = AnyValuesOf(entry, w.draw, keys);
    switch (w.draw.Below(4)) {
      case 0:
        arguments.pop_back();
        break;
      case 1:
        arguments.push_back(AnyValueOf("int", w.draw, keys));
        break;
      default: {
        static const std::vector<std::string> kTypes = {"int", "float", "bool", "str", "Tensor", "int[]", "Tensor?"};
        const int at = w.draw.Below(static_cast<int>(arguments.size()));
        arguments[static_cast<std::size_t>(at)] = AnyValueOf(w.draw.Of(kTypes), w.draw, keys);
      }
    }
    w.Add(scenario::Call{.signature = "", .operator_name = f.name, .handle = "", .arguments = std::move(arguments)});
  }
}

PL_CASE("calling", "misfits", Tier::kQuick, PL_CLAUSES("CALL-014", "CALL-015", "CALL-016", "CALL-017", "ERR-009"),
        kUsual) {
  CheckScenarios(ctx, Misfits);
}

// Where a dispatcher that lets any signature through would read results that are not there, or hand a SymInt to a
// kernel that has none. Its answer is undefined, so these pairs are left to CALL-018-every-shape and
// CALL-018-typed-kernel.
bool UndefinedIfUnchecked(const CatalogueEntry& schema, const CatalogueEntry& called) {
  const auto symbolic = [](const CatalogueEntry& entry) { return entry.name == "tensor_symint"; };
  if (symbolic(schema) != symbolic(called)) return schema.name != "tensor_int" && called.name != "tensor_int";
  const std::size_t more =
      std::max(schema.arguments.size(), called.arguments.size()) - schema.arguments.size();  // that stay on the stack
  return !called.in_place() && called.returns.size() > schema.returns.size() + more;
}

// Typed calls through any signature of an operator with kernels of any form.
void TypedMisfits(Writer& w) {
  // Pairs that fit one schema and differ, and others that are near.
  static const std::vector<std::string> kNear = {"tensor_tensor", "inplace",       "tensor_tensor",  "inplace",
                                                 "tensor_int",    "tensor_symint", "tensor_int_two", "tensor_nothing"};
  Operator& f = w.NewOperator(w.draw.Of(kNear));
  w.Define(f);
  w.Play({{[&] {
             KernelUse use = w.NewBoxedKernel();
             use.signature = w.draw.Coin() ? f.entry->name : w.draw.Of(kNear);
             w.Impl(f, "CPU", std::move(use));
           },
           3},
          {[&] { w.Impl(f, "CPU", w.NewBoxedKernel()); }, 1},
          {[&] { w.ReleaseAnyOf(Writer::Handle::What::kKernel); }, 2}},
         w.draw.Count(2, 8), [&] {
           const CatalogueEntry& other = CatalogueEntryOf(w.draw.Of(kNear));
           const CatalogueEntry& entry = w.draw.Coin() || UndefinedIfUnchecked(*f.entry, other) ? *f.entry : other;
           w.Add(scenario::Call{.form = CallForm::kTyped,
                                .signature = entry.name,
                                .operator_name = f.name,
                                .handle = "",
                                .arguments = AnyValuesOf(entry, w.draw, [] { return KeySetNames{"CPU"}; })});
         });
}

PL_CASE("calling", "typed-misfits", Tier::kQuick, PL_CLAUSES("CALL-018", "CALL-019", "REG-042", "REG-043"),
        kUsual | PL_CAPABILITY(TYPED) | PL_CAPABILITY(SIGNATURE_CHECK)) {
  CheckScenarios(ctx, TypedMisfits, 100);
}

// ---- redispatch ----

// A kernel at `key` that hands its call on below that key, or to a set of keys that are all below it.
std::vector<BodyItem> HandOn(Writer& w, const std::string& key, const std::vector<std::string>& lower) {
  std::vector<BodyItem> body;
  if (w.Claims(PL_CAPABILITY(GUARDS)) && w.draw.OneIn(5)) {
    body.emplace_back(scenario::BodyGuard{.include = w.draw.Coin(), .keys = w.ground.AnyKeys(w.draw, 1)});
  }
  scenario::BodyRedispatch redispatch;
  if (lower.empty() || w.draw.Below(4) > 0) {
    redispatch.below = key;
  } else {
    redispatch.keys = w.draw.Some(lower, w.draw.Below(3));
  }
  if (w.Claims(PL_CAPABILITY(TYPED)) && w.draw.OneIn(4)) redispatch.form = CallForm::kTyped;
  body.emplace_back(redispatch);
  if (w.draw.OneIn(10)) body.emplace_back(scenario::BodyThrow{"after the redispatch"});
  if (!w.draw.OneIn(4)) {
    BodyReturn inner;
    inner.values.emplace_back(BodyReturn::Inner{});
    body.emplace_back(std::move(inner));
  }
  return body;
}

// Kernels up the order that hand on downwards, over fallthroughs and gaps, to a kernel that returns or throws.
void RedispatchChains(Writer& w) {
  static const std::vector<std::string> kEntries = {"tensor",         "tensor",  "tensor_tensor", "tensor_tensor_int",
                                                    "tensor_int_two", "inplace", "tensor_nothing"};
  Operator& f = w.NewOperator(w.draw.Of(kEntries));
  w.Define(f);
  // A redispatch to keys that are not below would never end; which keys are below is told by the table.
  const auto lower_than = [&w](const std::string& key) {
    std::vector<std::string> lower;
    const model::KeyTable& keys = w.world.keys();
    const auto functionality = [&](const std::string& name) {
      const auto bits = keys.SetOf(*keys.Find(name)).functionalities;
      for (std::size_t i = bits.size(); i-- > 0;) {
        if (bits[i]) return static_cast<int>(i);
      }
      return -1;
    };
    for (const std::string& other : w.ground.runtime()) {
      if (functionality(other) < functionality(key)) lower.push_back(other);
    }
    return lower;
  };
  for (const std::string& key : w.ground.runtime()) {
    if (w.draw.OneIn(3)) continue;
    if (w.draw.OneIn(6)) {
      w.Impl(f, key, Writer::Fallthrough());
      continue;
    }
    std::vector<BodyItem> body;
    if (w.draw.Below(3) > 0) {
      body = HandOn(w, key, lower_than(key));
    } else if (w.draw.OneIn(4)) {
      body.emplace_back(scenario::BodyThrow{"no more"});
    } else if (w.draw.Coin()) {
      body.emplace_back(AnyReturn(w, *f.entry));
    }
    w.Impl(f, key, w.NewKernel(f, std::move(body)));
  }
  if (w.draw.OneIn(4)) w.Impl(f, "CompositeImplicitAutograd", w.NewKernel(f));
  if (w.draw.OneIn(4) && w.Claims(PL_CAPABILITY(FALLBACKS))) {
    const std::string key = w.draw.Of(w.ground.runtime());
    w.Fallback(key, w.NewBoxedKernel(HandOn(w, key, {})));
  }
  for (int i = w.draw.Between(2, 5); i > 0; --i) {
    w.Call(f, AnyValuesOf(*f.entry, w.draw, [&w] { return w.ground.AnyKeys(w.draw, 4); }));
  }
  if (!w.probes.empty()) w.Probe(f);
}

PL_CASE("calling", "redispatch", Tier::kQuick,
        PL_CLAUSES("RES-017", "CALL-020", "CALL-021", "CALL-022", "CALL-023", "CALL-024", "CALL-025", "CALL-029",
                   "CALL-035", "CACHE-009", "ERR-002"),
        kUsual | PL_CAPABILITY(REDISPATCH)) {
  CheckScenarios(ctx, RedispatchChains, 300);
}

// ---- calls inside calls ----

// Kernels of f call g, which calls h; some throw, some catch, some hold guards. None calls back, so all end.
void NestedCalls(Writer& w) {
  Operator& f = w.NewOperator("tensor");
  Operator& g = w.NewOperator("tensor");
  Operator& h = w.NewOperator(w.draw.Coin() ? "tensor" : "tensor_int");
  for (Operator* op : {&f, &g, &h}) w.Define(*op);
  const auto body_for = [&w](const std::vector<Operator*>& callees) {
    std::vector<BodyItem> body;
    for (int i = w.draw.Between(0, 2); i > 0 && !callees.empty(); --i) {
      if (w.Claims(PL_CAPABILITY(GUARDS)) && w.draw.OneIn(4)) {
        body.emplace_back(scenario::BodyGuard{.include = w.draw.Coin(), .keys = w.ground.AnyKeys(w.draw, 1)});
      }
      const Operator& callee = *w.draw.Of(callees);
      scenario::BodyCall call;
      call.operator_name = w.draw.OneIn(10) ? "demo::nobody" : callee.name;
      if (callee.entry->name != "tensor" || w.draw.OneIn(3))
        call.arguments = w.ArgumentsWith(callee, w.draw.Of(w.probes));
      if (w.Claims(PL_CAPABILITY(TYPED)) && w.draw.OneIn(4)) {
        call.form = CallForm::kTyped;
        call.signature = callee.entry->name;
      }
      call.caught = w.draw.OneIn(3);
      body.emplace_back(std::move(call));
    }
    const int end = w.draw.Below(6);
    if (end == 0) body.emplace_back(scenario::BodyThrow{"out of kernels"});
    if (end == 1 && !body.empty()) {
      BodyReturn inner;
      inner.values.emplace_back(BodyReturn::Argument{0});
      body.emplace_back(std::move(inner));
    }
    return body;
  };
  for (int i = w.draw.Count(1, 4); i > 0; --i)
    w.Impl(f, w.ground.KernelKey(w.draw), w.NewKernel(f, body_for({&g, &h})));
  for (int i = w.draw.Count(1, 4); i > 0; --i) w.Impl(g, w.ground.KernelKey(w.draw), w.NewKernel(g, body_for({&h})));
  for (int i = w.draw.Count(1, 3); i > 0; --i) w.Impl(h, w.ground.KernelKey(w.draw), w.NewKernel(h, body_for({})));
  w.Impl(f, "CompositeImplicitAutograd", w.NewKernel(f, body_for({&g, &h})));
  for (int i = w.draw.Between(1, 3); i > 0; --i) w.Probe(w.AnyOperator());
  w.CallAny(f);
}

PL_CASE("calling", "nested", Tier::kQuick,
        PL_CLAUSES("CALL-026", "CALL-027", "CALL-028", "CALL-029", "CALL-030", "CALL-031", "TLS-004", "TLS-008",
                   "ERR-008"),
        kUsual) {
  CheckScenarios(ctx, NestedCalls, 300);
}

// Kernels that register kernels while they run; what they register serves the calls that follow.
void RegisteringKernels(Writer& w) {
  Operator& f = w.NewOperator("tensor");
  w.Define(f);
  const auto registering = [&w, &f] {
    std::vector<BodyItem> body;
    for (int i = w.draw.Between(1, 2); i > 0; --i) {
      scenario::Step step;
      step.action = scenario::Impl{.operator_name = f.name,
                                   .key = w.ground.KernelKey(w.draw),
                                   .kernel = {.fallthrough = false, .kernel = w.NewName("k"), .signature = ""},
                                   .library = "",
                                   .name = w.draw.OneIn(3) ? w.NewName("r") : ""};
      body.emplace_back(BodyStep{{std::move(step)}});
    }
    if (w.draw.OneIn(4)) body.emplace_back(scenario::BodyThrow{"registered, then failed"});
    return body;
  };
  for (int i = w.draw.Count(1, 4); i > 0; --i) {
    w.Impl(f, w.ground.KernelKey(w.draw), w.draw.Coin() ? w.NewKernel(f, registering()) : w.NewKernel(f));
  }
  for (int i = w.draw.Between(1, 3); i > 0; --i) {
    w.Probe(f);
    if (w.draw.Coin()) w.ReleaseAnyOf(Writer::Handle::What::kKernel);
  }
}

PL_CASE("calling", "registering-kernels", Tier::kQuick, PL_CLAUSES("REG-032", "CALL-032", "CACHE-001"), kUsual) {
  CheckScenarios(ctx, RegisteringKernels, 100);
}

// Kernels that release others, or themselves, while they run.
void ReleasingKernels(Writer& w) {
  Operator& f = w.NewOperator("tensor");
  w.Define(f);
  std::vector<std::string> kernels;
  for (int i = w.draw.Count(1, 5); i > 0; --i) {
    const std::string key = w.draw.Of(w.ground.runtime());
    std::vector<BodyItem> body;
    if (w.draw.Coin()) {
      // The name that this registration will be given, or that of an earlier one.
      std::vector<std::string> victims;
      for (const Writer::Handle& handle : w.live) {
        if (handle.what == Writer::Handle::What::kKernel) victims.push_back(handle.name);
      }
      const std::string self = w.NameAfter(1, "r");
      scenario::Step step;
      step.action = scenario::Release{victims.empty() || w.draw.Coin() ? self : w.draw.Of(victims)};
      body.emplace_back(BodyStep{{std::move(step)}});
      if (w.Claims(PL_CAPABILITY(REDISPATCH)) && w.draw.Coin()) {
        body.emplace_back(scenario::BodyRedispatch{.below = key, .keys = std::nullopt});
      }
    }
    KernelUse use = w.NewKernel(f, std::move(body));
    kernels.push_back(use.kernel);
    w.Impl(f, key, std::move(use));
  }
  for (int i = w.draw.Between(1, 3); i > 0; --i) {
    w.Probe(f);
    w.Query(scenario::QueryKind::kDestroyed, w.draw.Of(kernels));
  }
}

PL_CASE("calling", "releasing-kernels", Tier::kStandard, PL_CLAUSES("REG-030", "REG-031", "CALL-033", "CALL-034"),
        kUsual) {
  CheckScenarios(ctx, ReleasingKernels, 100);
}

}  // namespace
}  // namespace plumbline::suites
