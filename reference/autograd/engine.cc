#include "reference/autograd/engine.h"

#include <exception>
#include <string>
#include <thread>
#include <utility>

#include "reference/autograd/backward_pass.h"
#include "reference/autograd/grad_mode.h"
#include "reference/autograd/variable.h"
#include "reference/keys/carried_state.h"
#include "reference/keys/error.h"

namespace plumbline::reference {
namespace {

// The thread's state as it is while it runs a pass.
class PassScope {
 public:
  PassScope(BackwardPass& pass, bool create_graph, std::uint32_t depth) : before_(autograd_state) {
    autograd_state.pass = &pass;
    autograd_state.grad_mode = create_graph;
    autograd_state.depth = depth;
  }
  PassScope(const PassScope&) = delete;
  PassScope& operator=(const PassScope&) = delete;
  ~PassScope() {
    autograd_state.pass = before_.pass;
    autograd_state.grad_mode = before_.grad_mode;
    autograd_state.depth = before_.depth;
  }

 private:
  const AutogradState before_;
};

void RunHere(BackwardPass& pass, bool create_graph, std::uint32_t depth) {
  const PassScope scope(pass, create_graph, depth);
  pass.Run();
}

// A stack of its own every so often, so that passes inside of each other cannot use up one.
void RunPass(BackwardPass& pass, bool create_graph) {
  const std::uint32_t depth = autograd_state.depth + 1;
  if (depth % kDeepest != 0) return RunHere(pass, create_graph, depth);
  const CarriedState state;
  std::exception_ptr thrown;
  std::thread thread([&] {
    const CarriedState::Use use(state);
    try {
      RunHere(pass, create_graph, depth);
    } catch (...) {
      thrown = std::current_exception();
    }
  });
  thread.join();
  if (thrown != nullptr) std::rethrow_exception(thrown);
}

void AddRoots(const Arithmetic& arithmetic, std::span<const Root> roots, bool create_graph, BackwardPass& pass) {
  if (roots.empty()) Throw(ErrorClass::kInvalidArgument, "a backward pass needs a tensor to start from");
  const GradMode mode(create_graph);
  for (std::size_t i = 0; i < roots.size(); ++i) {
    const Root& root = roots[i];
    const std::string named = "element " + std::to_string(i) + " of the tensors to start from ";
    const Edge edge = root.tensor.has_data() ? EdgeOf(root.tensor) : Edge();
    if (!edge) {
      Throw(ErrorClass::kInvalidArgument, named + "does not require grad and does not have a grad_fn");
    }
    Gradient gradient = root.gradient;
    if (!gradient.defined()) {
      if (root.tensor.numel() != 1) {
        Throw(ErrorClass::kInvalidArgument, "grad can be implicitly created only for scalar outputs: " + named +
                                                "has sizes " + Print(root.tensor.sizes()) + "; give its gradient");
      }
      gradient = Gradient(arithmetic.OnesLike(root.tensor));
    }
    pass.AddRoot(edge, std::move(gradient));
  }
}

}  // namespace

void Backward(const Arithmetic& arithmetic, std::span<const Root> roots, const PassOptions& options,
              std::span<const Tensor> inputs) {
  BackwardPass pass(arithmetic, options.keep_graph.value_or(options.create_graph), options.create_graph);
  AddRoots(arithmetic, roots, options.create_graph, pass);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Edge edge = EdgeOf(inputs[i]);
    if (!edge) {
      Throw(ErrorClass::kInvalidArgument,
            "element " + std::to_string(i) + " of the inputs does not require grad, so that none can be filled in");
    }
    RetainGrad(inputs[i]);
    pass.Capture(edge, true);
  }
  RunPass(pass, options.create_graph);
}

std::vector<Gradient> GradientsOf(const Arithmetic& arithmetic, std::span<const Root> roots,
                                  std::span<const Tensor> inputs, const PassOptions& options, bool allow_unused) {
  if (inputs.empty()) Throw(ErrorClass::kInvalidArgument, "gradients need at least one input that they are of");
  BackwardPass pass(arithmetic, options.keep_graph.value_or(options.create_graph), options.create_graph);
  AddRoots(arithmetic, roots, options.create_graph, pass);
  std::vector<Edge> edges;  // keep the accumulators that they made
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    edges.push_back(EdgeOf(inputs[i]));
    if (!edges.back()) {
      Throw(ErrorClass::kInvalidArgument, "element " + std::to_string(i) + " of the inputs does not require grad");
    }
    pass.Capture(edges.back(), false);
  }
  RunPass(pass, options.create_graph);
  std::vector<Gradient> gradients;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    Gradient& gradient = pass.captured()[i].gradient;
    if (!gradient.defined() && !allow_unused) {
      Throw(ErrorClass::kInvalidArgument,
            "element " + std::to_string(i) +
                " of the inputs appears to not have been used in the graph; allow_unused gives nothing for it");
    }
    gradients.push_back(std::move(gradient));
  }
  return gradients;
}

void QueueCallback(std::function<void()> callback) {
  if (autograd_state.pass == nullptr) {
    Throw(ErrorClass::kInvalidArgument, "a final callback can be queued during a backward pass only");
  }
  autograd_state.pass->QueueCallback(std::move(callback));
}

Node* RunningNode() { return autograd_state.pass == nullptr ? nullptr : autograd_state.pass->running(); }

}  // namespace plumbline::reference
