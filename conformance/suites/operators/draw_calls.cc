#include "conformance/suites/operators/draw_calls.h"

#include "conformance/suites/operators/draw_arguments.h"
#include "conformance/suites/operators/oracle.h"
#include "conformance/suites/operators/variants.h"

namespace plumbline::suites {
namespace {

const Drawers& All() {
  static const auto& all = *[] {
    auto* made = new Drawers;
    AddElementwiseDrawers(*made);
    AddReductionDrawers(*made);
    AddMatrixDrawers(*made);
    AddViewDrawers(*made);
    AddJoiningDrawers(*made);
    AddIndexingDrawers(*made);
    AddFactoryDrawers(*made);
    AddLayerDrawers(*made);
    AddRandomDrawers(*made);
    for (const Variant& variant : Variants()) {
      const Oracle* const oracle = OracleFor(variant.base);
      const auto base = made->find(variant.base);
      if (oracle == nullptr || base == made->end()) continue;
      (*made)[variant.name] = [&variant, oracle, &of = base->second](std::string_view, std::uint32_t dtype,
                                                                     Draw& draw) {
        return DrawVariant(variant, *oracle, of, dtype, draw);
      };
    }
    return made;
  }();
  return all;
}

}  // namespace

const CallDrawer* CallDrawerFor(std::string_view name) {
  const auto found = All().find(name);
  return found == All().end() ? nullptr : &found->second;
}

}  // namespace plumbline::suites
