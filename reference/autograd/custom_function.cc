#include "reference/autograd/custom_function.h"

#include <algorithm>
#include <utility>

#include "reference/autograd/backward_pass.h"
#include "reference/autograd/grad_mode.h"
#include "reference/autograd/variable.h"
#include "reference/keys/error.h"

namespace plumbline::reference {
namespace {

bool Holds(std::span<const Tensor> tensors, const Tensor& wanted) {
  return std::any_of(tensors.begin(), tensors.end(), [&](const Tensor& one) { return one.is_same(wanted); });
}

}  // namespace

class CustomNode final : public Node {
 public:
  explicit CustomNode(const CustomFunction& function) : function_(function) { context_.node_ = this; }

  std::string_view name() const override { return function_.name; }

  std::vector<Tensor> Forward(std::span<const Tensor> inputs) {
    const GradMode off(false);
    return function_.forward(context_, inputs);
  }

  // Without a record: what forward marked is looked at all the same, so that a mistake does not depend on the mode.
  void Check(std::span<const Tensor> inputs, std::span<const Tensor> results, bool records) const {
    for (const Tensor& dirty : context_.dirty_) {
      if (!Holds(inputs, dirty)) Refuse("a tensor that is no input is marked as dirty");
      if (!Holds(results, dirty)) Refuse("an input is marked as dirty and not returned");
      if (records && RequiresGrad(dirty) && IsLeaf(dirty)) {
        Refuse("a leaf that requires a gradient is marked as dirty, and was written in place");
      }
    }
  }

  // Each result gets this node, as said in the header.
  void Record(NodeRef self, std::span<const Tensor> inputs, std::vector<Tensor>& results) {
    for (Tensor& result : results) {
      const bool dirty = Holds(context_.dirty_, result);
      if (dirty) result.BumpVersion();
      if (!dirty && Holds(inputs, result)) result = Detached(result);
      const bool plain = Holds(context_.non_differentiable_, result) || !IsFloating(result.dtype());
      if (!self) continue;
      if (plain) {
        AddInput(result);  // backward has a gradient for it, which nobody asks for
        continue;
      }
      SetHistory(result, self);
    }
    if (!self) return;
    for (const Tensor& tensor : context_.to_save_) context_.saved_.emplace_back(tensor, this);
  }

  // What forward held only for Record.
  void Forget() {
    context_.to_save_.clear();
    context_.dirty_.clear();
    context_.non_differentiable_.clear();
  }

  void Apply(Gradients& in, Gradients& out) override {
    if (context_.materializes_) {
      for (std::size_t i = 0; i < in.size(); ++i) {
        if (in[i].defined()) continue;
        in[i] =
            Gradient(autograd_state.pass->arithmetic().Zeros(inputs()[i].sizes, inputs()[i].dtype, inputs()[i].device));
      }
    }
    Gradients given = function_.backward(context_, in);
    while (given.size() > edges().size() && !given.back().defined()) given.resize(given.size() - 1);
    if (given.size() != edges().size()) {
      Refuse("backward gave " + std::to_string(given.size()) + " gradients for " + std::to_string(edges().size()) +
             " inputs");
    }
    out = std::move(given);
  }
  void ReleaseSaved() override {
    for (SavedTensor& saved : context_.saved_) saved.Release();
  }

 private:
  [[noreturn]] void Refuse(const std::string& what) const {
    Throw(ErrorClass::kInvalidArgument, "the function " + function_.name + ": " + what);
  }

  const CustomFunction function_;
  FunctionContext context_;
};

Gradient FunctionContext::Saved(std::size_t number) const {
  if (number >= saved_.size()) {
    Throw(ErrorClass::kInvalidArgument, "the function " + std::string(node_->name()) + " has saved " +
                                            std::to_string(saved_.size()) + " tensors, and asks for number " +
                                            std::to_string(number));
  }
  return saved_[number].Unpack(*node_);
}

bool FunctionContext::NeedsGradient(std::size_t input) const {
  return input < node_->edges().size() && node_->edges()[input] &&
         (autograd_state.pass == nullptr || autograd_state.pass->Wants(node_->edges()[input]));
}

std::vector<Tensor> ApplyFunction(const CustomFunction& function, std::vector<Tensor> inputs) {
  NodeRef self = MakeNode<CustomNode>(function);
  auto& node = static_cast<CustomNode&>(*self);
  const bool records = GradMode::IsOn() && std::any_of(inputs.begin(), inputs.end(), RequiresGrad);
  std::vector<Tensor> results = node.Forward(inputs);
  node.Check(inputs, results, records);
  if (records) {
    for (const Tensor& input : inputs) node.AddEdge(EdgeOf(input));
  }
  node.Record(records ? self : NodeRef(), inputs, results);
  node.Forget();
  return results;
}

}  // namespace plumbline::reference
