#include "conformance/suites/properties_check.h"

#include <utility>

#include "conformance/suites/generate_shrink.h"

namespace plumbline::suites {

bool CheckScenarios(harness::CaseContext& ctx, std::function<void(Writer&)> write, int runs,
                    std::shared_ptr<const World> world) {
  if (world == nullptr) world = std::make_shared<const World>(ctx.backend());
  return ctx.CheckProperty(Scenarios([world = std::move(world), write = std::move(write)](Draw& draw) {
                             Writer writer(*world, draw);
                             write(writer);
                             return writer.Take();
                           }),
                           runs);
}

}  // namespace plumbline::suites
