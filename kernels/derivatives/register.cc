#include "kernels/derivatives/register.h"

#include "kernels/derivatives/operator_node.h"
#include "spec/tables/operators.h"

namespace plumbline::kernels {

std::vector<reference::Registration> RegisterDerivatives(reference::Registry& registry) {
  std::vector<reference::Registration> made;
  for (const tables::OperatorData& op : tables::kOperators) {
    if (op.derivatives.empty()) continue;
    made.push_back(registry.Impl(op.name, "Autograd", AutogradKernel(RuleOf(op, registry)), "derivatives"));
  }
  return made;
}

}  // namespace plumbline::kernels
