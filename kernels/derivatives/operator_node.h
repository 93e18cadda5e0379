// How an operator of the table is recorded: the node that its call leaves in the graph, by the formulas of its row.
//
//   auto rule = RuleOf(*tables::FindOperator("aten::mul.Tensor"), registry);
//   registry.Impl("aten::mul.Tensor", "Autograd", AutogradKernel(rule), "derivatives");
//
// The kernel runs the operator below autograd. If grad mode is on and an argument that has a formula requires a
// gradient, each result of floating numbers gets a node, MulBackward, with an edge for each such argument, in the order
// of the schema, null where an argument requires nothing. What is kept is what the formulas ask for of the edges that
// there are; an in-place operator keeps a copy of self where a formula asks for it as it was.
//
// The result of an operator whose schema says so is marked as a view. Writing in place into a leaf that requires a
// gradient, or through a view that does not allow it, is kInvalidArgument, before anything is written
// (reference/autograd/view.h). Any thread.
#ifndef PLUMBLINE_KERNELS_DERIVATIVES_OPERATOR_NODE_H_
#define PLUMBLINE_KERNELS_DERIVATIVES_OPERATOR_NODE_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/derivatives/formula.h"
#include "reference/boxing/kernel.h"
#include "reference/keys/key_set.h"
#include "reference/registry/registry.h"
#include "spec/tables/operator_table.h"

namespace plumbline::kernels {

struct OperatorRule {
  struct Differentiable {
    std::size_t argument;  // by place
    bool is_list;          // of tensors, each with an edge of its own
    Term gradient;
    std::uint64_t inputs;  // that it asks for, as bits
  };
  std::string name;   // of its nodes: "MulBackward"
  std::string label;  // in errors: "Operator 'aten::mul.Tensor'"
  const tables::OperatorData* data = nullptr;
  const reference::Registry* registry = nullptr;
  std::size_t arguments = 0;
  bool makes_view = false;                     // of the first one
  std::vector<Differentiable> differentiable;  // in the order of the schema
  std::vector<FormulaInput> inputs;
  reference::KeySet autograd, below;  // the autograd keys, and all that is below them
};

// The operator and all that its formulas call have to be defined.
std::shared_ptr<const OperatorRule> RuleOf(const tables::OperatorData& op, const reference::Registry& registry);

reference::Kernel AutogradKernel(std::shared_ptr<const OperatorRule> rule);

}  // namespace plumbline::kernels

#endif  // PLUMBLINE_KERNELS_DERIVATIVES_OPERATOR_NODE_H_
