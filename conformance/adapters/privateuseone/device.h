// A device for PyTorch that no build of PyTorch knows, in one shared object: where to start from with your own.
//
//   plumbline probe --backend torch --load libfenced.so --device privateuseone            # what it computes
//   plumbline check --backend torch --load libfenced.so --device privateuseone --profile operators
//   plumbline check --backend torch --load libfenced.so                                   # what it did to dispatch
//
// PyTorch keeps a dispatch key, PrivateUse1, and a device type, `privateuseone`, for whoever is not in its tree. What
// is registered there is the device. This one computes on the host, so it runs anywhere; all else is as with hardware.
// In the order in which a device grows, with a check after each step (`-f 'fill*'` chooses operators):
//
//   1. memory.cc, guard.cc  An allocator, and the guard that knows the current device. Nothing works without the guard:
//                           PyTorch asks it before it makes the first tensor.
//   2. tensors.cc           empty.memory_format and empty_strided make all tensors. as_strided, view, _reshape_alias,
//                           unfold, view_as_real and view_as_complex make all views, by PyTorch's own code, which looks
//                           at sizes and strides only; transpose, slice, expand and the like are made of them.
//                           set_ and resize_ hand a storage on and let it grow; every .out operator may want that.
//   3. copies.cc            copy_ and _local_scalar_dense (which is item()): elements cross to the CPU and back. Here a
//                           device can be probed for the first time.
//   4. fallback.cc          Whatever has no kernel runs on the CPU, so that everything works, slowly.
//                           Views must not come to it: a view of a copy shares nothing. convolution goes by another
//                           name for a device of this kind.
//   5. elementwise.cc, ...  Kernels, one by one. PyTorch's structured operators (add, mul, neg, eq, sum, mm: those with
//                           "structured_delegate" in its native_functions.yaml) want the .out form alone.
//
// What is neither registered nor made of what is, and has no fallback, says "Could not run 'aten::...'": plumbline
// calls it no-kernel, and probe prints `-`. Wrong results, wrong strides, arguments that changed and memory that is
// read by mistake (memory.h) are failures, each with the smallest call that shows it and the line that reruns it.
//
// To begin your own: copy the folder; give HostAddress, Resize and the two loops (loops.h, matrix.cc) what your
// hardware has in their place; keep the fallback until nothing comes to it.
//
// Written for PyTorch 1.13. Later ones want more of an allocator (copy_data, and an allocate that is not const), and
// let a device have a name of its own (c10::register_privateuse1_backend).
#ifndef FENCED_DEVICE_H_
#define FENCED_DEVICE_H_

#include <c10/core/Device.h>

namespace fenced {

inline constexpr c10::DeviceType kType = c10::DeviceType::PrivateUse1;
// Two, so that what confuses them shows.
inline constexpr c10::DeviceIndex kDevices = 2;

}  // namespace fenced

#endif  // FENCED_DEVICE_H_
