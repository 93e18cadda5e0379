// One backward pass: which nodes it reaches, what they wait for, and the order in which they run. engine.h has what
// users call.
//
// What a pass knows of a node lies in the pass, so that passes may share a graph; found by the node's address in a
// table of its own. One thread.
#ifndef PLUMBLINE_REFERENCE_AUTOGRAD_BACKWARD_PASS_H_
#define PLUMBLINE_REFERENCE_AUTOGRAD_BACKWARD_PASS_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "reference/autograd/arithmetic.h"
#include "reference/autograd/engine.h"
#include "reference/autograd/node.h"

namespace plumbline::reference {

class BackwardPass {
 public:
  BackwardPass(const Arithmetic& arithmetic, bool keep_graph, bool create_graph);
  BackwardPass(const BackwardPass&) = delete;
  BackwardPass& operator=(const BackwardPass&) = delete;

  void AddRoot(const Edge& edge, Gradient gradient);
  // The gradient that arrives at an edge is kept, before the node runs. `runs`: the node runs too. Before Run, and
  // after all roots.
  void Capture(const Edge& edge, bool runs);
  void Run();

  // Of capture number i, and whether anything led there.
  struct Captured {
    bool reached = false;
    Gradient gradient;
  };
  std::vector<Captured>& captured() { return captured_; }

  const Arithmetic& arithmetic() const { return arithmetic_; }
  // Whether what is sent along an edge of a node of this pass arrives at something.
  bool Wants(const Edge& edge) { return Find(edge.node.get()).reaches; }
  Node* running() const { return running_; }
  void QueueCallback(std::function<void()> callback) { callbacks_.push_back(std::move(callback)); }

 private:
  static constexpr std::uint32_t kRuns = 1u << 31;
  struct Waiting {
    Node* node = nullptr;
    std::size_t next = 0;       // where in next_ the nodes begin that its edges lead to
    std::uint32_t missing = 0;  // edges that lead here from nodes that will run
    bool runs = true;
    bool reaches = true;  // it runs, or is captured
    Gradients gradients{};
    InlineVector<std::uint32_t, 1> captures{};  // their numbers; kRuns: the node runs in any case
  };

  Waiting& Find(Node* node);  // made when first asked for
  void Select();
  void Add(Waiting& to, std::uint32_t input, Gradient gradient);
  void Evaluate(Waiting& waiting);
  void RunNode(Waiting& waiting, Gradients& results);
  // Makes a gradient like what it is of; `giver` is who gave it, for the error.
  void Fit(const Edge& edge, Gradient& gradient, const std::function<std::string()>& giver) const;
  static bool Fits(const Edge& edge, const Gradient& gradient);
  void Push(Waiting& waiting);
  Waiting& Pop();

  const Arithmetic& arithmetic_;
  const bool keep_graph_, create_graph_;
  std::vector<Edge> roots_;
  std::deque<Waiting> waiting_;
  std::vector<Waiting*> table_;                // open addressing
  std::vector<Waiting*> next_;                 // null for a null edge
  std::vector<Waiting*> ready_;                // a heap
  std::vector<std::uint32_t> capture_inputs_;  // by the captures' numbers
  std::vector<Captured> captured_;
  std::vector<std::function<void()>> callbacks_;
  Node* running_ = nullptr;
};

// Puts what a hook of a tensor returns in the place of a gradient, which it has to be like.
void RunTensorHook(const NodeHooks::OnGradient& hook, Gradient& gradient, std::string_view whose);

}  // namespace plumbline::reference

#endif  // PLUMBLINE_REFERENCE_AUTOGRAD_BACKWARD_PASS_H_
