// The operators that the OpenCL device has kernels for; and, since this folder does nothing that a stranger could not
// do, how a device of your own is made for the reference.
//
//   SetAllocator(Memory::Get().device(), &Memory::Get());
//   std::vector<Registration> made = RegisterOpenClKernels(registry);
//
// 1. Memory. Derive from Allocator (reference/tensor/allocator.h): blocks, and copies between them and the host. A
//    tensor is an address in a block, and sizes, strides and an offset on it; it need not be an address that the CPU
//    can read (memory.h). Say so with SetAllocator for privateuseone:0.
// 2. A first kernel. A kernel is a function of a Call (kernels/call.h), which has the arguments and makes the results.
//    What an operator checks, promotes, broadcasts and allocates is the same on every device and stands in
//    kernels/shapes; what is left to you is to compute the elements of the plan:
//
//        void Exp(Call& call) {
//          const UnaryPlan plan = PlanUnary(call, UnaryResult::kFloat);
//          ... plan.self, converted to plan.compute, through exp into plan.out, any strides, any offsets
//        }
//
// 3. copy_, in both directions, between tensors of the device, and with conversions; fill_. With these alone empty,
//    zeros, full, ones, arange, clone, to and their like work, for they are made of them, and so does every view.
// 4. RegisterDeviceKernels (kernels/device_kernels.h) registers each function for all variants of its operator. Do it
//    in a reference::Plugin (reference/registry/plugin.h), so that an error reaches whoever loads the library. Link
//    Plumbline::shapes and Plumbline::reference, which the backend has loaded already: never a copy of it.
// 5. plumbline probe --backend reference --load ./libmine.so --device privateuseone shows what works; plumbline check
//    --profile operators with the same options is the judge. What you have not is told as unsupported: throw kNoDtype
//    for a dtype that a kernel lacks, and register nothing for an operator that you lack.
//
// Asynchronous devices: kernels may return before they have run if all commands go through one queue in order. Then
// only the copies to and from the host wait, which is where item, printing and saving get their elements. Whatever can
// be refused has to be refused before it is enqueued. Memory that is freed may still be in use by the queue.
//
// Here each operator is a few lines in kernels.cc, its tensors become operands in enqueue.cc, and the programs that the
// device runs are OpenCL C in the folder programs. Any thread.
#ifndef PLUMBLINE_KERNELS_OPENCL_KERNELS_H_
#define PLUMBLINE_KERNELS_OPENCL_KERNELS_H_

#include <span>
#include <vector>

#include "kernels/named_kernel.h"
#include "reference/registry/registry.h"

namespace plumbline::kernels::opencl {

std::span<const NamedKernel> Kernels();

[[nodiscard]] std::vector<reference::Registration> RegisterOpenClKernels(reference::Registry& registry);

}  // namespace plumbline::kernels::opencl

#endif  // PLUMBLINE_KERNELS_OPENCL_KERNELS_H_
