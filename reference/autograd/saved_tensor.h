// A tensor that a node keeps for its backward.
//
//   node->self = SavedTensor(x);                     // an argument
//   node->result = SavedTensor(y, node.get());       // the node's own result: no cycle
//   Tensor x = self.Unpack(*this);                   // in Apply
//   self.Release();                                  // in ReleaseSaved
//
// The version at saving is remembered; if the elements were written since, whoever wrote them, Unpack is
// kVersionChanged, and names the tensor, the version that it has and the one that it should have. After Release it is
// kGraphFreed. What comes back has the history that the tensor had when it was saved. A node's own result is kept
// without its history, which would hold the node, and comes back with it; so is one that it wrote into a view.
//
// Threads: passes may unpack and release at once; each gets the tensor whole or an error.
#ifndef PLUMBLINE_REFERENCE_AUTOGRAD_SAVED_TENSOR_H_
#define PLUMBLINE_REFERENCE_AUTOGRAD_SAVED_TENSOR_H_

#include <atomic>
#include <cstdint>

#include "reference/autograd/node.h"
#include "reference/tensor/tensor.h"

namespace plumbline::reference {

// kGraphFreed: a pass went through the node already, and freed what it needs.
[[noreturn]] void ThrowGraphFreed(const Node& node);

class SavedTensor {
 public:
  SavedTensor() = default;
  explicit SavedTensor(const Tensor& tensor, const Node* result_of = nullptr);
  SavedTensor(SavedTensor&& other) noexcept;  // before passes know of it
  SavedTensor& operator=(SavedTensor&& other) noexcept;

  // What was saved undefined, or never saved, comes back undefined: nothing.
  Gradient Unpack(Node& node) const;
  void Release();

 private:
  enum class State : std::uint8_t { kNothing, kKept, kFreed };
  class Lock;

  Gradient kept_;
  std::uint64_t version_ = 0;
  std::uint32_t output_ = 0;                   // of a node's own result
  bool own_result_ = false, in_view_ = false;  // written into a view
  State state_ = State::kNothing;
  mutable std::atomic<bool> locked_{false};
};

}  // namespace plumbline::reference

#endif  // PLUMBLINE_REFERENCE_AUTOGRAD_SAVED_TENSOR_H_
