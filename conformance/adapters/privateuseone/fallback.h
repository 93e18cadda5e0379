// Runs an operator on the CPU, for tensors of this device.
//
//   m.fallback(torch::CppFunction::makeFromBoxedFunction<&fenced::Fallback>());
//
// For the call, each storage of the device has a copy in host memory, and each tensor a twin of the same sizes, strides
// and offset in that copy; an argument that is given twice has one twin. So the kernel for the CPU sees what it would
// see of tensors of its own: which of them overlap, which are the same, and what is a view of what. When it is done, a
// storage that it changed is copied back, a tensor that it resized is resized, a result that is an argument, or a view
// of one, is that again, and what is left is new on the device. When it throws, nothing has changed.
//
// PyTorch has at::native::cpu_fallback for this. It copies tensor by tensor, so that a kernel cannot see overlap and an
// out that shares memory with an operand is written all the same; and it leaves tensors in `Tensor?[]` where they are,
// so that index finds its indices on another device. The suites show both.
//
// Any thread; of storages that another thread writes, as for any kernel.
#ifndef FENCED_FALLBACK_H_
#define FENCED_FALLBACK_H_

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

namespace fenced {

void Fallback(const c10::OperatorHandle& op, torch::jit::Stack* stack);

}  // namespace fenced

#endif  // FENCED_FALLBACK_H_
