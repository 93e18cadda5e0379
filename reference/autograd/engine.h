// Backward passes.
//
//   const Root roots[] = {{loss}};                                    // or {{y, dy}}
//   Backward(arithmetic, roots, {.keep_graph = true});                // fills Grad() of the leaves
//   std::vector<Gradient> g = GradientsOf(arithmetic, roots, inputs); // fills nothing
//
// A pass starts at its roots. A node runs once, when all gradients that it will get are there, with their sums; of
// those that can run the one made last runs first, and an accumulator at once. What it saved is freed as soon as it
// ran, unless the graph is kept, so that a pass that fails leaves what it went through freed. Each gradient is made to
// fit the result that it is of: summed over what was broadcast, and converted to its dtype; one that does not fit is
// kInvalidArgument, and names the node.
//
// A sum never writes into a tensor that anybody else can see. With `create_graph` grad mode is on in the pass, so that
// gradients have a history of their own, and sums are new tensors; else it is off.
//
// A pass runs on the thread that starts it, under its dispatch state. A node or hook may start another one: it runs to
// its end inside; from kDeepest on, on a thread of its own, so that the depth has no bound but memory. The first
// exception ends a pass, and leaves it as it was thrown; gradients that are filled already stay. Passes may share a
// graph, on as many threads as one likes.
//
// kInvalidArgument names the root or input, by its number, that has no history, no single element, or requires no
// gradient.
#ifndef PLUMBLINE_REFERENCE_AUTOGRAD_ENGINE_H_
#define PLUMBLINE_REFERENCE_AUTOGRAD_ENGINE_H_

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "reference/autograd/arithmetic.h"
#include "reference/autograd/gradient.h"
#include "reference/tensor/tensor.h"

namespace plumbline::reference {

class Node;

struct Root {
  Tensor tensor;
  Gradient gradient{};  // nothing: ones, of a tensor with one element
};

struct PassOptions {
  std::optional<bool> keep_graph{};  // left out: as create_graph
  bool create_graph = false;
};

inline constexpr std::uint32_t kDeepest = 60;  // passes inside of each other on one thread

// `inputs`: only these get a gradient, results among them as if they retained it; none: all leaves.
void Backward(const Arithmetic& arithmetic, std::span<const Root> roots, const PassOptions& options = {},
              std::span<const Tensor> inputs = {});

// The gradients with respect to the inputs, in their order. One that no path leads to is an error, or nothing with
// `allow_unused`. Only nodes on a path from a root to an input run; that which made an input does not, but for another
// input below it.
std::vector<Gradient> GradientsOf(const Arithmetic& arithmetic, std::span<const Root> roots,
                                  std::span<const Tensor> inputs, const PassOptions& options = {},
                                  bool allow_unused = false);

// To be called when the pass that this thread runs has run all its nodes, in the order of queueing; not if it fails.
// kInvalidArgument outside of a pass.
void QueueCallback(std::function<void()> callback);

// The node that this thread runs; null outside of a pass.
Node* RunningNode();

}  // namespace plumbline::reference

#endif  // PLUMBLINE_REFERENCE_AUTOGRAD_ENGINE_H_
