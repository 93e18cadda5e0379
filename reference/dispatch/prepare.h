// The slow path of calls, and boxed calls: everything that the inline path leaves out.
//
// Prepare finds the kernel of a call for which the inline path had no answer: it makes the thread known, loads its
// words for the registry's keys, resolves slots that are used for the first time, reports to observers, counts hits,
// and throws if there is nothing to call. A Prepared keeps the kernel alive while it runs, whatever is released
// meanwhile.
//
// Any thread.
#ifndef PLUMBLINE_REFERENCE_DISPATCH_PREPARE_H_
#define PLUMBLINE_REFERENCE_DISPATCH_PREPARE_H_

#include <optional>

#include "reference/boxing/kernel.h"
#include "reference/boxing/stack.h"
#include "reference/keys/thread_state.h"
#include "reference/registry/operator_entry.h"
#include "reference/registry/reclaim.h"

namespace plumbline::reference {

// One use of a releasable kernel, which a read section began: the count keeps the kernel while this lives.
class KernelUse {
 public:
  KernelUse(const KernelContext* used, ThreadState& thread) : kernel(used), thread_(thread) {
    ++thread_.kernels_running;
  }
  KernelUse(const KernelUse&) = delete;
  KernelUse& operator=(const KernelUse&) = delete;
  ~KernelUse() {
    --thread_.kernels_running;
    DropKernel(kernel);
  }
  const KernelContext* const kernel;

 private:
  ThreadState& thread_;
};

class Prepared {
 public:
  // A call: `keys` is what the arguments bring. A redispatch: it is the set itself.
  Prepared(View& view, KeySet keys, bool redispatch);
  Prepared(const Prepared&) = delete;
  Prepared& operator=(const Prepared&) = delete;
  ~Prepared();

  const KernelContext& kernel() const { return *kernel_; }
  KeySet keys() const { return keys_; }
  bool direct() const { return direct_; }  // the kernel's typed function has the view's signature

 private:
  const KernelContext* kernel_;
  KeySet keys_;
  bool counted_, direct_, observed_;
};

View& ViewFor(OperatorEntry& op, const Signature& signature);
Schema SchemaOf(OperatorEntry& op);  // kNotFound if it is not defined, kInvalidHandle if it was released

// `given`: how many of the values are the call's, if the caller knows.
void CallBoxed(OperatorEntry& op, Stack& stack, std::optional<std::size_t> given);
void RedispatchBoxed(OperatorEntry& op, KeySet keys, Stack& stack, std::optional<std::size_t> given);

// Runs the boxed function of a kernel that was called through a C++ signature: `stack` holds the arguments, and after
// it the results, which are what the signature says: kSchemaMismatch else.
void RunBoxed(const Prepared& prepared, OperatorEntry& op, const Signature& signature, Stack& stack);

}  // namespace plumbline::reference

#endif  // PLUMBLINE_REFERENCE_DISPATCH_PREPARE_H_
