// Keys that a scenario declares on top of the release's: their place in the order, their autograd key, their aliases.
#include <memory>
#include <string>
#include <vector>

#include "conformance/suites/generate_shrink.h"
#include "conformance/suites/properties_check.h"

namespace plumbline::suites {
namespace {

using harness::Tier;
using scenario::KeyDeclaration;
using Operator = Writer::Operator;

// One to three declarations, anywhere in the order.
std::vector<KeyDeclaration> Declarations(const World& world, Draw& draw) {
  const std::vector<std::string>& functionalities = world.keys().functionalities();
  std::vector<KeyDeclaration> declared;
  for (const char* name : {"Tally", "Slate", "Audit"}) {
    if (!declared.empty() && draw.OneIn(3)) continue;
    switch (draw.Below(3)) {
      case 0:
        declared.push_back({.kind = KeyDeclaration::Kind::kComponent,
                            .name = name,
                            .after = draw.Of(world.components()),
                            .autograd = draw.Below(3) > 0 ? "own" : "AutogradOther"});
        break;
      case 1:
        declared.push_back({.kind = KeyDeclaration::Kind::kBackend,
                            .name = name,
                            .after = draw.Of(world.plain_backends()),
                            .autograd = "AutogradOther"});
        break;
      default:
        declared.push_back(
            {.kind = KeyDeclaration::Kind::kMode, .name = name, .after = draw.Of(functionalities), .autograd = ""});
    }
  }
  return declared;
}

// Kernels at declared keys, at their neighbours and at aliases.
void WithDeclaredKeys(Writer& w) {
  Operator& f = w.NewOperator(w.draw.OneIn(3) ? "tensor_tensor" : "tensor");
  w.Define(f);
  w.Play({{[&] { w.Impl(f, w.ground.KernelKey(w.draw), w.draw.OneIn(6) ? Writer::Fallthrough() : w.NewKernel(f)); }, 4},
          {[&] { w.Impl(f, w.draw.Of(w.ground.runtime()), w.NewKernel(f)); }, 2},
          {[&] { w.ReleaseAnyOf(Writer::Handle::What::kKernel); }, 2}},
         w.draw.Count(1, 9), [&] {
           w.Probe(f);
           w.CallAny(f);
         });
}

PL_CASE("keys", "declared", Tier::kQuick, PL_CLAUSES("KEY-019", "KEY-020", "KEY-021", "KEY-022", "KEY-006", "KEY-007"),
        kUsual | PL_CAPABILITY(FRESH_REGISTRY) | PL_CAPABILITY(DECLARED_KEYS)) {
  const World plain(ctx.backend());
  const harness::BackendFacts facts = ctx.backend();
  ctx.CheckProperty(Scenarios([&plain, &facts](Draw& draw) {
                      const World world(facts, Declarations(plain, draw));
                      Writer writer(world, draw);
                      WithDeclaredKeys(writer);
                      return writer.Take();
                    }),
                    100);
}

}  // namespace
}  // namespace plumbline::suites
