#include "reference/autograd/node.h"

#include "reference/autograd/grad_mode.h"
#include "reference/keys/error.h"

namespace plumbline::reference {
namespace {

constinit std::atomic<std::int64_t> alive{0};

}  // namespace

NodeRef NodeRef::TryShare(Node* node) {
  std::int64_t references = node->references_.load(std::memory_order_relaxed);
  do {
    if (references == 0) return NodeRef();
  } while (!node->references_.compare_exchange_weak(references, references + 1, std::memory_order_acquire,
                                                    std::memory_order_relaxed));
  return NodeRef(node);
}

void NodeRef::Drop(Node* node) {
  if (node->references_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  AutogradState& state = autograd_state;
  node->next_dropped_ = std::exchange(state.dropped, node);
  if (state.destroying) return;
  state.destroying = true;
  while (state.dropped != nullptr) {
    Node* const next = state.dropped;
    state.dropped = next->next_dropped_;
    delete next;
  }
  state.destroying = false;
}

Node::Node() : Node(autograd_state.next_sequence++) {}

Node::Node(std::uint64_t sequence) : sequence_(sequence) { alive.fetch_add(1, std::memory_order_relaxed); }

Node::~Node() { alive.fetch_sub(1, std::memory_order_relaxed); }

std::int64_t Node::Alive() { return alive.load(std::memory_order_relaxed); }

void Node::AddEdge(Edge edge) {
  if (led_to_) {
    Throw(ErrorClass::kInvalidArgument,
          std::string(name()) + ": an edge cannot be added to a node that another node leads to already");
  }
  if (edge) {
    edge.node->led_to_ = true;
    topological_ = std::max(topological_, edge.node->topological_ + 1);
  }
  edges_.push_back(std::move(edge));
}

std::uint32_t Node::AddInput(const Tensor& result) {
  inputs_.emplace_back(result);
  return static_cast<std::uint32_t>(inputs_.size() - 1);
}

NodeHooks& Node::MakeHooks() {
  if (hooks_ == nullptr) hooks_ = std::make_unique<NodeHooks>();
  return *hooks_;
}

}  // namespace plumbline::reference
