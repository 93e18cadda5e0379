#include "reference/autograd/saved_tensor.h"

#include <string>
#include <thread>
#include <utility>

#include "reference/autograd/variable.h"
#include "reference/autograd/view.h"
#include "reference/keys/error.h"

namespace plumbline::reference {

// Held for a few instructions: a copy of a handle.
class SavedTensor::Lock {
 public:
  explicit Lock(std::atomic<bool>& locked) : locked_(locked) {
    while (locked_.exchange(true, std::memory_order_acquire)) std::this_thread::yield();
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  ~Lock() { locked_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool>& locked_;
};

namespace {

// The tensor as it is now: were it written later, its new history might lead to the node that saved it, which would
// then hold itself.
Tensor Snapshot(const Tensor& tensor) {
  if (IsLeaf(tensor) && RequiresGrad(tensor)) return tensor;
  Tensor snapshot = Detached(tensor);
  if (NodeRef from = GradFn(tensor)) {
    AutogradMeta& meta = MakeMeta(snapshot);
    meta.output = OutputNumber(tensor);
    meta.grad_fn = std::move(from);
  }
  return snapshot;
}

}  // namespace

void ThrowGraphFreed(const Node& node) {
  Throw(ErrorClass::kGraphFreed, std::string(node.name()) +
                                     ": what was saved for the backward pass is freed, since a pass went through here "
                                     "already; keep the graph in the first pass (retain_graph) to go a second time");
}

SavedTensor::SavedTensor(const Tensor& tensor, const Node* result_of) {
  if (!tensor.defined()) return;
  in_view_ = result_of != nullptr && IsWrittenBy(tensor, result_of);
  own_result_ = in_view_ || (result_of != nullptr && GradFn(tensor).get() == result_of);
  output_ = OutputNumber(tensor);
  kept_ = Gradient(own_result_ ? Detached(tensor) : Snapshot(tensor));
  version_ = tensor.version();
  state_ = State::kKept;
}

SavedTensor::SavedTensor(SavedTensor&& other) noexcept { *this = std::move(other); }

SavedTensor& SavedTensor::operator=(SavedTensor&& other) noexcept {
  kept_ = std::move(other.kept_);
  version_ = other.version_;
  output_ = other.output_;
  own_result_ = other.own_result_;
  in_view_ = other.in_view_;
  state_ = std::exchange(other.state_, State::kNothing);
  return *this;
}

Gradient SavedTensor::Unpack(Node& node) const {
  Gradient kept;
  State state;
  {
    const Lock lock(locked_);
    kept = kept_;
    state = state_;
  }
  if (state == State::kNothing) return kept;
  if (state == State::kFreed) ThrowGraphFreed(node);
  const Tensor& tensor = kept.tensor();
  if (const std::uint64_t version = tensor.version(); version != version_) {
    const NodeRef from = own_result_ ? NodeRef::TryShare(&node) : GradFn(tensor);
    const std::string what =
        from ? "which is result " + std::to_string(output_) + " of " + std::string(from->name()) : "a leaf";
    Throw(ErrorClass::kVersionChanged,
          std::string(node.name()) +
              ": one of the variables needed for gradient computation has been modified by an inplace operation: a " +
              std::string(Spelling(tensor.dtype())) + " tensor of sizes " + Print(tensor.sizes()) + ", " + what +
              ", is at version " + std::to_string(version) + "; version " + std::to_string(version_) + " was saved");
  }
  if (!own_result_) return kept;
  if (in_view_) return Gradient(WithHistoryOfWritten(node, tensor));
  Tensor attached = Detached(tensor);
  AutogradMeta& meta = MakeMeta(attached);
  meta.grad_fn = NodeRef::TryShare(&node);
  meta.output = output_;
  return Gradient(std::move(attached));
}

void SavedTensor::Release() {
  Gradient kept;  // dropped outside of the lock
  const Lock lock(locked_);
  if (state_ == State::kNothing) return;
  state_ = State::kFreed;
  kept = std::exchange(kept_, Gradient());
}

}  // namespace plumbline::reference
