// What a thread brings to autograd: whether it records, and the number of its next node.
//
//   {
//     const GradMode off(false);     // no-grad
//     y = f(x);                      // has no history
//   }                                // as it was
//
// Dispatch keys are not touched: autograd kernels run, and ask. A new thread records; its numbers start at 0. One
// thread.
#ifndef PLUMBLINE_REFERENCE_AUTOGRAD_GRAD_MODE_H_
#define PLUMBLINE_REFERENCE_AUTOGRAD_GRAD_MODE_H_

#include <cstdint>

namespace plumbline::reference {

class BackwardPass;
class Node;

struct AutogradState {
  bool grad_mode = true;
  std::uint32_t depth = 0;  // of passes that run inside of another one's nodes, on whatever threads
  std::uint64_t next_sequence = 0;
  BackwardPass* pass = nullptr;  // that this thread runs
  Node* dropped = nullptr;       // nodes that it has dropped and not yet destroyed
  bool destroying = false;       // it destroys one
};

extern constinit thread_local AutogradState autograd_state __attribute__((tls_model("initial-exec")));

class GradMode {
 public:
  explicit GradMode(bool on) : before_(autograd_state.grad_mode) { autograd_state.grad_mode = on; }
  GradMode(const GradMode&) = delete;
  GradMode& operator=(const GradMode&) = delete;
  ~GradMode() { autograd_state.grad_mode = before_; }

  static bool IsOn() { return autograd_state.grad_mode; }

 private:
  bool before_;
};

}  // namespace plumbline::reference

#endif  // PLUMBLINE_REFERENCE_AUTOGRAD_GRAD_MODE_H_
