// A function with a backward of its own, as users write one.
//
//   const CustomFunction square{
//       .name = "Square",
//       .forward = [](FunctionContext& context, std::span<const Tensor> in) {
//         context.Save({in[0]});
//         return std::vector<Tensor>{mul(in[0], in[0])};
//       },
//       .backward = [](FunctionContext& context, Gradients& in) {
//         Gradients out(1);
//         out[0] = Gradient(mul(mul(in[0].tensor(), context.Saved(0).tensor()), two));
//         return out;
//       }};
//   Tensor y = ApplyFunction(square, {x})[0];
//
// Forward runs with grad mode off. What it returns has the function's node as its grad_fn, if grad mode was on and an
// input requires a gradient, but for results that are marked as not differentiable or are not of floating numbers.
// Backward gets one gradient for each result, zeros where none arrived (see MaterializeGradients), and gives one for
// each input; more of them are dropped if they are nothing.
//
// An input that is returned is another tensor with the same elements, unless it was marked as dirty: then it is itself,
// its history goes on from the function, and its version counts the mark.
//
// kInvalidArgument names the function and what is wrong with it: a dirty tensor that is no input, was not returned or
// is a leaf that requires a gradient; a wrong number of gradients. A context is for the calls that it is given to. Any
// thread.
#ifndef PLUMBLINE_REFERENCE_AUTOGRAD_CUSTOM_FUNCTION_H_
#define PLUMBLINE_REFERENCE_AUTOGRAD_CUSTOM_FUNCTION_H_

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "reference/autograd/gradient.h"
#include "reference/autograd/node.h"
#include "reference/autograd/saved_tensor.h"
#include "reference/tensor/tensor.h"

namespace plumbline::reference {

class CustomNode;

class FunctionContext {
 public:
  // ---- in forward ----
  // For backward: inputs, results or anything else; undefined ones too. Once.
  void Save(std::vector<Tensor> tensors) { to_save_ = std::move(tensors); }
  void MarkDirty(const Tensor& input) { dirty_.push_back(input); }
  void MarkNonDifferentiable(const Tensor& result) { non_differentiable_.push_back(result); }
  // Off: a gradient that did not arrive is nothing, not zeros.
  void MaterializeGradients(bool on) { materializes_ = on; }

  // ---- in backward ----
  // As it was saved: an input with its history, a result as one of this very function. kVersionChanged if its elements
  // were written since, kGraphFreed after a pass that did not keep the graph.
  Gradient Saved(std::size_t number) const;
  std::size_t saved() const { return saved_.size(); }
  // Whether this pass's gradients go anywhere from that input.
  bool NeedsGradient(std::size_t input) const;

 private:
  friend class CustomNode;
  CustomNode* node_ = nullptr;
  std::vector<Tensor> to_save_, dirty_, non_differentiable_;
  std::vector<SavedTensor> saved_;
  bool materializes_ = true;
};

struct CustomFunction {
  std::string name;
  std::function<std::vector<Tensor>(FunctionContext& context, std::span<const Tensor> inputs)> forward;
  std::function<Gradients(FunctionContext& context, Gradients& in)> backward;
};

std::vector<Tensor> ApplyFunction(const CustomFunction& function, std::vector<Tensor> inputs);

}  // namespace plumbline::reference

#endif  // PLUMBLINE_REFERENCE_AUTOGRAD_CUSTOM_FUNCTION_H_
