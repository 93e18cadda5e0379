// The graph that a forward computation leaves behind, and that a backward pass runs through from the results to the
// leaves.
//
//   struct Negate final : Node {
//     std::string_view name() const override { return "NegBackward"; }
//     void Apply(Gradients& in, Gradients& out) override { if (in[0].defined()) out[0] = Gradient(neg(in[0].tensor()));
//     }
//   };
//   NodeRef node = MakeNode<Negate>();
//   node->AddEdge(EdgeOf(x));             // variable.h
//   SetHistory(result, node);             // y = neg(x) has this node
//
// A node has an input for each result of the forward operator, with what is known of that result, and an edge for each
// argument that a gradient goes to, null where none is wanted, so that positions stay. It owns the nodes that its edges
// lead to. Every node has a sequence number, counted from 0 in each thread, so that what was made later is run earlier,
// and a topological number that is above those of all nodes it leads to: 0 without edges.
//
// References are counted. However long a chain is, dropping it needs no stack: a node that is dropped while its thread
// drops another one waits in a list.
//
// Threads: Apply may run in several passes at once, on several threads; what is saved is guarded (saved_tensor.h).
// Edges, inputs and hooks are for whoever builds the graph: they do not change while a pass runs.
#ifndef PLUMBLINE_REFERENCE_AUTOGRAD_NODE_H_
#define PLUMBLINE_REFERENCE_AUTOGRAD_NODE_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reference/autograd/block_cache.h"
#include "reference/autograd/gradient.h"
#include "reference/tensor/device.h"
#include "reference/tensor/dims.h"
#include "reference/tensor/dtype.h"
#include "reference/tensor/tensor.h"

namespace plumbline::reference {

class Node;

class NodeRef {
 public:
  NodeRef() = default;
  NodeRef(const NodeRef& other);
  NodeRef(NodeRef&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
  NodeRef& operator=(NodeRef other) noexcept {
    std::swap(node_, other.node_);
    return *this;
  }
  ~NodeRef() {
    if (node_ != nullptr) Drop(node_);
  }
  // Takes over the reference that a new node starts with.
  static NodeRef Adopt(Node* node) { return NodeRef(node); }
  // One more reference; null if the last one is already gone. The caller knows that the memory is still there.
  static NodeRef TryShare(Node* node);

  Node* get() const { return node_; }
  Node* operator->() const { return node_; }
  Node& operator*() const { return *node_; }
  explicit operator bool() const { return node_ != nullptr; }
  friend bool operator==(const NodeRef&, const NodeRef&) = default;

 private:
  explicit NodeRef(Node* node) : node_(node) {}
  static void Drop(Node* node);
  Node* node_ = nullptr;
};

template <class N, class... A>
NodeRef MakeNode(A&&... arguments) {
  return NodeRef::Adopt(new N(std::forward<A>(arguments)...));
}

// To the input number `input` of a node.
struct Edge {
  NodeRef node;
  std::uint32_t input = 0;

  explicit operator bool() const { return static_cast<bool>(node); }
};

// What is known of a result, and so of each gradient with respect to it.
struct InputInfo {
  explicit InputInfo(const Tensor& result) : sizes(result.sizes()), dtype(result.dtype()), device(result.device()) {}
  DimVector sizes;
  DType dtype;
  Device device;
};

// Where a tensor's gradient is kept.
struct GradientCell {
  Gradient gradient;
};

// What users hang on a node; tensor hooks and retained gradients belong to one of its inputs. The order in which they
// run is the engine's.
struct NodeHooks {
  using OnGradient = std::function<Gradient(const Gradient&)>;  // nothing returned: unchanged
  using BeforeNode = std::function<void(Gradients&)>;
  using AfterNode = std::function<void(Gradients& results, const Gradients& inputs)>;
  struct TensorHook {
    std::uint32_t input;
    OnGradient function;  // empty: removed
  };
  struct Retained {
    std::uint32_t input;
    std::shared_ptr<GradientCell> gradient;  // which the tensor has too, so that neither owns the other
  };
  std::vector<TensorHook> tensor_hooks;
  std::vector<Retained> retained;
  std::vector<BeforeNode> before;
  std::vector<AfterNode> after;
};

class Node {
 public:
  static constexpr std::uint64_t kLast = UINT64_MAX;  // the sequence number of what is run as soon as it can be

  Node();  // takes this thread's next sequence number
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  virtual ~Node();

  static void* operator new(std::size_t bytes) { return AllocateBlock(bytes); }
  static void operator delete(void* block, std::size_t bytes) { FreeBlock(block, bytes); }

  virtual std::string_view name() const = 0;
  // One gradient for each input; one for each edge is left in `out`, which has that size and holds nothing. The inputs
  // may be taken. What is saved and was freed is kGraphFreed.
  virtual void Apply(Gradients& in, Gradients& out) = 0;
  // Frees what is saved. May be called again.
  virtual void ReleaseSaved() {}

  // kInvalidArgument once another node leads here: its topological number would be wrong.
  void AddEdge(Edge edge);
  const InlineVector<Edge, 2>& edges() const { return edges_; }
  // The number of the new input.
  std::uint32_t AddInput(const Tensor& result);
  const InlineVector<InputInfo, 1>& inputs() const { return inputs_; }

  std::uint64_t sequence() const { return sequence_; }
  std::uint64_t topological() const { return topological_; }

  NodeHooks* hooks() { return hooks_.get(); }  // null: none
  NodeHooks& MakeHooks();

  // The node that runs this one as a part of it, of what wrote a view (view.h); null: none.
  Node* slices() const { return slices_; }
  void set_slices(Node* slices) { slices_ = slices; }

  // Nodes that live, over all threads.
  static std::int64_t Alive();

 protected:
  explicit Node(std::uint64_t sequence);

 private:
  friend class NodeRef;
  std::atomic<std::int64_t> references_{1};
  Node* next_dropped_ = nullptr;
  Node* slices_ = nullptr;
  std::uint64_t sequence_, topological_ = 0;
  bool led_to_ = false;
  InlineVector<Edge, 2> edges_;
  InlineVector<InputInfo, 1> inputs_;
  std::unique_ptr<NodeHooks> hooks_;
};

inline NodeRef::NodeRef(const NodeRef& other) : node_(other.node_) {
  if (node_ != nullptr) node_->references_.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace plumbline::reference

#endif  // PLUMBLINE_REFERENCE_AUTOGRAD_NODE_H_
