// The end of a graph: the node that adds what arrives to a leaf's gradient. EdgeOf (variable.h) makes it.
//
// The first gradient is taken over as it is, if nobody else has it, or a view of its memory, and it lies as the leaf
// does; else it is copied. Later ones are added in place, so that whoever holds the gradient sees the sum; in a pass
// whose gradients have gradients themselves (create_graph) the sum is a new tensor. A leaf whose gap-free strides are
// not row-major has a gradient of those strides, any other a row-major one.
//
// A leaf that has become a result meanwhile is kInternal: its history is elsewhere, and so would the gradient have to
// be. One that requires none any more gets none.
#ifndef PLUMBLINE_REFERENCE_AUTOGRAD_ACCUMULATE_H_
#define PLUMBLINE_REFERENCE_AUTOGRAD_ACCUMULATE_H_

#include <mutex>
#include <string_view>

#include "reference/autograd/arithmetic.h"
#include "reference/autograd/node.h"
#include "reference/tensor/tensor.h"

namespace plumbline::reference {

class AccumulateGrad final : public Node {
 public:
  explicit AccumulateGrad(const Tensor& leaf);
  ~AccumulateGrad() override;

  std::string_view name() const override { return "AccumulateGrad"; }
  // With the arithmetic of the pass that this thread runs; kInvalidArgument outside of one.
  void Apply(Gradients& in, Gradients& out) override;
  void Accumulate(const Arithmetic& arithmetic, Gradient gradient);

  const Tensor& leaf() const { return leaf_; }

 private:
  const Tensor leaf_;
  std::mutex mutex_;  // passes on several threads may end here
};

// No accumulator any more, if it was that one.
void ForgetAccumulator(const Tensor& leaf, const Node* accumulator);

}  // namespace plumbline::reference

#endif  // PLUMBLINE_REFERENCE_AUTOGRAD_ACCUMULATE_H_
