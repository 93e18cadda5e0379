// A tensor as a variable of a graph: whether it requires a gradient, where it came from, and the gradient that it got.
//
//   SetRequiresGrad(x, true);                       // a leaf
//   if (GradMode::IsOn() && RequiresGrad(x)) {      // in an operator's autograd kernel
//     NodeRef node = MakeNode<Negate>();
//     node->AddEdge(EdgeOf(x));
//     SetHistory(y, node);
//   }
//   Tensor gradient = Grad(x).tensor();             // after a pass
//
// All of it hangs in the tensor's slot, which is made when first needed: a tensor without history costs nothing. The
// tensor owns the node that it came from, its grad_fn; the node knows nothing of the tensor. A leaf's accumulator is
// the other way round: it owns the leaf, and is owned by the edges that lead to it alone, so that it goes with the last
// graph of the leaf, and there is one at most at a time.
//
// A leaf is a tensor without grad_fn, also one that requires nothing. What is asked of a view is answered of it as it
// is now, after all that was written (view.h). Errors are kInvalidArgument.
//
// Threads: EdgeOf may be called on one leaf by many threads at once. Anything that changes a tensor is for a thread
// that has it alone, as any change of a tensor is.
#ifndef PLUMBLINE_REFERENCE_AUTOGRAD_VARIABLE_H_
#define PLUMBLINE_REFERENCE_AUTOGRAD_VARIABLE_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "reference/autograd/block_cache.h"
#include "reference/autograd/node.h"
#include "reference/keys/fork_mutex.h"
#include "reference/tensor/tensor.h"

namespace plumbline::reference {

struct ViewInfo;  // view.h

struct AutogradMeta final : TensorSlot {
  AutogradMeta();
  ~AutogradMeta() override;

  static void* operator new(std::size_t bytes) { return AllocateBlock(bytes); }
  static void operator delete(void* block, std::size_t bytes) { FreeBlock(block, bytes); }

  bool requires_grad = false;  // of a leaf; one with a grad_fn does in any case
  bool retains_grad = false;
  std::uint32_t output = 0;  // which result of grad_fn this is
  NodeRef grad_fn;
  std::shared_ptr<GradientCell> gradient;  // null: none so far
  Node* accumulator = nullptr;             // not owned; guarded, see EdgeOf
  std::unique_ptr<std::vector<NodeHooks::OnGradient>> leaf_hooks;
  std::unique_ptr<ViewInfo> view;  // null: it is none
};

AutogradMeta* MetaOf(const Tensor& tensor);  // null: nothing is known of it
AutogradMeta& MakeMeta(const Tensor& tensor);

// Held while what several threads may make at once is made: accumulators, histories of views.
std::unique_lock<ForkMutex> LockMeta(const AutogradMeta* meta);

// Also a view whose base does.
bool RequiresGrad(const Tensor& tensor);
// Only tensors of floating numbers can; a result cannot be told that it does not: use a detached one.
void SetRequiresGrad(const Tensor& tensor, bool requires_grad);
bool IsLeaf(const Tensor& tensor);
NodeRef GradFn(const Tensor& tensor);  // null: none
std::uint32_t OutputNumber(const Tensor& tensor);

// Where a gradient with respect to the tensor goes: its grad_fn, a leaf's accumulator, or nowhere.
Edge EdgeOf(const Tensor& tensor);

// Makes the tensor the next result of the node. A gradient that it retains is from now on that of what it is now.
void SetHistory(const Tensor& result, NodeRef node);

Gradient Grad(const Tensor& tensor);
// Nothing takes it away. kInvalidArgument names what does not fit: dtype, device, sizes, the tensor itself.
void SetGrad(const Tensor& tensor, Gradient gradient);

// A result keeps the gradient that passes it. Of a leaf: no effect.
void RetainGrad(const Tensor& tensor);
bool RetainsGrad(const Tensor& tensor);

// Called with each gradient of the tensor, summed, before it goes on; a defined one that it returns takes its place. A
// result's hook belongs to its present grad_fn. The number by which it is removed.
std::size_t AddTensorHook(const Tensor& tensor, NodeHooks::OnGradient hook);
void RemoveTensorHook(const Tensor& tensor, std::size_t number);

// The same elements and version, without history.
Tensor Detached(const Tensor& tensor);

}  // namespace plumbline::reference

#endif  // PLUMBLINE_REFERENCE_AUTOGRAD_VARIABLE_H_
